/*
 * The frame of the published benchmarks (workloads/lib/dag.lua): which calls it makes of one list of steps, in each variant. Values and
 * schedules of the benchmarks themselves are tested in tests/system.
 */
#include "tests/lua/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char kernels[] =
    ".kernel add\n.param x i32[]\n.param y i32[]\n.param z i32[]\n.param n i32\n"
    "    v_get_u32 v0, %gid\n    v_cmp_lt_u32 m0, v0, n\n"
    "    @m0 global_load_b32 v1, [x + v0*4]\n    @m0 global_load_b32 v2, [y + v0*4]\n"
    "    v_add_u32 v1, v1, v2\n    @m0 global_store_b32 [z + v0*4], v1\n    s_end\n.endkernel\n";

/*
 * Four calls on two streams: the third, on stream 1, needs the first two, and the fourth, on stream 2, the third, so that the second and the
 * third need an event. Stream 3 has a call of its own. Counts what the frame calls: events, prefetches, attachments, graphs by hand, captures.
 */
static const char counted[] =
    "local gpu = require 'heddle'\n"
    "local names = {'event', 'prefetch', 'attach', 'graph', 'capture'}\n"
    "local counts, proxy = {}, {}\n"
    "for _, name in ipairs(names) do\n"
    "    counts[name] = 0\n"
    "    proxy[name] = function(...) counts[name] = counts[name] + 1 return gpu[name](...) end\n"
    "end\n"
    "function proxy.line()\n"
    "    local line = {}\n"
    "    for i, name in ipairs(names) do line[i] = counts[name] end\n"
    "    return table.concat(line, ' ')\n"
    "end\n"
    "return setmetatable(proxy, {__index = gpu})\n";

static const char program[] =
    "local gpu = require 'counted'\n"
    "local b = require 'dag'.benchmark {n = 64, blocks = 1}\n"
    "local add = b:kernel(gpu.module 'k.hasm', 'add',\n"
    "    'x: in(cpp) i32[], y: in(python) i32[], z: inout i32[], n: i32')\n"
    "local function array(name) return gpu.array('i32', 64, name) end\n"
    "local x, y, z, u, v, w, q = array 'x', array 'y', array 'z', array 'u', array 'v', array 'w', "
    "array 'q'\n"
    "b:place(1, x, z)\n"
    "b:place(2, y)\n"
    "local first = b:call(add, 1, 64, {x, y, z, 64}, {stream = 1})\n"
    "local second = b:call(add, 1, 64, {y, x, u, 64}, {stream = 2})\n"
    "local third = b:call(add, 1, 64, {z, u, v, 64}, {stream = 1, after = {first, second}})\n"
    "b:call(add, 1, 64, {v, x, q, 64}, {stream = 2, after = {third}})\n"
    "b:call(add, 1, 64, {x, x, w, 64}, {stream = 3})\n"
    "b:sync(2)\n"
    "b:sync(3)\n"
    "local inputs = 0\n"
    "b:measure {\n"
    "    inputs = function() inputs = inputs + 1 x:iota() y:fill(5) end,\n"
    "    main = function(run)\n"
    "        run()\n"
    "        if b.variant == 'events' then\n"
    "            local event = require 'heddle'.event(b:stream(3))\n"
    "            gpu.check_true('the host has waited for stream 3', event:done())\n"
    "        end\n"
    "        gpu.check('v', v[63], 2 * (63 + 5))\n"
    "        gpu.check('w', w[63], 126)\n"
    "        gpu.check('q', q[63], 2 * (63 + 5) + 63)\n"
    "    end,\n"
    "}\n"
    "print(gpu.line(), inputs)\n";

/* The frame, with a module in front of heddle's that counts calls. */
static void copy_frame(struct rig *r)
{
    static const char real[] = "local gpu = require \"heddle\"",
                      *const ours = "local gpu = require \"counted\"";
    static char text[32768], changed[32768];
    FILE *in = fopen("workloads/lib/dag.lua", "r");
    char *at;
    size_t len;

    assert_non_null(in);
    len = fread(text, 1, sizeof text - 1, in);
    assert_true(len < sizeof text - 64);
    text[len] = '\0';
    fclose(in);
    at = strstr(text, real);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, ours, at + strlen(real));
    rig_file(r, "dag.lua", changed);
    rig_file(r, "counted.lua", counted);
}

static void set(struct rig *r, const char *key, const char *value)
{
    const struct param_table *t = strncmp(key, "host.", 5) == 0 ? &rt_params : &sim_params;
    void *c = strncmp(key, "host.", 5) == 0 ? (void *)&r->gpu.host : (void *)&r->gpu.gpu;
    struct hd_error err;

    if (param_set(t, c, key, value, "test", &err) != HD_OK)
        fail_msg("%s", err.message);
}

static void run_frame(const char *faults, const char *const *args, size_t nargs, const char *log)
{
    struct rig r;

    rig_init(&r);
    set(&r, "um.page_faults", faults);
    set(&r, "host.scheduler", "serial-async");
    set(&r, "host.prefetch", "off");
    rig_file(&r, "k.hasm", kernels);
    copy_frame(&r);
    r.o.args = args;
    r.o.nargs = nargs;
    r.o.iterations = 2;
    r.o.warmup = 0;
    if (rig_run(&r, program) != HD_OK)
        fail_msg("%s: %s", r.err.place, r.err.message);
    assert_null(strstr(text_str(&r.checks), "failed"));
    assert_non_null(strstr(text_str(&r.checks), "q passed"));
    if (strcmp(text_str(&r.log), log) != 0)
        fail_msg("%s, %s: %s", faults, args[0], text_str(&r.log));
    rig_free(&r);
}

/* Two iterations. A capture of streams 1 and 2 has the event that stream 2 begins with, and that of its end; stream 3 is a graph of its own. */
static void test_calls_of_each_variant(void **state)
{
    static const struct {
        const char *faults, *args[3], *log;
    } rows[] = {
        {"on", {"variant=auto", "n=64", "reset=published"}, "0 0 0 0 0\t2\n"},
        {"on", {"variant=auto", "n=64", "reset=none"}, "0 0 0 0 0\t1\n"},
        {"on", {"variant=events", "n=64", "reset=published"}, "4 6 0 0 0\t2\n"},
        {"on", {"variant=events", "by_hand_prefetch=false", "const=cpp"}, "4 0 0 0 0\t2\n"},
        {"off", {"variant=events", "n=64", "const=cpp"}, "4 0 6 0 0\t2\n"},
        {"on", {"variant=graph", "n=64", "const=cpp"}, "0 0 0 1 0\t2\n"},
        {"on", {"variant=graph", "build_in_region=true", "const=cpp"}, "0 0 0 2 0\t2\n"},
        {"on", {"variant=capture", "n=64", "const=python"}, "4 0 0 0 2\t2\n"},
        {"off", {"variant=capture", "build_in_region=true", "n=64"}, "8 0 0 0 4\t2\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_frame(rows[i].faults, rows[i].args, 3, rows[i].log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls_of_each_variant)};

    return cmocka_run_group_tests_name("dag", tests, NULL, NULL);
}
