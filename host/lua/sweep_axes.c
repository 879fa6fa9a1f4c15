/* The axes of a sweep script: {key =, values =}, {keys =, values =} or a table of names; or its points one by one. */
#include "host/lua/sweep_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- values -------------------------------------------------------------------------------- */

/*
 * Marks the values from number `from` on as seen in the table at idx; whether they were there before, all of them and in this
 * order. Values of one text are one run.
 */
static bool was_seen(lua_State *L, int seen, const struct hd_sweep_axis *axis, size_t from)
{
    char digits[SWEEP_DIGITS];
    bool before;

    lua_pushliteral(L, "");
    for (size_t i = from; i < axis->values.len; i++) {
        if (hd_sweep_is_unset(&axis->values.at[i])) {
            lua_pushliteral(L, "-"); /* no text, for those begin with their length */
            lua_concat(L, 2);
            continue;
        }
        lua_pushstring(L, sweep_word(&axis->values.at[i], digits));
        lua_pushfstring(L, "%I:", (LUAI_UACINT)lua_rawlen(L, -1));
        lua_insert(L, -2);
        lua_concat(L, 3);
    }
    lua_pushvalue(L, -1);
    before = lua_rawget(L, seen) != LUA_TNIL;
    lua_pop(L, 1);
    lua_pushboolean(L, true);
    lua_rawset(L, seen);
    return before;
}

/* The value on top of the stack. The axis owns it at once, for what follows may raise. */
static void add_value(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                      const char *where)
{
    if (!vec_push(&axis->values, (struct hd_script_value){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    sweep_take_value(L, sweep, where, lua_gettop(L), &axis->values.at[axis->values.len - 1]);
}

static lua_Integer count_entries(lua_State *L, int table)
{
    lua_Integer count = 0;

    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        count++;
    return count;
}

/* One value for each key, as a list on top of the stack. */
static void add_tuple(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                      const char *where)
{
    const int tuple = lua_gettop(L);

    sweep_check_table(L, sweep, where, tuple);
    if (count_entries(L, tuple) != (lua_Integer)axis->width)
        sweep_refuse(L, sweep, where, "write one value for each key", "%s has %d values for %d keys",
                     where, (int)count_entries(L, tuple), (int)axis->width);
    for (size_t k = 1; k <= axis->width; k++) {
        lua_geti(L, tuple, (lua_Integer)k);
        add_value(L, sweep, axis, where);
        lua_pop(L, 1);
    }
}

/* A list of values: of one key, or zipped, a list for each point. */
struct list {
    const char *where;
    int at, seen; /* where it is in the stack, and a table of what it had so far */
    bool zipped;
};

/* Values that were there before are one run: the ones from number `before` on go if they are. */
static void drop_repeated(lua_State *L, struct hd_sweep_axis *axis, int seen, size_t before)
{
    if (!was_seen(L, seen, axis, before))
        return;
    while (axis->values.len > before)
        free(axis->values.at[--axis->values.len].s);
    axis->repeated++;
}

static void read_entry(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                       const struct list *list, lua_Integer i)
{
    const char *place = lua_pushfstring(L, "%s[%I]", list->where, (LUAI_UACINT)i);
    const size_t before = axis->values.len;

    if (lua_geti(L, list->at, i) == LUA_TNIL)
        sweep_refuse(L, sweep, list->where, "write {v1, v2, ...}", "%s is no list without holes",
                     list->where);
    if (list->zipped)
        add_tuple(L, sweep, axis, place);
    else
        add_value(L, sweep, axis, place);
    drop_repeated(L, axis, list->seen, before);
    lua_pop(L, 2);
}

/* The list on top of the stack. A list must have no holes: its length would be a matter of chance. */
static void read_values(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                        const char *where, bool zipped)
{
    const struct list list = {where, lua_gettop(L), lua_gettop(L) + 1, zipped};
    const char *name = sweep->columns.at[axis->first].key;
    lua_Integer count;

    sweep_check_table(L, sweep, where, list.at);
    count = count_entries(L, list.at);
    if (count == 0)
        sweep_refuse(L, sweep, where, "leave the axis out, or give it a value",
                     "the axis %s has no values", name);
    if (count > HD_SWEEP_POINTS_MAX)
        sweep_refuse(L, sweep, where, NULL, "the axis %s has more than %d values", name,
                     HD_SWEEP_POINTS_MAX);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++)
        read_entry(L, sweep, axis, &list, i);
    lua_settop(L, list.at);
}

/* ---- keys ---------------------------------------------------------------------------------- */

static struct hd_sweep_axis *add_axis(lua_State *L, struct hd_sweep *sweep, const char *where)
{
    if (!vec_push(&sweep->axes, (struct hd_sweep_axis){0}))
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    sweep->axes.at[sweep->axes.len - 1].first = sweep->columns.len;
    return &sweep->axes.at[sweep->axes.len - 1];
}

/* Gives the newest axis another key. */
static void add_column(lua_State *L, struct hd_sweep *sweep, const char *where, const char *key)
{
    struct hd_sweep_column column = {NULL, sweep->axes.len - 1, 0};

    for (size_t i = 0; i < sweep->columns.len; i++)
        if (strcmp(sweep->columns.at[i].key, key) == 0)
            sweep_refuse(L, sweep, where, "one axis has all values of a key",
                         "there are two axes %s", key);
    if (sweep->columns.len == HD_SWEEP_COLUMNS_MAX)
        sweep_refuse(L, sweep, where, NULL, "the axes of a sweep have at most %d keys",
                     HD_SWEEP_COLUMNS_MAX);
    column.at = sweep->axes.at[column.axis].width++;
    column.key = strdup(key);
    if (!column.key || !vec_push(&sweep->columns, column)) {
        free(column.key);
        sweep_refuse(L, sweep, where, NULL, "not enough memory");
    }
}

/* The key on top of the stack. */
static void read_key(lua_State *L, struct hd_sweep *sweep, const char *where)
{
    if (lua_type(L, -1) != LUA_TSTRING || strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        sweep_refuse(L, sweep, where, "write {key = \"arg.n\", values = {1, 2}}",
                     "a key of %s is a %s and must be a name", where, luaL_typename(L, -1));
    add_column(L, sweep, where, lua_tostring(L, -1));
}

/* The list of keys on top of the stack. */
static void read_keys(lua_State *L, struct hd_sweep *sweep, const char *where)
{
    const int list = lua_gettop(L);
    lua_Integer count;

    sweep_check_table(L, sweep, where, list);
    count = count_entries(L, list);
    if (count == 0)
        sweep_refuse(L, sweep, where, NULL, "%s.keys is empty", where);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_geti(L, list, i);
        read_key(L, sweep, where);
        lua_pop(L, 1);
    }
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* {key = "arg.n", values = {...}} or {keys = {"arg.n", "arg.m"}, values = {{...}, ...}}, on top of the stack. */
static void read_axis(lua_State *L, struct hd_sweep *sweep, const char *where)
{
    static const char *const known[] = {"key", "keys", "values"};
    const int table = lua_gettop(L);
    const char *place = lua_pushfstring(L, "%s.values", where);
    struct hd_sweep_axis *axis;
    bool zipped;

    sweep_check_table(L, sweep, where, table);
    sweep_check_keys(L, sweep, where, table, known, sizeof known / sizeof *known);
    zipped = lua_getfield(L, table, "keys") != LUA_TNIL;
    if (zipped && lua_getfield(L, table, "key") != LUA_TNIL)
        sweep_refuse(L, sweep, where, NULL, "%s has both key and keys", where);
    axis = add_axis(L, sweep, where);
    lua_getfield(L, table, zipped ? "keys" : "key");
    if (zipped)
        read_keys(L, sweep, where);
    else
        read_key(L, sweep, where);
    lua_getfield(L, table, "values");
    read_values(L, sweep, axis, place, zipped);
    lua_settop(L, table);
}

static void read_axis_list(lua_State *L, struct hd_sweep *sweep, int table)
{
    const lua_Integer count = luaL_len(L, table);

    if (count_entries(L, table) != count)
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
    const char **keys = sweep_sorted_keys(L, sweep, "axes", table, &count);

    for (size_t i = 0; i < count; i++) {
        const char *where = lua_pushfstring(L, "axes.%s", keys[i]);
        struct hd_sweep_axis *axis = add_axis(L, sweep, where);

        add_column(L, sweep, where, keys[i]);
        lua_getfield(L, table, keys[i]);
        read_values(L, sweep, axis, where, false);
        lua_pop(L, 2);
    }
}

/* ---- points -------------------------------------------------------------------------------- */

/* Pushes a table that has each key of any point. */
static void push_all_keys(lua_State *L, struct hd_sweep *sweep, int points, lua_Integer count)
{
    const int all = lua_gettop(L) + 1;

    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        const char *where = lua_pushfstring(L, "points[%I]", (LUAI_UACINT)i);
        const char **keys;
        size_t n;

        lua_geti(L, points, i);
        sweep_check_table(L, sweep, where, lua_gettop(L));
        keys = sweep_sorted_keys(L, sweep, where, lua_gettop(L), &n);
        for (size_t k = 0; k < n; k++) {
            lua_pushboolean(L, true);
            lua_setfield(L, all, keys[k]);
        }
        lua_settop(L, all);
    }
}

/* The point on top of the stack. */
static void add_point(lua_State *L, struct hd_sweep *sweep, struct hd_sweep_axis *axis,
                      const char *where)
{
    for (size_t k = 0; k < axis->width; k++) {
        const char *key = sweep->columns.at[axis->first + k].key;
        const char *place = lua_pushfstring(L, "%s.%s", where, key);

        if (lua_getfield(L, -2, key) != LUA_TNIL)
            add_value(L, sweep, axis, place);
        else if (!vec_push(&axis->values, (struct hd_script_value){.kind = HD_SCRIPT_STRING}))
            sweep_refuse(L, sweep, where, NULL, "not enough memory");
        lua_pop(L, 2);
    }
}

/*
 * {{config = "p100", ["arg.n"] = 10}, ...} at 2 is one axis of all the keys that any of the points has. What a point leaves out is
 * as the base has it.
 */
static void read_points(lua_State *L, struct hd_sweep *sweep)
{
    static const char hint[] = "write points = {{[\"arg.n\"] = 1}, {[\"arg.n\"] = 2}}";
    struct hd_sweep_axis *axis = add_axis(L, sweep, "points");
    lua_Integer count;
    const char **keys;
    size_t nkeys;

    sweep_check_table(L, sweep, "points", 2);
    count = luaL_len(L, 2);
    if (count_entries(L, 2) != count || count == 0 || count > HD_SWEEP_POINTS_MAX)
        sweep_refuse(L, sweep, "points", hint, "points is no list of 1 to %d points without holes",
                     HD_SWEEP_POINTS_MAX);
    push_all_keys(L, sweep, 2, count);
    keys = sweep_sorted_keys(L, sweep, "points", 3, &nkeys);
    for (size_t k = 0; k < nkeys; k++)
        add_column(L, sweep, "points", keys[k]);
    if (nkeys == 0)
        sweep_refuse(L, sweep, "points", hint, "no point sets anything");
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        const size_t before = axis->values.len;
        const char *where = lua_pushfstring(L, "points[%I]", (LUAI_UACINT)i);

        lua_geti(L, 2, i);
        add_point(L, sweep, axis, where);
        lua_pop(L, 2);
        drop_repeated(L, axis, 5, before);
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

void sweep_read_axes(lua_State *L, struct hd_sweep *sweep)
{
    static const char hint[] = "write axes = {{key = \"arg.n\", values = {1, 2}}}";
    const int table = lua_gettop(L) + 1;

    if (lua_getfield(L, 1, "points") != LUA_TNIL) {
        if (lua_getfield(L, 1, "axes") != LUA_TNIL)
            sweep_refuse(L, sweep, "points", "leave one of them out",
                         "the sweep has both axes and points");
        lua_settop(L, table);
        read_points(L, sweep);
        lua_settop(L, table - 1);
        return;
    }
    lua_pop(L, 1);
    if (lua_getfield(L, 1, "axes") == LUA_TNIL)
        sweep_refuse(L, sweep, "", hint, "the sweep has no axes");
    sweep_check_table(L, sweep, "axes", table);
    if (luaL_len(L, table) > 0)
        read_axis_list(L, sweep, table);
    else
        read_axis_names(L, sweep, table);
    if (!sweep->axes.len)
        sweep_refuse(L, sweep, "axes", hint, "the sweep has no axes");
    lua_settop(L, table - 1);
}
