/* When and where the dispatcher places work-groups: closed forms of its rate, of turns, of the limit on resident kernels, and of
 * each placement policy. */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { STARTS = 512 };

/* A work-group as the probe saw it; each has one wavefront here. */
struct seen {
    uint64_t ticket, group, start, end; /* core cycles */
    uint32_t cu;
};

struct log {
    struct seen at[STARTS]; /* in order of their start */
    unsigned n;
};

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct log *log = user;

    if (e->kind == HD_PROBE_WAVE_START) {
        assert_true(log->n < STARTS);
        log->at[log->n++] = (struct seen){e->ticket, e->group, e->time_ps / 1000, 0, e->cu};
        return;
    }
    for (unsigned i = 0; i < log->n; i++)
        if (log->at[i].ticket == e->ticket && log->at[i].group == e->group)
            log->at[i].end = e->time_ps / 1000;
}

static void watch(struct krig *r, struct log *log)
{
    log->n = 0;
    sim_set_probe(r->m, &(struct hd_probe){.user = log,
                                           .fn = on_event,
                                           .wants = HD_PROBE_WANT(HD_PROBE_WAVE_START) |
                                                    HD_PROBE_WANT(HD_PROBE_WAVE_END)});
}

/* A work-group that waits for `turns` turns of a loop; alone in its compute unit it always takes as long. */
static const char *waiting(char out[256], unsigned turns)
{
    snprintf(out, 256,
             ".kernel k\n s_mov_b32 s8, %u\nagain:\n s_sub_u32 s8, s8, 1\n s_branch_nz s8, again\n "
             "s_end\n.endkernel\n",
             turns);
    return out;
}

static uint64_t submit(struct krig *r, unsigned turns, unsigned groups, bool new_queue)
{
    char text[256];
    uint32_t queue = 0;

    if (new_queue)
        assert_int_equal(sim_queue_new(r->m, &queue, &r->err), HD_OK);
    return krig_submit(
        r, &(struct krig_launch){
               .text = waiting(text, turns), .groups = groups, .threads = 32, .queue = queue});
}

static void finish(struct krig *r)
{
    if (sim_wait(r->m, 0, &r->err) != HD_OK)
        fail_msg("%s", r->err.message);
}

/* ---- rate and turns ---- */

/* While there is room, a work-group starts every launch.cycles_per_workgroup cycles, on the next compute unit. */
static void test_rate(void **state)
{
    static const char *const rates[] = {"1", "2", "3", "7", "40"};

    (void)state;
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++) {
        unsigned rate;
        struct krig r;
        struct log log;

        assert_int_equal(sscanf(rates[i], "%u", &rate), 1);
        krig_open(&r, "compute_units", "5", "launch.cycles_per_workgroup", rates[i], NULL);
        watch(&r, &log);
        submit(&r, 200, 30, false);
        finish(&r);
        assert_int_equal(log.n, 30);
        for (unsigned k = 0; k < 30; k++) {
            assert_int_equal(log.at[k].group, k);
            assert_int_equal(log.at[k].start - log.at[0].start, k * rate);
            assert_int_equal(log.at[k].cu, k % 5);
        }
        krig_close(&r);
    }
}

/*
 * With P places, each a SIMD unit of its own, work-group i starts `rate` cycles after the one before it, and not before
 * work-group i - P has ended: full waves of P, and a last one that is not full. Where it starts in the cycle of that
 * one's s_end its SIMD unit has issued, and it takes a cycle longer.
 */
static void partial_waves(unsigned units, unsigned simds, unsigned rate, unsigned groups)
{
    unsigned places = units * simds;
    char number[3][16];
    struct krig r;
    struct log log;

    snprintf(number[0], sizeof number[0], "%u", units);
    snprintf(number[1], sizeof number[1], "%u", simds);
    snprintf(number[2], sizeof number[2], "%u", rate);
    krig_open(&r, "compute_units", number[0], "cu.simds", number[1], "cu.workgroup_slots",
              number[1], "launch.cycles_per_workgroup", number[2], NULL);
    watch(&r, &log);
    submit(&r, 50, groups, false);
    finish(&r);
    assert_int_equal(log.n, groups);
    for (unsigned i = 1; i < groups; i++) {
        uint64_t start = log.at[i - 1].start + rate, free = i < places ? 0 : log.at[i - places].end;

        assert_int_equal(log.at[i].start, start > free ? start : free);
        assert_int_equal(log.at[i].end - log.at[i].start,
                         log.at[0].end - log.at[0].start + (start <= free));
    }
    krig_close(&r);
}

static void test_partial_waves(void **state)
{
    static const unsigned units[] = {1, 3, 4, 7}, rates[] = {1, 5, 150};

    (void)state;
    for (unsigned u = 0; u < 4; u++)
        for (unsigned simds = 1; simds <= 4; simds *= 2)
            for (unsigned v = 0; v < 3; v++)
                for (unsigned groups = 1; groups <= 61; groups += 4)
                    partial_waves(units[u], simds, rates[v], groups);
}

/* Kernel k of n, each of one work-group on a queue of its own, starts when kernel k - limit has ended. */
static void test_resident_kernels(void **state)
{
    enum { KERNELS = 9 };
    static const char *const limits[] = {"1", "2", "4", "9", "100"};

    (void)state;
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        unsigned limit;
        struct krig r;
        struct log log;

        assert_int_equal(sscanf(limits[i], "%u", &limit), 1);
        krig_open(&r, "compute_units", "16", "launch.resident_kernels", limits[i], NULL);
        watch(&r, &log);
        for (unsigned k = 0; k < KERNELS; k++)
            submit(&r, 300, 1, true);
        finish(&r);
        assert_int_equal(log.n, KERNELS);
        for (unsigned k = 0; k < KERNELS; k++) {
            uint64_t start = k ? log.at[k - 1].start + 1 : log.at[0].start,
                     free = k < limit ? 0 : log.at[k - limit].end;

            assert_int_equal(log.at[k].start, start > free ? start : free);
        }
        krig_close(&r);
    }
}

/* ---- which kernel is next ---- */

/* Two kernels of so many work-groups, all of which find a place at once: the kernel of each in order of their start. */
static void order_of(const char *policy, unsigned first, unsigned second, char *out)
{
    struct krig r;
    struct log log;
    uint64_t a;

    krig_open(&r, "launch.placement", policy, "compute_units", "4", NULL);
    watch(&r, &log);
    a = submit(&r, 300, first, true);
    submit(&r, 300, second, true);
    finish(&r);
    for (unsigned i = 0; i < log.n; i++)
        out[i] = log.at[i].ticket == a ? 'a' : 'b';
    out[log.n] = '\0';
    krig_close(&r);
}

static void test_orders(void **state)
{
    static const struct {
        const char *policy;
        unsigned first, second;
        const char *order;
    } rows[] = {
        {"in-order", 5, 3, "aaaaabbb"},    {"in-order", 1, 4, "abbbb"},
        {"round-robin", 5, 3, "abababaa"}, {"round-robin", 2, 5, "ababbbb"},
        {"spatial", 4, 4, "abababab"},     {"round-robin", 1, 1, "ab"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char order[STARTS + 1];

        order_of(rows[i].policy, rows[i].first, rows[i].second, order);
        assert_string_equal(order, rows[i].order);
    }
}

/*
 * A work-group that needs a whole compute unit, beside a kernel of many that leave one only in part: in turns, it starts
 * when it has been passed over once for each place, and the work-groups that were on its unit have ended.
 */
static void test_a_large_work_group_is_let_in(void **state)
{
    enum { PLACES = 2 * 4, SMALL = 200 };
    char text[2][256];
    struct krig r;
    struct log log;
    uint64_t large, small, one = 0, start = 0;
    uint32_t queue[2];
    unsigned before = 0;

    (void)state;
    krig_open(&r, "launch.placement", "round-robin", "compute_units", "2", "cu.workgroup_slots",
              "4", "lds.bytes", "16384", "lds.bytes_per_workgroup", "16384", NULL);
    watch(&r, &log);
    for (unsigned i = 0; i < 2; i++) {
        waiting(text[i], 100);
        assert_int_equal(sim_queue_new(r.m, &queue[i], &r.err), HD_OK);
    }
    small = krig_submit(
        &r,
        &(struct krig_launch){
            .text = text[0], .groups = SMALL, .threads = 32, .dynamic_lds = 512, .queue = queue[0]});
    /* When the large one comes, a launch latency later, all places are taken. */
    assert_int_equal(sim_run_until(r.m, 300 * 1000, &r.err), HD_OK);
    large = krig_submit(
        &r, &(struct krig_launch){
                .text = text[1], .threads = 32, .dynamic_lds = 16384, .queue = queue[1]});
    finish(&r);
    for (unsigned i = 0; i < log.n; i++) {
        if (log.at[i].ticket == large)
            start = log.at[i].start;
        else if (log.at[i].end - log.at[i].start > one)
            one = log.at[i].end - log.at[i].start;
    }
    for (unsigned i = 0; i < log.n; i++)
        before += log.at[i].ticket == small && log.at[i].start < start;
    assert_in_range(start - 1300, one, 4 * one);
    /* The places once full, once more by the passing, and what the other unit took meanwhile. */
    assert_in_range(before, PLACES, 3 * PLACES);
    krig_close(&r);
}

/* ---- spatial partition ---- */

/* Kernels of many work-groups at once; fails unless those of kernel k start on units [from[k], from[k + 1]) only. */
static void check_parts(const char *units, const char *shares, unsigned kernels,
                        const unsigned *from)
{
    struct krig r;
    struct log log;
    uint64_t tickets[8], all_there = 0, first_end;
    unsigned checked = 0;

    krig_open(&r, "launch.placement", "spatial", "compute_units", units, "launch.shares", shares,
              "cu.workgroup_slots", "1", NULL);
    watch(&r, &log);
    for (unsigned k = 0; k < kernels; k++)
        tickets[k] = submit(&r, 40, 24, true);
    finish(&r);
    first_end = r.kernels[0].end_ps / 1000;
    for (unsigned k = 0; k < kernels; k++)
        for (unsigned i = 0; i < log.n; i++)
            if (log.at[i].ticket == tickets[k]) {
                all_there = all_there > log.at[i].start ? all_there : log.at[i].start;
                break;
            }
    for (unsigned i = 0; i < log.n; i++)
        for (unsigned k = 0; k < kernels; k++) {
            const struct seen *s = &log.at[i];

            if (s->ticket != tickets[k] || s->start <= all_there || s->start >= first_end)
                continue;
            checked++;
            if (s->cu < from[k] || s->cu >= from[k + 1])
                fail_msg("%s units, shares \"%s\": kernel %u on unit %u", units, shares, k, s->cu);
        }
    assert_true(checked >= 10);
    krig_close(&r);
}

static void test_parts(void **state)
{
    (void)state;
    check_parts("8", "", 2, (const unsigned[]){0, 4, 8});
    check_parts("7", "", 2, (const unsigned[]){0, 3, 7});
    check_parts("8", "3:1", 2, (const unsigned[]){0, 6, 8});
    check_parts("8", "1:3", 2, (const unsigned[]){0, 2, 8});
    check_parts("4", "1000:1", 2, (const unsigned[]){0, 3, 4}); /* each has one at least */
    check_parts("4", "1:1000", 2, (const unsigned[]){0, 1, 4});
    check_parts("4", "1000:1:1", 3, (const unsigned[]){0, 2, 3, 4});
    check_parts("4", "1:1:1000", 3, (const unsigned[]){0, 1, 2, 4});
    check_parts("9", "", 3, (const unsigned[]){0, 3, 6, 9});
    check_parts("8", "2:1:1", 3, (const unsigned[]){0, 4, 6, 8});
    check_parts("12", "2:1", 3, (const unsigned[]){0, 4, 7, 12}); /* 2, 1 and 2 again, of 5 */
    check_parts("3", "", 3, (const unsigned[]){0, 1, 2, 3});
}

/*
 * The time of two kernels on parts of the device: each takes its turns on its own units, and whoever is left when the other
 * has ended has all of them.
 */
static void test_parts_are_divided_again(void **state)
{
    struct krig r;
    struct log log;
    uint64_t a, b, b_end = 0, one;
    unsigned wide = 0, narrow = 0;

    (void)state;
    krig_open(&r, "launch.placement", "spatial", "compute_units", "4", "launch.shares", "3:1",
              "cu.workgroup_slots", "1", NULL);
    watch(&r, &log);
    a = submit(&r, 100, 40, true);
    b = submit(&r, 100, 3, true);
    finish(&r);
    one = log.at[0].end - log.at[0].start;
    for (unsigned i = 0; i < log.n; i++)
        if (log.at[i].ticket == b && log.at[i].end > b_end)
            b_end = log.at[i].end;
    for (unsigned i = 0; i < log.n; i++)
        if (log.at[i].ticket == a && log.at[i].start > log.at[4].start) {
            if (log.at[i].cu == 3)
                assert_true(log.at[i].start >= b_end);
            wide += log.at[i].start >= b_end && log.at[i].cu == 3;
            narrow += log.at[i].start < b_end;
        }
    /* B takes three turns of unit 3 while A has three units; then A has four for what is left. */
    assert_in_range(narrow, 5, 10);
    assert_in_range(wide, (40 - narrow) / 4 - 3, (40 - narrow) / 4 + 1);
    assert_in_range(log.at[log.n - 1].end - log.at[0].start, (4 + (40 - 3 * 4) / 4) * one - one,
                    (4 + (40 - 3 * 4) / 4) * one + one);
    krig_close(&r);
}

/* More kernels than compute units share them one by one, and all of them end. */
static void test_more_kernels_than_units(void **state)
{
    enum { KERNELS = 7 };
    struct krig r;
    struct log log;

    (void)state;
    krig_open(&r, "launch.placement", "spatial", "compute_units", "3", "cu.workgroup_slots", "2",
              NULL);
    watch(&r, &log);
    for (unsigned k = 0; k < KERNELS; k++)
        submit(&r, 40, 11, true);
    finish(&r);
    assert_int_equal(log.n, KERNELS * 11);
    assert_int_equal(r.nkernels, KERNELS);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_partial_waves),
        cmocka_unit_test(test_resident_kernels),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_a_large_work_group_is_let_in),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_are_divided_again),
        cmocka_unit_test(test_more_kernels_than_units),
    };

    return cmocka_run_group_tests_name("dispatch", tests, NULL, NULL);
}
