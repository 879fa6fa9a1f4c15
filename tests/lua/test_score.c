/* The Lua of results/dag that counts: scores, sizes, and the contention-free time of a graph made by hand. */
#include "tests/lua/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* require finds modules beside the program only. */
static void copy_module(struct rig *r, const char *name)
{
    char path[64], text[32768];
    size_t len;
    FILE *in;

    snprintf(path, sizeof path, "results/dag/%s", name);
    in = fopen(path, "r");
    assert_non_null(in);
    len = fread(text, 1, sizeof text - 1, in);
    assert_true(len < sizeof text - 1);
    text[len] = '\0';
    fclose(in);
    rig_file(r, name, text);
}

static void expect(const char *program, const char *log)
{
    static const char *const modules[] = {"score.lua", "suite.lua", "contention.lua"};
    struct rig r;

    rig_init(&r);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        copy_module(&r, modules[i]);
    if (rig_run(&r, program) != HD_OK)
        fail_msg("%s: %s", r.err.place, r.err.message);
    assert_string_equal(text_str(&r.log), log);
    rig_free(&r);
}

/* Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5). */
static void test_spearman(void **state)
{
    (void)state;
    expect("local s = require('score').spearman\n"
           "print(s({1, 5, 9}, {10, 20, 30}), s({1, 5, 9}, {3, 2, 1}), s({1, 1}, {1, 2}))\n"
           "print(string.format('%.6f', s({1, 2, 2, 3}, {1, 2, 3, 4})))\n"
           "print(string.format('%.6f', s({3, 1, 2, 5, 4, 6}, {3, 1, 2, 4, 5, 6})))\n",
           "1.0\t-1.0\tnil\n0.948683\n0.942857\n");
}

/* Three of four within a quarter; the means are of the scored cells, the order of all. */
static void test_score(void **state)
{
    (void)state;
    expect("local f = {size = {scored = 1}, rows = {}}\n"
           "for i, ours in ipairs {1.2, 1.25, 1.3, 2, 4} do\n"
           "  f.rows[i] = {figure = '11', gpu = 'g', metric = 'speedup', cell = true, scored = i < "
           "5, published = "
           "i < 4 and 1 + i / 100 or i, ours = ours, rel_error = ours / (i < 4 and 1 + i / 100 or "
           "i) - 1}\n"
           "end\n"
           "f.rows[6] = {figure = 'trace', rel_error = -0.31, scored = true}\n"
           "f.rows[7] = {figure = 'trace', rel_error = 0.01, scored = false}\n"
           "local limits = {error = 0.3, geomean_error = 0.1, order_spearman = 0.7, "
           "trace_median_error = 0.3}\n"
           "local s = require('score').score(f, limits, {'g'})\n"
           "local e = s.figures[1]\n"
           "print(#s.figures, e.cells, e.within, e.share_holds, e.gpus[1].spearman, "
           "e.gpus[1].order_holds)\n"
           "print(string.format('%.6f', e.gpus[1].geomean_ours ^ 4), e.gpus[1].geomean_holds, "
           "s.trace.holds, s.trace.kernels)\n",
           "1\t4\t3\ttrue\t1.0\ttrue\n3.900000\ttrue\tfalse\t1\n");
}

/* 4800 / sqrt(20) is 1073.3, 7000 / sqrt(20) 1565.2. */
static void test_sizes(void **state)
{
    (void)state;
    expect("local s = require 'suite'\n"
           "print(s.size('VEC', 20), s.size('IMG', 20), s.size('DL', 20), s.size('IMG', 1), "
           "s.size('ML', 1, 300000))\n"
           "print(s.work('VEC', 30, 10), s.work('IMG', 30, 10), s.blocks('ML', 'p100', 10), "
           "s.blocks('DL', 'p100', 1560), #s.cells())\n",
           "6000000\t1072\t1560\t4800\t300000\n3.0\t9.0\t64\t99\t30\n");
}

/*
 * Two kernels, then one that needs both, then a read of the host and one more kernel. In series they end at 10, 30 and 35; the last one
 * is handed in at 50 and ends at 57: times 10, 20, 5, 7. The longest path is 20 + 5, and 7 behind the host.
 */
static void test_contention_free(void **state)
{
    (void)state;
    expect(
        "local nodes = {}\n"
        "for i, kind in ipairs {'kernel', 'kernel', 'kernel', 'host_read', 'kernel'} do\n"
        "  nodes[i] = {id = i - 1, kind = kind, region = 'main', iteration = 0}\n"
        "end\n"
        "nodes[6] = {id = 9, kind = 'host_write', iteration = 0}\n"
        "local function kernel(id, queued, finish) return {id = id, region = 'main', iteration = "
        "0, queued_ns = queued, "
        "end_ns = finish} end\n"
        "local row = {dag = {nodes = nodes, edges = {{from = 0, to = 2}, {from = 1, to = 2}, {from "
        "= 2, to = 3}}},\n"
        "  critical_path = {{start_ns = 0}}, transfers = {{node = 4, region = 'main', iteration = "
        "0, queued_ns = 50, "
        "end_ns = 52}},\n"
        "  kernels = {kernel(0, 1, 10), kernel(1, 11, 30), kernel(2, 31, 35), kernel(4, 51, 57)}}\n"
        "print(require 'contention' (row, row))\n"
        "row.kernels[3].region = nil\n"
        "print(require 'contention' (row, row))\n",
        "32.0\nnil\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spearman),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_contention_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
