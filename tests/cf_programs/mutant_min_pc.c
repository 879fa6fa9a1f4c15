/* Wrong kinds of the unit min-pc. */
#define cf_min_pc unused_min_pc
#include "cf/min_pc.c"

#include "tests/cf_programs/mutants.h"

static enum cf_next picks_max(void *state, uint32_t *pc, uint64_t *lanes)
{
    struct state *s = state;
    enum cf_next next = pick(state, pc, lanes);

    if (next != CF_GO)
        return next;
    for (uint32_t i = s->now; i < s->n; i++)
        if (!s->groups[i].parked)
            s->now = i;
    *pc = s->groups[s->now].pc;
    *lanes = s->groups[s->now].lanes;
    return CF_GO;
}

/* The next group comes to where the running one is, and still stands where it was. */
static void mixes(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                  uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;

    if (insn->format == ISA_JOIN && s->now + 1 < s->n && !s->groups[s->now + 1].parked)
        s->groups[s->now].lanes |= s->groups[s->now + 1].lanes;
    step(state, plan, insn, active, taken, cost);
}

void mutate_min_pc_picks_max(struct cf_unit_ops *ops)
{
    ops->pick = picks_max;
}

void mutate_min_pc_mixes(struct cf_unit_ops *ops)
{
    ops->step = mixes;
}
