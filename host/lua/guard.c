#include "host/lua/internal.h"

#include <string.h>

#define TYPE_GUARD "heddle.guard"

struct guard {
    void (*close)(lua_State *L, void *data);
    uint64_t data[]; /* Lua aligns userdata to 8 bytes */
};

static int close_guard(lua_State *L)
{
    struct guard *g = luaL_checkudata(L, 1, TYPE_GUARD);

    g->close(L, g->data);
    return 0;
}

void *guard_push(lua_State *L, void (*close)(lua_State *L, void *data), size_t size)
{
    struct guard *g = lua_newuserdatauv(L, sizeof *g + size, 0);

    g->close = close;
    memset(g->data, 0, size);
    if (luaL_newmetatable(L, TYPE_GUARD)) {
        lua_pushcfunction(L, close_guard);
        lua_setfield(L, -2, "__close");
    }
    lua_setmetatable(L, -2);
    lua_toclose(L, -1);
    return g->data;
}
