/* What a script can reach, and attempts to reach more. */
#include "host/lua/internal.h"
#include "tests/lua/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- the golden list ------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds a line for all in the table on top of the stack, tables in it too. */
static void list_table(lua_State *L, const char *prefix, struct text *out)
{
    char *lines[256];
    size_t count = 0;

    lua_pushnil(L);
    while (lua_next(L, -2)) {
        struct text line = {0};

        text_add(&line, "%s%s: %s\n", prefix, lua_tostring(L, -2), luaL_typename(L, -1));
        if (lua_istable(L, -1) && !lua_getmetatable(L, -1)) {
            char deeper[64];

            snprintf(deeper, sizeof deeper, "%s%s.", prefix, lua_tostring(L, -2));
            list_table(L, deeper, &line);
        } else if (lua_istable(L, -2)) {
            lua_pop(L, 1); /* its metatable: the globals again */
        }
        assert_in_range(count, 0, 255);
        lines[count++] = line.at;
        lua_pop(L, 1);
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        text_add(out, "%s", lines[i]);
        free(lines[i]);
    }
}

static int list_globals(lua_State *L)
{
    struct text *out = lua_touserdata(L, 1);

    sandbox_open(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_getmetatable(L, -1);
    lua_getfield(L, -1, "__index");
    list_table(L, "", out);
    lua_pop(L, 2);
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    list_table(L, "string metatable ", out);
    return 0;
}

static void test_reachable_globals(void **state)
{
    struct hd_script_options o;
    struct script s = {.o = &o, .limits = {.max_memory = 1 << 24, .max_instructions = 1000}};
    struct text list = {0}, golden = {0};
    struct hd_error err;
    lua_State *L = lua_newstate(limits_alloc, &s);

    (void)state;
    hd_script_options_default(&o);
    *(struct script **)lua_getextraspace(L) = &s;
    lua_pushcfunction(L, list_globals);
    lua_pushlightuserdata(L, &list);
    assert_int_equal(lua_pcall(L, 1, 0, 0), LUA_OK);
    lua_close(L);
    assert_int_equal(file_read("tests/lua/globals.txt", &golden, &err), HD_OK);
    if (strcmp(text_str(&list), text_str(&golden)) != 0)
        fail_msg("tests/lua/globals.txt should be:\n%s", text_str(&list));
    text_free(&list);
    text_free(&golden);
}

/* ---- attacks --------------------------------------------------------------------------- */

/* Each must end in an error of the script's; what it must not do is print. */
static const struct attack {
    const char *program, *error;
} attacks[] = {
    {"print(io.open('/etc/passwd'))", "no global 'io'"},
    {"print(os.getenv('HOME'))", "no global 'os'"},
    {"print(os.execute('true'))", "no global 'os'"},
    {"print(debug.getregistry())", "no global 'debug'"},
    {"print(package.loadlib('x', '*'))", "no global 'package'"},
    {"print(dofile('/etc/passwd'))", "no global 'dofile'"},
    {"print(loadfile('/etc/passwd'))", "no global 'loadfile'"},
    {"print(collectgarbage('count'))", "no global 'collectgarbage'"},
    {"print(string.dump(function() end))", "nil value (field 'dump')"},
    {"print(('').dump(function() end))", "nil value (field 'dump')"},
    {"print(load('\\27Lua'))", ""},
    {"print(load('return 1', 'x', 'b'))", "only text"},
    {"print(load('return 1', 'x', 'bt'))", "only text"},
    {"print(require('io'))", "no module 'io'"},
    {"print(require('../secret'))", "not the name of a module"},
    {"print(require('/etc/passwd'))", "not the name of a module"},
    {"print(require('a..b'))", "not the name of a module"},
    {"print(require('a.lua.'))", "not the name of a module"},
    {"print(require(''))", "not the name of a module"},
    {"print(require('link'))", "no module 'link'"},
    {"print(require('folder.secret'))", "no module 'folder.secret'"},
    {"getmetatable('').__index = nil print(1)", "boolean value"},
    {"setmetatable({}, {__gc = function() print(1) end})", "__gc"},
    {"setmetatable({}, {__mode = 'k'}) print(1)", "__mode"},
    {"setmetatable(_G, {}) print(1)", "protected metatable"},
    {"setmetatable(require 'heddle', nil) print(1)", "protected metatable"},
    {"require 'heddle'.array = nil print(1)", "cannot be changed"},
    {"x = 1 print(x)", "assignment to the global 'x'"},
    {"print = nil print(1)", "assignment to the global 'print'"},
    {"_ENV.y = 1 print(y)", "assignment to the global 'y'"},
    {"print(string.format('%p', {}))", "address"},
    {"print(string.format('\\0%p', {}))", "address"},
    {"print(string.format('%-20p', {}))", "address"},
    {"math.randomseed() print(1)", "number expected"},
    {"local a = require 'heddle'.array('i32', 1) getmetatable(a).__index = 1 print(1)",
     "boolean value"},
    {"local g = require 'heddle' g.array.fill = 1 print(1)", "function value"},
    {"local a = require 'heddle'.array('i32', 1) a.x = 1 print(1)", "index of the array"},
    {"local a = require 'heddle'.array('i32', 1) a.fill({}, 1) print(1)", "heddle.array expected"},
    {"print(require 'heddle'.module('/etc/passwd'))", "relative"},
    {"print(require 'heddle'.module('../../etc/passwd'))", "relative"},
    {"print(require 'heddle'.array('i32', 1):from_npy('/etc/passwd'))", "no data"},
    {"coroutine.wrap(function() error('inside') end)() print(1)", "inside"},
    {"print(rawset(require 'heddle'.array('i32', 1), 1, 2))", "table expected"},
};

static void test_attacks(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    rig_file(&r, "secret.lua", "return 'secret'");
    assert_int_equal(symlink("secret.lua", rig_path(&r, "link.lua")), 0);
    assert_int_equal(symlink(".", rig_path(&r, "folder")), 0);
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        const struct attack *a = &attacks[i];

        rig_run(&r, a->program);
        if (a->error[0] == '\0') {
            assert_int_equal(r.status, HD_OK);
            assert_non_null(strstr(text_str(&r.log), "nil"));
            continue;
        }
        if (r.status != HD_BAD_INPUT || r.log.len || !strstr(r.err.message, a->error))
            fail_msg("%s\nends in %d, prints \"%s\", says \"%s\"", a->program, r.status,
                     text_str(&r.log), r.err.message);
    }
    rig_free(&r);
}

static void test_loaded_text_has_the_same_globals(void **state)
{
    (void)state;
    expect_error("load('return io')()", HD_BAD_INPUT, 0, "no global 'io'");
    expect_error("load(function() return nil end)() load('z = 1')()", HD_BAD_INPUT, 0, "global 'z'");
    expect_log("print(load('return ...', 'c')(7), load('return x', 'c', 't', {x = 5})())\n"
               "print(load('x ='))",
               "7\t5\nnil\t[string \"x =\"]:1: unexpected symbol near <eof>\n");
}

static void test_no_address_in_any_text(void **state)
{
    (void)state;
    expect_log("local gpu = require 'heddle'\n"
               "local co = coroutine.create(print)\n"
               "print({}, print, function() end, co, gpu.stream(), gpu)\n"
               "print(string.format('%s %10s', {}, print), tostring({}), tostring(co))\n"
               "print(setmetatable({}, {__name = 'mine'}), setmetatable({}, {__tostring = "
               "function() return 'text' end}))\n"
               "print(pcall(error, {}))\n"
               "print(select(2, pcall(string.rep)))\n"
               "print(coroutine.running())",
               "table\tfunction\tfunction\tthread\tstream\ttable\n"
               "table   function\ttable\tthread\n"
               "mine\ttext\n"
               "false\ttable\n"
               "bad argument #1 to 'string.rep' (string expected, got no value)\n"
               "thread\ttrue\n");
}

static void test_errors_of_every_kind(void **state)
{
    (void)state;
    expect_error("local x = 1\nerror('plain')", HD_BAD_INPUT, 2, "plain");
    expect_error("\n\nerror({})", HD_BAD_INPUT, 3, "error object is a table value");
    expect_error("error(setmetatable({}, {__tostring = function() return 'made' end}))",
                 HD_BAD_INPUT, 1, "made");
    expect_error("error()", HD_BAD_INPUT, 1, "nil value");
    expect_error("local function f() error('up', 2) end\n\nf()", HD_BAD_INPUT, 3, "up");
    expect_error("local x = \n\n= 3", HD_BAD_INPUT, 3, "unexpected symbol");
    expect_error("\nlocal t = nil\nprint(t.x)", HD_BAD_INPUT, 3, "index a nil value (local 't')");
    expect_error("\nreturn 1 + {}", HD_BAD_INPUT, 2, "arithmetic on a table");
    expect_error("\nprint(prinf)", HD_BAD_INPUT, 2, "did you mean print?");
    expect_error("\033Lua", HD_BAD_INPUT, 0, "binary");
}

static void test_traceback_and_hint(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    rig_run(&r, "local gpu = require 'heddle'\nlocal function f(a)\n  return a[5]\nend\n"
                "gpu.region('r', function() local v = f(gpu.array('f32', 5)) end)");
    assert_int_equal(r.status, HD_BAD_INPUT);
    assert_string_equal(r.err.code, "lua-array-index");
    assert_string_equal(r.err.hint, "the first element has index 0");
    assert_string_equal(r.err.message, "index 5 is outside the array f32[5] array0");
    assert_non_null(strstr(text_str(&r.info.traceback), "main.lua:3: in "));
    assert_non_null(strstr(text_str(&r.info.traceback), "main.lua:5: in "));
    assert_null(strstr(text_str(&r.info.traceback), "0x"));
    rig_free(&r);
}

static void test_numbers_do_not_come_from_libm(void **state)
{
    (void)state;
    expect_log("print(math.exp(0), math.log(1), math.log(8, 2) > 2.99, math.sin(0), math.cos(0), "
               "math.pow(2, 10))\n"
               "print(math.log(2^29, 2), math.log(0, 2), math.log(9, 3))\n"
               "print(rawget(math, 'tan'), rawget(math, 'atan'))",
               "1.0\t0.0\ttrue\t0.0\t1.0\t1024.0\n29.0\t-inf\t2.0\nnil\tnil\n");
}

static void test_wrap_is_luas(void **state)
{
    (void)state;
    expect_log(
        "local f = coroutine.wrap(function(...) local a = coroutine.yield(select('#', ...)) return "
        "a, 'end' end)\n"
        "print(f(1, nil, 3)) print(f('x')) print(pcall(f))\n"
        "local log = {}\n"
        "local g = coroutine.wrap(function() local c <close> = setmetatable({}, {__close = "
        "function() print('closed') end}) error({}) end)\n"
        "print(pcall(g))\n"
        "print(xpcall(error, function(e, ...) return 'handled ' .. e, 2 end, 'e'))\n"
        "print(pcall(xpcall, error, 5))",
        "3\nx\tend\nfalse\tcannot resume dead coroutine\nclosed\nfalse\ttable\nfalse\thandled e\n"
        "false\tbad argument #2 to 'xpcall' (function expected, got number)\n");
}

/* What an error leaves open in a coroutine is closed at once, in the order of Lua's wrap. */
static void test_resume_closes_what_failed(void **state)
{
    (void)state;
    expect_log(
        "local co = coroutine.create(function(a) local c <close> = setmetatable({}, {__close = "
        "function(_, e) print('closed', e) end}) a = coroutine.yield(a) error(a, 0) end)\n"
        "print(coroutine.resume(co, 1)) print(coroutine.resume(co, 'no'))\n"
        "print(coroutine.status(co), coroutine.close(co), coroutine.resume(co))\n"
        "print((pcall(coroutine.resume, 1)))\n"
        "local gpu = require 'heddle'\n"
        "co = coroutine.create(function() gpu.region('a', function() error('a', 0) end) end)\n"
        "print(coroutine.resume(co)) gpu.region('b', function() print('b') end)\n",
        "true\t1\nclosed\tno\nfalse\tno\ndead\ttrue\tfalse\tcannot resume dead coroutine\n"
        "false\n"
        "false\ta\nb\nb\n");
}

static void test_allow_io(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    r.o.allow_io = true;
    assert_int_equal(rig_run(&r, "print(type(io.open), type(os.time))"), HD_OK);
    assert_string_equal(text_str(&r.log), "function\tfunction\n");
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reachable_globals),
        cmocka_unit_test(test_attacks),
        cmocka_unit_test(test_loaded_text_has_the_same_globals),
        cmocka_unit_test(test_no_address_in_any_text),
        cmocka_unit_test(test_errors_of_every_kind),
        cmocka_unit_test(test_traceback_and_hint),
        cmocka_unit_test(test_numbers_do_not_come_from_libm),
        cmocka_unit_test(test_wrap_is_luas),
        cmocka_unit_test(test_resume_closes_what_failed),
        cmocka_unit_test(test_allow_io),
    };

    return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
