/* IMG: its results on every device and wavefront size, its schedules, and mistakes in its kernels. */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define IMG "workloads/dag/img.lua"

/* Images smaller than a tile, than a window, not a multiple of either, and larger than the grid. */
static const char *const shapes[] = {
    "n=2 block=1 blocks=1 samples=2",
    "n=20 block=100 blocks=3 samples=20",
    "n=41 block=256 blocks=4 samples=20",
};
static void test_everywhere(void **state)
{
    (void)state;
    workload_check_everywhere(IMG, shapes, sizeof shapes / sizeof *shapes);
}

static void test_serial_and_other_policies(void **state)
{
    (void)state;
    workload_check(IMG, "p100", "host.scheduler=serial-sync", "n=30 blocks=4", true);
    workload_check(IMG, "gtx960", "host.scheduler=serial-sync", "n=30 blocks=4", true);
    workload_check(IMG, "p100", "host.dependency=no-const host.new_stream=fifo", "n=30 reset=none",
                   true);
}

/*
 * GrCUDA (IPDPS'21), Figure 6. In the Python version unsharpen may write the image, so it waits for
 * the two blurs that are not its own; the two empty launches add an edge between them and one to
 * the last combine, and a stream.
 */
static void test_schedules(void **state)
{
    static const struct {
        const char *arguments;
        struct workload_schedule want;
    } cases[] = {
        {"n=16 blocks=2 const=python empty_resets=false verify=false", {11, 4, 13, 6}},
        {"n=16 blocks=2 const=cpp empty_resets=false verify=false", {11, 4, 11, 4}},
        {"n=16 blocks=2 const=python verify=false", {13, 5, 15, 7}},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hd_options o = sys_options("p100", "");
        struct workload_schedule got;
        struct sys s;

        workload_run(&s, &o, IMG, cases[i].arguments);
        got = workload_schedule_of(&s);
        assert_int_equal(got.kernels, cases[i].want.kernels);
        assert_int_equal(got.streams, cases[i].want.streams);
        assert_int_equal(got.edges, cases[i].want.edges);
        assert_int_equal(got.waits, cases[i].want.waits);
        sys_close(&s);
    }
}

/* Streams of the same calls under other policies, as GrCUDA's own tests of the scheduler have them. */
static void test_streams_of_other_policies(void **state)
{
    static const struct {
        const char *settings;
        unsigned streams;
    } cases[] = {
        {"host.dependency=no-const host.parent_stream=disjoint", 3},
        {"host.dependency=with-const host.parent_stream=same-as-parent", 3},
        {"host.dependency=no-const host.parent_stream=same-as-parent", 1},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hd_options o = sys_options("p100", cases[i].settings);
        struct sys s;

        workload_run(&s, &o, IMG, "n=16 blocks=2 const=cpp empty_resets=false verify=false");
        assert_int_equal(workload_schedule_of(&s).streams, cases[i].streams);
        sys_close(&s);
    }
}

/* By hand and as graphs: Figure 6 without more, a stream for each blur, and one each for maximum and minimum; blurs beside each other. */
static void test_by_hand(void **state)
{
    static const char *const variants[] = {"n=64 blocks=4 verify=false variant=events",
                                           "n=64 blocks=4 verify=false variant=graph",
                                           "n=64 blocks=4 verify=false variant=capture"};
    static const unsigned pairs[][2] = {{0, 3}, {1, 4}, {4, 5}, {4, 6},  {5, 7}, {6, 7},
                                        {2, 8}, {7, 9}, {8, 9}, {3, 10}, {9, 10}};

    (void)state;
    for (unsigned v = 0; v < 3; v++) {
        struct hd_options o = sys_options("p100", "host.scheduler=serial-async");
        struct sys s;

        workload_run(&s, &o, IMG, variants[v]);
        workload_require_passed(&s, variants[v]);
        assert_int_equal(s.kernels.len, 11);
        if (v == 0)
            assert_int_equal(workload_schedule_of(&s).streams, 5);
        workload_require_order(&s, pairs, sizeof pairs / sizeof *pairs);
        assert_true(workload_kernel(&s, 1)->r.start_ps < workload_kernel(&s, 0)->r.end_ps);
        sys_close(&s);
    }
}

/* Once the image is there nothing moves but the two extremes, which the host writes. */
static void test_bytes_to_the_device(void **state)
{
    struct hd_options o = sys_options("p100", "");
    uint64_t bytes = 0;
    struct sys s;

    (void)state;
    workload_run(&s, &o, IMG, "n=100 verify=false");
    for (size_t i = 0; i < s.transfers.len; i++)
        if (s.transfers.at[i].r.to_device)
            bytes += s.transfers.at[i].r.bytes;
    assert_int_equal(bytes, 2 * 4096);
    sys_close(&s);
}

static void test_mistakes_are_found(void **state)
{
    static const char arguments[] = "n=21 block=64 blocks=2 samples=60";
    static const struct {
        const char *old, *new;
    } mistakes[] = {
        {"v_cmp_lt_u32 m2, v6, rows\n    m_and", "v_cmp_le_u32 m2, v6, rows\n    m_and"},
        {"tap 2, m4, v12, v13", "tap 1, m4, v12, v13"},
        {"v_add_u32 v7, v7, 1\n", "v_add_u32 v7, v7, 2\n"},
        {"s_add_u32 s22, s22, 16", "s_add_u32 s22, s22, 12"},
        {"@m1 local_store_b32 [v2*4], v3", "@m1 local_store_b32 [v2*4], v2"},
        {"table_entry sobel_x + 4, -2", "table_entry sobel_x + 4, -1"},
        {"@m10 global_load_b32 v12, [s[12:13] + v3*4 + 4]",
         "@m10 global_load_b32 v12, [s[12:13] + v3*4]"},
        {"m_and m11, m4, m3", "m_and m11, m1, m3"},
        {"@m1 v_sqrt_f32 v4, v4\n", ""},
        {"@m0 \\op v1, v1, v2", "@m0 v_max_f32 v1, v1, v2"},
        {"@vcc \\compare vcc, v1, v2\n    s_branch_any", "s_branch_any"},
        {"@m0 global_load_b32 v2, [out]", "v_mov_b32 v2, 0.0"},
        {"v_mul_f32 v2, v2, 5.0", "v_mul_f32 v2, v2, 4.0"},
        {"v_select_b32 v4, 1.0, v4, vcc\n", ""},
        {"s_add_f32 s21, amount, 1.0", "s_add_f32 s21, amount, 1.01"},
        {"v_select_b32 v1, 0.0, v1, vcc\n", ""},
        {"@m0 v_sub_f32 v4, 1.0, v1", "@m0 v_sub_f32 v4, 1.0, v2"},
        {".param n i32\n    v_mov_b32 v1, 0.0", ".param n i32\n    v_mov_b32 v1, 0.1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct workload_mistake m = {"img", "img", arguments, mistakes[i].old,
                                           mistakes[i].new};

        workload_find_mistake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_serial_and_other_policies),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_streams_of_other_policies),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_bytes_to_the_device),
        cmocka_unit_test(test_mistakes_are_found),
    };

    return cmocka_run_group_tests_name("img", tests, NULL, NULL);
}
