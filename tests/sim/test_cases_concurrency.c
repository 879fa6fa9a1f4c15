/*
 * Kernels of several queues on one device: PB-31, and what each setting of the dispatcher changes.
 */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A kernel bound by latency: its work-groups do not slow each other down. */
static const char waiting[] = ".kernel waiting\n s_mov_b32 s8, 2000\nagain:\n s_sub_u32 s8, s8, "
                              "1\n s_branch_nz s8, again\n s_end\n.endkernel\n";

enum { KERNELS = 4 };

/*
 * Cycles from the first start to the last end of n kernels on as many queues, each of so many
 * work-groups.
 */
static uint64_t makespan(struct krig *r, unsigned n, unsigned groups)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (unsigned i = 0; i < n; i++) {
        uint32_t queue;

        assert_int_equal(sim_queue_new(r->m, &queue, &r->err), HD_OK);
        krig_submit(r, &(struct krig_launch){
                           .text = waiting, .groups = groups, .threads = 32, .queue = queue});
    }
    assert_int_equal(sim_wait(r->m, 0, &r->err), HD_OK);
    for (unsigned i = 0; i < r->nkernels; i++) {
        const struct sim_kernel_record *k = &r->kernels[i];

        first = k->start_ps < first ? k->start_ps : first;
        last = k->end_ps > last ? k->end_ps : last;
    }
    return (last - first) / 1000;
}

struct share_case {
    const char *key, *value;
    const char *units, *slots; /* compute units, work-groups that each holds */
    unsigned groups;           /* of each of the four kernels */
    unsigned times;            /* the time of one work-group */
};

static void test_pb31_kernels_share_the_device(void **state)
{
    static const struct share_case rows[] = {
        {"name", "x", "4", "2", 1, 1}, /* a compute unit each */
        {"name", "x", "4", "2", 2, 1}, /* eight work-groups fill eight places */
        {"name", "x", "4", "2", 4, 2}, /* sixteen take two turns */
        {"name", "x", "4", "2", 8, 4}, /* each kernel fills the device */
        {"name", "x", "1", "1", 1, 4}, /* room for one work-group */
        {"name", "x", "1", "4", 1, 1},
        {"sim.concurrent_kernels", "off", "4", "2", 1, 4},
        {"sim.concurrent_kernels", "off", "4", "2", 8, 4},
        {"launch.resident_kernels", "1", "4", "2", 1, 4},
        {"launch.resident_kernels", "2", "4", "2", 1, 2},
        {"launch.placement", "round-robin", "4", "2", 4, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct share_case *c = &rows[i];
        struct krig r;
        uint64_t one, all;

        krig_open(&r, c->key, c->value, "compute_units", c->units, "cu.workgroup_slots", c->slots,
                  NULL);
        one = krig_cycles(krig_run(&r, &(struct krig_launch){.text = waiting, .threads = 32}));
        r.nkernels = 0;
        all = makespan(&r, KERNELS, c->groups);
        /*
         * A place is taken again in the cycle after it is free; 32 work-groups are placed in as
         * many cycles.
         */
        if (all < c->times * one || all > c->times * one + 64)
            fail_msg("row %zu: %llu cycles, not %u times %llu", i, (unsigned long long)all,
                     c->times, (unsigned long long)one);
        krig_close(&r);
    }
}

/* Kernels of one queue take turns, however much room there is, and each pays for its launch. */
static void test_one_queue_is_in_order(void **state)
{
    struct krig r;
    uint64_t one;

    (void)state;
    krig_open(&r, "compute_units", "4", "launch.latency_ns", "700", NULL);
    one = krig_cycles(krig_run(&r, &(struct krig_launch){.text = waiting, .threads = 32}));
    r.nkernels = 0;
    for (unsigned i = 0; i < KERNELS; i++)
        krig_submit(&r, &(struct krig_launch){.text = waiting, .threads = 32});
    assert_int_equal(sim_wait(r.m, 0, &r.err), HD_OK);
    for (unsigned i = 1; i < KERNELS; i++) {
        assert_int_equal(r.kernels[i].start_ps - r.kernels[i - 1].end_ps, 700 * 1000);
        assert_int_equal(krig_cycles(&r.kernels[i]), one);
    }
    krig_close(&r);
}

/*
 * A long kernel is in the way of a short one that comes later, in order; round robin lets that in
 * as soon as a place is free.
 */
static void test_placement_policies(void **state)
{
    static const char *const policies[] = {"in-order", "round-robin"};
    uint64_t short_end[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct krig r;
        uint32_t queue;
        uint64_t one;

        krig_open(&r, "launch.placement", policies[i], "cu.workgroup_slots", "2", NULL);
        one = krig_cycles(krig_run(&r, &(struct krig_launch){.text = waiting, .threads = 32}));
        r.nkernels = 0;
        assert_int_equal(sim_queue_new(r.m, &queue, &r.err), HD_OK);
        krig_submit(&r, &(struct krig_launch){.text = waiting, .groups = 10, .threads = 32});
        krig_submit(
            &r, &(struct krig_launch){.text = waiting, .groups = 1, .threads = 32, .queue = queue});
        assert_int_equal(sim_wait(r.m, 0, &r.err), HD_OK);
        assert_int_equal(r.nkernels, 2);
        for (unsigned k = 0; k < 2; k++)
            if (r.kernels[k].queue == queue)
                short_end[i] = (r.kernels[k].end_ps - r.kernels[0].queued_ps) / one / 1000;
        krig_close(&r);
    }
    assert_int_equal(short_end[0], 6); /* behind five rounds of two */
    assert_in_range(short_end[1], 1, 2);
}

/* The same work-groups on more and less room: the time is the number of turns. */
static void test_turns(void **state)
{
    (void)state;
    for (unsigned groups = 1; groups <= 40; groups += 3) {
        struct krig r;
        uint64_t one, all;

        krig_open(&r, "compute_units", "3", "cu.workgroup_slots", "2", NULL);
        one = krig_cycles(krig_run(&r, &(struct krig_launch){.text = waiting, .threads = 32}));
        all = krig_cycles(
            krig_run(&r, &(struct krig_launch){.text = waiting, .groups = groups, .threads = 32}));
        assert_in_range(all, (groups + 5) / 6 * one, (groups + 5) / 6 * (one + 8));
        krig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb31_kernels_share_the_device),
        cmocka_unit_test(test_one_queue_is_in_order),
        cmocka_unit_test(test_placement_policies),
        cmocka_unit_test(test_turns),
    };

    return cmocka_run_group_tests_name("cases_concurrency", tests, NULL, NULL);
}
