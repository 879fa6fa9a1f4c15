/* heddle explain: programs of which it is known what bounds them. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- programs -------------------------------------------------------------------------------------- */

static const char kernels[] = ".kernel touch\n"
                              ".param x f32[]\n"
                              "    v_mov_b32 v0, 0\n"
                              "    global_load_b32 v1, [x + v0*4]\n"
                              "    v_add_f32 v1, v1, 1.0\n"
                              "    global_store_b32 [x + v0*4], v1\n"
                              "    s_end\n"
                              ".endkernel\n"
                              ".kernel pages\n"
                              ".param x f32[]\n"
                              ".param n i32\n"
                              "    v_mov_b32 v0, 0\n"
                              "    s_mov_b32 s8, 0\n"
                              "again:\n"
                              "    global_load_b32 v1, [x + v0*4]\n"
                              "    v_add_f32 v1, v1, 1.0\n"
                              "    v_add_u32 v0, v0, 524288\n"
                              "    s_add_u32 s8, s8, 1\n"
                              "    s_cmp_lt_u32 s9, s8, n\n"
                              "    s_branch_nz s9, again\n"
                              "    s_end\n"
                              ".endkernel\n"
                              ".kernel doubles\n"
                              ".param x f64[]\n"
                              ".param n i32\n"
                              "    v_get_u32 v0, %gid\n"
                              "    global_load_b64 v[2:3], [x + v0*8]\n"
                              "    s_mov_b32 s8, 0\n"
                              "again:\n"
                              ".rept 64\n"
                              "    v_fma_f64 v[2:3], v[2:3], v[2:3], v[2:3]\n"
                              ".endrept\n"
                              "    s_add_u32 s8, s8, 1\n"
                              "    s_cmp_lt_u32 s9, s8, n\n"
                              "    s_branch_nz s9, again\n"
                              "    global_store_b64 [x + v0*8], v[2:3]\n"
                              "    s_end\n"
                              ".endkernel\n";

/* 4 MB go to the device for a kernel that uses 4 bytes of them. */
static const char copies[] = "local gpu = require 'heddle'\n"
                             "local k = gpu.module('k.hasm'):kernel('touch', 'x: inout f32[]')\n"
                             "local x = gpu.array('f32', 1000000, 'x')\n"
                             "gpu.region('main', {reset = function() x:fill(0) end}, function()\n"
                             "    k(1, 32)(x)\n"
                             "end)\n";

/* 50 kernels in turn, of which each is much shorter than its call. */
static const char launches[] = "local gpu = require 'heddle'\n"
                               "local k = gpu.module('k.hasm'):kernel('touch', 'x: inout f32[]')\n"
                               "local x = gpu.array('f32', 32, 'x')\n"
                               "gpu.region('main', function()\n"
                               "    for i = 1, 50 do k(1, 32)(x) end\n"
                               "end)\n";

/* 16 MiB, and a float of every 2 MiB. */
static const char pages[] =
    "local gpu = require 'heddle'\n"
    "local k = gpu.module('k.hasm'):kernel('pages', 'x: in f32[], n: i32')\n"
    "local x = gpu.array('f32', 8 * 524288, 'x')\n"
    "gpu.region('main', {reset = function() x:fill(0) end}, function() k(1, 32)(x, 8) end)\n";

/* A work-group on each compute unit, with two wavefronts on each SIMD unit, which takes an f64 instruction in 2 cycles. */
static const char doubles[] =
    "local gpu = require 'heddle'\n"
    "local k = gpu.module('k.hasm'):kernel('doubles', 'x: inout f64[], n: i32')\n"
    "local x = gpu.array('f64', 4096, 'x')\n"
    "gpu.region('main', function() k(gpu.arg('groups', 4 * gpu.config('compute_units')), 256)(x, "
    "gpu.arg('n', 5)) "
    "end)\n";

static void add_programs(const struct cli_rig *r)
{
    cli_rig_file(r, "k.hasm", kernels);
    cli_rig_file(r, "copies.lua", copies);
    cli_rig_file(r, "launches.lua", launches);
    cli_rig_file(r, "pages.lua", pages);
    cli_rig_file(r, "doubles.lua", doubles);
}

/* ---- what a result says ------------------------------------------------------------------------ */

static const cJSON *item(const cJSON *json, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    if (!value)
        fail_msg("no key %s", key);
    return value;
}

static double number(const cJSON *json, const char *key)
{
    assert_true(cJSON_IsNumber(item(json, key)));
    return item(json, key)->valuedouble;
}

static cJSON *explain(struct cli_rig *r, const char *program, const char *more)
{
    char line[256];
    cJSON *json;

    snprintf(line, sizeof line, "explain %%/%s --config tiny --json %s", program, more);
    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    json = cJSON_Parse(r->out);
    assert_non_null(json);
    return json;
}

static const cJSON *ideal_of(const cJSON *e, const char *resource)
{
    const cJSON *row;

    cJSON_ArrayForEach(row, item(e, "ideals")) if (strcmp(item(row, "resource")->valuestring,
                                                          resource) == 0) return row;
    fail_msg("no resource %s", resource);
    return NULL;
}

static double gain(const cJSON *e, const char *resource, const char *how)
{
    return number(item(ideal_of(e, resource), how), "gain");
}

/* Every part but the named ones gains less than `most`. */
static void expect_no_other(const cJSON *e, const char *a, const char *b, double most)
{
    const cJSON *row;

    cJSON_ArrayForEach(row, item(e, "ideals"))
    {
        const char *name = item(row, "resource")->valuestring;

        if (strcmp(name, a) == 0 || strcmp(name, b) == 0)
            continue;
        if (number(item(row, "twice"), "gain") > most ||
            number(item(row, "infinite"), "gain") > most)
            fail_msg("%s gains %g and %g", name, number(item(row, "twice"), "gain"),
                     number(item(row, "infinite"), "gain"));
    }
}

static void expect_between(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%g is not between %g and %g", value, low, high);
}

static const char *first_of(const cJSON *e, const char *list, const char *key)
{
    return item(item(e, list)->child, key)->valuestring;
}

/* ---- what bounds them ------------------------------------------------------------------------------------- */

/*
 * The copy: 1 us and 977 pages at 4 GB/s in 62 pieces with 0.5 us between two, 1031.9 us; with a link twice as fast half of that. The kernel
 * behind it is a load and a store: below 2 % of it.
 */
static void test_a_program_bound_by_copies(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *time;
    cJSON *e;

    add_programs(r);
    e = explain(r, "copies.lua", "");
    assert_string_equal(first_of(e, "ideals", "resource"), "link");
    expect_between(gain(e, "link", "twice"), 1.9, 2);
    assert_true(gain(e, "link", "infinite") > 20);
    expect_no_other(e, "link", "", 1.02);
    assert_string_equal(first_of(e, "path", "bounded_by"), "link to device");
    assert_string_equal(first_of(e, "path", "longest"), "x");
    assert_string_equal(first_of(e, "utilisation", "part"), "link to device");
    assert_true(number(item(e, "bounds"), "transfer_ns") == 977 * 4096 / 4.0);
    time = item(e, "time");
    expect_between(number(time, "transfers_only_ns"), 1031500, 1032000);
    assert_true(fabs(number(time, "transfers_only_ns") + number(time, "kernels_only_ns") +
                     number(time, "both_ns") + number(time, "neither_ns") - number(e, "time_ns")) <
                1e-6);
    assert_true(cJSON_IsFalse(item(ideal_of(e, "fp64"), "used")));
    assert_true(gain(e, "fp64", "infinite") == 1);
    cJSON_Delete(e);
}

/* A call is 4.25 us on the host, and a kernel of one wavefront with one load well below 1 us behind a front end of 1 us. */
static void test_a_program_bound_by_launches(void **state)
{
    struct cli_rig *r = *state;
    cJSON *e;

    add_programs(r);
    e = explain(r, "launches.lua", "");
    assert_string_equal(first_of(e, "ideals", "resource"), "launch cost");
    expect_between(gain(e, "launch cost", "twice"), 1.8, 2);
    assert_true(gain(e, "launch cost", "infinite") > 5);
    expect_no_other(e, "launch cost", "", 1.05);
    assert_string_equal(first_of(e, "path", "bounded_by"), "host");
    cJSON_Delete(e);
}

/*
 * f64 instructions of 32 lanes at 16 a cycle: 2 cycles each, 1 when twice as fast, and no unit takes less than a cycle.
 */
static void test_a_program_bound_by_fp64(void **state)
{
    struct cli_rig *r = *state;
    cJSON *e;

    add_programs(r);
    e = explain(r, "doubles.lua",
                "--arg groups=4 --arg n=80 --set launch.placement=round-robin "
                "--set host.cost_percent=5");
    assert_string_equal(first_of(e, "ideals", "resource"), "fp64");
    expect_between(gain(e, "fp64", "twice"), 1.8, 2);
    expect_between(gain(e, "fp64", "infinite"), 1.8, 2);
    expect_no_other(e, "fp64", "", 1.07);
    assert_string_equal(first_of(e, "path", "bounded_by"), "fp64");
    assert_string_equal(item(item(e, "bounds"), "work_part")->valuestring, "fp64");
    cJSON_Delete(e);
}

/*
 * A kernel that touches 8 pages, each of another block, one after the other, has 8 batches of 30 + 20 us and 100 ns of the handler and 5 us
 * until it is woken; moving a page takes 2.024 us.
 */
static void test_a_program_bound_by_faults(void **state)
{
    struct cli_rig *r = *state;
    cJSON *e;

    add_programs(r);
    e = explain(r, "pages.lua",
                "--set um.page_faults=on --set host.prefetch=off --set um.prefetch_tree=off "
                "--set um.fault_latency_ns=5000 --set um.fault_batch_ns=30000 --set "
                "um.fault_block_ns=20000 --set um.fault_page_ns=100");
    assert_string_equal(first_of(e, "ideals", "resource"), "fault handler");
    assert_string_equal(first_of(e, "path", "bounded_by"), "fault handler");
    assert_string_equal(first_of(e, "utilisation", "part"), "fault handler");
    assert_true(number(item(e, "path")->child, "time_ns") == 8 * 50100);
    assert_true(number(item(e, "utilisation")->child, "busy_ns") == 8 * (50100 + 2024));
    expect_between(gain(e, "fault handler", "twice"), 1.7, 2);
    assert_true(gain(e, "fault handler", "infinite") > 7);
    expect_no_other(e, "fault handler", "", 1.06);
    assert_true(cJSON_IsNumber(item(item(e, "bounds"), "serial_no_prefetch_ns")));
    cJSON_Delete(e);
}

/* The default of an argument comes from the machine; a run on another machine keeps it. */
static void test_arguments_stay(void **state)
{
    struct cli_rig *r = *state;
    cJSON *e, *other;

    add_programs(r);
    e = explain(r, "doubles.lua", "");
    other = explain(r, "doubles.lua", "--arg groups=16");
    assert_true(cJSON_Compare(e, other, 1));
    assert_true(gain(e, "compute units", "twice") > 1.1);
    cJSON_Delete(e);
    cJSON_Delete(other);
}

/* ---- the verb --------------------------------------------------------------------------------------------- */

static void test_the_page(void **state)
{
    struct cli_rig *r = *state;
    char *one;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "explain %/prog.lua --config tiny --out %/e.json -j 3");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "Where the time goes"));
    assert_non_null(strstr(r->out, "What a schedule could gain"));
    assert_non_null(strstr(r->out, "Nothing bounds this run more than"));
    one = strdup(r->out);
    cli_rig_run(r, "explain %/prog.lua --config tiny -j 1");
    assert_string_equal(r->out, one);
    free(one);
    one = cli_rig_read(r, "e.json");
    v = cJSON_Parse(one);
    assert_true(cJSON_IsNumber(item(v, "contention_free_ns")));
    assert_true(cJSON_IsArray(item(item(v, "explain"), "ideals")));
    cJSON_Delete(v);
    free(one);
}

static int kernels_on_path(struct cli_rig *r, const char *line)
{
    const cJSON *step;
    char *text;
    cJSON *v;
    int n = 0;

    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    text = cli_rig_read(r, "path.json");
    v = cJSON_Parse(text);
    cJSON_ArrayForEach(step, item(v, "critical_path")) n +=
        strcmp(item(step, "what")->valuestring, "kernel") == 0;
    cJSON_Delete(v);
    free(text);
    return n;
}

/*
 * A host that waits for each of three independent kernels, under serial-sync or by hand, makes a chain of them; one that does not leaves the last
 * alone on the path.
 */
static void test_waits_of_the_host(void **state)
{
    struct cli_rig *r = *state;

    add_programs(r);
    cli_rig_file(r, "waits.lua",
                 "local gpu = require 'heddle'\n"
                 "local k = gpu.module('k.hasm'):kernel('touch', 'x: inout f32[]')\n"
                 "local x = {gpu.array('f32', 1), gpu.array('f32', 1), gpu.array('f32', 1)}\n"
                 "local wait = gpu.arg('wait', false)\n"
                 "local s = gpu.stream()\n"
                 "gpu.region('main', function()\n"
                 "    for i = 1, 3 do\n"
                 "        k(1, 32, {stream = s})(x[i])\n"
                 "        if wait then s:sync() end\n"
                 "    end\n"
                 "end)\n");
    assert_int_equal(kernels_on_path(r, "run %/waits.lua --config tiny --out %/path.json"), 1);
    assert_int_equal(
        kernels_on_path(r, "run %/waits.lua --config tiny --arg wait=true --out %/path.json"), 3);
    assert_int_equal(
        kernels_on_path(
            r, "run %/waits.lua --config tiny --set host.scheduler=serial-sync --out %/path.json"),
        3);
}

/* Standard output is JSON alone; what the program prints comes once, on standard error. */
static void test_a_program_that_prints(void **state)
{
    struct cli_rig *r = *state;
    cJSON *e;

    add_programs(r);
    cli_rig_file(r, "talks.lua",
                 "print('hello')\nlocal gpu = require 'heddle'\n"
                 "gpu.array('f32', 4)[0] = 1\n");
    e = explain(r, "talks.lua", "");
    assert_true(number(e, "time_ns") > 0);
    assert_non_null(strstr(r->err, "hello"));
    assert_null(strstr(strstr(r->err, "hello") + 1, "hello"));
    cJSON_Delete(e);
}

/* What is made faster is a machine that can be, whatever the part. */
static void test_presets_can_be_made_faster(void **state)
{
    static const char *const presets[] = {"gtx960", "hd7970", "xe-lp"};
    struct cli_rig *r = *state;
    char line[96];

    cli_rig_program(r);
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        snprintf(line, sizeof line, "explain %%/prog.lua --config %s", presets[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        assert_null(strstr(r->out, "failed"));
        assert_null(strstr(r->out, "not run"));
    }
}

/* Where no value is at the end of its range, each parameter that host/cli/README.md lists for a part is changed. */
static void test_what_is_changed(void **state)
{
    static const struct {
        const char *part;
        int twice, infinite;
    } parts[] = {{"link", 5, 5},         {"fault handler", 5, 5}, {"dram", 4, 4},
                 {"l2", 2, 4},           {"fp32", 10, 10},        {"l1 and local memory", 4, 4},
                 {"fp64", 2, 2},         {"issue", 4, 4},         {"launch cost", 3, 3},
                 {"compute units", 1, 1}};
    struct cli_rig *r = *state;
    cJSON *e;

    add_programs(r);
    cli_rig_run(r, "explain %/launches.lua --config p100 --json --set um.page_faults=on "
                   "--set dram.row_miss_ns=10 --set dram.row_gap_ps=1000");
    cli_rig_expect(r, 0, NULL, NULL);
    e = cJSON_Parse(r->out);
    assert_non_null(e);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const cJSON *part = ideal_of(e, parts[i].part);
        const int twice = cJSON_GetArraySize(item(item(part, "twice"), "changes"));
        const int infinite = cJSON_GetArraySize(item(item(part, "infinite"), "changes"));

        if (twice != parts[i].twice || infinite != parts[i].infinite)
            fail_msg("%s: %d and %d changes", parts[i].part, twice, infinite);
    }
    cJSON_Delete(e);
}

static void test_how_it_ends(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "explain %/prog.lua --config tiny --timing off");
    cli_rig_expect(r, 2, "nothing to explain", NULL);
    cli_rig_run(r, "explain %/prog.lua --config tiny --arg want=5");
    cli_rig_expect(r, 1, "check \"x\" failed", NULL);
    cli_rig_run(r, "explain %/prog.lua --config tiny --arg nothing=5 --out %/bad.json");
    cli_rig_expect(r, 3, "nothing", NULL);
    assert_false(cli_rig_exists(r, "bad.json"));
    cli_rig_run(r, "explain %/prog.lua --config tiny --max-instr 10 --out %/failed.json");
    cli_rig_expect(r, 4, NULL, NULL);
    assert_true(cli_rig_exists(r, "failed.json"));
}

/* A limit that one of the other runs meets is told of that run alone; the rest of the page stands. */
static void test_a_run_that_fails(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "explain %/prog.lua --config tiny --set host.scheduler=serial-sync --max-cycles "
                   "40000");
    cli_rig_expect(r, 4, "parallel-async: ", "limit of 40000 core cycles");
    assert_non_null(strstr(r->out, "launch cost"));
    assert_non_null(strstr(r->out, "longest chain                           -"));
}

/* The time of a run whose values are wrong is no gain. */
static void test_a_run_whose_checks_fail(void **state)
{
    struct cli_rig *r = *state;

    add_programs(r);
    cli_rig_file(r, "checks.lua",
                 "local gpu = require 'heddle' local x = gpu.device_array('f32', 4096)\n"
                 "local rate = gpu.arg('rate', 1)\n"
                 "gpu.region('main', function() gpu.copy(x, gpu.array('f32', 4096))\n"
                 "    gpu.check('rate', gpu.config('link.h2d_bytes_per_second'), rate) end)\n");
    cli_rig_run(r, "explain %/checks.lua --config tiny --set link.h2d_bytes_per_second=1000000000 "
                   "--arg rate=1000000000");
    cli_rig_expect(r, 1, NULL, NULL);
    assert_non_null(strstr(r->out, "link twice as fast: checks of the program failed: 1"));
    assert_non_null(strstr(r->out, "link infinitely fast: checks of the program failed: 1"));
    cli_rig_run(r, "explain %/checks.lua --config tiny --set link.h2d_bytes_per_second=1000000000");
    cli_rig_expect(r, 1, "check \"rate\" failed", NULL);
    assert_null(strstr(r->out, "checks of the program failed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_bound_by_copies),
        cmocka_unit_test(test_a_program_bound_by_launches),
        cmocka_unit_test(test_a_program_bound_by_fp64),
        cmocka_unit_test(test_a_program_bound_by_faults),
        cmocka_unit_test(test_arguments_stay),
        cmocka_unit_test(test_the_page),
        cmocka_unit_test(test_waits_of_the_host),
        cmocka_unit_test(test_a_program_that_prints),
        cmocka_unit_test(test_presets_can_be_made_faster),
        cmocka_unit_test(test_what_is_changed),
        cmocka_unit_test(test_how_it_ends),
        cmocka_unit_test(test_a_run_that_fails),
        cmocka_unit_test(test_a_run_whose_checks_fail),
    };

    return cmocka_run_group_tests_name("explain", tests, cli_rig_setup, cli_rig_teardown);
}
