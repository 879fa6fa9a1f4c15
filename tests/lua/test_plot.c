/* workloads/lib/plot.lua: numbers by arithmetic, CSV to the byte, and figures whose fields are in their data. */
#include "tests/lua/rig.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Six points of a sweep: two sizes, three schedulers. The time of a is n, of b half of that, and c failed half way at n = 100. */
#define ROWS                                                                                       \
    "local plot = require 'plot'\n"                                                                \
    "local rows = {}\n"                                                                            \
    "for _, n in ipairs {10, 100} do\n"                                                            \
    "  for i, s in ipairs {'a', 'b', 'c'} do\n"                                                    \
    "    local ok = not (s == 'c' and n == 100)\n"                                                 \
    "    rows[#rows + 1] = {schema = 'heddle.result/1', status = ok and 'ok' or 'failed',\n"       \
    "      config_name = 'tiny', args = {n = n, m = 7}, config = {host = {scheduler = s}, l1 = "   \
    "{bytes = 64}},\n"                                                                             \
    "      time_ns = n / (s == 'a' and 1 or s == 'b' and 2 or 4), metrics = {ipc = i, stalls = "   \
    "{issued = n, memory = i}},\n"                                                                 \
    "      regions = {{name = 'main', time_ns = 5}},\n"                                            \
    "      point = {id = 'x', index = #rows, axes = {['arg.n'] = n, ['host.scheduler'] = s}}}\n"   \
    "  end\n"                                                                                      \
    "end\n"

static void test_paths(void **state)
{
    (void)state;
    expect_log(ROWS
               "local r = rows[2]\n"
               "print(plot.get(r, 'arg.n'), plot.get(r, 'host.scheduler'), plot.get(r, 'arg.m'))\n"
               "print(plot.get(r, 'time_ns'), plot.get(r, 'metrics.stalls.memory'))\n"
               "print(plot.get(r, 'l1.bytes'), plot.get(r, 'config'), plot.get(r, 'status'))\n"
               "print(plot.get(r, 'regions.1.time_ns'), plot.get(r, 'regions.2.time_ns'))\n"
               "print(plot.get(r, function(row) return row.args.m * 2 end), plot.get(r, 'none'))\n"
               "print(plot.get({['a.b'] = {c = 1}}, 'a.b.c'))\n",
               "10\tb\t7\n5.0\t2\n64\ttiny\tok\n5\tnil\n14\tnil\n1\n");
}

/* What a run measured before it failed is no measurement. */
static void test_failed_rows_have_no_measurements(void **state)
{
    (void)state;
    expect_log(ROWS "local r = rows[6]\n"
                    "print(r.time_ns, plot.get(r, 'time_ns'), plot.get(r, 'metrics.ipc'))\n"
                    "print(plot.get(r, 'arg.n'), plot.get(r, 'status'), plot.get(r, 'l1.bytes'))\n"
                    "r.status = 'check_failed' print(plot.get(r, 'time_ns'))\n",
               "25.0\tnil\tnil\n100\tfailed\t64\n25.0\n");
}

static void test_select_and_group(void **state)
{
    (void)state;
    expect_log(
        ROWS
        "print(#plot.select(rows, {['host.scheduler'] = 'b'}), #plot.select(rows, {['arg.n'] = "
        "10, status = 'ok'}))\n"
        "print(#plot.select(rows, {['host.scheduler'] = {'a', 'c'}, ['arg.n'] = 100}))\n"
        "print(#plot.select(rows, function(r) return r.point.index > 3 end))\n"
        "for _, g in ipairs(plot.group(rows, 'host.scheduler')) do print(g.key[1], #g.rows, "
        "g.rows[2].args.n) end\n"
        "print(#plot.group({{k = 1}, {k = '1'}, {k = 1.0}, {}}, 'k'))\n"
        "print(table.concat(plot.values(rows, 'host.scheduler'), ' '))\n",
        "2\t3\n2\n2\na\t2\t100\nb\t2\t100\nc\t2\t100\n3\na b c\n");
}

/* 2 * 8 = 4^2; 1 + 2 + 6 = 3 * 3; the lower of two middles. */
static void test_means(void **state)
{
    (void)state;
    expect_log(ROWS "print(string.format('%.12f', plot.geomean {2, 8}), plot.mean {1, 2, 6}, "
                    "plot.median {4, 1, 3, 2})\n"
                    "print(plot.geomean({}), plot.mean({}), plot.median({}))\n"
                    "print(string.format('%.9f', plot.geomean(rows, 'time_ns')))\n"
                    "print(pcall(plot.geomean, {1, 0}))\n"
                    "print((select(2, pcall(plot.mean, rows, 'status')):gsub('.*plot: ', '')))\n",
               "4.000000000000\t3.0\t2\nnil\tnil\tnil\n"
               /* 10 5 2.5 100 50: the fifth root of 625000 */
               "14.426999059\n"
               "false\tplot: a geometric mean is of numbers above 0, not of 0\n"
               "status is a string and not a number\n");
}

static void test_ratios(void **state)
{
    (void)state;
    expect_log(
        ROWS
        "local gain = plot.speedup(rows, {by = 'host.scheduler', base = 'a'})\n"
        "for i, r in ipairs(gain) do print(r.point.index, r.ratio) end\n"
        "print(rows[1].ratio, plot.relative(rows, {by = 'host.scheduler', base = 'a'})[2].ratio)\n"
        "print(plot.speedup(rows, {by = 'arg.n', base = 100, value = 'metrics.ipc'})[1].ratio)\n"
        "for _, r in ipairs(plot.aggregate(gain, {by = {'host.scheduler'}, value = 'ratio'})) do\n"
        "  print(r['host.scheduler'], string.format('%.6f', r.value), r.count) end\n",
        "0\t1.0\n1\t2.0\n2\t4.0\n3\t1.0\n4\t2.0\n5\tnil\nnil\t0.5\n1.0\n"
        "a\t1.000000\t2\nb\t2.000000\t2\nc\t4.000000\t1\n");
}

/* Rows of compare have no axes: what pairs them is said. */
static void test_ratios_of_other_rows(void **state)
{
    (void)state;
    expect_log(
        "local plot = require 'plot'\n"
        "local rows = {{s = 'x', n = 1, time_ns = 8}, {s = 'y', n = 1, time_ns = 2}, {s = 'y', n = "
        "2, time_ns = 3}}\n"
        "for _, r in ipairs(plot.speedup(rows, {by = 's', base = 'x', match = {'n'}})) do "
        "print(r.ratio) end\n"
        "print((select(2, pcall(plot.speedup, rows, {by = 's', base = 'x'})):gsub('.*plot: ', "
        "'')))\n"
        "print((select(2, pcall(plot.speedup, rows, {by = 's', base = 'y', match = "
        "{}})):gsub('.*plot: "
        "', '')))\n",
        "1.0\n4.0\nnil\nrows that are of no sweep need match = {paths}\n"
        "two rows are the base of one ratio; match = {paths} tells them apart\n");
}

static void test_csv(void **state)
{
    (void)state;
    expect_log(
        ROWS
        "print(plot.csv(rows, {{'n', 'arg.n'}, 'host.scheduler', {'us', 'time_ns', 1e-3}}))\n"
        "print(plot.csv({{a = 'x,y', b = 'say \"hi\"', c = 'two\\nlines'}, {a = 0.1, b = 1/0, c = "
        "true}}, {'a', 'b', 'c'}))\n"
        "print(plot.csv({}, {'a'}))\n"
        "print(plot.csv({{a = 39004.876}, {a = 3}, {a = 0/0}}, {{'a', 'a', 1e-3}}))\n"
        "print(plot.csv({{a = 9007199254740993}}, {{'a', 'a', 10}}))\n",
        "n,host.scheduler,us\n10,a,0.01\n10,b,0.005\n10,c,0.0025\n100,a,0.1\n100,b,0.05\n100,c,\n\n"
        "a,b,c\n\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\"\n0.1,,true\n\n"
        "a\n\n"
        "a\n39.004876\n0.003\n\n\n"
        "a\n90071992547409930\n\n");
}

static void test_json(void **state)
{
    (void)state;
    expect_log("local plot = require 'plot'\n"
               "print(plot.json({b = 1, a = {1.5, true, 'x\\n\"\\1\\\\'}, c = plot.null, d = "
               "plot.array {}, e "
               "= {}, f = 0/0, g = 0.1, h = 9007199254740993}))\n"
               "print((select(2, pcall(plot.json, {x = print})):gsub('.*plot: ', '')))\n",
               "{\n  \"a\": [1.5, true, \"x\\n\\\"\\u0001\\\\\"],\n  \"b\": 1,\n  \"c\": null,\n  "
               "\"d\": [],\n"
               "  \"e\": {},\n  \"f\": null,\n  \"g\": 0.1,\n  \"h\": 9007199254740993\n}\n\n"
               "a function is no JSON\n");
}

/* ---- figures ------------------------------------------------------------------------------------ */

static const cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Every field that an encoding names, anywhere in the specification, is in each record; returns how many there are. */
static int check_fields(const cJSON *at, const cJSON *records)
{
    const cJSON *item, *record;
    int found = 0;

    if (at == records)
        return 0;
    cJSON_ArrayForEach(item, at)
    {
        if (item->string && strcmp(item->string, "field") == 0) {
            assert_true(cJSON_IsString(item));
            cJSON_ArrayForEach(record, records)
            {
                assert_non_null(get(record, item->valuestring));
                assert_false(cJSON_IsNull(get(record, item->valuestring)));
            }
            found++;
        }
        found += check_fields(item, records);
    }
    return found;
}

/* Runs the chunk, which prints a figure, and checks its form. */
static cJSON *figure_of(const char *program, int fields, int records)
{
    struct rig r;
    const cJSON *values, *view;
    cJSON *spec;

    rig_init(&r);
    rig_run(&r, program);
    if (r.status != HD_OK)
        fail_msg("%s: %s", r.err.place, r.err.message);
    spec = cJSON_Parse(text_str(&r.log));
    assert_non_null(spec);
    rig_free(&r);
    assert_string_equal(get(spec, "$schema")->valuestring,
                        "https://vega.github.io/schema/vega-lite/v5.json");
    values = get(get(spec, "data"), "values");
    assert_true(cJSON_IsArray(values));
    assert_int_equal(cJSON_GetArraySize(values), records);
    assert_int_equal(check_fields(spec, values), fields);
    view = get(spec, "spec") ? get(spec, "spec") : spec;
    /* a view has a mark and an encoding, a layered one has them in its layers */
    assert_true(get(view, "layer") ? !get(view, "mark") && !get(view, "encoding")
                                   : get(view, "mark") && get(view, "encoding"));
    return spec;
}

static void test_bars(void **state)
{
    cJSON *spec = figure_of(
        ROWS "print(plot.json(plot.bars {data = rows, x = 'arg.n', y = {'time_ns', unit = "
             "'us', title = 'time', scale = 1e-3}, color = 'host.scheduler', title = 'T'}))",
        4, 5);
    const cJSON *encoding = get(spec, "encoding"), *y = get(encoding, "y"), *x = get(encoding, "x");
    const cJSON *scale = get(get(encoding, "color"), "scale");

    (void)state;
    assert_string_equal(get(spec, "title")->valuestring, "T");
    assert_string_equal(get(y, "title")->valuestring, "time (us)");
    assert_string_equal(get(y, "type")->valuestring, "quantitative");
    assert_string_equal(get(x, "type")->valuestring, "ordinal");
    assert_int_equal(cJSON_GetArraySize(get(x, "sort")), 2);
    assert_int_equal(cJSON_GetArraySize(get(scale, "domain")), 3);
    assert_int_equal(cJSON_GetArraySize(get(scale, "range")), 3);
    assert_string_equal(cJSON_GetArrayItem(get(scale, "range"), 0)->valuestring, "#0072B2");
    assert_non_null(get(encoding, "xOffset"));
    /* the record of the first row: 10 ns are 0.01 us */
    assert_true(get(cJSON_GetArrayItem(get(get(spec, "data"), "values"), 0), "y")->valuedouble ==
                0.01);
    cJSON_Delete(spec);
}

static void test_lines_with_a_rule(void **state)
{
    cJSON *spec =
        figure_of(ROWS "print(plot.json(plot.lines {data = rows, x = {'arg.n', log = true}, y = "
                       "'time_ns', color = 'host.scheduler', rule = 1}))",
                  4, 5);
    const cJSON *layers = get(spec, "layer");
    const cJSON *encoding = get(cJSON_GetArrayItem(layers, 0), "encoding");

    (void)state;
    assert_int_equal(cJSON_GetArraySize(layers), 2);
    assert_string_equal(get(get(get(encoding, "x"), "scale"), "type")->valuestring, "log");
    assert_true(
        get(get(get(cJSON_GetArrayItem(layers, 1), "encoding"), "y"), "datum")->valuedouble == 1);
    cJSON_Delete(spec);
}

static void test_stacked_bars(void **state)
{
    cJSON *spec =
        figure_of(ROWS "print(plot.json(plot.stacked {data = rows, x = 'host.scheduler', column = "
                       "'arg.n', parts = {{'issued', 'metrics.stalls.issued'}, {'memory', "
                       "'metrics.stalls.memory'}}, normalize = true, y_title = 'share'}))",
                  4, 10);
    const cJSON *encoding = get(get(spec, "spec"), "encoding");

    (void)state;
    assert_string_equal(get(get(encoding, "y"), "stack")->valuestring, "normalize");
    assert_string_equal(get(get(encoding, "y"), "title")->valuestring, "share");
    assert_non_null(get(get(get(spec, "facet"), "column"), "field"));
    assert_int_equal(cJSON_GetArraySize(get(get(get(encoding, "color"), "scale"), "domain")), 2);
    cJSON_Delete(spec);
}

/* A figure of rows that all failed has no data, and is still one. */
static void test_a_figure_of_nothing(void **state)
{
    (void)state;
    cJSON_Delete(
        figure_of(ROWS "print(plot.json(plot.bars {data = {rows[6]}, x = 'arg.n', y = 'time_ns', "
                       "column = 'host.scheduler', rule = 2}))",
                  3, 0));
}

static void test_mistakes(void **state)
{
    (void)state;
    expect_error(ROWS "\nplot.bars {data = rows, x = 'arg.n', y = 'time_ns', colour = 'x'}",
                 HD_BAD_INPUT, 0, "bars has no option 'colour'");
    /* the place is where the script called, whatever depth found it */
    expect_error(
        "local plot = require 'plot'\n\nplot.bars {data = {}, x = 'x', y = {'y', log = true}}\n",
        HD_BAD_INPUT, 3, "bars stand on 0");
    expect_error("local plot = require 'plot'\nlocal text = plot.json {a = {b = {print}}}\n",
                 HD_BAD_INPUT, 2, "a function is no JSON");
    expect_error("local plot = require 'plot'\nlocal t = {}\nt.a = {t}\nplot.json(t)\n",
                 HD_BAD_INPUT, 4, "more than 100 deep");
    expect_error(ROWS "plot.csv(rows, {{'t', 'time_ns', 'x'}})", HD_BAD_INPUT, 0,
                 "the scale of t is a string and not a number");
    expect_error(ROWS "plot.bars {data = rows, x = 'arg.n', y = {'time_ns', scale = {}}}",
                 HD_BAD_INPUT, 0, "the scale of field y is a table");
    expect_error(ROWS "plot.bars {data = rows, x = 'arg.n'}", HD_BAD_INPUT, 0,
                 "needs data, x and y");
    expect_error(ROWS "plot.bars {data = rows, x = 'arg.n', y = {'time_ns', log = true}}",
                 HD_BAD_INPUT, 0, "bars stand on 0");
    expect_error(ROWS "plot.lines {data = rows, x = {'arg.n', units = 'x'}, y = 'time_ns'}",
                 HD_BAD_INPUT, 0, "field x has no option 'units'");
    expect_error(ROWS "plot.speedup(rows, {by = 'arg.m', base = 7})", HD_BAD_INPUT, 0,
                 "the sweep has no axis 'arg.m'");
    expect_error("local plot = require 'plot' local rows = {} for i = 1, 8 do rows[i] = {x = i, y "
                 "= i, c = i} "
                 "end plot.bars {data = rows, x = 'x', y = 'y', color = 'c'}",
                 HD_BAD_INPUT, 0, "more than 7 colours cannot be told apart");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_failed_rows_have_no_measurements),
        cmocka_unit_test(test_select_and_group),
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_ratios_of_other_rows),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_lines_with_a_rule),
        cmocka_unit_test(test_stacked_bars),
        cmocka_unit_test(test_a_figure_of_nothing),
        cmocka_unit_test(test_mistakes),
    };

    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
