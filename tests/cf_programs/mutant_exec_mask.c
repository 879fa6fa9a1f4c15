/* Wrong kinds of the unit exec-mask. */
#define cf_exec_mask unused_exec_mask
#include "cf/exec_mask.c"

#include "tests/cf_programs/mutants.h"

#include "sim/base/bits.h"

static bool never_grows(void *state, uint64_t value)
{
    return unused_exec_mask.set_exec(state, value & unused_exec_mask.exec(state));
}

static bool loses_a_lane(void *state, uint64_t value)
{
    return unused_exec_mask.set_exec(state, value ? value & ~(UINT64_C(1) << bits_last(value)) : 0);
}

static void inverted(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                     uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    unused_exec_mask.step(state, plan, insn, active, taken ? 0 : UINT64_MAX, cost);
}

void mutate_exec_never_grows(struct cf_unit_ops *ops)
{
    ops->set_exec = never_grows;
}

void mutate_exec_loses_a_lane(struct cf_unit_ops *ops)
{
    ops->set_exec = loses_a_lane;
}

void mutate_exec_inverted(struct cf_unit_ops *ops)
{
    ops->step = inverted;
}
