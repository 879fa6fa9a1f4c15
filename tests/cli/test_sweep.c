/* heddle sweep: the points, their rows, and what is wrong with a script. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const cJSON *at(const cJSON *json, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, a);

    return b ? cJSON_GetObjectItemCaseSensitive(item, b) : item;
}

/* The rows of a file as an array. */
static cJSON *rows_of(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name), *line;
    cJSON *all = cJSON_CreateArray();

    assert_non_null(text);
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON *v = cJSON_ParseWithOpts(line, NULL, 1);

        assert_non_null(v);
        cJSON_AddItemToArray(all, v);
    }
    free(text);
    return all;
}

/* Cuts ,"simulator":{...} out of each line: the only part that differs between equal runs. */
static void cut_simulator(char *text)
{
    static const char mark[] = ",\"simulator\":{";
    char *from;

    while ((from = strstr(text, mark)) != NULL) {
        const char *to = strchr(from, '}') + 1;

        memmove(from, to, strlen(to) + 1);
    }
}

static char *plain_rows(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name);

    assert_non_null(text);
    cut_simulator(text);
    return text;
}

static void expect_equal_files(const struct cli_rig *r, const char *a, const char *b)
{
    char *x = plain_rows(r, a), *y = plain_rows(r, b);

    assert_string_equal(x, y);
    free(x);
    free(y);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    while ((text = strstr(text, what)) != NULL) {
        text++;
        n++;
    }
    return n;
}

static const char *text_of(const cJSON *row, const char *a, const char *b)
{
    const cJSON *item = at(row, a, b);

    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

/* ---- the cross product -------------------------------------------------------------------------- */

static void test_the_last_axis_is_fastest(void **state)
{
    static const int n[] = {100, 100, 100, 300, 300, 300};
    static const char *const scheduler[] = {"serial-sync", "serial-async", "parallel-async"};
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'prog.lua', config = 'tiny', args = {n = 7}, axes = {\n"
                 "  {key = 'arg.n', values = {100, 3e2}},\n"
                 "  {key = 'host.scheduler', values = {'serial-sync', 'serial-async', "
                 "'parallel-async'}}}}\n");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -j 2");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "2 arg.n x 3 host.scheduler = 6 points"));
    v = rows_of(r, "a.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 6);
    for (int i = 0; i < 6; i++) {
        const cJSON *row = cJSON_GetArrayItem(v, i), *axes = at(row, "point", "axes");

        assert_int_equal(at(row, "point", "index")->valuedouble, i);
        assert_int_equal(at(row, "point", "exit_status")->valuedouble, 0);
        assert_int_equal(at(row, "args", "n")->valuedouble, n[i]);
        assert_int_equal(at(axes, "arg.n", NULL)->valuedouble, n[i]);
        assert_string_equal(text_of(axes, "host.scheduler", NULL), scheduler[i % 3]);
        assert_string_equal(text_of(at(row, "config", "host"), "scheduler", NULL), scheduler[i % 3]);
        assert_string_equal(text_of(row, "detail", NULL), "summary");
        assert_int_equal(strlen(text_of(row, "point", "id")), 16);
    }
    cJSON_Delete(v);
    assert_false(cli_rig_exists(r, "a.jsonl.part"));
    assert_false(cli_rig_leftovers(r));
}

/* A point runs as heddle run does, and has its result. */
static void test_a_row_is_the_result_of_run(void **state)
{
    struct cli_rig *r = *state;
    cJSON *rows, *alone, *row;

    cli_rig_program(r);
    cli_rig_file(
        r, "s.lua",
        "return {workload = 'prog.lua', config = 'tiny', seed = 3, iterations = 2, detail = "
        "'full', set = {['l1.enabled'] = false}, axes = {{key = 'arg.n', values = {500}}}}");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -q");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_string_equal(r->out, "");
    cli_rig_run(r, "run %/prog.lua --config tiny --seed 3 --iterations 2 --detail full --set "
                   "l1.enabled=off --arg n=500 --out %/b.json -q");
    cli_rig_expect(r, 0, NULL, NULL);
    rows = rows_of(r, "a.jsonl");
    row = cJSON_GetArrayItem(rows, 0);
    {
        char *text = cli_rig_read(r, "b.json");

        alone = cJSON_Parse(text);
        free(text);
    }
    assert_true(cJSON_IsNull(at(alone, "point", NULL)));
    cJSON_DeleteItemFromObjectCaseSensitive(row, "point");
    cJSON_DeleteItemFromObjectCaseSensitive(alone, "point");
    cJSON_DeleteItemFromObjectCaseSensitive(row, "simulator");
    cJSON_DeleteItemFromObjectCaseSensitive(alone, "simulator");
    assert_true(cJSON_Compare(row, alone, 1));
    cJSON_Delete(rows);
    cJSON_Delete(alone);
}

static void test_axes_of_programs_and_configurations(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(r, "other.lua", "local gpu = require 'heddle' gpu.check('x', 1, 1)\n");
    cli_rig_file(r, "small.json", "{\"extends\": \"tiny\", \"compute_units\": 1}");
    cli_rig_file(r, "s.lua",
                 "return {axes = {workload = {'prog.lua', 'other.lua'}, config = {'tiny', "
                 "'./small.json'}, seed = {1, 2}}}");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    v = rows_of(r, "a.jsonl");
    /* config, seed, workload: by name */
    assert_int_equal(cJSON_GetArraySize(v), 8);
    assert_int_equal(at(cJSON_GetArrayItem(v, 3), "config", "compute_units")->valuedouble, 4);
    assert_int_equal(at(cJSON_GetArrayItem(v, 4), "config", "compute_units")->valuedouble, 1);
    assert_int_equal(at(cJSON_GetArrayItem(v, 6), "seed", NULL)->valuedouble, 2);
    assert_non_null(strstr(text_of(cJSON_GetArrayItem(v, 5), "workload", NULL), "/other.lua"));
    cJSON_Delete(v);
}

/* Keys of one axis vary together: sizes of their own for each program, times the schedulers. */
static void test_zipped_keys(void **state)
{
    static const char *const programs[] = {"prog.lua", "prog.lua", "other.lua"};
    static const int n[] = {10, 20, 7};
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(r, "other.lua", "require('heddle').arg('n', 1)\n");
    cli_rig_file(r, "s.lua",
                 "return {config = 'tiny', axes = {\n"
                 "  {keys = {'workload', 'arg.n'}, values = {{'prog.lua', 10}, {'prog.lua', 20}, "
                 "{'other.lua', 7}, {'prog.lua', 10}}},\n"
                 "  {key = 'seed', values = {1, 2}}}}");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl");
    cli_rig_expect(r, 0, "axis workload: 1 values are there before", NULL);
    assert_non_null(strstr(r->out, "3 workload+arg.n x 2 seed = 6 points"));
    v = rows_of(r, "a.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 6);
    for (int i = 0; i < 6; i++) {
        const cJSON *row = cJSON_GetArrayItem(v, i), *axes = at(row, "point", "axes");

        assert_string_equal(text_of(axes, "workload", NULL), programs[i / 2]);
        assert_int_equal(at(axes, "arg.n", NULL)->valuedouble, n[i / 2]);
        assert_int_equal(at(row, "args", "n")->valuedouble, n[i / 2]);
        assert_int_equal(at(row, "seed", NULL)->valuedouble, 1 + i % 2);
    }
    cJSON_Delete(v);
}

/* Points one by one: in their order, each once, and what one leaves out is the base's. */
static void test_points_one_by_one(void **state)
{
    static const int n[] = {10, 20, 7};
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(
        r, "s.lua",
        "return {workload = 'prog.lua', config = 'tiny', seed = 5, args = {n = 7}, points = {\n"
        "  {['arg.n'] = 10, seed = 1}, {['arg.n'] = 20}, {['arg.n'] = 10, seed = 1}, "
        "{seed = 3}}}");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl");
    cli_rig_expect(r, 0, "1 values are there before", NULL);
    v = rows_of(r, "a.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 3);
    for (int i = 0; i < 3; i++) {
        const cJSON *row = cJSON_GetArrayItem(v, i), *axes = at(row, "point", "axes");

        assert_int_equal(at(row, "args", "n")->valuedouble, n[i]);
        assert_int_equal(at(row, "seed", NULL)->valuedouble, i == 0 ? 1 : i == 1 ? 5 : 3);
        assert_int_equal(at(axes, "arg.n", NULL) != NULL, i < 2);
        assert_int_equal(at(axes, "seed", NULL) != NULL, i != 1);
    }
    cJSON_Delete(v);
    cli_rig_run(r, "sweep %/s.lua --dry-run");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, " arg.n=20\n"));
    assert_non_null(strstr(r->out, " seed=3\n"));
}

/* The order in which a script wrote a table, and the seed of Lua's hashes, change nothing. */
static void test_the_order_of_tables_does_not_matter(void **state)
{
    static const char *const scripts[] = {
        "local axes = {alpha = {1, 2}, beta = {3, 4}, gamma = {math.random(1000)}, delta = {5, "
        "6}}\n"
        "local named = {} for k, v in pairs(axes) do named['arg.' .. k] = v end\n"
        "return {workload = 'prog.lua', set = {['l1.enabled'] = true, ['compute_units'] = 2}, axes "
        "= "
        "named}",
        "return {axes = {['arg.delta'] = {5, 6}, ['arg.gamma'] = {math.random(1000)}, ['arg.beta'] "
        "= "
        "{3, 4}, ['arg.alpha'] = {1, 2}}, set = {['compute_units'] = 2, ['l1.enabled'] = true}, "
        "workload = 'prog.lua'}"};
    struct cli_rig *r = *state;
    char *first = NULL;

    cli_rig_program(r);
    for (int i = 0; i < 20; i++) {
        cli_rig_file(r, "s.lua", scripts[i % 2]);
        cli_rig_run(r, "sweep %/s.lua --dry-run");
        cli_rig_expect(r, 0, NULL, NULL);
        if (first)
            assert_string_equal(first, r->out);
        else
            first = strdup(r->out);
    }
    assert_non_null(strstr(first, " arg.alpha=1 arg.beta=3 arg.delta=5 arg.gamma="));
    assert_non_null(
        strstr(first, "2 arg.alpha x 2 arg.beta x 2 arg.delta x 1 arg.gamma = 8 points"));
    free(first);
}

/* An id says what a point is: the order of axes, and whether a value came from the base, are no part of it. */
static void test_ids_follow_from_the_settings(void **state)
{
    struct cli_rig *r = *state;
    cJSON *a, *b;
    char id[32];

    cli_rig_program(r);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'prog.lua', config = 'tiny', axes = {{key = 'arg.n', values = "
                 "{10, 20}}, {key = 'arg.want', values = {2}}}}");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -q");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_file(
        r, "t.lua",
        "return {workload = 'prog.lua', args = {want = '2'}, axes = {{key = 'arg.n', values "
        "= {30, 20}}}}");
    cli_rig_run(r, "sweep %/t.lua --config tiny --out %/b.jsonl -q");
    cli_rig_expect(r, 0, NULL, NULL);
    a = rows_of(r, "a.jsonl");
    b = rows_of(r, "b.jsonl");
    assert_string_equal(text_of(cJSON_GetArrayItem(a, 1), "point", "id"),
                        text_of(cJSON_GetArrayItem(b, 1), "point", "id"));
    assert_string_not_equal(text_of(cJSON_GetArrayItem(a, 0), "point", "id"),
                            text_of(cJSON_GetArrayItem(b, 0), "point", "id"));
    cJSON_Delete(a);
    cJSON_Delete(b);
    /* the name of what is set counts, not the value alone */
    cli_rig_file(r, "t.lua", "return {workload = 'prog.lua', axes = {['arg.n'] = {2}}}");
    cli_rig_run(r, "sweep %/t.lua --dry-run");
    snprintf(id, sizeof id, "%.18s", r->out);
    cli_rig_file(r, "t.lua", "return {workload = 'prog.lua', axes = {['arg.want'] = {2}}}");
    cli_rig_run(r, "sweep %/t.lua --dry-run");
    assert_int_equal(strncmp(r->out, "0 ", 2), 0);
    assert_int_not_equal(strncmp(r->out, id, 18), 0);
}

static void test_near_values_are_points_of_their_own(void **state)
{
    struct cli_rig *r = *state;
    char ids[4][32];

    cli_rig_program(r);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'prog.lua', axes = {{key = 'arg.f', values = {0.1, 0.2, 0.3, "
                 "0.1 + 0.2, 0.1, '0.1'}}}}");
    cli_rig_run(r, "sweep %/s.lua --dry-run");
    cli_rig_expect(r, 0, "axis arg.f: 2 values are there before and run once", NULL);
    assert_non_null(strstr(r->out, "arg.f=0.3\n"));
    assert_non_null(strstr(r->out, "arg.f=0.30000000000000004\n"));
    assert_non_null(strstr(r->out, "4 arg.f = 4 points"));
    assert_int_equal(sscanf(r->out, "0 %31s %*s\n1 %31s %*s\n2 %31s %*s\n3 %31s", ids[0], ids[1],
                            ids[2], ids[3]),
                     4);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(ids[i], ids[k]);
}

/* ---- failures ------------------------------------------------------------------------------------- */

static const char failing[] =
    "local gpu = require 'heddle'\n"
    "local p = gpu.arg('p', 1)\n"
    "local inc = gpu.module('prog.hasm'):kernel('inc', 'x: inout f32[], n: i32')\n"
    "local x = gpu.array('f32', 100, 'x')\n"
    "gpu.region('main', function()\n"
    "    if p == 3 then inc(1, 64, 1 << 20)(x, 100) end\n"
    "    if p == 4 then error('point four') end\n"
    "    for i = 1, p == 5 and 100 or 1 do inc(1, 64)(x, 100) end\n"
    "end)\n";

static void expect_failure(const cJSON *row, const char *code, const char *place, int exit_status)
{
    assert_string_equal(text_of(row, "status", NULL), "failed");
    assert_string_equal(text_of(row, "error", "code"), code);
    assert_non_null(strstr(text_of(row, "error", "place"), place));
    assert_true(*text_of(row, "error", "message") != '\0');
    assert_int_equal(at(row, "point", "exit_status")->valuedouble, exit_status);
}

/* A point that fails is a row, and the others are as they would be without it. */
static void test_one_failing_point_does_not_stop_the_sweep(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(r, "five.lua", failing);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'five.lua', config = 'tiny', axes = {{key = 'arg.p', values = "
                 "{1, 2, 3, 4, 5}}}}");
    cli_rig_run(r, "sweep %/s.lua --max-cycles 200000 -j 2 --out %/a.jsonl");
    /* of each kind of failure the first is told */
    cli_rig_expect(r, 4, "heddle: arg.p=4: ", "five.lua:7: point four");
    cli_rig_expect(r, 4, "heddle: arg.p=5: ", "hint: raise --max-cycles");
    v = rows_of(r, "a.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 5);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(text_of(cJSON_GetArrayItem(v, i), "status", NULL), "ok");
        assert_true(cJSON_IsNull(at(cJSON_GetArrayItem(v, i), "error", NULL)));
        assert_true(at(cJSON_GetArrayItem(v, i), "time_ns", NULL)->valuedouble > 0);
    }
    expect_failure(cJSON_GetArrayItem(v, 2), "launch-local-memory", "five.lua:6", 3);
    expect_failure(cJSON_GetArrayItem(v, 3), "lua-error", "five.lua:7", 3);
    expect_failure(cJSON_GetArrayItem(v, 4), "max-time", "five.lua:8", 4);
    assert_string_equal(text_of(cJSON_GetArrayItem(v, 3), "error", "message"), "point four");
    assert_true(cJSON_IsNull(at(cJSON_GetArrayItem(v, 3), "time_ns", NULL)));
    assert_int_equal(at(cJSON_GetArrayItem(v, 3), "args", "p")->valuedouble, 4);
    assert_int_equal(at(cJSON_GetArrayItem(v, 3), "config", "compute_units")->valuedouble, 4);
    cJSON_Delete(v);
    /* the table: an outcome a line, with its number and its first point */
    assert_non_null(strstr(r->out, "ok                        2  arg.p=1"));
    assert_non_null(strstr(r->out, "launch-local-memory       1  arg.p=3"));
    assert_non_null(strstr(r->out, "max-time                  1  arg.p=5"));
}

static void test_jobs_change_no_byte(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_file(r, "five.lua", failing);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'five.lua', config = 'tiny', axes = {{key = 'arg.p', values = "
                 "{5, 4, 1, 3, 2}}, {key = 'host.scheduler', values = {'serial-sync', "
                 "'parallel-async'}}}}");
    cli_rig_run(r, "sweep %/s.lua --max-cycles 100000 -j 1 --out %/one.jsonl");
    cli_rig_expect(r, 4, NULL, NULL);
    cli_rig_run(r, "sweep %/s.lua --max-cycles 100000 -j 4 --out %/four.jsonl");
    cli_rig_expect(r, 4, NULL, NULL);
    expect_equal_files(r, "one.jsonl", "four.jsonl");
    cli_rig_run(r, "sweep %/s.lua --max-cycles 100000 -j3 --out -");
    cli_rig_expect(r, 4, "10 points", NULL);
    cli_rig_file(r, "dash.jsonl", r->out);
    expect_equal_files(r, "one.jsonl", "dash.jsonl");
}

static void test_a_failed_check_is_the_exit_status(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'prog.lua', config = 'tiny', axes = {['arg.want'] = {2, 5}}}");
    cli_rig_run(r, "sweep %/s.lua");
    cli_rig_expect(r, 1, "without --out FILE.jsonl the results are not kept", NULL);
    assert_non_null(strstr(r->out, "check_failed       1  arg.want=5"));
}

/* A combination that no machine can have is a failure of its point. */
static void test_a_wrong_combination_is_a_row(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(
        r, "s.lua",
        "return {workload = 'prog.lua', config = 'tiny', axes = {{key = 'l1.bytes', values = "
        "{4096, 4097}}}}");
    cli_rig_run(r, "sweep %/s.lua --arg nothing=1 --out %/a.jsonl");
    cli_rig_expect(r, 4, NULL, NULL);
    v = rows_of(r, "a.jsonl");
    expect_failure(cJSON_GetArrayItem(v, 0), "lua-unknown-arg", "prog.lua", 3);
    assert_int_equal(at(cJSON_GetArrayItem(v, 0), "args", "n")->valuedouble, 1000);
    assert_string_equal(text_of(cJSON_GetArrayItem(v, 1), "args", "nothing"), "1");
    assert_string_equal(text_of(cJSON_GetArrayItem(v, 1), "status", NULL), "failed");
    assert_null(at(cJSON_GetArrayItem(v, 1), "config", NULL)->child);
    cJSON_Delete(v);
}

/* ---- scripts with mistakes ------------------------------------------------------------------------- */

#define AXES "axes = {{key = 'arg.n', values = {1}}}"

static const struct {
    const char *script, *options, *message, *hint;
    int status;
} mistakes[] = {
    {"return 5", "", "returned number and not a table", "return {workload", 3},
    {"x = 5", "", "global 'x'", "local x", 3},
    {"return {", "", "unexpected symbol", NULL, 3},
    {"return {workload = 'prog.lua', axis = {}}", "", "no key \"axis\"", "did you mean axes?", 3},
    {"return {workload = 'prog.lua'}", "", "the sweep has no axes", "axes = {", 3},
    {"return {workload = 'prog.lua', axes = {}}", "", "the sweep has no axes", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {}}}}", "",
     "the axis arg.n has no values", NULL, 3},
    {"return {workload = 'prog.lua', axes = {['arg.n'] = {}}}", "", "the axis arg.n has no values",
     NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {1}}, {key = 'arg.n', values "
     "= {2}}}}",
     "", "there are two axes arg.n", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', value = {1}}}}", "",
     "no key \"value\"", "did you mean values?", 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {1, nil, 3}}}}", "",
     "list without holes", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {{}}}}}", "",
     "must be a number, a string or a boolean", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {0/0}}}}", "",
     "not a finite number", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = 5}}}", "", "must be a table",
     NULL, 3},
    {"return {workload = 'prog.lua', axes = {{keys = {'arg.n', 'arg.m'}, values = {{1, 2}, {3}}}}}",
     "", "axes[1].values[2] has 1 values for 2 keys", "one value for each key", 3},
    {"return {workload = 'prog.lua', axes = {{keys = {'arg.n', 'arg.m'}, values = {{1, x = 2}}}}}",
     "", "is a nil and must be", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{keys = {'arg.n', 'arg.n'}, values = {{1, 2}}}}}", "",
     "there are two axes arg.n", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{keys = {}, values = {{}}}}}", "",
     "axes[1].keys is empty", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', keys = {'arg.m'}, values = {{1}}}}}",
     "", "both key and keys", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{values = {1}}}}", "", "a key of axes[1] is a nil",
     NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {1}}, n = {2}}}", "",
     "neither a list without holes nor a table of names", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'host.schedular', values = {1}}}}", "",
     "no key \"host.schedular\"", "did you mean \"host.scheduler\"?", 3},
    {"return {workload = 'prog.lua', axes = {{key = 'iteration', values = {1}}}}", "",
     "no key \"iteration\"", "did you mean \"iterations\"?", 3},
    {"return {workload = 'prog.lua', axes = {{key = 'arg.', values = {1}}}}", "", "no key \"arg.\"",
     NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'host.scheduler', values = {'serial-sink'}}}}",
     "", "host.scheduler is \"serial-sink\"", "did you mean \"serial-sync\"?", 3},
    {"return {workload = 'prog.lua', axes = {{key = 'compute_units', values = {4, 0}}}}", "",
     "compute_units is 0", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'seed', values = {-1}}}}", "",
     "seed must be a whole number", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'detail', values = {'all'}}}}", "",
     "detail must be one of summary, kernels, full", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'config', values = {'tinny'}}}}", "", "tinny",
     NULL, 3},
    {"return {workload = 'prog.lua', set = {['l1.byte'] = 4096}, " AXES "}", "",
     "no key \"l1.byte\"", "l1.bytes", 3},
    {"return {workload = 'prog.lua', set = {seed = 1}, seed = 2, " AXES "}", "",
     "seed is set twice", NULL, 3},
    {"return {workload = 'none.lua', " AXES "}", "", "cannot read the workload", "script's folder",
     3},
    {"return {workload = 'prog.lua', " AXES ", points = {{['arg.n'] = 1}}}", "",
     "both axes and points", NULL, 3},
    {"return {workload = 'prog.lua', points = {}}", "", "points is no list", "points = {", 3},
    {"return {workload = 'prog.lua', points = {{}}}", "", "no point sets anything", NULL, 3},
    {"return {workload = 'prog.lua', points = {{['arg.n'] = 1}, 5}}", "", "points[2] is a number",
     NULL, 3},
    {"return {workload = 'prog.lua', points = {{['arg.n'] = {}}}}", "",
     "points[1].arg.n is a table", NULL, 3},
    {"return {workload = 'prog.lua', seed = 1, points = {{['arg.n'] = 1, seed = 1}, {['arg.n'] = "
     "1}}}",
     "", "are one run", NULL, 3},
    {"return {" AXES "}", "", "names no workload", NULL, 3},
    {"return {workload = 'prog.lua', post = 5, " AXES "}", "", "post is a number", NULL, 3},
    {"return {workload = 'prog.lua', inputs = {x = 'none.json'}, " AXES "}", "",
     "cannot read the input x", "script's folder", 3},
    {"return {workload = 'prog.lua', inputs = {x = '/etc/passwd'}, " AXES "}", "", "a path from",
     NULL, 3},
    {"local gpu = require 'heddle' gpu.arg('n', 1)", "", "heddle.arg is for workloads", NULL, 3},
    {"local v = {} for i = 1, 1001 do v[i] = i end return {workload = 'prog.lua', axes = {{key = "
     "'arg.a', values = v}, {key = 'arg.b', values = v}}}",
     "", "more than 1000000 points", NULL, 3},
    {"return {workload = 'prog.lua', " AXES "}", "--arg n=5", "sets arg.n, which is an axis", NULL,
     2},
    {"return {workload = 'prog.lua', " AXES "}", "--set seed=5", "write --seed", NULL, 2},
    {"return {workload = 'prog.lua', " AXES "}", "--set l1.byte=5", "l1.byte", "l1.bytes", 3},
    {"return {workload = 'prog.lua', iterations = 0, " AXES "}", "",
     "iterations must be from 1 to 1000000, not \"0\"", NULL, 3},
    {"return {workload = 'prog.lua', axes = {{key = 'warmup', values = {1000001}}}}", "",
     "warmup must be from 0 to 1000000", NULL, 3},
    {"return {workload = 'prog.lua', " AXES "}", "--iterations 0",
     "iterations must be from 1 to 1000000", NULL, 3},
    {"return {workload = 'prog.lua', " AXES "}", "--resume", "--resume needs the file", NULL, 2},
    {"return {workload = 'prog.lua', " AXES "}", "--out %/prog.hasm", "ends in .jsonl", NULL, 2},
    {"return {workload = 'prog.lua', " AXES "}", "--out %/s.lua", "--out names the program", NULL, 2},
    {"return {workload = 'prog.lua', " AXES "}", "--trace x", "no option --trace", NULL, 2},
    {"return {workload = 'prog.lua', " AXES "}", "--out %/none/a.jsonl", "cannot write", NULL, 3},
};

static void test_mistakes_are_found_before_a_point_runs(void **state)
{
    struct cli_rig *r = *state;
    char line[256];

    cli_rig_program(r);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        cli_rig_file(r, "s.lua", mistakes[i].script);
        snprintf(line, sizeof line, "sweep %%/s.lua %s", mistakes[i].options);
        cli_rig_run(r, line);
        cli_rig_expect(r, mistakes[i].status, mistakes[i].message, mistakes[i].hint);
    }
    cli_rig_file(r, "s.lua", "\n\nerror('line three')");
    cli_rig_run(r, "sweep %/s.lua --out %/mistake.jsonl");
    cli_rig_expect(r, 3, "s.lua:3: line three", NULL);
    cli_rig_file(r, "s.lua",
                 "return {workload = 'prog.lua', axes = {{key = 'arg.n', values = {{}}}}}");
    cli_rig_run(r, "sweep %/s.lua --out %/mistake.jsonl");
    cli_rig_expect(r, 3, "s.lua (axes[1].values[1])", NULL);
    assert_false(cli_rig_exists(r, "mistake.jsonl"));
    assert_false(cli_rig_exists(r, "mistake.jsonl.part"));
}

/* ---- the script's files ------------------------------------------------------------------------------ */

static const char with_post[] =
    "return {workload = 'prog.lua', config = 'tiny', axes = {{key = 'arg.n', values = {10, 20}},\n"
    "    {key = 'arg.want', values = {2, 9}}},\n"
    "  inputs = {old = 'old.jsonl', table = 'table.json', text = 'text.csv'},\n"
    "  post = function(results, inputs)\n"
    "    local lines = {}\n"
    "    for i, row in ipairs(results) do\n"
    "        lines[i] = row.point.index .. ' ' .. row.point.axes['arg.n'] .. ' ' .. row.status .. "
    "' ' "
    ".. #row.checks.list .. '\\n'\n"
    "    end\n"
    "    local one = tostring(inputs.table.list[2]) .. tostring(inputs.table.none) .. "
    "inputs.table.big .. inputs.text\n"
    "    return {['rows.txt'] = table.concat(lines), ['one.txt'] = one .. ' ' .. #inputs.old}\n"
    "  end}\n";

static void test_post_reads_rows_and_writes_files(void **state)
{
    struct cli_rig *r = *state;
    char *text;

    cli_rig_program(r);
    cli_rig_file(r, "old.jsonl", "{\"a\":1}\n\n{\"a\":2}\n{\"a\":3}");
    cli_rig_file(r, "table.json", "{\"list\": [1, 2.5], \"none\": null, \"big\": 9007199254740991}");
    cli_rig_file(r, "text.csv", ",a\n");
    cli_rig_file(r, "s.lua", with_post);
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl");
    cli_rig_expect(r, 1, NULL, NULL);
    assert_non_null(strstr(r->out, "/one.txt, "));
    text = cli_rig_read(r, "rows.txt");
    assert_string_equal(text, "0 10 ok 2\n1 10 check_failed 2\n2 20 ok 2\n3 20 check_failed 2\n");
    free(text);
    text = cli_rig_read(r, "one.txt");
    assert_string_equal(text, "2.5nil9007199254740991,a\n 3");
    free(text);
    cli_rig_run(r, "sweep %/s.lua");
    cli_rig_expect(r, 1, "are not kept, and post does not run", NULL);
}

static const struct {
    const char *post, *message;
} bad_posts[] = {
    {"return {['../x'] = 'a'}", "a file with the name \"../x\""},
    {"return {['.hidden'] = 'a'}", "a file with the name \".hidden\""},
    {"return {['a..b'] = 'a'}", NULL},
    {"return {[1] = 'a'}", "a file with the name \"1\""},
    {"return {x = {}}", "a table for \"x\""},
    {"return 'x'", "a string and not a table of files"},
    {"return {['s.lua'] = 'x'}", "write over"},
    {"return {['bad.jsonl'] = 'x'}", "write over"},
    {"return {['prog.hasm'] = 'x'}", "write over"},
    {"return results[1].none.more", "attempt to index"},
};

/* What went wrong in post loses no row: the sweep may be taken up to do it again. */
static void test_mistakes_of_post(void **state)
{
    struct cli_rig *r = *state;
    char script[512];

    cli_rig_program(r);
    for (size_t i = 0; i < sizeof bad_posts / sizeof *bad_posts; i++) {
        snprintf(script, sizeof script,
                 "return {workload = 'prog.lua', config = 'tiny', axes = {['arg.n'] = {1}}, post = "
                 "function(results) %s end}",
                 bad_posts[i].post);
        cli_rig_file(r, "s.lua", script);
        cli_rig_run(r, "sweep %/s.lua --out %/bad.jsonl --resume");
        cli_rig_expect(r, bad_posts[i].message ? 3 : 0, bad_posts[i].message, NULL);
        assert_true(cli_rig_exists(r, "bad.jsonl"));
        assert_false(cli_rig_exists(r, "bad.jsonl.part"));
        assert_false(cli_rig_leftovers(r));
    }
}

/* The sweep that the manual shows, on a small machine. */
static void test_the_example(void **state)
{
    struct cli_rig *r = *state;
    char *text;

    cli_rig_run(
        r, "sweep workloads/dag/sweep_vec.lua --arg blocks=8 --max-instr 9000 --out %/v.jsonl");
    cli_rig_expect(r, 4, NULL, NULL); /* the limit ends the larger sizes */
    text = cli_rig_read(r, "sweep_vec.csv");
    assert_non_null(text);
    assert_int_equal(strncmp(text, "n,scheduler,time_us,speedup\n1000,serial-sync,", 45), 0);
    assert_int_equal(count(text, "\n"), 13);
    assert_non_null(strstr(text, "\n1000000,parallel-async,,\n"));
    free(text);
    assert_true(cli_rig_exists(r, "sweep_vec.vl.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_axis_is_fastest),
        cmocka_unit_test(test_a_row_is_the_result_of_run),
        cmocka_unit_test(test_axes_of_programs_and_configurations),
        cmocka_unit_test(test_zipped_keys),
        cmocka_unit_test(test_points_one_by_one),
        cmocka_unit_test(test_the_order_of_tables_does_not_matter),
        cmocka_unit_test(test_ids_follow_from_the_settings),
        cmocka_unit_test(test_near_values_are_points_of_their_own),
        cmocka_unit_test(test_one_failing_point_does_not_stop_the_sweep),
        cmocka_unit_test(test_jobs_change_no_byte),
        cmocka_unit_test(test_a_failed_check_is_the_exit_status),
        cmocka_unit_test(test_a_wrong_combination_is_a_row),
        cmocka_unit_test(test_mistakes_are_found_before_a_point_runs),
        cmocka_unit_test(test_post_reads_rows_and_writes_files),
        cmocka_unit_test(test_mistakes_of_post),
        cmocka_unit_test(test_the_example),
    };

    return cmocka_run_group_tests_name("sweep", tests, cli_rig_setup, cli_rig_teardown);
}
