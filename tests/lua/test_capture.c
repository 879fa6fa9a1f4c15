/* Capture, library functions, events and attachment in Lua; and random graphs in four ways. */
#include "host/lua/internal.h"
#include "tests/lua/rig.h"
#include "tests/soak.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct rig rig;

/* z = 3 * x + y, so that the order of kernels shows in the values. */
static const char source[] =
    ".kernel mix\n.param x i32[]\n.param y i32[]\n.param z i32[]\n.param n i32\n"
    "    v_get_u32 v0, %gid\n    v_cmp_lt_u32 m0, v0, n\n"
    "    @m0 global_load_b32 v1, [x + v0*4]\n    @m0 global_load_b32 v2, [y + v0*4]\n"
    "    v_mul_u32 v1, v1, 3\n    v_add_u32 v1, v1, v2\n"
    "    @m0 global_store_b32 [z + v0*4], v1\n    s_end\n.endkernel\n";

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig);
    rig.o.max_instructions = 40000000;
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
    "local mix = mod:kernel('mix', 'x: in i32[], y: in i32[], z: inout i32[], n: i32')\n"          \
    "local x, y, z = gpu.array('i32', 64, 'x'):iota(), gpu.array('i32', 64, 'y'):fill(2), "        \
    "gpu.array('i32', 64, 'z')\n"                                                                  \
    "local s, t = gpu.stream(), gpu.stream()\n"

static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};

static void set(const char *key, const char *value)
{
    struct hd_error err;

    assert_int_equal(param_set(&rt_params, &rig.gpu.host, key, value, "test", &err), HD_OK);
}

static void prints(const char *program, const char *log)
{
    for (size_t i = 0; i < 3; i++) {
        set("host.scheduler", schedulers[i]);
        rig_run(&rig, program);
        if (rig.status != HD_OK)
            fail_msg("%s: %s", rig.err.place, rig.err.message);
        assert_string_equal(text_str(&rig.log), log);
    }
}

static void fails(const char *program, const char *code, const char *message)
{
    rig_run(&rig, program);
    if (rig.status != HD_BAD_INPUT || !strstr(rig.err.message, message))
        fail_msg("%d, \"%s\" lacks \"%s\"", rig.status, rig.err.message, message);
    assert_string_equal(rig.err.code, code);
    if (!strstr(rig.err.place, "main.lua:"))
        fail_msg("place \"%s\"", rig.err.place);
}

/* ---- capture ------------------------------------------------------------------------------ */

#define CAPTURE                                                                                    \
    HEAD "local u, v = gpu.array('i32', 64, 'u'), gpu.array('i32', 64, 'v')\n"                     \
         "local function work()\n"                                                                 \
         "    mix(1, 64, {stream = s})(x, y, u, 64)\n"                                             \
         "    local e <close> = gpu.event(s) t:wait(e)\n"                                          \
         "    mix(1, 64, {stream = t})(u, y, v, 64)\n"                                             \
         "    mix(1, 64, {stream = s})(u, x, z, 64)\n"                                             \
         "    local f <close> = gpu.event(t) s:wait(f)\n"                                          \
         "    mix(1, 64, {stream = s})(v, z, z, 64)\n"                                             \
         "end\n"

static void test_capture(void **state)
{
    (void)state;
    /* u = 3i + 2, v = 3u + 2, z = 3v + (3u + i) = 12u + 6 + i = 37i + 30. */
    prints(CAPTURE "local g = gpu.capture(s, work) print(#g, z[1])\n"
                   "local run = g:instantiate() run:launch(s) print(z[0], z[1], z[63])\n"
                   "x:fill(1) run:launch() print(z[0])",
           "4\t0\n30\t67\t2361\n67\n");
    prints(CAPTURE "work() print(z[63])", "2361\n");
    /* An error in the function ends the capture. */
    prints(CAPTURE "print((pcall(gpu.capture, s, function() work() error('no') end)))\n"
                   "work() print(z[63]) print(#gpu.capture(s, work))",
           "false\n2361\n4\n");
}

static void test_mistakes_of_captures(void **state)
{
    static const struct {
        const char *body, *code, *message;
    } cases[] = {
        {"work() mix(1, 64, {stream = t})(x, y, z, 64)", "capture-unjoined",
         "the capture of stream 1 ends, but does not wait for mix (node 4) on stream 2"},
        {"mix(1, 64)(x, y, z, 64)", "capture-no-stream", "leaves its stream to the scheduler"},
        {"mix(1, 64, {stream = t})(x, y, z, 64)", "capture-stream",
         "stream 2 is used while stream 1 is captured"},
        {"work() s:sync()", "capture-stream-busy", "stream 1 is waited for while it is captured"},
        {"work() gpu.sync()", "capture-refused", "a wait for the device cannot be captured"},
        {"work() print(z[0])", "capture-array", "array z is accessed by the host, but mix (node 2)"},
        {"work() x:fill(1)", "capture-array", "array x is accessed by the host, but mix (node 0)"},
        {"work() z:free()", "capture-array", "array z is freed, but mix (node 2)"},
        {"work() t:free()", "capture-stream-busy", "stream 2 is freed while it is captured"},
        {"gpu.prefetch(x, s)", "capture-refused", "a prefetch cannot be captured"},
        {"gpu.attach(x, s)", "capture-refused", "an attachment cannot be captured"},
        {"gpu.event(s):sync()", "event-captured", "the host cannot wait for it"},
        {"gpu.event(s):done()", "event-captured", "the host cannot wait for it"},
        {"s:wait(early)", "capture-event", "for an event from outside the capture"},
        {"gpu.capture(t, work)", "capture-refused", "a capture cannot be captured"},
        {"gpu.region('r', function() end)", "capture-refused", "cannot be captured"},
    };
    char program[2048];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(program, sizeof program,
                 "%slocal early = gpu.event(t)\ngpu.capture(s, function() %s end)", CAPTURE,
                 cases[i].body);
        fails(program, cases[i].code, cases[i].message);
    }
    fails(CAPTURE "local e gpu.capture(s, function() e = gpu.event(s) end) t:wait(e)",
          "event-captured", "the event was recorded in a capture that has ended");
    fails(CAPTURE "gpu.capture(s, 3)", "lua-error", "function expected");
}

/* The example of the manual, with each of its three ways in the region. */
static void test_the_manuals_example(void **state)
{
    static const char *const ways[] = {"graph:launch(a)", "captured:launch(a)", "by_events()"};
    struct text manual = {0}, kernels = {0};
    char program[4096], block[2048], *from, *to, *call;
    struct hd_error err;

    (void)state;
    assert_int_equal(file_read("host/lua/README.md", &manual, &err), HD_OK);
    assert_int_equal(file_read("workloads/dag/vec.hasm", &kernels, &err), HD_OK);
    rig_file(&rig, "vec.hasm", text_str(&kernels));
    from =
        strstr(strstr(text_str(&manual), "## Three ways by hand"), "```lua\n") + strlen("```lua\n");
    to = strstr(from, "```");
    assert_true(to && (size_t)(to - from) < sizeof block);
    set("host.scheduler", "serial-async");
    for (size_t i = 0; i < 3; i++) {
        snprintf(block, sizeof block, "%.*s", (int)(to - from), from);
        call = strstr(block, ways[0]);
        assert_non_null(call);
        *call = '\0';
        snprintf(
            program, sizeof program,
            "local gpu = require 'heddle' local n = 1 << 12\n"
            "local mod = gpu.module 'vec.hasm'\n"
            "local square = mod:kernel('square', 'x: in f32[], y: inout f32[], n: i32')\n"
            "local reduce = mod:kernel('reduce', 'x: in f32[], y: in f32[], z: inout f32[], n: "
            "i32')\n"
            "local x, y, x1, y1, z = gpu.array('f32', n), gpu.array('f32', n),\n"
            "    gpu.array('f32', n), gpu.array('f32', n), gpu.array('f32', 1)\n"
            "local function reset() x:fill('1/(i+1)') y:fill('2/(i+1)') z[0] = 0 end\n"
            "%s%s%s",
            block, ways[i], call + strlen(ways[0]));
        rig_run(&rig, program);
        if (rig.status != HD_OK)
            fail_msg("%s: %s", rig.err.place, rig.err.message);
        assert_string_equal(text_str(&rig.checks), "sum passed\n");
    }
    text_free(&manual);
    text_free(&kernels);
}

/* ---- events, attachment --------------------------------------------------------------------- */

static void test_events(void **state)
{
    (void)state;
    prints(HEAD "local e = gpu.new_event() mix(1, 64, {stream = s})(x, y, z, 64) e:record(s)\n"
                "t:wait(e) mix(1, 64, {stream = t})(z, y, z, 64) e:record(t) e:sync()\n"
                "print(e:done(), z[1])",
           "true\t17\n");
    fails(HEAD "local e = gpu.new_event() s:wait(e)", "event-unrecorded",
          "the event is waited for before it is recorded");
    fails(HEAD "gpu.new_event():sync()", "event-unrecorded", "before it is recorded");
    fails(HEAD "gpu.new_event():done()", "event-unrecorded", "before it is recorded");
    fails(HEAD "local e = gpu.event(s) e:free() s:wait(e)", "lua-event-freed",
          "the event was freed");
    fails(HEAD "local e = gpu.event(s) s:free() e:record(s)", "lua-stream-freed",
          "the stream was freed");
}

static void test_attach(void **state)
{
    (void)state;
    prints(HEAD "gpu.attach(x, s) gpu.attach(y, 'all') gpu.attach(z, 'host')\n"
                "mix(1, 64, {stream = s})(x, y, z, 64) print(z[1])",
           "5\n");
    fails(HEAD "gpu.attach(x, 'both')", "lua-error", "invalid option 'both'");
    fails(HEAD "s:free() gpu.attach(x, s)", "lua-stream-freed", "the stream was freed");
    fails(HEAD "gpu.attach(gpu.device_array('i32', 4), s)", "lua-array-device", "device i32[4]");
}

/* Only kernels that read x: with the advice its page comes to the device and stays on the host, too. */
static void test_advise(void **state)
{
    struct hd_error err;

    (void)state;
    assert_int_equal(param_set(&sim_params, &rig.gpu.gpu, "um.page_faults", "on", "test", &err),
                     HD_OK);
    prints(
        HEAD
        "local function took(advice) x:fill(1):advise(advice) mix(1, 64)(x, x, z, 64) gpu.sync()\n"
        "local t0 = gpu.time_ns() local one = x[1] return gpu.time_ns() - t0 < 1000 end\n"
        "print(took('read-mostly'), took('none'), x:advise('none') == x)",
        "true\tfalse\ttrue\n");
    assert_int_equal(param_set(&sim_params, &rig.gpu.gpu, "um.page_faults", "off", "test", &err),
                     HD_OK);
    fails(HEAD "x:advise('preferred')", "lua-error", "invalid option 'preferred'");
    fails(HEAD "gpu.device_array('i32', 4):advise('none')", "lua-array-device", "device i32[4]");
}

/* ---- library functions ------------------------------------------------------------------------ */

#define LIBRARY                                                                                    \
    HEAD "local h = gpu.array('i32', 64, 'h')\n"                                                   \
         "local function make(stream)\n"                                                           \
         "    return gpu.library('twice', 'x: in i32[], y: inout i32[], n: i32',\n"                \
         "        {stream = stream, track = {h}}, function(on, a, b, n)\n"                         \
         "            mix(1, 64)(a, a, h, n) mix(1, 64, {stream = on})(h, b, b, n)\n"              \
         "            return 'done', on == nil\n"                                                  \
         "        end)\n"                                                                          \
         "end\n"

static void test_library(void **state)
{
    (void)state;
    /* h = 4x, z = 12x + z. */
    prints(LIBRARY "local twice = make(true) print(twice) print(twice(x, z, 64))\n"
                   "mix(1, 64)(z, y, z, 64) twice(x, z, 64) print(z[1], h[1])",
           "library function twice\ndone\tfalse\n50\t4\n");
    prints(LIBRARY "local twice = make(false) print(twice(x, z, 64))\n"
                   "mix(1, 64)(z, y, z, 64) twice(x, z, 64) print(z[1], h[1])",
           "done\ttrue\n50\t4\n");
    prints(LIBRARY
           "local peek = gpu.library('peek', 'x: in i32[]', {stream = false}, function(_, a)\n"
           "    mix(1, 64)(a, a, h, 64) return h[1] end) print(peek(x))",
           "4\n");
    /* An error inside ends the call; its stream is nobody's afterwards. */
    prints(LIBRARY "local kept local bad = gpu.library('bad', 'x: in i32[]', {stream = true},\n"
                   "    function(on) kept = on error('no') end) print((pcall(bad, x)))\n"
                   "print(pcall(kept.sync, kept)) make(true)(x, z, 64) print(z[1])",
           "false\nfalse\tthe stream was freed\n12\n");
}

/* An error in a coroutine ends a capture or a call, though the coroutine is not closed by the program. */
static void test_errors_in_coroutines(void **state)
{
    (void)state;
    prints(LIBRARY "local function try(f) print(coroutine.resume(coroutine.create(f))) end\n"
                   "try(function() gpu.capture(s, function()\n"
                   "    mix(1, 64, {stream = s})(x, y, z, 64) error('no', 0) end) end)\n"
                   "gpu.sync() print(z[1])\n"
                   "local bad = gpu.library('bad', 'z: inout i32[]', {stream = true, track = {x, "
                   "y}}, function(on)\n"
                   "    mix(1, 64)(x, y, z, 64) coroutine.yield(on) end)\n"
                   "try(function() bad(z) end) print(z[1])",
           "false\tno\n0\nfalse\tattempt to yield across a C-call boundary\n5\n");
}

static void test_mistakes_of_libraries(void **state)
{
    (void)state;
    fails(LIBRARY "make(true)(x, z)", "argument-count", "twice: expected 3 arguments, given 2");
    fails(LIBRARY "make(true)(x, 'z', 64)", "lua-launch-argument",
          "library function twice, argument 2: a string value was given");
    fails(LIBRARY "local f = make(true) h:free() f(x, z, 64)", "array-freed",
          "array h is used after it was freed");
    fails(LIBRARY "gpu.library('f', 'x: in i32[]', {stream = true}, function() print(x[0]) end)(x)",
          "library-refused", "an access of the host is not allowed inside");
    fails(LIBRARY "gpu.library('f', 'x: in i32[]', {stream = true}, function()\n"
                  "    mix(1, 1, {stream = t})(x, x, z, 1) end)(x)",
          "library-stream", "library function f launches mix on stream 2");
    fails(LIBRARY "gpu.library('f', 'x: in i32[]', {stream = true}, function()\n"
                  "    mix(1, 1)(x, x, z, 1) end)(x)",
          "library-array", "library function f launches mix, which may write array z");
    fails(LIBRARY "gpu.library('f', 'z: inout i32[]', {stream = true}, function()\n"
                  "    mix(1, 1)(x, x, z, 1) end)(z)",
          "library-array", "library function f launches mix, which reads array x");
    fails(LIBRARY "gpu.library('f', 'x: in', {stream = true}, print)", "signature-syntax",
          "library function f");
    fails(LIBRARY "gpu.library('f', '', {stram = true}, print)", "lua-error",
          "did you mean 'stream'");
    fails(LIBRARY "gpu.library('f', '', {stream = 1}, print)", "lua-option", "true or false");
    fails(LIBRARY "gpu.library('f', '', {track = {1}}, print)", "lua-option",
          "track[1] must be an array, got number");
}

/* ---- random graphs, four ways -------------------------------------------------------------------- */

/* A random program of kernels on some arrays, once each way; the bytes must be those of one stream. */
static const char random_program[] =
    "local gpu = require 'heddle' local mod = gpu.module 'k.hasm'\n"
    "local mix = mod:kernel('mix', 'x: in i32[], y: in i32[], z: inout i32[], n: i32')\n"
    "local N, K, A = 512, math.random(2, 14), math.random(3, 6)\n"
    "local arrays, program = {}, {}\n"
    "for i = 1, A do arrays[i] = gpu.array('i32', N, 'a' .. i) end\n"
    "for k = 1, K do program[k] = {math.random(A), math.random(A), math.random(A),\n"
    "    blocks = math.random(8), stream = math.random(3)} end\n"
    "local function conflict(p, q) return p[3] == q[1] or p[3] == q[2] or p[3] == q[3]\n"
    "    or q[3] == p[1] or q[3] == p[2] end\n"
    "local function args(p) return {arrays[p[1]], arrays[p[2]], arrays[p[3]], p.blocks * 64} end\n"
    "local streams = {gpu.stream(), gpu.stream(), gpu.stream()}\n"
    "local function launch(p, s) mix(p.blocks, 64, s and {stream = s})(table.unpack(args(p))) end\n"
    "local function by_events()\n"
    "    local done, first = {}, gpu.event(streams[1])\n"
    "    streams[2]:wait(first) streams[3]:wait(first)\n"
    "    for k, p in ipairs(program) do\n"
    "        local s = streams[p.stream]\n"
    "        for j = 1, k - 1 do if conflict(program[j], p) then s:wait(done[j]) end end\n"
    "        launch(p, s) done[k] = gpu.event(s)\n"
    "    end\n"
    "    for k = 1, K do streams[1]:wait(done[k]) end\n"
    "end\n"
    "local function by_hand()\n"
    "    local g, nodes = gpu.graph(), {}\n"
    "    for k, p in ipairs(program) do\n"
    "        local deps = {}\n"
    "        for j = 1, k - 1 do if conflict(program[j], p) then deps[#deps + 1] = nodes[j] end "
    "end\n"
    "        nodes[k] = g:kernel(mix(p.blocks, 64), args(p), deps)\n"
    "    end\n"
    "    return g:instantiate()\n"
    "end\n"
    "local graph, captured = by_hand(), gpu.capture(streams[1], by_events):instantiate()\n"
    "local ways = {function() for _, p in ipairs(program) do launch(p, streams[1]) end end,\n"
    "    function() for _, p in ipairs(program) do launch(p) end end, by_events,\n"
    "    function() graph:launch(streams[math.random(3)]) end, function() captured:launch() end}\n"
    "local expected\n"
    "for i, way in ipairs(ways) do\n"
    "    for j, a in ipairs(arrays) do a:random(j, -9, 9) end\n"
    "    way() way()\n"
    "    local sums = {} for j, a in ipairs(arrays) do sums[j] = a:hash() end\n"
    "    sums = table.concat(sums, ' ') expected = expected or sums\n"
    "    assert(sums == expected, 'way ' .. i)\n"
    "end\n";

enum { RANDOM_GRAPHS = 12 };

static void test_random_graphs_four_ways(void **state)
{
    static const char *const defaults[] = {"legacy", "independent"};

    const uint64_t first = test_seed(1);

    (void)state;
    for (uint64_t seed = first; seed < first + test_count(RANDOM_GRAPHS); seed++) {
        set("host.scheduler", schedulers[seed % 3]);
        set("host.default_stream", defaults[seed / 3 % 2]);
        rig.o.seed = seed;
        rig_run(&rig, random_program);
        if (rig.status != HD_OK)
            fail_msg("seed %u: %s: %s", (unsigned)seed, rig.err.place, rig.err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_mistakes_of_captures),
        cmocka_unit_test(test_the_manuals_example),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_attach),
        cmocka_unit_test(test_advise),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_errors_in_coroutines),
        cmocka_unit_test(test_mistakes_of_libraries),
        cmocka_unit_test(test_random_graphs_four_ways),
    };

    return cmocka_run_group_tests_name("lua capture", tests, set_up, tear_down);
}
