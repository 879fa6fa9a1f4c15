/* Streams and copies that the program manages itself. */
#include "host/rt/capture.h"
#include "host/rt/library.h"

#include "sim/base/checked.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- streams ------------------------------------------------------------------------------------- */

hd_stream *hd_default_stream(hd_runtime *rt)
{
    return rt->streams.standard;
}

enum hd_status hd_stream_new(hd_runtime *rt, hd_stream **out, struct hd_error *err)
{
    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    return stream_make(rt, false, out, err);
}

/* What is on the stream still runs; the handle stays, so that a late use is found. */
enum hd_status hd_stream_free(hd_runtime *rt, hd_stream *s, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = stream_given(rt, s, &s, err);
    if (status == HD_OK && s == rt->streams.standard)
        status = hd_error_set(err, HD_BAD_INPUT, "stream-default", NULL, NULL,
                              "the default stream cannot be freed");
    if (status == HD_OK && s->automatic)
        status = hd_error_set(err, HD_BAD_INPUT, "stream-automatic", NULL, NULL,
                              "stream %u is the scheduler's own", s->number);
    if (status == HD_OK)
        status = capture_refuses_stream(rt, s, "freed", err);
    if (status == HD_OK)
        status = rt_catch_up(rt, err);
    if (status != HD_OK)
        return status;
    attach_orphan(s);
    rt->ops->queue_free(rt->machine, s->queue);
    s->freed = true;
    return HD_OK;
}

enum hd_status hd_stream_sync(hd_runtime *rt, hd_stream *s, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = stream_given(rt, s, &s, err);
    if (status == HD_OK)
        status = capture_refuses_stream(rt, s, "waited for", err);
    if (status == HD_OK)
        status = library_refuses(rt, "a wait", err);
    return status == HD_OK ? stream_sync(s, err) : status;
}

enum hd_status hd_device_sync(hd_runtime *rt, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = capture_refuses(rt, "a wait for the device", err);
    if (status == HD_OK)
        status = library_refuses(rt, "a wait", err);
    return status == HD_OK ? streams_sync_all(rt, err) : status;
}

/* ---- copies -------------------------------------------------------------------------------------- */

/* One end of a copy. */
struct copy_end {
    hd_array *array;
    uint64_t first;
};

static enum hd_status check_end(const hd_runtime *rt, const struct copy_end *e, uint64_t count,
                                struct hd_error *err)
{
    enum hd_status status = array_given(rt, e->array, "copy", err);
    uint64_t end;

    if (status != HD_OK)
        return status;
    if (!u64_add(e->first, count, &end) || end > e->array->count || count == 0)
        return hd_error_set(err, HD_BAD_INPUT, "copy-range", NULL, "elements are counted from 0",
                            "copy: array %s has %" PRIu64 " elements, not %" PRIu64
                            " from element %" PRIu64,
                            e->array->name, e->array->count, count, e->first);
    return HD_OK;
}

static enum hd_status check_copy(const hd_runtime *rt, const struct copy_end *to,
                                 const struct copy_end *from, uint64_t count, struct hd_error *err)
{
    enum hd_status status = check_end(rt, to, count, err);

    if (status == HD_OK)
        status = check_end(rt, from, count, err);
    if (status != HD_OK)
        return status;
    if (to->array->type != from->array->type)
        return hd_error_set(err, HD_BAD_INPUT, "copy-type", NULL, NULL,
                            "copy: array %s is of %s, array %s of %s", to->array->name,
                            rt_type_name(to->array->type), from->array->name,
                            rt_type_name(from->array->type));
    if (to->array->kind == from->array->kind)
        return hd_error_set(
            err, HD_BAD_INPUT, "copy-kinds", NULL, NULL,
            "copy: one of %s and %s must be a device array, the other a managed one",
            to->array->name, from->array->name);
    return HD_OK;
}

static void fill_copy(struct rt_computation *c, const struct copy_end *host,
                      const struct copy_end *device, const struct hd_copy *copy)
{
    hd_runtime *rt = host->array->rt;
    uint64_t elem = isa_type_bytes(host->array->type);

    c->cmd.copy = (struct sim_copy){
        .array = device->array->id,
        .offset = device->first * elem,
        .bytes = copy->count * elem,
        .host = (char *)rt->ops->array_data(rt->machine, host->array->id) + host->first * elem,
        .pinned = !copy->pageable,
    };
}

enum hd_status copy_bind(hd_runtime *rt, const struct hd_copy *copy, struct rt_computation *c,
                         struct hd_error *err)
{
    struct copy_end ends[2] = {{copy->to, copy->to_first}, {copy->from, copy->from_first}};
    enum hd_status status = check_copy(rt, &ends[0], &ends[1], copy->count, err);
    bool down;

    *c = (struct rt_computation){.node = RT_NO_NODE, .cost_ns = rt->cost->copy};
    if (status != HD_OK)
        return status;
    down = copy->to->kind == SIM_MANAGED;
    c->name = copy->to->name;
    c->narrays = 2;
    c->arrays[0] = copy->to;
    c->arrays[1] = copy->from;
    c->read_only[1] = true;
    c->cmd.kind = down ? SIM_COPY_D2H : SIM_COPY_H2D;
    c->cmd.tag = record_tag(RT_NO_NODE);
    fill_copy(c, &ends[down ? 0 : 1], &ends[down ? 1 : 0], copy);
    return HD_OK;
}

enum hd_status copy_prepare(hd_runtime *rt, const struct hd_copy *copy, struct hd_error *err)
{
    bool down = copy->to->kind == SIM_MANAGED;
    hd_array *host = down ? copy->to : copy->from;
    enum hd_status status = schedule_access(rt, host, !down, RT_NO_NODE, err);

    if (status != HD_OK)
        return status;
    return array_to_host(host, down ? copy->to_first : copy->from_first, copy->count,
                         down ? HD_OVERWRITE : HD_READ, err);
}

enum hd_status hd_copy(hd_runtime *rt, const struct hd_copy *copy, struct hd_error *err)
{
    struct rt_computation c;
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = copy_bind(rt, copy, &c, err);
    if (status == HD_OK)
        status = stream_given(rt, copy->stream, &c.stream, err);
    if (status == HD_OK && rt->capture)
        return capture_copy(rt, copy, &c, err);
    if (status == HD_OK)
        status = library_refuses(rt, "a copy", err);
    if (status == HD_OK)
        status = copy_prepare(rt, copy, err);
    return status == HD_OK ? schedule_submit(rt, &c, err) : status;
}
