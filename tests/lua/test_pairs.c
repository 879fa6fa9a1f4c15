/* The order of pairs and next is the keys' own. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static void test_numbers_strings_booleans(void **state)
{
    (void)state;
    expect_log(
        "for k, v in pairs{z=1, a=2, [3]=3, [-1]=4, [2.5]=5, [true]=6, [false]=7, [1]=8,\n"
        "  [math.mininteger]=9, [math.maxinteger]=10, [-math.huge]=11, [1e300]=12, B=13, ab=14}\n"
        "do print(k, v) end",
        "-inf\t11\n-9223372036854775808\t9\n-1\t4\n1\t8\n2.5\t5\n3\t3\n"
        "9223372036854775807\t10\n1e+300\t12\nB\t13\na\t2\nab\t14\nz\t1\nfalse\t7\ntrue\t6\n");
}

/* 2^63 is just above the largest integer, and 2^53 + 0.5 does not exist: mixed comparison must be exact. */
static void test_integers_against_floats(void **state)
{
    (void)state;
    expect_log(
        "for k in pairs{[9007199254740993]=1, [9007199254740992]=1, [2^63]=1,\n"
        "  [math.maxinteger]=1, [-2^63 - 2048]=1, [math.mininteger]=1, [-0.5]=1, [0]=1, [-1]=1}\n"
        "do print(k) end",
        "-9.2233720368548e+18\n-9223372036854775808\n-1\n-0.5\n0\n9007199254740992\n"
        "9007199254740993\n9223372036854775807\n9.2233720368548e+18\n");
}

static void test_strings_by_bytes(void **state)
{
    (void)state;
    expect_log(
        "for k in pairs{['']=1, a=1, ['a\\0']=1, ['a\\0b']=1, ['\\xff']=1, Z=1} do print(#k) end",
        "0\n1\n1\n2\n3\n1\n");
}

static void test_next_walks_like_pairs(void **state)
{
    (void)state;
    expect_log("local t = {30, 20, 10, x=1, y=2, [true]=3, [0.5]=4}\n"
               "local k, v = next(t)\nwhile k ~= nil do print(k, v) k, v = next(t, k) end\n"
               "print(next({}))",
               "0.5\t4\n1\t30\n2\t20\n3\t10\nx\t1\ny\t2\ntrue\t3\nnil\n");
}

static void test_removing_while_walking(void **state)
{
    (void)state;
    expect_log("local t = {a=1, b=2, c=3, d=4}\n"
               "for k in pairs(t) do print(k) t.b = nil t[k] = nil t.e = 5 end\nfor k in pairs(t) "
               "do print(k) end",
               "a\nc\nd\ne\n");
}

static void test_handles_in_order_of_making(void **state)
{
    (void)state;
    expect_log("local gpu = require 'heddle'\nlocal t = {}\n"
               "local a, b, c = gpu.array('i32', 1), gpu.array('i32', 2), gpu.stream()\n"
               "t[c] = 1 t[b] = 2 t[a] = 3 t.x = 4\nfor k, v in pairs(t) do print(k, v) end",
               "x\t4\ni32[1] array0\t3\ni32[2] array1\t2\nstream\t1\n");
}

static void test_other_keys_are_refused(void **state)
{
    (void)state;
    expect_error("local t = {[{}]=1}\nfor k in pairs(t) do end", HD_BAD_INPUT, 2,
                 "with a table as key");
    expect_error("local t = {[print]=1}\n\nnext(t)", HD_BAD_INPUT, 3, "with a function as key");
}

static void test_metamethod_pairs(void **state)
{
    (void)state;
    expect_log("local t = setmetatable({}, {__pairs = function(t) return next, {q=1}, nil end})\n"
               "for k, v in pairs(t) do print(k, v) end",
               "q\t1\n");
}

static const char keyed_sweep[] = "local sweep = {alpha={1,2}, beta={3}, gamma={4,5}, delta={6}}\n"
                                  "for k, v in pairs(sweep) do for i, x in ipairs(v) do print(k, "
                                  "i, x, math.random(1000)) end end\n";

/* Each run is a Lua state of its own, with a seed of its own for string hashes. */
static void test_pb25_keyed_table_and_random_without_seed(void **state)
{
    struct rig r;
    struct text first = {0};

    (void)state;
    rig_init(&r);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(rig_run(&r, keyed_sweep), HD_OK);
        if (i == 0)
            text_add(&first, "%s", text_str(&r.log));
        assert_string_equal(text_str(&r.log), text_str(&first));
    }
    r.o.seed = 2;
    assert_int_equal(rig_run(&r, keyed_sweep), HD_OK);
    assert_string_not_equal(text_str(&r.log), text_str(&first));
    text_free(&first);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_strings_booleans),
        cmocka_unit_test(test_integers_against_floats),
        cmocka_unit_test(test_strings_by_bytes),
        cmocka_unit_test(test_next_walks_like_pairs),
        cmocka_unit_test(test_removing_while_walking),
        cmocka_unit_test(test_handles_in_order_of_making),
        cmocka_unit_test(test_other_keys_are_refused),
        cmocka_unit_test(test_metamethod_pairs),
        cmocka_unit_test(test_pb25_keyed_table_and_random_without_seed),
    };

    return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
