/* Arrays element by element and in bulk. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#define GPU "local gpu = require 'heddle' "

static void test_reading_and_writing(void **state)
{
    (void)state;
    expect_log(GPU "local a = gpu.array('i32', 3, 'a')\nprint(a, #a, a[0], a[2])\n"
                   "a[0] = 5 a[1] = -6.0 a[2.0] = 7\nprint(a[0], a[1], a[2], math.type(a[1]))\n"
                   "local f = gpu.array('f32', 1) f[0] = 0.1 print(f[0] == 0.1, math.abs(f[0] - "
                   "0.1) < 1e-8, math.type(f[0]))",
               "i32[3] a\t3\t0\t0\n5\t-6\t7\tinteger\nfalse\ttrue\tfloat\n");
}

static void test_every_type_holds_its_range(void **state)
{
    static const struct {
        const char *type, *low, *high, *below, *above;
    } ranges[] = {
        {"i8", "-128", "127", "-129", "128"},
        {"u8", "0", "255", "-1", "256"},
        {"i16", "-32768", "32767", "-32769", "32768"},
        {"u16", "0", "65535", "-1", "65536"},
        {"i32", "-2147483648", "2147483647", "-2147483649", "2147483648"},
        {"u32", "0", "4294967295", "-1", "4294967296"},
    };
    char program[512], log[128];

    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        snprintf(
            program, sizeof program,
            GPU
            "local a = gpu.array('%s', 2) a[0] = %s a[1] = %s print(a[0], a[1], a:min(), a:max())",
            ranges[i].type, ranges[i].low, ranges[i].high);
        snprintf(log, sizeof log, "%s\t%s\t%s\t%s\n", ranges[i].low, ranges[i].high, ranges[i].low,
                 ranges[i].high);
        expect_log(program, log);
        snprintf(program, sizeof program, GPU "local a = gpu.array('%s', 2)\na[0] = %s",
                 ranges[i].type, ranges[i].below);
        expect_error(program, HD_BAD_INPUT, 2, "does not fit the type");
        snprintf(program, sizeof program, GPU "local a = gpu.array('%s', 2)\na:fill('%s')",
                 ranges[i].type, ranges[i].above);
        expect_error(program, HD_BAD_INPUT, 2, "cannot hold");
        snprintf(program, sizeof program, GPU "local a = gpu.array('%s', 2)\na:fill(%s)",
                 ranges[i].type, ranges[i].above);
        expect_error(program, HD_BAD_INPUT, 2, "does not fit the type");
    }
}

static void test_64_bits(void **state)
{
    (void)state;
    expect_log(GPU
               "local a, b = gpu.array('i64', 2), gpu.array('u64', 2)\n"
               "a[0] = math.mininteger a[1] = math.maxinteger print(a:min(), a:max(), a:sum())\n"
               "b[0] = -1 b[1] = 1 print(b[0], b:min(), b:max(), math.ult(b[1], b[0]))",
               "-9223372036854775808\t9223372036854775807\t-1\n-1\t1\t-1\ttrue\n");
    expect_error(GPU "\ngpu.array('i64', 1)[0] = 2^63", HD_BAD_INPUT, 2, "does not fit");
    expect_error(GPU "local b = gpu.array('u64', 2):fill(-1)\nprint(b:sum())", HD_BAD_INPUT, 2,
                 "64 bits");
    expect_error(GPU "local b = gpu.array('i64', 2):fill(math.maxinteger)\nprint(b:sum())",
                 HD_BAD_INPUT, 2, "64 bits");
}

static void test_wrong_elements_and_indices(void **state)
{
    (void)state;
    expect_error(GPU "\nlocal a = gpu.array('f32', 4) print(a[4])", HD_BAD_INPUT, 2,
                 "index 4 is outside the array f32[4]");
    expect_error(GPU "\nlocal a = gpu.array('f32', 4, 'w') a[-1] = 0", HD_BAD_INPUT, 2,
                 "index -1 is outside the array f32[4] w");
    expect_error(GPU "\nprint(gpu.array('f32', 4)[1.5])", HD_BAD_INPUT, 2, "whole number, got 1.5");
    expect_error(GPU "\nprint(gpu.array('f32', 4)[nil])", HD_BAD_INPUT, 2, "whole number, got nil");
    expect_error(GPU "\nprint(gpu.array('f32', 4)[2^60])", HD_BAD_INPUT, 2,
                 "index 1152921504606846976 is outside");
    expect_error(GPU "\ngpu.array('f32', 4)[0] = '1'", HD_BAD_INPUT, 2, "cannot be a string value");
    expect_error(GPU "\ngpu.array('i32', 4)[0] = 1.5", HD_BAD_INPUT, 2, "1.5 is not a whole number");
    expect_error(GPU "\ngpu.array('i32', 4)[0] = 0/0", HD_BAD_INPUT, 2, "not a whole number");
    expect_error(GPU "\ngpu.array('i32', 4)[0] = math.huge", HD_BAD_INPUT, 2, "does not fit");
    expect_error(GPU "\ngpu.array('i32', 4)[0] = nil", HD_BAD_INPUT, 2, "cannot be a nil value");
    expect_error(GPU "\ngpu.array('i32', 4):fil(1)", HD_BAD_INPUT, 2, "did you mean fill?");
}

static void test_wrong_making(void **state)
{
    (void)state;
    expect_error(GPU "\ngpu.array('float', 4)", HD_BAD_INPUT, 2,
                 "i8 u8 i16 u16 i32 u32 i64 u64 f32 f64");
    expect_error(GPU "\ngpu.array('f32', 0)", HD_BAD_INPUT, 2, "at least 1, got 0");
    expect_error(GPU "\ngpu.array('f32', -5)", HD_BAD_INPUT, 2, "at least 1, got -5");
    expect_error(GPU "\ngpu.array('f32', 1.5)", HD_BAD_INPUT, 2, "whole number");
    expect_error(GPU "\ngpu.array('f32', math.huge)", HD_BAD_INPUT, 2, "whole number");
    expect_error(GPU "\ngpu.array('f32', 0/0)", HD_BAD_INPUT, 2, "whole number");
    expect_error(GPU "\ngpu.array('f32', '4')", HD_BAD_INPUT, 2, "number expected, got string");
    expect_error(GPU "\ngpu.array('f32')", HD_BAD_INPUT, 2, "number expected, got no value");
    expect_error(GPU "\ngpu.array('f64', math.maxinteger)", HD_BAD_INPUT, 2, "");
}

static void test_fill_and_map(void **state)
{
    (void)state;
    expect_log(GPU
               "local function p(a) print(table.concat(a:to_table(), ' ')) end\n"
               "local a, f = gpu.array('i32', 5), gpu.array('f64', 4)\n"
               "p(a:fill(3)) p(a:fill('i*i - n')) p(a:map('x % 3 + i'))\n"
               "p(f:fill(0.5)) p(f:fill('1/(i+1)')) p(f:map('x*2')) p(f:fill(1e308):map('x*10'))",
               "3 3 3 3 3\n-5 -4 -1 4 11\n1 3 4 4 6\n"
               "0.5 0.5 0.5 0.5\n1.0 0.5 0.33333333333333 0.25\n2.0 1.0 0.66666666666667 0.5\ninf "
               "inf inf inf\n");
    expect_error(GPU "\ngpu.array('i32', 9):fill('i/2')", HD_BAD_INPUT, 2, "element 1 would be 0.5");
    expect_error(GPU "\ngpu.array('u8', 1000):fill('i')", HD_BAD_INPUT, 2,
                 "element 256 would be 256");
    expect_error(GPU "\ngpu.array('i32', 9):fill('x')", HD_BAD_INPUT, 2, "column 1: only map");
    expect_error(GPU "\ngpu.array('i32', 9):fill()", HD_BAD_INPUT, 2, "cannot be a nil value");
    expect_error(GPU "\ngpu.array('i32', 9):map(3)", HD_BAD_INPUT, 2, "string expected");
}

static void test_iota(void **state)
{
    (void)state;
    expect_log(GPU "local function p(a) print(table.concat(a:to_table(), ' ')) end\n"
                   "local a, f = gpu.array('i8', 4), gpu.array('f32', 4)\n"
                   "p(a:iota()) p(a:iota(5, -3)) p(a:iota(127, 0)) p(f:iota(0.5, 0.25))",
               "0 1 2 3\n5 2 -1 -4\n127 127 127 127\n0.5 0.75 1.0 1.25\n");
    expect_error(GPU "\ngpu.array('i8', 129):iota()", HD_BAD_INPUT, 2, "leaves the range");
    expect_error(GPU "\ngpu.array('i64', 3):iota(0, math.maxinteger)", HD_BAD_INPUT, 2,
                 "leaves the range");
    expect_error(GPU "\ngpu.array('i8', 3):iota(0, 0.5)", HD_BAD_INPUT, 2,
                 "no integer representation");
}

static void test_random(void **state)
{
    struct rig r;
    struct text first = {0};
    const char *program =
        GPU "local a, b = gpu.array('f32', 1000):random(7), gpu.array('f32', 1000):random(8)\n"
            "assert(a:min() >= 0 and a:max() <= 1 and a:hash() ~= b:hash())\n"
            "assert(a:sum() > 430 and a:sum() < 570)\n"
            "local d = gpu.array('i32', 1000):random(1, -2, 2)\n"
            "assert(d:min() == -2 and d:max() == 2)\n"
            "local q = gpu.array('u64', 100):random(1, 0, -1) assert(q:max() ~= q:min())\n"
            "assert(gpu.array('i64', 9):random(1, 5, 5):max() == 5)\n"
            "print(a:hash(), d:hash(), q:hash())";

    (void)state;
    rig_init(&r);
    assert_int_equal(rig_run(&r, program), HD_OK);
    text_add(&first, "%s", text_str(&r.log));
    assert_int_equal(rig_run(&r, program), HD_OK);
    assert_string_equal(text_str(&r.log), text_str(&first));
    r.o.seed = 9;
    assert_int_equal(rig_run(&r, program), HD_OK);
    assert_string_not_equal(text_str(&r.log), text_str(&first));
    text_free(&first);
    rig_free(&r);
    expect_error(GPU "\ngpu.array('i32', 3):random(1)", HD_BAD_INPUT, 2, "cannot be a nil value");
    expect_error(GPU "\ngpu.array('i32', 3):random(1, 5, 4)", HD_BAD_INPUT, 2, "wrong order");
    expect_error(GPU "\ngpu.array('f32', 3):random(1, 0, math.huge)", HD_BAD_INPUT, 2, "finite");
    expect_error(GPU "\ngpu.array('f32', 3):random()", HD_BAD_INPUT, 2, "number expected");
}

static void test_copies(void **state)
{
    (void)state;
    expect_log(GPU "local function p(a) print(table.concat(a:to_table(), ' ')) end\n"
                   "local a, b = gpu.array('i32', 4):iota(1), gpu.array('i32', 6)\n"
                   "p(b:copy(a)) b:fill(0) p(b:copy_from(a, 2)) a:copy_to(b, 3) p(b)\n"
                   "a:copy(a) p(a)\n"
                   "p(b:from{9, 8.0}) p(b:from({7}, 5)) print(table.concat(b:to_table(1, 3), ' ')) "
                   "p(b:from{})",
               "1 2 3 4 0 0\n1 2 0 0 0 0\n1 2 3 0 0 0\n1 2 3 4\n"
               "9 8 3 0 0 0\n9 8 3 0 0 7\n8 3 0\n9 8 3 0 0 7\n");
    expect_error(GPU "\ngpu.array('i32', 3):copy(gpu.array('u32', 3))", HD_BAD_INPUT, 2,
                 "types i32 and u32");
    expect_error(GPU "\ngpu.array('i32', 3):copy(gpu.array('i32', 4))", HD_BAD_INPUT, 2,
                 "cannot copy 4");
    expect_error(GPU "\ngpu.array('i32', 3):copy({})", HD_BAD_INPUT, 2,
                 "heddle.array expected, got table");
    expect_error(GPU "\ngpu.array('i32', 3):from{1, 2, 3, 4}", HD_BAD_INPUT, 2, "do not fit");
    expect_error(GPU "\ngpu.array('i32', 3):from({1}, 3)", HD_BAD_INPUT, 2, "do not fit");
    expect_error(GPU "\ngpu.array('i32', 3):from{1, 'x'}", HD_BAD_INPUT, 2, "cannot be a string");
    expect_error(GPU "\ngpu.array('i32', 3):to_table(3)", HD_BAD_INPUT, 2, "outside the array");
    expect_error(GPU "\ngpu.array('i32', 3):to_table(1, 3)", HD_BAD_INPUT, 2, "not that many");
}

/* A value that does not fit is found before the first is written. */
static void test_from_writes_all_or_nothing(void **state)
{
    (void)state;
    expect_log(
        GPU "local a = gpu.array('u8', 3):fill(1)\nprint(pcall(a.from, a, {2, 300}))\nprint(a[0])",
        "false\t300 does not fit the type u8: 0 to 255\n1\n");
}

static void test_reductions(void **state)
{
    (void)state;
    expect_log(
        GPU "local a, f = gpu.array('i32', 1000):iota(1), gpu.array('f64', 1000):fill('i+1')\n"
            "print(a:sum(), a:dot(a), a:min(), a:max())\n"
            "print(f:sum(), f:dot(f), f:min(), f:max())\n"
            "f[500] = 0/0 print(f:min() ~= f:min(), f:max() ~= f:max())\n"
            "local e = gpu.array('f32', 300):fill('1/(i+1)') local s = 0 for i = 0, 299 do s = s + "
            "e[i] end\n"
            "print(s == e:sum())",
        "500500\t333833500\t1\t1000\n500500.0\t333833500.0\t1.0\t1000.0\ntrue\ttrue\ntrue\n");
    expect_error(GPU "\ngpu.array('i32', 3):dot(gpu.array('i32', 4))", HD_BAD_INPUT, 2,
                 "one type and length");
}

/* FNV-1a: the offset basis times the prime for one byte 0; "foobar" is 85944171f73967e8 in its authors' list. */
static void test_hash_is_fnv1a(void **state)
{
    (void)state;
    expect_log(GPU "print(gpu.array('u8', 1):hash())\n"
                   "print(gpu.array('u8', 6):from{('foobar'):byte(1, 6)}:hash())\n"
                   "print(gpu.array('u32', 1):from{0x64636261}:hash() == gpu.array('u8', "
                   "4):from{('abcd'):byte(1, 4)}:hash())",
               "af63bd4c8601b7df\n85944171f73967e8\ntrue\n");
}

static void test_freed_arrays(void **state)
{
    (void)state;
    expect_error(GPU "local a = gpu.array('f32', 4, 'w') a:free()\nprint(a[0])", HD_BAD_INPUT, 2,
                 "array f32[4] was freed");
    expect_error(GPU "local a = gpu.array('f32', 4) a:free()\na:fill(1)", HD_BAD_INPUT, 2,
                 "was freed");
    expect_error(GPU "local a = gpu.array('f32', 4) a:free()\na:free()", HD_BAD_INPUT, 2,
                 "was freed");
    expect_log(GPU "local kept do local a <close> = gpu.array('f32', 4) kept = a end print(kept)\n"
                   "do local a <close> = gpu.array('f32', 4) a:free() end",
               "freed f32[4]\n");
}

/* The two rates differ; all else of the two copies is the same. */
static void test_copies_of_pageable_memory(void **state)
{
    (void)state;
    expect_log(
        GPU
        "local bytes = 6000000\n"
        "local d, h = gpu.device_array('u8', bytes), gpu.array('u8', bytes)\n"
        "local function time(to, from, pinned)\n"
        "    gpu.sync() local t = gpu.time_ns()\n"
        "    gpu.copy(to, from, {pinned = pinned}) gpu.sync()\n"
        "    return gpu.time_ns() - t\n"
        "end\n"
        "time(d, h)\n"
        "local rate = gpu.config('link.pageable_bytes_per_second')\n"
        "local up = bytes / rate - bytes / gpu.config('link.h2d_bytes_per_second')\n"
        "local down = bytes / rate - bytes / gpu.config('link.d2h_bytes_per_second')\n"
        "print(up > 1e-4 and math.abs(time(d, h, false) - time(d, h, true) - up * 1e9) < 0.01)\n"
        "print(down > 1e-4 and math.abs(time(h, d, false) - time(h, d) - down * 1e9) < 0.01)",
        "true\ntrue\n");
    expect_error(GPU "local d, h = gpu.device_array('u8', 1), gpu.array('u8', 1)\n"
                     "gpu.copy(d, h, {pinned = 1})",
                 HD_BAD_INPUT, 2, "pinned must be true or false, got number");
}

static void test_device_arrays(void **state)
{
    (void)state;
    expect_log(GPU "local d, h = gpu.device_array('i32', 4, 'd'), gpu.array('i32', 4):iota()\n"
                   "print(d) gpu.copy(d, h) h:fill(0) gpu.copy(h, d, {count = 2, to_first = 1, "
                   "from_first = 2}) gpu.sync()\n"
                   "print(table.concat(h:to_table(), ' '))",
               "device i32[4] d\n0 2 3 0\n");
    expect_error(GPU "\nprint(gpu.device_array('i32', 4)[0])", HD_BAD_INPUT, 2,
                 "cannot reach the array device i32[4]");
    expect_error(GPU "\ngpu.device_array('i32', 4):fill(0)", HD_BAD_INPUT, 2, "cannot reach");
    expect_error(
        GPU
        "local d, h = gpu.device_array('i32', 4), gpu.array('i32', 3)\ngpu.copy(d, h, {count = 4})",
        HD_BAD_INPUT, 2, "cannot copy 4");
    expect_error(
        GPU
        "local d, h = gpu.device_array('i32', 4), gpu.array('i32', 3)\ngpu.copy(d, h, {cuont = 4})",
        HD_BAD_INPUT, 2, "did you mean 'count'?");
    expect_error(GPU "local d, h = gpu.device_array('i32', 4), gpu.array('i32', 3)\ngpu.copy(d, h, "
                     "{to_first = 4})",
                 HD_BAD_INPUT, 2, "outside its array");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_and_writing),
        cmocka_unit_test(test_every_type_holds_its_range),
        cmocka_unit_test(test_64_bits),
        cmocka_unit_test(test_wrong_elements_and_indices),
        cmocka_unit_test(test_wrong_making),
        cmocka_unit_test(test_fill_and_map),
        cmocka_unit_test(test_iota),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_from_writes_all_or_nothing),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_hash_is_fnv1a),
        cmocka_unit_test(test_freed_arrays),
        cmocka_unit_test(test_device_arrays),
        cmocka_unit_test(test_copies_of_pageable_memory),
    };

    return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
