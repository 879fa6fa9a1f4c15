/*
 * The time of VEC from its parts: calls of the host, transfers, launches, kernels. Kernels' own
 * times are taken from the run, where they must be the same in every schedule, since nothing runs
 * beside them here; all else follows from the configuration.
 */
#include "host/rt/profile.h"
#include "tests/system/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct vec {
    struct sys s;
    uint64_t n, blocks, block;
    hd_kernel *square, *reduce;
    hd_array *x, *y, *x1, *y1, *z;
    /* Of the last iteration, in ps. */
    uint64_t time, square_x, square_y, sum;
};

static void vec_open(struct vec *v, const char *settings, uint64_t n)
{
    struct hd_options o = sys_options("tiny", settings);

    *v = (struct vec){.n = n, .blocks = 32, .block = 128};
    sys_open(&v->s, &o, "workloads/dag/vec.hasm");
    v->square = sys_kernel(&v->s, "square", "x: inout f32[], y: inout f32[], n: i32");
    v->reduce = sys_kernel(&v->s, "reduce", "x: in f32[], y: in f32[], z: inout f32[], n: i32");
    v->x = sys_array(&v->s, T_F32, n, "x");
    v->y = sys_array(&v->s, T_F32, n, "y");
    v->x1 = sys_array(&v->s, T_F32, n, "x1");
    v->y1 = sys_array(&v->s, T_F32, n, "y1");
    v->z = sys_array(&v->s, T_F32, 1, "z");
}

static void reset(struct vec *v)
{
    struct hd_error err;
    float *x, *y;

    assert_int_equal(hd_reset_begin(v->s.rt, &err), HD_OK);
    x = sys_access(&v->s, v->x, 0, v->n, HD_OVERWRITE);
    for (uint64_t i = 0; i < v->n; i++)
        x[i] = (float)(i % 8);
    y = sys_access(&v->s, v->y, 0, v->n, HD_OVERWRITE);
    for (uint64_t i = 0; i < v->n; i++)
        y[i] = 1;
    *(float *)sys_access(&v->s, v->z, 0, 1, HD_OVERWRITE) = 0;
    assert_int_equal(hd_reset_end(v->s.rt, &err), HD_OK);
}

static void iterate(struct vec *v, bool warmup)
{
    struct hd_arg n = SYS_INT((int64_t)v->n);
    struct hd_arg first[] = {SYS_ARRAY(v->x), SYS_ARRAY(v->x1), n};
    struct hd_arg second[] = {SYS_ARRAY(v->y), SYS_ARRAY(v->y1), n};
    struct hd_arg third[] = {SYS_ARRAY(v->x1), SYS_ARRAY(v->y1), SYS_ARRAY(v->z), n};
    struct hd_error err;

    reset(v);
    assert_int_equal(hd_region_begin(v->s.rt, "main", 0, warmup, &err), HD_OK);
    sys_launch(&v->s, v->square, v->blocks, v->block, first, 3);
    sys_launch(&v->s, v->square, v->blocks, v->block, second, 3);
    sys_launch(&v->s, v->reduce, v->blocks, v->block, third, 4);
    /* 0 + 1 + 4 + ... + 49 of each eight, less 8: small integers, so the sum is exact. */
    assert_true(*(const float *)sys_access(&v->s, v->z, 0, 1, HD_READ) ==
                (float)(v->n / 8 * (140 - 8)));
    assert_int_equal(hd_region_end(v->s.rt, &err), HD_OK);
}

/* One warm-up and one timed iteration, with what the record says of them. */
static void vec_run(struct vec *v)
{
    const struct sim_config *c = &hd_runtime_options(v->s.rt)->gpu;
    uint64_t to_device = 0, to_host = 0;

    iterate(v, true);
    assert_int_equal(v->s.kernels.len + v->s.transfers.len + v->s.regions.len, 0);
    iterate(v, false);
    sys_check_conservation(&v->s);
    assert_int_equal(v->s.kernels.len, 3);
    assert_int_equal(v->s.regions.len, 1);
    v->time = v->s.regions.at[0].host_end_ps - v->s.regions.at[0].host_start_ps;
    v->square_x = sys_time(sys_kernel_of(&v->s, 0));
    v->square_y = sys_time(sys_kernel_of(&v->s, 1));
    v->sum = sys_time(sys_kernel_of(&v->s, 2));
    for (size_t i = 0; i < v->s.transfers.len; i++)
        *(v->s.transfers.at[i].r.to_device ? &to_device : &to_host) += v->s.transfers.at[i].r.bytes;
    /* x, y and z were written by the host; z alone is read by it. */
    assert_int_equal(to_device, 2 * sys_pages(c, 4 * v->n) + sys_pages(c, 4));
    assert_int_equal(to_host, sys_pages(c, 4));
}

static uint64_t ns(uint64_t n)
{
    return n * 1000;
}

/* The move of an array of the host's to the device. */
static uint64_t move_in(const struct vec *v, uint64_t elements)
{
    const struct sim_config *c = &hd_runtime_options(v->s.rt)->gpu;

    return sys_transfer_time(c, true, sys_pages(c, 4 * elements));
}

/* The host reads z: a fault, and a page back. */
static uint64_t read_z(const struct vec *v)
{
    const struct sim_config *c = &hd_runtime_options(v->s.rt)->gpu;

    return ns(c->um_host_fault) + sys_transfer_time(c, false, sys_pages(c, 4));
}

static void test_serial_sync(void **state)
{
    const struct rt_profile *p = &profile_native;

    (void)state;
    for (uint64_t n = 8; n <= 80000; n *= 100) {
        struct vec v;
        uint64_t launch;

        vec_open(&v, "host.scheduler=serial-sync", n);
        vec_run(&v);
        launch = ns(hd_runtime_options(v.s.rt)->gpu.launch_latency);
        assert_int_equal(v.time, 3 * (ns(p->launch) + launch + ns(p->device_sync)) +
                                     2 * move_in(&v, n) + move_in(&v, 1) + v.square_x + v.square_y +
                                     v.sum + ns(p->access) + read_z(&v));
        sys_close(&v.s);
    }
}

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * Without waits the calls of the host run ahead of the device, which takes its commands one after
 * the other.
 */
static void test_serial_async(void **state)
{
    const struct rt_profile *p = &profile_native;
    struct vec v;
    uint64_t launch;

    (void)state;
    vec_open(&v, "host.scheduler=serial-async", 80000);
    vec_run(&v);
    launch = ns(hd_runtime_options(v.s.rt)->gpu.launch_latency);
    /* All that the host wrote moves ahead of the first launch, for one stream sees all arrays. */
    assert_int_equal(v.time, ns(p->launch) + 2 * move_in(&v, v.n) + move_in(&v, 1) + 3 * launch +
                                 v.square_x + v.square_y + v.sum + ns(p->stream_sync) + read_z(&v));
    sys_close(&v.s);
}

/* Each square waits for its own vector alone; the sum waits for both, and moves z then. */
static void test_parallel_async(void **state)
{
    const struct rt_profile *p = &profile_native;
    const uint64_t sizes[] = {800, 80000, 240000};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct vec v, serial;
        uint64_t launch, first, second, third, x_in, y_in, x_done, y_done, read;

        vec_open(&serial, "host.scheduler=serial-sync", sizes[i]);
        vec_run(&serial);
        vec_open(&v, "host.scheduler=parallel-async", sizes[i]);
        vec_run(&v);
        launch = ns(hd_runtime_options(v.s.rt)->gpu.launch_latency);
        /*
         * When the host has made the three calls. In the warm-up x, x1 and y, y1 were attached to
         * other streams.
         */
        first = ns(p->dag + p->stream_new + 2 * p->attach + p->launch);
        second = first + ns(p->event_record + p->dag + p->stream_new + 2 * p->attach + p->launch);
        third = second + ns(p->event_record + p->dag + 2 * p->attach + p->event_wait + p->launch);
        read = third + ns(p->event_record + p->access + p->dag);
        x_in = first + move_in(&v, v.n);
        y_in = max2(second, x_in) + move_in(&v, v.n);
        x_done = x_in + launch + v.square_x;
        y_done = y_in + launch + v.square_y;
        assert_int_equal(v.time, max2(read, max2(third, max2(x_done, y_done)) + move_in(&v, 1) +
                                                launch + v.sum) +
                                     ns(p->stream_sync) + read_z(&v));
        assert_int_equal(v.square_y, serial.square_y);
        assert_int_equal(v.sum, serial.sum);
        if (i > 0) /* below that the new streams cost more than the overlap gains */
            assert_true(v.time < serial.time);
        sys_close(&v.s);
        sys_close(&serial.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial_sync),
        cmocka_unit_test(test_serial_async),
        cmocka_unit_test(test_parallel_async),
    };

    return cmocka_run_group_tests_name("vec_times", tests, NULL, NULL);
}
