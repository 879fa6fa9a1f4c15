/*
 * Public bug reports about streams, the default stream and overlap as programs that run on the whole simulator: PB-26, PB-28,
 * PB-31 and PB-32. tests/rt and tests/sim have them for their own layers. And where a program pays for a graph.
 */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct rig rig;

/* Bound by latency: work-groups do not slow each other down. Ends by writing n to x[0]. */
static const char source[] =
    ".kernel waits\n.param x i32[]\n.param n i32\n    s_mov_b32 s8, n\n"
    "again:\n    s_sub_u32 s8, s8, 1\n    s_branch_nz s8, again\n"
    "    v_mov_b32 v0, 0\n    v_mov_b32 v1, n\n    global_store_b32 [x + v0*4], v1\n    s_end\n"
    ".endkernel\n";

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig);
    rig.o.max_memory = 1 << 28;
    rig_file(&rig, "k.hasm", source);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_free(&rig);
    return 0;
}

/* Everything at its default but "key=value key=value" and a slow branch, so that a long kernel has few instructions. */
static void set(const char *settings)
{
    char copy[512], *save = NULL;
    struct hd_error err;

    hd_options_default(&rig.gpu);
    rig.gpu.gpu.lat_branch = 1000;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        char *value = strchr(s, '=');
        const bool host = strncmp(s, "host.", 5) == 0;

        *value++ = '\0';
        if (param_set(host ? &rt_params : &sim_params,
                      host ? (void *)&rig.gpu.host : (void *)&rig.gpu.gpu, s, value, "test",
                      &err) != HD_OK)
            fail_msg("%s", err.message);
    }
}

static void prints(const char *settings, const char *program, const char *log)
{
    set(settings);
    rig_run(&rig, program);
    if (rig.status != HD_OK)
        fail_msg("%s: %s: %s", settings, rig.err.place, rig.err.message);
    if (strcmp(text_str(&rig.log), log) != 0)
        fail_msg("%s: \"%s\", expected \"%s\"", settings, text_str(&rig.log), log);
}

#define HEAD                                                                                       \
    "local gpu = require 'heddle'\n"                                                               \
    "local waits = gpu.module 'k.hasm':kernel('waits', 'x: inout i32[], n: i32')\n"                \
    "local s = {} for i = 1, 4 do s[i] = gpu.stream() end\n"                                       \
    "local x = {} for i = 1, 4 do x[i] = gpu.array('i32', 4) end\n"                                \
    "local function launch(i, n, on) waits(1, 32, {stream = on})(x[i], n) end\n"                   \
    "local function timed(f) local t0 = gpu.time_ns() f() return gpu.time_ns() - t0 end\n"

static const char *const all[] = {"host.scheduler=serial-async", "host.scheduler=parallel-async"};

static void test_pb26_stream_sync_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        prints(all[i],
               HEAD
               "launch(1, 400, s[1]) launch(2, 1800, s[2])\n"
               "local waited = timed(function() s[1]:sync() end)\n"
               "local h = waits:history()\n"
               "print(#h, h[1].time_ns <= waited + 5000, gpu.time_ns() >= h[1].start_ns + "
               "h[1].time_ns)\n"
               "print(timed(function() print(x[1][0]) end) < 50000)\n"
               "print(timed(function() s[1]:sync() s[3]:sync() end) == 2000, #waits:history())\n"
               "gpu.sync() print(#waits:history())",
               "1\ttrue\ttrue\n400\ntrue\ntrue\t1\n2\n");
}

/* Whether B begins after A's end, and C after B's. */
static void test_pb28_the_default_stream(void **state)
{
    static const struct {
        const char *rule, *log;
    } rules[] = {{"legacy", "true\ttrue\t1200\n"}, {"independent", "false\tfalse\t1200\n"}};
    char settings[128];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(settings, sizeof settings, "%s host.default_stream=%s", all[i / 2],
                 rules[i % 2].rule);
        prints(settings,
               HEAD "launch(1, 1200, gpu.default_stream()) launch(2, 1800, s[1])\n"
                    "launch(3, 200, gpu.default_stream()) s[1]:sync()\n"
                    "local a = x[1][0] gpu.sync() local rows = {}\n"
                    "for _, row in ipairs(waits:history()) do rows[row.queued_ns] = row end\n"
                    "local order = {} for _, row in pairs(rows) do order[#order + 1] = row end\n"
                    "local function after(p, q) return p.start_ns >= q.start_ns + q.time_ns end\n"
                    "print(after(order[2], order[1]), after(order[3], order[2]), a)",
               rules[i % 2].log);
    }
}

/* Four kernels of 32-lane work-groups: how often one kernel's time they take, by streams, graph, capture and scheduler. */
static void test_pb31_kernels_run_side_by_side(void **state)
{
    static const struct {
        const char *settings;
        unsigned groups, times;
    } rows[] = {
        {"compute_units=4 cu.workgroup_slots=2", 1, 1},
        {"compute_units=4 cu.workgroup_slots=2", 2, 1},
        {"compute_units=4 cu.workgroup_slots=2", 4, 2},
        {"compute_units=4 cu.workgroup_slots=2", 8, 4},
        {"compute_units=1 cu.workgroup_slots=1", 1, 4},
        {"compute_units=4 cu.workgroup_slots=2 sim.concurrent_kernels=off", 1, 4},
    };
    static const char program[] = HEAD
        "local groups, times = %u, %u\n"
        "local ways = {\n"
        "    function() for i = 1, 4 do waits(groups, 32, {stream = s[i]})(x[i], 1500) end end,\n"
        "    function() for i = 1, 4 do waits(groups, 32)(x[i], 1500) end end}\n"
        "local g = gpu.graph()\n"
        "for i = 1, 4 do g:kernel(waits(groups, 32), {x[i], 1500}) end\n"
        "local run = g:instantiate() ways[3] = function() run:launch() end\n"
        "local captured = gpu.capture(s[1], function()\n"
        "    local e = gpu.event(s[1]) for i = 2, 4 do s[i]:wait(e) end ways[1]()\n"
        "    for i = 2, 4 do s[1]:wait(gpu.event(s[i])) end end):instantiate()\n"
        "ways[4] = function() captured:launch() end\n"
        "launch(1, 1500, s[1]) gpu.sync() local one = waits:history()[1].time_ns\n"
        "for i, way in ipairs(ways) do\n"
        "    way() gpu.sync()\n"
        "    local h, first, last = waits:history(), math.huge, 0\n"
        "    for k = #h - 3, #h do\n"
        "        first = math.min(first, h[k].start_ns)\n"
        "        last = math.max(last, h[k].start_ns + h[k].time_ns)\n"
        "    end\n"
        "    local got = (last - first) / one\n"
        "    if got < times * 0.99 or got > times * 1.1 then print(i, got) end\n"
        "end";
    char text[sizeof program + 2048];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, program, rows[i].groups, rows[i].times);
        prints(rows[i].settings, text, "");
    }
}

/* Copies of 16 MiB at 12 GB/s take 1398101 ns each; latency and calls are under 30 us. */
static void test_pb32_copies_both_ways(void **state)
{
    static const struct {
        const char *settings;
        unsigned two_streams, two_up;
    } rows[] = {
        {"host.scheduler=serial-async um.page_faults=on host.prefetch=off", 1, 2},
        {"host.scheduler=serial-async um.page_faults=on host.prefetch=off link.copy_engines=1", 2, 2},
        {"host.scheduler=serial-async um.page_faults=on host.prefetch=off link.duplex=off", 2, 2},
    };
    char text[4096];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(
            text, sizeof text,
            HEAD
            "local N, one = 1 << 22, (1 << 24) / 12\n"
            "local h, d = {}, {} for i = 1, 2 do\n"
            "    h[i] = gpu.array('i32', N) d[i] = gpu.device_array('i32', N) end\n"
            "local function expect(times, second)\n"
            "    local got = timed(function()\n"
            "        launch(1, 40, s[4])\n"
            "        gpu.copy(d[1], h[1], {stream = s[1]}) second() gpu.sync() end)\n"
            "    if got < times * one or got > times * one + 30000 then print(times, got / one) "
            "end\n"
            "end\n"
            "expect(1, function() end)\n"
            "expect(2, function() gpu.copy(h[2], d[2], {stream = s[1]}) end)\n"
            "expect(%u, function() gpu.copy(h[2], d[2], {stream = s[2]}) end)\n"
            "expect(%u, function() gpu.copy(d[2], h[2], {stream = s[2]}) end)\n",
            rows[i].two_streams, rows[i].two_up);
        prints(rows[i].settings, text, "");
    }
}

/* On each stream and under each scheduler: the kernel of a prefetched array has no page faults to wait for. */
static void test_prefetch_by_hand(void **state)
{
    static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};
    char settings[128];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        snprintf(settings, sizeof settings, "um.page_faults=on host.prefetch=off host.scheduler=%s",
                 schedulers[i]);
        prints(settings,
               HEAD
               "local function took(on, prefetch)\n"
               "    x[1]:fill(7) if prefetch then gpu.prefetch(x[1], on) end\n"
               "    launch(1, 1, on) gpu.sync() local h = waits:history() return h[#h].time_ns\n"
               "end\n"
               "for _, on in ipairs {gpu.default_stream(), s[1], s[2]} do\n"
               "    print(took(on, false) > 10 * took(on, true), x[1][0], x[1][1])\n"
               "end",
               "true\t1\t7\ntrue\t1\t7\ntrue\t1\t7\n");
    }
}

/* Built before the region a graph costs its launch alone; built in it, its nodes and instance too. */
static void test_where_a_graph_is_paid_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        prints(all[i],
               HEAD
               "local function build() local g = gpu.graph()\n"
               "    for i = 1, 4 do g:kernel(waits(1, 32), {x[i], 2}) end return g:instantiate() "
               "end\n"
               "local ready, times = build(), {}\n"
               "gpu.region('before', function() local t0 = gpu.time_ns() ready:launch()\n"
               "    times[1] = gpu.time_ns() - t0 end)\n"
               "gpu.region('inside', function() local t0 = gpu.time_ns() build():launch()\n"
               "    times[2] = gpu.time_ns() - t0 end)\n"
               "print(times[1], times[2])",
               "2800.0\t242800.0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb26_stream_sync_waits),
        cmocka_unit_test(test_pb28_the_default_stream),
        cmocka_unit_test(test_pb31_kernels_run_side_by_side),
        cmocka_unit_test(test_pb32_copies_both_ways),
        cmocka_unit_test(test_prefetch_by_hand),
        cmocka_unit_test(test_where_a_graph_is_paid_for),
    };

    return cmocka_run_group_tests_name("cases_streams", tests, set_up, tear_down);
}
