/* The random numbers against vectors of the generators' authors, and their ranges. */
#include "sim/base/rng.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

/* Outputs of the reference splitmix64.c for seed 0. */
static void test_splitmix_vector(void **state)
{
    uint64_t s = 0;

    (void)state;
    assert_true(rng_splitmix(&s) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(rng_splitmix(&s) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(rng_splitmix(&s) == UINT64_C(0x06c45d188009454f));
}

/* By hand from the definition: state {1, 2, 3, 4} gives rotl(2 * 5, 7) * 9 = 11520; then s1 is 0, so 0. */
static void test_xoshiro_vector(void **state)
{
    struct rng r = {{1, 2, 3, 4}};

    (void)state;
    assert_true(rng_next(&r) == 11520);
    assert_true(rng_next(&r) == 0);
    assert_true(rng_next(&r) == 1509978240);
    assert_true(rng_next(&r) == UINT64_C(1215971899390074240));
}

static void test_below_covers_its_range(void **state)
{
    struct rng r;
    unsigned seen[7] = {0};

    (void)state;
    rng_seed(&r, 0);
    for (unsigned i = 0; i < 7000; i++) {
        const uint64_t v = rng_below(&r, 7);

        assert_true(v < 7);
        seen[v]++;
    }
    for (unsigned i = 0; i < 7; i++) /* five standard deviations of 29 */
        assert_in_range(seen[i], 1000 - 150, 1000 + 150);
    for (unsigned i = 0; i < 100; i++)
        assert_true(rng_below(&r, 1) == 0);
}

/* Without drawing again the lowest third of 3 * 2^62 values would come every other time. */
static void test_below_has_no_bias(void **state)
{
    const uint64_t third = UINT64_C(1) << 62;
    unsigned low = 0;
    struct rng r;

    (void)state;
    rng_seed(&r, 5);
    for (unsigned i = 0; i < 9000; i++)
        low += rng_below(&r, 3 * third) < third;
    assert_in_range(low, 3000 - 225, 3000 + 225); /* five standard deviations of 45 */
}

static void test_unit_is_half_open(void **state)
{
    struct rng r;
    double sum = 0;

    (void)state;
    rng_seed(&r, 42);
    for (unsigned i = 0; i < 10000; i++) {
        const double u = rng_unit(&r);

        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(sum > 4850 && sum < 5150); /* five standard deviations of 29 */
}

static void test_pairs_of_seeds_differ(void **state)
{
    struct rng a, b, c;

    (void)state;
    rng_seed_pair(&a, 1, 2);
    rng_seed_pair(&b, 2, 1);
    rng_seed_pair(&c, 1, 2);
    assert_true(rng_next(&a) != rng_next(&b));
    rng_next(&c);
    assert_true(rng_next(&a) == rng_next(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splitmix_vector),        cmocka_unit_test(test_xoshiro_vector),
        cmocka_unit_test(test_below_covers_its_range), cmocka_unit_test(test_below_has_no_bias),
        cmocka_unit_test(test_unit_is_half_open),      cmocka_unit_test(test_pairs_of_seeds_differ),
    };

    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
