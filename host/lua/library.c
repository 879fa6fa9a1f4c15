/* Library functions: Lua functions that count as one computational element. */
#include "host/lua/array.h"
#include "host/lua/stream.h"

struct lua_library {
    struct handle h;
    hd_library *lib;
    bool stream;
};

enum { LIBRARY_NAME = 1, LIBRARY_FUNCTION = 2 }; /* user values */

enum { TRACK_MAX = ISA_MAX_PARAMS };

static bool boolean_option(lua_State *L, int idx, const char *key)
{
    bool on;

    if (lua_getfield(L, idx, key) != LUA_TNIL && !lua_isboolean(L, -1))
        script_error(L, "lua-option", NULL, "%s must be true or false, got %s", key,
                     luaL_typename(L, -1));
    on = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return on;
}

static unsigned check_tracked(lua_State *L, int idx, hd_array *out[TRACK_MAX])
{
    lua_Unsigned count = 0;

    if (lua_getfield(L, idx, "track") != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TTABLE)
            script_error(L, "lua-option", NULL, "track must be a list of arrays, got %s",
                         luaL_typename(L, -1));
        count = lua_rawlen(L, -1);
        if (count > TRACK_MAX)
            script_error(L, "lua-option", NULL, "track lists at most %d arrays", TRACK_MAX);
        for (lua_Unsigned i = 0; i < count; i++) {
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
            if (!luaL_testudata(L, -1, TYPE_ARRAY))
                script_error(L, "lua-option", NULL, "track[%d] must be an array, got %s",
                             (int)i + 1, luaL_typename(L, -1));
            out[i] = array_check(L, -1)->a;
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return (unsigned)count;
}

static int gpu_library(lua_State *L)
{
    static const char *const options[] = {"stream", "track", NULL};
    hd_array *hidden[TRACK_MAX];
    struct hd_library_desc desc = {
        .name = luaL_checkstring(L, 1), .signature = luaL_checkstring(L, 2), .hidden = hidden};
    struct lua_library *lib;
    struct hd_error err;

    options_check(L, 3, options);
    luaL_checktype(L, 4, LUA_TFUNCTION);
    desc.stream = boolean_option(L, 3, "stream");
    desc.nhidden = check_tracked(L, 3, hidden);
    lib = handle_new(L, TYPE_LIBRARY, sizeof *lib, 2);
    lib->stream = desc.stream;
    limits_hold(L, (size_t)4 * RECORD_BYTES);
    if (hd_library_new(script_of(L)->rt, &desc, &lib->lib, &err) != HD_OK)
        return script_raise(L, &err);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, LIBRARY_NAME);
    lua_pushvalue(L, 4);
    lua_setiuservalue(L, -2, LIBRARY_FUNCTION);
    return 1;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* A call that goes on; its stream is the script's until it ends. */
struct call {
    void *stream;
    bool goes_on;
};

static void end_call(lua_State *L, void *data)
{
    struct call *c = data;

    if (!c->goes_on)
        return;
    c->goes_on = false;
    stream_set(c->stream, NULL);
    hd_library_end(script_of(L)->rt, NULL);
}

static struct hd_arg check_argument(lua_State *L, int number)
{
    const int idx = number + 1;

    if (lua_isinteger(L, idx))
        return (struct hd_arg){.kind = HD_ARG_INT, .as.i = lua_tointeger(L, idx)};
    if (lua_type(L, idx) == LUA_TNUMBER)
        return (struct hd_arg){.kind = HD_ARG_FLOAT, .as.f = lua_tonumber(L, idx)};
    if (!luaL_testudata(L, idx, TYPE_ARRAY)) {
        lua_getiuservalue(L, 1, LIBRARY_NAME);
        script_error(L, "lua-launch-argument", NULL,
                     "library function %s, argument %d: a %s value was given", lua_tostring(L, -1),
                     number, luaL_typename(L, idx));
    }
    return (struct hd_arg){.kind = HD_ARG_ARRAY, .as.array = array_check(L, idx)->a};
}

/* Pushes the function and what it is called with: the stream, or nil, and the arguments. */
static void push_call(lua_State *L, const struct lua_library *lib, int given, int stream)
{
    luaL_checkstack(L, given + 4, NULL);
    lua_getiuservalue(L, 1, LIBRARY_FUNCTION);
    if (lib->stream)
        lua_pushvalue(L, stream);
    else
        lua_pushnil(L);
    for (int i = 0; i < given; i++)
        lua_pushvalue(L, i + 2);
}

static int library_call(lua_State *L)
{
    const struct lua_library *lib = luaL_checkudata(L, 1, TYPE_LIBRARY);
    const int given = lua_gettop(L) - 1, stream = given + 2;
    hd_runtime *rt = script_of(L)->rt;
    struct hd_arg args[ISA_MAX_PARAMS];
    void *handle;
    struct call *c;
    hd_stream *s;
    struct hd_error err;
    int base;

    luaL_argcheck(L, given <= ISA_MAX_PARAMS, 1, "too many arguments");
    for (int i = 0; i < given; i++)
        args[i] = check_argument(L, i + 1);
    handle = stream_push(L);
    c = guard_push(L, end_call, sizeof *c);
    c->stream = handle;
    base = lua_gettop(L);
    if (hd_library_begin(rt, lib->lib, args, (unsigned)given, &s, &err) != HD_OK)
        return script_raise(L, &err);
    c->goes_on = true;
    stream_set(handle, s);
    push_call(L, lib, given, stream);
    lua_call(L, given + 1, LUA_MULTRET);
    c->goes_on = false;
    stream_set(handle, NULL);
    if (hd_library_end(rt, &err) != HD_OK)
        return script_raise(L, &err);
    return lua_gettop(L) - base;
}

static int library_text(lua_State *L)
{
    luaL_checkudata(L, 1, TYPE_LIBRARY);
    lua_getiuservalue(L, 1, LIBRARY_NAME);
    lua_pushfstring(L, "library function %s", lua_tostring(L, -1));
    return 1;
}

const struct api_row library_api[] = {
    {"library", gpu_library,
     "(name, signature, {stream = true | false [, track = {array, ...}]}, function(stream, ...))",
     "A function that launches kernels, to be called like a launch, as one computational element. "
     "With a "
     "stream the scheduler chooses it, its arrays and those of track (written) order the call, and "
     "its launches go there and use these alone; without, all is waited for before and after"},
    {NULL, NULL, NULL, NULL},
};

void library_open(lua_State *L)
{
    static const struct api_row *const none[] = {NULL};
    static const luaL_Reg extra[] = {
        {"__call", library_call}, {"__tostring", library_text}, {NULL, NULL}};

    handle_type(L, TYPE_LIBRARY, none, extra);
}
