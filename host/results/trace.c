#include "host/results/trace.h"

#include "host/results/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- order and lanes ----------------------------------------------------------------------- */

/* Sorted by time, the longer first where two begin together. */
static int by_start(const void *a, const void *b)
{
    const struct trace_slice *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps > y->end_ps ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* A lane of a track. Slices that overlap on their track go to lanes of their own, so that all are drawn. */
struct lane {
    uint32_t group, track, number;
    uint64_t tid; /* in order of the lanes of a group, from 1: the order in which they are drawn */
    uint64_t free_ps;
};

struct trace {
    struct json_writer *w;
    const struct trace_slices *slices; /* by start */
    VEC(struct lane) lanes;            /* by group, track, number */
    uint32_t *lane_of;                 /* beside slices: index in lanes */
};

/* A slice by its track. */
struct placed {
    uint32_t group, track;
    size_t slice;
};

static int by_track(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->slice > y->slice) - (x->slice < y->slice);
}

/* The first lane of the track, which are the last from `first` on, that is free; or a new one. */
static bool take_lane(struct trace *t, size_t first, const struct placed *p)
{
    const struct trace_slice *s = &t->slices->at[p->slice];
    const struct lane *last = t->lanes.len ? &t->lanes.at[t->lanes.len - 1] : NULL;
    struct lane fresh = {.group = p->group, .track = p->track, .tid = 1, .free_ps = s->end_ps};
    size_t l;

    for (l = first; l < t->lanes.len; l++) {
        if (t->lanes.at[l].free_ps <= s->start_ps) {
            t->lanes.at[l].free_ps = s->end_ps;
            t->lane_of[p->slice] = (uint32_t)l;
            return true;
        }
    }
    fresh.number = (uint32_t)(t->lanes.len - first);
    if (last && last->group == p->group)
        fresh.tid = last->tid + 1;
    t->lane_of[p->slice] = (uint32_t)t->lanes.len;
    return vec_push(&t->lanes, fresh);
}

static bool take_lanes(struct trace *t)
{
    size_t n = t->slices->len, first = 0, i;
    struct placed *placed = calloc(n + 1, sizeof *placed);
    bool ok = placed != NULL;

    t->lane_of = calloc(n + 1, sizeof *t->lane_of);
    for (i = 0; ok && i < n; i++)
        placed[i] = (struct placed){t->slices->at[i].group, t->slices->at[i].track, i};
    if (ok)
        qsort(placed, n, sizeof *placed, by_track);
    for (i = 0; ok && t->lane_of && i < n; i++) {
        if (i > 0 &&
            (placed[i].group != placed[i - 1].group || placed[i].track != placed[i - 1].track))
            first = t->lanes.len;
        ok = take_lane(t, first, &placed[i]);
    }
    free(placed);
    return ok && t->lane_of;
}

static uint64_t tid_of(const struct trace *t, size_t slice)
{
    return t->lanes.at[t->lane_of[slice]].tid;
}

/* ---- records ------------------------------------------------------------------------------- */

static const char *const group_names[TRACE_GROUPS] = {"host", "streams", "copy engines"};
enum { COUNTERS_PID = TRACE_GROUPS + 1 };

static void begin(struct trace *t, const char *phase, uint64_t ts_ps, uint64_t pid, uint64_t tid)
{
    json_row_object(t->w, NULL);
    json_text(t->w, "ph", phase);
    json_us(t->w, "ts", ts_ps);
    json_u64(t->w, "pid", pid);
    json_u64(t->w, "tid", tid);
}

static void write_name(struct trace *t, const char *what, uint64_t pid, uint64_t tid,
                       const char *name)
{
    begin(t, "M", 0, pid, tid);
    json_text(t->w, "name", what);
    json_row_object(t->w, "args");
    json_text(t->w, "name", name);
    json_end(t->w);
    json_end(t->w);
}

static void lane_name(const struct lane *l, char *out, size_t size)
{
    static const char *const directions[] = {"h2d", "d2h"};
    char track[32];

    if (l->group == TRACE_HOST)
        snprintf(track, sizeof track, "regions");
    else if (l->group == TRACE_COPIES)
        snprintf(track, sizeof track, "%s", directions[l->track]);
    else
        snprintf(track, sizeof track, "stream %" PRIu32, l->track);
    if (l->number == 0)
        snprintf(out, size, "%s", track);
    else
        snprintf(out, size, "%s (%" PRIu32 ")", track, l->number + 1);
}

static void write_names(struct trace *t)
{
    char name[64];
    uint64_t group;
    size_t i;

    for (group = 0; group < TRACE_GROUPS; group++)
        write_name(t, "process_name", group + 1, 0, group_names[group]);
    write_name(t, "process_name", COUNTERS_PID, 0, "device");
    for (i = 0; i < t->lanes.len; i++) {
        const struct lane *l = &t->lanes.at[i];

        lane_name(l, name, sizeof name);
        write_name(t, "thread_name", l->group + UINT64_C(1), l->tid, name);
    }
}

static void write_slice_args(struct trace *t, const struct trace_slice *s)
{
    json_row_object(t->w, "args");
    if (s->group == TRACE_HOST) {
        json_u64(t->w, "iteration", s->iteration);
    } else {
        json_u64(t->w, "id", s->id);
        if (s->group == TRACE_COPIES)
            json_u64(t->w, "bytes", s->bytes);
    }
    json_end(t->w);
}

static void write_slice(struct trace *t, const struct trace_slice *s, uint64_t tid)
{
    static const char *const categories[TRACE_GROUPS] = {"region", "kernel", NULL};
    const char *category =
        s->group == TRACE_COPIES ? result_transfer_names[s->move] : categories[s->group];

    begin(t, "X", s->start_ps, s->group + UINT64_C(1), tid);
    json_us(t->w, "dur", s->end_ps - s->start_ps);
    json_text(t->w, "name", s->name);
    json_text(t->w, "cat", category);
    write_slice_args(t, s);
    json_end(t->w);
}

static void write_counter(struct trace *t, uint64_t ts_ps, const char *name, const char *key,
                          uint64_t value)
{
    begin(t, "C", ts_ps, COUNTERS_PID, 0);
    json_text(t->w, "name", name);
    json_row_object(t->w, "args");
    json_u64(t->w, key, value);
    json_end(t->w);
    json_end(t->w);
}

static void write_arrow(struct trace *t, bool first, uint64_t ts_ps, uint64_t tid, uint64_t id)
{
    begin(t, first ? "s" : "f", ts_ps, TRACE_STREAMS + 1, tid);
    json_text(t->w, "name", "depends");
    json_text(t->w, "cat", "dag");
    json_u64(t->w, "id", id);
    if (!first)
        json_text(t->w, "bp", "e");
    json_end(t->w);
}

/* ---- events in order ----------------------------------------------------------------------- */

/* What is to be written at a time. Equal times: slices as sorted, then counters, then arrows. */
enum event_kind { EVENT_SLICE, EVENT_COUNTER, EVENT_ARROW_FROM, EVENT_ARROW_TO };

struct event {
    uint64_t time_ps;
    enum event_kind kind;
    size_t slice;   /* index; of a counter: group */
    uint64_t value; /* of a counter, or id of an arrow */
};

struct events {
    struct event *at;
    size_t len, cap;
};

static int by_event(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* A border of a slice, for counters. */
struct edge_time {
    uint64_t time_ps;
    int step;
};

static int by_edge_time(const void *a, const void *b)
{
    const struct edge_time *x = a, *y = b;

    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

/* How many slices of the group are open, said once at each time that it changes. */
static bool add_counter(struct trace *t, struct events *out, uint8_t group)
{
    VEC(struct edge_time) borders = {0};
    uint64_t open = 0, said = 0;
    size_t i;
    bool ok = true;

    for (i = 0; i < t->slices->len && ok; i++) {
        const struct trace_slice *s = &t->slices->at[i];

        if (s->group == group)
            ok = vec_push(&borders, ((struct edge_time){s->start_ps, 1})) &&
                 vec_push(&borders, ((struct edge_time){s->end_ps, -1}));
    }
    if (borders.len)
        qsort(borders.at, borders.len, sizeof *borders.at, by_edge_time);
    for (i = 0; i < borders.len && ok; i++) {
        open += (uint64_t)(int64_t)borders.at[i].step;
        if (i + 1 < borders.len && borders.at[i + 1].time_ps == borders.at[i].time_ps)
            continue;
        if (open != said)
            ok = vec_push(out, ((struct event){borders.at[i].time_ps, EVENT_COUNTER, group, open}));
        said = open;
    }
    vec_free(&borders);
    return ok;
}

/* A kernel's node and where its slice is. */
struct drawn {
    uint64_t node;
    size_t slice;
};

static int by_node(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

static struct drawn *drawn_kernels(const struct trace *t, size_t *n)
{
    struct drawn *at = calloc(t->slices->len + 1, sizeof *at);
    size_t i;

    *n = 0;
    for (i = 0; at && i < t->slices->len; i++)
        if (t->slices->at[i].group == TRACE_STREAMS)
            at[(*n)++] = (struct drawn){t->slices->at[i].id, i};
    if (at)
        qsort(at, *n, sizeof *at, by_node);
    return at;
}

static const struct drawn *find_drawn(const struct drawn *at, size_t n, uint64_t node)
{
    struct drawn key = {node, 0};

    return bsearch(&key, at, n, sizeof *at, by_node);
}

/* An arrow leaves from inside the parent's slice, a nanosecond before its end: a double late in a run still tells them apart. */
static uint64_t leave_time(const struct trace_slice *s)
{
    uint64_t length = s->end_ps - s->start_ps;

    return s->end_ps - (length < 1000 ? length : 1000);
}

static bool add_arrows(struct trace *t, struct events *out, const struct span_edge *edges,
                       size_t nedges)
{
    size_t n, i;
    struct drawn *kernels = drawn_kernels(t, &n);
    uint64_t id = 1;
    bool ok = kernels != NULL;

    for (i = 0; i < nedges && ok; i++) {
        const struct drawn *from = find_drawn(kernels, n, edges[i].from);
        const struct drawn *to = find_drawn(kernels, n, edges[i].to);

        if (!from || !to)
            continue;
        ok = vec_push(out, ((struct event){leave_time(&t->slices->at[from->slice]),
                                           EVENT_ARROW_FROM, from->slice, id})) &&
             vec_push(out, ((struct event){t->slices->at[to->slice].start_ps, EVENT_ARROW_TO,
                                           to->slice, id}));
        id++;
    }
    free(kernels);
    return ok;
}

static void write_event(struct trace *t, const struct event *e)
{
    const struct trace_slice *s = &t->slices->at[e->slice];
    static const char *const counters[TRACE_GROUPS] = {NULL, "kernels", "transfers"};
    static const char *const keys[TRACE_GROUPS] = {NULL, "resident", "active"};

    switch (e->kind) {
    case EVENT_SLICE:
        write_slice(t, s, tid_of(t, e->slice));
        break;
    case EVENT_COUNTER:
        write_counter(t, e->time_ps, counters[e->slice], keys[e->slice], e->value);
        break;
    case EVENT_ARROW_FROM:
    case EVENT_ARROW_TO:
        write_arrow(t, e->kind == EVENT_ARROW_FROM, e->time_ps, tid_of(t, e->slice), e->value);
        break;
    }
}

static bool collect(struct trace *t, struct events *out, const struct span_edge *edges,
                    size_t nedges)
{
    size_t i;

    for (i = 0; i < t->slices->len; i++)
        if (!vec_push(out, ((struct event){t->slices->at[i].start_ps, EVENT_SLICE, i, 0})))
            return false;
    return add_counter(t, out, TRACE_STREAMS) && add_counter(t, out, TRACE_COPIES) &&
           add_arrows(t, out, edges, nedges);
}

/* ---- the whole ----------------------------------------------------------------------------- */

bool trace_add(struct trace_slices *out, const struct trace_slice *slice,
               const struct trace_options *options, struct trace_cuts *cuts)
{
    if (slice->start_ps >= options->to_ps ||
        (slice->end_ps <= options->from_ps && slice->start_ps < options->from_ps)) {
        cuts->outside++;
        return true;
    }
    if (out->len >= options->cap_bytes / TRACE_SLICE_BYTES) {
        cuts->past_cap++;
        return true;
    }
    return vec_push(out, *slice);
}

static void write_cuts(struct trace *t, const struct trace_cuts *cuts)
{
    json_row_object(t->w, "otherData");
    json_u64(t->w, "slices_outside_window", cuts->outside);
    json_u64(t->w, "slices_past_cap", cuts->past_cap);
    json_end(t->w);
}

bool trace_write(struct json_writer *w, struct trace_slices *slices, const struct span_edge *edges,
                 size_t nedges, const struct trace_cuts *cuts)
{
    struct trace t = {.w = w, .slices = slices};
    struct events events = {0};
    size_t i;
    bool ok;

    if (slices->len)
        qsort(slices->at, slices->len, sizeof *slices->at, by_start);
    ok = take_lanes(&t) && collect(&t, &events, edges, nedges);
    if (ok && events.len)
        qsort(events.at, events.len, sizeof *events.at, by_event);
    json_object(w, NULL);
    json_text(w, "displayTimeUnit", "ns");
    write_cuts(&t, cuts);
    json_array(w, "traceEvents");
    if (ok)
        write_names(&t);
    for (i = 0; ok && i < events.len; i++)
        write_event(&t, &events.at[i]);
    json_end(w);
    json_end(w);
    vec_free(&events);
    vec_free(&t.lanes);
    free(t.lane_of);
    return ok;
}
