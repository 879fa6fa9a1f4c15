/* Userdata that stand for what the runtime owns. They own nothing, so a collection never acts on the simulation. */
#include "host/lua/internal.h"

#include <string.h>

#define MARK "__handle" /* in the metatables of handles */

void *handle_new(lua_State *L, const char *type, size_t size, int user_values)
{
    struct handle *h = lua_newuserdatauv(L, size, user_values);

    memset(h, 0, size);
    h->serial = script_of(L)->serial++;
    luaL_setmetatable(L, type);
    return h;
}

bool handle_serial(lua_State *L, int idx, uint64_t *serial)
{
    const struct handle *h = lua_touserdata(L, idx);
    bool ours;

    if (!h || !lua_getmetatable(L, idx))
        return false;
    lua_pushliteral(L, MARK);
    ours = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    if (ours)
        *serial = h->serial;
    return ours;
}

enum { MAX_NAMES = 128 }; /* of a table in which a suggestion is looked for */

int handle_unknown(lua_State *L, int idx, const char *what, const char *name)
{
    const char *names[MAX_NAMES];
    const char *nearest;
    size_t count = 0;

    idx = lua_absindex(L, idx);
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        if (lua_type(L, -2) == LUA_TSTRING && count < MAX_NAMES)
            names[count++] = lua_tostring(L, -2);
        lua_pop(L, 1);
    }
    nearest = name_nearest(name, names, count);
    if (nearest)
        nearest = lua_pushfstring(L, "did you mean %s?", nearest);
    return script_error(L, "lua-unknown-name", nearest, "%s '%s'%s%s", what, name,
                        nearest ? "; " : "", nearest ? nearest : "");
}

int handle_method(lua_State *L)
{
    const char *name = luaL_checkstring(L, 2);
    const char *type;

    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    luaL_getmetafield(L, 1, "__name");
    type = lua_pushfstring(L, "%s has no method", lua_tostring(L, -1) + strlen("heddle."));
    return handle_unknown(L, lua_upvalueindex(1), type, name);
}

static int type_text(lua_State *L)
{
    luaL_getmetafield(L, 1, "__name");
    lua_pushstring(L, lua_tostring(L, -1) + strlen("heddle."));
    return 1;
}

static const luaL_Reg defaults[] = {
    {"__index", handle_method},
    {"__tostring", type_text},
    {NULL, NULL},
};

void handle_type(lua_State *L, const char *type, const struct api_row *const *methods,
                 const luaL_Reg *extra)
{
    luaL_newmetatable(L, type);
    lua_newtable(L);
    for (; *methods; methods++)
        api_add(L, *methods);
    lua_pushvalue(L, -1);
    lua_insert(L, -3); /* methods, metatable, methods */
    luaL_setfuncs(L, defaults, 1);
    lua_insert(L, -2); /* metatable, methods */
    luaL_setfuncs(L, extra, 1);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pushboolean(L, true);
    lua_setfield(L, -2, MARK);
    lua_pop(L, 1);
}
