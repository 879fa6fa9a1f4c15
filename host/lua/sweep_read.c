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

static void take_value(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
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

/* Pushes the text that the run gets: values of one text are one run. */
static void push_text(lua_State *L, const struct hd_script_value *v)
{
    char digits[40];

    if (v->kind == HD_SCRIPT_INT)
        lua_pushfstring(L, "%I", (LUAI_UACINT)v->i);
    else if (v->kind == HD_SCRIPT_BOOL)
        lua_pushstring(L, v->i ? "true" : "false");
    else if (v->kind == HD_SCRIPT_STRING)
        lua_pushstring(L, v->s);
    else {
        json_format_double(digits, sizeof digits, v->f);
        lua_pushstring(L, digits);
    }
}

/* ---- tables -------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Pushes a userdata with the keys of the table at idx, in the order of their bytes. The strings are the table's, which must
 * stay as it is.
 */
static const char **sorted_keys(lua_State *L, const struct hd_sweep *sweep, const char *where,
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

static void check_table(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx)
{
    if (!lua_istable(L, idx))
        sweep_refuse(L, sweep, where, NULL, "%s is a %s and must be a table", where,
                     luaL_typename(L, idx));
}

/* Whether each key of a table is known; the error has the nearest. */
static void check_keys(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
                       const char *const *known, size_t nknown)
{
    size_t count;
    const char **keys = sorted_keys(L, sweep, where, idx, &count);

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
    const char *key = lua_pushfstring(L, "%s%s", prefix, name);

    if (!vec_push(&sweep->base, (struct hd_sweep_setting){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    added = &sweep->base.at[sweep->base.len - 1];
    added->key = copy_text(L, sweep, where, lua_absindex(L, -1));
    take_value(L, sweep, where, lua_absindex(L, -2), &added->value);
    (void)key;
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
    check_table(L, sweep, name, table);
    keys = sorted_keys(L, sweep, name, table, &count);
    for (size_t i = 0; i < count; i++) {
        const char *where = lua_pushfstring(L, "%s.%s", name, keys[i]);

        lua_getfield(L, table, keys[i]);
        add_setting(L, sweep, where, prefix, keys[i]);
        lua_pop(L, 2);
    }
    lua_settop(L, table - 1);
}

static const char *const scalars[] = {"workload", "config", "seed",  "iterations",
                                      "warmup",   "detail", "timing"};

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

/* ---- axes ---------------------------------------------------------------------------------- */

/* Marks a value as seen in the table at idx; whether it was there before. */
static bool was_seen(lua_State *L, int seen, const struct hd_script_value *v)
{
    bool before;

    push_text(L, v);
    lua_pushvalue(L, -1);
    before = lua_rawget(L, seen) != LUA_TNIL;
    lua_pop(L, 1);
    lua_pushboolean(L, true);
    lua_rawset(L, seen);
    return before;
}

/* Value number i of the list, unless it is there already. The axis owns it at once, for what follows may raise. */
static void read_value(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                       const char *where, int list, int seen, lua_Integer i)
{
    const char *place = lua_pushfstring(L, "%s[%I]", where, (LUAI_UACINT)i);
    struct hd_script_value *v;

    if (lua_geti(L, list, i) == LUA_TNIL)
        sweep_refuse(L, sweep, where, "write {v1, v2, ...}", "%s is no list without holes", where);
    if (!vec_push(&axis->values, (struct hd_script_value){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    v = &axis->values.at[axis->values.len - 1];
    take_value(L, sweep, place, lua_gettop(L), v);
    if (was_seen(L, seen, v)) {
        free(v->s);
        axis->values.len--;
        axis->repeated++;
    }
    lua_pop(L, 2);
}

/* The list on top of the stack. A list must have no holes: its length would be a matter of chance. */
static void read_values(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                        const char *where)
{
    const int list = lua_gettop(L), seen = list + 1;
    lua_Integer count = 0;

    check_table(L, sweep, where, list);
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1))
        count++;
    if (count == 0)
        sweep_refuse(L, sweep, where, "leave the axis out, or give it a value",
                     "the axis %s has no values", axis->key);
    if (count > HD_SWEEP_POINTS_MAX)
        sweep_refuse(L, sweep, where, NULL, "the axis %s has more than %d values", axis->key,
                     HD_SWEEP_POINTS_MAX);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++)
        read_value(L, sweep, axis, where, list, seen, i);
    lua_settop(L, list);
}

static struct hd_sweep_axis *add_axis(lua_State *L, struct hd_sweep *sweep, const char *where,
                                      const char *key)
{
    struct hd_sweep_axis *axis;

    for (size_t i = 0; i < sweep->axes.len; i++)
        if (strcmp(sweep->axes.at[i].key, key) == 0)
            sweep_refuse(L, sweep, where, "one axis has all values of a key",
                         "there are two axes %s", key);
    if (sweep->axes.len == HD_SWEEP_AXES_MAX)
        sweep_refuse(L, sweep, where, NULL, "a sweep has at most %d axes", HD_SWEEP_AXES_MAX);
    if (!vec_push(&sweep->axes, (struct hd_sweep_axis){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    axis = &sweep->axes.at[sweep->axes.len - 1];
    axis->key = strdup(key);
    if (!axis->key)
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    return axis;
}

/* {key = "arg.n", values = {...}}, on top of the stack. */
static void read_axis(lua_State *L, struct hd_sweep *sweep, const char *where)
{
    static const char *const known[] = {"key", "values"};
    const int table = lua_gettop(L);
    const char *place = lua_pushfstring(L, "%s.values", where);
    struct hd_sweep_axis *axis;

    check_table(L, sweep, where, table);
    check_keys(L, sweep, where, table, known, sizeof known / sizeof *known);
    if (lua_getfield(L, table, "key") != LUA_TSTRING)
        sweep_refuse(L, sweep, where, "write {key = \"arg.n\", values = {1, 2}}",
                     "%s.key is a %s and must be a string", where, luaL_typename(L, -1));
    if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        sweep_refuse(L, sweep, where, NULL, "%s.key has a NUL in it", where);
    axis = add_axis(L, sweep, where, lua_tostring(L, -1));
    lua_getfield(L, table, "values");
    read_values(L, sweep, axis, place);
    lua_settop(L, table);
}

static void read_axis_list(lua_State *L, struct hd_sweep *sweep, int table)
{
    const lua_Integer count = luaL_len(L, table);
    lua_Integer found = 0;

    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        found++;
    if (found != count)
        sweep_refuse(L, sweep, "axes", "write {key = ..., values = ...} for each",
                     "axes is neither a list without holes nor a table of names");
    for (lua_Integer i = 1; i <= count; i++) {
        const char *where = lua_pushfstring(L, "axes[%I]", (LUAI_UACINT)i);

        lua_geti(L, table, i);
        read_axis(L, sweep, where);
        lua_pop(L, 2);
    }
}

/* {["arg.n"] = {...}, config = {...}}: a table of names has no order of its own, so that it is that of the names. */
static void read_axis_names(lua_State *L, struct hd_sweep *sweep, int table)
{
    size_t count;
    const char **keys = sorted_keys(L, sweep, "axes", table, &count);

    for (size_t i = 0; i < count; i++) {
        const char *where = lua_pushfstring(L, "axes.%s", keys[i]);
        struct hd_sweep_axis *axis = add_axis(L, sweep, where, keys[i]);

        lua_getfield(L, table, keys[i]);
        read_values(L, sweep, axis, where);
        lua_pop(L, 2);
    }
}

static void read_axes(lua_State *L, struct hd_sweep *sweep)
{
    const int table = lua_gettop(L) + 1;

    lua_getfield(L, 1, "axes");
    if (lua_isnil(L, table))
        sweep_refuse(L, sweep, "", "write axes = {{key = \"arg.n\", values = {1, 2}}}",
                     "the sweep has no axes");
    check_table(L, sweep, "axes", table);
    if (luaL_len(L, table) > 0)
        read_axis_list(L, sweep, table);
    else
        read_axis_names(L, sweep, table);
    if (!sweep->axes.len)
        sweep_refuse(L, sweep, "axes", "write axes = {{key = \"arg.n\", values = {1, 2}}}",
                     "the sweep has no axes");
    lua_settop(L, table - 1);
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
        check_table(L, sweep, "inputs", table);
        keys = sorted_keys(L, sweep, "inputs", table, &count);
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
    static const char *const known[] = {"workload", "config", "seed",   "iterations",
                                        "warmup",   "detail", "timing", "set",
                                        "args",     "axes",   "inputs", "post"};

    lua_insert(L, 1);
    lua_settop(L, 1);
    luaL_checkstack(L, 32, NULL);
    check_keys(L, sweep, "", 1, known, sizeof known / sizeof *known);
    read_scalars(L, sweep);
    read_settings(L, sweep, "set", "");
    read_settings(L, sweep, "args", "arg.");
    sort_base(L, sweep);
    read_axes(L, sweep);
    read_inputs(L, sweep);
    read_post(L, sweep);
}
