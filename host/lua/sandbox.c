/*
 * The globals of a script: an allow list of Lua's own functions, and our own where Lua's would show an
 * address, an order by chance, the time or a way out. Numbers from libm that differ between machines are
 * replaced too. tests/lua/globals.txt lists all that a script can reach.
 */
#include "host/lua/internal.h"

#include "sim/base/fmath.h"

#include <string.h>

/* ---- text ------------------------------------------------------------------------------- */

const char *sandbox_text(lua_State *L, int idx, size_t *length)
{
    idx = lua_absindex(L, idx);
    switch (lua_type(L, idx)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING:
        return luaL_tolstring(L, idx, length);
    default:
        break;
    }
    if (luaL_getmetafield(L, idx, "__tostring") != LUA_TNIL)
        return lua_pop(L, 1), luaL_tolstring(L, idx, length);
    if (luaL_getmetafield(L, idx, "__name") == LUA_TSTRING)
        return lua_tolstring(L, -1, length);
    lua_pushstring(L, luaL_typename(L, idx));
    return lua_tolstring(L, -1, length);
}

static int safe_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    sandbox_text(L, 1, NULL);
    return 1;
}

int sandbox_print(lua_State *L)
{
    const struct hd_script_options *o = script_of(L)->o;
    const int count = lua_gettop(L);
    luaL_Buffer line;

    for (int i = 1; i <= count; i++) {
        sandbox_text(L, i, NULL);
        lua_replace(L, i);
        lua_settop(L, count);
    }
    luaL_buffinit(L, &line);
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        lua_pushvalue(L, i);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    if (o->print)
        o->print(o->user, lua_tostring(L, -1));
    return 0;
}

/* ---- replaced functions of the base library ------------------------------------------------ */

/*
 * A wrapper has Lua's function as its first upvalue and ends by calling it in its own frame, so that
 * messages name the function and the line that the script wrote.
 */
static int call_original(lua_State *L)
{
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* A finalizer runs with the hook off, and what a weak table holds depends on when garbage is collected. */
static int checked_setmetatable(lua_State *L)
{
    static const char *const refused[] = {"__gc", "__mode"};

    if (lua_istable(L, 2)) {
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
            lua_pushstring(L, refused[i]);
            if (lua_rawget(L, 2) != LUA_TNIL)
                return script_error(L, "lua-sandbox", "use <close> variables",
                                    "a metatable with %s is not allowed", refused[i]);
            lua_pop(L, 1);
        }
    }
    return call_original(L);
}

/* Text only: crafted bytecode can crash the Lua machine. */
static int text_load(lua_State *L)
{
    const char *mode = luaL_optstring(L, 3, "t");

    if (strcmp(mode, "t") != 0)
        return luaL_argerror(L, 3, "only text can be loaded: mode \"t\"");
    if (lua_gettop(L) < 3)
        lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    return call_original(L);
}

/* ---- replaced functions of string, table and math -------------------------------------------- */

/* Lua's loop runs n times even when nothing is to be copied. */
static int bounded_rep(lua_State *L)
{
    size_t length, separator;

    luaL_checklstring(L, 1, &length);
    luaL_optlstring(L, 3, "", &separator);
    if (length == 0 && separator == 0) {
        luaL_checkinteger(L, 2);
        lua_pushliteral(L, "");
        return 1;
    }
    return call_original(L);
}

/* %s would show the address of a table, %p that of anything. */
static int safe_format(lua_State *L)
{
    const int count = lua_gettop(L);
    size_t length;
    const char *at = luaL_checklstring(L, 1, &length), *const end = at + length;

    while (at < end && (at = memchr(at, '%', (size_t)(end - at)))) {
        at += 1 + strspn(at + 1, "-+ #0123456789.");
        if (*at == 'p')
            return luaL_argerror(L, 1, "%p would show an address");
        at++;
    }
    for (int i = 2; i <= count; i++) {
        if (lua_type(L, i) < LUA_TTABLE && !lua_islightuserdata(L, i))
            continue;
        sandbox_text(L, i, NULL);
        lua_replace(L, i);
        lua_settop(L, count);
    }
    return call_original(L);
}

/* Functions whose loop in C is as long as an argument says, or as the script's own __len does. */
static void charge_range(lua_State *L, lua_Integer first, lua_Integer last)
{
    if (last >= first)
        limits_charge(L, (uint64_t)last - (uint64_t)first);
}

static int charged_insert(lua_State *L)
{
    if (lua_gettop(L) == 3)
        charge_range(L, luaL_checkinteger(L, 2), luaL_len(L, 1));
    return call_original(L);
}

static int charged_remove(lua_State *L)
{
    if (lua_gettop(L) == 2)
        charge_range(L, luaL_checkinteger(L, 2), luaL_len(L, 1));
    return call_original(L);
}

/* The range [first, last] of the arguments at idx, by default the whole table. */
static void charge_optional_range(lua_State *L, int idx)
{
    const lua_Integer first = luaL_optinteger(L, idx, 1);

    charge_range(L, first,
                 lua_isnoneornil(L, idx + 1) ? luaL_len(L, 1) : luaL_checkinteger(L, idx + 1));
}

static int charged_concat(lua_State *L)
{
    charge_optional_range(L, 3);
    return call_original(L);
}

static int charged_unpack(lua_State *L)
{
    charge_optional_range(L, 2);
    return call_original(L);
}

static int charged_move(lua_State *L)
{
    charge_range(L, luaL_checkinteger(L, 2), luaL_checkinteger(L, 3));
    return call_original(L);
}

static int charged_sort(lua_State *L)
{
    const lua_Integer n = luaL_len(L, 1);
    uint64_t rounds = 0;

    while (rounds < 62 && (n >> rounds) > 0)
        rounds++;
    if (n > 0 && n < INT32_MAX)
        limits_charge(L, (uint64_t)n * rounds);
    return call_original(L);
}

static int math_exp(lua_State *L)
{
    lua_pushnumber(L, hd_exp(luaL_checknumber(L, 1)));
    return 1;
}

static int math_log(lua_State *L)
{
    const lua_Number x = luaL_checknumber(L, 1);
    const lua_Number base = luaL_optnumber(L, 2, 0);

    if (lua_isnoneornil(L, 2))
        lua_pushnumber(L, hd_log(x));
    else if (base == 2)
        lua_pushnumber(L, hd_log2(x)); /* exact for powers of two, as Lua's own */
    else
        lua_pushnumber(L, hd_log(x) / hd_log(base));
    return 1;
}

static int math_pow(lua_State *L)
{
    lua_pushnumber(L, hd_pow(luaL_checknumber(L, 1), luaL_checknumber(L, 2)));
    return 1;
}

static int math_sin(lua_State *L)
{
    lua_pushnumber(L, hd_sin(luaL_checknumber(L, 1)));
    return 1;
}

static int math_cos(lua_State *L)
{
    lua_pushnumber(L, hd_cos(luaL_checknumber(L, 1)));
    return 1;
}

/* Without a seed Lua takes one from the clock and an address. */
static int given_seed(lua_State *L)
{
    const lua_Integer high = luaL_checkinteger(L, 1), low = luaL_optinteger(L, 2, 0);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushinteger(L, high);
    lua_pushinteger(L, low);
    lua_call(L, 2, 0);
    return 0;
}

/* ---- what is open ------------------------------------------------------------------------- */

/* A function of Lua's: allowed as it is, or behind a wrapper. */
struct allowed {
    const char *name;
    lua_CFunction wrapper; /* NULL: as it is */
};

static const struct allowed base_list[] = {
    {"assert", NULL},   {"error", NULL},     {"getmetatable", NULL},
    {"ipairs", NULL},   {"load", text_load}, {"pcall", NULL},
    {"rawequal", NULL}, {"rawget", NULL},    {"rawlen", NULL},
    {"rawset", NULL},   {"select", NULL},    {"setmetatable", checked_setmetatable},
    {"tonumber", NULL}, {"type", NULL},      {"xpcall", unwind_xpcall},
    {"_VERSION", NULL}, {NULL, NULL},
};

static const struct allowed coroutine_list[] = {
    {"close", unwind_close},   {"create", NULL},  {"isyieldable", NULL},
    {"resume", unwind_resume}, {"running", NULL}, {"status", NULL},
    {"wrap", unwind_wrap},     {"yield", NULL},   {NULL, NULL},
};

static const struct allowed string_list[] = {
    {"byte", NULL},    {"char", NULL}, {"find", NULL},     {"format", safe_format},
    {"gmatch", NULL},  {"gsub", NULL}, {"len", NULL},      {"lower", NULL},
    {"match", NULL},   {"pack", NULL}, {"packsize", NULL}, {"rep", bounded_rep},
    {"reverse", NULL}, {"sub", NULL},  {"unpack", NULL},   {"upper", NULL},
    {NULL, NULL},
};

static const struct allowed table_list[] = {
    {"concat", charged_concat}, {"insert", charged_insert},
    {"move", charged_move},     {"pack", NULL},
    {"remove", charged_remove}, {"sort", charged_sort},
    {"unpack", charged_unpack}, {NULL, NULL},
};

static const struct allowed math_list[] = {
    {"abs", NULL},
    {"ceil", NULL},
    {"floor", NULL},
    {"fmod", NULL},
    {"huge", NULL},
    {"max", NULL},
    {"maxinteger", NULL},
    {"min", NULL},
    {"mininteger", NULL},
    {"modf", NULL},
    {"pi", NULL},
    {"random", NULL},
    {"randomseed", given_seed},
    {"sqrt", NULL},
    {"tointeger", NULL},
    {"type", NULL},
    {"ult", NULL},
    {NULL, NULL},
};

static const struct allowed utf8_list[] = {
    {"char", NULL}, {"charpattern", NULL}, {"codepoint", NULL}, {"codes", NULL},
    {"len", NULL},  {"offset", NULL},      {NULL, NULL},
};

static const struct library {
    const char *name;
    lua_CFunction open;
    const struct allowed *list;
} libraries[] = {
    {LUA_GNAME, luaopen_base, base_list},
    {LUA_COLIBNAME, luaopen_coroutine, coroutine_list},
    {LUA_STRLIBNAME, luaopen_string, string_list},
    {LUA_TABLIBNAME, luaopen_table, table_list},
    {LUA_MATHLIBNAME, luaopen_math, math_list},
    {LUA_UTF8LIBNAME, luaopen_utf8, utf8_list},
};

const struct api_row global_api[] = {
    {"print", sandbox_print, "(...)", "Writes a line to the log, with no addresses"},
    {"tostring", safe_tostring, "(value)", "As in Lua, but with no addresses"},
    {"pairs", sorted_pairs, "(table)",
     "Numbers, strings, false, true, then handles as they were made; other keys are errors"},
    {"next", sorted_next, "(table [, key])",
     "The key after this one in the order of pairs; looks at every key"},
    {"require", script_require, "(name)",
     "heddle, or NAME.lua beside the program or in the shared folder; a.b is a/b.lua"},
    {NULL, NULL, NULL, NULL},
};

static const struct api_row math_api[] = {
    {"cos", math_cos, "(x)", ""},          {"exp", math_exp, "(x)", ""},
    {"log", math_log, "(x [, base])", ""}, {"pow", math_pow, "(x, y)", ""},
    {"sin", math_sin, "(x)", ""},          {NULL, NULL, NULL, NULL},
};

/* ---- opening ------------------------------------------------------------------------------ */

/* From the library on top of the stack, pushes a new table with what is allowed. */
static void push_allowed(lua_State *L, const struct allowed *list)
{
    lua_newtable(L);
    for (; list->name; list++) {
        lua_getfield(L, -2, list->name);
        if (list->wrapper)
            lua_pushcclosure(L, list->wrapper, 1);
        lua_setfield(L, -2, list->name);
    }
}

/* Leaves the allowed part of a library on the stack; tracebacks find its names in the registry. */
static void open_library(lua_State *L, const struct library *lib)
{
    luaL_requiref(L, lib->name, lib->open, 0);
    push_allowed(L, lib->list);
    lua_remove(L, -2);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, lib->name);
    lua_pop(L, 1);
}

static int undefined_global(lua_State *L)
{
    return handle_unknown(L, 1, "there is no global", sandbox_text(L, 2, NULL));
}

static int new_global(lua_State *L)
{
    const char *name = sandbox_text(L, 2, NULL);

    lua_pushfstring(L, "write: local %s = ...", name);
    return script_error(L, "lua-global", lua_tostring(L, -1),
                        "assignment to the global '%s', which is not declared local", name);
}

void sandbox_front(lua_State *L, lua_CFunction on_unknown, lua_CFunction on_new)
{
    const int behind = lua_gettop(L);

    lua_newtable(L);
    lua_pushcfunction(L, on_unknown);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, behind);

    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, behind);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, on_new);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_replace(L, behind);
}

/* Methods of strings reach the allowed functions only. Expects the globals on top of the stack. */
static void protect_strings(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_getfield(L, -3, LUA_STRLIBNAME);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
}

static void seed_random(lua_State *L)
{
    lua_getfield(L, -1, LUA_MATHLIBNAME);
    api_add(L, math_api);
    lua_getfield(L, -1, "randomseed");
    lua_pushinteger(L, (lua_Integer)script_of(L)->o->seed);
    lua_call(L, 1, 0);
    lua_pop(L, 1);
}

void sandbox_open(lua_State *L)
{
    open_library(L, &libraries[0]);
    api_add(L, global_api);
    for (size_t i = 1; i < sizeof libraries / sizeof libraries[0]; i++) {
        open_library(L, &libraries[i]);
        lua_setfield(L, -2, libraries[i].name);
    }
    protect_strings(L);
    seed_random(L);
    if (script_of(L)->o->allow_io) {
        luaL_requiref(L, LUA_IOLIBNAME, luaopen_io, 0);
        lua_setfield(L, -2, LUA_IOLIBNAME);
        luaL_requiref(L, LUA_OSLIBNAME, luaopen_os, 0);
        lua_setfield(L, -2, LUA_OSLIBNAME);
    }
    lua_pushvalue(L, -1);
    sandbox_front(L, undefined_global, new_global);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, LUA_GNAME);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pop(L, 1);
}
