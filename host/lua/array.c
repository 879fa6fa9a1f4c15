/* Making, reading, writing and freeing arrays. */
#include "host/lua/array.h"

#include <inttypes.h>
#include <math.h>

enum { ELEMENTS_PER_INSTRUCTION = 64 }; /* so that a loop of bulk operations ends too */

/* ---- checks ----------------------------------------------------------------------------- */

const char *array_push_text(lua_State *L, const struct lua_array *a)
{
    const char *name = a->a ? hd_array_name(a->a) : NULL;

    lua_pushfstring(L, "%s%s[%I]%s%s", a->device ? "device " : "", a->type->name,
                    (LUAI_UACINT)a->count, name && *name ? " " : "", name ? name : "");
    return lua_tostring(L, -1);
}

struct lua_array *array_check(lua_State *L, int idx)
{
    struct lua_array *a = luaL_checkudata(L, idx, TYPE_ARRAY);

    if (!a->a)
        script_error(L, "lua-array-freed", FREED_HINT, "the array %s was freed",
                     array_push_text(L, a));
    return a;
}

struct lua_array *array_check_managed(lua_State *L, int idx)
{
    struct lua_array *a = array_check(L, idx);

    if (a->device)
        script_error(L, "lua-array-device", "copy it with gpu.copy first",
                     "the host cannot reach the array %s", array_push_text(L, a));
    return a;
}

void *array_access(lua_State *L, const struct lua_array *a, uint64_t first, uint64_t count,
                   enum hd_access how)
{
    struct hd_error err;
    void *data;

    limits_charge(L, count / ELEMENTS_PER_INSTRUCTION);
    if (hd_array_access(script_of(L)->rt, a->a, first, count, how, &data, &err) != HD_OK)
        script_raise(L, &err);
    return data;
}

/* ---- elements --------------------------------------------------------------------------- */

void array_push_element(lua_State *L, const struct element_type *t, union element value)
{
    if (t->is_float)
        lua_pushnumber(L, value.f);
    else
        lua_pushinteger(L, value.i);
}

static int bad_element(lua_State *L, int idx, const struct element_type *t)
{
    const char *text;

    if (lua_type(L, idx) != LUA_TNUMBER)
        return script_error(L, "lua-element", NULL, "an element of type %s cannot be a %s value",
                            t->name, lua_isnone(L, idx) ? "nil" : luaL_typename(L, idx));
    text = luaL_tolstring(L, idx, NULL);
    if (!lua_isinteger(L, idx) && floor(lua_tonumber(L, idx)) != lua_tonumber(L, idx))
        return script_error(L, "lua-element", "use math.floor, or //",
                            "%s is not a whole number, as the type %s needs", text, t->name);
    return script_error(L, "lua-element", "integers never wrap around",
                        "%s does not fit the type %s: %" PRId64 " to %" PRId64, text, t->name,
                        t->min, t->max);
}

union element array_check_element(lua_State *L, int idx, const struct element_type *t)
{
    union element value = {0};
    int fits = lua_type(L, idx) == LUA_TNUMBER;

    if (fits && t->is_float) {
        value.f = lua_tonumber(L, idx);
    } else if (fits) {
        value.i = lua_tointegerx(L, idx, &fits);
        fits = fits && value.i >= t->min && value.i <= t->max;
    }
    if (!fits)
        bad_element(L, idx, t);
    return value;
}

static uint64_t check_index(lua_State *L, const struct lua_array *a)
{
    int whole = 0;
    const lua_Integer i = lua_type(L, 2) == LUA_TNUMBER ? lua_tointegerx(L, 2, &whole) : 0;

    if (!whole)
        script_error(
            L, "lua-array-index", NULL, "an index of the array %s must be a whole number, got %s",
            array_push_text(L, a),
            lua_type(L, 2) == LUA_TNUMBER ? luaL_tolstring(L, 2, NULL) : luaL_typename(L, 2));
    if (i < 0 || (uint64_t)i >= a->count)
        script_error(L, "lua-array-index", "the first element has index 0",
                     "index %" PRId64 " is outside the array %s", (int64_t)i, array_push_text(L, a));
    return (uint64_t)i;
}

static int read_element(lua_State *L)
{
    const struct lua_array *a;
    uint64_t i;

    if (lua_type(L, 2) == LUA_TSTRING)
        return handle_method(L);
    a = array_check_managed(L, 1);
    i = check_index(L, a);
    array_push_element(L, a->type, a->type->load(array_access(L, a, i, 1, HD_READ)));
    return 1;
}

static int write_element(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const uint64_t i = check_index(L, a);
    const union element value = array_check_element(L, 3, a->type);

    a->type->store(array_access(L, a, i, 1, HD_OVERWRITE), value);
    return 0;
}

static int count_elements(lua_State *L)
{
    const struct lua_array *a = luaL_checkudata(L, 1, TYPE_ARRAY);

    lua_pushinteger(L, (lua_Integer)a->count);
    return 1;
}

static int describe(lua_State *L)
{
    const struct lua_array *a = luaL_checkudata(L, 1, TYPE_ARRAY);

    if (!a->a)
        lua_pushliteral(L, "freed ");
    array_push_text(L, a);
    lua_concat(L, a->a ? 1 : 2);
    return 1;
}

/* ---- making and freeing ------------------------------------------------------------------- */

typedef enum hd_status (*array_maker)(hd_runtime *, enum isa_type, uint64_t, const char *,
                                      hd_array **, struct hd_error *);

static int bad_type(lua_State *L)
{
    luaL_Buffer b;

    luaL_buffinit(L, &b);
    luaL_addstring(&b, "no element type of that name; there are");
    for (size_t i = 0; i < ELEMENT_TYPES; i++) {
        luaL_addchar(&b, ' ');
        luaL_addstring(&b, element_types[i].name);
    }
    luaL_pushresult(&b);
    return luaL_argerror(L, 1, lua_tostring(L, -1));
}

static int make_array(lua_State *L, array_maker make, bool device)
{
    const struct element_type *type = element_type_named(luaL_checkstring(L, 1));
    const uint64_t count = check_count(L, 2, 1, "the number of elements");
    const char *name = luaL_optstring(L, 3, NULL);
    struct lua_array *a;
    struct hd_error err;

    if (!type)
        return bad_type(L);
    limits_hold(L, RECORD_BYTES + (name ? strlen(name) : 0));
    a = handle_new(L, TYPE_ARRAY, sizeof *a, 0);
    a->type = type;
    a->count = count;
    a->device = device;
    if (make(script_of(L)->rt, type->type, count, name, &a->a, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

static int gpu_array(lua_State *L)
{
    return make_array(L, hd_array_new, false);
}

static int gpu_device_array(lua_State *L)
{
    return make_array(L, hd_array_new_device, true);
}

static int free_array(lua_State *L)
{
    struct lua_array *a = array_check(L, 1);
    hd_array *owned = a->a;
    struct hd_error err;

    if (hd_array_free(script_of(L)->rt, owned, &err) != HD_OK)
        return script_raise(L, &err);
    a->a = NULL;
    return 0;
}

static int close_array(lua_State *L)
{
    const struct lua_array *a = luaL_checkudata(L, 1, TYPE_ARRAY);

    return a->a ? free_array(L) : 0;
}

static int advise(lua_State *L)
{
    static const char *const advice[] = {
        [SIM_ADVISE_NONE] = "none", [SIM_ADVISE_READ_MOSTLY] = "read-mostly", NULL};
    const struct lua_array *a = array_check_managed(L, 1);
    const enum sim_advice given = (enum sim_advice)luaL_checkoption(L, 2, NULL, advice);
    struct hd_error err;

    if (hd_array_advise(script_of(L)->rt, a->a, given, &err) != HD_OK)
        return script_raise(L, &err);
    lua_settop(L, 1);
    return 1;
}

const struct api_row array_new_api[] = {
    {"array", gpu_array, "(type, count [, name])",
     "A managed array of zeros, seen by host and kernels; types are i8 u8 i16 u16 i32 u32 i64 u64 "
     "f32 f64"},
    {"device_array", gpu_device_array, "(type, count [, name])",
     "An array in device memory, which the host reaches with gpu.copy only"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row array_api[] = {
    {"advise", advise, "(\"read-mostly\" | \"none\")",
     "How its pages are kept: read-mostly ones may be on the host and on the device until they are "
     "written. Returns the array"},
    {"free", free_array, "()",
     "Waits for what uses the array and frees it; `local a <close>` does so too"},
    {NULL, NULL, NULL, NULL},
};

void array_open(lua_State *L)
{
    static const struct api_row *const methods[] = {array_api, bulk_api, npy_api, NULL};
    static const luaL_Reg extra[] = {
        {"__index", read_element}, {"__newindex", write_element}, {"__len", count_elements},
        {"__tostring", describe},  {"__close", close_array},      {NULL, NULL},
    };

    handle_type(L, TYPE_ARRAY, methods, extra);
}
