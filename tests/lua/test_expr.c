/* Fill expressions against the same formulas in C, and against a tree evaluator on random ones. */
#include "host/lua/expr.h"

#include "sim/base/fmath.h"
#include "sim/base/rng.h"
#include "sim/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static double value_of(const char *text, double x, uint64_t i, uint64_t n)
{
    struct expr e;
    struct hd_error err;
    double out;

    if (expr_compile(text, true, &e, &err) != HD_OK)
        fail_msg("%s", err.message);
    expr_eval(&e, i, 1, n, &x, &out);
    return out;
}

static void same(const char *text, double expected)
{
    const double got = value_of(text, 2.5, 7, 100);

    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s is %.17g, not %.17g", text, got, expected);
}

static void test_precedence_is_luas(void **state)
{
    (void)state;
    same("1+2*3", 7);
    same("(1+2)*3", 9);
    same("10-4-3", 3);
    same("64/4/2", 8);
    same("2^3^2", 512);
    same("-2^2", -4);
    same("2^-1", 0.5);
    same("2^-2^0", 0.5);
    same("--3", 3);
    same("2*-3", -6);
    same("1+1<3", 1);
    same("3<1+1", 0);
    same("7%4+1", 4);
    same("(1<2)+(2<1)", 1);
}

static void test_names_and_functions(void **state)
{
    (void)state;
    same("i", 7);
    same("n", 100);
    same("x", 2.5);
    same("pi", 0x1.921fb54442d18p+1);
    same("1/(i+1)", 0.125);
    same("abs(-x)", 2.5);
    same("floor(-x)", -3);
    same("ceil(-x)", -2);
    same("sqrt(2)", sqrt(2));
    same("exp(x)", hd_exp(2.5));
    same("log(x)", hd_log(2.5));
    same("sin(i)", hd_sin(7));
    same("cos(i)", hd_cos(7));
    same("x^0.3", hd_pow(2.5, 0.3));
    same("min(3, x)", 2.5);
    same("max(3, x)", 3);
    same(" min ( 1 , 2 ) ", 1);
    same("1e3", 1000);
    same(".5", 0.5);
    same("0x10", 16);
}

static void test_modulo_has_the_sign_of_the_divisor(void **state)
{
    (void)state;
    same("7%3", 1);
    same("-7%3", 2);
    same("7%-3", -2);
    same("-7%-3", -1);
    same("5.5%2", 1.5);
}

static void test_comparisons(void **state)
{
    (void)state;
    same("1<1", 0);
    same("1<=1", 1);
    same("1>1", 0);
    same("1>=1", 1);
    same("1==1", 1);
    same("1~=1", 0);
    same("0/0==0/0", 0);
    same("0/0~=0/0", 1);
}

static void test_nan_in_min_and_max(void **state)
{
    (void)state;
    same("min(1, 0/0)", 1);
    same("max(1, 0/0)", 1);
    assert_true(isnan(value_of("min(0/0, 1)", 0, 0, 1)));
}

static void refused(const char *text, unsigned column, const char *why)
{
    struct expr e;
    struct hd_error err;
    char where[32];

    assert_int_equal(expr_compile(text, false, &e, &err), HD_BAD_INPUT);
    snprintf(where, sizeof where, "column %u: ", column);
    if (!strstr(err.message, where) || !strstr(err.message, why))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", err.message, where, why);
}

static void test_mistakes_have_a_column(void **state)
{
    (void)state;
    refused("", 1, "ends where a value");
    refused("1+", 3, "ends where a value");
    refused("1 2", 3, "expected an operator");
    refused("(1", 3, "expected ')'");
    refused("1)", 2, "expected an operator");
    refused("foo", 1, "no such name");
    refused("sin", 4, "expected '('");
    refused("sin()", 5, "expected a value");
    refused("min(1)", 6, "expected ','");
    refused("sin(1,2)", 6, "expected ')'");
    refused("x", 1, "only map");
    refused("1..2", 1, "not a number");
    refused("1e999", 1, "too large");
    refused("3x", 1, "not a number");
    refused("1<2<3", 4, "expected an operator");
    refused("i = 2", 3, "expected an operator");
    refused("\"1\"", 1, "expected a value");
    refused("inf", 1, "no such name");
}

static void test_limits_of_length_and_depth(void **state)
{
    char text[4 * EXPR_MAX_OPS];
    struct expr e;
    struct hd_error err;

    (void)state;
    memset(text, '(', 200);
    strcpy(text + 200, "1");
    assert_int_equal(expr_compile(text, false, &e, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "too deeply"));
    memset(text, '-', 500);
    strcpy(text + 500, "1");
    assert_int_equal(expr_compile(text, false, &e, &err), HD_BAD_INPUT);
    for (unsigned i = 0; i < EXPR_MAX_OPS; i++)
        memcpy(text + 2 * i, "1+", 2);
    strcpy(text + 2 * EXPR_MAX_OPS, "1");
    assert_int_equal(expr_compile(text, false, &e, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "too long"));
    for (unsigned i = 0; i <= EXPR_MAX_DEPTH; i++)
        memcpy(text + 2 * i, "1^", 2);
    strcpy(text + 2 * (EXPR_MAX_DEPTH + 1), "1");
    assert_int_equal(expr_compile(text, false, &e, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "too deeply"));
}

static void test_blocks_are_element_by_element(void **state)
{
    struct expr e;
    struct hd_error err;
    double x[EXPR_BLOCK], out[EXPR_BLOCK];

    (void)state;
    assert_int_equal(expr_compile("x*n+i", true, &e, &err), HD_OK);
    for (unsigned k = 0; k < EXPR_BLOCK; k++)
        x[k] = k * 0.5;
    expr_eval(&e, 1000, EXPR_BLOCK, 3, x, out);
    for (unsigned k = 0; k < EXPR_BLOCK; k++)
        assert_true(out[k] == k * 0.5 * 3 + 1000 + k);
}

/* Writes a random formula and returns its value, computed on the way by C's own operators. */
static double random_formula(struct rng *r, unsigned depth, struct text *out)
{
    const unsigned kind = depth == 0 ? 0 : (unsigned)rng_below(r, 8);
    double a, b;

    if (kind == 0) {
        a = (double)rng_below(r, 64) / 4;
        text_add(out, "%.17g", a);
        return a;
    }
    if (kind == 1) {
        text_add(out, "floor(");
        a = random_formula(r, depth - 1, out);
        text_add(out, ")");
        return floor(a);
    }
    text_add(out, "(");
    a = random_formula(r, depth - 1, out);
    text_add(out, "%s", (const char *[]){"+", "-", "*", "/", " < ", "=="}[kind - 2]);
    b = random_formula(r, depth - 1, out);
    text_add(out, ")");
    return (double[]){a + b, a - b, a * b, a / b, a < b, a == b}[kind - 2];
}

static void test_random_formulas(void **state)
{
    const uint64_t seed = 20260701;
    struct rng r;

    (void)state;
    rng_seed(&r, seed);
    for (unsigned i = 0; i < 2000; i++) {
        struct text formula = {0};
        const double expected = random_formula(&r, 5, &formula);
        const double got = value_of(text_str(&formula), 0, 0, 1);

        if (!(got == expected || (isnan(got) && isnan(expected))))
            fail_msg("seed %llu: %s is %.17g, not %.17g", (unsigned long long)seed,
                     text_str(&formula), got, expected);
        text_free(&formula);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence_is_luas),
        cmocka_unit_test(test_names_and_functions),
        cmocka_unit_test(test_modulo_has_the_sign_of_the_divisor),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_nan_in_min_and_max),
        cmocka_unit_test(test_mistakes_have_a_column),
        cmocka_unit_test(test_limits_of_length_and_depth),
        cmocka_unit_test(test_blocks_are_element_by_element),
        cmocka_unit_test(test_random_formulas),
    };

    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
