/* Lane masks and small integer helpers, at the corners. */
#include "sim/base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_masks(void **state)
{
    (void)state;
    assert_true(bits_low(0) == 0);
    assert_true(bits_low(1) == 1);
    assert_true(bits_low(63) == UINT64_MAX >> 1);
    assert_true(bits_low(64) == UINT64_MAX);
    for (unsigned n = 1; n <= 64; n++) {
        assert_int_equal(bits_count(bits_low(n)), n);
        assert_int_equal(bits_last(bits_low(n)), n - 1);
        assert_int_equal(bits_first(UINT64_C(1) << (n - 1)), n - 1);
    }
}

static void test_powers_of_two(void **state)
{
    (void)state;
    assert_false(bits_is_power_of_two(0));
    for (unsigned n = 0; n < 64; n++) {
        assert_true(bits_is_power_of_two(UINT64_C(1) << n));
        assert_int_equal(bits_is_power_of_two((UINT64_C(1) << n) + 1), n == 0);
    }
}

static void test_rounding_up(void **state)
{
    (void)state;
    assert_true(bits_ceil_div(0, 7) == 0);
    assert_true(bits_ceil_div(7, 7) == 1);
    assert_true(bits_ceil_div(8, 7) == 2);
    assert_true(bits_round_up(0, 256) == 0);
    assert_true(bits_round_up(1, 256) == 256);
    assert_true(bits_round_up(512, 256) == 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_powers_of_two),
        cmocka_unit_test(test_rounding_up),
    };

    return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
