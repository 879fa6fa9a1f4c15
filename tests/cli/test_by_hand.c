/*
 * Mistakes with streams, events, graphs and arrays in a program: exit status, place, message and hint. What was measured
 * and checked before stays in the result where there is one, of a program that failed and not of one that is wrong.
 */
#include "tests/cli/cli_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kernels[] =
    ".kernel set\n.param x i32[]\n.param n i32\n    v_mov_b32 v0, 0\n    v_mov_b32 v1, n\n"
    "    global_store_b32 [x + v0*4], v1\n    s_end\n.endkernel\n";

/* The mistake is in line 6. */
static const char program[] =
    "local gpu = require 'heddle'\n"
    "local mod = gpu.module 'set.hasm' local set = mod:kernel('set', 'x: inout i32[], n: i32')\n"
    "local x, y = gpu.array('i32', 4, 'x'), gpu.array('i32', 4, 'y')\n"
    "local s, t = gpu.stream(), gpu.stream()\n"
    "gpu.region('main', function() set(1, 32)(x, 5) gpu.check('five', x[0], 5) end)\n"
    "%s\n";

static void run(struct cli_rig *r, const char *mistake)
{
    char text[2048];

    cli_rig_file(r, "set.hasm", kernels);
    snprintf(text, sizeof text, program, mistake);
    cli_rig_file(r, "prog.lua", text);
    cli_rig_run(r, "run %/prog.lua --config tiny --out %/result.json");
}

#define GRAPH                                                                                      \
    "local g = gpu.graph() local a = g:kernel(set(1, 32), {x, 1}) "                                \
    "local b = g:kernel(set(1, 32), {x, 2}, {a}) "

static void test_wrong_programs(void **state)
{
    static const struct {
        const char *mistake, *message, *hint;
    } cases[] = {
        {GRAPH "a:after(b) g:instantiate()",
         "the graph has a cycle of 2 nodes: set (node 0) waits for set (node 1), which waits for "
         "set "
         "(node 0)",
         "take one dependency away"},
        {"s:wait(gpu.new_event())", "the event is waited for before it is recorded",
         "record the event on a stream"},
        {"s:free() set(1, 32, {stream = s})(x, 1)", "the stream was freed", "it was freed before"},
        {"local e = gpu.event(s) e:free() t:wait(e)", "the event was freed", "it was freed before"},
        {GRAPH "g:free() g:instantiate()", "the graph was freed", "it was freed before"},
        {GRAPH "local run <const> = g:instantiate() run:free() run:launch()",
         "the instantiated graph was freed", "it was freed before"},
        {GRAPH "local run = g:instantiate() run:launch() x:free() run:launch()",
         "set (node 0) uses the array x, which was freed", "after the last launch"},
        {"set(1, 32, {stream = s})(x, 1) x:free() print(x[0])", "the array i32[4] was freed",
         "it was freed before"},
        {"gpu.capture(s, function() set(1, 32)(x, 1) end)", "leaves its stream to the scheduler",
         "name a captured stream"},
        {"gpu.array('i32', 1 << 50, 'huge')", "array huge has 4503599627370496 bytes", NULL},
    };
    struct cli_rig *r = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(r, cases[i].mistake);
        if (r->status != 3)
            print_message("%s\n%s\n", cases[i].mistake, r->err);
        cli_rig_expect(r, 3, cases[i].message, cases[i].hint);
        assert_non_null(strstr(r->err, "prog.lua:6: "));
        assert_false(cli_rig_exists(r, "result.json"));
        assert_false(cli_rig_leftovers(r));
    }
}

static void test_failed_programs_keep_what_is_there(void **state)
{
    static const struct {
        const char *mistake, *code, *message;
    } cases[] = {
        {"local bad = mod:kernel('set', 'x: in i32[], n: i32') local g = gpu.graph()\n"
         "g:kernel(bad(1, 32), {x, 1}) g:instantiate():launch(s) s:sync()",
         "const-write", "array x, which the kernel was given as in"},
        {"local g = gpu.graph() g:kernel(set(1, 32), {x, 1}) local run = g:instantiate()\n"
         "gpu.array('i32', 1 << 37, 'big')",
         "array-memory", "array big of 549755813888 bytes"},
    };
    struct cli_rig *r = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *result;

        run(r, cases[i].mistake);
        cli_rig_expect(r, 4, cases[i].message, NULL);
        result = cli_rig_read(r, "result.json");
        assert_non_null(result);
        assert_non_null(strstr(result, "\"status\": \"failed\""));
        assert_non_null(strstr(result, cases[i].code));
        assert_non_null(strstr(result, "\"name\": \"five\", \"passed\": true"));
        assert_non_null(strstr(result, "\"name\": \"main\","));
        free(result);
    }
}

/* Freeing in flight waits: it is no mistake. */
static void test_freeing_in_flight(void **state)
{
    struct cli_rig *r = *state;

    run(r, GRAPH "g:instantiate():launch(s) x:free() set(1, 32, {stream = t})(y, 3) t:free() "
                 "gpu.check('three', y[0], 3)");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "2 passed, 0 failed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_programs),
        cmocka_unit_test(test_failed_programs_keep_what_is_there),
        cmocka_unit_test(test_freeing_in_flight),
    };

    return cmocka_run_group_tests_name("by hand", tests, cli_rig_setup, cli_rig_teardown);
}
