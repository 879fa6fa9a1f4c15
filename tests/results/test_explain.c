/* The numbers of heddle explain on timelines that are made by hand. */
#include "host/results/explain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* 2 compute units of 2 SIMD units at 1 GHz: a core cycle of all compute units is 500 ps. */
static struct sim_config machine(void)
{
    struct sim_config c;

    param_defaults(&sim_params, &c);
    c.compute_units = 2;
    c.simds = 2;
    c.wavefront_size = 32;
    c.core_hz = c.l2_hz = 1000000000;
    c.wave_slots = 8;
    c.launch_latency = 6;
    c.rate_alu = 32;
    c.rate_f64 = 16;
    c.rate_cvt = 8;
    c.rate_sfu = 4;
    c.rate_xlane = 32;
    c.f64_interval = 2;
    c.l1_lines_per_cycle = 1;
    c.l2_slices = 4;
    c.l2_bytes_per_cycle = 32;
    c.dram_rate = 1000000000; /* a byte a ns */
    c.link_h2d_rate = 2000000000;
    c.link_d2h_rate = 1000000000;
    return c;
}

/* ---- what a part needs ------------------------------------------------------------------------------ */

static void test_needs_of_each_part(void **state)
{
    struct sim_config c = machine();
    struct sim_counters s = {.wave_instr = 100,
                             .l2_bytes = 1280,
                             .dram_read_bytes = 30,
                             .dram_write_bytes = 12,
                             .dram_row_misses = 16,
                             .l1_requests = 14,
                             .local_passes = 6};
    double needs[USAGE_PARTS];

    (void)state;
    c.dram_row_miss = 10;
    c.dram_channels = 8;
    c.dual_issue = false;
    c.issue_width = 1;
    s.class_instr[ISA_C_ALU] = 40;
    s.class_instr[ISA_C_F64] = 10;
    usage_needs(&c, &s, needs);
    assert_true(near(needs[PART_DRAM], 42000 + 16 * 10000 / 8.0));
    c.dram_row_gap = 20000; /* 2 rows of a channel: 40 ns, beside 62 */
    usage_needs(&c, &s, needs);
    assert_true(near(needs[PART_DRAM], 62000));
    c.dram_row_gap = 50000;
    usage_needs(&c, &s, needs);
    assert_true(near(needs[PART_DRAM], 100000));
    c.dram_row_gap = 0;
    assert_true(near(needs[PART_L2], 1280 / (4 * 32.0) * 1000));
    assert_true(near(needs[PART_L1], 14 * 500));
    assert_true(near(needs[PART_FP32], 40 / 2.0 * 500));
    assert_true(near(needs[PART_FP64], 10 * 2 * 2 / 2.0 * 500)); /* 2 lots of lanes, 2 cycles each */
    assert_true(near(needs[PART_SPECIAL], 0));
    assert_true(near(needs[PART_LDS], 6 * 500));
    assert_true(near(needs[PART_ISSUE], 100 / 2.0 * 500));
    assert_int_equal(usage_most(needs), PART_DRAM);
    c.one_vector_unit = true;
    usage_needs(&c, &s, needs);
    assert_true(near(needs[PART_FP32], (40 + 40) / 2.0 * 500));
}

/* 3 conversions of 4 lots, 2 special functions of 8, and 5 moves between lanes of one: with one unit all keep it busy. */
static void test_needs_of_other_classes(void **state)
{
    struct sim_config c = machine();
    struct sim_counters s = {.l1_requests = 14};
    double needs[USAGE_PARTS];

    (void)state;
    s.class_instr[ISA_C_CVT] = 3;
    s.class_instr[ISA_C_SFU] = 2;
    s.class_instr[ISA_C_XLANE] = 5;
    c.l1_lines_per_cycle = 2;
    usage_needs(&c, &s, needs);
    assert_true(near(needs[PART_L1], 14 / 2.0 * 500));
    assert_true(near(needs[PART_SPECIAL], (3 * 4 + 2 * 8) / 2.0 * 500));
    assert_true(near(needs[PART_FP32], 0));
    c.one_vector_unit = true;
    usage_needs(&c, &s, needs);
    assert_true(near(needs[PART_FP32], (3 * 4 + 2 * 8 + 5) / 2.0 * 500));
}

/* ---- a run --------------------------------------------------------------------------------------------- */

/*
 * x goes to the device 0-20, the kernel runs 15-40 and waits for two moves, 25-30 and 30-32, of a batch that the handler took up at 20, y comes back 40-50, and the host goes on
 * until 60.
 */
static struct explain made(struct sim_config *c)
{
    static struct span spans[] = {
        {.start_ps = 0, .end_ps = 20000, .kind = SPAN_H2D, .name = "x", .bytes = 40},
        {.start_ps = 15000, .end_ps = 40000, .queued_ps = 11000, .kind = SPAN_KERNEL, .name = "k"},
        {.start_ps = 25000, .end_ps = 30000, .queued_ps = 20000, .kind = SPAN_H2D, .move = SIM_T_FAULT},
        {.start_ps = 30000, .end_ps = 32000, .queued_ps = 20000, .kind = SPAN_H2D, .move = SIM_T_FAULT},
        {.start_ps = 40000, .end_ps = 50000, .kind = SPAN_D2H, .name = "y", .bytes = 10}};
    static const struct critical_step steps[] = {{STEP_SPAN, PART_NONE, &spans[0], 0, 20000},
                                                 {STEP_SPAN, PART_NONE, &spans[1], 20000, 21000},
                                                 {STEP_SPAN, BOUND_HANDLER, &spans[1], 21000, 25000},
                                                 {STEP_SPAN, BOUND_LINK, &spans[1], 25000, 30000},
                                                 {STEP_SPAN, PART_NONE, &spans[1], 30000, 40000},
                                                 {STEP_SPAN, PART_NONE, &spans[4], 40000, 50000},
                                                 {STEP_HOST, PART_NONE, NULL, 50000, 60000}};
    const struct timeline t = {.spans = spans, .nspans = COUNT(spans)};
    struct record_iteration it;
    struct explain_source from = {&it, &t, c, steps, COUNT(steps), false};
    struct explain e;

    memset(&it, 0, sizeof it);
    it.time_ps = 60000;
    it.waited_ps = 48000;
    it.metrics.h2d_bytes = 50;
    it.metrics.d2h_bytes = 10;
    it.metrics.sums.dram_read_bytes = 6;
    it.metrics.sums.residency_cycles = 96; /* of 2 * 8 slots: 6 cycles */
    assert_true(overlap_measure(spans, COUNT(spans), &it.overlap, &it.metrics.busy));
    assert_true(explain_measure(&e, &from));
    return e;
}

static void test_what_ran(void **state)
{
    struct sim_config c = machine();
    struct explain e = made(&c);

    (void)state;
    assert_int_equal(e.time.transfers_ps, 15000 + 10000);
    assert_int_equal(e.time.both_ps, 5000 + 7000);
    assert_int_equal(e.time.kernels_ps, 5000 + 8000);
    assert_int_equal(e.time.neither_ps, 10000);
}

static void expect_use(const struct explain *e, const char *part, uint64_t busy_ps)
{
    for (size_t i = 0; i < e->nuses; i++)
        if (strcmp(e->uses[i].part, part) == 0) {
            assert_int_equal(e->uses[i].busy_ps, busy_ps);
            assert_true(near(e->uses[i].share, (double)busy_ps / 60000));
            return;
        }
    fail_msg("no part %s", part);
}

static void test_how_busy_parts_are(void **state)
{
    struct sim_config c = machine();
    struct explain e = made(&c);

    (void)state;
    expect_use(&e, "link to device", 27000);
    expect_use(&e, "link to host", 10000);
    expect_use(&e, "fault handler", 12000);
    expect_use(&e, "launch", 4000); /* of the 6 ns ahead of the kernel it was handed in for 4 */
    expect_use(&e, "host", 12000);
    expect_use(&e, "dram", 6000);
    expect_use(&e, "wavefront slots", 6000);
    for (size_t i = 1; i < e.nuses; i++)
        assert_true(e.uses[i - 1].busy_ps >= e.uses[i].busy_ps);
}

static void expect_wait(const struct explain_wait *w, const char *name, uint64_t time_ps,
                        uint64_t steps, const char *longest, uint64_t longest_ps)
{
    assert_string_equal(w->bounded_by, name);
    assert_int_equal(w->time_ps, time_ps);
    assert_int_equal(w->steps, steps);
    assert_int_equal(w->longest_ps, longest_ps);
    if (longest)
        assert_string_equal(w->longest, longest);
    else
        assert_null(w->longest);
}

static void test_what_the_path_waits_for(void **state)
{
    struct sim_config c = machine();
    struct explain e = made(&c);

    (void)state;
    assert_int_equal(e.nwaits, 5);
    expect_wait(&e.waits[0], "link to device", 25000, 2, "x", 20000);
    expect_wait(&e.waits[1], "latency", 11000, 2, "k", 10000);
    expect_wait(&e.waits[2], "host", 10000, 1, NULL, 10000);
    expect_wait(&e.waits[3], "link to host", 10000, 1, "y", 10000);
    expect_wait(&e.waits[4], "fault handler", 4000, 1, "k", 4000);
    assert_true(near(e.waits[0].share, 25 / 60.0));
}

/* 50 bytes at 2 a ns, 10 at 1: 25 ns; 35 where both directions share an engine. */
static void test_bounds(void **state)
{
    struct sim_config c = machine();
    struct explain e = made(&c);
    struct explain_bounds *b = &e.bounds;

    (void)state;
    assert_int_equal(b->transfer_ps, 25000);
    assert_int_equal(b->work_ps, 6000);
    assert_string_equal(b->work_part, "dram");
    b->dependency_ps = 40000;
    b->serial_ps = 80000;
    b->parallel_ps = 60000;
    explain_finish_bounds(b);
    assert_int_equal(b->least_ps, 40000);
    assert_true(near(b->speedup, 80.0 / 60));
    assert_true(near(b->possible_speedup, 2));
    assert_true(near(b->gained, 0.5));
    b->dependency_ps = b->parallel_ps = JSON_NO_TIME;
    explain_finish_bounds(b);
    assert_int_equal(b->least_ps, 25000);
    assert_true(isnan(b->speedup) && isnan(b->gained));
    b->serial_ps = b->least_ps;
    b->parallel_ps = 25000;
    explain_finish_bounds(b);
    assert_true(isnan(b->gained)); /* nothing to gain */
}

static void test_one_engine_moves_all(void **state)
{
    struct sim_config c = machine();
    struct record_iteration it;
    const struct timeline t = {0};
    const struct explain_source from = {&it, &t, &c, NULL, 0, true};
    struct explain e;

    (void)state;
    memset(&it, 0, sizeof it);
    it.metrics.h2d_bytes = 50;
    it.metrics.d2h_bytes = 10;
    assert_true(explain_measure(&e, &from));
    assert_int_equal(e.bounds.transfer_ps, 35000);
    assert_null(e.bounds.work_part);
}

/* ---- ideals ---------------------------------------------------------------------------------------------- */

static struct explain_ideal ideal(const char *name, bool used, uint64_t twice_ps,
                                  uint64_t infinite_ps)
{
    struct explain_ideal i = {.resource = name, .used = used};

    i.twice.ran = i.infinite.ran = true;
    i.twice.time_ps = twice_ps;
    i.infinite.time_ps = infinite_ps;
    return i;
}

static void test_ideals_are_sorted(void **state)
{
    struct explain e = {.time_ps = 1000000, .nideals = 6};
    static const char *const order[] = {"much", "some", "slower", "same", "failed", "unused"};

    (void)state;
    e.ideals[0] = ideal("unused", false, 1000000, 1000000);
    e.ideals[1] = ideal("failed", true, 0, 0);
    e.ideals[1].twice.ran = e.ideals[1].infinite.ran = false;
    e.ideals[2] = ideal("slower", true, 1010000, 1000000);
    e.ideals[3] = ideal("same", true, 1000500, 1000000); /* less than half a per cent */
    e.ideals[4] = ideal("some", true, 700000, 800000);
    e.ideals[5] = ideal("much", true, 500000, 100000);
    explain_finish_ideals(&e);
    for (size_t i = 0; i < COUNT(order); i++)
        assert_string_equal(e.ideals[i].resource, order[i]);
    assert_true(near(e.ideals[0].twice.gain, 2));
    assert_true(near(e.ideals[0].infinite.gain, 10));
    assert_false(e.ideals[0].anomaly);
    assert_true(e.ideals[1].anomaly); /* twice gains more than infinitely */
    assert_true(e.ideals[2].anomaly);
    assert_false(e.ideals[3].anomaly);
    assert_true(isnan(e.ideals[4].twice.gain));
    assert_false(e.ideals[4].anomaly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs_of_each_part),
        cmocka_unit_test(test_needs_of_other_classes),
        cmocka_unit_test(test_what_ran),
        cmocka_unit_test(test_how_busy_parts_are),
        cmocka_unit_test(test_what_the_path_waits_for),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_one_engine_moves_all),
        cmocka_unit_test(test_ideals_are_sorted),
    };

    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
