/* Scripts that never end or eat memory: ended by a limit, with a line, whatever they try. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void runs_out(const char *program, int line)
{
    expect_error(program, HD_SIM_FAILED, line, "limit of 4000000 instructions");
}

static void eats(const char *program, int line)
{
    expect_error(program, HD_SIM_FAILED, line, "limit of 33554432 bytes");
}

static void test_pb34_loop(void **state)
{
    (void)state;
    runs_out("\nwhile true do end", 2);
}

static void test_pb34_loop_in_pcall(void **state)
{
    (void)state;
    runs_out("while true do\npcall(function() while true do end end)\nend", 2);
    runs_out("local function f() pcall(f) while true do end end f()", 1);
    runs_out("while true do xpcall(function() while true do end end,\nfunction() while true do end "
             "end) end",
             1);
    runs_out("while true do\npcall(error) end", 2);
}

static void test_pb34_loop_in_coroutine(void **state)
{
    (void)state;
    runs_out("while true do\nlocal co = coroutine.create(function() while true do end end)\n"
             "coroutine.resume(co) end",
             2);
    runs_out("coroutine.wrap(function()\nwhile true do coroutine.yield() end end)()\n"
             "local f = coroutine.wrap(function() while true do coroutine.yield() end end) "
             "while true do f() end",
             3);
    runs_out("local function nest() pcall(coroutine.wrap(nest)) while true do end end nest()", 1);
}

static void test_pb34_close_variables(void **state)
{
    (void)state;
    runs_out("local mt = {__close = function() while true do end end}\n"
             "while true do pcall(function() local x <close> = setmetatable({}, mt)\n"
             "error('x') end) end",
             1);
}

/* Lua runs these with hooks off when it is the hook that ends the coroutine. */
static void test_pb34_close_variables_of_coroutines(void **state)
{
    (void)state;
    runs_out("local mt = {__close = function() while true do end end}\n"
             "coroutine.wrap(function() local x <close> = setmetatable({}, mt)\n"
             "while true do end end)()",
             3);
    runs_out("local mt = {__close = function() while true do end end}\n"
             "local co = coroutine.create(function() local x <close> = setmetatable({}, mt)\n"
             "while true do end end)\n"
             "coroutine.resume(co) while true do coroutine.close(co) end",
             3);
}

static void test_pb34_finalizers_are_refused(void **state)
{
    (void)state;
    expect_error("setmetatable({}, {__gc = function() while true do end end})", HD_BAD_INPUT, 1,
                 "__gc");
    expect_log("local mt = {}\nlocal t = setmetatable({}, mt)\n"
               "mt.__gc = function() while true do end end\nt = nil\n"
               "for i = 1, 10000 do local x = {} end print('end')",
               "end\n");
}

static void test_pb34_limit_cannot_be_removed(void **state)
{
    (void)state;
    expect_error("debug.sethook()", HD_BAD_INPUT, 1, "no global 'debug'");
    expect_error("os.exit(0)", HD_BAD_INPUT, 1, "no global 'os'");
}

static void test_pb34_string_rep(void **state)
{
    (void)state;
    eats("\nlocal s = ('x'):rep(1e9)", 2);
    eats("while true do pcall(string.rep, 'x', 1e9) end", 1);
    expect_error("\nlocal s = ('x'):rep(1e10)", HD_BAD_INPUT, 2, "string too large");
    expect_error("local s = ('xx'):rep(math.maxinteger)", HD_BAD_INPUT, 1, "string too large");
    expect_log("print(#(''):rep(1 << 62), #(''):rep(1 << 62, ''))", "0\t0\n");
}

static void test_pb34_tables_and_strings_that_grow(void **state)
{
    (void)state;
    eats("local t = {}\nwhile true do t[#t + 1] = {} end", 2);
    eats("local s = 'x'\nwhile true do s = s .. s end", 2);
    eats("local t = {}\nwhile true do\npcall(function() t[#t + 1] = ('x'):rep(100000) .. #t end) "
         "end",
         3);
    eats("local t = {}\nlocal i = 0\nwhile true do i = i + 1 t[i .. ''] = i end", 3);
}

static void test_pb34_recursion(void **state)
{
    (void)state;
    eats("local function f() return 1 + f() end\nf()", 1);
    expect_error("local function f() return (string.gsub('x', '.', f)) end\nf()", HD_BAD_INPUT, 1,
                 "C stack overflow");
    expect_error("local f = load(('('):rep(300) .. '1' .. (')'):rep(300)) f()", HD_BAD_INPUT, 1,
                 "nil value");
}

/* Loops in C whose length is an argument count as instructions. */
static void test_loops_in_c_are_charged(void **state)
{
    (void)state;
    runs_out("\ntable.move({}, 1, 1 << 40, 2)", 2);
    runs_out("table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1, 0)", 1);
    runs_out("table.remove(setmetatable({}, {__len = function() return 1 << 60 end}), 1)", 1);
    runs_out("pcall(table.concat, setmetatable({}, {__index = rawlen}), '', 1, 1 << 60)", 1);
    runs_out("table.sort(setmetatable({}, {__len = function() return (1 << 31) - 2 end, __index = "
             "rawlen}))",
             1);
    runs_out("local t = {} for i = 1, 3000 do t[i] = i end\n"
             "while true do\nlocal k repeat k = next(t, k) until k == nil end",
             3);
}

/* 2^20 elements are 2^14 instructions. */
static void test_bulk_operations_are_charged(void **state)
{
    (void)state;
    runs_out("local a = require 'heddle'.array('u8', 1 << 20)\nwhile true do a:fill(0) end", 2);
}

static void test_limits_are_exact_enough(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    assert_int_equal(rig_run(&r, "for i = 1, 1000000 do end"), HD_OK);
    assert_in_range(r.info.instructions, 1000000, 1010000);
    assert_in_range(r.info.peak_memory, 10000, 200000);
    r.o.max_instructions = 900000;
    assert_int_equal(rig_run(&r, "for i = 1, 1000000 do end"), HD_SIM_FAILED);
    r.o.max_instructions = 1;
    assert_int_equal(rig_run(&r, "for i = 1, 1000000 do end"), HD_SIM_FAILED);
    r.o.max_instructions = 1 << 30;
    r.o.max_memory = 1000;
    assert_int_equal(rig_run(&r, "return 1"), HD_SIM_FAILED);
    r.o.max_memory = 20000;
    assert_int_equal(rig_run(&r, "return 1"), HD_SIM_FAILED);
    rig_free(&r);
}

/* Records outlive what they are of, but for events. */
static void test_records_count(void **state)
{
    (void)state;
    eats("local gpu = require 'heddle'\nwhile true do gpu.array('u8', 1):free() end", 2);
    eats("local gpu = require 'heddle'\nwhile true do gpu.stream():free() end", 2);
    eats("local gpu = require 'heddle'\nwhile true do gpu.event() end", 2);
    eats("local gpu = require 'heddle'\nlocal name = ('x'):rep(1 << 20)\n"
         "while true do gpu.array('u8', 1, name):free() end",
         3);
    eats("local gpu = require 'heddle'\nlocal make = gpu.array\n"
         "while true do pcall(make, 'u8', 1) end",
         3);
    expect_log("local gpu = require 'heddle'\n"
               "for i = 1, 100000 do gpu.event():free() end print 'done'",
               "done\n");
}

static void test_arrays_have_a_limit(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    r.gpu.limits.max_array_bytes = 1000;
    assert_int_equal(rig_run(&r, "local gpu = require 'heddle'\n"
                                 "for i = 1, 100 do\n"
                                 "    local a <close> = gpu.array('u8', 600)\n"
                                 "    local b <close> = gpu.device_array('u8', 400)\n"
                                 "end"),
                     HD_OK);
    assert_int_equal(rig_run(&r, "local gpu = require 'heddle'\n"
                                 "local a = gpu.array('u8', 600)\n"
                                 "pcall(gpu.array, 'u8', 401, 'b')"),
                     HD_SIM_FAILED);
    assert_string_equal(r.err.code, "array-memory");
    assert_string_equal(r.err.message, "array b of 401 bytes, beside 600 bytes of other arrays, "
                                       "is past the limit of 1000 bytes");
    rig_free(&r);
}

/* Every amount of memory up to what a small program needs ends in a clean error. */
static void test_memory_ends_anywhere(void **state)
{
    struct rig r;
    unsigned finished = 0;

    (void)state;
    rig_init(&r);
    rig_file(&r, "m.lua", "return {}");
    for (r.o.max_memory = 3000; finished < 3; r.o.max_memory += 997) {
        const enum hd_status status =
            rig_run(&r, "local gpu = require 'heddle' local m = require 'm'\n"
                        "local t = {} for i = 1, 100 do t[i] = tostring(i) .. 'x' end\n"
                        "for k, v in pairs(t) do t[k] = v:rep(10) end\n"
                        "gpu.region('r', function() local a = gpu.array('f32', 10):fill('i') end)\n"
                        "print(table.concat(t))");

        assert_true(status == HD_OK || status == HD_SIM_FAILED);
        finished += status == HD_OK;
        assert_true(r.o.max_memory < 1000000);
    }
    rig_free(&r);
}

static void test_stop_flag(void **state)
{
    const volatile int stop = 1;
    struct rig r;

    (void)state;
    rig_init(&r);
    r.gpu.limits.stop = &stop;
    assert_int_equal(rig_run(&r, "while true do pcall(function() while true do end end) end"),
                     HD_STOPPED);
    assert_string_equal(r.err.code, "stopped");
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb34_loop),
        cmocka_unit_test(test_pb34_loop_in_pcall),
        cmocka_unit_test(test_pb34_loop_in_coroutine),
        cmocka_unit_test(test_pb34_close_variables),
        cmocka_unit_test(test_pb34_close_variables_of_coroutines),
        cmocka_unit_test(test_pb34_finalizers_are_refused),
        cmocka_unit_test(test_pb34_limit_cannot_be_removed),
        cmocka_unit_test(test_pb34_string_rep),
        cmocka_unit_test(test_pb34_tables_and_strings_that_grow),
        cmocka_unit_test(test_pb34_recursion),
        cmocka_unit_test(test_loops_in_c_are_charged),
        cmocka_unit_test(test_bulk_operations_are_charged),
        cmocka_unit_test(test_limits_are_exact_enough),
        cmocka_unit_test(test_records_count),
        cmocka_unit_test(test_arrays_have_a_limit),
        cmocka_unit_test(test_memory_ends_anywhere),
        cmocka_unit_test(test_stop_flag),
    };

    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
