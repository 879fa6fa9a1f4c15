/* The host's clock: what calls cost, when commands reach the device, and when waits end. Sums in nanoseconds. */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define VEC_CODE "sq1 x=w x1=w @100; sq2 y=w y1=w @100; red x1=r y1=r res=w @50"
#define NS UINT64_C(1000) /* ps */

/* The numbers of profile native that the sums below use. */
static void test_the_native_profile(void **state)
{
    (void)state;
    assert_int_equal(profile_native.launch, 3800);
    assert_int_equal(profile_native.prefetch, 3800);
    assert_int_equal(profile_native.event_record, 250);
    assert_int_equal(profile_native.event_wait, 750);
    assert_int_equal(profile_native.stream_new, 10000);
    assert_int_equal(profile_native.stream_sync, 1000);
    assert_int_equal(profile_native.device_sync, 1000);
    assert_int_equal(profile_native.access, 1);
    assert_int_equal(profile_native.attach, 1000);
    assert_int_equal(profile_native.dag, 200);
}

static void test_the_grcuda_profile_adds_up(void **state)
{
    const struct rt_profile *p = &profile_grcuda;

    (void)state;
    assert_int_equal(p->launch + p->event_record + p->event_wait + 2 * p->attach + p->dag, 120000);
}

static void expect_time(const char *settings, const char *program, uint64_t ns)
{
    struct rig *r = rig_new(settings);

    rig_run(r, program);
    assert_int_equal(hd_host_time(r->rt), ns * NS);
    rig_free(r);
}

static void test_parallel_calls(void **state)
{
    const char *pascal = "um.page_faults=on", *plain = "um.page_faults=on host.prefetch=off";

    (void)state;
    /* dag, stream, launch, event. */
    expect_time(plain, "a x=w", 200 + 10000 + 3800 + 250);
    expect_time("um.page_faults=on host.prefetch=off host.cost_percent=50", "a x=w", 7125);
    expect_time("um.page_faults=on host.prefetch=off host.cost_percent=0", "a x=w", 0);
    /* With the prefetches of x and y, and of z alone: y was a kernel's last. */
    expect_time(pascal, "a x=r y=w", 200 + 10000 + 2 * 3800 + 3800 + 250);
    expect_time(pascal, "a x=r y=w; b y=w z=w",
                (200 + 10000 + 2 * 3800 + 3800 + 250) + (200 + 3800 + 3800 + 250));
    /* An array given twice is prefetched once. */
    expect_time(pascal, "a x=r x=w", 200 + 10000 + 3800 + 3800 + 250);
    /* A wait for a parent on another stream. */
    expect_time(plain, "a x=w; b y=w; c x=w y=w", 3 * (200 + 3800 + 250) + 2 * 10000 + 750);
    /* Attachments: x and y of a; x of b is with all already. */
    expect_time("", "a x=r y=w; b x=r y=w",
                (200 + 10000 + 2 * 1000 + 3800 + 250) + (200 + 3800 + 250));
    /* On a stream of the program's own the launch alone is paid, also if the graph adds a wait. */
    expect_time(plain, "a x=w on s1; b x=w on s2", 2 * (10000 + 3800));
}

static void test_accesses(void **state)
{
    const char *plain = "um.page_faults=on host.prefetch=off";

    (void)state;
    expect_time(plain, "read x; write x", 2 * 1);
    /* Scheduled while something runs, without a parent. */
    expect_time(plain, "a x=w; read y", (200 + 10000 + 3800 + 250) + 1 + 200);
    /* x's kernel has been submitted at 14000 and runs for 100000; the wait costs its return. */
    expect_time(plain, "a x=w @100; read x", 14000 + 100000 + 1000);
}

/*
 * sq1 is submitted at 21600 (dag 200, stream 10000, two prefetches, launch), sq2 at 21850 + 21600 = 43450;
 * red begins when sq2 ends at 143450.
 */
static void test_vec_parallel(void **state)
{
    struct rig *r = rig_new("um.page_faults=on");

    (void)state;
    rig_run(r, VEC_CODE);
    assert_int_equal(hd_host_time(r->rt),
                     (3 * (200 + 3800 + 250) + 2 * 10000 + 5 * 3800 + 750) * NS);
    rig_run(r, "read res");
    assert_int_equal(rig_stmt(r, "sq1")->hb.start_ps, 21600 * NS);
    assert_int_equal(rig_stmt(r, "sq2")->hb.start_ps, 43450 * NS);
    assert_int_equal(rig_stmt(r, "red")->hb.start_ps, 143450 * NS);
    assert_int_equal(hd_host_time(r->rt), (143450 + 50000 + 1000) * NS);
    rig_free(r);
}

static void test_vec_serial(void **state)
{
    (void)state;
    /* serial-sync: launch, kernel and return from the wait, three times. No graph, stream or event. */
    expect_time("um.page_faults=on host.prefetch=off host.scheduler=serial-sync",
                VEC_CODE "; read res", 3 * (3800 + 1000) + 100000 + 100000 + 50000 + 1);
    /* With prefetch, each followed by a wait. */
    expect_time("um.page_faults=on host.scheduler=serial-sync", VEC_CODE "; read res",
                5 * (3800 + 1000) + 3 * (3800 + 1000) + 250000 + 1);
    /* serial-async: the kernels follow each other from the first launch on; one wait. */
    expect_time("um.page_faults=on host.prefetch=off host.scheduler=serial-async",
                VEC_CODE "; read res", 3800 + 250000 + 1000);
    /* Without page faults there is nothing to prefetch, and nothing is attached. */
    expect_time("host.scheduler=serial-sync", VEC_CODE "; read res", 3 * (3800 + 1000) + 250000 + 1);
}

static void test_a_prefetch_is_on_the_kernels_stream(void **state)
{
    struct rig *r = rig_new("um.page_faults=on");

    (void)state;
    fake_set_link(r->machine, 1000); /* 64 bytes take 64 ns */
    rig_run(r, "a x=w @1; b y=w @1");
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    assert_int_equal(r->transfers.len, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(r->transfers.at[i].r.kind, SIM_T_PREFETCH);
        assert_int_equal(r->transfers.at[i].node, r->rows.at[i].node);
        assert_int_equal(r->transfers.at[i].stream, r->rows.at[i].stream);
        assert_int_equal(r->transfers.at[i].r.bytes, 64);
        assert_true(r->rows.at[i].r.start_ps >= r->transfers.at[i].r.end_ps);
    }
    rig_free(r);
}

/* c waits for b, but its new array moves while b runs. */
static void test_a_prefetch_is_ahead_of_the_waits(void **state)
{
    struct rig *r = rig_new("um.page_faults=on");
    size_t first;

    (void)state;
    fake_set_link(r->machine, 1000);
    rig_run(r, "a x=w; b y=w");
    first = fake_count(r->machine);
    rig_run(r, "c x=r y=r z=w");
    assert_int_equal(fake_count(r->machine), first + 3);
    assert_int_equal(fake_cmd(r->machine, first)->kind, SIM_PREFETCH);
    assert_int_equal(fake_cmd(r->machine, first + 1)->kind, SIM_WAIT);
    assert_int_equal(fake_cmd(r->machine, first + 2)->kind, SIM_KERNEL);
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_free(r);
}

static void test_pages_that_move_for_the_host(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    uint64_t before;

    (void)state;
    fake_set_move(r->machine, 7000 * NS);
    rig_run(r, "a x=w @1; read x");
    before = hd_host_time(r->rt);
    assert_int_equal(before, (14000 + 1000 + 1000 + 7000) * NS);
    assert_int_equal(r->transfers.len, 1);
    assert_int_equal(r->transfers.at[0].node, rig_stmt(r, "read x")->node);
    rig_run(r, "read x"); /* they are there now */
    assert_int_equal(hd_host_time(r->rt) - before, NS);
    rig_free(r);
}

static void test_work_of_the_host(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    struct hd_error err;

    (void)state;
    rig_run(r, "a x=w @100");
    assert_int_equal(hd_host_work(r->rt, 500000 * NS, &err), HD_OK);
    rig_run(r, "read x"); /* done long ago */
    assert_int_equal(hd_host_time(r->rt), (14250 + 500000 + 1 + 200 + 1000) * NS);
    assert_int_equal(hd_host_work(r->rt, UINT64_MAX, &err), HD_BAD_INPUT);
    assert_int_equal(hd_host_work(r->rt, UINT64_C(1) << 63, &err), HD_BAD_INPUT);
    rig_free(r);
}

static void test_values_only_takes_no_time(void **state)
{
    struct rig *r = rig_new("timing=off");
    struct hd_error err;

    (void)state;
    assert_int_equal(fake_mode(r->machine), SIM_VALUES);
    rig_run(r, VEC_CODE "; read res");
    assert_int_equal(hd_host_work(r->rt, 5, &err), HD_OK);
    assert_int_equal(hd_host_time(r->rt), 0);
    assert_int_equal(r->rows.len, 3);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_native_profile),
        cmocka_unit_test(test_the_grcuda_profile_adds_up),
        cmocka_unit_test(test_parallel_calls),
        cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_vec_parallel),
        cmocka_unit_test(test_vec_serial),
        cmocka_unit_test(test_a_prefetch_is_on_the_kernels_stream),
        cmocka_unit_test(test_a_prefetch_is_ahead_of_the_waits),
        cmocka_unit_test(test_pages_that_move_for_the_host),
        cmocka_unit_test(test_work_of_the_host),
        cmocka_unit_test(test_values_only_takes_no_time),
    };

    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
