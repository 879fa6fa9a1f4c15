/*
 * The automatic prefetch: a kernel's arrays whose last operation was a host access, pure outputs and new arrays
 * too, move to the device on the kernel's stream, ahead of what the kernel waits for. Arrays that a
 * kernel used last are taken to be there.
 */
#include "host/rt/capture.h"

static bool wanted(const struct rt_computation *c, unsigned i)
{
    const hd_array *a = c->arrays[i];

    for (unsigned j = 0; j < i; j++) {
        if (c->arrays[j] == a)
            return false;
    }
    return a->kind == SIM_MANAGED && a->host_last;
}

static enum hd_status prefetch(hd_array *a, uint64_t tag, struct hd_stream *s, bool wait,
                               struct hd_error *err)
{
    hd_runtime *rt = a->rt;
    struct sim_cmd cmd = {.kind = SIM_PREFETCH, .tag = tag};
    enum hd_status status;
    uint64_t ticket;

    cmd.copy.array = a->id;
    cmd.copy.bytes = a->count * isa_type_bytes(a->type);
    rt_charge(rt, rt->cost->prefetch);
    status = stream_submit(s, &cmd, &ticket, err);
    return status == HD_OK && wait ? stream_sync(s, err) : status;
}

enum hd_status prefetch_arguments(hd_runtime *rt, const struct rt_computation *c,
                                  struct hd_stream *s, bool wait, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    if (!rt->prefetch || c->cmd.kind != SIM_KERNEL)
        return HD_OK;
    for (unsigned i = 0; i < c->narrays && status == HD_OK; i++) {
        if (wanted(c, i))
            status = prefetch(c->arrays[i], c->cmd.tag, s, wait, err);
    }
    return status;
}

enum hd_status hd_prefetch(hd_runtime *rt, hd_array *a, hd_stream *s, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = array_given(rt, a, "prefetch", err);
    if (status == HD_OK)
        status = stream_given(rt, s, &s, err);
    if (status != HD_OK)
        return status;
    if (a->kind != SIM_MANAGED)
        return hd_error_set(
            err, HD_BAD_INPUT, "prefetch-device-array", NULL, NULL,
            "array %s is on the device for good; only managed arrays are prefetched", a->name);
    status = capture_refuses(rt, "a prefetch", err);
    return status == HD_OK ? prefetch(a, record_tag(RT_NO_NODE), s, false, err) : status;
}
