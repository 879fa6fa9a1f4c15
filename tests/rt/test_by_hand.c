/* Streams, events, prefetches and copies by hand; what is freed; what happens after a failure. */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <string.h>

static hd_stream *new_stream(struct rig *r)
{
    hd_stream *s;

    assert_int_equal(hd_stream_new(r->rt, &s, NULL), HD_OK);
    return s;
}

static void launch_on(struct rig *r, hd_stream *s, const char *array, uint64_t us)
{
    struct hd_arg arg = {HD_ARG_ARRAY, {.array = rig_array(r, array)}};
    struct hd_launch l = {.kernel = rig_kernel(r, "w"),
                          .grid = {us * 1000, 0, 0},
                          .block = {64, 0, 0},
                          .args = &arg,
                          .nargs = 1,
                          .stream = s};

    assert_int_equal(hd_launch_kernel(r->rt, &l, NULL), HD_OK);
}

/* ---- events -------------------------------------------------------------------------------------- */

static void test_an_event_orders_two_streams(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async host.default_stream=independent");
    hd_stream *a = new_stream(r), *b = new_stream(r);
    hd_event *e;
    bool done;

    (void)state;
    launch_on(r, a, "x", 500);
    assert_int_equal(hd_event_record(r->rt, a, &e, NULL), HD_OK);
    launch_on(r, a, "x", 500);
    assert_int_equal(hd_event_done(r->rt, e, &done, NULL), HD_OK);
    assert_false(done);
    assert_int_equal(hd_event_wait(r->rt, b, e, NULL), HD_OK);
    launch_on(r, b, "y", 10);
    assert_int_equal(hd_event_sync(r->rt, e, NULL), HD_OK);
    assert_int_equal(hd_event_done(r->rt, e, &done, NULL), HD_OK);
    assert_true(done);
    assert_int_equal(r->rows.len, 1); /* the second kernel still runs */
    assert_true(hd_host_time(r->rt) < 600 * UINT64_C(1000000));
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    assert_int_equal(r->rows.at[1].r.start_ps, r->rows.at[0].r.end_ps);
    assert_int_equal(r->rows.at[1].stream, 2); /* b's kernel ended before a's second */
    assert_int_equal(hd_event_free(r->rt, e, NULL), HD_OK);
    rig_free(r);
}

/* Without an event nothing orders them: serial-async has no graph. */
static void test_by_hand_is_by_hand_without_a_graph(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async host.default_stream=independent");

    (void)state;
    launch_on(r, new_stream(r), "x", 500);
    launch_on(r, new_stream(r), "x", 10);
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    assert_true(r->rows.at[0].stream == 2 && r->rows.at[1].stream == 1);
    rig_free(r);
}

/* What else is on a stream that used an array, behind the use, is no reason to wait. */
static void test_an_access_waits_for_uses_of_its_array(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async host.default_stream=independent");
    hd_stream *a = new_stream(r), *b = new_stream(r);
    hd_event *e;

    (void)state;
    launch_on(r, a, "x", 500);
    assert_int_equal(hd_event_record(r->rt, a, &e, NULL), HD_OK);
    launch_on(r, a, "y", 9000);
    assert_int_equal(hd_event_sync(r->rt, e, NULL), HD_OK);
    rig_run(r, "read x");
    assert_int_equal(r->rows.len, 1);
    launch_on(r, b, "x", 500); /* the earlier use is over: one stream uses it */
    launch_on(r, a, "x", 500);
    assert_int_equal(hd_stream_sync(r->rt, a, NULL), HD_OK);
    assert_int_equal(hd_stream_sync(r->rt, b, NULL), HD_OK);
    launch_on(r, new_stream(r), "z", 500);
    rig_run(r, "read y");
    assert_int_equal(r->rows.len, 4);
    rig_free(r);
}

static void test_an_event_finishes_what_was_before_it(void **state)
{
    struct rig *r = rig_new("");
    hd_stream *s = new_stream(r);
    hd_event *e;

    (void)state;
    launch_on(r, s, "x", 100);
    assert_int_equal(hd_event_record(r->rt, s, &e, NULL), HD_OK);
    launch_on(r, s, "y", 9000);
    assert_int_equal(hd_event_sync(r->rt, e, NULL), HD_OK);
    assert_int_equal(r->rt->streams.nactive, 1);
    rig_run(r, "read x");
    assert_true(hd_host_time(r->rt) < 1000 * UINT64_C(1000000));
    rig_free(r);
}

static void test_null_handles(void **state)
{
    struct rig *r = rig_new("");
    struct hd_error err;
    bool done;

    (void)state;
    assert_int_equal(hd_event_wait(r->rt, NULL, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "event");
    assert_int_equal(hd_event_done(r->rt, NULL, &done, &err), HD_BAD_INPUT);
    assert_int_equal(hd_prefetch(r->rt, NULL, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-nil");
    assert_int_equal(hd_stream_free(r->rt, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "stream-default");
    rig_free(r);
}

/* ---- what is freed -------------------------------------------------------------------------------- */

static void test_a_freed_stream_is_refused(void **state)
{
    struct rig *r = rig_new("");
    hd_stream *s = new_stream(r);
    struct hd_error err;
    hd_event *e;

    (void)state;
    launch_on(r, s, "x", 500);
    assert_int_equal(hd_stream_free(r->rt, s, &err), HD_OK);
    assert_int_equal(hd_stream_sync(r->rt, s, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "stream-freed");
    assert_string_equal(err.message, "stream 1 is used after it was freed");
    assert_int_equal(hd_event_record(r->rt, s, &e, &err), HD_BAD_INPUT);
    assert_int_equal(hd_stream_free(r->rt, s, &err), HD_BAD_INPUT);
    rig_run(r, "read x"); /* what was on it still ran, and is waited for */
    assert_int_equal(r->rows.len, 1);
    assert_true(hd_host_time(r->rt) >= r->rows.at[0].r.end_ps);
    rig_free(r);
}

static void test_freeing_an_array_in_flight_waits(void **state)
{
    static const char *const settings[] = {"", "host.scheduler=serial-async",
                                           "host.scheduler=serial-sync"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = rig_new(settings[i]);
        hd_array *x = rig_array(r, "x");
        struct hd_error err;
        void *data;

        rig_run(r, "a x=w y=w @500; b z=w @9000; c x=w @10; free x");
        assert_true(hd_host_time(r->rt) >= rig_stmt(r, "c")->hb.end_ps);
        assert_true(rig_stmt(r, "c")->hb.end_ps > 0);
        if (i == 0) /* just for those that use it */
            assert_int_equal(rig_stmt(r, "b")->hb.end_ps, 0);
        assert_int_equal(hd_array_access(r->rt, x, 0, 1, HD_READ, &data, &err), HD_BAD_INPUT);
        assert_string_equal(err.message, "host access: array x is used after it was freed");
        assert_int_equal(hd_array_free(r->rt, x, &err), HD_BAD_INPUT);
        assert_string_equal(hd_array_uid_name(r->rt, x->object.uid), "x");
        rig_free(r);
    }
}

static void test_freeing_waits_for_a_prefetch_too(void **state)
{
    struct rig *r = rig_new("um.page_faults=on");

    (void)state;
    fake_set_link(r->machine, 1000000000);
    assert_int_equal(hd_prefetch(r->rt, rig_array(r, "x"), NULL, NULL), HD_OK);
    rig_run(r, "free x");
    assert_int_equal(r->transfers.len, 1);
    assert_true(hd_host_time(r->rt) >= r->transfers.at[0].r.end_ps);
    rig_free(r);
}

/* ---- arrays --------------------------------------------------------------------------------------- */

static void test_bad_arrays(void **state)
{
    struct rig *r = rig_new("");
    struct hd_error err;
    hd_array *a;
    void *data;

    (void)state;
    assert_int_equal(hd_array_new(r->rt, T_F32, 0, "none", &a, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-empty");
    assert_null(a);
    assert_int_equal(hd_array_new(r->rt, T_F64, UINT64_MAX / 4, "huge", &a, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-too-large");
    assert_int_equal(hd_array_new(r->rt, T_MASK, 4, "mask", &a, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-type");
    assert_int_equal(hd_array_new(r->rt, T_U8, 10, NULL, &a, &err), HD_OK);
    assert_string_equal(hd_array_name(a), "array0"); /* failures take no number */
    assert_int_equal(hd_array_count(a), 10);
    assert_int_equal(hd_array_type(a), T_U8);
    assert_int_equal(hd_array_access(r->rt, a, 3, 7, HD_WRITE, &data, &err), HD_OK);
    assert_int_equal(hd_array_access(r->rt, a, 3, 8, HD_READ, &data, &err), HD_BAD_INPUT);
    assert_string_equal(err.message, "array array0 has 10 elements, not 8 from element 3");
    assert_int_equal(hd_array_access(r->rt, a, UINT64_MAX, 2, HD_READ, &data, &err), HD_BAD_INPUT);
    assert_int_equal(hd_array_access(r->rt, a, 0, 0, HD_READ, &data, &err), HD_BAD_INPUT);
    assert_null(data);
    rig_free(r);
}

static void test_an_access_points_at_its_first_element(void **state)
{
    struct rig *r = rig_new("");
    hd_array *a = rig_array(r, "a");
    void *first, *third;

    (void)state;
    assert_int_equal(hd_array_access(r->rt, a, 0, 1, HD_READ, &first, NULL), HD_OK);
    assert_int_equal(hd_array_access(r->rt, a, 3, 1, HD_READ, &third, NULL), HD_OK);
    assert_int_equal((char *)third - (char *)first, 12);
    rig_free(r);
}

/* ---- copies --------------------------------------------------------------------------------------- */

static enum hd_status copy(struct rig *r, hd_array *to, uint64_t to_first, hd_array *from,
                           uint64_t from_first, uint64_t count, hd_stream *s, struct hd_error *err)
{
    struct hd_copy c = {.to = to,
                        .from = from,
                        .to_first = to_first,
                        .from_first = from_first,
                        .count = count,
                        .stream = s};

    return hd_copy(r->rt, &c, err);
}

static void test_copies_are_ordered_with_kernels(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    hd_array *host = rig_array(r, "h"), *device;
    hd_stream *s = new_stream(r);

    (void)state;
    fake_set_link(r->machine, 1000000);
    assert_int_equal(hd_array_new_device(r->rt, T_F32, RIG_ELEMENTS, "d", &device, NULL), HD_OK);
    r->arrays[r->narrays++] = (struct rig_array){"d", device};
    assert_int_equal(copy(r, device, 0, host, 0, RIG_ELEMENTS, s, NULL), HD_OK);
    rig_run(r, "k d=w @100"); /* automatic: waits for the copy */
    assert_int_equal(copy(r, host, 4, device, 4, 8, s, NULL), HD_OK);
    rig_run(r, "read h"); /* waits for the copy back */
    assert_int_equal(r->transfers.len, 2);
    assert_int_equal(r->transfers.at[0].r.bytes, 64);
    assert_true(r->transfers.at[0].r.to_device && !r->transfers.at[1].r.to_device);
    assert_int_equal(r->transfers.at[1].r.bytes, 32);
    assert_true(rig_stmt(r, "k")->hb.start_ps >= r->transfers.at[0].r.end_ps);
    assert_true(r->transfers.at[1].r.start_ps >= rig_stmt(r, "k")->hb.end_ps);
    assert_true(hd_host_time(r->rt) >= r->transfers.at[1].r.end_ps);
    rig_free(r);
}

/* The managed end is host memory: a kernel that writes it must be done before its pages can be there. */
static void test_a_copy_waits_for_its_host_end(void **state)
{
    struct rig *r = rig_new("");
    hd_array *device;

    (void)state;
    assert_int_equal(hd_array_new_device(r->rt, T_F32, RIG_ELEMENTS, "d", &device, NULL), HD_OK);
    rig_run(r, "k h=w @500");
    assert_int_equal(copy(r, device, 0, rig_array(r, "h"), 0, RIG_ELEMENTS, NULL, NULL), HD_OK);
    assert_true(rig_stmt(r, "k")->hb.end_ps > 0);
    assert_true(hd_host_time(r->rt) >= rig_stmt(r, "k")->hb.end_ps);
    rig_free(r);
}

static void test_bad_copies(void **state)
{
    struct rig *r = rig_new("");
    hd_array *host = rig_array(r, "h"), *other = rig_array(r, "o"), *device, *doubles;
    struct hd_error err;
    void *data;

    (void)state;
    assert_int_equal(hd_array_new_device(r->rt, T_F32, 8, "d", &device, NULL), HD_OK);
    assert_int_equal(hd_array_new_device(r->rt, T_F64, 8, "e", &doubles, NULL), HD_OK);
    assert_int_equal(copy(r, device, 0, host, 0, 9, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.message, "copy: array d has 8 elements, not 9 from element 0");
    assert_int_equal(copy(r, host, 0, other, 0, 1, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "copy-kinds");
    assert_int_equal(copy(r, doubles, 0, host, 0, 1, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "copy-type");
    assert_int_equal(hd_array_access(r->rt, device, 0, 1, HD_READ, &data, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "access-device-array");
    assert_int_equal(hd_prefetch(r->rt, device, NULL, &err), HD_BAD_INPUT);
    assert_int_equal(fake_count(r->machine), 0);
    rig_free(r);
}

/* ---- after a failure ------------------------------------------------------------------------------- */

static void test_a_failed_run_poisons_the_runtime(void **state)
{
    struct rig *r = rig_new("");
    struct hd_error err;
    hd_array *a;
    hd_stream *s;
    void *data;

    (void)state;
    rig_run(r, "a x=w");
    fake_fail(r->machine);
    assert_int_equal(hd_array_access(r->rt, rig_array(r, "x"), 0, 1, HD_READ, &data, &err),
                     HD_SIM_FAILED);
    assert_string_equal(err.code, "fake");
    assert_null(data);
    assert_int_equal(hd_array_new(r->rt, T_F32, 4, "n", &a, &err), HD_SIM_FAILED);
    assert_string_equal(err.message, "the program failed");
    assert_int_equal(hd_stream_new(r->rt, &s, NULL), HD_SIM_FAILED);
    assert_int_equal(hd_host_work(r->rt, 1, NULL), HD_SIM_FAILED);
    assert_int_equal(hd_region_begin(r->rt, "main", 0, false, NULL), HD_SIM_FAILED);
    assert_int_equal(hd_check_value(r->rt, "c", 1, 1, 0, NULL), HD_SIM_FAILED);
    assert_int_equal(hd_finish(r->rt, &err), HD_SIM_FAILED);
    rig_free(r); /* what was in flight is freed */
}

static void test_bad_input_does_not_poison(void **state)
{
    struct rig *r = rig_new("");

    (void)state;
    assert_int_equal(hd_prefetch(r->rt, NULL, NULL, NULL), HD_BAD_INPUT);
    rig_run(r, "a x=w; read x");
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_orders_two_streams),
        cmocka_unit_test(test_by_hand_is_by_hand_without_a_graph),
        cmocka_unit_test(test_an_access_waits_for_uses_of_its_array),
        cmocka_unit_test(test_an_event_finishes_what_was_before_it),
        cmocka_unit_test(test_null_handles),
        cmocka_unit_test(test_a_freed_stream_is_refused),
        cmocka_unit_test(test_freeing_an_array_in_flight_waits),
        cmocka_unit_test(test_freeing_waits_for_a_prefetch_too),
        cmocka_unit_test(test_bad_arrays),
        cmocka_unit_test(test_an_access_points_at_its_first_element),
        cmocka_unit_test(test_copies_are_ordered_with_kernels),
        cmocka_unit_test(test_a_copy_waits_for_its_host_end),
        cmocka_unit_test(test_bad_copies),
        cmocka_unit_test(test_a_failed_run_poisons_the_runtime),
        cmocka_unit_test(test_bad_input_does_not_poison),
    };

    return cmocka_run_group_tests_name("by_hand", tests, NULL, NULL);
}
