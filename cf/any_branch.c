/*
 * The unit "any-branch" runs the predicated form: divergence lives in the kernel's own masks, EXEC is all lanes
 * that are alive, and control flow is scalar. A branch goes one way for the whole wavefront.
 */
#include "cf/units.h"

struct state {
    uint64_t live;
    uint32_t pc;
    bool parked; /* at a barrier */
};

static size_t state_size(const struct isa_program *program, unsigned width)
{
    (void)program;
    (void)width;
    return sizeof(struct state);
}

static void start(void *state, uint32_t pc, uint64_t live)
{
    struct state *s = state;

    *s = (struct state){.live = live, .pc = pc};
}

static bool pick(void *state, uint32_t *pc, uint64_t *lanes)
{
    const struct state *s = state;

    *pc = s->pc;
    *lanes = s->live;
    return s->live != 0 && !s->parked;
}

/* One decision for the whole wavefront, so that lanes never part; how many of them took it does not matter. */
static void step(void *state, const struct isa_insn *insn, uint64_t active, uint64_t taken,
                 struct cf_cost *cost)
{
    struct state *s = state;

    (void)active;
    *cost = (struct cf_cost){0};
    s->pc = insn->pc + 1;
    if (!taken)
        return;
    if (insn->target > s->pc)
        cost->skipped = insn->target - s->pc;
    s->pc = insn->target;
}

static uint64_t exec(const void *state)
{
    (void)state;
    return ~UINT64_C(0);
}

static bool set_exec(void *state, uint64_t value)
{
    (void)state;
    (void)value;
    return false;
}

static void lanes(void *state, uint32_t pc, uint64_t which, enum cf_why why)
{
    struct state *s = state;

    if (why == CF_ENDED)
        s->live &= ~which;
    s->parked = why == CF_AT_BARRIER;
    s->pc = pc + 1;
}

const struct cf_unit_ops cf_any_branch = {
    .name = cf_any_branch_name,
    .doc = cf_any_branch_doc,
    .forms = ISA_FORM_PREDICATED,
    .size = state_size,
    .start = start,
    .pick = pick,
    .step = step,
    .exec = exec,
    .set_exec = set_exec,
    .lanes = lanes,
};
