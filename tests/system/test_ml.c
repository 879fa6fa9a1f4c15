/* ML: its results on every device and wavefront size, its schedules, and mistakes in its kernels. */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ML "workloads/dag/ml.lua"

static const char *const shapes[] = {
    "n=16 block=5 blocks=3 samples=2 features=13",
    "n=17 block=32 blocks=2 samples=3 features=40 classes=7",
    "n=34 block=256 blocks=1 samples=3 features=33 classes=12",
};
static void test_everywhere(void **state)
{
    (void)state;
    workload_check_everywhere(ML, shapes, sizeof shapes / sizeof *shapes);
}

static void test_serial_and_other_policies(void **state)
{
    (void)state;
    workload_check(ML, "p100", "host.scheduler=serial-sync", "n=20 samples=9", true);
    workload_check(ML, "gtx960", "host.scheduler=serial-sync", "n=20 samples=9", true);
    workload_check(ML, "p100", "host.dependency=no-const host.new_stream=fifo",
                   "n=20 samples=9 reset=none", true);
}

/*
 * GrCUDA (IPDPS'21): two chains that read x, and the argmax behind both. If arguments are not known
 * to be constant the second chain waits for the first kernel of the other.
 */
static void test_schedules(void **state)
{
    static const struct {
        const char *settings;
        struct workload_schedule want;
    } cases[] = {
        {"", {10, 2, 9, 1}},
        {"host.dependency=no-const", {10, 2, 10, 2}},
        {"host.dependency=no-const host.parent_stream=same-as-parent", {10, 1, 10, 0}},
    };

    (void)state;
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct hd_options o = sys_options("p100", cases[i / 2].settings);
        struct workload_schedule got;
        struct sys s;

        workload_run(&s, &o, ML,
                     i % 2 ? "n=16 blocks=2 const=cpp verify=false" : "n=16 blocks=2 verify=false");
        got = workload_schedule_of(&s);
        assert_int_equal(got.kernels, cases[i / 2].want.kernels);
        assert_int_equal(got.streams, cases[i / 2].want.streams);
        assert_int_equal(got.edges, cases[i / 2].want.edges);
        assert_int_equal(got.waits, cases[i / 2].want.waits);
        sys_close(&s);
    }
}

/* By hand and as graphs: the same order, and the branches beside each other. */
static void test_by_hand(void **state)
{
    static const char *const variants[] = {"n=64 blocks=2 verify=false variant=events",
                                           "n=64 blocks=2 verify=false variant=graph",
                                           "n=64 blocks=2 verify=false variant=capture"};
    static const unsigned pairs[][2] = {{0, 2}, {1, 3}, {3, 4}, {2, 5}, {4, 6},
                                        {6, 7}, {5, 8}, {7, 9}, {8, 9}};

    (void)state;
    for (unsigned v = 0; v < 3; v++) {
        struct hd_options o = sys_options("p100", "host.scheduler=serial-async");
        struct sys s;

        workload_run(&s, &o, ML, variants[v]);
        workload_require_passed(&s, variants[v]);
        assert_int_equal(s.kernels.len, 10);
        assert_int_equal(workload_schedule_of(&s).streams, 2);
        workload_require_order(&s, pairs, sizeof pairs / sizeof *pairs);
        assert_true(workload_kernel(&s, 1)->r.start_ps < workload_kernel(&s, 0)->r.end_ps);
        sys_close(&s);
    }
}

/* Of r1 and r2, which the host writes, 80 bytes a row go to the device, and of r the page whose element it reads. */
static void test_bytes_to_the_device(void **state)
{
    enum { N = 1024 * 4 };
    struct hd_options o = sys_options("p100", "");
    uint64_t bytes = 0;
    struct sys s;

    (void)state;
    workload_run(&s, &o, ML, "n=4096 features=8 blocks=4 verify=false");
    for (size_t i = 0; i < s.transfers.len; i++)
        if (s.transfers.at[i].r.to_device)
            bytes += s.transfers.at[i].r.bytes;
    assert_int_equal(bytes, 80 * (uint64_t)N + 4096);
    sys_close(&s);
}

static void test_mistakes_are_found(void **state)
{
    static const char arguments[] = "n=34 block=16 blocks=2 samples=20 features=30";
    static const struct {
        const char *old, *new;
    } mistakes[] = {
        {"@m0 v_fma_f32 v3, v4, v5, v3", "@m0 v_fma_f32 v3, v4, v4, v3"},
        {"@m0 global_load_b32 v3, [s[28:29] + v2*4]", "@m0 v_mov_b32 v3, 9.0"},
        {"s_add_u64 s[26:27], s[26:27], 32", "s_add_u64 s[26:27], s[26:27], 28"},
        {"@m0 v_max_f32 v2, v2, v7", "v_mov_b32 v2, 0.0"},
        {"@m0 v_sub_f32 \\v, \\v, v3", "@m0 v_add_f32 \\v, \\v, v3"},
        {"v_fma_f32 v4, v4, EXP_LN_2, v3", "v_mul_f32 v4, v4, EXP_LN_2"},
        {"@m0 v_add_f32 v3, v3, v4\n", "@m0 v_sub_f32 v3, v3, v4\n"},
        {"@m0 v_fma_f32 v4, v5, v2, v4\n", ""},
        {"@m0 v_sqrt_f32 v3, v4", "@m0 v_mov_b32 v3, v4"},
        {"@m0 v_sub_f32 v4, v4, v2", "@m0 v_sub_f32 v4, v4, v3"},
        {"sum_exp v7", "sum_exp v6"},
        {"@m0 v_cmp_gt_f32 vcc, \\v, v2", "@m0 v_cmp_lt_f32 vcc, \\v, v2"},
        {"better v8, v9", "better v8, v8"},
        {"@m1 v_fma_f32 v3, v4, v4, v3", "@m1 v_add_f32 v3, v4, v3"},
        {"v_cmp_eq_u32 m1, v10, 0\n    m_and m1, m1, m0", "m_mov m1, m0"},
        {"@m1 v_sub_f32 v4, v4, v2", "@m1 v_add_f32 v4, v4, v2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct workload_mistake m = {"ml", "ml", arguments, mistakes[i].old, mistakes[i].new};

        workload_find_mistake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_serial_and_other_policies),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_bytes_to_the_device),
        cmocka_unit_test(test_mistakes_are_found),
    };

    return cmocka_run_group_tests_name("ml", tests, NULL, NULL);
}
