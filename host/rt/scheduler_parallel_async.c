/*
 * parallel-async: a graph found at run time. A computation waits, on the device, for its parents on other streams;
 * a host access waits, on the host, for the streams of its parents, and for nothing if it has none.
 */
#include "host/rt/runtime.h"

static struct dag_vertex *add(hd_runtime *rt, hd_array *const *arrays, const bool *read_only,
                              unsigned n, uint64_t node)
{
    struct dag_arg args[DAG_MAX_ARGS];
    struct dag_vertex *v;

    for (unsigned i = 0; i < n; i++)
        args[i] = (struct dag_arg){&arrays[i]->object, read_only[i]};
    v = dag_append(&rt->dag, args, n);
    if (v)
        v->node = node;
    return v;
}

/* ---- computations ------------------------------------------------------------------------------ */

static enum hd_status wait_for_parents(hd_runtime *rt, struct dag_vertex *v, bool automatic,
                                       struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (uint32_t i = 0; i < v->nedges && status == HD_OK; i++) {
        if (v->parents[i]->stream == v->stream)
            continue;
        if (automatic)
            rt_charge(rt, rt->cost->event_wait);
        status = stream_submit_wait(v->stream, v->parents[i]->ticket, err);
    }
    return status;
}

/*
 * A launch that the machine refuses has a place in the graph already, and later computations find
 * their parents through it: a mark stands there instead.
 */
static enum hd_status submit_in_place(struct dag_vertex *v, const struct sim_cmd *cmd,
                                      struct hd_error *err)
{
    enum hd_status status = stream_submit(v->stream, cmd, &v->ticket, err);
    struct sim_cmd mark = {.kind = SIM_MARK};

    if (status == HD_BAD_INPUT && stream_submit(v->stream, &mark, &v->ticket, NULL) != HD_OK)
        rt_poison(v->stream->rt); /* the machine has failed, not the launch alone */
    return status;
}

/* What happens between the vertex and the launch; only the machine or a lack of memory can make it fail. */
static enum hd_status prepare(hd_runtime *rt, const struct rt_computation *c, struct dag_vertex *v,
                              struct hd_error *err)
{
    enum hd_status status = stream_assign(rt, v, c->stream, err);

    if (status != HD_OK)
        return status;
    record_node(rt, HD_NODE_KERNEL, c->name, v->stream->number, c->node);
    record_edges(rt, v);
    attach_arguments(rt, c, v->stream);
    status = prefetch_arguments(rt, c, v->stream, false, err);
    if (status == HD_OK)
        status = wait_for_parents(rt, v, !c->stream, err);
    return status;
}

enum hd_status parallel_enter(hd_runtime *rt, const struct rt_computation *c,
                              struct dag_vertex **out, struct hd_error *err)
{
    struct dag_vertex *v = *out = add(rt, c->arrays, c->read_only, c->narrays, c->node);
    enum hd_status status;

    if (!v)
        return rt_no_memory(rt, err);
    if (!c->stream)
        rt_charge(rt, rt->cost->dag);
    status = prepare(rt, c, v, err);
    if (status != HD_OK) {
        rt_poison(rt); /* others would be ordered after a computation that is not there */
        dag_finish(&rt->dag, v);
        return status;
    }
    for (unsigned i = 0; i < c->narrays; i++)
        c->arrays[i]->host_last = false;
    return HD_OK;
}

/* A call on a stream of the program's own pays for itself alone: the graph orders it, too, at no cost. */
static enum hd_status submit(hd_runtime *rt, struct rt_computation *c, struct hd_error *err)
{
    struct dag_vertex *v;
    enum hd_status status = parallel_enter(rt, c, &v, err);

    if (status != HD_OK)
        return status;
    rt_charge(rt, c->cost_ns);
    status = submit_in_place(v, &c->cmd, err);
    if (!c->stream)
        rt_charge(rt, rt->cost->event_record);
    return status;
}

/* ---- host accesses ------------------------------------------------------------------------------- */

static enum hd_status sync_parents(struct dag_vertex *v, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (uint32_t i = 0; i < v->nedges && status == HD_OK; i++) {
        if (!v->parents[i]->finished) /* or else a sync for another parent has covered it */
            status = stream_sync(v->parents[i]->stream, err);
    }
    return status;
}

/*
 * The host must not touch an array that a running kernel can see, also if both only read it: without page faults
 * that is every kernel on the stream that the array is attached to.
 */
static enum hd_status sync_attached(hd_array *a, struct hd_error *err)
{
    bool in_use = !list_empty(&a->object.uses[0]) || !list_empty(&a->object.uses[1]);

    return in_use && a->attach == ATTACH_STREAM ? stream_sync(a->stream, err) : HD_OK;
}

static enum hd_status access(hd_runtime *rt, hd_array *a, bool read_only, uint64_t node,
                             struct hd_error *err)
{
    bool active = rt->streams.nactive > 0;
    enum hd_status status = HD_OK;
    struct dag_vertex *v;

    if (a->host_last && !(active && attach_shared(a)))
        return HD_OK;
    v = add(rt, &a, &read_only, 1, node);
    if (!v)
        return rt_no_memory(rt, err);
    rt_charge(rt, rt->cost->dag);
    record_node(rt, read_only ? HD_NODE_HOST_READ : HD_NODE_HOST_WRITE, a->name,
                rt->streams.standard->number, node);
    record_edges(rt, v);
    if (active && rt->attach && a->attach == ATTACH_GLOBAL)
        status = streams_sync_all(rt, err);
    else
        status = sync_parents(v, err);
    dag_finish(&rt->dag, v);
    return status == HD_OK ? sync_attached(a, err) : status;
}

const struct scheduler scheduler_parallel_async = {true, false, submit, access};
