/* gpu.arg, and --arg and --data that nobody asked for. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define GPU "local gpu = require 'heddle' "

static const char all_types[] = GPU "local n, f, s, b = gpu.arg('n', 10), gpu.arg('f', 0.5), "
                                    "gpu.arg('s', 'abc'), gpu.arg('b', false)\n"
                                    "print(n, f, s, b, math.type(n), math.type(f))";

static void with(struct rig *r, const char *const *args, size_t nargs, const char *program)
{
    r->o.args = args;
    r->o.nargs = nargs;
    rig_run(r, program);
}

static void test_defaults_and_values(void **state)
{
    static const char *const args[] = {"n=-0x10", "f=3", "s=a=b", "b=on"};
    struct rig r;

    (void)state;
    rig_init(&r);
    with(&r, NULL, 0, all_types);
    assert_string_equal(text_str(&r.log), "10\t0.5\tabc\tfalse\tinteger\tfloat\n");
    with(&r, args, 4, all_types);
    assert_string_equal(text_str(&r.log), "-16\t3.0\ta=b\ttrue\tinteger\tfloat\n");
    assert_int_equal(r.info.args.len, 4);
    assert_string_equal(r.info.args.at[0].name, "n");
    assert_true(r.info.args.at[0].given);
    assert_int_equal(r.info.args.at[0].value.i, -16);
    assert_int_equal(r.info.args.at[0].def.i, 10);
    assert_string_equal(r.info.args.at[2].value.s, "a=b");
    assert_string_equal(r.info.args.at[2].def.s, "abc");
    assert_int_equal(r.info.args.at[3].value.i, 1);
    rig_free(&r);
}

static void test_values_of_the_wrong_type(void **state)
{
    static const struct {
        const char *arg, *why;
    } wrong[] = {
        {"n=1.5", "n is not a whole number"},
        {"n=", "n is not a whole number"},
        {"n=abc", "n is not a whole number"},
        {"n=1e6", "n is not a whole number"},
        {"n=inf", "n is not a whole number"},
        {"n=nan", "n is not a whole number"},
        {"n= 1", "n is not a whole number"},
        {"n=0x", "n is not a whole number"},
        {"n=9223372036854775808", "does not fit a 64-bit integer"},
        {"n=0x8000000000000000", "does not fit a 64-bit integer"},
        {"f=inf", "f is not a finite number"},
        {"f=nan", "f is not a finite number"},
        {"f=1e999", "f is not a finite number"},
        {"f=", "f is not a"},
        {"f=1x", "f is not a number"},
        {"f=-inf", "f is not a finite number"},
        {"b=yes", "b is not true or false"},
    };
    struct rig r;

    (void)state;
    rig_init(&r);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        with(&r, &wrong[i].arg, 1, all_types);
        if (r.status != HD_BAD_INPUT || !strstr(r.err.message, wrong[i].why))
            fail_msg("%s: %d %s", wrong[i].arg, r.status, r.err.message);
        assert_string_equal(r.err.code, "lua-arg-value");
    }
    rig_free(&r);
}

static void test_bounds(void **state)
{
    static const char *const low[] = {"n=0"}, *const high[] = {"n=65"}, *const good[] = {"n=64"};
    static const char program[] = GPU "\nprint(gpu.arg('n', 8, 1, 64))";
    struct rig r;

    (void)state;
    rig_init(&r);
    with(&r, low, 1, program);
    assert_string_equal(r.err.message, "argument n is 0, below its minimum of 1");
    assert_non_null(strstr(r.err.place, "main.lua:2"));
    with(&r, high, 1, program);
    assert_string_equal(r.err.message, "argument n is 65, above its maximum of 64");
    with(&r, good, 1, program);
    assert_string_equal(text_str(&r.log), "64\n");
    rig_free(&r);
    expect_error(GPU "gpu.arg('n', 0, 1)", HD_BAD_INPUT, 1, "n is 0, below its minimum");
    expect_error(GPU "gpu.arg('n', math.maxinteger, 1, math.maxinteger - 1)", HD_BAD_INPUT, 1,
                 "above its maximum");
    expect_error(GPU "gpu.arg('s', 'x', 1)", HD_BAD_INPUT, 1, "only numbers have bounds");
    expect_error(GPU "gpu.arg('n', 1, 'x')", HD_BAD_INPUT, 1, "number expected");
}

static void test_wrong_calls(void **state)
{
    (void)state;
    expect_error(GPU "gpu.arg('n')", HD_BAD_INPUT, 1, "number, string or boolean expected");
    expect_error(GPU "gpu.arg('n', {})", HD_BAD_INPUT, 1, "number, string or boolean expected");
    expect_error(GPU "gpu.arg('n', 0/0)", HD_BAD_INPUT, 1, "finite");
    expect_error(GPU "for i = 1, 1001 do gpu.arg('a' .. i, 1) end", HD_BAD_INPUT, 1, "at most 1000");
    expect_error(GPU "gpu.arg('', 1)", HD_BAD_INPUT, 1, "not empty");
    expect_error(GPU "gpu.arg(nil, 1)", HD_BAD_INPUT, 1, "string expected");
    expect_error(GPU "gpu.arg('n', 1) gpu.arg('n', 'x')", HD_BAD_INPUT, 1, "another type");
    expect_log(GPU "gpu.arg('n', 1) print(gpu.arg('n', 2))", "1\n");
}

static void test_unknown_args_and_data(void **state)
{
    static const char *const args[] = {"n=5", "bolck=3"}, *const data[] = {"in=/dev/null"};
    struct rig r;

    (void)state;
    rig_init(&r);
    with(&r, args, 2, GPU "gpu.arg('n', 1) gpu.arg('block', 2) print('ran')");
    assert_int_equal(r.status, HD_BAD_INPUT);
    assert_string_equal(r.err.message, "the program has no argument bolck; did you mean block?");
    assert_string_equal(r.err.hint, "its arguments are: n, block");
    with(&r, args, 1, "print('ran')");
    assert_string_equal(r.err.message, "the program has no argument n");
    assert_string_equal(r.err.hint, "its arguments are: none");
    r.o.nargs = 0;
    r.o.data = data;
    r.o.ndata = 1;
    rig_run(&r, "print('ran')");
    assert_int_equal(r.status, HD_BAD_INPUT);
    assert_string_equal(r.err.message, "the program never uses --data in");
    rig_free(&r);
}

static void test_malformed_options(void **state)
{
    static const char *const lists[][2] = {{"n"}, {"=3"}, {""}, {"n=1", "n=2"}};
    struct rig r;

    (void)state;
    rig_init(&r);
    for (size_t i = 0; i < 4; i++) {
        with(&r, lists[i], lists[i][1] ? 2 : 1, "print('ran')");
        assert_int_equal(r.status, HD_USAGE);
        assert_string_equal(text_str(&r.log), "");
    }
    rig_free(&r);
}

static void test_missing_program(void **state)
{
    struct rig r;
    hd_runtime *rt;

    (void)state;
    rig_init(&r);
    assert_int_equal(hd_runtime_new(&r.gpu, &rt, &r.err), HD_OK);
    r.o.path = rig_path(&r, "none.lua");
    assert_int_equal(hd_script_run(rt, &r.o, &r.info, &r.err), HD_BAD_INPUT);
    assert_string_equal(r.err.place, r.o.path);
    r.o.path = r.folder;
    assert_int_equal(hd_script_run(rt, &r.o, &r.info, &r.err), HD_BAD_INPUT);
    assert_non_null(strstr(r.err.message, "not a regular file"));
    hd_runtime_free(rt);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_and_values),
        cmocka_unit_test(test_values_of_the_wrong_type),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_unknown_args_and_data),
        cmocka_unit_test(test_malformed_options),
        cmocka_unit_test(test_missing_program),
    };

    return cmocka_run_group_tests_name("arg", tests, NULL, NULL);
}
