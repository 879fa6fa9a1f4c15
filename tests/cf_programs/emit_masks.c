/*
 * The predicated forms by masks written by hand: each region has a mask, a loop with a continue a second one for
 * the lanes of the trip. What skips is left out at random, for it must not matter; predicated-all leaves out all of it.
 */
#include "tests/cf_programs/emit.h"

#include <stdio.h>

enum { FIRST_MASK = 3, WHOLE = 15 };

struct region {
    bool loop, masked;
    unsigned live, now; /* masks: lanes that are still in it; of them, those active */
    unsigned skip;      /* label for when none is active */
};

struct masks {
    struct emitter *e;
    unsigned depth, next;
    struct region at[CFP_DEPTH + 1];
    char pred[8];
};

static void list(struct masks *m, int16_t i);

static struct region *top(struct masks *m)
{
    return &m->at[m->depth];
}

static void predicate(struct masks *m)
{
    m->pred[0] = 0;
    if (top(m)->masked)
        snprintf(m->pred, sizeof m->pred, "@m%u ", top(m)->now);
    m->e->pred = m->pred;
}

static void push(struct masks *m, bool loop, bool two)
{
    struct region r = {.loop = loop, .masked = true};

    r.live = m->next++;
    r.now = two ? m->next++ : r.live;
    r.skip = ++m->e->labels;
    m->at[++m->depth] = r;
}

static void pop(struct masks *m)
{
    m->next = top(m)->live;
    m->depth--;
    predicate(m);
}

/* Where no lane is active, on to the region's end. */
static void may_skip(struct masks *m, unsigned percent)
{
    if (m->e->all || !top(m)->masked || !emit_chance(m->e, percent))
        return;
    if (emit_chance(m->e, 80)) {
        emit(m->e, "s_branch_none m%u, L%u", top(m)->now, top(m)->skip);
        return;
    }
    emit(m->e, "s_any s50, m%u", top(m)->now);
    emit(m->e, "s_branch_z s50, L%u", top(m)->skip);
}

/* All lanes go one way. */
static void group_branch(struct masks *m, const struct cfp_node *n)
{
    unsigned label = emit_group_if(m->e, n);

    list(m, n->body);
    if (n->orelse != CFP_NONE) {
        emit_group_else(m->e, label);
        list(m, n->orelse);
    }
    emit_group_end(m->e, n, label);
}

static void branch(struct masks *m, int16_t node)
{
    const struct cfp_node *n = &m->e->p->node[node];
    const char *mask = emit_cond(m->e, &n->cond);
    const struct region *outer = top(m);
    unsigned lanes;

    push(m, false, false);
    lanes = top(m)->now;
    if (outer->masked)
        emit(m->e, "m_and m%u, m%u, %s", lanes, outer->now, mask);
    else
        emit(m->e, "m_mov m%u, %s", lanes, mask);
    predicate(m);
    may_skip(m, 70);
    list(m, n->body);
    if (n->orelse != CFP_NONE) {
        emit_label(m->e, top(m)->skip);
        top(m)->skip = ++m->e->labels;
        if (outer->masked)
            emit(m->e, "m_andn m%u, m%u, m%u", lanes, outer->now, lanes);
        else
            emit(m->e, "m_not m%u, m%u", lanes, lanes);
        may_skip(m, 70);
        list(m, n->orelse);
    }
    emit_label(m->e, top(m)->skip);
    pop(m);
    may_skip(m, 30);
}

static void stay(struct masks *m, const struct cfp_node *n)
{
    const char *mask = emit_goes_on(m->e, n);

    emit(m->e, "m_and m%u, m%u, %s", top(m)->live, top(m)->live, mask);
}

/* Behind the body: back to the head if a lane is left. */
static void latch(struct masks *m, const struct cfp_node *n, unsigned head, bool tested)
{
    emit_label(m->e, top(m)->skip);
    if (n->kind == CFP_REPEAT) {
        emit_count(m->e, n);
        emit(m->e, "s_branch_nz s50, L%u", head);
        return;
    }
    if (n->kind == CFP_DO) {
        snprintf(m->pred, sizeof m->pred, "@m%u ", top(m)->live);
        stay(m, n);
    }
    if (tested && emit_chance(m->e, 50))
        emit(m->e, "s_jump L%u", head);
    else
        emit(m->e, "s_branch_any m%u, L%u", top(m)->live, head);
}

static void loop(struct masks *m, int16_t node)
{
    const struct cfp_node *n = &m->e->p->node[node];
    const struct region *outer = top(m);
    unsigned head = ++m->e->labels, out = ++m->e->labels;
    bool tested = n->kind == CFP_WHILE && !m->e->all && emit_chance(m->e, 70);

    emit_trips_start(m->e, n);
    push(m, true, cfp_body_has(m->e->p, n->body, CFP_CONTINUE));
    if (outer->masked)
        emit(m->e, "m_mov m%u, m%u", top(m)->live, outer->now);
    else
        emit(m->e, "m_mov m%u, -1", top(m)->live);
    emit_label(m->e, head);
    if (n->kind == CFP_WHILE) {
        snprintf(m->pred, sizeof m->pred, "@m%u ", top(m)->live);
        m->e->pred = m->pred;
        stay(m, n);
        if (tested)
            emit(m->e, "s_branch_none m%u, L%u", top(m)->live, out);
    }
    if (top(m)->now != top(m)->live)
        emit(m->e, "m_mov m%u, m%u", top(m)->now, top(m)->live);
    predicate(m);
    emit_trip(m->e, n);
    m->e->loops++;
    list(m, n->body);
    m->e->loops--;
    m->e->node = (uint16_t)node;
    latch(m, n, head, tested);
    emit_label(m->e, out);
    pop(m);
    may_skip(m, 30);
}

/* The lanes of m1 leave all regions inside the loop, or the program; a continue stays in the loop. */
static void drop(struct masks *m, enum cfp_kind kind)
{
    for (unsigned d = m->depth + 1; d-- > 0;) {
        const struct region *r = &m->at[d];
        bool last = r->loop && kind != CFP_RETURN;

        if (!r->masked)
            return;
        if (!(last && kind == CFP_CONTINUE))
            emit(m->e, "m_andn m%u, m%u, m1", r->live, r->live);
        if (r->now != r->live)
            emit(m->e, "m_andn m%u, m%u, m1", r->now, r->now);
        if (last)
            return;
    }
}

static void leave(struct masks *m, const struct cfp_node *n)
{
    const struct region *r = top(m);
    const char *mask = n->has_cond ? emit_cond(m->e, &n->cond) : NULL;

    if (mask && r->masked)
        emit(m->e, "m_and m1, m%u, %s", r->now, mask);
    else if (mask)
        emit(m->e, "m_mov m1, %s", mask);
    else if (r->masked)
        emit(m->e, "m_mov m1, m%u", r->now);
    else
        emit(m->e, "m_mov m1, -1");
    if (n->kind == CFP_END)
        emit(m->e, "@m1 s_end");
    else
        drop(m, (enum cfp_kind)n->kind);
    may_skip(m, 60);
}

static void list(struct masks *m, int16_t i)
{
    for (; i != CFP_NONE; i = m->e->p->node[i].next) {
        const struct cfp_node *n = &m->e->p->node[i];

        m->e->node = (uint16_t)i;
        if (n->kind <= CFP_BARRIER)
            emit_simple(m->e, n);
        else if (n->by_group)
            group_branch(m, n);
        else if (n->kind == CFP_IF)
            branch(m, i);
        else if (n->kind <= CFP_REPEAT)
            loop(m, i);
        else
            leave(m, n);
    }
    m->e->node = CFP_NO_NODE;
}

void emit_masks(struct emitter *e)
{
    struct masks m = {.e = e, .next = FIRST_MASK};

    m.at[0] = (struct region){.masked = cfp_has(e->p, CFP_RETURN), .live = WHOLE, .now = WHOLE};
    m.at[0].skip = ++e->labels;
    if (m.at[0].masked)
        emit(e, "m_mov m%u, -1", WHOLE);
    predicate(&m);
    list(&m, e->p->first);
    emit_label(e, m.at[0].skip);
    e->pred = "";
    emit_epilogue(e, NULL);
}
