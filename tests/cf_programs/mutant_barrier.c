/* Wrong kinds of the unit barrier. */
#define cf_barrier unused_barrier
#include "cf/barrier.c"

#include "tests/cf_programs/mutants.h"

static void misses_one(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;
    uint32_t before = s->nmeetings;

    step(state, plan, insn, active, taken, cost);
    if (s->nmeetings > before)
        s->meetings[before].members &= s->meetings[before].members - 1;
}

static enum hd_status never_meets(const struct isa_program *program, const struct isa_kernel *kernel,
                                  struct cf_plan *plan, struct hd_error *err)
{
    enum hd_status status = prepare(program, kernel, plan, err);

    for (uint32_t pc = kernel->first; pc < kernel->end; pc++)
        plan->note[pc - plan->first] = MEET;
    return status;
}

static void inverted(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                     uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    if (insn->format == ISA_GOTO)
        taken = active & ~taken;
    step(state, plan, insn, active, taken, cost);
}

void mutate_barrier_misses_one(struct cf_unit_ops *ops)
{
    ops->step = misses_one;
}

void mutate_barrier_never_meets(struct cf_unit_ops *ops)
{
    ops->prepare = never_meets;
}

void mutate_barrier_inverted(struct cf_unit_ops *ops)
{
    ops->step = inverted;
}
