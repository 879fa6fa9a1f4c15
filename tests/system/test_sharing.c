/*
 * Independent kernels of a host program: they overlap where they fit together, and take turns where
 * they do not.
 */
#include "tests/system/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * A round takes four latencies of a shuffle, one of the scalar unit and one of a branch: on tiny 47
 * cycles. In a tenth of the kernel's time all calls for a second one are made.
 */
enum { WORDS = 64, ROUNDS = 6000 };

struct pair {
    struct sys s;
    const struct sim_kernel_record *first, *second;
};

/* Two launches of so many work-groups, on two arrays, or both on one. */
static void pair_run(struct pair *p, const char *settings, uint64_t blocks, uint64_t threads,
                     bool one_array)
{
    struct hd_options o = sys_options("tiny", settings);
    hd_kernel *step;
    hd_array *x, *y;

    sys_open(&p->s, &o, "tests/system/kernels.hasm");
    step = sys_kernel(&p->s, "step", "x: inout u32[], n: i32, rounds: i32");
    x = sys_array(&p->s, T_U32, WORDS, "x");
    y = one_array ? x : sys_array(&p->s, T_U32, WORDS, "y");
    sys_launch(&p->s, step, blocks, threads,
               (struct hd_arg[]){SYS_ARRAY(x), SYS_INT(WORDS), SYS_INT(ROUNDS)}, 3);
    sys_launch(&p->s, step, blocks, threads,
               (struct hd_arg[]){SYS_ARRAY(y), SYS_INT(WORDS), SYS_INT(ROUNDS)}, 3);
    sys_finish(&p->s);
    sys_check_conservation(&p->s);
    assert_int_equal(p->s.kernels.len, 2);
    p->first = &sys_kernel_of(&p->s, 0)->r;
    p->second = &sys_kernel_of(&p->s, 1)->r;
    assert_int_equal(((const uint32_t *)sys_access(&p->s, x, 0, WORDS, HD_READ))[WORDS - 1],
                     one_array ? 18 : 3);
}

static uint64_t length(const struct sim_kernel_record *k)
{
    return k->end_ps - k->start_ps;
}

static bool about(uint64_t got, uint64_t want)
{
    return got >= want - want / 100 && got <= want + want / 100;
}

static void test_kernels_that_fit_overlap(void **state)
{
    struct pair alone, both;

    (void)state;
    pair_run(&alone, "host.scheduler=serial-sync", 2, 32, false);
    pair_run(&both, "host.scheduler=parallel-async", 2, 32, false);
    assert_true(alone.first->end_ps <= alone.second->start_ps);
    assert_true(both.second->start_ps < both.first->start_ps + length(both.first) / 10);
    assert_true(about(length(both.first), length(alone.first)));
    assert_true(about(length(both.second), length(alone.first)));
    sys_close(&alone.s);
    sys_close(&both.s);
}

/*
 * Eight work-groups of 256 fill tiny's 4 compute units of 16 wavefronts: the second kernel starts
 * as the first one's work-groups end.
 */
static void test_kernels_that_do_not_fit_take_turns(void **state)
{
    struct pair alone, both, more;

    (void)state;
    pair_run(&alone, "host.scheduler=serial-sync", 8, 256, false);
    pair_run(&both, "host.scheduler=parallel-async", 8, 256, false);
    assert_true(both.second->start_ps >= both.first->start_ps + length(alone.first) * 99 / 100);
    assert_true(about(both.second->end_ps - both.first->start_ps, 2 * length(alone.first)));
    /* With room for twice as much they fit again. */
    pair_run(&more, "host.scheduler=parallel-async compute_units=8", 8, 256, false);
    assert_true(more.second->end_ps - more.first->start_ps < length(alone.first) * 11 / 10);
    sys_close(&alone.s);
    sys_close(&both.s);
    sys_close(&more.s);
}

static void test_what_keeps_kernels_apart(void **state)
{
    static const struct {
        const char *settings;
        bool one_array;
    } rows[] = {
        {"host.scheduler=parallel-async sim.concurrent_kernels=off", false},
        {"host.scheduler=parallel-async host.max_streams=1", false},
        {"host.scheduler=serial-async", false},
        {"host.scheduler=parallel-async", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pair p;

        pair_run(&p, rows[i].settings, 2, 32, rows[i].one_array);
        assert_true(p.first->end_ps <= p.second->start_ps);
        sys_close(&p.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_that_fit_overlap),
        cmocka_unit_test(test_kernels_that_do_not_fit_take_turns),
        cmocka_unit_test(test_what_keeps_kernels_apart),
    };

    return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
