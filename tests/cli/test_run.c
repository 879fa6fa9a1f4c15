/* heddle run: results, their equality, how a run can end, and that files are there whole or not at all. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* The result without its last part, "simulator", which alone may differ. */
static char *result_part(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name), *simulator;

    assert_non_null(text);
    simulator = strstr(text, "\n  \"simulator\": ");
    assert_non_null(simulator);
    *simulator = '\0';
    return text;
}

static cJSON *result_of(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name);
    cJSON *json;

    assert_non_null(text);
    json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *at(const cJSON *json, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, a);

    return b ? cJSON_GetObjectItemCaseSensitive(item, b) : item;
}

static void test_two_runs_are_equal(void **state)
{
    static const char *const variants[] = {"", "--lanes baseline", "--quiet", "--verbose"};
    struct cli_rig *r = *state;
    char line[256], *first, *trace, *other;
    size_t i;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/a.json --trace %/a.trace");
    cli_rig_expect(r, 0, NULL, NULL);
    first = result_part(r, "a.json");
    trace = cli_rig_read(r, "a.trace");
    for (i = 0; i < sizeof variants / sizeof *variants; i++) {
        snprintf(line, sizeof line,
                 "run %%/prog.lua --config tiny --out %%/b.json --trace %%/b.trace %s", variants[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        other = result_part(r, "b.json");
        assert_string_equal(first, other);
        free(other);
        other = cli_rig_read(r, "b.trace");
        assert_string_equal(trace, other);
        free(other);
    }
    free(first);
    free(trace);
}

/* What the program printed, without the summary behind it, which holds host times. */
static char *printed(const struct cli_rig *r)
{
    char *summary = strstr(r->out, "/prog.lua on tiny");

    assert_non_null(summary);
    *summary = '\0';
    return r->out;
}

/* A sweep given as a keyed table, random numbers without a seed: the same order and files in every process. */
static void test_pb25_the_order_of_tables(void **state)
{
    static const char program[] =
        "local gpu = require 'heddle'\n"
        "local sweep = {delta = {4, 1}, alpha = {1, 2}, gamma = {3}, beta = {2, 5}}\n"
        "for name, values in pairs(sweep) do\n"
        "    gpu.region(name, function()\n"
        "        for _, v in ipairs(values) do gpu.check(name .. v, v, v) end\n"
        "    end)\n"
        "    print(name, math.random(1000000), math.random())\n"
        "end\n"
        "for k in pairs({[gpu.array('f32', 1)] = 1, [gpu.stream()] = 2, x = 3, [7] = 4}) do\n"
        "    print(k)\n"
        "end\n";
    struct cli_rig *r = *state;
    char *out, *result, *again;

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua", program);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/a.json");
    cli_rig_expect(r, 0, NULL, NULL);
    out = strdup(printed(r));
    result = result_part(r, "a.json");
    assert_non_null(strstr(out, "alpha"));
    assert_true(strstr(out, "alpha") < strstr(out, "beta"));
    assert_true(strstr(out, "beta") < strstr(out, "delta"));
    assert_true(strstr(out, "delta") < strstr(out, "gamma"));
    for (int i = 1; i < 20; i++) {
        cli_rig_run(r, "run %/prog.lua --config tiny --out %/a.json");
        cli_rig_expect(r, 0, NULL, NULL);
        assert_string_equal(printed(r), out);
        again = result_part(r, "a.json");
        assert_string_equal(again, result);
        free(again);
    }
    free(out);
    free(result);
}

static void test_what_a_result_says_of_its_run(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r,
                "run %/prog.lua --config tiny --arg n=500 --seed 7 --iterations 3 --out %/r.json "
                "--set host.scheduler=serial-sync");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "serial-sync: ok"));
    assert_non_null(strstr(r->out, "6 passed, 0 failed"));
    v = result_of(r, "r.json");
    assert_string_equal(at(v, "status", NULL)->valuestring, "ok");
    assert_true(at(v, "args", "n")->valuedouble == 500);
    assert_true(at(v, "args", "want")->valuedouble == 2); /* a default that was asked for */
    assert_true(at(v, "seed", NULL)->valuedouble == 7);
    assert_string_equal(at(v, "config_name", NULL)->valuestring, "tiny");
    assert_string_equal(
        at(v, "config", "host") ? at(at(v, "config", "host"), "scheduler", NULL)->valuestring : "",
        "serial-sync");
    assert_int_equal(cJSON_GetArraySize(at(v, "regions", NULL)), 3);
    assert_int_equal(cJSON_GetArraySize(at(v, "kernels", NULL)), 9);
    assert_int_equal(at(v, "metrics", "kernels")->valueint, 3);
    assert_true(at(v, "overlap", "tot")->valuedouble == 0);
    cJSON_Delete(v);
}

/* Copies are in the trace as long as they are in the result, and each kernel too. */
static void test_the_trace_agrees_with_the_result(void **state)
{
    struct cli_rig *r = *state;
    double in_result = 0, in_trace = 0;
    const cJSON *item;
    cJSON *v, *t;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/r.json --trace %/t.json");
    cli_rig_expect(r, 0, NULL, NULL);
    v = result_of(r, "r.json");
    t = result_of(r, "t.json");
    cJSON_ArrayForEach(item, at(v, "kernels", NULL)) in_result +=
        at(item, "end_ns", NULL)->valuedouble - at(item, "start_ns", NULL)->valuedouble;
    cJSON_ArrayForEach(item, at(t, "traceEvents", NULL))
    {
        const cJSON *category = at(item, "cat", NULL);

        if (category && strcmp(category->valuestring, "kernel") == 0)
            in_trace += at(item, "dur", NULL)->valuedouble * 1000;
    }
    assert_true(in_result > 0);
    assert_true(in_trace > in_result - 0.01 && in_trace < in_result + 0.01);
    cJSON_Delete(v);
    cJSON_Delete(t);
}

/* Both objects have the same keys, down to the last; lists are as long as what happened. */
static void expect_same_keys(const cJSON *a, const cJSON *b)
{
    const cJSON *item;

    assert_int_equal(cJSON_GetArraySize(a), cJSON_GetArraySize(b));
    cJSON_ArrayForEach(item, a)
    {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, item->string);

        if (!other)
            fail_msg("one result has no key \"%s\"", item->string);
        if (cJSON_IsObject(item) && cJSON_IsObject(other))
            expect_same_keys(item, other);
    }
}

/* A ratio of nothing to nothing is null, and what counts is 0: by one rule, whatever did not happen. */
static void test_pb24_statistics_of_what_never_happened(void **state)
{
    static const char *const ratios[] = {
        "ipc",       "wave_ipc", "issue_utilisation", "lane_utilisation",
        "dram_gbps", "l2_gbps",  "l1_hit_rate",       "l2_hit_rate"};
    static const char *const programs[] = {
        "local gpu = require 'heddle'\n",
        "local gpu = require 'heddle'\ngpu.module('none.hasm'):kernel('none', '')(1, 32)()\n",
        "local gpu = require 'heddle'\nlocal x = gpu.array('f32', 4)\nx[0] = 1\n",
    };
    struct cli_rig *r = *state;
    cJSON *full, *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/full.json");
    cli_rig_expect(r, 0, NULL, NULL);
    full = result_of(r, "full.json");
    cJSON_DeleteItemFromObjectCaseSensitive(full, "args");
    cli_rig_file(r, "none.hasm", ".kernel none\n s_end\n.endkernel\n");
    for (size_t i = 0; i < 2 * sizeof programs / sizeof *programs; i++) {
        cli_rig_file(r, "none.lua", programs[i / 2]);
        cli_rig_run(r, i % 2 ? "run %/none.lua --config tiny --timing off --out %/r.json"
                             : "run %/none.lua --config tiny --out %/r.json");
        cli_rig_expect(r, 0, NULL, NULL);
        v = result_of(r, "r.json");
        cJSON_DeleteItemFromObjectCaseSensitive(v, "args");
        expect_same_keys(full, v);
        assert_true(cJSON_IsBool(at(v, "timing", NULL)));
        assert_int_equal(cJSON_IsTrue(at(v, "timing", NULL)), i % 2 == 0);
        for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++)
            if (i / 2 != 1 || strstr(ratios[k], "rate"))
                assert_true(cJSON_IsNull(at(v, "metrics", ratios[k])));
        assert_true(at(v, "overlap", "tot")->valuedouble == 0);
        cJSON_Delete(v);
    }
    cJSON_Delete(full);
}

static void test_a_failed_check_is_status_1(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --arg want=3 --out %/r.json");
    cli_rig_expect(r, 1, "check \"x\" failed: got 2, expected 3", NULL);
    v = result_of(r, "r.json");
    assert_string_equal(at(v, "status", NULL)->valuestring, "check_failed");
    assert_int_equal(at(v, "checks", "failed")->valueint, 1);
    cJSON_Delete(v);
}

/* The scheduler's own work, apart from the simulation: two launches, and the host accesses; warm-up too. */
static void test_work_of_the_scheduler(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *calls, *seconds;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny -v --out %/r.json");
    cli_rig_expect(r, 0, NULL, NULL);
    v = result_of(r, "r.json");
    calls = at(v, "simulator", "scheduled");
    seconds = at(v, "simulator", "schedule_s");
    assert_true(calls->valuedouble >= 3);
    assert_true(seconds->valuedouble > 0);
    assert_true(seconds->valuedouble < at(v, "simulator", "wall_s")->valuedouble);
    assert_non_null(strstr(r->out, "  scheduled  "));
    cJSON_Delete(v);
}

/* A kernel that writes what its signature gives it as `in`; what ran before it is in the result. */
static void test_a_const_write_is_status_4(void **state)
{
    static const char *const timing[] = {"on", "off"};
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua",
                 "local gpu = require 'heddle'\n"
                 "local mod = gpu.module 'prog.hasm'\n"
                 "local x = gpu.array('f32', 100, 'weights')\n"
                 "mod:kernel('inc', 'x: inout f32[], n: i32')(2, 64)(x, 100)\n"
                 "mod:kernel('inc', 'x: in f32[], n: i32')(2, 64)(x, 100)\n");
    for (unsigned i = 0; i < 2; i++) {
        char line[128];
        cJSON *v;

        snprintf(line, sizeof line, "run %%/prog.lua --config tiny --timing %s --out %%/r.json",
                 timing[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 4, "kernel inc", "prog.hasm:");
        cli_rig_expect(r, 4, "array weights, which the kernel was given as in", "inout");
        v = result_of(r, "r.json");
        assert_string_equal(at(v, "error", "code")->valuestring, "const-write");
        assert_int_equal(cJSON_GetArraySize(at(v, "kernels", NULL)), 1);
        cJSON_Delete(v);
    }
}

/* A kernel that stores past its array. */
static void test_a_fault_is_status_4(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua",
                 "local gpu = require 'heddle'\n"
                 "local inc = gpu.module('prog.hasm'):kernel('inc', 'x: inout f32[], n: i32')\n"
                 "local x = gpu.array('f32', 100, 'x')\n"
                 "inc(4, 64)(x, 100000)\n");
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/r.json");
    cli_rig_expect(r, 4, "inc", "prog.hasm");
    v = result_of(r, "r.json");
    assert_string_equal(at(v, "status", NULL)->valuestring, "failed");
    assert_non_null(strstr(at(v, "error", "message")->valuestring, "x"));
    assert_true(cJSON_IsString(at(v, "error", "dump")));
    cJSON_Delete(v);
}

static void test_limits_are_status_4(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --max-instr 100 --out %/r.json");
    cli_rig_expect(r, 4, NULL, NULL);
    v = result_of(r, "r.json");
    assert_string_equal(at(v, "status", NULL)->valuestring, "failed");
    cJSON_Delete(v);
    cli_rig_run(r, "run %/prog.lua --config tiny --max-cycles 100 --out %/r.json");
    cli_rig_expect(r, 4, "limit of 100 core cycles", "raise --max-cycles");
    assert_null(strstr(strstr(r->err, "limit of") + 1, "limit of")); /* once */
    cli_rig_run(r, "run %/prog.lua --config tiny --max-cycles 100000000 --max-instr 1000000");
    cli_rig_expect(r, 0, NULL, NULL);
}

static double metric_of(const cJSON *result, int region, const char *name)
{
    return at(cJSON_GetArrayItem(at(result, "regions", NULL), region), "metrics", name)->valuedouble;
}

/* x and y have 12 pages, the device 16: y comes when x is there and dirty, so that 8 pages of it leave. */
static void test_unified_memory_in_the_metrics(void **state)
{
    static const char *const names[] = {"evictions", "write_backs", "fault_batches",
                                        "fault_handler_busy_ns"};
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua",
                 "local gpu = require 'heddle'\n"
                 "local inc = gpu.module('prog.hasm'):kernel('inc', 'x: inout f32[], n: i32')\n"
                 "local x, y = gpu.array('f32', 12288, 'x'), gpu.array('f32', 12288, 'y')\n"
                 "gpu.region('a', {warmup = 0}, function() inc(384, 32)(x, 12288) end)\n"
                 "gpu.region('main', {warmup = 0}, function() inc(384, 32)(y, 12288) end)\n"
                 "gpu.region('c', {warmup = 0}, function() inc(384, 32)(y, 12288) end)\n");
    for (unsigned faults = 0; faults < 2; faults++) {
        cJSON *v;
        char line[160];

        snprintf(line, sizeof line,
                 "run %%/prog.lua --config tiny --set dram.bytes=65536 --set um.page_faults=%s "
                 "--set host.prefetch=off --out %%/result.json",
                 faults ? "on" : "off");
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        v = result_of(r, "result.json");
        for (unsigned i = 0; i < 4; i++)
            assert_true(metric_of(v, 2, names[i]) == 0);
        assert_true(metric_of(v, 0, "evictions") == 0);
        assert_true(metric_of(v, 1, "evictions") == 8);
        assert_true(metric_of(v, 1, "write_backs") == 8);
        assert_true(at(v, "metrics", "evictions")->valuedouble == 8);
        for (int i = 0; i < 2; i++) {
            assert_true((metric_of(v, i, "fault_batches") > 0) == faults);
            assert_true((metric_of(v, i, "fault_handler_busy_ns") > 0) == faults);
        }
        cJSON_Delete(v);
    }
}

static void test_values_only(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *kernel;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --timing off --out %/r.json");
    cli_rig_expect(r, 0, NULL, NULL);
    v = result_of(r, "r.json");
    assert_true(cJSON_IsFalse(at(v, "timing", NULL)));
    assert_int_equal(at(v, "checks", "passed")->valueint, 2);
    assert_true(cJSON_IsNull(at(v, "metrics", "ipc")));
    assert_true(cJSON_IsNull(at(v, "time_ns", NULL)));
    assert_true(cJSON_IsNull(at(v, "device_time_ns", NULL)));
    assert_true(cJSON_IsNull(at(v, "host_time_ns", NULL)));
    assert_true(cJSON_IsNull(at(v, "metrics", "kernel_busy_ns")));
    kernel = cJSON_GetArrayItem(at(v, "kernels", NULL), 0);
    assert_true(cJSON_IsNull(at(kernel, "start_ns", NULL)));
    cJSON_Delete(v);
}

static void test_detail(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --detail summary --out %/r.json");
    cli_rig_expect(r, 0, NULL, NULL);
    v = result_of(r, "r.json");
    assert_int_equal(cJSON_GetArraySize(at(v, "kernels", NULL)), 0);
    assert_int_equal(at(v, "truncated", "kernels")->valueint, 3);
    assert_int_equal(at(v, "metrics", "kernels")->valueint, 3);
    cJSON_Delete(v);
}

static void test_a_window_of_the_trace(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --trace %/t.json --trace-window 1000000:");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r, "run %/prog.lua --config tiny --trace %/t.json --trace-cap 600");
    cli_rig_expect(r, 0, "slices are past --trace-cap", NULL);
}

/* ---- output ------------------------------------------------------------------------------------------ */

static void test_output_that_cannot_be_written(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/nowhere/r.json");
    cli_rig_expect(r, 3, "No such file or directory", NULL);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %");
    cli_rig_expect(r, 3, "cannot write", NULL);
    cli_rig_run(r, "run %/prog.lua --config tiny --out /dev/full");
    cli_rig_expect(r, 3, "No space left on device", "--detail summary");
    cli_rig_run(r, "run %/prog.lua --config tiny --trace /dev/full");
    cli_rig_expect(r, 3, "No space left on device", NULL);
}

static void test_output_to_a_pipe(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --out -");
    cli_rig_expect(r, 0, NULL, NULL);
    v = cJSON_ParseWithOpts(r->out, NULL, 1); /* nothing but the result */
    assert_non_null(v);
    cJSON_Delete(v);
    cli_rig_run(r, "run %/prog.lua --config tiny -q");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_string_equal(r->out, "");
    assert_string_equal(r->err, "");
}

/* ---- stopping ------------------------------------------------------------------------------------------ */

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void expect_stopped(struct cli_rig *r, const char *name)
{
    cJSON *v = result_of(r, name);

    assert_string_equal(at(v, "status", NULL)->valuestring, "stopped");
    cJSON_Delete(v);
}

/* A kernel that runs for ever: the simulation heeds the flag. */
static void endless_kernel(struct cli_rig *r)
{
    cli_rig_file(r, "prog.hasm",
                 ".kernel spin\n.param x f32[]\nagain:\n    v_mov_b32 v0, 1\n"
                 "    global_store_b32 [x], v0\n    s_jump again\n    s_end\n.endkernel\n");
    cli_rig_file(
        r, "prog.lua",
        "local gpu = require 'heddle'\n"
        "gpu.module('prog.hasm'):kernel('spin', 'x: inout f32[]')(1, 32)(gpu.array('f32', 4))\n");
}

static void test_signals(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct cli_rig *r = *state;
    size_t i;

    endless_kernel(r);
    for (i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t child = cli_rig_start(r, "run %/prog.lua --config tiny --out %/r.json");

        sleep_ms(400);
        kill(child, signals[i]);
        cli_rig_wait(r, child);
        cli_rig_expect(r, 6, "stopped", NULL);
        expect_stopped(r, "r.json");
    }
}

static void test_max_time(void **state)
{
    struct cli_rig *r = *state;

    endless_kernel(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --max-time 0.3 --out %/r.json");
    cli_rig_expect(r, 6, "stopped", NULL);
    expect_stopped(r, "r.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_runs_are_equal),
        cmocka_unit_test(test_pb25_the_order_of_tables),
        cmocka_unit_test(test_what_a_result_says_of_its_run),
        cmocka_unit_test(test_the_trace_agrees_with_the_result),
        cmocka_unit_test(test_pb24_statistics_of_what_never_happened),
        cmocka_unit_test(test_a_failed_check_is_status_1),
        cmocka_unit_test(test_work_of_the_scheduler),
        cmocka_unit_test(test_a_const_write_is_status_4),
        cmocka_unit_test(test_a_fault_is_status_4),
        cmocka_unit_test(test_limits_are_status_4),
        cmocka_unit_test(test_unified_memory_in_the_metrics),
        cmocka_unit_test(test_values_only),
        cmocka_unit_test(test_detail),
        cmocka_unit_test(test_a_window_of_the_trace),
        cmocka_unit_test(test_output_that_cannot_be_written),
        cmocka_unit_test(test_output_to_a_pipe),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_max_time),
    };

    return cmocka_run_group_tests_name("run", tests, cli_rig_setup, cli_rig_teardown);
}
