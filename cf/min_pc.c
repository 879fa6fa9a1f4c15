/*
 * The unit "min-pc" runs the goto form with a pc for each lane (Lorie and Strong 1984; Collange 2011): the lanes at the lowest
 * pc run, and lanes meet where they stand at one pc. There is no stack and nothing to be told by a compiler; a
 * loop that waits for lanes at higher pcs starves them.
 */
#include "cf/one_pc.h"
#include "cf/parting.h"
#include "cf/units.h"

#include <stddef.h>
#include <string.h>

struct group {
    uint32_t pc;
    uint32_t parked; /* at the barrier at pc */
    uint64_t lanes;
};

struct state {
    uint64_t live;
    uint32_t n, now;       /* groups; the one that runs */
    struct group groups[]; /* disjoint, hence at most one a lane; by pc, parked ones behind others */
};

static size_t size(const struct isa_program *program, unsigned width)
{
    (void)program;
    return offsetof(struct state, groups) + width * sizeof(struct group);
}

static size_t used(const void *state)
{
    const struct state *s = state;

    return offsetof(struct state, groups) + s->n * sizeof(struct group);
}

/*
 * Lanes are together again behind the join only if none can pass it while others are in the region: those at a barrier, or at
 * pcs behind the join, are passed.
 */
static bool can_pass(const struct partings *p, const struct parting *at)
{
    for (uint32_t b = 0; b < p->g.flow.nblocks; b++) {
        const struct isa_block *k = &p->g.flow.blocks[b];

        if (at->inside[b] &&
            (k->first >= at->meet || p->program->insns[k->end - 1].format == ISA_BARRIER))
            return true;
    }
    return false;
}

static enum hd_status prepare(const struct isa_program *program, const struct isa_kernel *kernel,
                              struct cf_plan *plan, struct hd_error *err)
{
    struct partings p;
    enum hd_status status = partings_find(&p, cf_min_pc_name, program, kernel, true, err);

    (void)plan;
    for (uint32_t i = 0; i < p.n; i++)
        if (p.at[i].meet != ISA_NO_PC && can_pass(&p, &p.at[i]))
            partings_move(&p, &p.at[i], ISA_NO_PC);
    if (status == HD_OK)
        status = partings_refuse_lanes(&p, err);
    if (status == HD_OK)
        status = partings_refuse_scalars(&p, NULL, err);
    partings_free(&p);
    return status;
}

/* Puts lanes to others that stand at the pc, or makes a group of them. */
static void add(struct state *s, uint32_t pc, bool parked, uint64_t lanes)
{
    uint32_t i = 0;

    if (!lanes)
        return;
    while (i < s->n &&
           (s->groups[i].pc < pc || (s->groups[i].pc == pc && s->groups[i].parked < parked)))
        i++;
    if (i < s->n && s->groups[i].pc == pc && s->groups[i].parked == parked) {
        s->groups[i].lanes |= lanes;
        return;
    }
    memmove(s->groups + i + 1, s->groups + i, (s->n - i) * sizeof *s->groups);
    s->groups[i] = (struct group){pc, parked, lanes};
    s->n++;
}

static struct group take(struct state *s, uint32_t i)
{
    struct group g = s->groups[i];

    s->n--;
    memmove(s->groups + i, s->groups + i + 1, (s->n - i) * sizeof *s->groups);
    g.lanes &= s->live;
    return g;
}

static void start(void *state, uint32_t pc, uint64_t live)
{
    struct state *s = state;

    *s = (struct state){.live = live};
    add(s, pc, false, live);
}

static enum cf_next pick(void *state, uint32_t *pc, uint64_t *lanes)
{
    struct state *s = state;

    for (s->now = 0; s->now < s->n && s->groups[s->now].parked;)
        s->now++;
    if (s->now == s->n)
        return s->live ? CF_ALL_PARKED : CF_ALL_ENDED;
    *pc = s->groups[s->now].pc;
    *lanes = s->groups[s->now].lanes;
    return CF_GO;
}

/* The group that runs goes on with those that stand at the join. */
static void step_join(struct state *s, uint32_t pc)
{
    struct group now = take(s, s->now);

    add(s, pc, false, now.lanes);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->groups[i].pc == pc && !s->groups[i].parked) {
            now = take(s, i);
            break;
        }
    add(s, pc + 1, false, now.lanes);
}

static void step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;
    uint64_t stay = active & ~taken;

    (void)plan;
    *cost = (struct cf_cost){0};
    taken &= active;
    if (s->n == 1 && !(taken && stay)) { /* nobody to meet */
        s->groups[0].pc = taken ? insn->target : insn->pc + 1;
        cost->skipped = cf_skipped(insn, s->groups[0].pc);
        return;
    }
    if (insn->format == ISA_JOIN) {
        step_join(s, insn->pc);
        return;
    }
    (void)take(s, s->now);
    cost->divergent = taken && stay;
    cost->skipped = stay ? 0 : cf_skipped(insn, insn->target);
    add(s, insn->pc + 1, false, stay);
    add(s, insn->target, false, taken);
}

static uint64_t exec(const void *state)
{
    const struct state *s = state;

    return s->now < s->n ? s->groups[s->now].lanes : 0;
}

static void release(struct state *s)
{
    for (uint32_t i = 0; i < s->n;) {
        struct group g;

        if (!s->groups[i].parked) {
            i++;
            continue;
        }
        g = take(s, i);
        add(s, g.pc + 1, false, g.lanes);
        i = 0;
    }
}

static void lanes(void *state, uint32_t pc, uint64_t which, enum cf_why why)
{
    struct state *s = state;
    struct group now;

    if (why == CF_RELEASED) {
        release(s);
        return;
    }
    now = take(s, s->now);
    if (why == CF_AT_BARRIER)
        add(s, pc, true, now.lanes & which);
    else
        s->live &= ~which;
    add(s, pc + 1, false, now.lanes & ~which);
}

static unsigned waits(const void *state, struct cf_wait out[CF_MAX_WAITS])
{
    const struct state *s = state;
    unsigned n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        if (i != s->now)
            out[n++] = (struct cf_wait){s->groups[i].parked ? CF_WAIT_BARRIER : CF_WAIT_TURN,
                                        s->groups[i].pc, ISA_NO_PC, s->groups[i].lanes};
    return n;
}

const struct cf_unit_ops cf_min_pc = {
    .name = cf_min_pc_name,
    .doc = cf_min_pc_doc,
    .forms = ISA_FORM_GOTO,
    .size = size,
    .used = used,
    .prepare = prepare,
    .start = start,
    .pick = pick,
    .step = step,
    .exec = exec,
    .set_exec = one_pc_keep_exec,
    .lanes = lanes,
    .waits = waits,
};
