/* Streams, waits and host accesses in time, with the public bug reports PB-26 to PB-30. */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US UINT64_C(1000000) /* ps */

static uint64_t start_of(const struct rig *r, const char *name)
{
    return rig_stmt(r, name)->hb.start_ps;
}

static uint64_t end_of(const struct rig *r, const char *name)
{
    return rig_stmt(r, name)->hb.end_ps;
}

static void finish(struct rig *r)
{
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_check_order(r, "at the end");
}

/* ---- PB-26: a stream's sync waits for that stream ---------------------------------------------------- */

static void test_pb26_stream_sync_waits(void **state)
{
    struct rig *r = rig_new("");
    uint64_t t0, t1;

    (void)state;
    rig_run(r, "long x=w on s1 @5000; short y=w on s2 @9000");
    t0 = hd_host_time(r->rt);
    rig_run(r, "sync s1");
    t1 = hd_host_time(r->rt);
    assert_true(t1 - t0 >= 5000 * US - 20 * US); /* less the launch of `short` */
    assert_int_equal(end_of(r, "short"), 0);     /* not waited for */
    assert_true(end_of(r, "long") <= t1);
    rig_run(r, "read x");
    assert_true(hd_host_time(r->rt) - t1 < US); /* nothing to wait for */
    t1 = hd_host_time(r->rt);
    rig_run(r, "sync s1; sync s3");
    /* Making s3 costs a call; the two waits are only what they cost to call. */
    assert_int_equal(hd_host_time(r->rt) - t1,
                     1000 * (2 * (uint64_t)r->rt->cost->stream_sync + r->rt->cost->stream_new));
    finish(r);
    rig_free(r);
}

/* ---- PB-27: a fan-out wider than the number of streams ------------------------------------------------- */

static void fan_out(const char *limit)
{
    char settings[64], name[16];
    struct rig *r;

    snprintf(settings, sizeof settings, "host.max_streams=%s", limit);
    r = rig_new(settings);
    rig_run(r, "P x=w @500; C1 x=r a=w @100; C2 x=r b=w @90; C3 x=r c=w @80; C4 x=r d=w @70;"
               "C5 x=r e=w @60; C6 x=r f=w @50; C7 x=r g=w @40; C8 x=r h=w; C9 x=r i=w @20;"
               "J a=r b=r c=r d=r e=r f=r g=r h=r @10; J2 i=r");
    finish(r);
    for (int i = 1; i <= 9; i++) {
        snprintf(name, sizeof name, "C%d", i);
        assert_true(start_of(r, name) >= end_of(r, "P"));
        assert_true(start_of(r, i < 9 ? "J" : "J2") >= end_of(r, name));
    }
    assert_true(rig_streams_used(r) <= strtoul(limit, NULL, 10));
    if (strcmp(limit, "1") == 0)
        assert_int_equal(r->nwaits, 0);
    rig_free(r);
}

static void test_pb27_fan_out_past_the_streams(void **state)
{
    static const char *const limits[] = {"4", "1", "2", "3", "8", "9"};

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        fan_out(limits[i]);
}

static void test_the_limit_takes_the_stream_used_longest_ago(void **state)
{
    struct rig *r = rig_new("host.max_streams=2");

    (void)state;
    rig_run(r, "a x=w; b y=w; a2 x=w; c z=w; d u=w");
    /* a2 used S1 again, so that c takes S2, and d takes S1. */
    assert_string_equal(text_str(&r->schedule), "a S1; b S2; a2 S1; c S2; d S1");
    finish(r);
    rig_free(r);
}

/* A machine with fewer queues than the scheduler may make streams is as a lower limit is, and a try costs nothing. */
static void test_a_machine_short_of_queues(void **state)
{
    struct rig *r = rig_new(""), *limited = rig_new("host.max_streams=2");
    static const char program[] = "a x=w; b y=w; a2 x=w; c z=w; d u=w";

    (void)state;
    fake_set_queues(r->machine, 3); /* the default stream has one */
    rig_run(r, program);
    rig_run(limited, program);
    assert_string_equal(text_str(&r->schedule), "a S1; b S2; a2 S1; c S2; d S1");
    assert_int_equal(hd_host_time(r->rt), hd_host_time(limited->rt));
    finish(r);
    finish(limited);
    rig_free(r);
    rig_free(limited);
}

/* ---- PB-28: the default stream ----------------------------------------------------------------------- */

static void test_pb28_default_stream_legacy(void **state)
{
    struct rig *r = rig_new("host.default_stream=legacy");

    (void)state;
    rig_run(r, "A x=w on default @3000; B y=w on s1 @1000; C z=w on default @10");
    assert_true(hd_host_time(r->rt) < 1000 * US); /* no call waits */
    rig_run(r, "read x"); /* whatever the stream, a read waits for the writer */
    assert_true(end_of(r, "A") > 0 && end_of(r, "A") <= hd_host_time(r->rt));
    finish(r);
    assert_true(start_of(r, "B") >= end_of(r, "A"));
    assert_true(start_of(r, "C") >= end_of(r, "B"));
    rig_free(r);
}

/* Not for the first of the other streams alone, in whatever order they were made and used. */
static void test_pb28_the_default_stream_waits_for_all_others(void **state)
{
    static const char *const programs[] = {
        "A x=w on s1 @3000; B y=w on s2 @1000; C u=w on s3 @2000; D z=w on default @10",
        "A x=w on s1 @1000; B y=w on s2 @3000; C u=w on s3 @2000; D z=w on default @10",
        "A x=w on s1 @1000; B y=w on s2 @2000; C u=w on s3 @3000; D z=w on default @10",
        "C u=w on s1 @1; A x=w on s2 @1; sync; A x=w on s1 @9; B y=w on s2; D z=w on default",
        "A x=w on s1 @1; E z=w on default @1; B y=w on s2; A x=w on s1 @9; D z=w on default",
    };
    static const char *const schedulers[] = {"host.scheduler=parallel-async",
                                             "host.scheduler=serial-async",
                                             "host.scheduler=serial-sync"};

    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct rig *r = rig_new(schedulers[k]);
            uint64_t d;

            rig_run(r, programs[i]);
            finish(r);
            d = start_of(r, "D");
            for (size_t j = 0; j < r->stmts.len; j++) {
                const struct rig_stmt *s = &r->stmts.at[j];

                if (strcmp(s->name, "D") != 0)
                    assert_true(s->hb.end_ps <= d);
            }
            rig_free(r);
        }
    }
}

static void test_pb28_default_stream_independent(void **state)
{
    struct rig *r = rig_new("host.default_stream=independent");

    (void)state;
    rig_run(
        r,
        "A x=w on default @3000; B y=w on s1 @1000; C z=w on default @10; auto v=w @10; sync s1");
    assert_int_equal(end_of(r, "A"), 0);
    finish(r); /* the end waits for everything */
    assert_true(start_of(r, "B") < end_of(r, "A"));
    assert_true(start_of(r, "C") >= end_of(r, "A")); /* one stream, in order */
    assert_true(end_of(r, "auto") < end_of(r, "A"));
    rig_free(r);
}

static void test_pb28_by_hand_and_automatic_mixed(void **state)
{
    struct rig *r = rig_new("");

    (void)state;
    rig_run(r, "A x=w on s1 @300; B x=r y=w @10; C y=w on s2 @10; D x=r y=r z=w; read z");
    finish(r);
    assert_true(start_of(r, "B") >= end_of(r, "A"));
    assert_true(start_of(r, "C") >= end_of(r, "B"));
    /* B's stream is a new one: those of the program are not inherited. */
    assert_string_equal(text_str(&r->schedule),
                        "A S1; B S2 wait A; C S3 wait B; D S4 wait C; read z: sync S4");
    rig_free(r);
}

/* ---- PB-29: readers, write after read, host reads ------------------------------------------------------ */

static void test_pb29_readers_writers_host_reads(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");

    (void)state;
    rig_run(r, "write X; K1 X=r Y=w @1000; K2 X=r Z=w @3000; read Y");
    assert_true(hd_host_time(r->rt) >= end_of(r, "K1") && end_of(r, "K1") > 0);
    assert_int_equal(end_of(r, "K2"), 0); /* still runs */
    rig_run(r, "K3 X=w @10; K4 X=r W=w @10");
    finish(r);
    assert_true(start_of(r, "K2") < end_of(r, "K1"));
    assert_true(start_of(r, "K3") >= end_of(r, "K2") && start_of(r, "K3") >= end_of(r, "K1"));
    assert_true(start_of(r, "K4") >= end_of(r, "K3"));
    assert_int_equal(rig_streams_used(r), 2);
    assert_string_equal(text_str(&r->schedule),
                        "write X; K1 S1; K2 S2; read Y: sync S1; K3 S2; K4 S2");
    rig_free(r);
}

/* ---- PB-30: the host writes what a kernel reads; one array twice ----------------------------------------- */

static void test_pb30_host_write_waits_for_reader(void **state)
{
    static const char *const settings[] = {"host.scheduler=serial-async", "um.page_faults=on", "",
                                           "host.dependency=no-const"};

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct rig *r = rig_new(settings[i]);

        rig_run(r, "copy X=r Y=w @2000; write X");
        assert_true(end_of(r, "copy") > 0);
        assert_true(start_of(r, "write X") >= end_of(r, "copy"));
        rig_run(r, "write X; read Y");
        finish(r);
        rig_free(r);
    }
}

static void test_pb30_one_array_twice_counts_as_written(void **state)
{
    struct rig *r = rig_new("");

    (void)state;
    rig_run(r, "A X=r X=w @100; B X=r X=w @100; C X=r");
    finish(r);
    assert_true(start_of(r, "B") >= end_of(r, "A"));
    assert_true(start_of(r, "C") >= end_of(r, "B"));
    rig_free(r);
}

/* ---- host accesses ----------------------------------------------------------------------------------- */

static void test_an_access_without_dependency_waits_for_nothing(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    size_t nodes;

    (void)state;
    rig_run(r, "write a; k x=w @5000");
    nodes = r->nodes.len;
    assert_int_equal(nodes, 1); /* the write of `a` came when nothing ran: no vertex */
    rig_run(r, "write a");      /* scheduled now, without a parent */
    assert_int_equal(r->nodes.len, nodes + 1);
    assert_int_equal(r->edges.len, 0);
    assert_true(hd_host_time(r->rt) < 100 * US);
    assert_int_equal(fake_waits(r->machine), 0);
    finish(r);
    rig_free(r);
}

static void test_reads_beside_readers_do_not_wait(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");

    (void)state;
    rig_run(r, "k x=r y=w @5000; read x");
    assert_int_equal(fake_waits(r->machine), 0);
    rig_run(r, "write x"); /* but a write does */
    assert_int_equal(fake_waits(r->machine), 1);
    finish(r);
    rig_free(r);

    r = rig_new("um.page_faults=on host.prefetch=off host.dependency=no-const");
    rig_run(r, "k x=r y=w @5000; read x");
    assert_int_equal(fake_waits(r->machine), 1);
    finish(r);
    rig_free(r);
}

/* The needed stream is waited for to its end, also past the needed kernel, and what it waited for is finished too. */
static void test_a_sync_finishes_the_stream_and_its_ancestors(void **state)
{
    struct rig *r =
        rig_new("um.page_faults=on host.prefetch=off host.parent_stream=same-as-parent");

    (void)state;
    rig_run(r, "a x=w @100; b y=w @200; c x=r y=r z=w @10; d x=w @3000; e u=w @9000; read z");
    /* c and d are on S1, the stream of a; b is c's parent on S2; e is on S3 and stays. */
    assert_string_equal(text_str(&r->schedule),
                        "a S1; b S2; c S1 wait b; d S1; e S3; read z: sync S1");
    assert_true(hd_host_time(r->rt) >= 3000 * US);
    assert_int_equal(r->rt->streams.nactive, 1);
    assert_int_equal(r->rt->streams.automatic, 1);
    rig_run(r, "read y; read x");
    assert_int_equal(fake_waits(r->machine), 1);
    finish(r);
    rig_free(r);
}

static void test_streams_are_released_by_the_host_only(void **state)
{
    struct rig *r = rig_new("host.new_stream=fifo");
    struct hd_error err;

    (void)state;
    rig_run(r, "a x=w @1; b y=w @1");
    assert_int_equal(hd_host_work(r->rt, 1000 * US, &err), HD_OK);
    rig_run(r, "c z=w @1"); /* both are done, but the host does not know */
    assert_int_equal(rig_streams_used(r), 3);
    rig_run(r, "read y; d u=w @1; e v=w @1");
    assert_string_equal(text_str(&r->schedule), "a S1; b S2; c S3; read y: sync S2; d S2; e S4");
    finish(r);
    rig_free(r);
}

static void test_which_free_stream_is_taken(void **state)
{
    static const struct {
        const char *settings, *schedule;
    } rows[] = {
        {"host.new_stream=fifo", "a S1; b S2; c S3; read c: sync S3; read a: sync S1; d S3; e S1"},
        {"host.new_stream=reuse", "a S1; b S2; c S3; read c: sync S3; read a: sync S1; d S1; e S3"},
        {"host.new_stream=always-new",
         "a S1; b S2; c S3; read c: sync S3; read a: sync S1; d S4; e S5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig *r = rig_new(rows[i].settings);

        rig_run(r, "a a=w; b b=w; c c=w; read c; read a; d d=w; e e=w");
        assert_string_equal(text_str(&r->schedule), rows[i].schedule);
        finish(r);
        rig_free(r);
    }
}

/* ---- attachment -------------------------------------------------------------------------------------- */

static int32_t attached(struct rig *r, const char *array)
{
    return fake_attached(r->machine, rig_array(r, array)->id);
}

static void test_attachment_follows_the_writer(void **state)
{
    struct rig *r = rig_new("");
    int32_t first;

    (void)state;
    assert_int_equal(attached(r, "x"), SIM_ATTACH_HOST);
    rig_run(r, "a x=r y=w; b x=r z=w");
    assert_int_equal(attached(r, "x"), SIM_ATTACH_GLOBAL);
    first = attached(r, "y");
    assert_true(first > 0 && attached(r, "z") > 0 && attached(r, "z") != first);
    rig_run(r, "c y=r z=w"); /* c is on a's stream: y stays, z comes over */
    assert_int_equal(attached(r, "y"), first);
    assert_int_equal(attached(r, "z"), first);
    rig_run(r, "d z=r u=w; e z=r v=w");
    assert_int_equal(attached(r, "z"), SIM_ATTACH_GLOBAL); /* e reads it from another stream */
    finish(r);
    assert_int_equal(attached(r, "y"), SIM_ATTACH_HOST); /* its stream is gone */
    rig_free(r);
}

static void test_an_access_to_a_shared_array_waits_for_all(void **state)
{
    struct rig *r = rig_new("");

    (void)state;
    rig_run(r, "a x=r y=w @100; b z=w @9000; read x");
    /* Before page faults the host must not touch what a running kernel could. */
    assert_string_equal(text_str(&r->schedule), "a S1; b S2; read x: sync all");
    assert_true(hd_host_time(r->rt) >= 9000 * US);
    assert_int_equal(r->rt->streams.nactive, 0);
    rig_run(r, "c y=w @100; b2 z=w @9000; read y"); /* attached: just its stream */
    assert_true(end_of(r, "b2") == 0);
    finish(r);
    rig_free(r);
}

static void test_attached_to_a_stream_is_free_for_the_host(void **state)
{
    struct rig *r = rig_new("");
    size_t nodes;

    (void)state;
    rig_run(r, "a y=w @10; read y; b z=w @5000");
    nodes = r->nodes.len;
    rig_run(r, "read y; write y"); /* no vertex, although b runs */
    assert_int_equal(r->nodes.len, nodes);
    assert_true(hd_host_time(r->rt) < 1000 * US);
    finish(r);
    rig_free(r);
}

/* A reader on the stream that the array is attached to: no edge, but the host must wait, and a write after it too. */
static void test_attached_to_a_reader_s_stream(void **state)
{
    struct rig *r = rig_new("host.new_stream=reuse");

    (void)state;
    rig_run(r, "a x=w @10; read x; b x=r y=w @5000; read x; write x");
    assert_string_equal(text_str(&r->schedule),
                        "a S1; read x: sync S1; b S1; read x: sync S1; write x");
    finish(r);
    rig_free(r);
}

static void test_no_const_attaches_readers_too(void **state)
{
    struct rig *r = rig_new("host.dependency=no-const");

    (void)state;
    rig_run(r, "a x=r y=w");
    assert_true(attached(r, "x") > 0);
    assert_int_equal(attached(r, "x"), attached(r, "y"));
    finish(r);
    rig_free(r);
}

static void test_serial_schedulers_share_all_arrays(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");

    (void)state;
    assert_int_equal(attached(r, "x"), SIM_ATTACH_GLOBAL);
    rig_run(r, "a x=r y=w");
    assert_int_equal(attached(r, "y"), SIM_ATTACH_GLOBAL);
    rig_free(r);
}

/* ---- serial-async ------------------------------------------------------------------------------------ */

static void test_serial_async_waits_at_accesses_only(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");

    (void)state;
    rig_run(r, "a x=w @500; b y=w @500; c z=w @500");
    assert_true(hd_host_time(r->rt) < 100 * US);
    rig_run(r, "read u"); /* no graph: it waits for the stream whatever the array */
    assert_true(hd_host_time(r->rt) >= 1500 * US);
    rig_run(r, "read x");
    assert_int_equal(fake_waits(r->machine), 1);
    assert_int_equal(r->edges.len, 0);
    rig_free(r);
}

static void test_serial_async_waits_for_work_by_hand_on_the_array(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");

    (void)state;
    rig_run(r, "a x=w on s1 @500; b y=w on s2 @9000; read x");
    assert_true(end_of(r, "a") > 0 && end_of(r, "b") == 0);
    rig_run(r, "c x=r on s1 @10; d x=r on s2 @10; read x"); /* on both: everything */
    assert_true(end_of(r, "d") > 0);
    finish(r);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb26_stream_sync_waits),
        cmocka_unit_test(test_pb27_fan_out_past_the_streams),
        cmocka_unit_test(test_the_limit_takes_the_stream_used_longest_ago),
        cmocka_unit_test(test_a_machine_short_of_queues),
        cmocka_unit_test(test_pb28_default_stream_legacy),
        cmocka_unit_test(test_pb28_the_default_stream_waits_for_all_others),
        cmocka_unit_test(test_pb28_default_stream_independent),
        cmocka_unit_test(test_pb28_by_hand_and_automatic_mixed),
        cmocka_unit_test(test_pb29_readers_writers_host_reads),
        cmocka_unit_test(test_pb30_host_write_waits_for_reader),
        cmocka_unit_test(test_pb30_one_array_twice_counts_as_written),
        cmocka_unit_test(test_an_access_without_dependency_waits_for_nothing),
        cmocka_unit_test(test_reads_beside_readers_do_not_wait),
        cmocka_unit_test(test_a_sync_finishes_the_stream_and_its_ancestors),
        cmocka_unit_test(test_streams_are_released_by_the_host_only),
        cmocka_unit_test(test_which_free_stream_is_taken),
        cmocka_unit_test(test_attachment_follows_the_writer),
        cmocka_unit_test(test_an_access_to_a_shared_array_waits_for_all),
        cmocka_unit_test(test_attached_to_a_stream_is_free_for_the_host),
        cmocka_unit_test(test_attached_to_a_reader_s_stream),
        cmocka_unit_test(test_no_const_attaches_readers_too),
        cmocka_unit_test(test_serial_schedulers_share_all_arrays),
        cmocka_unit_test(test_serial_async_waits_at_accesses_only),
        cmocka_unit_test(test_serial_async_waits_for_work_by_hand_on_the_array),
    };

    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
