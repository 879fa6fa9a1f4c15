/*
 * What runs while an error of the hook leaves a thread. Lua keeps hooks off from the raise until a pcall of that thread
 * catches the error: a message handler, and the __close of a coroutine that the hook ended, would run
 * unseen and could loop for ever. So once a limit is spent no such code is called.
 */
#include "host/lua/internal.h"

/* ---- xpcall ----------------------------------------------------------------------------- */

/* The script's handler is the upvalue. */
static int handle_unless_spent(lua_State *L)
{
    if (script_of(L)->limits.spent)
        return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

int unwind_xpcall(lua_State *L)
{
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, handle_unless_spent, 1);
    lua_replace(L, 2);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* ---- coroutines --------------------------------------------------------------------------- */

int unwind_close(lua_State *L)
{
    if (script_of(L)->limits.spent)
        return limits_end_run(L, &script_of(L)->why);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/*
 * As Lua's, but a coroutine that ends with an error is closed at once: a region, a capture or a library call in it
 * would stay open otherwise until the script closes the coroutine, which few do.
 */
int unwind_resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    if (!co || lua_status(co) <= LUA_YIELD || script_of(L)->limits.spent)
        return lua_gettop(L);
    lua_xmove(L, co, 1);
    lua_resetthread(co);
    lua_xmove(co, L, 1);
    return lua_gettop(L);
}

/* Moves the error out of a coroutine, whose <close> variables are closed as in Lua's own wrap. */
static int raise_out_of(lua_State *L, lua_State *co)
{
    if (!script_of(L)->limits.spent)
        lua_resetthread(co);
    lua_xmove(co, L, 1);
    return lua_error(L);
}

/* The coroutine is the upvalue. */
static int resume_wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    const int given = lua_gettop(L);
    int results, status;

    if (lua_status(co) == LUA_OK && lua_gettop(co) == 0)
        return luaL_error(L, "cannot resume dead coroutine");
    if (!lua_checkstack(co, given))
        return luaL_error(L, "too many arguments to resume");
    lua_xmove(L, co, given);
    status = lua_resume(co, L, given, &results);
    if (status != LUA_OK && status != LUA_YIELD)
        return raise_out_of(L, co);
    if (!lua_checkstack(L, results))
        return luaL_error(L, "too many results to resume");
    lua_xmove(co, L, results);
    return results;
}

int unwind_wrap(lua_State *L)
{
    lua_State *co;

    luaL_checktype(L, 1, LUA_TFUNCTION);
    co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, resume_wrapped, 1);
    return 1;
}
