/*
 * pairs and next in an order that only the keys decide: numbers, strings by bytes, false, true, then
 * handles in order of their making. Lua's own order follows string hashes, whose seed is an address. Other keys
 * (tables, functions) have no order of their own, so traversing them is an error.
 */
#include "host/lua/internal.h"

#include <stdlib.h>
#include <string.h>

enum key_kind { KEY_NUMBER, KEY_STRING, KEY_BOOLEAN, KEY_HANDLE };

struct key {
    enum key_kind kind;
    bool is_integer;
    lua_Integer i; /* integer, boolean, or number of the handle */
    lua_Number f;
    const char *text; /* owned by Lua, as long as the key is in its table */
    size_t length;
    lua_Integer slot; /* where the key waits in the list of keys */
};

static void read_key(lua_State *L, int idx, struct key *k)
{
    uint64_t serial;

    memset(k, 0, sizeof *k);
    switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
        k->kind = KEY_NUMBER;
        k->is_integer = lua_isinteger(L, idx);
        if (k->is_integer)
            k->i = lua_tointeger(L, idx);
        else
            k->f = lua_tonumber(L, idx);
        return;
    case LUA_TSTRING:
        k->kind = KEY_STRING;
        k->text = lua_tolstring(L, idx, &k->length);
        return;
    case LUA_TBOOLEAN:
        k->kind = KEY_BOOLEAN;
        k->i = lua_toboolean(L, idx);
        return;
    default:
        if (!handle_serial(L, idx, &serial))
            script_error(L, "lua-unordered-keys", "keep such values in a list beside the table",
                         "a table with a %s as key cannot be traversed: the order would be chance",
                         luaL_typename(L, idx));
        k->kind = KEY_HANDLE;
        k->i = (lua_Integer)serial;
    }
}

static int compare_integers(lua_Integer a, lua_Integer b)
{
    return (a > b) - (a < b);
}

/*
 * Lua turns float keys that are integers into integers. So f is beyond them all, or has a fraction and is
 * small enough that rounding i to a float cannot carry it past f.
 */
static int compare_mixed(lua_Integer i, lua_Number f)
{
    if (f >= 0x1p63)
        return -1;
    if (f < -0x1p63)
        return 1;
    return (lua_Number)i < f ? -1 : 1;
}

static int compare_numbers(const struct key *a, const struct key *b)
{
    if (a->is_integer)
        return b->is_integer ? compare_integers(a->i, b->i) : compare_mixed(a->i, b->f);
    return b->is_integer ? -compare_mixed(b->i, a->f) : (a->f > b->f) - (a->f < b->f);
}

static int compare_strings(const struct key *a, const struct key *b)
{
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_keys(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;

    if (a->kind != b->kind)
        return (a->kind > b->kind) - (a->kind < b->kind);
    if (a->kind == KEY_NUMBER)
        return compare_numbers(a, b);
    return a->kind == KEY_STRING ? compare_strings(a, b) : compare_integers(a->i, b->i);
}

/* ---- pairs ------------------------------------------------------------------------------ */

/* Pushes a list of the keys of the table at 1, and returns how many there are. */
static lua_Integer list_keys(lua_State *L)
{
    lua_Integer count = 0;

    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, ++count);
    }
    limits_charge(L, (uint64_t)count);
    return count;
}

/* Replaces the list on top of the stack by a sorted one. */
static void sort_list(lua_State *L, lua_Integer count)
{
    const int list = lua_gettop(L);
    struct key *keys = lua_newuserdatauv(L, (size_t)count * sizeof *keys, 0);

    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        read_key(L, -1, &keys[i]);
        keys[i].slot = i + 1;
        lua_pop(L, 1);
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, list, keys[i].slot);
        lua_rawseti(L, -2, i + 1);
    }
    lua_replace(L, list);
    lua_settop(L, list);
}

/* Upvalues: the list, the index of the last key given. Keys that were removed meanwhile are passed over. */
static int step(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));

    luaL_checktype(L, 1, LUA_TTABLE);
    while (lua_rawgeti(L, lua_upvalueindex(1), ++i) != LUA_TNIL) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_replace(L, lua_upvalueindex(2));
            return 2;
        }
        lua_pop(L, 2);
    }
    return 1;
}

int sorted_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 3);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    sort_list(L, list_keys(L));
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, step, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* ---- next ------------------------------------------------------------------------------- */

/* The smallest key above the one given, found by a walk over all: pairs is the way to see every key. */
int sorted_next(lua_State *L)
{
    struct key after, best, k;
    const bool first = lua_isnoneornil(L, 2);
    uint64_t walked = 0;
    bool found = false;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (!first)
        read_key(L, 2, &after);
    lua_pushnil(L); /* 3: the best key */
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        read_key(L, -1, &k);
        walked++;
        if ((!first && compare_keys(&k, &after) <= 0) || (found && compare_keys(&k, &best) >= 0))
            continue;
        found = true;
        best = k;
        lua_pushvalue(L, -1);
        lua_replace(L, 3);
    }
    limits_charge(L, walked);
    if (!found)
        return 1; /* the nil at 3 */
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}
