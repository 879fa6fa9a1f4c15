/* The host's clock, the configuration and the log. */
#include "host/lua/internal.h"

#include "sim/time.h"

#include <math.h>

static int gpu_time_ns(lua_State *L)
{
    lua_pushnumber(L, (double)hd_host_time(script_of(L)->rt) / (double)PS_PER_NS);
    return 1;
}

static int gpu_host_work_ns(lua_State *L)
{
    const double ns = luaL_checknumber(L, 1);
    struct hd_error err;

    /* 10^15 ns are eleven days: far past any run, and exact in ps. */
    luaL_argcheck(L, ns >= 0 && ns <= 1e15, 1, "host work takes 0 to 1e15 ns");
    if (hd_host_work(script_of(L)->rt, (uint64_t)llround(ns * (double)PS_PER_NS), &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static void push_param(lua_State *L, const struct param *row, const void *object)
{
    const void *field = (const char *)object + row->offset;

    switch (row->kind) {
    case PARAM_KIND_U32:
        lua_pushinteger(L, *(const uint32_t *)field);
        break;
    case PARAM_KIND_U64:
        lua_pushinteger(L, (lua_Integer) * (const uint64_t *)field);
        break;
    case PARAM_KIND_BOOL:
        lua_pushboolean(L, *(const bool *)field);
        break;
    case PARAM_KIND_CHOICE:
        lua_pushstring(L, row->choices[*(const uint32_t *)field].name);
        break;
    default:
        lua_pushstring(L, field);
    }
}

static int gpu_config(lua_State *L)
{
    const char *key = luaL_checkstring(L, 1);
    const struct hd_options *o = hd_runtime_options(script_of(L)->rt);
    const struct param *row = param_find(&sim_params, key);
    const char *nearest;

    if (row) {
        push_param(L, row, &o->gpu);
        return 1;
    }
    row = param_find(&rt_params, key);
    if (row) {
        push_param(L, row, &o->host);
        return 1;
    }
    nearest = param_nearest(&sim_params, key);
    if (!nearest)
        nearest = param_nearest(&rt_params, key);
    return script_error(L, "lua-config-key", "heddle config list shows the keys",
                        "there is no configuration key '%s'%s%s%s", key,
                        nearest ? "; did you mean " : "", nearest ? nearest : "",
                        nearest ? "?" : "");
}

static int gpu_print(lua_State *L)
{
    return sandbox_print(L);
}

const struct api_row host_api[] = {
    {"config", gpu_config, "(key)",
     "The resolved value of a configuration key, such as \"wavefront_size\""},
    {"host_work_ns", gpu_host_work_ns, "(ns)", "Lets the host work for that long"},
    {"time_ns", gpu_time_ns, "()", "The host's clock in nanoseconds, with fractions"},
    {"print", gpu_print, "(...)", "The same as print"},
    {NULL, NULL, NULL, NULL},
};
