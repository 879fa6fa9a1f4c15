/* Wrong kinds of the unit predication. */
#define cf_predication unused_predication
#include "cf/predication.c"

#include "tests/cf_programs/mutants.h"

static void never_back(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    unused_predication.step(state, plan, insn, active, insn->target <= insn->pc ? 0 : taken, cost);
}

static void stays_in_loops(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                           uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    unused_predication.step(state, plan, insn, active, insn->target > insn->pc ? 0 : taken, cost);
}

void mutate_predication_never_back(struct cf_unit_ops *ops)
{
    ops->step = never_back;
}

void mutate_predication_stays_in_loops(struct cf_unit_ops *ops)
{
    ops->step = stays_in_loops;
}
