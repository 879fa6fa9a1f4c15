/* Shares of a peak from counters by hand: 1000 cycles of 1 GHz on 2 compute units of 4 SIMD units, wavefronts of 32. */
#include "host/results/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void same(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * fabs(b));
}

static struct sim_config machine(void)
{
    struct sim_config c;

    param_defaults(&sim_params, &c);
    c.compute_units = 2;
    c.simds = 4;
    c.wavefront_size = 32;
    c.core_hz = 1000000000;
    return c;
}

static struct profile_rates rates(const struct sim_config *c, const struct sim_counters *sums)
{
    struct profile_kernel k = {.time_ps = 1000 * 1000, .sums = *sums};

    profile_rates_of(c, &k);
    return k.rates;
}

/* 4000 instructions are 2 a cycle and compute unit, of as many as may issue. */
static void test_issue(void **state)
{
    const struct sim_counters sums = {.wave_instr = 4000};
    struct sim_config c = machine();

    (void)state;
    same(rates(&c, &sums).wave_ipc, 2);
    same(rates(&c, &sums).issue, 2.0 / 4);
    c.dual_issue = true;
    same(rates(&c, &sums).issue, 2.0 / 8);
    c.issue_width = 2;
    same(rates(&c, &sums).issue, 2.0 / 16);
}

/* f64 at `lanes` in `interval` cycles: lanes / interval multiply-adds a cycle and SIMD unit, 2 x 4 x 1000 of them in all. */
static void test_f64(void **state)
{
    static const struct {
        uint32_t lanes, interval;
        double a_cycle; /* multiply-adds of a SIMD unit */
    } rows[] = {{16, 1, 16}, {1, 1, 1}, {1, 2, 0.5}, {4, 4, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_counters sums = {.flop64 = 1000};
        struct sim_config c = machine();

        c.rate_f64 = rows[i].lanes;
        c.f64_interval = rows[i].interval;
        same(rates(&c, &sums).f64, 1000 / (2 * rows[i].a_cycle * 2 * 4 * 1000));
    }
}

/*
 * In 1 us each of 8 channels opens 5 rows in 20 ns, and 100 GB/s would pass 100,000 bytes: a tenth of the time for opening, a
 * quarter for 25,000 bytes.
 */
static void test_dram(void **state)
{
    struct sim_counters sums = {.dram_read_bytes = 20000, .dram_write_bytes = 5000};
    struct sim_config c = machine();

    (void)state;
    c.dram_rate = 100000000000;
    c.dram_channels = 8;
    c.dram_row_miss = 20;
    same(rates(&c, &sums).dram, 0.25);
    sums.dram_row_misses = 40;
    same(rates(&c, &sums).dram_rows, 0.1);
    same(rates(&c, &sums).dram, 0.35);
    same(rates(&c, &sums).dram_gbps, 25);
    c.dram_row_gap = 60000; /* 5 rows in 60 ns: 0.3 beside bytes and openings of 0.35 */
    same(rates(&c, &sums).dram, 0.35);
    c.dram_row_gap = 100000;
    same(rates(&c, &sums).dram, 0.5);
    same(rates(&c, &sums).dram_rows, 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issue),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_dram),
    };

    return cmocka_run_group_tests_name("profile_rates", tests, NULL, NULL);
}
