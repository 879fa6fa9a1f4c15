/* Random numbers: the published sequences, ranges, and that streams differ. */
#include "sim/base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* From the reference programs at prng.di.unimi.it. */
static void test_published_sequences(void **state)
{
    static const uint64_t xoshiro[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    struct rng r = {{1, 2, 3, 4}};
    uint64_t s = 0;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_true(rng_next(&r) == xoshiro[i]);
    assert_true(rng_splitmix(&s) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(rng_splitmix(&s) == UINT64_C(0x6e789e6aa1b965f4));
}

static void test_a_seed_fixes_the_sequence(void **state)
{
    struct rng a, b, c;

    (void)state;
    rng_seed(&a, 7);
    rng_seed(&b, 7);
    rng_seed(&c, 8);
    for (int i = 0; i < 100; i++)
        assert_true(rng_next(&a) == rng_next(&b));
    assert_true(rng_next(&a) != rng_next(&c));
}

static void test_pairs_of_seeds_are_streams(void **state)
{
    static const uint64_t seeds[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 1}};
    uint64_t first[6];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct rng r;

        rng_seed_pair(&r, seeds[i][0], seeds[i][1]);
        first[i] = rng_next(&r);
        for (size_t j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
    }
}

/* 60,000 throws of a die: each side within 5 standard deviations (91 each) of 10,000. */
static void test_below_is_in_range_and_even(void **state)
{
    static const uint64_t bounds[] = {1, 2, 3, 1000, UINT64_C(1) << 63, UINT64_MAX};
    unsigned sides[6] = {0};
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (int i = 0; i < 100; i++)
            assert_true(rng_below(&r, bounds[b]) < bounds[b]);
    for (int i = 0; i < 60000; i++)
        sides[rng_below(&r, 6)]++;
    for (int i = 0; i < 6; i++)
        assert_in_range(sides[i], 10000 - 455, 10000 + 455);
}

static void test_unit_interval(void **state)
{
    double sum = 0;
    struct rng r;

    (void)state;
    rng_seed(&r, 2);
    for (int i = 0; i < 10000; i++) {
        double u = rng_unit(&r);

        assert_true(u >= 0 && u < 1);
        assert_true(u * 0x1p53 == (double)(uint64_t)(u * 0x1p53));
        sum += u;
    }
    /* mean 0.5, standard deviation 0.289 / 100 */
    assert_true(sum / 10000 > 0.485 && sum / 10000 < 0.515);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_sequences),
        cmocka_unit_test(test_a_seed_fixes_the_sequence),
        cmocka_unit_test(test_pairs_of_seeds_are_streams),
        cmocka_unit_test(test_below_is_in_range_and_even),
        cmocka_unit_test(test_unit_interval),
    };

    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
