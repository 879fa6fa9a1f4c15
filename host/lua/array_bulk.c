/*
 * Operations on whole arrays, each one computational element of the host. Sums are in the order of the
 * indices, in f64 or exact, so that their bits are the same everywhere.
 */
#include "host/lua/array.h"
#include "host/lua/expr.h"

#include "sim/base/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 wide; /* sums and products of 64-bit integers */

static int return_self(lua_State *L)
{
    lua_settop(L, 1);
    return 1;
}

static size_t block_length(uint64_t first, uint64_t count)
{
    return count - first < EXPR_BLOCK ? (size_t)(count - first) : EXPR_BLOCK;
}

/* ---- writing ---------------------------------------------------------------------------- */

static void compile(lua_State *L, const char *text, bool with_x, struct expr *e)
{
    struct hd_error err;

    if (expr_compile(text, with_x, e, &err) != HD_OK)
        script_raise(L, &err);
}

static void compute(lua_State *L, const struct lua_array *a, const struct expr *e, bool with_x)
{
    const struct element_type *t = a->type;
    char *data = array_access(L, a, 0, a->count, with_x ? HD_WRITE : HD_OVERWRITE);
    double x[EXPR_BLOCK], value[EXPR_BLOCK];

    for (uint64_t first = 0; first < a->count; first += EXPR_BLOCK) {
        const size_t n = block_length(first, a->count);
        char *at = data + first * t->bytes;
        size_t stored;

        if (with_x)
            t->to_f64(x, at, n);
        expr_eval(e, first, n, a->count, x, value);
        stored = t->from_f64(at, value, n);
        if (stored < n)
            script_error(L, "lua-element", "use floor",
                         "element %" PRIu64 " would be %.17g, which the type %s cannot hold",
                         first + stored, value[stored], t->name);
    }
}

static int array_fill(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    struct expr e;
    union element value;

    if (lua_type(L, 2) == LUA_TSTRING) {
        compile(L, lua_tostring(L, 2), false, &e);
        compute(L, a, &e, false);
        return return_self(L);
    }
    value = array_check_element(L, 2, a->type);
    element_fill(a->type, array_access(L, a, 0, a->count, HD_OVERWRITE), value, a->count);
    return return_self(L);
}

static int array_map(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    struct expr e;

    luaL_checktype(L, 2, LUA_TSTRING);
    compile(L, lua_tostring(L, 2), true, &e);
    compute(L, a, &e, true);
    return return_self(L);
}

static void iota_integers(lua_State *L, const struct lua_array *a, lua_Integer start,
                          lua_Integer step)
{
    const struct element_type *t = a->type;
    const wide last = start + (wide)step * (wide)(a->count - 1);
    char *data;

    if (start < t->min || start > t->max || last < t->min || last > t->max)
        script_error(L, "lua-element", NULL, "the sequence leaves the range of the type %s",
                     t->name);
    data = array_access(L, a, 0, a->count, HD_OVERWRITE);
    for (uint64_t i = 0; i < a->count; i++)
        t->store(data + i * t->bytes, (union element){.i = (int64_t)(start + step * (wide)i)});
}

static void iota_floats(lua_State *L, const struct lua_array *a, double start, double step)
{
    const struct element_type *t = a->type;
    char *data = array_access(L, a, 0, a->count, HD_OVERWRITE);

    for (uint64_t i = 0; i < a->count; i++)
        t->store(data + i * t->bytes, (union element){.f = start + step * (double)i});
}

static int array_iota(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);

    if (a->type->is_float)
        iota_floats(L, a, luaL_optnumber(L, 2, 0), luaL_optnumber(L, 3, 1));
    else
        iota_integers(L, a, luaL_optinteger(L, 2, 0), luaL_optinteger(L, 3, 1));
    return return_self(L);
}

static void random_integers(lua_State *L, const struct lua_array *a, struct rng *r)
{
    const struct element_type *t = a->type;
    const int64_t low = array_check_element(L, 3, t).i, high = array_check_element(L, 4, t).i;
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* 0: all 64 bits */
    char *data;

    luaL_argcheck(L, t->type == T_U64 ? (uint64_t)low <= (uint64_t)high : low <= high, 4,
                  "the bounds are in the wrong order");
    data = array_access(L, a, 0, a->count, HD_OVERWRITE);
    for (uint64_t i = 0; i < a->count; i++) {
        const uint64_t offset = span ? rng_below(r, span) : rng_next(r);

        t->store(data + i * t->bytes, (union element){.i = (int64_t)((uint64_t)low + offset)});
    }
}

static void random_floats(lua_State *L, const struct lua_array *a, struct rng *r)
{
    const struct element_type *t = a->type;
    const double low = luaL_optnumber(L, 3, 0), high = luaL_optnumber(L, 4, 1);
    char *data;

    luaL_argcheck(L, low <= high && isfinite(high - low), 4,
                  "the bounds must be finite and in order");
    data = array_access(L, a, 0, a->count, HD_OVERWRITE);
    for (uint64_t i = 0; i < a->count; i++)
        t->store(data + i * t->bytes, (union element){.f = low + (high - low) * rng_unit(r)});
}

static int array_random(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    struct rng r;

    rng_seed_pair(&r, script_of(L)->o->seed, (uint64_t)luaL_checkinteger(L, 2));
    if (a->type->is_float)
        random_floats(L, a, &r);
    else
        random_integers(L, a, &r);
    return return_self(L);
}

/* ---- copying ---------------------------------------------------------------------------- */

static void copy(lua_State *L, const struct lua_array *to, const struct lua_array *from, int idx)
{
    const uint64_t count =
        lua_isnoneornil(L, idx) ? from->count : check_count(L, idx, 1, "the number of elements");
    const void *source;

    if (to->type != from->type)
        script_error(L, "lua-array-types", NULL, "the arrays are of types %s and %s",
                     to->type->name, from->type->name);
    if (count > from->count || count > to->count)
        script_error(L, "lua-array-count", NULL,
                     "cannot copy %" PRIu64 " elements from an array of %" PRIu64
                     " to one of %" PRIu64,
                     count, from->count, to->count);
    source = array_access(L, from, 0, count, HD_READ);
    memmove(array_access(L, to, 0, count, HD_OVERWRITE), source, count * to->type->bytes);
}

static int array_copy_from(lua_State *L)
{
    copy(L, array_check_managed(L, 1), array_check_managed(L, 2), 3);
    return return_self(L);
}

static int array_copy_to(lua_State *L)
{
    copy(L, array_check_managed(L, 2), array_check_managed(L, 1), 3);
    return return_self(L);
}

/* Every value is checked before the first is written. */
static int array_from(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const struct element_type *t = a->type;
    uint64_t first, count;
    char *data;

    luaL_checktype(L, 2, LUA_TTABLE);
    first = lua_isnoneornil(L, 3) ? 0 : check_count(L, 3, 0, "the first index");
    count = lua_rawlen(L, 2);
    if (first > a->count || count > a->count - first)
        return script_error(L, "lua-array-count", NULL,
                            "%" PRIu64 " values from index %" PRIu64
                            " on do not fit an array of %" PRIu64,
                            count, first, a->count);
    for (uint64_t i = 0; i < count; i++) {
        lua_rawgeti(L, 2, (lua_Integer)(i + 1));
        array_check_element(L, -1, t);
        lua_pop(L, 1);
    }
    if (count == 0)
        return return_self(L);
    data = array_access(L, a, first, count, HD_OVERWRITE);
    for (uint64_t i = 0; i < count; i++) {
        lua_rawgeti(L, 2, (lua_Integer)(i + 1));
        t->store(data + i * t->bytes, array_check_element(L, -1, t));
        lua_pop(L, 1);
    }
    return return_self(L);
}

static int array_to_table(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const struct element_type *t = a->type;
    const uint64_t first = lua_isnoneornil(L, 2) ? 0 : check_count(L, 2, 0, "the first index");
    uint64_t count;
    const char *data;

    luaL_argcheck(L, first < a->count, 2, "the first index is outside the array");
    count =
        lua_isnoneornil(L, 3) ? a->count - first : check_count(L, 3, 1, "the number of elements");
    luaL_argcheck(L, count <= a->count - first && count < INT32_MAX, 3,
                  "there are not that many elements");
    lua_createtable(L, (int)count, 0);
    data = array_access(L, a, first, count, HD_READ);
    for (uint64_t i = 0; i < count; i++) {
        array_push_element(L, t, t->load(data + i * t->bytes));
        lua_rawseti(L, -2, (lua_Integer)(i + 1));
    }
    return 1;
}

/* ---- reducing --------------------------------------------------------------------------- */

/* An element of an integer type as a number that may be compared and added. */
static wide widen(const struct element_type *t, union element value)
{
    return t->type == T_U64 ? (wide)(uint64_t)value.i : (wide)value.i;
}

static int push_wide(lua_State *L, const struct element_type *t, wide value)
{
    const bool fits = t->type == T_U64 ? value >= 0 && value <= (wide)UINT64_MAX
                                       : value >= INT64_MIN && value <= INT64_MAX;

    if (!fits)
        return script_error(L, "lua-array-overflow", NULL, "the result does not fit 64 bits");
    lua_pushinteger(L, (lua_Integer)(uint64_t)value);
    return 1;
}

static double sum_floats(const struct element_type *t, const char *a, const char *b, uint64_t count)
{
    double x[EXPR_BLOCK], y[EXPR_BLOCK], sum = 0;

    for (uint64_t first = 0; first < count; first += EXPR_BLOCK) {
        const size_t n = block_length(first, count);

        t->to_f64(x, a + first * t->bytes, n);
        if (b)
            t->to_f64(y, b + first * t->bytes, n);
        for (size_t k = 0; k < n; k++)
            sum += b ? x[k] * y[k] : x[k];
    }
    return sum;
}

/* False if 128 bits are not enough: 2^63 products of the largest 64-bit integers. */
static bool sum_integers(const struct element_type *t, const char *a, const char *b, uint64_t count,
                         wide *sum)
{
    *sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        wide term = widen(t, t->load(a + i * t->bytes));

        if (b && __builtin_mul_overflow(term, widen(t, t->load(b + i * t->bytes)), &term))
            return false;
        if (__builtin_add_overflow(*sum, term, sum))
            return false;
    }
    return true;
}

static int push_sum(lua_State *L, const struct element_type *t, const char *a, const char *b,
                    uint64_t count)
{
    wide sum;

    if (t->is_float) {
        lua_pushnumber(L, sum_floats(t, a, b, count));
        return 1;
    }
    if (!sum_integers(t, a, b, count, &sum))
        return script_error(L, "lua-array-overflow", NULL, "the result does not fit 64 bits");
    return push_wide(L, t, sum);
}

static int array_sum(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);

    return push_sum(L, a->type, array_access(L, a, 0, a->count, HD_READ), NULL, a->count);
}

static int array_dot(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1), *b = array_check_managed(L, 2);
    const void *left;

    if (a->type != b->type || a->count != b->count)
        return script_error(L, "lua-array-types", NULL, "the arrays must be of one type and length");
    left = array_access(L, a, 0, a->count, HD_READ);
    return push_sum(L, a->type, left, array_access(L, b, 0, b->count, HD_READ), a->count);
}

/* sign 1 finds the largest, -1 the smallest; a NaN anywhere is the result. */
static double extreme_float(const struct element_type *t, const char *data, uint64_t count,
                            double sign)
{
    double best = t->load(data).f;

    for (uint64_t i = 1; i < count && !isnan(best); i++) {
        const double v = t->load(data + i * t->bytes).f;

        if (isnan(v) || sign * v > sign * best)
            best = v;
    }
    return best;
}

static wide extreme_integer(const struct element_type *t, const char *data, uint64_t count, int sign)
{
    wide best = widen(t, t->load(data));

    for (uint64_t i = 1; i < count; i++) {
        const wide v = widen(t, t->load(data + i * t->bytes));

        if (sign * v > sign * best)
            best = v;
    }
    return best;
}

static int push_extreme(lua_State *L, int sign)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const char *data = array_access(L, a, 0, a->count, HD_READ);

    if (!a->type->is_float)
        return push_wide(L, a->type, extreme_integer(a->type, data, a->count, sign));
    lua_pushnumber(L, extreme_float(a->type, data, a->count, sign));
    return 1;
}

static int array_min(lua_State *L)
{
    return push_extreme(L, -1);
}

static int array_max(lua_State *L)
{
    return push_extreme(L, 1);
}

/* FNV-1a of 64 bits (Fowler, Noll, Vo), so that a script's hash can be checked by other tools. */
static int array_hash(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const unsigned char *data = array_access(L, a, 0, a->count, HD_READ);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char text[17];

    for (uint64_t i = 0; i < a->count * a->type->bytes; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    lua_pushstring(L, text);
    return 1;
}

const struct api_row bulk_api[] = {
    {"fill", array_fill, "(value | expression)",
     "Writes every element: one number, or a formula of the index i and the count n such as "
     "\"1/(i+1)\". Returns the array, as the others that write do"},
    {"iota", array_iota, "([start [, step]])", "start, start + step, ...; by default 0, 1, 2, ..."},
    {"random", array_random, "(seed [, low, high])",
     "Uniform numbers: floats from low up to high (0 and 1), integers from low to high, both "
     "included. The run's seed counts too"},
    {"map", array_map, "(expression)", "Replaces every element x by a formula of x, i and n"},
    {"copy", array_copy_from, "(from [, count])", "The same as copy_from"},
    {"copy_from", array_copy_from, "(from [, count])",
     "Copies the first elements of another array of the same type, by default all of it"},
    {"copy_to", array_copy_to, "(to [, count])", "The other way round"},
    {"from", array_from, "(table [, first])",
     "Writes the values of a list from index first on, by default 0"},
    {"to_table", array_to_table, "([first [, count]])", "A list of elements; by default of all"},
    {"sum", array_sum, "()",
     "The sum: in f64 in the order of the indices, exact for integers (an error past 64 bits)"},
    {"dot", array_dot, "(other)", "The sum of the products of two arrays of one type and length"},
    {"min", array_min, "()", "The smallest element; NaN if there is one"},
    {"max", array_max, "()", "The largest element; NaN if there is one"},
    {"hash", array_hash, "()", "FNV-1a of the bytes, 64 bits as 16 hexadecimal digits"},
    {NULL, NULL, NULL, NULL},
};
