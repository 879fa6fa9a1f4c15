/* DL: its results on every device and wavefront size, its schedule, and mistakes in its kernels. */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DL "workloads/dag/dl.lua"

/* Grids smaller and larger than the images; 20 fills nothing of x2. */
static const char *const shapes[] = {
    "n=40 block=64 blocks=1 pixels=3 gap=true",
    "n=60 block=36 blocks=4 pixels=3 gap=true",
    "n=20 block=1 blocks=1 pixels=2 gap=true",
    "n=40 block=256 blocks=9 pixels=3 gap=true",
};

static void test_everywhere(void **state)
{
    (void)state;
    workload_check_everywhere(DL, shapes, sizeof shapes / sizeof *shapes);
}

static void test_serial_and_other_policies(void **state)
{
    (void)state;
    workload_check(DL, "p100", "host.scheduler=serial-sync", "n=60 blocks=4", true);
    workload_check(DL, "p100", "host.dependency=no-const host.new_stream=reuse",
                   "n=60 blocks=4 reset=none", true);
    workload_check(DL, "gtx960", "host.scheduler=serial-sync", "n=60 blocks=4", true);
}

/* GrCUDA (IPDPS'21, section V-B): two chains of three, joined by concat, which waits for the other stream. */
static void test_schedule(void **state)
{
    static const char *const constness[] = {"n=60 blocks=4 const=python",
                                            "n=60 blocks=4 const=cpp"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct hd_options o = sys_options("p100", "");
        struct workload_schedule got;
        struct sys s;

        workload_run(&s, &o, DL, constness[i]);
        got = workload_schedule_of(&s);
        assert_int_equal(got.kernels, 8);
        assert_int_equal(got.edges, 7);
        assert_int_equal(got.waits, 1);
        assert_int_equal(got.streams, 2);
        sys_close(&s);
    }
}

/* By hand and as graphs: the same order, and the branches beside each other. */
static void test_by_hand(void **state)
{
    static const char *const variants[] = {"n=100 blocks=4 variant=events",
                                           "n=100 blocks=4 variant=graph",
                                           "n=100 blocks=4 variant=capture"};
    static const unsigned pairs[][2] = {{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 6}, {5, 6}, {6, 7}};

    (void)state;
    for (unsigned v = 0; v < 3; v++) {
        struct hd_options o = sys_options("p100", "host.scheduler=serial-async");
        struct sys s;

        workload_run(&s, &o, DL, variants[v]);
        assert_true(workload_passed(&s));
        assert_int_equal(s.kernels.len, 8);
        assert_int_equal(workload_schedule_of(&s).streams, 2);
        workload_require_order(&s, pairs, 7);
        assert_true(workload_kernel(&s, 1)->r.start_ps < workload_kernel(&s, 0)->r.end_ps);
        sys_close(&s);
    }
}

static void test_images_are_whole_windows(void **state)
{
    struct hd_options o = sys_options("tiny", "");
    struct hd_error err;
    struct sys s;

    (void)state;
    assert_int_equal(workload_try(&s, &o, DL, "n=310", &err), HD_BAD_INPUT);
    sys_close(&s);
}

static void test_mistakes_are_found(void **state)
{
    static const struct workload_mistake mistakes[] = {
        /* conv2d: staging, places, the window, the comparison with 0 */
        {"dl", "dl", "n=60 blocks=4", "v_add_u32 v4, v4, s13", "v_add_u32 v4, v4, 4"},
        {"dl", "dl", "n=60 blocks=4", "v_mad_u32 v5, v4, stride, v3", "v_add_u32 v5, v4, v3"},
        {"dl", "dl", "n=60 blocks=4", "v_div_u32 v2, v2, stride ; first pixel of the result",
         "s_nop ; first pixel of the result"},
        {"dl", "dl", "n=60 blocks=4", "s_mul_u32 s18, m, l", "s_mul_u32 s18, m, k"},
        {"dl", "dl", "n=60 blocks=4", "v_max_f64 v[8:9], v[8:9], 0.0", "s_nop"},
        {"dl", "dl", "n=60 blocks=4", "s_shr_b32 \\t, k, 1", "s_mov_b32 \\t, 0"},
        /* mean_pooling */
        {"dl", "dl", "n=60 blocks=4", "v_add_f32 v11, v11, v14", "s_nop"},
        {"dl", "dl", "n=60 blocks=4", "s_mul_u32 s18, s16, m ; bytes of a row",
         "s_mov_b32 s18, s16 ; bytes of a row"},
        {"dl", "dl", "n=60 blocks=4", "call div_f32, v10, v11, v9", "call div_f32, v10, v9, v11"},
        {"dl", "dl", "n=60 blocks=1", "v_add_u32 v8, v8, s11", "v_add_u32 v8, v8, 99"},
        /* gap, dot_product, concat */
        {"dl", "dl", "n=60 blocks=4 gap=true", "@m2 local_atomic_add_f32 [s10], v7",
         "@m2 local_atomic_add_f32 [s10], v2"},
        {"dl", "dl", "n=60 blocks=4 gap=true", "v_cmp_eq_u32 m0, v1, 0", "v_cmp_lt_u32 m0, v1, 2"},
        {"dl", "dl", "n=60 blocks=4", "v_fma_f32 v1, v2, v3, v1", "v_add_f32 v1, v2, v1"},
        {"dl", "dl", "n=60 blocks=4", "global_load_b32 v2, [y + v0*4]",
         "global_load_b32 v2, [x + v0*4]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        workload_find_mistake(&mistakes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_serial_and_other_policies),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_images_are_whole_windows),
        cmocka_unit_test(test_mistakes_are_found),
    };

    return cmocka_run_group_tests_name("dl", tests, NULL, NULL);
}
