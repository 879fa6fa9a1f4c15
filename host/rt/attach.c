/*
 * Attachment of arrays to streams. Without page faults a launch moves all arrays that its stream can see, and the host may
 * not touch an array that a running kernel can see: each array is attached to the one stream that writes it.
 */
#include "host/rt/capture.h"

static void set_attachment(hd_array *a, enum attach_state state, struct hd_stream *s)
{
    hd_runtime *rt = a->rt;
    int32_t queue = SIM_ATTACH_HOST;

    list_remove(&a->attached);
    a->attach = state;
    a->stream = s;
    if (state == ATTACH_GLOBAL) {
        queue = SIM_ATTACH_GLOBAL;
    } else if (state == ATTACH_STREAM) {
        queue = (int32_t)s->queue;
        list_insert(&s->attached, &a->attached);
    }
    rt->ops->array_attach(rt->machine, a->id, queue);
}

/* The default stream sees what all streams see. Under no-const nothing counts as read only. */
static void attach_argument(hd_array *a, bool read_only, struct hd_stream *s)
{
    hd_runtime *rt = a->rt;
    bool standard = s == rt->streams.standard;
    bool shared = standard || (read_only && rt->dag.policy != &dependency_no_const);

    if (a->attach == ATTACH_STREAM && a->stream == s)
        return;
    if (shared && a->attach == ATTACH_GLOBAL)
        return;
    rt_charge(rt, rt->cost->attach);
    set_attachment(a, shared ? ATTACH_GLOBAL : ATTACH_STREAM, shared ? NULL : s);
}

static bool written_too(const struct rt_computation *c, const hd_array *a)
{
    for (unsigned i = 0; i < c->narrays; i++) {
        if (c->arrays[i] == a && !c->read_only[i])
            return true;
    }
    return false;
}

void attach_arguments(hd_runtime *rt, const struct rt_computation *c, struct hd_stream *s)
{
    if (!rt->attach || c->cmd.kind != SIM_KERNEL)
        return;
    for (unsigned i = 0; i < c->narrays; i++) {
        if (c->arrays[i]->kind == SIM_MANAGED)
            attach_argument(c->arrays[i], !written_too(c, c->arrays[i]), s);
    }
}

void attach_to_all(hd_array *a)
{
    set_attachment(a, ATTACH_GLOBAL, NULL);
}

bool attach_shared(const hd_array *a)
{
    return !a->rt->attach || a->attach == ATTACH_GLOBAL;
}

void attach_orphan(struct hd_stream *s)
{
    while (!list_empty(&s->attached))
        set_attachment(LIST_ITEM(s->attached.next, hd_array, attached), ATTACH_NONE, NULL);
}

enum hd_status hd_array_attach(hd_runtime *rt, hd_array *a, enum hd_attach where, hd_stream *s,
                               struct hd_error *err)
{
    static const enum attach_state states[] = {
        [HD_ATTACH_ALL] = ATTACH_GLOBAL, [HD_ATTACH_HOST] = ATTACH_NONE, [HD_ATTACH_STREAM] = ATTACH_STREAM};
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = array_given(rt, a, "attach", err);
    if (status == HD_OK)
        status = stream_given(rt, s, &s, err);
    if (status == HD_OK)
        status = capture_refuses(rt, "an attachment", err);
    if (status != HD_OK)
        return status;
    if (a->kind != SIM_MANAGED)
        return hd_error_set(err, HD_BAD_INPUT, "attach-device-array", NULL, NULL,
                            "array %s is on the device for good; only managed arrays are attached",
                            a->name);
    rt_charge(rt, rt->cost->attach);
    status = rt_catch_up(rt, err);
    if (status == HD_OK)
        set_attachment(a, states[where], where == HD_ATTACH_STREAM ? s : NULL);
    return status;
}
