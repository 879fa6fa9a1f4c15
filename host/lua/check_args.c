#include "host/lua/internal.h"

#include <string.h>

void options_check(lua_State *L, int idx, const char *const *known)
{
    size_t count = 0;

    luaL_checktype(L, idx, LUA_TTABLE);
    while (known[count])
        count++;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        const char *key =
            lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);
        const char *nearest;
        bool found = false;

        for (size_t i = 0; i < count; i++)
            found = found || strcmp(known[i], key) == 0;
        lua_pop(L, 1);
        if (found)
            continue;
        nearest = name_nearest(key, known, count);
        luaL_argerror(L, idx,
                      nearest
                          ? lua_pushfstring(L, "no option '%s'; did you mean '%s'?", key, nearest)
                          : lua_pushfstring(L, "no option '%s'", key));
    }
}

/* A value of a table of options, at an index from the top, is no argument with a number. */
static int bad_count(lua_State *L, int idx, const char *text)
{
    return idx > 0 ? luaL_argerror(L, idx, text) : script_error(L, "lua-option", NULL, "%s", text);
}

uint64_t check_count(lua_State *L, int idx, lua_Integer min, const char *what)
{
    int whole;
    const lua_Integer n = lua_tointegerx(L, idx, &whole);

    if (lua_type(L, idx) != LUA_TNUMBER && idx > 0)
        luaL_typeerror(L, idx, "number");
    if (lua_type(L, idx) != LUA_TNUMBER)
        script_error(L, "lua-option", NULL, "%s must be a number, got %s", what,
                     luaL_typename(L, idx));
    if (!whole)
        bad_count(
            L, idx,
            lua_pushfstring(L, "%s must be a whole number, got %f", what, lua_tonumber(L, idx)));
    if (n < min)
        bad_count(L, idx,
                  lua_pushfstring(L, "%s must be at least %I, got %I", what, (LUAI_UACINT)min,
                                  (LUAI_UACINT)n));
    return (uint64_t)n;
}
