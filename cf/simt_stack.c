/*
 * The unit "simt-stack" runs the goto form with a stack of groups of lanes (Fung et al., MICRO 2007). Where the lanes of the
 * topmost group part, it becomes the group that goes on where they meet again, the nearest join that post-dominates
 * the goto, and each part is pushed; those that go straight there wait in it at once. The topmost group alone runs.
 * It is popped when it comes to its meeting point.
 */
#include "cf/one_pc.h"
#include "cf/parting.h"
#include "cf/units.h"

#include <stddef.h>

struct entry {
    uint32_t pc, meet; /* where it goes on, where it is popped */
    uint64_t lanes;
};

/*
 * A group of n lanes takes at most 2 n - 1 entries: when it parts there are itself, one part that waits with at least one
 * lane, and the entries of the other.
 */
struct state {
    uint64_t live, parked; /* lanes at the barrier at the topmost pc */
    uint64_t n;
    struct entry entries[];
};

static size_t size(const struct isa_program *program, unsigned width)
{
    (void)program;
    return offsetof(struct state, entries) + 2 * width * sizeof(struct entry);
}

static size_t used(const void *state)
{
    const struct state *s = state;

    return offsetof(struct state, entries) + s->n * sizeof(struct entry);
}

static enum hd_status prepare(const struct isa_program *program, const struct isa_kernel *kernel,
                              struct cf_plan *plan, struct hd_error *err)
{
    struct partings p;
    enum hd_status status = partings_find(&p, cf_simt_stack_name, program, kernel, false, err);

    if (status == HD_OK)
        status = partings_refuse_lanes(&p, err);
    if (status == HD_OK)
        partings_note(&p, plan);
    partings_free(&p);
    return status;
}

static struct entry *top(struct state *s)
{
    return &s->entries[s->n - 1];
}

static void push(struct state *s, uint32_t pc, uint32_t meet, uint64_t lanes)
{
    if (pc != meet)
        s->entries[s->n++] = (struct entry){pc, meet, lanes};
}

static void start(void *state, uint32_t pc, uint64_t live)
{
    struct state *s = state;

    *s = (struct state){.live = live};
    push(s, pc, ISA_NO_PC, live);
}

static enum cf_next pick(void *state, uint32_t *pc, uint64_t *lanes)
{
    struct state *s = state;

    if (!s->live) {
        s->n = 0;
        return CF_ALL_ENDED;
    }
    if (s->parked)
        return s->parked == s->live ? CF_ALL_PARKED : CF_DEADLOCK;
    while (!(top(s)->lanes & s->live) || top(s)->pc == top(s)->meet)
        s->n--;
    *pc = top(s)->pc;
    *lanes = top(s)->lanes & s->live;
    return CF_GO;
}

/* The topmost group parts. Of the parts those that do not jump run first. */
static void part(struct state *s, const struct isa_insn *insn, uint32_t meet, uint64_t stay,
                 uint64_t taken)
{
    /* Where it meets at its own meeting point the group below is the one that goes on there. */
    if (top(s)->meet == meet)
        s->n--;
    else
        top(s)->pc = meet;
    push(s, insn->target, meet, taken);
    push(s, insn->pc + 1, meet, stay);
}

/* A group that falls into its meeting point passes on what it waited for; the last to come takes the join with it. */
static void step_join(struct state *s, uint32_t pc)
{
    while (top(s)->meet == pc) {
        s->n--;
        if (top(s)->pc != pc)
            return;
    }
    top(s)->pc = pc + 1;
}

static void step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;
    uint64_t stay = active & ~taken;

    *cost = (struct cf_cost){0};
    if (insn->format == ISA_JOIN) {
        step_join(s, insn->pc);
        return;
    }
    taken &= active;
    if (taken && stay) {
        cost->divergent = true;
        part(s, insn, plan->note[insn->pc - plan->first], stay, taken);
        return;
    }
    top(s)->pc = taken ? insn->target : insn->pc + 1;
    cost->skipped = cf_skipped(insn, top(s)->pc);
}

static uint64_t exec(const void *state)
{
    const struct state *s = state;

    return s->n ? s->entries[s->n - 1].lanes : 0;
}

static void lanes(void *state, uint32_t pc, uint64_t which, enum cf_why why)
{
    struct state *s = state;

    if (why == CF_ENDED) {
        s->live &= ~which;
        top(s)->pc = pc + 1;
    } else if (why == CF_AT_BARRIER) {
        s->parked = which;
        top(s)->pc = pc;
    } else {
        s->parked = 0;
        top(s)->pc++;
    }
}

/* From the top down: lanes wait in the topmost entry that has them. */
static unsigned waits(const void *state, struct cf_wait out[CF_MAX_WAITS])
{
    const struct state *s = state;
    uint64_t seen = s->parked;
    unsigned n = 0;

    if (s->parked)
        out[n++] = (struct cf_wait){CF_WAIT_BARRIER, s->entries[s->n - 1].pc, ISA_NO_PC, s->parked};
    else if (s->n)
        seen = s->entries[s->n - 1].lanes;
    for (uint64_t i = s->n; i-- > 0;) {
        const struct entry *e = &s->entries[i];
        uint64_t here = e->lanes & s->live & ~seen;
        bool meets = i + 1 < s->n && s->entries[i + 1].meet == e->pc;

        if (here)
            out[n++] =
                (struct cf_wait){meets ? CF_WAIT_MEETING : CF_WAIT_TURN, e->pc, ISA_NO_PC, here};
        seen |= e->lanes;
    }
    return n;
}

const struct cf_unit_ops cf_simt_stack = {
    .name = cf_simt_stack_name,
    .doc = cf_simt_stack_doc,
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
