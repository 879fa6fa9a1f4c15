/* What bad input gets: exit status, place, message and hint of each, and no file. */
#include "tests/cli/cli_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs prog.lua with the options; a result and a trace are asked for and must not be there. */
static void expect_refused(struct cli_rig *r, const char *options, int status, const char *message,
                           const char *hint)
{
    char line[512];

    snprintf(line, sizeof line,
             "run %%/prog.lua --config tiny --out %%/result.json --trace %%/trace.json %s", options);
    cli_rig_run(r, line);
    if (r->status != status)
        print_message("%s\n", options);
    cli_rig_expect(r, status, message, hint);
    assert_false(cli_rig_exists(r, "result.json"));
    assert_false(cli_rig_exists(r, "trace.json"));
    assert_false(cli_rig_leftovers(r));
}

static void test_configurations(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_file(r, "c.json", "{\"compute_units\": 4,");
    expect_refused(r, "--config %/c.json", 3, "/c.json:1:21: expected a key", NULL);
    cli_rig_file(r, "c.json", "{\"extends\": \"tiny\",\n \"compute_units\": 0}");
    expect_refused(r, "--config %/c.json", 3, "/c.json:2:19 (/compute_units)", NULL);
    cli_rig_file(r, "c.json", "{\"extends\": \"tiny\", \"wavefront_size\": 48}");
    expect_refused(r, "--config %/c.json", 3, "it must be 8, 16, 32 or 64", NULL);
    cli_rig_file(r, "c.json", "{\"compute_unit\": 4}");
    expect_refused(r, "--config %/c.json", 3, "no parameter \"compute_unit\"", "compute_units");
    expect_refused(r, "--config nothing", 3, "no configuration \"nothing\"", "tiny");
    expect_refused(r, "--set compute_units=0", 3, "compute_units is 0; it must be from 1", NULL);
    expect_refused(r, "--set compute_units=four", 3, "a whole number, not \"four\"", NULL);
    expect_refused(r, "--set compute_unit=4", 3, "no parameter", "compute_units");
    expect_refused(r, "--set compute_units", 2, "error: \"compute_units\" sets nothing",
                   "KEY=VALUE");
    expect_refused(r, "--set um.prefetch_leaf_bytes=5000", 3, "must be a power of two", NULL);
}

static void test_arguments(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    expect_refused(r, "--arg n", 2, "n", NULL);
    expect_refused(r, "--arg m=3", 3, "m", NULL);
    expect_refused(r, "--arg n=many", 3, "n", NULL);
    expect_refused(r, "--arg n=1 --arg n=2", 2, "n", NULL);
    expect_refused(r, "--arg n=0", 3, "prog.lua:6", NULL);
    expect_refused(r, "--arg n=-5", 3, "prog.lua:6", NULL);
}

/* A pipe without a writer must not hold the command. */
static void test_inputs_that_are_pipes(void **state)
{
    static const char *const lines[] = {
        "run %/pipe --config tiny",
        "run workloads/dag/vec.lua --config %/pipe",
        "asm %/pipe",
        "dis %/pipe",
        "run %/prog.lua --data x=%/pipe",
        "check %/pipe",
    };
    struct cli_rig *r = *state;
    char path[128];

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua", "require('heddle').array('f32', 1):from_npy('x')\n");
    snprintf(path, sizeof path, "%s/pipe", r->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cli_rig_run(r, lines[i]);
        cli_rig_expect(r, 3, "not a regular file", NULL);
    }
    cli_rig_file(r, "prog.lua", "require('heddle').module 'pipe'\n");
    cli_rig_run(r, "run %/prog.lua");
    cli_rig_expect(r, 3, "not a regular file", NULL);
    unlink(path);
}

/* Nothing is written over the program, nor one output over the other, whatever the path is called. */
static void test_outputs_that_clash(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/./prog.lua");
    cli_rig_expect(r, 2, "--out names the program", NULL);
    cli_rig_run(r, "run %/prog.lua --config tiny --trace %/prog.lua");
    cli_rig_expect(r, 2, "--trace names the program", NULL);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/one.json --trace %/one.json");
    cli_rig_expect(r, 2, "--out and --trace name one file", NULL);
    assert_false(cli_rig_exists(r, "one.json"));
    cli_rig_run(r, "run %/prog.lua --config tiny --out /dev/null --trace /dev/null");
    cli_rig_expect(r, 0, NULL, NULL);
}

/* A program whose last line is wrong. */
static void expect_script_refused(struct cli_rig *r, const char *text, int status,
                                  const char *message)
{
    char program[1024];

    snprintf(program, sizeof program,
             "local gpu = require 'heddle'\n"
             "local inc = gpu.module('prog.hasm'):kernel('inc', 'x: inout f32[], n: i32')\n"
             "local x = gpu.array('f32', 100, 'x')\n"
             "%s\n",
             text);
    cli_rig_program(r);
    cli_rig_file(r, "prog.lua", program);
    expect_refused(r, "", status, message, NULL);
}

static void test_scripts(void **state)
{
    struct cli_rig *r = *state;

    expect_script_refused(r, "local y = (", 3, "prog.lua:5");
    expect_script_refused(r, "error('no way')", 3, "no way");
    expect_script_refused(r, "local y = nothing.at", 3, "prog.lua:4");
    expect_script_refused(r, "gpu.module('nothing.hasm')", 3, "nothing.hasm");
    expect_script_refused(r, "inc(4, 64)(x)", 3, "prog.lua:4");
    expect_script_refused(r, "gpu.copy(gpu.device_array('f32', 1), x, {count = 'x'})", 3,
                          "prog.lua:4: count must be a number, got string");
    expect_script_refused(r, "inc(4, 64)(x, 1, 2)", 3, "prog.lua:4");
    expect_script_refused(r, "inc(4, 64)(1, x)", 3, "prog.lua:4");
    expect_script_refused(r, "inc(4, 64)(x, 'many')", 3, "prog.lua:4");
    expect_script_refused(r, "inc(0, 64)(x, 1)", 3, "prog.lua:4");
    expect_script_refused(r, "inc(4, 0)(x, 1)", 3, "prog.lua:4");
    expect_script_refused(r, "inc(4, 2^40)(x, 1)", 3, "prog.lua:4");
    expect_script_refused(r, "inc(2^60, 64)(x, 1)", 3, "prog.lua:4");
    expect_script_refused(r, "inc(4, 100000)(x, 1)", 3, "prog.lua:4");
    expect_script_refused(r, "gpu.array('f32', 0/0)", 3, "prog.lua:4");
    expect_script_refused(r, "gpu.array('f32', 1/0)", 3, "prog.lua:4");
    expect_script_refused(r, "gpu.array('f32', 2^62)", 3, "prog.lua:4");
    expect_script_refused(r, "gpu.array('f33', 5)", 3, "prog.lua:4");
    expect_script_refused(r, "x[100] = 1", 3, "prog.lua:4");
    expect_script_refused(r, "os.exit(0)", 3, "prog.lua:4");
    cli_rig_run(r, "run %/nothing.lua --config tiny");
    cli_rig_expect(r, 3, "nothing.lua", NULL);
    cli_rig_run(r, "run %/ --config tiny");
    cli_rig_expect(r, 3, NULL, NULL);
}

/* What a program asks of a device that is too small is wrong, whenever the device finds that out. */
static void expect_too_small(struct cli_rig *r, const char *options, const char *body,
                             const char *message)
{
    char program[1024], line[512];

    snprintf(program, sizeof program,
             "local gpu = require 'heddle'\n"
             "local inc = gpu.module('prog.hasm'):kernel('inc', 'x: inout f32[], n: i32')\n"
             "local x = gpu.array('f32', 12288, 'x')\n"
             "%s\n",
             body);
    cli_rig_program(r);
    cli_rig_file(r, "prog.lua", program);
    for (unsigned timing = 0; timing < 2; timing++) {
        snprintf(line, sizeof line, "--set dram.bytes=65536 --timing %s %s", timing ? "on" : "off",
                 options);
        expect_refused(r, line, 3, message, NULL);
    }
}

static void test_a_device_that_is_too_small(void **state)
{
    static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};
    struct cli_rig *r = *state;
    char options[128];

    expect_too_small(r, "", "local d = gpu.device_array('f32', 20000, 'd')",
                     "device array d needs 80000 bytes");
    for (unsigned i = 0; i < 3; i++) {
        snprintf(options, sizeof options, "--set host.scheduler=%s --set um.page_faults=off",
                 schedulers[i]);
        expect_too_small(r, options, "local d = gpu.device_array('f32', 8192, 'd') inc(4, 32)(x, 9)",
                         "kernel inc needs 49152 bytes");
        snprintf(options, sizeof options, "--set host.scheduler=%s --set um.page_faults=on",
                 schedulers[i]);
        expect_too_small(r, options,
                         "local d = gpu.device_array('f32', 16384, 'd') pcall(function()\n"
                         "inc(4, 32)(x, 9) gpu.sync() end)",
                         "a page that a kernel touches has no room beside the device arrays");
    }
}

static void expect_kernel_refused(struct cli_rig *r, const char *line, const char *message)
{
    char text[512];

    cli_rig_program(r);
    snprintf(text, sizeof text,
             ".kernel inc\n.param x f32[]\n.param n i32\n%s\n    s_end\n.endkernel\n", line);
    cli_rig_file(r, "prog.hasm", text);
    expect_refused(r, "", 3, message, NULL);
    cli_rig_run(r, "check %/prog.hasm");
    cli_rig_expect(r, 3, message, NULL);
    cli_rig_run(r, "asm %/prog.hasm --out %/code");
    cli_rig_expect(r, 3, message, NULL);
    assert_false(cli_rig_exists(r, "code"));
}

static void test_kernels(void **state)
{
    struct cli_rig *r = *state;

    expect_kernel_refused(r, "    v_ad_f32 v0, v1, v2", "prog.hasm:4:");
    expect_kernel_refused(r, "    v_add_f32 v0, v1", "prog.hasm:4:");
    expect_kernel_refused(r, "    v_add_f32 v0, v1, v300", "prog.hasm:4:");
    expect_kernel_refused(r, "    s_jump nowhere", "prog.hasm:4:");
    expect_kernel_refused(r, ".param n i32", "prog.hasm:4:");
}

static void test_local_memory_past_the_limit(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    expect_refused(r, "--set lds.bytes_per_workgroup=0 --set cu.workgroup_items=32", 3,
                   "work-items", NULL);
}

/* PB-34: no script runs for ever, nor takes all memory; a limit of the script is exit 4 and leaves a result that says so. */
static void expect_limit(struct cli_rig *r, const char *text)
{
    char *result;

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua", text);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/result.json");
    cli_rig_expect(r, 4, "prog.lua:", NULL);
    result = cli_rig_read(r, "result.json");
    assert_non_null(result);
    assert_non_null(strstr(result, "\"status\": \"failed\""));
    free(result);
}

static void test_pb34_memory(void **state)
{
    expect_limit(*state, "local t = {}\nfor i = 1, math.huge do t[i] = {i} end\n");
}

/* A program that C code keeps busy heeds no flag: --max-time ends it all the same, a few seconds later. */
static void test_pb34_a_pattern_that_never_ends(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "prog.lua", "string.find(('a'):rep(30000), ('.-'):rep(8) .. 'b')\n");
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/late.json --max-time 0.2");
    cli_rig_expect(r, 6, NULL, NULL);
}

static void test_pb34_a_loop_that_never_ends(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "prog.lua", "while true do pcall(function() while true do end end) end\n");
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/stopped.json --max-time 0.2");
    cli_rig_expect(r, 6, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_inputs_that_are_pipes),
        cmocka_unit_test(test_outputs_that_clash),
        cmocka_unit_test(test_a_device_that_is_too_small),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_local_memory_past_the_limit),
        cmocka_unit_test(test_pb34_memory),
        cmocka_unit_test(test_pb34_a_pattern_that_never_ends),
        cmocka_unit_test(test_pb34_a_loop_that_never_ends),
    };

    return cmocka_run_group_tests_name("bad_input", tests, cli_rig_setup, cli_rig_teardown);
}
