/* The table of a sweep script, key by key. */
#include "host/lua/sweep_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sweep_refuse(lua_State *L, const struct hd_sweep *sweep, const char *where, const char *hint,
                 const char *fmt, ...)
{
    char message[sizeof((struct hd_error *)0)->message];
    char place[sizeof((struct hd_error *)0)->place];
    struct hd_error err;
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (*where)
        snprintf(place, sizeof place, "%s (%s)", sweep->path, where);
    else
        snprintf(place, sizeof place, "%s", sweep->path);
    hd_error_set(&err, HD_BAD_INPUT, "sweep-table", place, hint, "%s", message);
    return script_raise(L, &err);
}

/* ---- values -------------------------------------------------------------------------------- */

static char *copy_text(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx)
{
    size_t length;
    const char *text = lua_tolstring(L, idx, &length);
    char *copy;

    if (strlen(text) != length)
        sweep_refuse(L, sweep, where, NULL, "%s has a NUL in it", where);
    copy = strdup(text);
    if (!copy)
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    return copy;
}

/* 2^20 and 1e6 are floats in Lua, and meant as whole numbers. */
static void take_number(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
                        struct hd_script_value *out)
{
    int whole;

    out->i = lua_tointegerx(L, idx, &whole);
    out->kind = whole ? HD_SCRIPT_INT : HD_SCRIPT_FLOAT;
    out->f = whole ? 0 : lua_tonumber(L, idx);
    if (!whole && !isfinite(out->f))
        sweep_refuse(L, sweep, where, NULL, "%s is not a finite number", where);
}

void sweep_take_value(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
                      struct hd_script_value *out)
{
    memset(out, 0, sizeof *out);
    switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
        take_number(L, sweep, where, idx, out);
        return;
    case LUA_TBOOLEAN:
        out->kind = HD_SCRIPT_BOOL;
        out->i = lua_toboolean(L, idx);
        return;
    case LUA_TSTRING:
        out->kind = HD_SCRIPT_STRING;
        out->s = copy_text(L, sweep, where, idx);
        return;
    default:
        sweep_refuse(L, sweep, where, NULL, "%s is a %s and must be a number, a string or a boolean",
                     where, luaL_typename(L, idx));
    }
}

/* ---- tables -------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **sweep_sorted_keys(lua_State *L, const struct hd_sweep *sweep, const char *where,
                               int idx, size_t *count)
{
    const char **keys;
    size_t n = 0;

    *count = 0;
    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            sweep_refuse(L, sweep, where, "write {name = value}",
                         "%s has a %s as a key and may have names only",
                         *where ? where : "the table", luaL_typename(L, -2));
        ++*count;
    }
    keys = lua_newuserdatauv(L, (*count + 1) * sizeof *keys, 0);
    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1))
        keys[n++] = lua_tostring(L, -2);
    qsort(keys, n, sizeof *keys, compare_names);
    return keys;
}

void sweep_check_table(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx)
{
    if (!lua_istable(L, idx))
        sweep_refuse(L, sweep, where, NULL, "%s is a %s and must be a table", where,
                     luaL_typename(L, idx));
}

void sweep_check_keys(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
                      const char *const *known, size_t nknown)
{
    size_t count;
    const char **keys = sweep_sorted_keys(L, sweep, where, idx, &count);

    for (size_t i = 0; i < count; i++) {
        const char *nearest;
        bool found = false;

        for (size_t k = 0; k < nknown; k++)
            found = found || strcmp(known[k], keys[i]) == 0;
        if (found)
            continue;
        nearest = name_nearest(keys[i], known, nknown);
        sweep_refuse(L, sweep, where,
                     nearest ? lua_pushfstring(L, "did you mean %s?", nearest) : NULL,
                     "%s has no key \"%s\"", *where ? where : "a sweep", keys[i]);
    }
    lua_pop(L, 1);
}

/* ---- the base ------------------------------------------------------------------------------ */

/* The value is on top of the stack. */
static void add_setting(lua_State *L, struct hd_sweep *sweep, const char *where, const char *prefix,
                        const char *name)
{
    struct hd_sweep_setting *added;

    lua_pushfstring(L, "%s%s", prefix, name);
    if (!vec_push(&sweep->base, (struct hd_sweep_setting){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    added = &sweep->base.at[sweep->base.len - 1];
    added->key = copy_text(L, sweep, where, lua_absindex(L, -1));
    sweep_take_value(L, sweep, where, lua_absindex(L, -2), &added->value);
    lua_pop(L, 1);
}

static void read_settings(lua_State *L, struct hd_sweep *sweep, const char *name, const char *prefix)
{
    const int table = lua_gettop(L) + 1;
    const char **keys;
    size_t count;

    if (lua_getfield(L, 1, name) == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    sweep_check_table(L, sweep, name, table);
    keys = sweep_sorted_keys(L, sweep, name, table, &count);
    for (size_t i = 0; i < count; i++) {
        const char *where = lua_pushfstring(L, "%s.%s", name, keys[i]);

        lua_getfield(L, table, keys[i]);
        add_setting(L, sweep, where, prefix, keys[i]);
        lua_pop(L, 2);
    }
    lua_settop(L, table - 1);
}

static const char *const scalars[] = {HD_SWEEP_SCALARS};

static void read_scalars(lua_State *L, struct hd_sweep *sweep)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (lua_getfield(L, 1, scalars[i]) != LUA_TNIL)
            add_setting(L, sweep, scalars[i], "", scalars[i]);
        lua_pop(L, 1);
    }
}

static int compare_settings(const void *a, const void *b)
{
    return strcmp(((const struct hd_sweep_setting *)a)->key,
                  ((const struct hd_sweep_setting *)b)->key);
}

/* A key of `set` may be one that has a place of its own in the table. */
static void sort_base(lua_State *L, struct hd_sweep *sweep)
{
    if (sweep->base.len)
        qsort(sweep->base.at, sweep->base.len, sizeof *sweep->base.at, compare_settings);
    for (size_t i = 1; i < sweep->base.len; i++)
        if (strcmp(sweep->base.at[i - 1].key, sweep->base.at[i].key) == 0)
            sweep_refuse(L, sweep, "", NULL, "%s is set twice", sweep->base.at[i].key);
}

/* ---- post ---------------------------------------------------------------------------------- */

static void read_post(lua_State *L, struct hd_sweep *sweep)
{
    const int type = lua_getfield(L, 1, "post");

    if (type != LUA_TNIL && type != LUA_TFUNCTION)
        sweep_refuse(L, sweep, "post", NULL, "post is a %s and must be a function",
                     luaL_typename(L, -1));
    sweep->has_post = type == LUA_TFUNCTION;
    lua_pop(L, 1);
}

/* The name's file, on top of the stack, is beside the script or below its folder's parents. */
static void add_input(lua_State *L, struct hd_sweep *sweep, const char *where, const char *name)
{
    struct hd_sweep_input *input;
    const char *file;

    if (lua_type(L, -1) != LUA_TSTRING || *lua_tostring(L, -1) == '/')
        sweep_refuse(L, sweep, where, NULL, "%s must be a path from the script's folder", where);
    file = lua_pushfstring(L, "%s/%s", sweep->folder, lua_tostring(L, -1));
    if (!vec_push(&sweep->inputs, (struct hd_sweep_input){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    input = &sweep->inputs.at[sweep->inputs.len - 1];
    input->name = strdup(name);
    input->path = strdup(file);
    if (!input->name || !input->path)
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    lua_pop(L, 1);
}

static void read_inputs(lua_State *L, struct hd_sweep *sweep)
{
    const int table = lua_gettop(L) + 1;
    const char **keys;
    size_t count;

    if (lua_getfield(L, 1, "inputs") != LUA_TNIL) {
        sweep_check_table(L, sweep, "inputs", table);
        keys = sweep_sorted_keys(L, sweep, "inputs", table, &count);
        for (size_t i = 0; i < count; i++) {
            const char *where = lua_pushfstring(L, "inputs.%s", keys[i]);

            lua_getfield(L, table, keys[i]);
            add_input(L, sweep, where, keys[i]);
            lua_pop(L, 2);
        }
    }
    lua_settop(L, table - 1);
}

/* ---- the whole ----------------------------------------------------------------------------- */

void sweep_read(lua_State *L, struct hd_sweep *sweep)
{
    static const char *const known[] = {HD_SWEEP_SCALARS, "set",    "args", "axes",
                                        "points",         "inputs", "post"};

    lua_insert(L, 1);
    lua_settop(L, 1);
    luaL_checkstack(L, 32, NULL);
    sweep_check_keys(L, sweep, "", 1, known, sizeof known / sizeof *known);
    read_scalars(L, sweep);
    read_settings(L, sweep, "set", "");
    read_settings(L, sweep, "args", "arg.");
    sort_base(L, sweep);
    sweep_read_axes(L, sweep);
    read_inputs(L, sweep);
    read_post(L, sweep);
}
