/* Modules, kernels and launches on the simulated GPU. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static struct rig rig;

static const char source[] =
    "; y[i] = x[i] for i below n\n"
    ".kernel copy\n.param x i32[]\n.param y i32[]\n.param n i32\n"
    "    v_get_u32 v0, %gid\n    v_cmp_lt_u32 m0, v0, n\n"
    "    @m0 global_load_b32 v1, [x + v0*4]\n    @m0 global_store_b32 [y + v0*4], v1\n    "
    "s_end\n.endkernel\n"
    "; beyond every array\n"
    ".kernel wild\n.param x i32[]\n"
    "    v_mov_b32 v0, 0x3fffffff\n    global_load_b32 v1, [x + v0*4]\n    s_end\n.endkernel\n";

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig);
    mkdir(rig_path(&rig, "shared"), 0700);
    rig_file(&rig, "k.hasm", source);
    rig_file(&rig, "shared/s.hasm", source);
    rig_file(&rig, "wrong.hasm", ".kernel k\n    v_mvo_b32 v0, 1\n    s_end\n.endkernel\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_free(&rig);
    return 0;
}

#define COPY                                                                                       \
    "local gpu = require 'heddle' local mod = gpu.module 'k.hasm'\n"                               \
    "local copy = mod:kernel('copy', 'x: in i32[], y: out i32[], n: i32')\n"                       \
    "local x, y = gpu.array('i32', 100, 'x'):iota(), gpu.array('i32', 100, 'y')\n"

static void prints(const char *program, const char *log)
{
    rig_run(&rig, program);
    if (rig.status != HD_OK)
        fail_msg("%s: %s", rig.err.place, rig.err.message);
    assert_string_equal(text_str(&rig.log), log);
}

static void fails(const char *program, const char *message)
{
    rig_run(&rig, program);
    if (rig.status != HD_BAD_INPUT || !strstr(rig.err.message, message))
        fail_msg("%d, \"%s\" lacks \"%s\"", rig.status, rig.err.message, message);
}

static void test_launches(void **state)
{
    (void)state;
    prints(COPY "copy(2, 64)(x, y, 100) print(y[0], y[1], y[99], y:sum())", "0\t1\t99\t4950\n");
    prints(COPY "copy({2, 1}, {32, 2, 1})(x, y, 100.0) print(y[99])", "99\n");
    prints(COPY "local launch = copy(1, 64) launch(x, y, 10) x:map('x*2') launch(x, y, 5)\n"
                "print(table.concat(y:to_table(0, 11), ' '))",
           "0 2 4 6 8 5 6 7 8 9 0\n");
    prints(COPY "print(copy, mod, copy(1, 64))", "kernel copy\tmodule\tlaunch\n");
}

#define COPY_TIMES                                                                                 \
    "local function times() local t = {} for i, h in ipairs(copy:history()) do "                   \
    "t[i] = h.blocks[1] .. 'x' .. h.threads[1] .. ':' .. h.threads[2] end return #t, "             \
    "table.concat(t, ' ') end\n"

static void test_history(void **state)
{
    (void)state;
    /* Launched, and finished only when the host has waited for it, or worked for as long. */
    prints(COPY COPY_TIMES
           "print(times()) copy(2, 64)(x, y, 100) print(times()) gpu.sync() print(times())\n"
           "copy(1, {32, 2})(x, y, 64) gpu.host_work_ns(1e6) print(times())",
           "0\t\n0\t\n1\t2x64:1\n2\t2x64:1 1x32:2\n");
    /* Its times are those of the run. */
    prints(COPY "local t0 = gpu.time_ns() copy(2, 64, {lds = 16})(x, y, 100) gpu.sync()\n"
                "local h = copy:history()[1]\n"
                "print(h.queued_ns >= t0, h.start_ns > h.queued_ns, h.time_ns > 0,\n"
                "      h.start_ns + h.time_ns <= gpu.time_ns(), h.lds, h.stream)",
           "true\ttrue\ttrue\ttrue\t16\t1\n");
    /* The last 64, the oldest first; a second handle of the kernel sees them too. */
    prints(COPY "for i = 1, 70 do copy(1, i)(x, y, i) end gpu.sync()\n"
                "local h = mod:kernel('copy', 'x: in i32[], y: inout i32[], n: i32'):history()\n"
                "print(#h, h[1].threads[1], h[64].threads[1])",
           "64\t7\t70\n");
    /* Resets and warm-up have no times. */
    prints(COPY "gpu.region('main', {reset = function() copy(1, 7)(x, y, 7) end, iterations = 2, "
                "warmup = 3},\n"
                "  function() copy(1, 9)(x, y, 9) end)\n"
                "for _, h in ipairs(copy:history()) do print(h.threads[1]) end",
           "9\n9\n");
}

static void test_streams_and_events(void **state)
{
    (void)state;
    prints(COPY
           "local s, t = gpu.stream(), gpu.stream()\n"
           "copy(2, 64, {stream = s, lds = 16})(x, y, 100)\n"
           "local e <close> = gpu.event(s) t:wait(e) e:sync() print(e:done())\n"
           "gpu.prefetch(x, t) gpu.sync(s) t:sync() gpu.sync() s:free() print(y[99])\n"
           "copy(1, 64, {stream = gpu.default_stream()})(x, y, 1) gpu.sync(gpu.default_stream())",
           "true\n99\n");
    fails(COPY "local s = gpu.stream() local l = copy(1, 1, {stream = s}) s:free() l(x, y, 1)",
          "stream was freed");
    fails(COPY "local s = gpu.stream() s:free() s:sync()", "stream was freed");
    fails(COPY "gpu.default_stream():free()", "cannot be freed");
    fails(COPY "local e = gpu.event() e:free() e:sync()", "event was freed");
    fails(COPY "gpu.stream():wait(3)", "heddle.event expected, got number");
    fails(COPY "gpu.sync(3)", "heddle.stream expected, got number");
}

/* Each is refused at the call and names the kernel, the position, what is expected and what was given. */
static void test_pb13_wrong_arguments(void **state)
{
    static const struct {
        const char *call, *message;
    } wrong[] = {
        {"(x, y)",
         "kernel copy takes 3 arguments (x: in i32[], y: out i32[], n: i32), 2 were given"},
        {"(x, y, 1, 2)",
         "kernel copy takes 3 arguments (x: in i32[], y: out i32[], n: i32), 4 were given"},
        {"()", "kernel copy takes 3 arguments (x: in i32[], y: out i32[], n: i32), 0 were given"},
        {"(x, y, x)", "kernel copy, argument 3 (n): expected i32, given"},
        {"(x, 1, 1)", "kernel copy, argument 2 (y): expected i32[], given"},
        {"(x, y, 3.5)", "kernel copy, argument 3 (n): expected i32, given"},
        {"(x, y, 1 << 31)", "kernel copy, argument 3 (n): expected i32, given"},
        {"(x, y, 0/0)", "kernel copy, argument 3 (n): expected i32, given"},
        {"(x, y, nil)", "kernel copy, argument 3 (n: i32): a nil value was given"},
        {"(x, y, '1')", "kernel copy, argument 3 (n: i32): a string value was given"},
        {"(x, y, true)", "kernel copy, argument 3 (n: i32): a boolean value was given"},
        {"({}, y, 1)", "kernel copy, argument 1 (x: in i32[]): a table value was given"},
        {"(copy, y, 1)", "kernel copy, argument 1 (x: in i32[]): a userdata value was given"},
        {"(freed, y, 1)", "kernel copy, argument 1 (x: in i32[]): the array i32[5] was freed"},
        {"(gpu.array('f32', 9), y, 1)",
         "kernel copy, argument 1 (x): expected i32[], given the array f32[]"},
    };
    char program[1024];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(program, sizeof program,
                 COPY
                 "local freed = gpu.array('i32', 5) freed:free() local launch = copy(1, 64)\n"
                 "local before = gpu.time_ns() local ok, why = pcall(function() launch%s end)\n"
                 "assert(not ok and gpu.time_ns() == before) error(why, 0)",
                 wrong[i].call);
        fails(program, wrong[i].message);
        assert_non_null(strstr(rig.err.place, "main.lua:5"));
    }
}

static void test_wrong_shapes(void **state)
{
    (void)state;
    fails(COPY "copy(0, 64)", "kernel copy: blocks cannot be 0");
    fails(COPY "copy(1, 0)", "kernel copy: threads cannot be 0");
    fails(COPY "copy(-1, 64)", "blocks cannot be -1");
    fails(COPY "copy(1.5, 64)", "blocks cannot be 1.5");
    fails(COPY "copy(math.huge, 64)", "blocks cannot be inf");
    fails(COPY "copy(0/0, 64)", "blocks cannot be");
    fails(COPY "copy('1', 64)", "blocks cannot be string");
    fails(COPY "copy(1)", "threads cannot be nil");
    fails(COPY "copy({1, 2, 3, 4}, 64)", "blocks has 4 dimensions");
    fails(COPY "copy({}, 64)", "blocks has 0 dimensions");
    fails(COPY "copy({1, 'x'}, 64)", "blocks cannot be string");
    fails(COPY "copy(1, 64, -1)", "dynamic local memory must be at least 0, got -1");
    fails(COPY "copy(1, 64, {lsd = 4})", "no option 'lsd'; did you mean 'lds'?");
    fails(COPY "copy(1, 64, {stream = 4})", "heddle.stream expected");
    fails(COPY "copy(1 << 40, 64)(x, y, 1)", "kernel copy: expected 1 to 4294967295");
    fails(COPY "copy(1, 100000)(x, y, 1)", "100000");
    fails(COPY "copy(1, 64, 1 << 40)(x, y, 1)", "1099511627776 bytes of local memory");
}

/* What a kernel includes stays below the program's folder, or the library's. */
static void test_includes_stay_in_the_sandbox(void **state)
{
    static const char *const out[] = {"/etc/passwd", "../k.hasm", "sub/../../k.hasm", ".."};
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++) {
        snprintf(text, sizeof text, ".include \"%s\"\n", out[i]);
        rig_file(&rig, "out.hasm", text);
        fails("require 'heddle'.module 'out.hasm'", "is outside the folder of this file");
    }
    rig_file(&rig, "out.hasm", ".include \"./k.hasm\"\n.include \"reduce.hasm\"\n");
    prints("print(require 'heddle'.module 'out.hasm')", "module\n");
}

static void test_modules_and_signatures(void **state)
{
    char folder[128];

    (void)state;
    fails(COPY "mod:kernel('cpy', '')", "cpy");
    fails(COPY "mod:kernel('copy', 'x: in i32[]')", "expected 3 parameters, given 1");
    fails(COPY "mod:kernel('copy', 'x: in f32[], y: i32[], n: i32')", "parameter 1 (x): expected");
    fails(COPY "mod:kernel('copy', 'x: in i32[], y: i32[], n i32')", "parameter 3");
    fails(COPY "mod:kernel('copy')", "string expected");
    fails(COPY "mod.kernel(copy, 'copy', '')", "heddle.module expected");
    fails("require 'heddle'.module 'none.hasm'", "none.hasm");
    fails("\nrequire 'heddle'.module 'wrong.hasm'", "v_mvo_b32");
    assert_non_null(strstr(rig.err.place, "wrong.hasm:2:"));
    assert_non_null(strstr(text_str(&rig.info.traceback), "main.lua:2"));
    strcpy(folder, rig_path(&rig, "shared"));
    rig.o.lib_dir = folder;
    prints("print(require 'heddle'.module 's.hasm')", "module\n");
    rig.o.lib_dir = NULL;
}

/* A failed simulation ends the run: pcall cannot go on with the poisoned machine. */
static void test_a_fault_cannot_be_caught(void **state)
{
    (void)state;
    rig_run(
        &rig,
        "local gpu = require 'heddle' local wild = gpu.module 'k.hasm':kernel('wild', 'x: i32[]')\n"
        "local x = gpu.array('i32', 4)\nwhile true do pcall(function()\nwild(1, 1)(x) gpu.sync() "
        "end) end");
    assert_int_equal(rig.status, HD_SIM_FAILED);
    assert_non_null(strstr(rig.err.place, "kernel wild"));
    assert_non_null(strstr(text_str(&rig.info.traceback), "main.lua:4"));
}

/* Nothing waits for the kernel but the end of the program. */
static void test_the_end_waits(void **state)
{
    (void)state;
    rig_run(
        &rig,
        "local gpu = require 'heddle' local wild = gpu.module 'k.hasm':kernel('wild', 'x: i32[]')\n"
        "wild(1, 1)(gpu.array('i32', 4))");
    assert_int_equal(rig.status, HD_SIM_FAILED);
}

static void test_two_runs_are_equal(void **state)
{
    static const char program[] =
        COPY "gpu.region('main', {iterations = 3, reset = function() x:random(3, 0, 1000) "
             "y:fill(0) end},\n"
             "function() copy(2, 64)(x, y, 100) gpu.check('sum', y:sum(), x:sum()) end)\n"
             "print(y:hash(), gpu.time_ns(), math.random(), tostring(gpu))\n"
             "for k, v in pairs{b = 1, a = 2} do print(k, v) end";
    struct text first = {0};
    uint64_t host_ps;

    (void)state;
    assert_int_equal(rig_run(&rig, program), HD_OK);
    text_add(&first, "%s%s", text_str(&rig.log), text_str(&rig.checks));
    host_ps = rig.host_ps;
    for (unsigned i = 0; i < 3; i++) {
        struct text again = {0};

        assert_int_equal(rig_run(&rig, program), HD_OK);
        text_add(&again, "%s%s", text_str(&rig.log), text_str(&rig.checks));
        assert_string_equal(text_str(&again), text_str(&first));
        assert_true(rig.host_ps == host_ps);
        text_free(&again);
    }
    text_free(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_streams_and_events),
        cmocka_unit_test(test_pb13_wrong_arguments),
        cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_modules_and_signatures),
        cmocka_unit_test(test_includes_stay_in_the_sandbox),
        cmocka_unit_test(test_a_fault_cannot_be_caught),
        cmocka_unit_test(test_the_end_waits),
        cmocka_unit_test(test_two_runs_are_equal),
    };

    return cmocka_run_group_tests_name("kernel", tests, set_up, tear_down);
}
