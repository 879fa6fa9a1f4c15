/* VEC: its results on every device and wavefront size, its schedules, and its kernel that the published one leaves out. */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define PATH "workloads/dag/vec.lua"

static void test_everywhere(void **state)
{
    static const char *const shapes[] = {"n=1 block=1 blocks=1", "n=1000 block=33 blocks=3",
                                         "n=4097 block=64 blocks=5"};

    (void)state;
    workload_check_everywhere(PATH, shapes, 3);
}

static void run_vec(struct sys *s, const char *settings, const char *arguments)
{
    struct hd_options o = sys_options("p100", settings);

    workload_run(s, &o, PATH, arguments);
    workload_require_passed(s, arguments);
    assert_int_equal(s->kernels.len, 3);
}

/* The i-th launch; rows come in the order of their ends. */
static const struct hd_kernel_row *launch(const struct sys *s, unsigned i)
{
    for (size_t k = 0; k < s->kernels.len; k++) {
        unsigned before = 0;

        for (size_t j = 0; j < s->kernels.len; j++)
            before += s->kernels.at[j].node < s->kernels.at[k].node;
        if (before == i)
            return &s->kernels.at[k];
    }
    fail_msg("there is no launch %u", i);
    return NULL;
}

/* GrCUDA (IPDPS'21), section IV: two squares on streams of their own, and the sum on the first's, which waits for the second. */
static void test_automatic_schedule(void **state)
{
    static const char *const signatures[] = {"n=5000 const=python", "n=5000 const=cpp"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct workload_schedule got;
        struct sys s;

        run_vec(&s, "", signatures[i]);
        got = workload_schedule_of(&s);
        assert_int_equal(got.edges, 2);
        assert_int_equal(got.streams, 2);
        assert_int_equal(got.waits, 1);
        sys_close(&s);
    }
}

static void test_schedule_by_hand(void **state)
{
    struct sys s;

    (void)state;
    run_vec(&s, "host.scheduler=serial-async host.prefetch=off", "n=50000 variant=events");
    assert_int_equal(s.edges.len, 0);
    assert_int_not_equal(launch(&s, 0)->stream, launch(&s, 1)->stream);
    assert_int_equal(launch(&s, 0)->stream, launch(&s, 2)->stream);
    assert_true(launch(&s, 1)->r.end_ps <= launch(&s, 2)->r.start_ps);
    sys_close(&s);
}

static uint64_t time_of_graph(const char *variant, bool build_in_region)
{
    char arguments[96];
    uint64_t time;
    struct sys s;

    snprintf(arguments, sizeof arguments, "n=50000 variant=%s build_in_region=%s", variant,
             build_in_region ? "true" : "false");
    run_vec(&s, "host.scheduler=serial-async host.prefetch=off", arguments);
    assert_true(launch(&s, 0)->r.end_ps <= launch(&s, 2)->r.start_ps);
    assert_true(launch(&s, 1)->r.end_ps <= launch(&s, 2)->r.start_ps);
    time = s.regions.at[0].host_end_ps - s.regions.at[0].host_start_ps;
    sys_close(&s);
    return time;
}

/* The sum comes after both squares. Building a graph costs the region time only if it is built there. */
static void test_graphs(void **state)
{
    (void)state;
    assert_true(time_of_graph("graph", false) < time_of_graph("graph", true));
    assert_true(time_of_graph("capture", false) < time_of_graph("capture", true));
}

/* Without the published reset the vectors stay on the device, and only z goes there again. */
static void test_resets(void **state)
{
    static const struct {
        const char *arguments;
        uint64_t bytes;
    } resets[] = {{"n=8192 reset=published", 2 * 8192 * 4 + 4096}, {"n=8192 reset=none", 4096}};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t bytes = 0;
        struct sys s;

        run_vec(&s, "", resets[i].arguments);
        for (size_t t = 0; t < s.transfers.len; t++)
            bytes += s.transfers.at[t].r.to_device ? s.transfers.at[t].r.bytes : 0;
        assert_int_equal(bytes, resets[i].bytes);
        sys_close(&s);
    }
}

static void test_arguments_are_refused(void **state)
{
    static const char *const wrong[] = {"variant=manual", "const=c", "reset=all"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct hd_options o = sys_options("tiny", "");
        struct hd_error err;
        struct sys s;

        assert_int_equal(workload_try(&s, &o, PATH, wrong[i], &err), HD_BAD_INPUT);
        sys_close(&s);
    }
}

/* The differences of both signs, against the processor's. */
static void test_diff(void **state)
{
    enum { MAX = 1000 };
    static const char *const widths[] = {"wavefront_size=8", "wavefront_size=32",
                                         "wavefront_size=64"};
    static const uint64_t counts[] = {1, 63, MAX};

    (void)state;
    for (unsigned i = 0; i < 9; i++) {
        struct hd_options o = sys_options("tiny", widths[i % 3]);
        const uint64_t n = counts[i / 3];
        hd_array *x, *y, *z;
        hd_kernel *diff;
        float *a, *b;
        const float *c;
        struct sys s;

        sys_open(&s, &o, "workloads/dag/vec.hasm");
        diff = sys_kernel(&s, "diff", "x: in f32[], y: in f32[], z: inout f32[], n: i32");
        x = sys_array(&s, T_F32, MAX, "x");
        y = sys_array(&s, T_F32, MAX, "y");
        z = sys_array(&s, T_F32, MAX, "z");
        a = sys_access(&s, x, 0, MAX, HD_OVERWRITE);
        b = sys_access(&s, y, 0, MAX, HD_OVERWRITE);
        for (unsigned k = 0; k < MAX; k++) {
            a[k] = 1 / (float)(k + 1);
            b[k] = (float)((k * 37) % MAX) * 0.001F;
        }
        sys_launch(&s, diff, 3, 50,
                   (struct hd_arg[]){SYS_ARRAY(x), SYS_ARRAY(y), SYS_ARRAY(z), SYS_INT((int64_t)n)},
                   4);
        c = sys_access(&s, z, 0, MAX, HD_READ);
        a = sys_access(&s, x, 0, MAX, HD_READ);
        b = sys_access(&s, y, 0, MAX, HD_READ);
        for (unsigned k = 0; k < MAX; k++)
            assert_true(c[k] == (k < n ? a[k] - b[k] : 0));
        sys_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_automatic_schedule),
        cmocka_unit_test(test_schedule_by_hand),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_arguments_are_refused),
        cmocka_unit_test(test_diff),
    };

    return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
