/*
 * serial-async: the default stream and no graph. Launches do not wait; a host access waits for the stream. What the
 * program puts on streams of its own it also orders by itself; a host access waits for those that used the array.
 */
#include "host/rt/runtime.h"

static enum hd_status submit(hd_runtime *rt, struct rt_computation *c, struct hd_error *err)
{
    struct hd_stream *s = c->stream ? c->stream : rt->streams.standard;
    enum hd_status status = prefetch_arguments(rt, c, s, false, err);
    uint64_t ticket;

    if (status != HD_OK)
        return status;
    record_node(rt, HD_NODE_KERNEL, c->name, s->number, c->node);
    for (unsigned i = 0; i < c->narrays; i++)
        c->arrays[i]->host_last = false;
    rt_charge(rt, c->cost_ns);
    status = stream_submit(s, &c->cmd, &ticket, err);
    for (unsigned i = 0; i < c->narrays && status == HD_OK && s != rt->streams.standard; i++)
        stream_used_by_hand(s, c->arrays[i], ticket);
    return status;
}

static enum hd_status access(hd_runtime *rt, hd_array *a, bool read_only, uint64_t node,
                             struct hd_error *err)
{
    bool standard = stream_unsynced(rt->streams.standard);
    bool hand = a->hand && stream_unsynced_at(a->hand, a->hand_ticket);
    bool many = a->hand_many && streams_unsynced(rt);
    enum hd_status status = HD_OK;

    if (standard || hand || many)
        record_node(rt, read_only ? HD_NODE_HOST_READ : HD_NODE_HOST_WRITE, a->name,
                    rt->streams.standard->number, node);
    a->hand_many = false;
    if (many)
        return streams_sync_all(rt, err);
    if (standard)
        status = stream_sync(rt->streams.standard, err);
    if (status == HD_OK && hand)
        status = stream_sync(a->hand, err);
    return status;
}

const struct scheduler scheduler_serial_async = {false, false, submit, access};
