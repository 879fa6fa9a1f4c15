/* Clock domains and rate servers against 128-bit arithmetic. */
#include "sim/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t clocks[] = {1000000000, 1328500000, 1126000000, 925000000,
                                  999999937,  1000000,    99999999977};
enum { NUM_CLOCKS = sizeof clocks / sizeof *clocks };

static uint64_t exact_edge(uint64_t hz, uint64_t cycle)
{
    return (uint64_t)((unsigned __int128)cycle * PS_PER_SECOND / hz);
}

static void edges_are_floors_of_exact_times(void **state)
{
    static const uint64_t cycles[] = {0,        1,        2,           3,           1000,
                                      16777215, 16777217, 12345678901, 999999999999};

    (void)state;
    for (size_t i = 0; i < NUM_CLOCKS; i++) {
        struct clock_domain d = clock_make(clocks[i]);

        for (size_t k = 0; k < sizeof cycles / sizeof *cycles; k++)
            assert_int_equal(clock_edge(&d, cycles[k]), exact_edge(clocks[i], cycles[k]));
    }
}

static void domains_are_reduced(void **state)
{
    struct clock_domain d = clock_make(1328500000);

    (void)state;
    assert_int_equal(d.num.by, 2000000);
    assert_int_equal(d.den.by, 2657);
    d = clock_make(1000000000);
    assert_int_equal(d.num.by, 1000);
    assert_int_equal(d.den.by, 1);
}

/* Edge cycle_at(t) is at or after t, and the one before it is not. */
static void cycle_at_is_the_first_edge_not_before(void **state)
{
    static const uint64_t times[] = {
        1, 2, 752, 753, 754, 999, 1000, 1001, 1505, 123456789012345, 18000000000000000};

    (void)state;
    for (size_t i = 0; i < NUM_CLOCKS; i++) {
        struct clock_domain d = clock_make(clocks[i]);

        assert_int_equal(clock_cycle_at(&d, 0), 0);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            uint64_t cycle = clock_cycle_at(&d, times[k]);

            assert_true(clock_edge(&d, cycle) >= times[k]);
            assert_true(clock_edge(&d, cycle - 1) < times[k]);
        }
    }
}

static void every_edge_maps_to_itself_below_the_picosecond_clock(void **state)
{
    struct clock_domain d = clock_make(1328500000);

    (void)state;
    for (uint64_t k = 0; k < 100000; k++)
        assert_int_equal(clock_cycle_at(&d, clock_edge(&d, k)), k);
}

static void the_end_of_time_is_never(void **state)
{
    struct clock_domain d = clock_make(1000000);

    (void)state;
    assert_int_equal(clock_edge(&d, UINT64_MAX), SIM_NEVER);
}

/* 10^7 requests back to back end exactly when one request of all their bytes would. */
static void rates_never_drift(void **state)
{
    static const uint64_t rates[] = {732000000000, 12800000000, 999999937, 3};
    uint64_t rng = 88172645463325252;

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        uint64_t requests = i == 0 ? 10000000 : 100000, total = 0, end = 0;
        struct rate_server s;

        rate_init(&s, rates[i]);
        for (uint64_t k = 0; k < requests; k++) {
            uint64_t bytes;

            rng ^= rng << 13;
            rng ^= rng >> 7;
            rng ^= rng << 17;
            bytes = rates[i] < 10 ? 1 : rng % 257;
            total += bytes;
            end = rate_serve(&s, 0, bytes, NULL);
        }
        assert_int_equal(end, (uint64_t)((unsigned __int128)total * PS_PER_SECOND / rates[i]));
    }
}

static void an_idle_server_starts_at_arrival(void **state)
{
    struct rate_server s;
    uint64_t start;

    (void)state;
    rate_init(&s, 3000000000000); /* 3 bytes a ps */
    assert_int_equal(rate_serve(&s, 100, 4, &start), 101);
    assert_int_equal(start, 100);
    /* Queued behind the third of a picosecond that is left over: 4/3 + 2/3 = 2. */
    assert_int_equal(rate_serve(&s, 100, 2, &start), 102);
    assert_int_equal(start, 101);
    assert_int_equal(rate_serve(&s, 102, 4, NULL), 103);
    /* Idle in between: the fraction is forgotten, 8/3 rounds down. */
    assert_int_equal(rate_serve(&s, 200, 8, &start), 202);
    assert_int_equal(start, 200);
}

static void large_requests_do_not_overflow(void **state)
{
    struct rate_server s;

    (void)state;
    rate_init(&s, 12000000000);
    assert_int_equal(rate_serve(&s, 0, UINT64_C(1) << 36, NULL), 5726623061333);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_floors_of_exact_times),
        cmocka_unit_test(domains_are_reduced),
        cmocka_unit_test(cycle_at_is_the_first_edge_not_before),
        cmocka_unit_test(every_edge_maps_to_itself_below_the_picosecond_clock),
        cmocka_unit_test(the_end_of_time_is_never),
        cmocka_unit_test(rates_never_drift),
        cmocka_unit_test(an_idle_server_starts_at_arrival),
        cmocka_unit_test(large_requests_do_not_overflow),
    };

    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
