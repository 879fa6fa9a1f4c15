#include "host/rt/capture.h"

#include "host/rt/library.h"

#include <stdlib.h>

#define OUTSIDE_HINT "do it before the capture begins or after it ends"

/* ---- the streams of a capture ------------------------------------------------------------------------ */

static struct capture_stream *captured(const hd_runtime *rt, const hd_stream *s)
{
    const struct capture *c = rt->capture;

    for (size_t i = 0; c && i < c->streams.len; i++) {
        if (c->streams.at[i].stream == s)
            return &c->streams.at[i];
    }
    return NULL;
}

static struct capture_stream *join(struct capture *c, hd_stream *s)
{
    const struct capture_stream fresh = {.stream = s};

    return vec_push(&c->streams, fresh) ? &c->streams.at[c->streams.len - 1] : NULL;
}

/* The stream, if it is captured; s is NULL for a launch that leaves the choice to the scheduler. */
static enum hd_status must_be_captured(const hd_runtime *rt, const hd_stream *s,
                                       struct capture_stream **out, struct hd_error *err)
{
    const uint32_t origin = rt->capture->streams.at[0].stream->number;

    *out = s ? captured(rt, s) : NULL;
    if (*out)
        return HD_OK;
    if (!s)
        return hd_error_set(
            err, HD_BAD_INPUT, "capture-no-stream", NULL, "name a captured stream in the launch",
            "a launch leaves its stream to the scheduler while stream %u is captured", origin);
    return hd_error_set(
        err, HD_BAD_INPUT, "capture-stream", NULL,
        "let it wait for an event that was recorded on a captured stream first",
        "stream %u is used while stream %u is captured, and is no part of the capture", s->number,
        origin);
}

/* ---- nodes --------------------------------------------------------------------------------------- */

static void mark_arrays(const struct capture *c, const struct rt_computation *uses, uint32_t node)
{
    for (unsigned i = 0; i < uses->narrays; i++) {
        hd_array *a = uses->arrays[i];

        if (a->capture == c->number)
            continue;
        a->capture = c->number;
        a->captured_by = node;
    }
}

static enum hd_status add_node(hd_runtime *rt, const hd_stream *s, struct graph_node *n,
                               struct hd_error *err)
{
    struct capture_stream *cs;
    enum hd_status status = must_be_captured(rt, s, &cs, err);
    uint32_t node;

    if (status != HD_OK)
        return status;
    n->bound.c.stream = NULL;
    status = graph_add(rt->capture->graph, n, cs->after.at, cs->after.len, &node, err);
    if (status != HD_OK)
        return status;
    mark_arrays(rt->capture, &n->bound.c, node);
    cs->after.len = 0;
    return vec_push(&cs->after, node) ? HD_OK : rt_no_memory(rt, err);
}

enum hd_status capture_kernel(hd_runtime *rt, const struct rt_bound *b, struct hd_error *err)
{
    struct graph_node n = {.kind = GRAPH_KERNEL, .bound = *b};

    return add_node(rt, b->c.stream, &n, err);
}

enum hd_status capture_copy(hd_runtime *rt, const struct hd_copy *copy,
                            const struct rt_computation *c, struct hd_error *err)
{
    struct graph_node n = {.kind = GRAPH_COPY, .copy = *copy};

    n.bound.c = *c;
    n.copy.stream = NULL;
    return add_node(rt, c->stream, &n, err);
}

/* ---- events -------------------------------------------------------------------------------------- */

enum hd_status capture_record(hd_runtime *rt, hd_event *e, hd_stream *s, struct hd_error *err)
{
    struct capture_stream *cs;
    enum hd_status status = must_be_captured(rt, s, &cs, err);

    if (status != HD_OK)
        return status;
    rt_charge(rt, rt->cost->event_record);
    if (!vec_copy(&e->after, &cs->after))
        return rt_no_memory(rt, err);
    e->stream = s;
    e->capture = rt->capture->number;
    return HD_OK;
}

static bool come_after(struct capture_stream *cs, const hd_event *e)
{
    for (size_t i = 0; i < e->after.len; i++) {
        bool there = false;

        for (size_t k = 0; k < cs->after.len && !there; k++)
            there = cs->after.at[k] == e->after.at[i];
        if (!there && !vec_push(&cs->after, e->after.at[i]))
            return false;
    }
    return true;
}

enum hd_status capture_wait(hd_runtime *rt, hd_stream *s, const hd_event *e, struct hd_error *err)
{
    struct capture_stream *cs = captured(rt, s);

    if (e->capture && (!rt->capture || e->capture != rt->capture->number))
        return hd_error_set(err, HD_BAD_INPUT, "event-captured", NULL,
                            "record it again outside the capture",
                            "the event was recorded in a capture that has ended");
    if (!e->capture)
        return hd_error_set(
            err, HD_BAD_INPUT, "capture-event", NULL,
            "let the stream that the graph is launched on wait for it",
            "stream %u waits, while stream %u is captured, for an event from outside "
            "the capture",
            s->number, rt->capture->streams.at[0].stream->number);
    rt_charge(rt, rt->cost->event_wait);
    if (!cs)
        cs = join(rt->capture, s);
    return cs && come_after(cs, e) ? HD_OK : rt_no_memory(rt, err);
}

/* ---- what is refused ------------------------------------------------------------------------------- */

enum hd_status capture_refuses(const hd_runtime *rt, const char *what, struct hd_error *err)
{
    if (!rt->capture)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "capture-refused", NULL, OUTSIDE_HINT,
                        "%s cannot be captured, and stream %u is", what,
                        rt->capture->streams.at[0].stream->number);
}

enum hd_status capture_refuses_stream(const hd_runtime *rt, const hd_stream *s, const char *what,
                                      struct hd_error *err)
{
    if (!captured(rt, s))
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "capture-stream-busy", NULL, OUTSIDE_HINT,
                        "stream %u is %s while it is captured", s->number, what);
}

enum hd_status capture_refuses_array(const hd_runtime *rt, const hd_array *a, const char *what,
                                     struct hd_error *err)
{
    char name[GRAPH_NAME_MAX];

    if (!rt->capture || a->capture != rt->capture->number)
        return HD_OK;
    graph_node_name(&rt->capture->graph->items.at[a->captured_by].node, a->captured_by, name);
    return hd_error_set(err, HD_BAD_INPUT, "capture-array", NULL, OUTSIDE_HINT,
                        "array %s is %s, but %s, which uses it, is captured and has not run",
                        a->name, what, name);
}

/* ---- beginning and end ------------------------------------------------------------------------------- */

/* The capture is gone; the graph stays. */
static void forget(hd_runtime *rt)
{
    struct capture *c = rt->capture;

    for (size_t i = 0; i < c->streams.len; i++)
        vec_free(&c->streams.at[i].after);
    vec_free(&c->streams);
    free(c);
    rt->capture = NULL;
}

void hd_capture_abort(hd_runtime *rt)
{
    if (!rt->capture)
        return;
    hd_graph_free(rt, rt->capture->graph, NULL);
    forget(rt);
}

enum hd_status hd_capture_begin(hd_runtime *rt, hd_stream *s, struct hd_error *err)
{
    enum hd_status status;
    struct capture *c;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = stream_given(rt, s, &s, err);
    if (status == HD_OK)
        status = capture_refuses(rt, "a capture", err);
    if (status == HD_OK)
        status = library_refuses(rt, "a capture", err);
    if (status != HD_OK)
        return status;
    c = calloc(1, sizeof *c);
    if (!c || !join(c, s)) {
        free(c);
        return rt_no_memory(rt, err);
    }
    c->number = ++rt->captures;
    status = hd_graph_new(rt, &c->graph, err);
    rt->capture = c;
    if (status != HD_OK)
        forget(rt);
    return status;
}

/* Marks the nodes that the first stream's end comes after. */
static bool find_joined(const struct capture *c, unsigned char *joined)
{
    VEC(uint32_t) work = {0};
    bool done = vec_copy(&work, &c->streams.at[0].after);

    while (work.len > 0 && done) {
        uint32_t node = work.at[--work.len];
        const struct graph_item *item = &c->graph->items.at[node];

        if (joined[node])
            continue;
        joined[node] = 1;
        for (size_t i = 0; i < item->deps.len && done; i++)
            done = vec_push(&work, item->deps.at[i]);
    }
    vec_free(&work);
    return done;
}

static enum hd_status check_joined(const struct capture *c, const unsigned char *joined,
                                   struct hd_error *err)
{
    char name[GRAPH_NAME_MAX];

    for (size_t i = 1; i < c->streams.len; i++) {
        const struct capture_stream *cs = &c->streams.at[i];

        for (size_t k = 0; k < cs->after.len; k++) {
            if (joined[cs->after.at[k]])
                continue;
            graph_node_name(&c->graph->items.at[cs->after.at[k]].node, cs->after.at[k], name);
            return hd_error_set(
                err, HD_BAD_INPUT, "capture-unjoined", NULL,
                "record an event on it and let the first stream wait for that",
                "the capture of stream %u ends, but does not wait for %s on stream %u",
                c->streams.at[0].stream->number, name, cs->stream->number);
        }
    }
    return HD_OK;
}

enum hd_status hd_capture_end(hd_runtime *rt, hd_graph **out, struct hd_error *err)
{
    enum hd_status status;
    unsigned char *joined;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    if (!rt->capture)
        return hd_error_set(err, HD_BAD_INPUT, "capture-none", NULL, NULL, "no stream is captured");
    joined = calloc(rt->capture->graph->items.len + 1, 1);
    status = joined && find_joined(rt->capture, joined) ? check_joined(rt->capture, joined, err)
                                                        : rt_no_memory(rt, err);
    free(joined);
    if (status != HD_OK) {
        hd_capture_abort(rt);
        return status;
    }
    *out = rt->capture->graph;
    forget(rt);
    return HD_OK;
}
