/* Elementary functions against the C library in long double, and their special cases. */
#include "sim/base/fmath.h"
#include "sim/base/rng.h"
#include "tests/soak.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BOUND_ULP 0.9L /* the header promises 1; the long double reference errs by 2^-10 of it */

typedef double function(double x);
typedef long double reference(long double x);

static double from_bits(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_unit(r);
}

/* Distance in units of the last place of the exact value; of the least denormal below the normal ones. */
static long double ulps(double got, long double exact)
{
    int exponent;

    if (isinf((double)exact) || isinf(got))
        return got == (double)exact ? 0 : HUGE_VALL;
    frexpl(exact, &exponent);
    return fabsl(got - exact) / ldexpl(1, (exponent < -1021 ? -1021 : exponent) - 53);
}

static void check(const char *name, function *f, reference *exact, double x)
{
    long double off = ulps(f(x), exact((long double)x));

    if (!(off <= BOUND_ULP))
        fail_msg("%s(%a) = %a is %Lg ulp off", name, x, f(x), off);
}

static uint64_t start(struct rng *r, uint64_t seed)
{
    seed = test_seed(seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(r, seed);
    return test_count(60000);
}

static void test_exponentials(void **state)
{
    struct rng r;
    uint64_t count = start(&r, 1);

    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        check("exp", hd_exp, expl, between(&r, -746, 710));
        check("exp", hd_exp, expl, between(&r, -1, 1));
        check("exp", hd_exp, expl, between(&r, -1e-8, 1e-8));
        check("exp2", hd_exp2, exp2l, between(&r, -1076, 1024));
        check("exp2", hd_exp2, exp2l, between(&r, -1, 1));
    }
}

static void test_logarithms(void **state)
{
    struct rng r;
    uint64_t count = start(&r, 2);

    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        double any = from_bits(rng_below(&r, UINT64_C(0x7ff0000000000000) - 1) + 1);
        double near_one = 1 + between(&r, -1e-6, 1e-6);

        check("log", hd_log, logl, any);
        check("log2", hd_log2, log2l, any);
        check("log", hd_log, logl, near_one);
        check("log2", hd_log2, log2l, near_one);
        check("log", hd_log, logl, between(&r, 0.5, 2));
        check("log2", hd_log2, log2l, between(&r, 0.5, 2));
    }
}

static void test_sines(void **state)
{
    struct rng r;
    uint64_t count = start(&r, 3);

    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        double xs[] = {
            between(&r, -10, 10),
            between(&r, -1e6, 1e6),
            from_bits(rng_below(&r, UINT64_C(0x43e0000000000000))), /* below 2^63, as fsin */
            (double)(int64_t)between(&r, 0, 1e6) * 0x1.921fb54442d18p+0,
        };

        for (unsigned j = 0; j < sizeof xs / sizeof *xs; j++) {
            check("sin", hd_sin, sinl, xs[j]);
            check("cos", hd_cos, cosl, xs[j]);
        }
    }
}

static void test_sines_of_the_greatest_numbers(void **state)
{
    (void)state;
    /* By arithmetic with 4000 bits. */
    assert_true(hd_sin(DBL_MAX) == 0.0049619547891840617905);
    assert_true(hd_cos(DBL_MAX) == -0.99998768942655993746);
    /* The f64 nearest to a multiple of pi/2 (Kahan): 2^-60 away. */
    assert_true(hd_cos(6381956970095103.0 * 0x1p797) == -4.6871659242546276111e-19);
    assert_true(hd_sin(6381956970095103.0 * 0x1p797) == 1.0);
}

static void test_powers(void **state)
{
    struct rng r;
    uint64_t count = start(&r, 4);

    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        double x = hd_exp2(between(&r, -30, 30)), y = between(&r, -36, 36);
        double near_one = 1 + between(&r, -1e-3, 1e-3), great = between(&r, -7e5, 7e5);
        int n = (int)rng_below(&r, 40) - 20;
        long double exact = powl(-(long double)x, n);

        assert_true(ulps(hd_pow(x, y), powl(x, y)) <= BOUND_ULP);
        assert_true(ulps(hd_pow(near_one, great), powl(near_one, great)) <= BOUND_ULP);
        assert_true(ulps(hd_pow(-x, n), exact) <= BOUND_ULP);
    }
}

static const double specials[] = {
    0.0,  -0.0, 1.0,  -1.0,  2.0,    -2.0,       0.5,      -0.5,      3.0,    -3.0,
    1.5,  -1.5, 1e18, 710.0, -746.0, 1e300,      -1e300,   1e-300,    5e-324, -5e-324,
    -1.1, 1e-9, 1023, -1074, 0x1p53, 0x1p53 + 2, INFINITY, -INFINITY, NAN,    DBL_MAX,
};

enum { NUM_SPECIALS = sizeof specials / sizeof *specials };

/* Equal, with the sign of zero; or both NaN; or both within rounding. */
static bool same(double got, double want)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want) || want == 0)
        return got == want && signbit(got) == signbit(want);
    return fabs(got - want) <= fmax(fabs(want) * 0x1p-52, 5e-324);
}

static void test_special_cases(void **state)
{
    static const struct {
        const char *name;
        function *ours, *library;
    } rows[] = {
        {"exp", hd_exp, exp},    {"exp2", hd_exp2, exp2}, {"log", hd_log, log},
        {"log2", hd_log2, log2}, {"sin", hd_sin, sin},    {"cos", hd_cos, cos},
    };

    (void)state;
    for (unsigned i = 0; i < NUM_SPECIALS; i++) {
        for (unsigned j = 0; j < sizeof rows / sizeof *rows; j++) {
            if (!same(rows[j].ours(specials[i]), rows[j].library(specials[i])))
                fail_msg("%s(%g) = %g", rows[j].name, specials[i], rows[j].ours(specials[i]));
        }
        for (unsigned j = 0; j < NUM_SPECIALS; j++) {
            double x = specials[i], y = specials[j];

            if (!same(hd_pow(x, y), pow(x, y)))
                fail_msg("pow(%g, %g) = %g, not %g", x, y, hd_pow(x, y), pow(x, y));
        }
    }
}

static void test_exact_powers_of_two(void **state)
{
    (void)state;
    for (int n = -1074; n < 1024; n++) {
        double x = ldexp(1.0, n);

        assert_true(hd_exp2(n) == x);
        assert_true(hd_log2(x) == n);
        assert_true(hd_pow(2.0, n) == x);
    }
    assert_true(hd_pow(10.0, 15) == 1e15);
    assert_true(hd_pow(-3.0, 33) == -5559060566555523.0);
}

/* The same bits in every build: values that this version gave when it was written. */
static void test_bits_are_fixed(void **state)
{
    (void)state;
    assert_true(hd_exp(1.0) == 0x1.5bf0a8b145769p+1);
    assert_true(hd_log(10.0) == 0x1.26bb1bbb55516p+1);
    assert_true(hd_sin(1.0) == 0x1.aed548f090ceep-1);
    assert_true(hd_cos(1.0) == 0x1.14a280fb5068cp-1);
    assert_true(hd_pow(2.0, 0.5) == 0x1.6a09e667f3bcdp+0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponentials),
        cmocka_unit_test(test_logarithms),
        cmocka_unit_test(test_sines),
        cmocka_unit_test(test_sines_of_the_greatest_numbers),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_special_cases),
        cmocka_unit_test(test_exact_powers_of_two),
        cmocka_unit_test(test_bits_are_fixed),
    };

    return cmocka_run_group_tests_name("fmath", tests, NULL, NULL);
}
