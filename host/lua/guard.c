#include "host/lua/internal.h"

#include <string.h>

#define TYPE_GUARD "heddle.guard"

struct guard {
    void (*close)(lua_State *L, void *data);
    bool memory;     /* close may run as late as when it is collected */
    uint64_t data[]; /* Lua aligns userdata to 8 bytes */
};

static void close_once(lua_State *L, struct guard *g)
{
    void (*close)(lua_State * L, void *data) = g->close;

    g->close = NULL;
    if (close)
        close(L, g->data);
}

static int close_guard(lua_State *L)
{
    close_once(L, luaL_checkudata(L, 1, TYPE_GUARD));
    return 0;
}

/* After a limit nothing is closed, for the hook interrupts it; what is collected has no hooks. */
static int collect_guard(lua_State *L)
{
    struct guard *g = luaL_checkudata(L, 1, TYPE_GUARD);

    if (g->memory)
        close_once(L, g);
    return 0;
}

static void *push(lua_State *L, void (*close)(lua_State *L, void *data), size_t size, bool memory)
{
    struct guard *g = lua_newuserdatauv(L, sizeof *g + size, 0);

    g->close = close;
    g->memory = memory;
    memset(g->data, 0, size);
    if (luaL_newmetatable(L, TYPE_GUARD)) {
        lua_pushcfunction(L, close_guard);
        lua_setfield(L, -2, "__close");
        lua_pushcfunction(L, collect_guard);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    lua_toclose(L, -1);
    return g->data;
}

void *guard_push(lua_State *L, void (*close)(lua_State *L, void *data), size_t size)
{
    return push(L, close, size, false);
}

void *guard_push_memory(lua_State *L, void (*release)(lua_State *L, void *data), size_t size)
{
    return push(L, release, size, true);
}
