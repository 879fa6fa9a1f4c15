/* HITS: its results on every device and wavefront size, its schedule, its other products, and mistakes in its kernels. */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define HITS "workloads/dag/hits.lua"

static const char *const shapes[] = {
    "n=3 block=4 blocks=1", "n=100 block=64 blocks=1", "n=400 block=36 blocks=3",
    "n=1030 block=256 blocks=2 rows=9", /* more than 1024: rows are sampled */
};
static const unsigned widths[] = {8, 16, 32, 64};

static void test_everywhere(void **state)
{
    (void)state;
    workload_check_everywhere(HITS, shapes, sizeof shapes / sizeof *shapes);
}

static void test_serial_and_other_policies(void **state)
{
    (void)state;
    workload_check(HITS, "p100", "host.scheduler=serial-sync", "n=500 block=32 blocks=4", true);
    workload_check(HITS, "p100", "host.dependency=no-const host.new_stream=reuse",
                   "n=500 block=32 blocks=4 reset=none", true);
    workload_check(HITS, "gtx960", "host.scheduler=serial-sync", "n=500 block=32 blocks=4", true);
}

/* Rows of 1 to 9 ones: less, just as many, and more than the lanes that share a row. */
static void test_other_products_and_degrees(void **state)
{
    static const char *const products[] = {"spmv3", "spmv2", "spmv"};
    static const unsigned degrees[] = {1, 2, 4, 9, 70};

    (void)state;
    for (unsigned w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (unsigned p = 0; p < sizeof products / sizeof *products; p++) {
            for (unsigned d = 0; d < sizeof degrees / sizeof *degrees; d++) {
                char settings[64], arguments[128];

                snprintf(settings, sizeof settings, "wavefront_size=%u cu.wavefront_slots=64",
                         widths[w]);
                snprintf(arguments, sizeof arguments, "n=%u block=64 blocks=2 product=%s degree=%u",
                         150 + d, products[p], degrees[d]);
                workload_check(HITS, "tiny", settings, arguments, w % 2);
            }
        }
    }
}

/*
 * GrCUDA (IPDPS'21, section IV): a step is two chains of three kernels, and each divide waits for
 * the product of the other chain, which reads what it writes. A host write waits for the chain, so
 * that the next step has no parents left, and new streams where streams are never used again.
 */
static void test_schedule(void **state)
{
    static const struct {
        const char *settings, *arguments;
        unsigned streams;
    } policies[] = {{"host.new_stream=always-new", "n=500 block=32 blocks=4", 10},
                    {"host.new_stream=always-new", "n=500 block=32 blocks=4 const=cpp", 10},
                    {"host.new_stream=reuse", "n=500 block=32 blocks=4", 2}};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct hd_options o = sys_options("p100", policies[i].settings);
        struct workload_schedule got;
        struct sys s;

        workload_run(&s, &o, HITS, policies[i].arguments);
        got = workload_schedule_of(&s);
        assert_int_equal(got.kernels, 30);
        assert_int_equal(got.edges, 5 * 6);
        assert_int_equal(got.waits, 5 * 2);
        assert_int_equal(got.streams, policies[i].streams);
        sys_close(&s);
    }
}

/*
 * By hand: two streams and no edges, for the host waits between the steps; as a graph: the step's last kernel resets what
 * the host writes, and the next step is behind it.
 */
static void test_by_hand(void **state)
{
    static const struct {
        const char *arguments;
        unsigned kernels, a_step;
    } variants[] = {{"n=3000 block=32 blocks=4 variant=events", 30, 6},
                    {"n=3000 block=32 blocks=4 variant=graph", 35, 7},
                    {"n=3000 block=32 blocks=4 variant=capture", 35, 7}};

    (void)state;
    for (unsigned v = 0; v < 3; v++) {
        struct hd_options o = sys_options("p100", "host.scheduler=serial-async");
        const unsigned a_step = variants[v].a_step;
        struct sys s;

        workload_run(&s, &o, HITS, variants[v].arguments);
        assert_true(workload_passed(&s));
        assert_int_equal(s.kernels.len, variants[v].kernels);
        assert_int_equal(workload_schedule_of(&s).streams, 2);
        for (unsigned step = 0; step < 5; step++) {
            const unsigned k = step * a_step;
            /* products 0 and 1, sums 2 and 3, divisions 4 and 5; then the next step, or the reset */
            const unsigned pairs[][2] = {
                {k, k + 2},     {k + 1, k + 3}, {k + 2, k + 4},
                {k + 3, k + 5}, {k, k + 5},     {k + 1, k + 4},
                {k + 4, k + 6}, {k + 5, k + 6}, {k + a_step - 1, k + a_step}};
            const bool last = step == 4;

            workload_require_order(&s, pairs, !last ? 9 : a_step == 7 ? 8 : 6);
        }
        sys_close(&s);
    }
}

/* Everything is written before each iteration: 72 bytes a row, and the page of each of four numbers. */
static void test_bytes_to_the_device(void **state)
{
    enum { N = 4096 * 8 };
    struct hd_options o = sys_options("p100", "");
    uint64_t bytes = 0, arrays = 0;
    struct sys s;

    (void)state;
    workload_run(&s, &o, HITS, "n=32768 block=256 blocks=4 rows=1");
    for (size_t i = 0; i < s.transfers.len; i++)
        if (s.transfers.at[i].r.to_device)
            bytes += s.transfers.at[i].r.bytes;
    /* ptr has N + 1 elements, so a page more; the numbers go in each of five steps. */
    arrays = 72 * (uint64_t)N + 2 * 4096;
    assert_int_equal(bytes, arrays + 5 * 4 * 4096);
    sys_close(&s);
}

/* A wavefront of 32 lanes takes 8 rows at once in 31 instructions; 20 find its place and that nothing is left. */
static void test_work_of_a_row(void **state)
{
    struct hd_options o = sys_options("p100", "");
    struct sys s;

    (void)state;
    workload_run(&s, &o, HITS, "n=800 block=64 blocks=1");
    for (unsigned step = 0; step < 5; step++) {
        const struct sim_kernel_record *product = &workload_kernel(&s, 6 * step)->r;

        assert_int_equal(product->counters.waves, 26);
        assert_int_equal(product->counters.wave_instr, 800 / 8 * 31 + 26 * 20);
    }
    sys_close(&s);
}

static void test_arguments_are_refused(void **state)
{
    static const char *const wrong[] = {"block=30", "n=2", "product=spmv4",
                                        "product=spmv2 block=36"};

    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hd_options o = sys_options("tiny", "");
        struct hd_error err;
        struct sys s;

        assert_int_equal(workload_try(&s, &o, HITS, wrong[i], &err), HD_BAD_INPUT);
        sys_close(&s);
    }
}

static void test_mistakes_are_found(void **state)
{
    static const struct workload_mistake mistakes[] = {
        {"hits", "hits", "n=300 block=32 blocks=2", "v_mov_b32 v10, 0.0", "v_mov_b32 v10, 1.0"},
        {"hits", "hits", "n=300 block=32 blocks=2", "v_shuffle_down_b32 v11, v10, 2",
         "v_shuffle_down_b32 v11, v10, 1"},
        {"hits", "hits", "n=300 block=32 blocks=2", "@m4 local_store_b32 [v5 + bounds], v8",
         "@m4 local_store_b32 [v3 + bounds], v8"},
        {"hits", "hits", "n=300 block=32 blocks=2", "global_load_b32 v12, [vals + v8*4]",
         "global_load_b32 v12, [cols + v8*4]"},
        {"hits", "hits", "n=300 block=32 blocks=2", "s_shr_b32 s14, s14, 2", "s_shr_b32 s14, s14, 1"},
        {"hits", "hits", "n=300 block=32 blocks=2", "@m0 v_add_f32 v1, v1, v2",
         "@m0 v_sub_f32 v1, v1, v2"},
        {"hits", "hits", "n=300 block=32 blocks=2 product=spmv",
         "@m1 global_load_b32 v4, [vec + v4*4]", "@m1 global_load_b32 v4, [vec + v2*4]"},
        {"hits", "hits", "n=300 block=64 blocks=2 product=spmv2", "fold 2\n", "\n"},
        {"hits", "hits", "n=300 block=32 blocks=2", "call div_f32, v3, v1, v2",
         "call div_f32, v3, v2, v1"},
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
        cmocka_unit_test(test_other_products_and_degrees),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_bytes_to_the_device),
        cmocka_unit_test(test_work_of_a_row),
        cmocka_unit_test(test_arguments_are_refused),
        cmocka_unit_test(test_mistakes_are_found),
    };

    return cmocka_run_group_tests_name("hits", tests, NULL, NULL);
}
