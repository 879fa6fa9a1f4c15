/*
 * Library functions as computational elements. Under parallel-async a call of one that takes a stream is a vertex of the
 * graph like a kernel, and what it launches goes to the vertex's stream behind the graph's back. Under the others, and for functions
 * that take no stream, its launches are computations on the default stream.
 */
#include "host/rt/library.h"

#include "host/rt/capture.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- life ---------------------------------------------------------------------------------------- */

static void destroy(hd_library *lib)
{
    list_remove(&lib->all);
    vec_free(&lib->hidden);
    free(lib);
}

void libraries_free(hd_runtime *rt)
{
    while (!list_empty(&rt->libraries))
        destroy(LIST_ITEM(rt->libraries.next, hd_library, all));
}

static enum hd_status fill(hd_library *lib, const struct hd_library_desc *desc, struct hd_error *err)
{
    enum hd_status status;

    snprintf(lib->declared.name, sizeof lib->declared.name, "%s", desc->name);
    lib->signature = (hd_kernel){.rt = lib->rt, .kernel = &lib->declared};
    lib->stream = desc->stream;
    status = signature_read(&lib->signature, "library function", desc->signature, err);
    for (unsigned i = 0; i < desc->nhidden && status == HD_OK; i++) {
        status = array_given(lib->rt, desc->hidden[i], "library function", err);
        if (status == HD_OK && !vec_push(&lib->hidden, desc->hidden[i]))
            status = rt_no_memory(lib->rt, err);
    }
    if (status == HD_OK && lib->signature.nparams + lib->hidden.len > DAG_MAX_ARGS)
        status = hd_error_set(err, HD_BAD_INPUT, "library-arrays", NULL, NULL,
                              "library function %s: at most %d parameters and arrays beside them",
                              desc->name, DAG_MAX_ARGS);
    return status;
}

enum hd_status hd_library_new(hd_runtime *rt, const struct hd_library_desc *desc, hd_library **out,
                              struct hd_error *err)
{
    hd_library *lib;
    enum hd_status status;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    lib = calloc(1, sizeof *lib);
    if (!lib)
        return rt_no_memory(rt, err);
    lib->rt = rt;
    list_insert(&rt->libraries, &lib->all);
    status = fill(lib, desc, err);
    if (status != HD_OK) {
        destroy(lib);
        return status;
    }
    *out = lib;
    return HD_OK;
}

/* ---- what is refused ------------------------------------------------------------------------------- */

enum hd_status library_refuses(const hd_runtime *rt, const char *what, struct hd_error *err)
{
    if (!rt->library.now || !rt->library.now->stream)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "library-refused", NULL,
                        "make it a function without a stream, or do it outside",
                        "library function %s takes a stream: %s is not allowed inside",
                        rt->library.now->declared.name, what);
}

static enum hd_status check_call(const hd_runtime *rt, const hd_library *lib, struct hd_error *err)
{
    if (!lib || lib->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "library", NULL, NULL,
                            lib ? "the library function belongs to another runtime"
                                : "expected a library function, given nil");
    if (rt->library.now)
        return hd_error_set(err, HD_BAD_INPUT, "library-nested", NULL, NULL,
                            "library function %s is called inside %s", lib->declared.name,
                            rt->library.now->declared.name);
    return capture_refuses(rt, "a library function", err);
}

/* ---- calls --------------------------------------------------------------------------------------- */

static enum hd_status bind(const hd_library *lib, const struct hd_arg *args, unsigned nargs,
                           struct rt_computation *c, struct hd_error *err)
{
    uint64_t values[ISA_MAX_PARAMS];
    enum hd_status status = args_bind(&lib->signature, args, nargs, values, c, err);

    for (size_t i = 0; i < lib->hidden.len && status == HD_OK; i++) {
        status = array_given(lib->rt, lib->hidden.at[i], lib->declared.name, err);
        c->arrays[c->narrays] = lib->hidden.at[i];
        c->read_only[c->narrays++] = false;
    }
    return status;
}

/* The vertex has no node until the function launches a kernel, which is its first then. */
static enum hd_status begin_vertex(hd_runtime *rt, struct rt_computation *c, struct hd_error *err)
{
    enum hd_status status;

    c->node = RT_NO_NODE;
    c->cmd.kind = SIM_KERNEL;
    c->cmd.tag = record_tag(rt->quiet ? RT_NO_NODE : rt->next_node);
    status = parallel_enter(rt, c, &rt->library.vertex, err);
    if (status == HD_OK)
        rt->library.stream = rt->library.vertex->stream;
    return status;
}

enum hd_status hd_library_begin(hd_runtime *rt, hd_library *lib, const struct hd_arg *args,
                                unsigned nargs, hd_stream **stream, struct hd_error *err)
{
    struct rt_computation c = {0};
    enum hd_status status;

    *stream = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = check_call(rt, lib, err);
    if (status == HD_OK)
        status = bind(lib, args, nargs, &c, err);
    if (status != HD_OK)
        return status;
    c.name = lib->declared.name;
    rt->library.vertex = NULL;
    rt->library.stream = rt->streams.standard;
    rt->library.last = RT_NO_NODE;
    if (!lib->stream)
        status = streams_sync_all(rt, err);
    else if (rt->scheduler->concurrent)
        status = begin_vertex(rt, &c, err);
    if (status != HD_OK)
        return status;
    rt->library.now = lib;
    rt->library.call = c;
    *stream = rt->library.stream;
    return HD_OK;
}

static void record_order(hd_runtime *rt, uint64_t from, uint64_t to)
{
    const struct hd_edge_row row = {.from = from, .to = to, .kind = HD_EDGE_ORDER};

    if (from != RT_NO_NODE && to != RT_NO_NODE && rt->recorder.edge)
        rt->recorder.edge(rt->recorder.user, &row);
}

/* The first kernel has the call's edges, and the ones that depend on the call depend on the last. */
static enum hd_status submit_inside(hd_runtime *rt, struct rt_bound *b, struct hd_error *err)
{
    struct dag_vertex *v = rt->library.vertex;
    uint64_t ticket;

    record_node(rt, HD_NODE_KERNEL, b->c.name, rt->library.stream->number, b->c.node);
    v->node = b->c.node;
    if (rt->library.last == RT_NO_NODE)
        record_edges(rt, v);
    else
        record_order(rt, rt->library.last, b->c.node);
    rt->library.last = b->c.node;
    rt_charge(rt, b->c.cost_ns);
    return stream_submit(rt->library.stream, &b->c.cmd, &ticket, err);
}

static bool may_use(const struct rt_computation *call, const hd_array *a, bool read_only)
{
    for (unsigned i = 0; i < call->narrays; i++) {
        if (call->arrays[i] == a && (read_only || !call->read_only[i]))
            return true;
    }
    return false;
}

/* With a stream the call is ordered by its arrays alone: what a kernel did to others nothing would wait for. */
static enum hd_status check_arrays(const hd_runtime *rt, const struct rt_bound *b,
                                   struct hd_error *err)
{
    for (unsigned i = 0; i < b->c.narrays && rt->library.now->stream; i++) {
        const bool read_only = b->c.read_only[i];

        if (may_use(&rt->library.call, b->c.arrays[i], read_only))
            continue;
        return hd_error_set(err, HD_BAD_INPUT, "library-array", NULL,
                            "make it an inout argument of the function, or track it",
                            "library function %s launches %s, which %s array %s: the call's arrays "
                            "do not say so",
                            rt->library.now->declared.name, b->c.name,
                            read_only ? "reads" : "may write", b->c.arrays[i]->name);
    }
    return HD_OK;
}

enum hd_status library_kernel(hd_runtime *rt, struct rt_bound *b, struct hd_error *err)
{
    enum hd_status status;

    if (b->c.stream && b->c.stream != rt->library.stream)
        return hd_error_set(err, HD_BAD_INPUT, "library-stream", NULL,
                            "launch on the stream that the function is given, or name none",
                            "library function %s launches %s on stream %u, not on its own, %u",
                            rt->library.now->declared.name, b->c.name, b->c.stream->number,
                            rt->library.stream->number);
    status = check_arrays(rt, b, err);
    if (status != HD_OK)
        return status;
    b->c.stream = rt->library.stream;
    launch_point(b, record_next_node(rt));
    return rt->library.vertex ? submit_inside(rt, b, err) : schedule_submit(rt, &b->c, err);
}

static enum hd_status end_vertex(hd_runtime *rt, struct hd_error *err)
{
    const struct sim_cmd mark = {.kind = SIM_MARK};

    rt_charge(rt, rt->cost->event_record);
    return stream_submit(rt->library.stream, &mark, &rt->library.vertex->ticket, err);
}

enum hd_status hd_library_end(hd_runtime *rt, struct hd_error *err)
{
    const hd_library *lib = rt->library.now;
    enum hd_status status = HD_OK;

    if (!lib)
        return hd_error_set(err, HD_BAD_INPUT, "library-none", NULL, NULL,
                            "no library function is called");
    rt->library.now = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    if (rt->library.vertex)
        status = end_vertex(rt, err);
    else if (!lib->stream)
        status = streams_sync_all(rt, err);
    rt->library.vertex = NULL;
    return status;
}
