#include "cf/one_pc.h"

size_t one_pc_size(const struct isa_program *program, unsigned width)
{
    (void)program;
    (void)width;
    return sizeof(struct one_pc);
}

size_t one_pc_used(const void *state)
{
    (void)state;
    return sizeof(struct one_pc);
}

void one_pc_start(void *state, uint32_t pc, uint64_t live)
{
    struct one_pc *s = state;

    *s = (struct one_pc){.live = live, .exec = UINT64_MAX, .pc = pc};
}

enum cf_next one_pc_pick(void *state, uint32_t *pc, uint64_t *lanes)
{
    const struct one_pc *s = state;

    *pc = s->pc;
    *lanes = s->live & s->exec;
    if (!s->live)
        return CF_ALL_ENDED;
    return s->parked ? CF_ALL_PARKED : CF_GO;
}

void one_pc_branch(struct one_pc *s, const struct isa_insn *insn, bool taken, struct cf_cost *cost)
{
    *cost = (struct cf_cost){0};
    s->pc = taken ? insn->target : insn->pc + 1;
    cost->skipped = cf_skipped(insn, s->pc);
}

void one_pc_step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    (void)plan;
    (void)active;
    one_pc_branch(state, insn, taken != 0, cost);
}

uint64_t one_pc_exec(const void *state)
{
    const struct one_pc *s = state;

    return s->exec;
}

bool one_pc_keep_exec(void *state, uint64_t value)
{
    (void)state;
    (void)value;
    return false;
}

void one_pc_lanes(void *state, uint32_t pc, uint64_t lanes, enum cf_why why)
{
    struct one_pc *s = state;

    if (why == CF_ENDED)
        s->live &= ~lanes;
    s->parked = why == CF_AT_BARRIER;
    s->at_barrier = s->parked ? lanes : 0;
    s->pc = s->parked ? pc : pc + 1;
}

unsigned one_pc_waits(const void *state, struct cf_wait out[CF_MAX_WAITS])
{
    const struct one_pc *s = state;

    out[0] = (struct cf_wait){CF_WAIT_BARRIER, s->pc, ISA_NO_PC, s->at_barrier};
    return s->parked;
}
