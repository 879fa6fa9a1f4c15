/* Wrong kinds of the unit any-branch. */
#define cf_any_branch unused_any_branch
#include "cf/any_branch.c"

#include "tests/cf_programs/mutants.h"

static void never_back(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    unused_any_branch.step(state, plan, insn, active, insn->target <= insn->pc ? 0 : taken, cost);
}

static void always_skips(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                         uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    bool forward = insn->target > insn->pc;

    unused_any_branch.step(state, plan, insn, active, forward ? UINT64_MAX : taken, cost);
}

static void inverted(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                     uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    unused_any_branch.step(state, plan, insn, active, taken ? 0 : UINT64_MAX, cost);
}

void mutate_any_branch_never_back(struct cf_unit_ops *ops)
{
    ops->step = never_back;
}

void mutate_any_branch_always_skips(struct cf_unit_ops *ops)
{
    ops->step = always_skips;
}

void mutate_any_branch_inverted(struct cf_unit_ops *ops)
{
    ops->step = inverted;
}
