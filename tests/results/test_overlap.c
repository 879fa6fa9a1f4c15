/* Overlap fractions and busy times of timelines whose answers are known by hand. */
#include "host/results/overlap.h"
#include "sim/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define KERNEL(from, to)                                                                           \
    {                                                                                              \
        .start_ps = (from), .end_ps = (to), .kind = SPAN_KERNEL                                    \
    }
#define H2D(from, to)                                                                              \
    {                                                                                              \
        .start_ps = (from), .end_ps = (to), .kind = SPAN_H2D                                       \
    }
#define D2H(from, to)                                                                              \
    {                                                                                              \
        .start_ps = (from), .end_ps = (to), .kind = SPAN_D2H                                       \
    }
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void expect(const struct span *spans, size_t n, struct overlap text, struct overlap fig11)
{
    struct overlap got;
    struct busy busy;

    assert_true(overlap_measure(spans, n, &got, &busy));
    assert_true(near(got.ct, text.ct));
    assert_true(near(got.tc, text.tc));
    assert_true(near(got.cc, text.cc));
    assert_true(near(got.tot, text.tot));
    assert_true(overlap_fig11(spans, n, &got));
    assert_true(near(got.ct, fig11.ct));
    assert_true(near(got.tc, fig11.tc));
    assert_true(near(got.cc, fig11.cc));
    assert_true(near(got.tot, fig11.tot));
}

static void test_nothing_is_zero(void **state)
{
    const struct overlap zero = {0, 0, 0, 0};
    const struct span one[] = {KERNEL(10, 20)}, empty[] = {KERNEL(5, 5), H2D(5, 5)};

    (void)state;
    expect(NULL, 0, zero, zero);
    expect(one, 1, zero, zero);
    expect(empty, 2, zero, zero);
}

/* What touches does not overlap. */
static void test_in_turn(void **state)
{
    const struct span spans[] = {H2D(0, 10), KERNEL(10, 20), KERNEL(20, 30), D2H(30, 40)};

    (void)state;
    expect(spans, COUNT(spans), (struct overlap){0, 0, 0, 0}, (struct overlap){0, 0, 0, 0});
}

/* reference 3.5: two equal kernels that overlap give 0.5 by the rule of Figure 11, three give 2/3; by the text all of them is 1. */
static void test_equal_kernels(void **state)
{
    const struct span spans[] = {KERNEL(0, 12), KERNEL(0, 12), KERNEL(0, 12)};

    (void)state;
    expect(spans, 2, (struct overlap){0, 0, 1, 1}, (struct overlap){0, 0, 0.5, 0.5});
    expect(spans, 3, (struct overlap){0, 0, 1, 1}, (struct overlap){0, 0, 2.0 / 3, 2.0 / 3});
}

/*
 * time      0    10   20   30   40
 * kernel a  |---------|
 * kernel b            |---------|   (20-40)
 * h2d            |---------|        (10-30)
 * Kernel time 40, of which 10-20 of a and 20-30 of b lie beside the transfer: ct = 20/40. The transfer of 20 is beside
 * kernels all the time: tc = 1. All time is 60; beside anything else: 20 of kernels and 20 of the transfer.
 */
static void test_transfer_across_two_kernels(void **state)
{
    const struct span spans[] = {KERNEL(0, 20), KERNEL(20, 40), H2D(10, 30)};

    (void)state;
    expect(spans, COUNT(spans), (struct overlap){0.5, 1, 0, 40.0 / 60},
           (struct overlap){0.5, 1, 0, 20.0 / 60});
}

/* Two transfers at once count once for a kernel, and twice for themselves. */
static void test_union_of_transfers(void **state)
{
    const struct span spans[] = {KERNEL(0, 10), H2D(0, 5), D2H(0, 5)};

    (void)state;
    expect(spans, COUNT(spans), (struct overlap){0.5, 1, 0, (5 + 5 + 5) / 20.0},
           (struct overlap){0.5, 1, 0, (5 + 5) / 20.0});
}

/*
 * Chunks 0-10 and 12-20 are neighbours that go one way: one transfer 0-18. The kernel 9-11 lies between them in order of
 * start, so with it they stay apart.
 */
static void test_fig11_merges_chunks(void **state)
{
    const struct span apart[] = {H2D(0, 10), H2D(12, 20), KERNEL(16, 20)};
    const struct span between[] = {H2D(0, 10), KERNEL(9, 11), H2D(12, 20)};
    const struct span turned[] = {H2D(0, 10), D2H(12, 20), KERNEL(16, 20)};

    (void)state;
    /* merged: the kernel 16-20 meets 16-18, so 2 of 4; unmerged it is all 4. */
    expect(apart, 3, (struct overlap){1, 4.0 / 18, 0, 8.0 / 22},
           (struct overlap){0.5, 2.0 / 18, 0, 2.0 / 22});
    expect(between, 3, (struct overlap){0.5, 1.0 / 18, 0, 2.0 / 20},
           (struct overlap){0.5, 1.0 / 18, 0, 1.0 / 20});
    expect(turned, 3, (struct overlap){1, 4.0 / 18, 0, 8.0 / 22},
           (struct overlap){1, 4.0 / 18, 0, 4.0 / 22});
}

/*
 * A transfer keeps its start and loses its gaps: the chunks 1-11 and 20-30 become 1-21, of which 19 lie beside the kernel 0-20; chunk 20-30 did
 * not. Merged or not, no transfer is beside kernels for longer than it is.
 */
static void test_fig11_gaps_are_removed(void **state)
{
    const struct span spans[] = {KERNEL(0, 20), H2D(1, 11), H2D(20, 30)};

    (void)state;
    expect(spans, COUNT(spans), (struct overlap){0.5, 0.5, 0, 20.0 / 40},
           (struct overlap){0.95, 0.95, 0, 19.0 / 40});
}

/* Pages that kernels fault in are transfers as others are, under both rules; what the handler does ahead of them is none. */
static void test_pages_of_faults_are_transfers(void **state)
{
    struct span spans[] = {KERNEL(0, 100), H2D(40, 50), H2D(70, 80)};

    (void)state;
    spans[1].move = spans[2].move = SIM_T_FAULT;
    spans[1].queued_ps = 10;
    spans[2].queued_ps = 50;
    expect(spans, COUNT(spans), (struct overlap){0.2, 1, 0, 40.0 / 120},
           (struct overlap){0.2, 1, 0, 20.0 / 120});
}

static void test_busy_times_are_unions(void **state)
{
    const struct span spans[] = {KERNEL(0, 10), KERNEL(5, 15), KERNEL(30, 31),
                                 H2D(0, 4),     D2H(2, 8),     H2D(20, 22)};
    struct overlap overlap;
    struct busy busy;

    (void)state;
    assert_true(overlap_measure(spans, COUNT(spans), &overlap, &busy));
    assert_int_equal(busy.kernel_ps, 16);
    assert_int_equal(busy.h2d_ps, 6);
    assert_int_equal(busy.d2h_ps, 6);
    assert_int_equal(busy.link_ps, 10);
    assert_int_equal(busy.any_ps, 18);
}

/* ---- against the definition, on random timelines -------------------------------------------------- */

/* Length of a span that any other one of the asked kinds covers, by looking at each unit of time. */
static uint64_t covered(const struct span *spans, size_t n, size_t i, bool by_kernels,
                        bool by_transfers)
{
    uint64_t t, length = 0;
    size_t j;

    for (t = spans[i].start_ps; t < spans[i].end_ps; t++) {
        for (j = 0; j < n; j++) {
            bool wanted = spans[j].kind == SPAN_KERNEL ? by_kernels : by_transfers;

            if (j != i && wanted && spans[j].start_ps <= t && t < spans[j].end_ps)
                break;
        }
        length += j < n;
    }
    return length;
}

static void test_agrees_with_the_definition(void **state)
{
    unsigned seed = 20240101;
    int round;

    (void)state;
    print_message("seed %u\n", seed);
    srand(seed);
    for (round = 0; round < 200; round++) {
        struct span spans[12] = {{0}};
        uint64_t ct = 0, tc = 0, cc = 0, tot = 0, kernels = 0, transfers = 0;
        struct overlap got;
        struct busy busy;
        size_t i;

        for (i = 0; i < COUNT(spans); i++) {
            spans[i].start_ps = (uint64_t)(rand() % 40);
            spans[i].end_ps = spans[i].start_ps + (uint64_t)(rand() % 15);
            spans[i].kind = (uint8_t)(rand() % 3);
        }
        for (i = 0; i < COUNT(spans); i++) {
            bool kernel = spans[i].kind == SPAN_KERNEL;

            *(kernel ? &kernels : &transfers) += spans[i].end_ps - spans[i].start_ps;
            *(kernel ? &ct : &tc) += covered(spans, COUNT(spans), i, !kernel, kernel);
            cc += kernel ? covered(spans, COUNT(spans), i, true, false) : 0;
            tot += covered(spans, COUNT(spans), i, true, true);
        }
        assert_true(overlap_measure(spans, COUNT(spans), &got, &busy));
        assert_true(near(got.ct * (double)kernels, (double)ct));
        assert_true(near(got.tc * (double)transfers, (double)tc));
        assert_true(near(got.cc * (double)kernels, (double)cc));
        assert_true(fabs(got.tot * (double)(kernels + transfers) - (double)tot) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_zero),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_equal_kernels),
        cmocka_unit_test(test_transfer_across_two_kernels),
        cmocka_unit_test(test_union_of_transfers),
        cmocka_unit_test(test_fig11_merges_chunks),
        cmocka_unit_test(test_fig11_gaps_are_removed),
        cmocka_unit_test(test_pages_of_faults_are_transfers),
        cmocka_unit_test(test_busy_times_are_unions),
        cmocka_unit_test(test_agrees_with_the_definition),
    };

    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
