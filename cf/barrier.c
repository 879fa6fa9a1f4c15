/*
 * The unit "barrier" runs the goto form with convergence barriers (as NVIDIA's Volta is described in its white paper of 2017):
 * groups of lanes are each at a pc of their own. Where a group parts, its lanes agree to meet at the nearest join that
 * post-dominates the goto; there they wait until all of them that are alive have come. Any group that does not
 * wait may run. The unit goes to the next one behind the backward branch of a loop that reads memory, so that a group that
 * spins does not keep the one that it waits for from running.
 */
#include "cf/one_pc.h"
#include "cf/parting.h"
#include "cf/units.h"

#include "isa/format.h"

#include <stdlib.h>
#include <string.h>

/* Notes: the pc of the join at which the lanes of a goto meet, MEET if nowhere; and whether others run behind a branch back. */
#define MEET UINT32_C(0x7fffffff)
#define CHANGE UINT32_C(0x80000000)

enum group_state { READY, MEETING, PARKED };

struct group {
    uint32_t pc; /* MEETING: of the join; PARKED: of the barrier */
    uint32_t state;
    uint64_t lanes;
};

struct meeting {
    uint32_t at;
    uint32_t unused;
    uint64_t members;
};

/*
 * Groups are disjoint. The members of a meeting are those of one group when it parted, at least two: of two such
 * sets one holds the other, or they are disjoint, so that there are less than lanes.
 */
struct state {
    uint64_t live;
    uint32_t ngroups, nmeetings;
    struct group groups[ISA_MAX_WIDTH]; /* the first that is READY runs */
    struct meeting meetings[ISA_MAX_WIDTH];
};

static size_t size(const struct isa_program *program, unsigned width)
{
    (void)program;
    (void)width;
    return sizeof(struct state);
}

static size_t used(const void *state)
{
    (void)state;
    return sizeof(struct state);
}

/* ---- where lanes meet ---- */

/* A loop in which lanes may wait for others: pcs from its head to its branch back. */
struct spin {
    uint32_t head, back;
};

/* The innermost loop around pc that holds an atomic whose result is looked at, and that the lanes meet behind. */
static bool find_spin(const struct partings *p, const struct parting *at, struct spin *out)
{
    const struct isa_insn *insns = p->program->insns;

    for (uint32_t back = at->pc; back < p->kernel->end && back < at->meet; back++) {
        const struct isa_insn *in = &insns[back];

        if (!(isa_formats[in->format].extra & ISA_X_TARGET) || in->target > at->pc)
            continue;
        for (uint32_t pc = in->target; pc <= back; pc++)
            if (insns[pc].flags & ISA_F_RETURN) {
                *out = (struct spin){in->target, back};
                return true;
            }
    }
    return false;
}

/* Lanes come here to meet anyhow, because of a goto around the loop. */
static bool is_met_around(const struct partings *p, const struct parting *at,
                          const struct spin *loop, uint32_t join)
{
    struct spin other;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct parting *around = &p->at[i];

        if (around->meet == join && around->inside[at->block] &&
            (around->pc < loop->head || around->pc > loop->back) && !find_spin(p, around, &other))
            return true;
    }
    return false;
}

/*
 * Who has left a loop that takes a lock must not wait for those that are still in it before he has given it back (compare
 * ElTantawy and Aamodt, MICRO 2016). He waits where a goto around the loop makes him wait anyhow, or nowhere.
 */
static uint32_t meet_of(const struct partings *p, const struct parting *at)
{
    struct spin loop;
    uint32_t join = at->meet;

    if (!find_spin(p, at, &loop))
        return join;
    while (join != ISA_NO_PC) {
        join = cfg_next_join(&p->g, isa_block_at(&p->g.flow, join));
        if (join != ISA_NO_PC && is_met_around(p, at, &loop, join))
            break;
    }
    return join;
}

static void move_meetings(struct partings *p, struct cf_plan *plan)
{
    for (uint32_t i = 0; i < p->n; i++)
        plan->note[p->at[i].pc - plan->first] = meet_of(p, &p->at[i]);
    for (uint32_t i = 0; i < p->n; i++)
        if (p->at[i].meet != plan->note[p->at[i].pc - plan->first])
            partings_move(p, &p->at[i], plan->note[p->at[i].pc - plan->first]);
}

/* A loop that reads no memory cannot wait for other lanes, so that nobody has to run between its trips. */
static bool reads_memory(const struct isa_program *program, const struct isa_insn *back)
{
    for (uint32_t pc = back->target; pc < back->pc; pc++) {
        const struct isa_insn *in = &program->insns[pc];

        if (in->format == ISA_GLOAD || in->format == ISA_LLOAD || (in->flags & ISA_F_RETURN))
            return true;
    }
    return false;
}

static void find_changes(const struct isa_program *program, const struct isa_kernel *kernel,
                         struct cf_plan *plan, bool *changes)
{
    for (uint32_t pc = kernel->first; pc < kernel->end; pc++) {
        const struct isa_insn *in = &program->insns[pc];
        bool back = (isa_formats[in->format].extra & ISA_X_TARGET) && in->target <= pc;

        changes[pc - kernel->first] = back && reads_memory(program, in);
        plan->note[pc - kernel->first] &= MEET;
        if (changes[pc - kernel->first])
            plan->note[pc - kernel->first] |= CHANGE;
    }
}

static enum hd_status prepare(const struct isa_program *program, const struct isa_kernel *kernel,
                              struct cf_plan *plan, struct hd_error *err)
{
    struct partings p;
    bool *changes = calloc(kernel->end - kernel->first, sizeof *changes);
    enum hd_status status = partings_find(&p, cf_barrier_name, program, kernel, true, err);

    if (status == HD_OK && !changes)
        status = hd_no_memory(err, "the control flow of kernel %s", kernel->name);
    if (status == HD_OK) {
        move_meetings(&p, plan);
        find_changes(program, kernel, plan, changes);
        status = partings_refuse_lanes(&p, err);
    }
    if (status == HD_OK)
        status = partings_refuse_scalars(&p, changes, err);
    partings_free(&p);
    free(changes);
    return status;
}

/* ---- groups ---- */

static uint32_t running(const struct state *s)
{
    uint32_t i = 0;

    while (i < s->ngroups && s->groups[i].state != READY)
        i++;
    return i;
}

static struct group take(struct state *s, uint32_t i)
{
    struct group g = s->groups[i];

    s->ngroups--;
    memmove(s->groups + i, s->groups + i + 1, (s->ngroups - i) * sizeof *s->groups);
    g.lanes &= s->live;
    return g;
}

static void insert(struct state *s, uint32_t i, struct group g)
{
    if (!g.lanes)
        return;
    memmove(s->groups + i + 1, s->groups + i, (s->ngroups - i) * sizeof *s->groups);
    s->groups[i] = g;
    s->ngroups++;
}

/* ---- meetings ---- */

static uint64_t come_to(const struct state *s, const struct meeting *m)
{
    uint64_t come = 0;

    for (uint32_t i = 0; i < s->ngroups; i++)
        if (s->groups[i].state == MEETING && s->groups[i].pc == m->at &&
            (s->groups[i].lanes & m->members))
            come |= s->groups[i].lanes & s->live;
    return come;
}

/* All have come: they go on as one group, ahead of others, at pc. */
static void finish(struct state *s, uint32_t meeting, uint32_t pc)
{
    struct meeting m = s->meetings[meeting];
    struct group all = {pc, READY, 0};

    for (uint32_t i = 0; i < s->ngroups;)
        if (s->groups[i].state == MEETING && (s->groups[i].lanes & m.members))
            all.lanes |= take(s, i).lanes;
        else
            i++;
    s->nmeetings--;
    memmove(s->meetings + meeting, s->meetings + meeting + 1,
            (s->nmeetings - meeting) * sizeof *s->meetings);
    insert(s, 0, all);
}

/* The meeting at pc that these lanes have agreed on last, nmeetings if there is none. */
static uint32_t meeting_at(const struct state *s, uint32_t pc, uint64_t lanes)
{
    for (uint32_t i = s->nmeetings; i-- > 0;)
        if (s->meetings[i].at == pc && !(lanes & ~s->meetings[i].members))
            return i;
    return s->nmeetings;
}

/* Lanes go on at pc, which comes before `place` in the queue, or wait there for others. `then` is where they go on if they are the last. */
static void arrive(struct state *s, uint32_t place, uint32_t pc, uint64_t lanes, uint32_t then)
{
    uint32_t meeting = meeting_at(s, pc, lanes);

    if (!lanes)
        return;
    if (meeting == s->nmeetings) {
        insert(s, place, (struct group){then, READY, lanes});
        return;
    }
    insert(s, s->ngroups, (struct group){pc, MEETING, lanes});
    if (come_to(s, &s->meetings[meeting]) == (s->meetings[meeting].members & s->live))
        finish(s, meeting, then);
}

static void agree(struct state *s, uint32_t at, uint64_t lanes)
{
    if (at != MEET && meeting_at(s, at, lanes) == s->nmeetings)
        s->meetings[s->nmeetings++] = (struct meeting){at, 0, lanes};
}

/* Lanes have ended, and others may have waited for them alone. */
static void check_meetings(struct state *s)
{
    for (uint32_t i = s->nmeetings; i-- > 0;)
        if (come_to(s, &s->meetings[i]) == (s->meetings[i].members & s->live))
            finish(s, i, s->meetings[i].at);
}

/* ---- the unit ---- */

static void start(void *state, uint32_t pc, uint64_t live)
{
    struct state *s = state;

    memset(s, 0, sizeof *s);
    s->live = live;
    insert(s, 0, (struct group){pc, READY, live});
}

static enum cf_next pick(void *state, uint32_t *pc, uint64_t *lanes)
{
    struct state *s = state;
    uint32_t now = running(s);
    uint64_t parked = 0;

    if (now < s->ngroups) {
        *pc = s->groups[now].pc;
        *lanes = s->groups[now].lanes;
        return CF_GO;
    }
    for (uint32_t i = 0; i < s->ngroups; i++)
        parked |= s->groups[i].state == PARKED ? s->groups[i].lanes : 0;
    if (!s->live)
        return CF_ALL_ENDED;
    return parked == s->live ? CF_ALL_PARKED : CF_DEADLOCK;
}

static void step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;
    uint32_t now = running(s), next = insn->pc + 1;
    uint64_t stay = active & ~taken;
    uint32_t note = plan->note[insn->pc - plan->first];

    *cost = (struct cf_cost){0};
    taken &= active;
    if (s->ngroups == 1 && !s->nmeetings && !(taken && stay)) { /* nobody else */
        s->groups[0].pc = taken ? insn->target : next;
        cost->skipped = cf_skipped(insn, s->groups[0].pc);
        return;
    }
    (void)take(s, now);
    if (insn->format == ISA_JOIN) {
        arrive(s, now, insn->pc, active, next);
        return;
    }
    cost->divergent = taken && stay;
    cost->skipped = stay ? 0 : cf_skipped(insn, insn->target);
    if (cost->divergent)
        agree(s, note & MEET, active);
    /* Those that stay go first, and those that go round last. */
    arrive(s, note & CHANGE ? s->ngroups : now, insn->target, taken, insn->target);
    arrive(s, now < s->ngroups ? now : s->ngroups, next, stay, next);
}

static uint64_t exec(const void *state)
{
    const struct state *s = state;
    uint32_t now = running(s);

    return now < s->ngroups ? s->groups[now].lanes : 0;
}

static void lanes(void *state, uint32_t pc, uint64_t which, enum cf_why why)
{
    struct state *s = state;
    uint32_t now = running(s);
    struct group g;

    if (why == CF_RELEASED) {
        for (uint32_t i = 0; i < s->ngroups; i++)
            if (s->groups[i].state == PARKED) {
                s->groups[i].state = READY;
                s->groups[i].pc++;
            }
        return;
    }
    g = take(s, now);
    insert(s, now, (struct group){pc + 1, READY, g.lanes & ~which});
    if (why == CF_AT_BARRIER) {
        insert(s, s->ngroups, (struct group){pc, PARKED, g.lanes & which});
    } else {
        s->live &= ~which;
        check_meetings(s);
    }
}

static unsigned waits(const void *state, struct cf_wait out[CF_MAX_WAITS])
{
    static const uint8_t kinds[] = {
        [READY] = CF_WAIT_TURN, [MEETING] = CF_WAIT_MEETING, [PARKED] = CF_WAIT_BARRIER};
    const struct state *s = state;
    uint32_t now = running(s);
    unsigned n = 0;

    for (uint32_t i = 0; i < s->ngroups; i++)
        if (i != now)
            out[n++] = (struct cf_wait){(enum cf_wait_kind)kinds[s->groups[i].state],
                                        s->groups[i].pc, ISA_NO_PC, s->groups[i].lanes};
    return n;
}

const struct cf_unit_ops cf_barrier = {
    .name = cf_barrier_name,
    .doc = cf_barrier_doc,
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
