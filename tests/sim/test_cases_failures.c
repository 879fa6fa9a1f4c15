/* Programs that fail on the device: no progress, limits, assertions; and what kernels print. */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check_failure(const struct krig *r, const char *code, const char *place)
{
    assert_string_equal(r->err.code, code);
    if (!strstr(r->err.place, place))
        fail_msg("the place is `%s`, without `%s`", r->err.place, place);
}

/* ---- no progress ---- */

/* PB-04 (a): the lane that got the lock waits for the others, which wait for the lock. */
static void test_pb04_lock_between_lanes(void **state)
{
    static const char text[] =
        ".kernel locked\n.lds 8\n v_mov_b32 v1, 1\n v_mov_b32 v2, 0\n m_not m0, m1\n"
        "spin:\n @m0 local_atomic_cmpswap_b32_rtn v3, [0], v1, v2\n @m0 v_cmp_ne_u32 m0, v3, 0\n"
        " s_branch_any m0, spin\n"
        " local_atomic_add_u32 [4], v1\n local_store_b32 [0], v2\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned values = 0; values < 2; values++) {
        struct krig r;

        krig_open(&r, "wavefront_size", "64", "sim.progress_instructions", "1000", NULL);
        if (values)
            sim_set_mode(r.m, SIM_VALUES);
        assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text, .threads = 64}),
                         HD_SIM_FAILED);
        check_failure(&r, "no-progress", "kernel locked group 0 wavefront 0 pc ");
        assert_non_null(strstr(sim_fault_dump(r.m), "m0 "));
        /* Poisoned: the failure comes back. */
        assert_int_equal(sim_wait(r.m, 0, &r.err), HD_SIM_FAILED);
        krig_close(&r);
    }
}

/* A loop that looks endless is no failure while the host may still launch what ends it. */
static void test_host_ends_a_loop(void **state)
{
    static const char spin[] = ".kernel k\n.param x u32[]\nagain:\n v_mov_b32 v0, 0\n"
                               " global_load_b32 v1, [x + v0*4]\n v_cmp_eq_u32 m0, v1, 0\n"
                               " s_branch_any m0, again\n s_end\n.endkernel\n";
    static const char store[] = ".kernel k\n.param x u32[]\n v_mov_b32 v0, 0\n v_mov_b32 v1, 1\n"
                                " global_store_b32 [x + v0*4], v1\n s_end\n.endkernel\n";
    struct krig_launch l = {.text = spin, .nargs = 1};
    struct krig r;
    uint64_t first;

    (void)state;
    krig_open(&r, "sim.progress_instructions", "100", NULL);
    l.args[0].is_array = true;
    l.args[0].value = krig_array(&r, 64);
    first = krig_submit(&r, &l);
    assert_int_equal(sim_run_until(r.m, UINT64_C(2000000000), &r.err), HD_OK);
    assert_false(sim_done(r.m, first));
    l.text = store;
    assert_int_equal(sim_queue_new(r.m, &l.queue, &r.err), HD_OK);
    krig_submit(&r, &l);
    assert_int_equal(sim_wait(r.m, 0, &r.err), HD_OK);
    assert_true(sim_done(r.m, first));
    krig_close(&r);
}

/* Waits for a cycle and keeps nothing of the clock: the registers repeat, and yet it ends. */
static void test_a_loop_that_reads_the_clock_ends(void **state)
{
    static const char text[] = ".kernel k\nagain:\n s_clock s[2:3]\n s_cmp_lt_u32 s4, s2, 20000\n"
                               " s_mov_b32 s2, 0\n s_branch_nz s4, again\n s_end\n.endkernel\n";
    struct krig r;

    (void)state;
    krig_open(&r, "sim.progress_instructions", "100", NULL);
    assert_true(krig_cycles(krig_run(&r, &(struct krig_launch){.text = text})) > 10000);
    krig_close(&r);
}

/* PB-04 (c): lane after lane takes the lock, adds and lets it go. */
static void test_pb04_lock_by_lane(void **state)
{
    static const char text[] = ".kernel k\n.param out u32[]\n v_get_u32 v0, %lane\n v_mov_b32 v1, "
                               "1\n v_mov_b32 v2, 0\n s_mov_b32 s8, 0\n"
                               "turn:\n v_cmp_eq_u32 m0, v0, s8\n m_mov m1, m0\n"
                               "spin:\n @m1 global_atomic_cmpswap_b32_rtn v3, [out], v1, v2\n @m1 "
                               "v_cmp_ne_u32 m1, v3, 0\n s_branch_any m1, spin\n"
                               " @m0 global_load_b32 v4, [out + 4]\n @m0 v_add_u32 v4, v4, 1\n @m0 "
                               "global_store_b32 [out + 4], v4\n"
                               " @m0 global_atomic_exch_b32 [out], v2\n"
                               " s_add_u32 s8, s8, 1\n s_cmp_lt_u32 s9, s8, %width\n s_branch_nz "
                               "s9, turn\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned waves = 1; waves <= 4; waves += 3) {
        struct krig r;
        uint32_t out;

        /* A load may hit an old line of L1, which the atomics beside it do not take out. */
        krig_open(&r, "wavefront_size", "64", "l1.enabled", "off", NULL);
        out = krig_array(&r, 8);
        krig_run(&r,
                 &(struct krig_launch){
                     .text = text, .threads = 64 * waves, .nargs = 1, .args = {KRIG_ARRAY(out)}});
        assert_int_equal(((const uint32_t *)sim_array_data(r.m, out))[1], 64 * waves);
        krig_close(&r);
    }
}

/* A wavefront at a barrier waits for one that never comes. */
static void test_barrier_never_reached(void **state)
{
    static const char text[] = ".kernel k\n s_branch_nz %wave, away\n s_barrier\n s_end\naway:\n "
                               "s_nop\n s_jump away\n.endkernel\n";
    struct krig r;

    (void)state;
    krig_open(&r, "sim.progress_instructions", "1000", NULL);
    assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text, .threads = 64}),
                     HD_SIM_FAILED);
    check_failure(&r, "no-progress", "kernel k group 0 wavefront 1 pc ");
    krig_close(&r);
}

/*
 * A branch every 6 cycles: 6 wavefronts fill the slot of a SIMD unit, and the policies that go by age never come to the other
 * two. These do not loop, and yet nothing can change any more.
 */
static void test_wavefronts_that_never_issue(void **state)
{
    static const char text[] = ".kernel k\nagain:\n s_jump again\n s_end\n.endkernel\n";
    static const char *const policies[] = {"gto", "oldest", "lrr"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct krig r;
        const char *by_age;

        krig_open(&r, "cu.scheduler", policies[i], "latency.branch", "6",
                  "sim.progress_instructions", "1000", NULL);
        assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text, .threads = 8 * 32}),
                         HD_SIM_FAILED);
        check_failure(&r, "no-progress", "kernel k group 0 wavefront ");
        by_age = strstr(r.err.message, "ahead of one that is ready, at pc 0 on compute unit 0");
        assert_int_equal(by_age != NULL, i < 2);
        krig_close(&r);
    }
}

/*
 * A kernel waits for another's flag: it goes on where both can be resident, and is found out where
 * they cannot.
 */
static void test_kernel_waits_for_a_later_one(void **state)
{
    static const char *const settings[] = {"on", "off"};
    static const char waits[] =
        ".kernel waits\n.param flag u32[]\n v_mov_b32 v1, 0\nagain:\n global_atomic_or_b32_rtn v0, "
        "[flag], v1\n"
        " v_cmp_eq_u32 m0, v0, 0\n s_branch_any m0, again\n s_end\n.endkernel\n";
    static const char sets[] = ".kernel sets\n.param flag u32[]\n v_mov_b32 v0, 1\n "
                               "global_store_b32 [flag], v0\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct krig r;
        uint32_t flag, queue;

        krig_open(&r, "sim.concurrent_kernels", settings[i], "sim.progress_instructions", "1000",
                  NULL);
        flag = krig_array(&r, 4);
        assert_int_equal(sim_queue_new(r.m, &queue, &r.err), HD_OK);
        krig_submit(&r,
                    &(struct krig_launch){.text = waits, .nargs = 1, .args = {KRIG_ARRAY(flag)}});
        krig_submit(&r, &(struct krig_launch){
                            .text = sets, .queue = queue, .nargs = 1, .args = {KRIG_ARRAY(flag)}});
        assert_int_equal(sim_wait(r.m, 0, &r.err), i == 0 ? HD_OK : HD_SIM_FAILED);
        if (i == 1)
            check_failure(&r, "no-progress", "kernel waits group 0");
        krig_close(&r);
    }
}

/* A long loop is not one that can never end, although it changes no memory. */
static void test_long_loop_is_progress(void **state)
{
    static const char text[] = ".kernel k\n s_mov_b32 s8, 20000\nagain:\n s_and_b32 s9, s8, 7\n "
                               "s_sub_u32 s8, s8, 1\n s_branch_nz s8, again\n s_end\n.endkernel\n";
    struct krig r;

    (void)state;
    krig_open(&r, "sim.progress_instructions", "100", NULL);
    krig_run(&r, &(struct krig_launch){.text = text, .threads = 32});
    krig_close(&r);
}

/*
 * A wavefront that repeats its state waits for one that does not, and that changes memory in the
 * end.
 */
static void test_waiting_for_a_long_loop_is_progress(void **state)
{
    static const char text[] = ".kernel k\n.lds 4\n v_mov_b32 v1, 1\n s_branch_nz %wave, wait\n"
                               " s_mov_b32 s8, 20000\nagain:\n s_sub_u32 s8, s8, 1\n s_branch_nz "
                               "s8, again\n local_store_b32 [0], v1\n s_end\n"
                               "wait:\n local_load_b32 v0, [0]\n v_cmp_eq_u32 m0, v0, 0\n "
                               "s_branch_any m0, wait\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned values = 0; values < 2; values++) {
        struct krig r;

        krig_open(&r, "sim.progress_instructions", "1000", NULL);
        if (values)
            sim_set_mode(r.m, SIM_VALUES);
        krig_run(&r, &(struct krig_launch){.text = text, .threads = 96});
        krig_close(&r);
    }
}

/* ---- limits ---- */

static const char endless[] = ".kernel endless\n.param x u32[]\n v_mov_b32 v0, 1\nagain:\n "
                              "global_atomic_add_u32 [x], v0\n s_jump again\n.endkernel\n";

static void run_limited(const struct sim_limits *limits, enum hd_status want, const char *code)
{
    struct krig r;

    krig_open(&r, NULL);
    sim_set_limits(r.m, limits);
    assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = endless,
                                                            .nargs = 1,
                                                            .args = {KRIG_ARRAY(krig_array(&r, 4))}}),
                     want);
    assert_string_equal(r.err.code, code);
    krig_close(&r);
}

static void test_limits(void **state)
{
    static const volatile int stop = 1;

    (void)state;
    run_limited(&(struct sim_limits){.max_instructions = 12345}, HD_SIM_FAILED, "max-instructions");
    run_limited(&(struct sim_limits){.max_time_ps = 50 * 1000 * 1000}, HD_SIM_FAILED, "max-time");
    run_limited(&(struct sim_limits){.stop = &stop}, HD_STOPPED, "stopped");
}

/* ---- print and assert ---- */

static void test_assert(void **state)
{
    static const char text[] = ".kernel k\n.param limit u32\n v_get_u32 v0, %lane\n v_cmp_lt_u32 "
                               "m0, v0, limit\n assert m0, \"lane < limit\"\n s_end\n.endkernel\n";
    struct krig r;

    (void)state;
    krig_open(&r, NULL);
    krig_run(&r, &(struct krig_launch){
                     .text = text, .threads = 20, .nargs = 1, .args = {KRIG_VALUE(20)}});
    assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text,
                                                            .threads = 20,
                                                            .nargs = 1,
                                                            .args = {KRIG_VALUE(13)}}),
                     HD_SIM_FAILED);
    check_failure(&r, "assert-failed", "kernel k group 0 wavefront 0 lane 13 pc 2 (test.hasm:5)");
    assert_string_equal(r.err.message, "assertion failed: lane < limit");
    krig_close(&r);
}

/* An assertion, like a print, is for active lanes alone. */
static void test_print(void **state)
{
    static const char text[] =
        ".kernel k\n v_get_u32 v0, %lane\n v_sub_u32 v1, v0, 2\n v_cvt_f32_i32 v2, v1\n v_mul_f32 "
        "v2, v2, 0.5\n v_cvt_f64_f32 v[4:5], v2\n"
        " v_cmp_lt_u32 m0, v0, 2\n"
        " @m0 print \"i %d\", v1\n @m0 print \"u %u\", v1\n @m0 print \"x %x!\", v1\n @m0 print "
        "\"f %g\", v2\n"
        " @m0 print_b64 \"d %g\", v[4:5]\n v_cmp_gt_u32 m1, v0, 99\n @m1 print \"never %d\", v0\n "
        "@m1 assert m1, \"never\"\n"
        " s_end\n.endkernel\n";
    static const char want[] = "k group 0 item 0: i -2\nk group 0 item 1: i -1\n"
                               "k group 0 item 0: u 4294967294\nk group 0 item 1: u 4294967295\n"
                               "k group 0 item 0: x fffffffe!\nk group 0 item 1: x ffffffff!\n"
                               "k group 0 item 0: f -1\nk group 0 item 1: f -0.5\n"
                               "k group 0 item 0: d -1\nk group 0 item 1: d -0.5\n";
    struct krig r;

    (void)state;
    krig_open(&r, NULL);
    krig_run(&r, &(struct krig_launch){.text = text, .threads = 20});
    assert_string_equal(r.printed, want);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb04_lock_between_lanes),
        cmocka_unit_test(test_host_ends_a_loop),
        cmocka_unit_test(test_a_loop_that_reads_the_clock_ends),
        cmocka_unit_test(test_pb04_lock_by_lane),
        cmocka_unit_test(test_barrier_never_reached),
        cmocka_unit_test(test_wavefronts_that_never_issue),
        cmocka_unit_test(test_kernel_waits_for_a_later_one),
        cmocka_unit_test(test_long_loop_is_progress),
        cmocka_unit_test(test_waiting_for_a_long_loop_is_progress),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_assert),
        cmocka_unit_test(test_print),
    };

    return cmocka_run_group_tests_name("cases_failures", tests, NULL, NULL);
}
