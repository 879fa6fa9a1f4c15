/*
 * gpu.region: the unit of measurement. Each iteration is an untimed reset and the timed function; warm-up
 * iterations come first, in values only. A guard ends what is open when an error leaves the function.
 */
#include "host/lua/internal.h"

#include <string.h>

enum { REGION_NAME_MAX = 63 };

typedef enum hd_status (*region_end)(hd_runtime *rt, struct hd_error *err);

/* What an error leaves open. */
struct open_region {
    region_end end; /* of the part that runs; NULL between parts */
};

static void close_region(lua_State *L, void *data)
{
    struct open_region *open = data;
    struct script *s = script_of(L);

    if (open->end)
        open->end(s->rt, NULL);
    s->in_region = false;
}

static void check(lua_State *L, enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        script_raise(L, err);
}

/* Calls the function at idx between begin, which was done, and end. */
static void run_part(lua_State *L, struct open_region *open, int idx, region_end end)
{
    struct hd_error err;

    open->end = end;
    lua_pushvalue(L, idx);
    lua_call(L, 0, 0);
    open->end = NULL;
    check(L, end(script_of(L)->rt, &err), &err);
}

struct plan {
    const char *name;
    int reset, function; /* on the stack; reset 0: none */
    uint64_t warmup, iterations, first;
};

static void run_iteration(lua_State *L, struct open_region *open, const struct plan *p,
                          uint64_t iteration, bool warmup)
{
    struct script *s = script_of(L);
    struct hd_error err;

    if (p->reset) {
        check(L, hd_reset_begin(s->rt, &err), &err);
        run_part(L, open, p->reset, hd_reset_end);
    }
    check(L, hd_region_begin(s->rt, p->name, (uint32_t)iteration, warmup, &err), &err);
    run_part(L, open, p->function, hd_region_end);
}

static uint64_t count_option(lua_State *L, int idx, const char *key, uint32_t given)
{
    uint64_t n = 1;

    if (idx && lua_getfield(L, idx, key) != LUA_TNIL)
        n = check_count(L, -1, key[0] == 'i', key);
    if (idx)
        lua_pop(L, 1);
    if (n > INT32_MAX)
        luaL_argerror(L, idx, "that many iterations would never end");
    return given == HD_SCRIPT_UNSET ? n : given;
}

/* Iterations of a name go on where the last region of that name ended, so that each is one row of the result. */
static uint64_t take_iterations(lua_State *L, uint64_t count)
{
    uint64_t first;

    lua_getfield(L, LUA_REGISTRYINDEX, KEY_REGIONS);
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    first = (uint64_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, (lua_Integer)(first + count));
    lua_rawset(L, -3);
    lua_pop(L, 1);
    if (first + count > UINT32_MAX)
        script_error(L, "lua-region", NULL, "the region has too many iterations");
    return first;
}

static void check_plan(lua_State *L, struct plan *p)
{
    static const char *const options[] = {"reset", "iterations", "warmup", NULL};
    const struct hd_script_options *o = script_of(L)->o;
    const int table = lua_gettop(L) > 2 && !lua_isnil(L, 2) ? 2 : 0;

    p->name = luaL_checkstring(L, 1);
    luaL_argcheck(L, *p->name && strlen(p->name) <= REGION_NAME_MAX, 1,
                  "the name of a region has 1 to 63 bytes");
    p->function = lua_gettop(L) > 2 ? 3 : 2;
    luaL_checktype(L, p->function, LUA_TFUNCTION);
    lua_settop(L, 3);
    if (table)
        options_check(L, table, options);
    p->iterations = count_option(L, table, "iterations", o->iterations);
    p->warmup = count_option(L, table, "warmup", o->warmup);
    if (table && lua_getfield(L, table, "reset") != LUA_TNIL) {
        luaL_argcheck(L, lua_isfunction(L, -1), table, "reset must be a function");
        p->reset = lua_gettop(L);
    }
}

static int gpu_region(lua_State *L)
{
    struct script *s = script_of(L);
    struct plan p = {0};
    struct open_region *open;

    check_plan(L, &p);
    if (s->in_region)
        return script_error(L, "lua-region-nested", NULL, "region %s is inside another region",
                            p.name);
    p.first = take_iterations(L, p.iterations);
    open = guard_push(L, close_region, sizeof *open);
    s->in_region = true;
    for (uint64_t i = 0; i < p.warmup; i++)
        run_iteration(L, open, &p, i, true);
    for (uint64_t i = 0; i < p.iterations; i++)
        run_iteration(L, open, &p, p.first + i, false);
    return 0;
}

const struct api_row region_api[] = {
    {"region", gpu_region, "(name [, {reset=, iterations=, warmup=}], function)",
     "Measures the function: warmup times in values only (default 1), then iterations times "
     "(default 1), reset() untimed before each; --iterations and --warmup win"},
    {NULL, NULL, NULL, NULL},
};
