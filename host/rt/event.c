/* Events that the program records and waits for itself. */
#include "host/rt/capture.h"
#include "host/rt/library.h"

#include <stdlib.h>

/* ---- life ---------------------------------------------------------------------------------------- */

static void destroy(hd_event *e)
{
    list_remove(&e->all);
    vec_free(&e->after);
    free(e);
}

void events_free(hd_runtime *rt)
{
    while (!list_empty(&rt->events))
        destroy(LIST_ITEM(rt->events.next, hd_event, all));
}

enum hd_status hd_event_new(hd_runtime *rt, hd_event **out, struct hd_error *err)
{
    hd_event *e;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    e = calloc(1, sizeof *e);
    if (!e)
        return rt_no_memory(rt, err);
    e->rt = rt;
    list_insert(&rt->events, &e->all);
    *out = e;
    return HD_OK;
}

static enum hd_status event_given(const hd_runtime *rt, const hd_event *e, struct hd_error *err)
{
    if (e && e->rt == rt)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "event", NULL, NULL,
                        e ? "the event was made by another runtime"
                          : "expected an event, given nil");
}

/* The same of one that can be waited for. */
static enum hd_status recorded(const hd_runtime *rt, const hd_event *e, struct hd_error *err)
{
    enum hd_status status = event_given(rt, e, err);

    if (status != HD_OK || e->stream)
        return status;
    return hd_error_set(err, HD_BAD_INPUT, "event-unrecorded", NULL,
                        "record the event on a stream before anything waits for it",
                        "the event is waited for before it is recorded");
}

/* The same for the host. */
static enum hd_status recorded_for_host(const hd_runtime *rt, const hd_event *e,
                                        struct hd_error *err)
{
    enum hd_status status = recorded(rt, e, err);

    if (status != HD_OK || e->capture == 0)
        return status;
    return hd_error_set(err, HD_BAD_INPUT, "event-captured", NULL,
                        "record it again outside the capture",
                        "the event was recorded in a capture; the host cannot wait for it");
}

enum hd_status hd_event_free(hd_runtime *rt, hd_event *e, struct hd_error *err)
{
    enum hd_status status = event_given(rt, e, err);

    if (status != HD_OK)
        return status;
    destroy(e);
    return HD_OK;
}

/* ---- recording ----------------------------------------------------------------------------------- */

enum hd_status hd_event_put(hd_runtime *rt, hd_event *e, hd_stream *s, struct hd_error *err)
{
    const struct sim_cmd mark = {.kind = SIM_MARK};
    enum hd_status status;
    uint64_t ticket = 0;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = event_given(rt, e, err);
    if (status == HD_OK)
        status = stream_given(rt, s, &s, err);
    if (status != HD_OK)
        return status;
    if (rt->capture)
        return capture_record(rt, e, s, err);
    status = library_refuses(rt, "the record of an event", err);
    if (status != HD_OK)
        return status;
    rt_charge(rt, rt->cost->event_record);
    status = stream_submit(s, &mark, &ticket, err);
    if (status != HD_OK)
        return status;
    e->stream = s;
    e->ticket = ticket;
    e->capture = 0;
    return HD_OK;
}

enum hd_status hd_event_record(hd_runtime *rt, hd_stream *s, hd_event **out, struct hd_error *err)
{
    enum hd_status status = hd_event_new(rt, out, err);

    if (status != HD_OK)
        return status;
    status = hd_event_put(rt, *out, s, err);
    if (status != HD_OK) {
        destroy(*out);
        *out = NULL;
    }
    return status;
}

/* ---- waiting ------------------------------------------------------------------------------------- */

enum hd_status hd_event_wait(hd_runtime *rt, hd_stream *s, hd_event *e, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = recorded(rt, e, err);
    if (status == HD_OK)
        status = stream_given(rt, s, &s, err);
    if (status == HD_OK && (rt->capture || e->capture))
        return capture_wait(rt, s, e, err);
    if (status != HD_OK)
        return status;
    rt_charge(rt, rt->cost->event_wait);
    return stream_submit_wait(s, e->ticket, err);
}

enum hd_status hd_event_sync(hd_runtime *rt, hd_event *e, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = recorded_for_host(rt, e, err);
    if (status == HD_OK)
        status = library_refuses(rt, "a wait", err);
    return status == HD_OK ? stream_sync_to(e->stream, e->ticket, err) : status;
}

enum hd_status hd_event_done(hd_runtime *rt, hd_event *e, bool *done, struct hd_error *err)
{
    enum hd_status status;

    *done = false;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = recorded_for_host(rt, e, err);
    if (status != HD_OK)
        return status;
    rt_charge(rt, rt->cost->event_query);
    status = rt_catch_up(rt, err);
    if (status == HD_OK)
        *done = rt->ops->done(rt->machine, e->ticket);
    return status;
}
