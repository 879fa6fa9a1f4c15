/* Modules, kernels and launches: kernel(blocks, threads)(arguments). */
#include "host/lua/array.h"
#include "host/lua/kernel.h"
#include "host/lua/stream.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct lua_module {
    struct handle h;
    hd_module *m;
};

struct lua_kernel {
    struct handle h;
    hd_kernel *k;
};

enum { KERNEL_SIGNATURE = 1 }; /* user values of a kernel */

struct lua_launch {
    struct handle h;
    struct hd_launch l; /* without arguments and stream */
};

enum { LAUNCH_KERNEL = 1, LAUNCH_STREAM = 2 }; /* user values of a launch */

/* ---- modules ---------------------------------------------------------------------------- */

static bool stays_below(const char *path)
{
    if (*path == '/')
        return false;
    for (const char *at = path;; at++) {
        const size_t length = strcspn(at, "/");

        if (length == 2 && memcmp(at, "..", 2) == 0)
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

/* Pushes the path of a file beside the program or, if there is none, in the shared folder. */
static const char *push_source_path(lua_State *L, const char *file)
{
    const struct script *s = script_of(L);
    const char *beside = strcmp(s->folder, ".") == 0 ? lua_pushstring(L, file)
                                                     : lua_pushfstring(L, "%s/%s", s->folder, file);
    const char *shared;

    if (access(beside, F_OK) == 0)
        return beside;
    shared = lua_pushfstring(L, "%s/%s", s->lib, file);
    return access(shared, F_OK) == 0 ? shared : beside;
}

static int gpu_module(lua_State *L)
{
    const char *file = luaL_checkstring(L, 1);
    struct lua_module *m;
    struct hd_error err;

    luaL_argcheck(L, *file && stays_below(file), 1,
                  "the path is relative to the program's folder and stays below it");
    m = handle_new(L, TYPE_MODULE, sizeof *m, 0);
    if (hd_module_load(script_of(L)->rt, push_source_path(L, file), &m->m, &err) != HD_OK)
        return script_raise(L, &err);
    lua_settop(L, 2);
    return 1;
}

static int module_kernel(lua_State *L)
{
    const struct lua_module *m = luaL_checkudata(L, 1, TYPE_MODULE);
    const char *name = luaL_checkstring(L, 2);
    const char *signature = luaL_checkstring(L, 3);
    struct lua_kernel *k = handle_new(L, TYPE_KERNEL, sizeof *k, 1);
    struct hd_error err;

    limits_hold(L, RECORD_BYTES);
    if (hd_kernel_get(script_of(L)->rt, m->m, name, signature, &k->k, &err) != HD_OK)
        return script_raise(L, &err);
    lua_pushvalue(L, 3);
    lua_setiuservalue(L, -2, KERNEL_SIGNATURE);
    return 1;
}

/* ---- launches --------------------------------------------------------------------------- */

static int bad_extent(lua_State *L, const char *kernel, const char *what, int idx)
{
    return script_error(L, "lua-launch-shape",
                        "a number, or {x}, {x, y} or {x, y, z}, each a whole number from 1 on",
                        "kernel %s: %s cannot be %s", kernel, what,
                        lua_type(L, idx) == LUA_TNUMBER ? luaL_tolstring(L, idx, NULL)
                                                        : luaL_typename(L, idx));
}

static uint64_t check_extent(lua_State *L, const char *kernel, const char *what, int idx)
{
    int whole = 0;
    const lua_Integer n = lua_type(L, idx) == LUA_TNUMBER ? lua_tointegerx(L, idx, &whole) : 0;

    if (!whole || n < 1)
        bad_extent(L, kernel, what, idx);
    return (uint64_t)n;
}

static void check_extents(lua_State *L, const char *kernel, const char *what, int idx,
                          uint64_t extent[3])
{
    lua_Unsigned given = 1;

    extent[0] = extent[1] = extent[2] = 1;
    if (lua_type(L, idx) != LUA_TTABLE) {
        extent[0] = check_extent(L, kernel, what, idx);
        return;
    }
    given = lua_rawlen(L, idx);
    if (given < 1 || given > 3)
        script_error(L, "lua-launch-shape", NULL,
                     "kernel %s: %s has %" PRIu64 " dimensions, not 1 to 3", kernel, what,
                     (uint64_t)given);
    for (lua_Unsigned i = 0; i < given; i++) {
        lua_rawgeti(L, idx, (lua_Integer)i + 1);
        extent[i] = check_extent(L, kernel, what, -1);
        lua_pop(L, 1);
    }
}

/* The third argument, at idx: bytes of local memory, or a table of options. Leaves the stream, or nil, on the stack. */
static uint64_t check_options(lua_State *L, int idx)
{
    static const char *const options[] = {"lds", "stream", NULL};
    uint64_t lds = 0;

    if (lua_type(L, idx) == LUA_TTABLE) {
        options_check(L, idx, options);
        if (lua_getfield(L, idx, "lds") != LUA_TNIL)
            lds = check_count(L, -1, 0, "lds");
        lua_pop(L, 1);
        lua_getfield(L, idx, "stream");
        stream_optional(L, -1);
        return lds;
    }
    if (!lua_isnoneornil(L, idx))
        lds = check_count(L, idx, 0, "dynamic local memory");
    lua_pushnil(L);
    return lds;
}

static int kernel_call(lua_State *L)
{
    const struct lua_kernel *k = luaL_checkudata(L, 1, TYPE_KERNEL);
    struct hd_launch l = {.kernel = k->k};
    struct lua_launch *launch;

    lua_settop(L, 4);
    check_extents(L, hd_kernel_name(k->k), "blocks", 2, l.grid);
    check_extents(L, hd_kernel_name(k->k), "threads", 3, l.block);
    l.dynamic_lds = check_options(L, 4);
    launch = handle_new(L, TYPE_LAUNCH, sizeof *launch, 2);
    launch->l = l;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, LAUNCH_KERNEL);
    lua_pushvalue(L, 5);
    lua_setiuservalue(L, -2, LAUNCH_STREAM);
    return 1;
}

/* Pushes the signature of the launch at idx. */
static const char *push_signature(lua_State *L, int idx)
{
    lua_getiuservalue(L, idx, LAUNCH_KERNEL);
    lua_getiuservalue(L, -1, KERNEL_SIGNATURE);
    return lua_tostring(L, -1);
}

/* what is "a nil value was given" or alike. */
static int bad_argument(lua_State *L, int launch, const char *kernel, int number, const char *what)
{
    const char *part = push_signature(L, launch);

    for (int i = 1; i < number; i++)
        part += strcspn(part, ",") + 1;
    part += strspn(part, " \t\n");
    return script_error(L, "lua-launch-argument", NULL, "kernel %s, argument %d (%.*s): %s", kernel,
                        number, (int)strcspn(part, ","), part, what);
}

static struct hd_arg check_argument(lua_State *L, int launch, const char *kernel, int number)
{
    const int idx = launch + number;
    const struct lua_array *a;

    if (lua_type(L, idx) == LUA_TNUMBER)
        return lua_isinteger(L, idx)
                   ? (struct hd_arg){.kind = HD_ARG_INT, .as.i = lua_tointeger(L, idx)}
                   : (struct hd_arg){.kind = HD_ARG_FLOAT, .as.f = lua_tonumber(L, idx)};
    a = luaL_testudata(L, idx, TYPE_ARRAY);
    if (!a)
        bad_argument(L, launch, kernel, number,
                     lua_pushfstring(L, "a %s value was given", luaL_typename(L, idx)));
    else if (!a->a)
        bad_argument(L, launch, kernel, number,
                     lua_pushfstring(L, "the array %s was freed", array_push_text(L, a)));
    return (struct hd_arg){.kind = HD_ARG_ARRAY, .as.array = a->a};
}

struct hd_launch launch_check(lua_State *L, int idx, struct hd_arg args[ISA_MAX_PARAMS])
{
    const struct lua_launch *launch = luaL_checkudata(L, idx, TYPE_LAUNCH);
    const char *kernel = hd_kernel_name(launch->l.kernel);
    const int given = lua_gettop(L) - idx, wanted = (int)hd_kernel_params(launch->l.kernel);
    struct hd_launch l = launch->l;

    if (given != wanted)
        script_error(L, "lua-launch-count", NULL, "kernel %s takes %d arguments (%s), %d were given",
                     kernel, wanted, push_signature(L, idx), given);
    for (int i = 0; i < given; i++)
        args[i] = check_argument(L, idx, kernel, i + 1);
    lua_getiuservalue(L, idx, LAUNCH_STREAM);
    l.stream = stream_optional(L, -1);
    l.args = args;
    l.nargs = (unsigned)given;
    return l;
}

static int launch_call(lua_State *L)
{
    struct hd_arg args[ISA_MAX_PARAMS];
    const struct hd_launch l = launch_check(L, 1, args);
    struct hd_error err;

    if (hd_launch_kernel(script_of(L)->rt, &l, &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

/* ---- history ----------------------------------------------------------------------------- */

static void set_extents(lua_State *L, const char *field, const uint32_t extent[3])
{
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushinteger(L, extent[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, field);
}

static void set_ns(lua_State *L, const char *field, uint64_t ps)
{
    lua_pushnumber(L, (lua_Number)ps / 1000);
    lua_setfield(L, -2, field);
}

static void push_past_launch(lua_State *L, const struct hd_past_launch *p)
{
    lua_createtable(L, 0, 7);
    set_extents(L, "blocks", p->grid);
    set_extents(L, "threads", p->block);
    lua_pushinteger(L, p->dynamic_lds);
    lua_setfield(L, -2, "lds");
    lua_pushinteger(L, p->stream);
    lua_setfield(L, -2, "stream");
    set_ns(L, "queued_ns", p->queued_ps);
    set_ns(L, "start_ns", p->start_ps);
    set_ns(L, "time_ns", p->end_ps - p->start_ps);
}

static int kernel_history(lua_State *L)
{
    const struct lua_kernel *k = luaL_checkudata(L, 1, TYPE_KERNEL);
    struct hd_past_launch past[HD_HISTORY_MAX];
    struct hd_error err;
    unsigned n;

    if (hd_kernel_history(k->k, past, &n, &err) != HD_OK)
        return script_raise(L, &err);
    lua_createtable(L, (int)n, 0);
    for (unsigned i = 0; i < n; i++) {
        push_past_launch(L, &past[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int kernel_text(lua_State *L)
{
    const struct lua_kernel *k = luaL_checkudata(L, 1, TYPE_KERNEL);

    lua_pushfstring(L, "kernel %s", hd_kernel_name(k->k));
    return 1;
}

const struct api_row module_new_api[] = {
    {"module", gpu_module, "(file)", "Assembles a file beside the program, or in the shared folder"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row module_api[] = {
    {"kernel", module_kernel, "(name, signature)",
     "A kernel; the signature is \"x: inout f32[], n: i32\" with in, out, inout (the default of "
     "arrays), const, input, output"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row kernel_api[] = {
    {"history", kernel_history, "()",
     "A list of the kernel's finished launches, the oldest first, of the last 64: {blocks = {x, y, "
     "z}, "
     "threads = {x, y, z}, lds, stream, queued_ns, start_ns, time_ns}; none of resets, warm-up and "
     "values-only runs"},
    {NULL, NULL, NULL, NULL},
};

void kernel_open(lua_State *L)
{
    static const struct api_row *const module_methods[] = {module_api, NULL};
    static const struct api_row *const kernel_methods[] = {kernel_api, NULL};
    static const struct api_row *const none[] = {NULL};
    static const luaL_Reg kernel_extra[] = {
        {"__call", kernel_call}, {"__tostring", kernel_text}, {NULL, NULL}};
    static const luaL_Reg launch_extra[] = {{"__call", launch_call}, {NULL, NULL}};
    static const luaL_Reg nothing[] = {{NULL, NULL}};

    handle_type(L, TYPE_MODULE, module_methods, nothing);
    handle_type(L, TYPE_KERNEL, kernel_methods, kernel_extra);
    handle_type(L, TYPE_LAUNCH, none, launch_extra);
}
