/* workloads/lib/svg.lua: places that follow from the data, well-formed text, the same bytes each time; and what plot adds for it. */
#include "tests/lua/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                       \
    "local plot, svg = require 'plot', require 'svg'\n"                                            \
    "local function all(text, pattern)\n"                                                          \
    "  local out = {}\n"                                                                           \
    "  for a, b in text:gmatch(pattern) do out[#out + 1] = b and a .. ' ' .. b or a end\n"         \
    "  return table.concat(out, ';')\n"                                                            \
    "end\n"                                                                                        \
    "local function well_formed(text)\n" /* every tag is closed by its own end */                  \
    "  local open = {}\n"                                                                          \
    "  for stop, name, own in text:gmatch('<(/?)(%w+)[^>]-(/?)>') do\n"                            \
    "    if stop == '/' then\n"                                                                    \
    "      if table.remove(open) ~= name then return false end\n"                                  \
    "    elseif own == '' then open[#open + 1] = name end\n"                                       \
    "  end\n"                                                                                      \
    "  return #open == 0 and not text:gsub('&%w+;', ''):find('&')\n"                               \
    "end\n"

#define BARS                                                                                       \
    HEAD "local rows = {{b = 'B&S', k = 'x', v = 1}, {b = 'B&S', k = 'y', v = 2}, {b = '<V>', k "  \
         "= 'x', "                                                                                 \
         "v = 0.5}}\n"                                                                             \
         "local function draw(rule) return svg.draw(plot.bars {data = rows, x = 'b', y = 'v', "    \
         "color = "                                                                                \
         "'k', width = 200, height = 100, title = 'T', rule = rule}) end\n"

/* The axis goes from 0 to 2 over 100 units. Two bands of 100 units, of which 84 are bars: 42 for each of two, with a small gap. */
static void test_bars(void **state)
{
    (void)state;
    expect_log(BARS
               "local t = draw()\n"
               "print(all(t, 'width=\"40.32\" height=\"([%d.]+)\" fill=\"(#%x+)\"'))\n"
               "print(well_formed(t), t:find('B&amp;S', 1, true) ~= nil, t:find('<V>', 1, true))\n"
               "print(all(t, 'text%-anchor=\"end\">([%d.]+)<'))\n"
               "print(t == draw(), t:sub(1, 39))\n",
               "50 #0072B2;100 #E69F00;25 #0072B2\ntrue\ttrue\tnil\n0;0.5;1;1.5;2\n"
               "true\t<svg xmlns=\"http://www.w3.org/2000/svg\"\n");
}

/* A rule above all bars makes the axis longer. */
static void test_a_rule_is_on_the_axis(void **state)
{
    (void)state;
    expect_log(BARS "local t = draw(4)\n"
                    "print(all(t, 'width=\"40.32\" height=\"([%d.]+)\"'))\n"
                    "print(all(t, '<line[^>]*y1=\"([%d.]+)\"[^>]*stroke%-dasharray=\"4 4\"'))\n",
               "25;50;12.5\n34\n");
}

/* 10 is the left end of the axis, 1000 in the middle and 100000 the right end; 1 of 2 is in the middle of its height. */
static void test_lines_on_a_logarithmic_axis(void **state)
{
    (void)state;
    expect_log(
        HEAD "local rows = {{n = 1000, v = 1}, {n = 10, v = 0}, {n = 100000, v = 2}}\n"
             "local t = svg.draw(plot.lines {data = rows, x = {'n', log = true}, y = 'v', width = "
             "100, height = 50})\n"
             "local x, y = t:match('points=\"([%d.]+),([%d.]+)')\n"
             "print(all(t:gsub('[%d.]+', function(v) return v end), 'points=\"([^\"]+)\"'):gsub("
             "'([%d.]+),([%d.]+)', function(a, b) return (a - x) .. ',' .. (b - y) end))\n"
             "print(all(t, '\"middle\">([%dkM]+)<'), well_formed(t))\n",
        "0.0,0 50.0,-25 100.0,-50\t3\n10;100;1k;10k;100k\ttrue\n");
}

/* Parts stand on each other: 1 and 3 on an axis to 4. As shares each bar fills it. */
static void test_stacks(void **state)
{
    (void)state;
    expect_log(
        HEAD "local rows = {{x = 'a', p = 1, q = 3}, {x = 'b', p = 2, q = 0}}\n"
             "for _, shares in ipairs {false, true} do\n"
             "  local t = svg.draw(plot.stacked {data = rows, x = 'x', parts = {{'p', 'p'}, {'q', "
             "'q'}}, width = 100, height = 80, normalize = shares})\n"
             "  print(all(t, 'y=\"([%d.]+)\" width=\"40.32\" height=\"([%d.]+)\"'))\n"
             "end\n",
        "72 20;12 60;52 40;52 0\n72 20;12 60;12 80;12 0\n");
}

/* Lanes in their order, a bar from start to finish. */
static void test_a_timeline(void **state)
{
    (void)state;
    expect_log(
        HEAD
        "local rows = {{l = 'one', s = 0, f = 500, k = 'kernel', n = 'a'}, {l = 'two', s = 500, "
        "f = 1000, k = 'copy', n = 'b'}}\n"
        "local o = {data = rows, lane = 'l', start = 's', finish = 'f', color = 'k', label = "
        "'n', scale = 1e-3, unit = 'us', width = 100, height = 50}\n"
        "local t = svg.draw(plot.timeline(o))\n"
        "print(all(t, 'width=\"([%d.]+)\" height=\"19\" fill=\"(#%x+)\"'), well_formed(t))\n"
        "print(all(t, '(time %(us%))'), plot.timeline(o).data.values[2].x2)\n",
        "50 #0072B2;50 #E69F00\ttrue\ntime (us)\t1.0\n");
}

/* A join: two streams, the arrow from the other one dashed; a node is below its parents and below the one before it. */
static void test_a_graph(void **state)
{
    (void)state;
    expect_log(HEAD "local t = svg.graph {title = 'VEC', colors = plot.palette, nodes = {{id = 7, "
                    "label = 'a', stream = 1}, {id = 8, label = 'b', stream = 2}, {id = 9, label = "
                    "'c', stream = 1}}, edges = {{from = 7, to = 9}, {from = 8, to = 9}}}\n"
                    "print(all(t, '<circle cx=\"([%d.]+)\" cy=\"([%d.]+)\"'))\n"
                    "local _, arrows = t:gsub('<path d=\"M[^>]+marker', '')\n"
                    "local _, dashed = t:gsub('stroke%-dasharray', '')\n"
                    "print(arrows, dashed, well_formed(t))\n",
               "54 68;146 68;54 124\n2\t1\ttrue\n");
}

static void test_reading_csv(void **state)
{
    (void)state;
    expect_log(
        "local plot = require 'plot'\n"
        "local rows = plot.read_csv('a,\"b,c\",d\\n1,\"x \"\"y\"\"\",\\n,2.5,\"q\\nr\"\\n')\n"
        "print(#rows, rows[1].a, rows[1]['b,c'], rows[1].d, rows[2].a, rows[2]['b,c'], "
        "rows[2].d)\n"
        "print(#plot.read_csv('a,b\\n'), plot.csv(rows, {'a', 'b,c', 'd'}) == "
        "'a,\"b,c\",d\\n1,\"x \"\"y\"\"\",\\n,2.5,\"q\\nr\"\\n')\n",
        "2\t1\tx \"y\"\tnil\tnil\t2.5\tq\nr\n0\ttrue\n");
    expect_error("local plot = require 'plot'\nplot.read_csv('a\\n\"b')\n", HD_BAD_INPUT, 2,
                 "no end");
}

static void test_mistakes(void **state)
{
    (void)state;
    expect_error("local plot = require 'plot'\nplot.timeline {data = {}, lane = 'l'}\n",
                 HD_BAD_INPUT, 2, "needs data, lane, start, finish and color");
    expect_error(
        "require('svg').draw {mark = {type = 'pie'}, encoding = {}, data = {values = {}}}\n",
        HD_BAD_INPUT, 1, "no mark pie");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_a_rule_is_on_the_axis),
        cmocka_unit_test(test_lines_on_a_logarithmic_axis),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_a_timeline),
        cmocka_unit_test(test_a_graph),
        cmocka_unit_test(test_reading_csv),
        cmocka_unit_test(test_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
