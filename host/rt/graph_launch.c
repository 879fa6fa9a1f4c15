/*
 * Launches of graphs. The first branch is the launching stream itself; the others start behind a mark on it, and it waits
 * for their ends, so that for the rest of the program the graph is a stretch of that stream. Everything is put there at one
 * time, and the rule of the default stream is applied once, by the mark.
 */
#include "host/rt/capture.h"
#include "host/rt/graph.h"
#include "host/rt/library.h"

enum hd_status exec_given(const hd_runtime *rt, const hd_graph_exec *x, struct hd_error *err)
{
    if (!x || x->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "graph-instance", NULL, NULL,
                            x ? "the graph was instantiated by another runtime"
                              : "expected an instantiated graph, given nil");
    if (x->freed)
        return hd_error_set(err, HD_BAD_INPUT, "graph-instance-freed", NULL, NULL,
                            "the instantiated graph is used after it was freed");
    return HD_OK;
}

/* One launch. */
struct launch {
    hd_graph_exec *x;
    hd_stream *stream;
    uint64_t fork;        /* ticket behind which the branches start */
    uint64_t first_seq;   /* of the graph's vertices */
    struct hd_error *err; /* of the first node that the machine refuses */
    enum hd_status refused;
};

/* ---- the graph of computations ------------------------------------------------------------------------ */

/* What conflicts with the node and was appended before this launch: all of this one is on its stream. */
static enum hd_status wait_for_parents(const struct launch *l, const struct dag_vertex *v)
{
    enum hd_status status = HD_OK;

    for (uint32_t i = 0; i < v->nedges && status == HD_OK; i++) {
        const struct dag_vertex *parent = v->parents[i];

        if (parent->stream != l->stream)
            status = stream_submit_wait(l->stream, parent->ticket, l->err);
    }
    return status;
}

/*
 * Each node is a vertex of its own, so that edges name kernels, but all end with the graph, and between
 * them only what the graph says counts.
 */
static enum hd_status append_vertex(const struct launch *l, struct exec_node *n)
{
    hd_runtime *rt = l->x->rt;
    const struct rt_computation *c = &n->node.bound.c;
    struct dag_arg args[DAG_MAX_ARGS];
    enum hd_status status;

    for (unsigned i = 0; i < c->narrays; i++)
        args[i] = (struct dag_arg){&c->arrays[i]->object, c->read_only[i]};
    n->vertex = dag_append(&rt->dag, args, c->narrays);
    if (!n->vertex)
        return rt_no_memory(rt, l->err);
    n->vertex->node = n->id;
    status = stream_assign(rt, n->vertex, l->stream, l->err);
    if (status == HD_OK)
        status = wait_for_parents(l, n->vertex);
    if (status == HD_OK)
        record_edges_from(rt, n->vertex, l->first_seq);
    return status;
}

static void record_own_edges(const struct launch *l, const struct exec_node *n)
{
    const hd_graph_exec *x = l->x;
    const hd_runtime *rt = x->rt;

    for (uint32_t i = 0; i < n->nedges && n->id != RT_NO_NODE && rt->recorder.edge; i++) {
        const struct exec_edge *e = &x->edges.at[n->first_edge + i];
        const struct hd_edge_row row = {
            .from = x->nodes.at[e->from].id,
            .to = n->id,
            .kind = e->kind,
            .array_uids = e->nuids ? &x->uids.at[e->first_uid] : NULL,
            .narrays = e->nuids,
        };

        rt->recorder.edge(rt->recorder.user, &row);
    }
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

static void use_arrays(const struct launch *l, const struct rt_computation *c)
{
    hd_runtime *rt = l->x->rt;

    for (unsigned i = 0; i < c->narrays; i++) {
        hd_array *a = c->arrays[i];

        a->host_last = false;
        /* The branches are queues of their own: they see what all streams see. */
        if (rt->attach && a->kind == SIM_MANAGED && a->attach != ATTACH_GLOBAL) {
            rt_charge(rt, rt->cost->attach);
            attach_to_all(a);
        }
    }
}

static enum hd_status enter_node(const struct launch *l, struct exec_node *n)
{
    hd_runtime *rt = l->x->rt;
    const struct rt_computation *c = &n->node.bound.c;
    const hd_stream *s = n->branch ? l->x->branches.at[n->branch] : l->stream;
    enum hd_status status = HD_OK;

    n->id = n->node.kind == GRAPH_KERNEL ? record_next_node(rt) : RT_NO_NODE;
    n->vertex = NULL;
    if (n->node.kind == GRAPH_EMPTY)
        return HD_OK;
    use_arrays(l, c);
    record_node(rt, HD_NODE_KERNEL, c->name, s->number, n->id);
    if (rt->scheduler->concurrent)
        status = append_vertex(l, n);
    record_own_edges(l, n);
    return status;
}

/* ---- commands ---------------------------------------------------------------------------------------- */

/* A launch that the machine refuses leaves a mark, so that what waits for it goes on; the call fails at its end. */
static enum hd_status put_node(struct launch *l, struct exec_node *n, hd_stream *s)
{
    const struct sim_cmd mark = {.kind = SIM_MARK};
    const struct sim_cmd *cmd = &mark;
    struct hd_error refusal;
    enum hd_status status;

    if (n->node.kind == GRAPH_KERNEL)
        launch_point(&n->node.bound, n->id);
    if (n->node.kind != GRAPH_EMPTY)
        cmd = &n->node.bound.c.cmd;
    status = stream_put(s, cmd, &n->ticket, &refusal);
    if (status == HD_OK)
        return HD_OK;
    if (l->refused == HD_OK && l->err)
        *l->err = refusal;
    l->refused = l->refused == HD_OK ? status : l->refused;
    return status == HD_BAD_INPUT ? stream_put(s, &mark, &n->ticket, NULL) : status;
}

static enum hd_status submit_node(struct launch *l, struct exec_node *n)
{
    hd_stream *s = n->branch ? l->x->branches.at[n->branch] : l->stream;
    enum hd_status status = n->forked ? stream_put_wait(s, l->fork, l->err) : HD_OK;

    for (uint32_t i = 0; i < n->nwaits && status == HD_OK; i++) {
        uint32_t other = l->x->waits.at[n->first_wait + i];

        status = stream_put_wait(s, l->x->nodes.at[other].ticket, l->err);
    }
    return status == HD_OK ? put_node(l, n, s) : status;
}

static enum hd_status fork_branches(struct launch *l)
{
    const struct sim_cmd mark = {.kind = SIM_MARK};
    hd_graph_exec *x = l->x;
    enum hd_status status = HD_OK;

    if (x->last_stream && x->last_stream != l->stream)
        status = stream_submit_wait(l->stream, x->last_ticket, l->err);
    return status == HD_OK ? stream_submit(l->stream, &mark, &l->fork, l->err) : status;
}

/* All nodes end with the graph. */
static void end_node(const struct launch *l, const struct exec_node *n)
{
    const struct rt_computation *c = &n->node.bound.c;

    if (n->vertex)
        n->vertex->ticket = l->x->last_ticket;
    for (unsigned i = 0; i < c->narrays && l->stream != l->x->rt->streams.standard; i++)
        stream_used_by_hand(l->stream, c->arrays[i], l->x->last_ticket);
}

static enum hd_status join_branches(struct launch *l)
{
    hd_graph_exec *x = l->x;
    enum hd_status status = HD_OK;

    for (size_t i = 0; i < x->ends.len && status == HD_OK; i++)
        status = stream_put_wait(l->stream, x->nodes.at[x->ends.at[i]].ticket, l->err);
    x->last_stream = l->stream;
    x->last_ticket = l->stream->last_ticket;
    for (size_t i = 0; i < x->nodes.len; i++)
        end_node(l, &x->nodes.at[i]);
    return status;
}

/* Only the machine or a lack of memory can make it fail, and the runtime is poisoned then. */
static enum hd_status submit(struct launch *l)
{
    hd_graph_exec *x = l->x;
    enum hd_status status = HD_OK;

    l->first_seq = x->rt->dag.next_seq;
    for (size_t i = 0; i < x->nodes.len && status == HD_OK; i++)
        status = enter_node(l, &x->nodes.at[i]);
    if (status == HD_OK)
        status = fork_branches(l);
    for (size_t i = 0; i < x->nodes.len && status == HD_OK; i++)
        status = submit_node(l, &x->nodes.at[i]);
    return status == HD_OK ? join_branches(l) : status;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

static enum hd_status prepare_copies(const hd_graph_exec *x, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (size_t i = 0; i < x->nodes.len && status == HD_OK; i++) {
        if (x->nodes.at[i].node.kind == GRAPH_COPY)
            status = copy_prepare(x->rt, &x->nodes.at[i].node.copy, err);
    }
    return status;
}

static enum hd_status check_arrays(const hd_graph_exec *x, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (size_t i = 0; i < x->nodes.len && status == HD_OK; i++)
        status = graph_node_check(&x->nodes.at[i].node, x->nodes.at[i].number, err);
    return status;
}

static enum hd_status launch(hd_runtime *rt, hd_graph_exec *x, hd_stream *s, struct hd_error *err)
{
    struct launch l = {.x = x, .stream = s, .err = err};
    enum hd_status status;

    rt_charge(rt, rt->cost->graph_launch);
    for (size_t i = 0; i < x->nodes.len; i++)
        rt_charge(rt, rt->cost->graph_launch_node);
    status = submit(&l);
    if (status != HD_OK) {
        rt_poison(rt);
        return status;
    }
    if (rt->scheduler->host_waits)
        status = streams_sync_all(rt, err);
    return status == HD_OK ? l.refused : status;
}

enum hd_status hd_graph_launch(hd_runtime *rt, hd_graph_exec *x, hd_stream *s, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = exec_given(rt, x, err);
    if (status == HD_OK)
        status = stream_given(rt, s, &s, err);
    if (status == HD_OK)
        status = capture_refuses(rt, "the launch of a graph", err);
    if (status == HD_OK)
        status = library_refuses(rt, "the launch of a graph", err);
    if (status == HD_OK)
        status = check_arrays(x, err);
    if (status == HD_OK)
        status = prepare_copies(x, err);
    return status == HD_OK ? launch(rt, x, s, err) : status;
}
