/*
 * The unit "goto-join" runs the goto form, as Intel's Xe does: one pc, and a resume point for each lane that sleeps.
 * A forward goto puts the lanes that take it to sleep at their join, UIP, and branches to JIP, the next join at which
 * any lane may wake, only when no lane is left. A backward goto is taken if any lane takes it, and the others sleep
 * at the join behind it. A join wakes its lanes; if there is still none awake it passes on to its JIP.
 *
 * Lanes that sleep at one join because of one goto are kept as one set, so that no step visits lanes one by one.
 */
#include "cf/one_pc.h"
#include "cf/units.h"

#include <stddef.h>
#include <string.h>

struct sleepers {
    uint32_t at, from; /* pcs of the join and of the goto */
    uint64_t lanes;
};

struct state {
    uint64_t live, awake;
    uint32_t pc, parked, n, unused;
    struct sleepers sets[]; /* disjoint, hence at most one a lane; the nearest join is last */
};

static size_t size(const struct isa_program *program, unsigned width)
{
    (void)program;
    return offsetof(struct state, sets) + width * sizeof(struct sleepers);
}

static size_t used(const void *state)
{
    const struct state *s = state;

    return offsetof(struct state, sets) + s->n * sizeof(struct sleepers);
}

static void start(void *state, uint32_t pc, uint64_t live)
{
    struct state *s = state;

    *s = (struct state){.live = live, .awake = live, .pc = pc};
}

static enum cf_next pick(void *state, uint32_t *pc, uint64_t *lanes)
{
    const struct state *s = state;

    *pc = s->pc;
    *lanes = s->awake;
    if (!s->live)
        return CF_ALL_ENDED;
    return s->parked ? CF_ALL_PARKED : CF_GO;
}

static void put_to_sleep(struct state *s, uint32_t at, uint32_t from, uint64_t lanes)
{
    uint32_t place = s->n;

    s->awake &= ~lanes;
    while (place > 0 && s->sets[place - 1].at < at)
        place--;
    for (uint32_t i = place; i > 0 && s->sets[i - 1].at == at; i--)
        if (s->sets[i - 1].from == from) {
            s->sets[i - 1].lanes |= lanes;
            return;
        }
    memmove(s->sets + place + 1, s->sets + place, (s->n - place) * sizeof *s->sets);
    s->sets[place] = (struct sleepers){at, from, lanes};
    s->n++;
}

static void find_trouble(const struct state *s, enum cf_trouble trouble, struct cf_cost *cost)
{
    cost->trouble = trouble;
    cost->who = (struct cf_wait){.at = ISA_NO_PC, .from = ISA_NO_PC};
    if (s->n) {
        const struct sleepers *last = &s->sets[s->n - 1];

        cost->who = (struct cf_wait){CF_WAIT_ASLEEP, last->at, last->from, last->lanes};
    }
}

static void go_forward(struct state *s, const struct isa_insn *insn, uint32_t to,
                       struct cf_cost *cost)
{
    if (s->n && s->sets[s->n - 1].at < to)
        find_trouble(s, CF_MISSED_JOIN, cost);
    cost->skipped = cf_skipped(insn, to);
    s->pc = to;
}

static void step_goto(struct state *s, const struct isa_insn *insn, uint64_t active, uint64_t taken,
                      struct cf_cost *cost)
{
    uint64_t stay = active & ~taken;

    cost->divergent = taken && stay;
    if (taken)
        put_to_sleep(s, insn->target, insn->pc, taken);
    go_forward(s, insn, stay ? insn->pc + 1 : insn->jip, cost);
}

static void step_back(struct state *s, const struct isa_insn *insn, uint64_t active, uint64_t taken,
                      struct cf_cost *cost)
{
    uint64_t leave = active & ~taken;

    cost->divergent = taken && leave;
    if (leave)
        put_to_sleep(s, insn->jip, insn->pc, leave);
    if (taken)
        s->pc = insn->target;
    else
        go_forward(s, insn, insn->jip, cost);
}

static void step_join(struct state *s, const struct isa_insn *insn, uint64_t active,
                      struct cf_cost *cost)
{
    while (s->n && s->sets[s->n - 1].at == insn->pc) {
        active |= s->sets[s->n - 1].lanes;
        s->awake |= s->sets[--s->n].lanes;
    }
    cost->hop = !active && insn->jip != ISA_NO_PC;
    go_forward(s, insn, cost->hop ? insn->jip : insn->pc + 1, cost);
}

/* Lanes that a transaction has aborted are awake: a loop may go round with all of them off until it ends. */
static void step_branch(struct state *s, const struct isa_insn *insn, bool taken,
                        struct cf_cost *cost)
{
    if (!taken || insn->target > insn->pc) {
        go_forward(s, insn, taken ? insn->target : insn->pc + 1, cost);
        return;
    }
    if (!s->awake)
        find_trouble(s, CF_EMPTY_LOOP, cost);
    s->pc = insn->target;
}

static void step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;

    (void)plan;
    *cost = (struct cf_cost){0};
    switch (insn->format) {
    case ISA_GOTO:
        step_goto(s, insn, active, taken, cost);
        break;
    case ISA_GOTO_BACK:
        step_back(s, insn, active, taken, cost);
        break;
    case ISA_JOIN:
        step_join(s, insn, active, cost);
        break;
    default:
        step_branch(s, insn, taken != 0, cost);
        break;
    }
}

static uint64_t exec(const void *state)
{
    const struct state *s = state;

    return s->awake;
}

static void end_lanes(struct state *s, uint64_t which)
{
    uint32_t kept = 0;

    s->live &= ~which;
    s->awake &= ~which;
    for (uint32_t i = 0; i < s->n; i++) {
        s->sets[i].lanes &= ~which;
        if (s->sets[i].lanes)
            s->sets[kept++] = s->sets[i];
    }
    s->n = kept;
}

static void lanes(void *state, uint32_t pc, uint64_t which, enum cf_why why)
{
    struct state *s = state;

    if (why == CF_ENDED)
        end_lanes(s, which);
    s->parked = why == CF_AT_BARRIER;
    s->pc = s->parked ? pc : pc + 1;
}

static unsigned waits(const void *state, struct cf_wait out[CF_MAX_WAITS])
{
    const struct state *s = state;
    unsigned n = 0;

    if (s->parked && s->awake)
        out[n++] = (struct cf_wait){CF_WAIT_BARRIER, s->pc, ISA_NO_PC, s->awake};
    for (uint32_t i = s->n; i-- > 0;)
        out[n++] =
            (struct cf_wait){CF_WAIT_ASLEEP, s->sets[i].at, s->sets[i].from, s->sets[i].lanes};
    return n;
}

const struct cf_unit_ops cf_goto_join = {
    .name = cf_goto_join_name,
    .doc = cf_goto_join_doc,
    .forms = ISA_FORM_GOTO,
    .runs_transactions = true,
    .size = size,
    .used = used,
    .start = start,
    .pick = pick,
    .step = step,
    .exec = exec,
    .set_exec = one_pc_keep_exec,
    .lanes = lanes,
    .waits = waits,
};
