/* Regions, checks and the host's clock. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#define GPU "local gpu = require 'heddle' "

static void test_order_of_the_parts(void **state)
{
    (void)state;
    expect_log(
        GPU
        "gpu.region('main', {reset = function() print('reset') end, warmup = 2, iterations = 3},\n"
        "function() print('run') end) print('end')",
        "reset\nrun\nreset\nrun\nreset\nrun\nreset\nrun\nreset\nrun\nend\n");
    expect_log(GPU "gpu.region('main', function() print('run') end)", "run\nrun\n");
    expect_log(GPU "gpu.region('main', {warmup = 0}, function() print('run') end)", "run\n");
    expect_log(GPU "gpu.region('main', nil, function() print('run') end)", "run\nrun\n");
}

static void test_the_command_wins(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    r.o.iterations = 1;
    r.o.warmup = 0;
    rig_run(&r,
            GPU "gpu.region('main', {warmup = 2, iterations = 3}, function() print('run') end)");
    assert_string_equal(text_str(&r.log), "run\n");
    rig_free(&r);
}

/* Each timed iteration is one row of the result, numbered on through regions of one name. */
static void test_iterations_are_numbered_on(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    rig_run(&r, GPU "local a = gpu.array('i32', 1)\nlocal function f() a[0] = 1 end\n"
                    "gpu.region('a', {iterations = 2}, f) gpu.region('b', f) gpu.region('a', f)");
    assert_int_equal(r.status, HD_OK);
    assert_string_equal(text_str(&r.regions), "a 0\na 1\nb 0\na 2\n");
    rig_free(&r);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    expect_error(GPU "\ngpu.region('main')", HD_BAD_INPUT, 2, "function expected");
    expect_error(GPU "\ngpu.region(function() end)", HD_BAD_INPUT, 2, "string expected");
    expect_error(GPU "\ngpu.region('', print)", HD_BAD_INPUT, 2, "1 to 63 bytes");
    expect_error(GPU "\ngpu.region(('x'):rep(64), print)", HD_BAD_INPUT, 2, "1 to 63 bytes");
    expect_error(GPU "\ngpu.region('m', {iteration = 1}, print)", HD_BAD_INPUT, 2,
                 "did you mean 'iterations'?");
    expect_error(GPU "\ngpu.region('m', {iterations = 0}, print)", HD_BAD_INPUT, 2,
                 "iterations must be at least 1");
    expect_error(GPU "\ngpu.region('m', {warmup = -1}, print)", HD_BAD_INPUT, 2,
                 "warmup must be at least 0");
    expect_error(GPU "\ngpu.region('m', {iterations = 1.5}, print)", HD_BAD_INPUT, 2,
                 "whole number");
    expect_error(GPU "\ngpu.region('m', {iterations = 1 << 40}, print)", HD_BAD_INPUT, 2,
                 "never end");
    expect_error(GPU "\ngpu.region('m', {reset = 3}, print)", HD_BAD_INPUT, 2,
                 "reset must be a function");
    expect_error(GPU "gpu.region('m', function()\ngpu.region('n', print) end)", HD_BAD_INPUT, 2,
                 "inside another region");
    expect_error(GPU "gpu.region('m', {reset = function()\ngpu.region('n', print) end}, print)",
                 HD_BAD_INPUT, 2, "inside another region");
}

/* An error that the script catches leaves no region open. */
static void test_errors_close_the_region(void **state)
{
    (void)state;
    expect_log(GPU "local function fails() error('no', 0) end\n"
                   "print(pcall(gpu.region, 'a', fails))\n"
                   "print(pcall(gpu.region, 'a', {reset = fails}, print))\n"
                   "gpu.region('a', function() print('again') end)",
               "false\tno\nfalse\tno\nagain\nagain\n");
}

static void test_checks(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    rig_run(&r,
            GPU "gpu.check('exact', 3, 3) gpu.check('off', 3, 4) gpu.check('near', 1.01, 1, 0.02)\n"
                "gpu.check('relative', 1010, 1000, 0.02) gpu.check('nan', 0/0, 0/0, 1)\n"
                "gpu.check_true('yes', true) gpu.check_true('no', false)\n"
                "gpu.region('main', {iterations = 2}, function() gpu.check('inside', 1, 1) end)");
    assert_int_equal(r.status, HD_OK);
    assert_string_equal(text_str(&r.checks),
                        "exact passed\noff failed\nnear passed\nrelative passed\nnan failed\n"
                        "yes passed\nno failed\ninside passed\ninside passed\n");
    rig_free(&r);
    expect_error(GPU "\ngpu.check('x', '3', 3)", HD_BAD_INPUT, 2, "number expected, got string");
    expect_error(GPU "\ngpu.check('x', 3)", HD_BAD_INPUT, 2, "number expected, got no value");
    expect_error(GPU "\ngpu.check('x', 3, 3, -1)", HD_BAD_INPUT, 2, "tolerance");
    expect_error(GPU "\ngpu.check('x', 3, 3, math.huge)", HD_BAD_INPUT, 2, "tolerance");
    expect_error(GPU "\ngpu.check(('x'):rep(64), 3, 3)", HD_BAD_INPUT, 2, "1 to 63 bytes");
    expect_error(GPU "\ngpu.check_true('x', 1)", HD_BAD_INPUT, 2, "boolean expected");
}

static void test_host_work_moves_the_clock(void **state)
{
    (void)state;
    expect_log(GPU "local t = gpu.time_ns() gpu.host_work_ns(1234.5) print(gpu.time_ns() - t)\n"
                   "gpu.host_work_ns(0)",
               "1234.5\n");
    expect_error(GPU "\ngpu.host_work_ns(-1)", HD_BAD_INPUT, 2, "0 to 1e15 ns");
    expect_error(GPU "\ngpu.host_work_ns(0/0)", HD_BAD_INPUT, 2, "0 to 1e15 ns");
    expect_error(GPU "\ngpu.host_work_ns(math.huge)", HD_BAD_INPUT, 2, "0 to 1e15 ns");
}

static void test_config(void **state)
{
    (void)state;
    expect_log(GPU "print(gpu.config('wavefront_size'), gpu.config('host.scheduler'), "
                   "gpu.config('host.prefetch'))",
               "64\tparallel-async\ttrue\n");
    expect_error(GPU "\ngpu.config('wavefront_sise')", HD_BAD_INPUT, 2,
                 "did you mean wavefront_size?");
    expect_error(GPU "\ngpu.config('host.schedular')", HD_BAD_INPUT, 2,
                 "did you mean host.scheduler?");
}

static void test_api_table(void **state)
{
    (void)state;
    expect_error(GPU "\ngpu.chek('x', 1, 1)", HD_BAD_INPUT, 2,
                 "heddle has no function 'chek'; did you mean check?");
    expect_log("print(require 'heddle' == require 'heddle')", "true\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_the_parts),
        cmocka_unit_test(test_the_command_wins),
        cmocka_unit_test(test_iterations_are_numbered_on),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_errors_close_the_region),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_host_work_moves_the_clock),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_api_table),
    };

    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
