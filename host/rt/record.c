/* From the machine's records and the graph to the rows of the result. */
#include "host/rt/runtime.h"

/* ---- nodes and edges ----------------------------------------------------------------------------- */

uint64_t record_next_node(hd_runtime *rt)
{
    return rt->quiet ? RT_NO_NODE : rt->next_node++;
}

uint64_t record_tag(uint64_t node)
{
    return node + 1; /* RT_NO_NODE becomes 0 */
}

void record_node(hd_runtime *rt, enum hd_node_kind kind, const char *name, uint32_t stream,
                 uint64_t node)
{
    struct hd_node_row row = {node, kind, name, stream, rt->region, rt->iteration};

    if (node != RT_NO_NODE && rt->recorder.node)
        rt->recorder.node(rt->recorder.user, &row);
}

void record_wait(hd_runtime *rt, uint64_t until_ps)
{
    if (!rt->quiet && rt->recorder.wait)
        rt->recorder.wait(rt->recorder.user, rt->host_ps, until_ps);
}

void record_edges(hd_runtime *rt, const struct dag_vertex *v)
{
    record_edges_from(rt, v, UINT64_MAX);
}

void record_edges_from(hd_runtime *rt, const struct dag_vertex *v, uint64_t seq)
{
    const struct dag *d = &rt->dag;

    if (v->node == RT_NO_NODE || !rt->recorder.edge)
        return;
    for (size_t i = 0; i < d->edges.len; i++) {
        const struct dag_edge *e = &d->edges.at[i];
        struct hd_edge_row row = {
            .from = e->from->node,
            .to = v->node,
            .kind = e->kind,
            .array_uids = &d->edge_uids.at[e->first_uid],
            .narrays = e->nuids,
        };

        if (row.from != RT_NO_NODE && e->from->seq < seq)
            rt->recorder.edge(rt->recorder.user, &row);
    }
}

/* ---- the machine's records ------------------------------------------------------------------------- */

static void on_kernel(void *user, const struct sim_kernel_record *r)
{
    hd_runtime *rt = user;
    struct hd_kernel_row row = {
        .node = r->tag - 1,
        .stream = rt->streams.number_of_queue.at[r->queue],
        .region = rt->region,
        .iteration = rt->iteration,
        .r = *r,
    };

    if (rt->timed)
        history_add(rt, r, row.stream);
    if (!rt->quiet && rt->recorder.kernel)
        rt->recorder.kernel(rt->recorder.user, &row);
}

/* A move that no command asked for is the host's, if the host waits for one. */
static uint64_t transfer_node(const hd_runtime *rt, const struct sim_transfer_record *r)
{
    bool host = r->tag == record_tag(RT_NO_NODE) && r->kind != SIM_T_EVICT && !r->to_device;

    return host ? rt->accessing : r->tag - 1;
}

static void on_transfer(void *user, const struct sim_transfer_record *r)
{
    hd_runtime *rt = user;
    struct hd_transfer_row row = {
        .node = transfer_node(rt, r),
        .stream = rt->streams.number_of_queue.at[r->queue],
        .region = rt->region,
        .iteration = rt->iteration,
        .array_uid = rt->uid_of_id.at[r->array],
        .r = *r,
    };

    if (!rt->quiet && rt->recorder.transfer)
        rt->recorder.transfer(rt->recorder.user, &row);
}

static void on_print(void *user, const char *text)
{
    hd_runtime *rt = user;

    if (!rt->quiet && rt->recorder.print)
        rt->recorder.print(rt->recorder.user, text);
}

void record_start(hd_runtime *rt)
{
    struct sim_sink sink = {
        .user = rt, .kernel = on_kernel, .transfer = on_transfer, .print = on_print};

    rt->ops->set_sink(rt->machine, &sink);
}

void hd_set_recorder(hd_runtime *rt, const struct hd_recorder *r)
{
    rt->recorder = *r;
}
