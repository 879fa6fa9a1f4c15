/*
 * The programs of workloads/dag from their Lua source to their checks: at sizes that meet their
 * edges, under every scheduler and wavefront size, timed and for values only.
 */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct workload {
    const char *path, *arguments;
};

static const struct workload workloads[] = {
    {"workloads/dag/vec.lua", "n=1 block=1 blocks=1"},
    {"workloads/dag/vec.lua", "n=1000 block=33 blocks=3"},
    {"workloads/dag/vec.lua", "n=6000 block=256 blocks=5"},
    {"workloads/dag/matmul.lua", "n=1"},
    {"workloads/dag/matmul.lua", "n=16"},
    {"workloads/dag/matmul.lua", "n=37"},
    {"workloads/dag/reduce.lua", "n=1 block=1 blocks=1"},
    {"workloads/dag/reduce.lua", "n=5000 block=100 blocks=7"},
    {"workloads/dag/reduce.lua", "n=4000 block=256 blocks=9"},
    {"workloads/dag/pipeline.lua", "branches=1 n=100 steps=8"},
    {"workloads/dag/pipeline.lua", "branches=5 n=70 block=33 blocks=2 steps=64"},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static const char *const settings[] = {
    "host.scheduler=serial-sync wavefront_size=8 cu.wavefront_slots=64",
    "host.scheduler=serial-async wavefront_size=16",
    "host.scheduler=parallel-async wavefront_size=32",
    "host.scheduler=parallel-async wavefront_size=64 host.dependency=no-const",
    "host.scheduler=parallel-async wavefront_size=32 host.profile=grcuda host.new_stream=fifo "
    "host.parent_stream=same-as-parent",
    "host.scheduler=parallel-async wavefront_size=32 cu.scheduler=gto launch.placement=round-robin "
    "l1.enabled=off",
};

static void test_checks_pass_everywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WORKLOADS; i++) {
        for (unsigned k = 0; k < 2 * sizeof settings / sizeof *settings; k++) {
            struct hd_options o = sys_options("tiny", settings[k / 2]);
            struct sys s;

            o.timing = k % 2 == 0;
            workload_run(&s, &o, workloads[i].path, workloads[i].arguments);
            if (!workload_passed(&s))
                fail_msg("%s %s fails under %s", workloads[i].path, workloads[i].arguments,
                         settings[k / 2]);
            if (o.timing)
                sys_check_conservation(&s);
            sys_close(&s);
        }
    }
}

/* ---- checks find mistakes ---- */

/*
 * Each mistake in a kernel is found: by the workload's checks or, where it touches what it must
 * not, by the machine.
 */
static void test_checks_find_mistakes(void **state)
{
    static const struct workload_mistake mistakes[] = {
        {"vec", "vec", "n=1000 block=64 blocks=3", "v_mul_f32 v1, v1, v1", "v_add_f32 v1, v1, v1"},
        {"vec", "vec", "n=1000 block=64 blocks=3", "s_branch_any m0, again",
         "s_branch_all m0, again"},
        {"vec", "vec", "n=1000 block=64 blocks=3", "v_sub_f32 v2, v2, v3", "v_sub_f32 v2, v3, v2"},
        {"vec", "vec", "n=1000 block=64 blocks=3", "s_branch_nz s9, halve", "s_branch_z s9, halve"},
        {"matmul", "matmul", "n=37", "m_and m2, m2, m0", "m_mov m2, m0"},
        {"matmul", "matmul", "n=37", "s_add_u32 s11, s11, TILE", "s_add_u32 s11, s11, 8"},
        {"matmul", "matmul", "n=37", "v_mov_b32 v9, 0.0", "v_mov_b32 v9, 1.0"},
        {"reduce", "two_stage", "n=3000 block=100 blocks=7", "s_add_u32 s10, s9, 1",
         "s_add_u32 s10, s9, 0"},
        {"reduce", "two_stage", "n=3000 block=100 blocks=7", "s_mov_b32 s9, %threads_x",
         "s_mov_b32 s9, 99"},
        {"pipeline", "pipeline", "branches=3 n=70 steps=64", "v_mad_u32 v1, v1, 1664525, s10",
         "v_mad_u32 v1, v1, 1664524, s10"},
        {"pipeline", "pipeline", "branches=3 n=70 steps=64", "v_add_u32 v1, v1, v2",
         "v_or_b32 v1, v1, v2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        workload_find_mistake(&mistakes[i]);
}

/* ---- what the pipeline and VEC show ---- */

static uint64_t region_time(const char *path, const char *arguments, const char *setting,
                            double *overlapped)
{
    struct hd_options o = sys_options("p100", setting);
    uint64_t time, busy = 0, first = UINT64_MAX, last = 0;
    struct sys s;

    workload_run(&s, &o, path, arguments);
    assert_int_equal(s.regions.len, 1);
    for (size_t i = 0; i < s.kernels.len; i++) {
        const struct sim_kernel_record *k = &s.kernels.at[i].r;

        busy += k->end_ps - k->start_ps;
        first = k->start_ps < first ? k->start_ps : first;
        last = k->end_ps > last ? k->end_ps : last;
    }
    time = s.regions.at[0].host_end_ps - s.regions.at[0].host_start_ps;
    *overlapped = (double)busy / (double)(last - first);
    sys_close(&s);
    return time;
}

/*
 * Eight branches side by side: the kernels' times add up to a multiple of the time in which they
 * ran.
 */
static void test_pipeline_shares_space(void **state)
{
    double serial_overlap, parallel_overlap;
    uint64_t serial = region_time("workloads/dag/pipeline.lua", "", "host.scheduler=serial-sync",
                                  &serial_overlap);
    uint64_t parallel = region_time("workloads/dag/pipeline.lua", "",
                                    "host.scheduler=parallel-async", &parallel_overlap);

    (void)state;
    assert_true(serial_overlap <= 1);
    assert_true(parallel_overlap > 2);
    assert_true(serial > 3 * parallel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks_pass_everywhere),
        cmocka_unit_test(test_checks_find_mistakes),
        cmocka_unit_test(test_pipeline_shares_space),
    };

    return cmocka_run_group_tests_name("workloads", tests, NULL, NULL);
}
