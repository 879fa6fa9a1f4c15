/* Graphs by capture, and events that are not recorded yet. */
#include "host/rt/capture.h"
#include "tests/rt/graph_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define US UINT64_C(1000000) /* ps */

static hd_stream *new_stream(struct rig *r)
{
    hd_stream *s;

    assert_int_equal(hd_stream_new(r->rt, &s, NULL), HD_OK);
    return s;
}

/* Launches a kernel of 10 us with one array, or two; NULL for the error that must not come. */
static enum hd_status launch(struct rig *r, hd_stream *s, const char *modes, const char *x,
                             const char *y, struct hd_error *err)
{
    struct hd_arg args[2] = {{HD_ARG_ARRAY, {.array = rig_array(r, x)}}, {.kind = HD_ARG_ARRAY}};
    struct hd_launch l = {.kernel = rig_kernel(r, modes),
                          .grid = {10000, 0, 0},
                          .block = {64, 0, 0},
                          .args = args,
                          .nargs = (unsigned)strlen(modes),
                          .stream = s};

    if (y)
        args[1].as.array = rig_array(r, y);
    return hd_launch_kernel(r->rt, &l, err);
}

static void must(enum hd_status status)
{
    assert_int_equal(status, HD_OK);
}

static hd_event *record(struct rig *r, hd_stream *s)
{
    hd_event *e;

    must(hd_event_record(r->rt, s, &e, NULL));
    return e;
}

static void then(struct rig *r, hd_stream *from, hd_stream *to)
{
    hd_event *e = record(r, from);

    must(hd_event_wait(r->rt, to, e, NULL));
    must(hd_event_free(r->rt, e, NULL));
}

/* a on s; b on s and c on t side by side; d on s. */
static hd_graph *capture_diamond(struct rig *r, hd_stream *s, hd_stream *t)
{
    hd_graph *g;

    must(hd_capture_begin(r->rt, s, NULL));
    must(launch(r, s, "w", "x", NULL, NULL));
    then(r, s, t);
    must(launch(r, t, "rw", "x", "y", NULL));
    must(launch(r, s, "rw", "x", "z", NULL));
    then(r, t, s);
    must(launch(r, s, "rr", "y", "z", NULL));
    must(hd_capture_end(r->rt, &g, NULL));
    return g;
}

static void test_streams_and_events_become_a_graph(void **state)
{
    static const char *const schedulers[] = {"host.scheduler=serial-sync",
                                             "host.scheduler=serial-async", ""};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = rig_new(schedulers[i]);
        hd_stream *s = new_stream(r), *t = new_stream(r);
        hd_graph *g = capture_diamond(r, s, t);
        hd_graph_exec *x;
        uint64_t start;

        assert_int_equal(fake_count(r->machine), 0); /* nothing has run */
        assert_int_equal(r->nodes.len, 0);
        assert_int_equal(hd_graph_size(g), 4);
        assert_int_equal(g->items.at[3].deps.len, 2);
        must(hd_graph_instantiate(r->rt, g, &x, NULL));
        must(hd_graph_launch(r->rt, x, s, NULL));
        must(hd_finish(r->rt, NULL));
        assert_int_equal(r->rows.len, 4);
        start = r->rows.at[0].r.start_ps;
        assert_int_equal(r->rows.at[1].r.start_ps, start + 10 * US);
        assert_int_equal(r->rows.at[2].r.start_ps, start + 10 * US);
        assert_int_equal(r->rows.at[3].r.start_ps, start + 20 * US);
        must(launch(r, t, "w", "x", NULL, NULL)); /* the streams are as before */
        must(hd_stream_sync(r->rt, t, NULL));
        assert_int_equal(r->rows.len, 5);
        rig_free(r);
    }
}

/* A node a captured launch, and nothing of what a launch costs. */
static void test_what_it_costs(void **state)
{
    struct rig *r = rig_new("");
    hd_stream *s = new_stream(r), *t = new_stream(r);
    uint64_t before = hd_host_time(r->rt);
    const struct rt_profile *p = r->rt->cost;

    (void)state;
    capture_diamond(r, s, t);
    assert_int_equal(hd_host_time(r->rt) - before,
                     1000 * (uint64_t)(4 * p->graph_node + 2 * p->event_record + 2 * p->event_wait));
    rig_free(r);
}

static void test_copies_are_captured(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    hd_stream *s = new_stream(r);
    struct hd_copy up = {.from = rig_array(r, "h"), .count = 4, .stream = s};
    hd_graph *g;

    (void)state;
    must(hd_array_new_device(r->rt, T_F32, RIG_ELEMENTS, "d", &up.to, NULL));
    must(hd_capture_begin(r->rt, s, NULL));
    must(hd_copy(r->rt, &up, NULL));
    must(hd_copy(r->rt, &up, NULL));
    must(hd_capture_end(r->rt, &g, NULL));
    assert_int_equal(fake_count(r->machine), 0);
    assert_int_equal(hd_graph_size(g), 2);
    assert_int_equal(g->items.at[1].deps.at[0], 0);
    rig_free(r);
}

/* ---- mistakes ------------------------------------------------------------------------------------- */

#define REFUSED(call, the_code)                                                                    \
    do {                                                                                           \
        assert_int_equal((call), HD_BAD_INPUT);                                                    \
        assert_string_equal(err.code, the_code);                                                   \
        assert_true(err.message[0] && err.hint[0]);                                                \
    } while (0)

static void test_an_unjoined_stream(void **state)
{
    struct rig *r = rig_new("");
    hd_stream *s = new_stream(r), *t = new_stream(r), *idle = new_stream(r);
    struct hd_error err;
    hd_graph *g;

    (void)state;
    must(hd_capture_begin(r->rt, s, NULL));
    must(launch(r, s, "w", "x", NULL, NULL));
    then(r, s, t);
    then(r, s, idle); /* puts nothing there: nothing is left open */
    must(launch(r, t, "w", "y", NULL, NULL));
    REFUSED(hd_capture_end(r->rt, &g, &err), "capture-unjoined");
    assert_string_equal(
        err.message, "the capture of stream 1 ends, but does not wait for k1 (node 1) on stream 2");
    assert_null(g);
    must(launch(r, t, "w", "y", NULL, NULL)); /* the capture is over */
    must(hd_finish(r->rt, NULL));
    assert_int_equal(r->rows.len, 1);
    rig_free(r);
}

static void test_what_a_capture_refuses(void **state)
{
    struct rig *r = rig_new("um.page_faults=on");
    hd_stream *s = new_stream(r), *other = new_stream(r);
    hd_event *inside, *none;
    struct graph_rig gr;
    struct hd_error err;
    hd_graph *g;
    void *data;
    bool done;

    (void)state;
    graph_rig_make(&gr, r, "a q=w");
    graph_rig_instantiate(&gr);
    must(hd_capture_begin(r->rt, s, NULL));
    must(launch(r, s, "w", "x", NULL, NULL));
    inside = record(r, s);
    REFUSED(launch(r, NULL, "w", "x", NULL, &err), "capture-no-stream");
    REFUSED(launch(r, other, "w", "x", NULL, &err), "capture-stream");
    assert_string_equal(
        err.message, "stream 2 is used while stream 1 is captured, and is no part of the capture");
    REFUSED(hd_event_record(r->rt, other, &none, &err), "capture-stream");
    REFUSED(hd_prefetch(r->rt, rig_array(r, "x"), s, &err), "capture-refused");
    REFUSED(hd_stream_sync(r->rt, s, &err), "capture-stream-busy");
    REFUSED(hd_stream_free(r->rt, s, &err), "capture-stream-busy");
    assert_string_equal(err.message, "stream 1 is freed while it is captured");
    REFUSED(hd_device_sync(r->rt, &err), "capture-refused");
    REFUSED(hd_event_sync(r->rt, inside, &err), "event-captured");
    REFUSED(hd_event_done(r->rt, inside, &done, &err), "event-captured");
    REFUSED(hd_array_access(r->rt, rig_array(r, "x"), 0, 1, HD_READ, &data, &err), "capture-array");
    assert_string_equal(err.message,
                        "array x is accessed by the host, but k1 (node 0), which uses it, "
                        "is captured and has not run");
    REFUSED(hd_array_free(r->rt, rig_array(r, "x"), &err), "capture-array");
    must(hd_array_access(r->rt, rig_array(r, "y"), 0, 1, HD_READ, &data, NULL));
    REFUSED(hd_graph_launch(r->rt, gr.x, other, &err), "capture-refused");
    REFUSED(hd_capture_begin(r->rt, other, &err), "capture-refused");
    REFUSED(hd_array_attach(r->rt, rig_array(r, "y"), HD_ATTACH_ALL, NULL, &err),
            "capture-refused");
    REFUSED(hd_region_begin(r->rt, "main", 0, false, &err), "capture-refused");
    must(hd_capture_end(r->rt, &g, NULL));
    assert_int_equal(hd_graph_size(g), 1); /* what was refused is not there */
    REFUSED(hd_event_wait(r->rt, other, inside, &err), "event-captured");
    REFUSED(hd_event_sync(r->rt, inside, &err), "event-captured");
    must(hd_event_put(r->rt, inside, other, NULL)); /* it can be used again */
    must(hd_event_sync(r->rt, inside, NULL));
    assert_int_equal(hd_capture_end(r->rt, &g, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "capture-none");
    rig_free(r);
}

static void test_an_event_from_outside(void **state)
{
    struct rig *r = rig_new("");
    hd_stream *s = new_stream(r), *t = new_stream(r);
    hd_event *early = record(r, t);
    struct hd_error err;

    (void)state;
    must(hd_capture_begin(r->rt, s, NULL));
    REFUSED(hd_event_wait(r->rt, s, early, &err), "capture-event");
    hd_capture_abort(r->rt);
    hd_capture_abort(r->rt); /* does nothing */
    must(hd_event_wait(r->rt, s, early, NULL));
    rig_free(r);
}

/* ---- events that are not recorded yet ----------------------------------------------------------------- */

static void test_an_event_waited_for_before_it_is_recorded(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async host.default_stream=independent");
    hd_stream *s = new_stream(r), *t = new_stream(r);
    struct hd_error err;
    hd_event *e;
    bool done;

    (void)state;
    must(hd_event_new(r->rt, &e, NULL));
    REFUSED(hd_event_wait(r->rt, s, e, &err), "event-unrecorded");
    assert_string_equal(err.message, "the event is waited for before it is recorded");
    REFUSED(hd_event_sync(r->rt, e, &err), "event-unrecorded");
    REFUSED(hd_event_done(r->rt, e, &done, &err), "event-unrecorded");
    must(launch(r, s, "w", "x", NULL, NULL));
    must(hd_event_put(r->rt, e, s, NULL));
    must(hd_event_wait(r->rt, t, e, NULL));
    must(launch(r, s, "w", "y", NULL, NULL));
    must(hd_event_put(r->rt, e, s, NULL)); /* t still waits for the first record alone */
    must(launch(r, t, "w", "z", NULL, NULL));
    must(hd_event_sync(r->rt, e, NULL));
    must(hd_finish(r->rt, NULL));
    assert_int_equal(r->rows.at[1].r.start_ps, r->rows.at[0].r.end_ps);
    assert_int_equal(r->rows.at[2].r.start_ps, r->rows.at[0].r.end_ps);
    rig_free(r);
}

/* ---- attachment by hand -------------------------------------------------------------------------------- */

static void test_attachment(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    hd_array *x = rig_array(r, "x"), *d;
    hd_stream *s = new_stream(r);
    uint64_t before = hd_host_time(r->rt);
    struct hd_error err;

    (void)state;
    must(hd_array_new_device(r->rt, T_F32, 4, "d", &d, NULL));
    assert_int_equal(fake_attached(r->machine, x->id), SIM_ATTACH_GLOBAL);
    must(hd_array_attach(r->rt, x, HD_ATTACH_STREAM, s, NULL));
    assert_int_equal(fake_attached(r->machine, x->id), s->queue);
    must(hd_array_attach(r->rt, x, HD_ATTACH_HOST, NULL, NULL));
    assert_int_equal(fake_attached(r->machine, x->id), SIM_ATTACH_HOST);
    must(hd_array_attach(r->rt, x, HD_ATTACH_ALL, NULL, NULL));
    assert_int_equal(fake_attached(r->machine, x->id), SIM_ATTACH_GLOBAL);
    assert_int_equal(hd_host_time(r->rt) - before, 1000 * 3 * (uint64_t)r->rt->cost->attach);
    must(hd_array_attach(r->rt, x, HD_ATTACH_STREAM, s, NULL));
    must(hd_stream_free(r->rt, s, NULL));
    assert_int_equal(fake_attached(r->machine, x->id), SIM_ATTACH_HOST);
    assert_int_equal(hd_array_attach(r->rt, x, HD_ATTACH_STREAM, s, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "stream-freed");
    assert_int_equal(hd_array_attach(r->rt, d, HD_ATTACH_ALL, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "attach-device-array");
    rig_free(r);
}

static void test_advice(void **state)
{
    struct rig *r = rig_new("");
    hd_array *x = rig_array(r, "x"), *d;
    struct hd_error err;

    (void)state;
    must(hd_array_new_device(r->rt, T_F32, 4, "d", &d, NULL));
    must(hd_array_advise(r->rt, x, SIM_ADVISE_READ_MOSTLY, NULL));
    assert_int_equal(fake_advice(r->machine, x->id), SIM_ADVISE_READ_MOSTLY);
    must(hd_array_advise(r->rt, x, SIM_ADVISE_NONE, NULL));
    assert_int_equal(fake_advice(r->machine, x->id), SIM_ADVISE_NONE);
    assert_int_equal(hd_array_advise(r->rt, d, SIM_ADVISE_NONE, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "advise-device-array");
    must(hd_array_free(r->rt, x, NULL));
    assert_int_equal(hd_array_advise(r->rt, x, SIM_ADVISE_NONE, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-freed");
    rig_free(r);
}

/* ---- prefetches by hand --------------------------------------------------------------------------------- */

/* On each stream and under each scheduler a prefetch is in the order of its stream. */
static void test_prefetches_by_hand(void **state)
{
    static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        char settings[128];
        struct rig *r;
        hd_stream *s;

        snprintf(settings, sizeof settings, "um.page_faults=on host.prefetch=off host.scheduler=%s",
                 schedulers[i / 2]);
        r = rig_new(settings);
        s = i % 2 ? new_stream(r) : hd_default_stream(r->rt);
        fake_set_link(r->machine, 1000000);
        must(hd_prefetch(r->rt, rig_array(r, "x"), s, NULL));
        must(launch(r, s, "w", "x", NULL, NULL));
        must(hd_finish(r->rt, NULL));
        assert_int_equal(r->transfers.len, 1);
        assert_int_equal(r->transfers.at[0].stream, s->number);
        assert_int_equal(r->rows.at[0].r.start_ps, r->transfers.at[0].r.end_ps);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_and_events_become_a_graph),
        cmocka_unit_test(test_what_it_costs),
        cmocka_unit_test(test_copies_are_captured),
        cmocka_unit_test(test_an_unjoined_stream),
        cmocka_unit_test(test_what_a_capture_refuses),
        cmocka_unit_test(test_an_event_from_outside),
        cmocka_unit_test(test_an_event_waited_for_before_it_is_recorded),
        cmocka_unit_test(test_attachment),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_prefetches_by_hand),
    };

    return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
