/* gpu.check and gpu.check_true: what makes a run pass or fail. */
#include "host/lua/internal.h"

#include <math.h>
#include <string.h>

static void record(lua_State *L, const char *name, double got, double expected, double tolerance)
{
    struct hd_error err;

    if (hd_check_value(script_of(L)->rt, name, got, expected, tolerance, &err) != HD_OK)
        script_raise(L, &err);
}

static const char *check_name(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);

    luaL_argcheck(L, *name && strlen(name) < sizeof((struct hd_check *)0)->name, 1,
                  "the name of a check has 1 to 63 bytes");
    return name;
}

static double check_number(lua_State *L, int idx)
{
    luaL_checktype(L, idx, LUA_TNUMBER);
    return lua_tonumber(L, idx);
}

static int gpu_check(lua_State *L)
{
    const char *name = check_name(L);
    const double got = check_number(L, 2), expected = check_number(L, 3);
    const double tolerance = lua_isnoneornil(L, 4) ? 0 : check_number(L, 4);

    luaL_argcheck(L, tolerance >= 0 && isfinite(tolerance), 4,
                  "a tolerance is a finite number from 0 on");
    record(L, name, got, expected, tolerance);
    return 0;
}

static int gpu_check_true(lua_State *L)
{
    const char *name = check_name(L);

    luaL_checktype(L, 2, LUA_TBOOLEAN);
    record(L, name, lua_toboolean(L, 2), 1, 0);
    return 0;
}

const struct api_row check_api[] = {
    {"check", gpu_check, "(name, got, expected [, tolerance])",
     "Records a check: passes if got = expected, or expected is finite and |got - expected| <= "
     "tolerance * max(1, |expected|); NaN never passes"},
    {"check_true", gpu_check_true, "(name, boolean)", "Records a check that passes if it is true"},
    {NULL, NULL, NULL, NULL},
};
