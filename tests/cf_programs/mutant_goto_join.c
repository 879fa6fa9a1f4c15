/* Wrong kinds of the unit goto-join. */
#define cf_goto_join unused_goto_join
#include "cf/goto_join.c"

#include "tests/cf_programs/mutants.h"

static void jip_is_uip(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct isa_insn copy = *insn;

    if (insn->format == ISA_GOTO)
        copy.jip = copy.target;
    step(state, plan, &copy, active, taken, cost);
}

static void uip_is_jip(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct isa_insn copy = *insn;

    if (insn->format == ISA_GOTO)
        copy.target = copy.jip;
    step(state, plan, &copy, active, taken, cost);
}

static void never_hops(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct isa_insn copy = *insn;

    if (insn->format == ISA_JOIN)
        copy.jip = ISA_NO_PC;
    step(state, plan, &copy, active, taken, cost);
}

static void wakes_nobody(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                         uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;

    if (insn->format == ISA_JOIN && s->n && s->sets[s->n - 1].at == insn->pc)
        s->sets[s->n - 1].lanes &= s->sets[s->n - 1].lanes - 1;
    step(state, plan, insn, active, taken, cost);
}

static void back_if_all(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                        uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    if (insn->format == ISA_GOTO_BACK && taken != active)
        taken = 0;
    step(state, plan, insn, active, taken, cost);
}

static void inverted(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                     uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    if (insn->format == ISA_GOTO)
        taken = active & ~taken;
    step(state, plan, insn, active, taken, cost);
}

static uint64_t everyone(const void *state)
{
    (void)state;
    return UINT64_MAX;
}

void mutate_goto_jip_is_uip(struct cf_unit_ops *ops)
{
    ops->step = jip_is_uip;
}

void mutate_goto_uip_is_jip(struct cf_unit_ops *ops)
{
    ops->step = uip_is_jip;
}

void mutate_goto_never_hops(struct cf_unit_ops *ops)
{
    ops->step = never_hops;
}

void mutate_goto_wakes_nobody(struct cf_unit_ops *ops)
{
    ops->step = wakes_nobody;
}

void mutate_goto_back_if_all(struct cf_unit_ops *ops)
{
    ops->step = back_if_all;
}

void mutate_goto_inverted(struct cf_unit_ops *ops)
{
    ops->step = inverted;
}

void mutate_goto_awake(struct cf_unit_ops *ops)
{
    ops->exec = everyone;
}
