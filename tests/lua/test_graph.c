/* Graphs by hand in Lua. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct rig rig;

static const char source[] =
    "; y[i] = x[i] * x[i]\n"
    ".kernel square\n.param x i32[]\n.param y i32[]\n.param n i32\n"
    "    v_get_u32 v0, %gid\n    v_cmp_lt_u32 m0, v0, n\n"
    "    @m0 global_load_b32 v1, [x + v0*4]\n    v_mul_u32 v1, v1, v1\n"
    "    @m0 global_store_b32 [y + v0*4], v1\n    s_end\n.endkernel\n"
    "; z[i] = x[i] + y[i]\n"
    ".kernel add\n.param x i32[]\n.param y i32[]\n.param z i32[]\n.param n i32\n"
    "    v_get_u32 v0, %gid\n    v_cmp_lt_u32 m0, v0, n\n"
    "    @m0 global_load_b32 v1, [x + v0*4]\n    @m0 global_load_b32 v2, [y + v0*4]\n"
    "    v_add_u32 v1, v1, v2\n    @m0 global_store_b32 [z + v0*4], v1\n    s_end\n.endkernel\n";

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig);
    rig_file(&rig, "k.hasm", source);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_free(&rig);
    return 0;
}

#define HEAD                                                                                       \
    "local gpu = require 'heddle' local mod = gpu.module 'k.hasm'\n"                               \
    "local square = mod:kernel('square', 'x: in i32[], y: out i32[], n: i32')\n"                   \
    "local add = mod:kernel('add', 'x: in i32[], y: in i32[], z: out i32[], n: i32')\n"            \
    "local x, y, x2, y2, z = gpu.array('i32', 100, 'x'):iota(), gpu.array('i32', 100, "            \
    "'y'):fill(2),\n"                                                                              \
    "    gpu.array('i32', 100, 'x2'), gpu.array('i32', 100, 'y2'), gpu.array('i32', 100, 'z')\n"

#define GRAPH                                                                                      \
    HEAD "local g = gpu.graph()\n"                                                                 \
         "local a = g:kernel(square(2, 64), {x, x2, 100})\n"                                       \
         "local b = g:kernel(square(2, 64), {y, y2, 100})\n"                                       \
         "local c = g:kernel(add(2, 64), {x2, y2, z, 100}, {a, b})\n"

static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};

static void set_scheduler(size_t i)
{
    struct hd_error err;

    assert_int_equal(
        param_set(&rt_params, &rig.gpu.host, "host.scheduler", schedulers[i], "test", &err), HD_OK);
}

static void prints(const char *program, const char *log)
{
    for (size_t i = 0; i < 3; i++) {
        set_scheduler(i);
        rig_run(&rig, program);
        if (rig.status != HD_OK)
            fail_msg("%s: %s", rig.err.place, rig.err.message);
        assert_string_equal(text_str(&rig.log), log);
    }
}

static void fails(const char *program, const char *message)
{
    rig_run(&rig, program);
    if (rig.status != HD_BAD_INPUT || !strstr(rig.err.message, message))
        fail_msg("%d, \"%s\" lacks \"%s\"", rig.status, rig.err.message, message);
    if (!strstr(rig.err.place, "main.lua:"))
        fail_msg("place \"%s\"", rig.err.place);
}

static void test_values(void **state)
{
    (void)state;
    prints(GRAPH "local run = g:instantiate() run:launch() print(z[0], z[9], z[99], z:sum())",
           "4\t85\t9805\t328750\n");
    prints(GRAPH "local run = g:instantiate() local s = gpu.stream()\n"
                 "for i = 1, 3 do x:fill(i) run:launch(s) print(z[7]) end\n"
                 "run:launch(s) x:fill(9) run:launch() print(z[7])",
           "5\n8\n13\n85\n");
    prints(
        GRAPH "print(a, b, c, #g, g, g:instantiate(), g:empty(), g:empty({c}))",
        "square (node 0)\tsquare (node 1)\tadd (node 2)\t3\tgraph\tinstance\tthe empty node 3\tthe "
        "empty node 4\n");
    prints(HEAD "local g <close> = gpu.graph()\n"
                "local d, e = gpu.device_array('i32', 100), gpu.device_array('i32', 100)\n"
                "local up = g:copy(d, x, {count = 50})\n"
                "local k = g:kernel(square(2, 64), {d, e, 100}, {up})\n"
                "g:copy(z, e, nil, {k})\n"
                "local run <close> = g:instantiate() run:launch() print(z[7], z[49], z[50])",
           "49\t2401\t0\n");
}

static void test_a_cycle(void **state)
{
    (void)state;
    fails(
        GRAPH "a:after(b, c) g:instantiate()",
        "the graph has a cycle of 2 nodes: square (node 0) waits for add (node 2), which waits for "
        "square (node 0)");
    assert_string_equal(rig.err.code, "graph-cycle");
    fails(GRAPH "a:after(a) g:instantiate()", "square (node 0) waits for square (node 0)");
    prints(GRAPH "b:after(a) b:after(a, a) c:after(b)\n"
                 "local ok, why = pcall(function() a:after(c) g:instantiate() end)\n"
                 "print(ok, why:match('cycle of (%d)'))",
           "false\t2\n");
}

static void test_mistakes(void **state)
{
    (void)state;
    fails(GRAPH "g:free() g:empty()", "the graph was freed");
    fails(GRAPH "g:free() a:after(b)", "the graph was freed");
    fails(GRAPH "local run = g:instantiate() run:free() run:launch()",
          "the instantiated graph was freed");
    fails(GRAPH "local run = g:instantiate() z:free() run:launch()",
          "add (node 2) uses the array z, which was freed");
    fails(GRAPH "z:free() g:instantiate()", "add (node 2) uses the array z, which was freed");
    fails(GRAPH "local s = gpu.stream() s:free() g:instantiate():launch(s)",
          "the stream was freed");
    fails(HEAD "gpu.graph():instantiate()", "the graph has no nodes");
    fails(GRAPH "gpu.graph():empty({a})", "a dependency is a node of another graph");
    fails(GRAPH "g:empty({3})", "a dependency must be a node, got number");
    fails(GRAPH "g:kernel(square(1, 1), {x, y})", "kernel square takes 3 arguments");
    fails(GRAPH "g:kernel(square(1, 1), {x, 'y', 1})", "argument 2 (y: out i32[]): a string value");
    fails(GRAPH "g:kernel(square(1, 1, {stream = gpu.stream()}), {x, y, 1})",
          "a node of a graph has no stream of its own");
    fails(GRAPH "g:copy(x, y, {stream = gpu.stream()})", "no option 'stream'");
    fails(GRAPH "g:kernel(square(1, 5000), {x, y, 1}) g:instantiate():launch()", "5000");
}

/* What was measured and checked before the mistake is kept. */
static void test_what_is_there_stays(void **state)
{
    (void)state;
    rig_run(&rig, GRAPH "gpu.region('main', function() g:instantiate():launch()\n"
                        "gpu.check('z', z[9], 85) end) a:after(c) g:instantiate()");
    assert_int_equal(rig.status, HD_BAD_INPUT);
    assert_string_equal(text_str(&rig.checks), "z passed\n");
    assert_string_equal(text_str(&rig.regions), "main 0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_a_cycle),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_what_is_there_stays),
    };

    return cmocka_run_group_tests_name("lua graph", tests, set_up, tear_down);
}
