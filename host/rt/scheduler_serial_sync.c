/* serial-sync: the default stream, and the host waits for each computation. No graph, no event; a host access finds nothing running. */
#include "host/rt/runtime.h"

static enum hd_status submit(hd_runtime *rt, struct rt_computation *c, struct hd_error *err)
{
    struct hd_stream *s = c->stream ? c->stream : rt->streams.standard;
    enum hd_status status = prefetch_arguments(rt, c, s, true, err);
    uint64_t ticket;

    if (status != HD_OK)
        return status;
    record_node(rt, HD_NODE_KERNEL, c->name, s->number, c->node);
    for (unsigned i = 0; i < c->narrays; i++)
        c->arrays[i]->host_last = false;
    rt_charge(rt, c->cost_ns);
    status = stream_submit(s, &c->cmd, &ticket, err);
    return status == HD_OK ? streams_sync_all(rt, err) : status;
}

static enum hd_status access(hd_runtime *rt, hd_array *a, bool read_only, uint64_t node,
                             struct hd_error *err)
{
    (void)rt, (void)a, (void)read_only, (void)node, (void)err;
    return HD_OK;
}

const struct scheduler scheduler_serial_sync = {false, true, submit, access};
