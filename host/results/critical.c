#include "host/results/critical.h"

#include <stdlib.h>

#define NONE UINT32_MAX /* there are fewer spans: RECORD_SPANS_MAX */

enum { ROOM_LOOKS = 1024 }; /* kernels that can be on the device at once */

/* Indices of spans in the orders that the walk looks things up in. */
struct walk {
    const struct timeline *t;
    const struct critical_rules *rules;
    uint32_t *by_node; /* by node, then end */
    uint32_t *kernels; /* by end; kernels only */
    uint32_t *all;     /* by end */
    uint32_t *before_stream,
        *before_engine;      /* the one before in the same stream, on the same engine; NONE */
    struct span_edge *edges; /* by `to` */
    bool *seen;
    size_t nkernels;
};

/* Keyed indices, so that one comparison serves every order. */
struct keyed {
    uint64_t group, time_ps;
    uint32_t index;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_to(const void *a, const void *b)
{
    const struct span_edge *x = a, *y = b;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static uint64_t node_of(const struct walk *w, size_t i)
{
    return w->t->spans[i].node;
}

static uint64_t engine_of(const struct walk *w, const struct span *s)
{
    if (s->kind == SPAN_KERNEL)
        return 0;
    return w->rules->one_engine ? 1 : s->kind;
}

static void take_sorted(struct keyed *keys, size_t n, uint32_t *out)
{
    size_t i;

    qsort(keys, n, sizeof *keys, by_key);
    for (i = 0; i < n; i++)
        out[i] = keys[i].index;
}

/* before[i]: the neighbour of i in its group, by start. */
static void link_groups(struct keyed *keys, size_t n, uint32_t *before)
{
    size_t i;

    qsort(keys, n, sizeof *keys, by_key);
    for (i = 0; i < n; i++)
        before[keys[i].index] =
            i > 0 && keys[i - 1].group == keys[i].group ? keys[i - 1].index : NONE;
}

static void sort_spans(struct walk *w, struct keyed *keys)
{
    const struct span *s = w->t->spans;
    size_t n = w->t->nspans, i;

    for (i = 0; i < n; i++)
        keys[i] = (struct keyed){s[i].node, s[i].end_ps, (uint32_t)i};
    take_sorted(keys, n, w->by_node);
    for (i = 0; i < n; i++)
        keys[i] = (struct keyed){0, s[i].end_ps, (uint32_t)i};
    take_sorted(keys, n, w->all);
    for (i = 0, w->nkernels = 0; i < n; i++)
        if (s[w->all[i]].kind == SPAN_KERNEL)
            w->kernels[w->nkernels++] = w->all[i];
    for (i = 0; i < n; i++)
        keys[i] = (struct keyed){s[i].stream, s[i].start_ps, (uint32_t)i};
    link_groups(keys, n, w->before_stream);
    for (i = 0; i < n; i++)
        keys[i] = (struct keyed){engine_of(w, &s[i]), s[i].start_ps, (uint32_t)i};
    link_groups(keys, n, w->before_engine);
    for (i = 0; i < n; i++)
        if (s[i].kind == SPAN_KERNEL)
            w->before_engine[i] = NONE;
}

static void sort_graph(struct walk *w)
{
    size_t i;

    for (i = 0; i < w->t->nedges; i++)
        w->edges[i] = w->t->edges[i];
    qsort(w->edges, w->t->nedges, sizeof *w->edges, by_to);
}

static void walk_free(struct walk *w)
{
    free(w->by_node);
    free(w->kernels);
    free(w->all);
    free(w->before_stream);
    free(w->before_engine);
    free(w->edges);
    free(w->seen);
}

static bool walk_start(struct walk *w)
{
    size_t n = w->t->nspans + 1; /* none of the tables is ever empty */
    struct keyed *keys = calloc(n, sizeof *keys);

    w->by_node = calloc(n, sizeof *w->by_node);
    w->kernels = calloc(n, sizeof *w->kernels);
    w->all = calloc(n, sizeof *w->all);
    w->before_stream = calloc(n, sizeof *w->before_stream);
    w->before_engine = calloc(n, sizeof *w->before_engine);
    w->seen = calloc(n, sizeof *w->seen);
    w->edges = calloc(w->t->nedges + 1, sizeof *w->edges);
    if (!keys || !w->by_node || !w->kernels || !w->all || !w->before_stream || !w->before_engine ||
        !w->seen || !w->edges) {
        free(keys);
        return false;
    }
    sort_spans(w, keys);
    sort_graph(w);
    free(keys);
    return true;
}

/* The best so far, or candidate if it ended later and by `limit_ps`. */
static size_t later(const struct walk *w, size_t best, size_t candidate, uint64_t limit_ps)
{
    const struct span *s = w->t->spans;

    if (candidate == NONE || w->seen[candidate] || s[candidate].end_ps > limit_ps)
        return best;
    return best == NONE || s[candidate].end_ps > s[best].end_ps ? candidate : best;
}

/* Everything that belongs to a node. */
static size_t later_of_node(const struct walk *w, size_t best, uint64_t node, uint64_t limit_ps)
{
    size_t low = 0, high = w->t->nspans;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (node_of(w, w->by_node[middle]) < node)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->t->nspans && node_of(w, w->by_node[low]) == node; low++)
        best = later(w, best, w->by_node[low], limit_ps);
    return best;
}

static size_t later_of_parents(const struct walk *w, size_t best, uint64_t node, uint64_t limit_ps)
{
    size_t low = 0, high = w->t->nedges;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->edges[middle].to < node)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->t->nedges && w->edges[low].to == node; low++)
        best = later_of_node(w, best, w->edges[low].from, limit_ps);
    return best;
}

/* The last of `order` (by end) that has ended by the time, or NONE. */
static size_t last_ended(const struct walk *w, const uint32_t *order, size_t n, uint64_t time_ps)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->t->spans[order[middle]].end_ps <= time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && w->seen[order[low - 1]])
        low--;
    return low > 0 ? order[low - 1] : NONE;
}

/* The kernel that has still work-groups on the device then and ends first: what has no more to place makes room. */
static size_t making_room(const struct walk *w, uint64_t time_ps)
{
    size_t low = 0, high = w->nkernels;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->t->spans[w->kernels[middle]].end_ps <= time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->nkernels && low < high + ROOM_LOOKS; low++)
        if (w->t->spans[w->kernels[low]].start_ps < time_ps && !w->seen[w->kernels[low]])
            return w->kernels[low];
    return NONE;
}

/* The kernel that a kernel found in its place: one that had just left, one that is about to, or one that left after it was free; else best. */
static size_t room_for(const struct walk *w, const struct span *s, uint64_t front_ps,
                       uint64_t free_ps, size_t best)
{
    size_t left = last_ended(w, w->kernels, w->nkernels, s->start_ps), leaving;

    if (left != NONE && w->t->spans[left].end_ps <= free_ps)
        left = NONE;
    if (left != NONE && s->start_ps - w->t->spans[left].end_ps <= front_ps)
        return left;
    leaving = making_room(w, s->start_ps);
    if (leaving != NONE)
        return leaving;
    return left != NONE ? left : best;
}

/* What ended just when a span could go on, as with an event: nothing else in the graph says that it waited for that. */
static size_t awaited(const struct walk *w, uint64_t went_on_ps)
{
    size_t last = last_ended(w, w->all, w->t->nspans, went_on_ps);

    return last != NONE && w->t->spans[last].end_ps == went_on_ps ? last : NONE;
}

static size_t binder_of(const struct walk *w, size_t i)
{
    const struct span *s = &w->t->spans[i];
    size_t best = NONE, left;
    uint64_t free_ps = s->queued_ps,
             front_ps = s->kind == SPAN_KERNEL ? w->rules->launch_latency_ps : 0;

    if (s->node != SPAN_NO_NODE) {
        best = later_of_parents(w, best, s->node, s->start_ps);
        best = later_of_node(w, best, s->node, s->start_ps);
    }
    best = later(w, best, w->before_stream[i], s->start_ps);
    best = later(w, best, w->before_engine[i], s->start_ps);
    if (best != NONE && w->t->spans[best].end_ps > free_ps)
        free_ps = w->t->spans[best].end_ps;
    if (s->start_ps <= free_ps || s->start_ps - free_ps <= front_ps)
        return best;
    left = awaited(w, s->start_ps - front_ps);
    if (left != NONE)
        return left;
    if (s->kind != SPAN_KERNEL)
        return best;
    return room_for(w, s, front_ps, free_ps, best);
}

/* What the host had waited for last when it handed in `s`: what ended as that wait did. */
static size_t host_binder_of(const struct walk *w, const struct span *s)
{
    size_t low = 0, high = w->t->nwaits;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->t->waits[middle] <= s->queued_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? last_ended(w, w->all, w->t->nspans, w->t->waits[low - 1]) : NONE;
}

/* Steps are collected last first. */
struct steps {
    struct critical_step *at;
    size_t len;
};

static void add_step(struct steps *out, enum step_what what, const struct span *span,
                     uint64_t start_ps, uint64_t end_ps)
{
    if (end_ps > start_ps || what == STEP_SPAN)
        out->at[out->len++] = (struct critical_step){what, PART_NONE, span, start_ps, end_ps};
}

/* An element that made room is left before its end. */
static uint64_t end_or_begin(const struct walk *w, size_t i, uint64_t until_ps)
{
    if (i == NONE)
        return w->t->begin_ps;
    return w->t->spans[i].end_ps < until_ps ? w->t->spans[i].end_ps : until_ps;
}

/* Adds the element up to *until_ps and what led to it; returns the element before, or NONE at the beginning. */
static size_t step_back(struct walk *w, size_t i, uint64_t *until_ps, struct steps *out)
{
    const struct span *s = &w->t->spans[i];
    enum step_what wait = s->kind == SPAN_KERNEL ? STEP_LAUNCH : STEP_WAIT;
    size_t binder;
    uint64_t bound_ps;

    w->seen[i] = true;
    add_step(out, STEP_SPAN, s, s->start_ps, end_or_begin(w, i, *until_ps));
    *until_ps = s->start_ps;
    binder = binder_of(w, i);
    bound_ps = end_or_begin(w, binder, s->start_ps);
    if (s->queued_ps <= bound_ps) {
        add_step(out, wait, s, bound_ps, s->start_ps);
        return binder;
    }
    add_step(out, wait, s, s->queued_ps, s->start_ps);
    binder = host_binder_of(w, s);
    add_step(out, STEP_HOST, NULL, end_or_begin(w, binder, s->queued_ps), s->queued_ps);
    *until_ps = s->queued_ps;
    return binder;
}

static void reverse(struct steps *s)
{
    size_t i;

    for (i = 0; i < s->len / 2; i++) {
        struct critical_step swap = s->at[i];

        s->at[i] = s->at[s->len - 1 - i];
        s->at[s->len - 1 - i] = swap;
    }
}

bool critical_path(const struct timeline *t, const struct critical_rules *rules,
                   struct critical_step **steps, size_t *nsteps)
{
    struct walk w = {.t = t, .rules = rules};
    struct steps out = {calloc(3 * t->nspans + 2, sizeof *out.at), 0};
    uint64_t until_ps = UINT64_MAX;
    size_t i;

    if (!out.at || !walk_start(&w)) {
        walk_free(&w);
        free(out.at);
        return false;
    }
    i = t->nspans ? w.all[t->nspans - 1] : NONE;
    add_step(&out, STEP_HOST, NULL, end_or_begin(&w, i, UINT64_MAX), t->end_ps);
    while (i != NONE)
        i = step_back(&w, i, &until_ps, &out);
    walk_free(&w);
    reverse(&out);
    *steps = out.at;
    *nsteps = out.len;
    return critical_bounds(t, steps, nsteps);
}
