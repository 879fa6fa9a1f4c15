/* The end of a sweep: results as Lua tables to post, and the files that it returns back to C. */
#include "host/lua/sweep_internal.h"

#include "host/config/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON to Lua --------------------------------------------------------------------------- */

static void push_number(lua_State *L, double d)
{
    /* cJSON has doubles only; past 2^53 they are no longer what was written. */
    if (d >= -0x1p53 && d <= 0x1p53 && d == (double)(lua_Integer)d)
        lua_pushinteger(L, (lua_Integer)d);
    else
        lua_pushnumber(L, d);
}

void sweep_push_json(lua_State *L, const cJSON *value)
{
    const cJSON *item;
    lua_Integer i = 0;

    luaL_checkstack(L, 4, "JSON is nested too deeply");
    if (cJSON_IsNumber(value)) {
        push_number(L, value->valuedouble);
    } else if (cJSON_IsString(value)) {
        lua_pushstring(L, value->valuestring);
    } else if (cJSON_IsBool(value)) {
        lua_pushboolean(L, cJSON_IsTrue(value));
    } else if (cJSON_IsArray(value) || cJSON_IsObject(value)) {
        lua_newtable(L);
        cJSON_ArrayForEach(item, value)
        {
            sweep_push_json(L, item);
            if (cJSON_IsArray(value))
                lua_rawseti(L, -2, ++i);
            else
                lua_setfield(L, -2, item->string);
        }
    } else {
        lua_pushnil(L);
    }
}

static void free_json(lua_State *L, void *data)
{
    (void)L;
    json_text_free(data);
}

static int push_text(lua_State *L, const char *name, const char *bytes, size_t len)
{
    struct json_text *json = guard_push_memory(L, free_json, sizeof *json);
    struct hd_error err;

    if (json_text_parse(name, bytes, len, json, &err) != HD_OK)
        return script_raise(L, &err);
    sweep_push_json(L, json->root);
    return 1;
}

/* ---- what post is given -------------------------------------------------------------------- */

struct post {
    struct hd_sweep *sweep;
    const struct hd_sweep_post *with;
};

/* Number of the row at 2; the value or nil. A function of its own, so that the guard ends with each row. */
static int read_row(lua_State *L)
{
    const struct post *p = lua_touserdata(L, 1);
    const char *line;
    size_t len;

    if (!p->with->row(p->with->user, (size_t)lua_tointeger(L, 2), &line, &len))
        return 0;
    return push_text(L, "result", line, len);
}

static void push_results(lua_State *L, struct post *p)
{
    lua_newtable(L);
    for (lua_Integer i = 0;; i++) {
        lua_pushcfunction(L, read_row);
        lua_pushlightuserdata(L, p);
        lua_pushinteger(L, i);
        lua_call(L, 2, 1);
        if (lua_isnil(L, -1))
            break;
        lua_rawseti(L, -2, i + 1);
    }
    lua_pop(L, 1);
}

struct line {
    const char *name, *at;
    size_t len;
};

static int read_line(lua_State *L)
{
    const struct line *l = lua_touserdata(L, 1);

    return push_text(L, l->name, l->at, l->len);
}

/* A list with the value of each line that is not empty. */
static void push_lines(lua_State *L, const char *path, const struct text *text)
{
    const char *at = text_str(text), *const end = at + text->len;
    lua_Integer count = 0;

    lua_newtable(L);
    for (int number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct line line = {lua_pushfstring(L, "%s line %d", path, number), at, 0};

        line.len = (size_t)((stop ? stop : end) - at);
        if (line.len > 0) {
            lua_pushcfunction(L, read_line);
            lua_pushlightuserdata(L, &line);
            lua_call(L, 1, 1);
            lua_rawseti(L, -3, ++count);
        }
        lua_pop(L, 1);
        at += line.len + 1;
    }
}

static void free_text(lua_State *L, void *data)
{
    (void)L;
    text_free(data);
}

static bool ends_in(const char *path, const char *end)
{
    const size_t len = strlen(path), n = strlen(end);

    return len > n && strcmp(path + len - n, end) == 0;
}

/* The input at 1, by its address. */
static int read_input(lua_State *L)
{
    const struct hd_sweep_input *input = lua_touserdata(L, 1);
    struct text *text = guard_push_memory(L, free_text, sizeof *text);
    struct hd_error err;

    if (file_read(input->path, text, &err) != HD_OK)
        return script_raise(L, &err);
    if (ends_in(input->path, ".jsonl"))
        push_lines(L, input->path, text);
    else if (ends_in(input->path, ".json"))
        push_text(L, input->path, text_str(text), text->len);
    else
        lua_pushlstring(L, text_str(text), text->len);
    return 1;
}

static void push_inputs(lua_State *L, const struct hd_sweep *sweep)
{
    lua_newtable(L);
    for (size_t i = 0; i < sweep->inputs.len; i++) {
        lua_pushcfunction(L, read_input);
        lua_pushlightuserdata(L, &sweep->inputs.at[i]);
        lua_call(L, 1, 1);
        lua_setfield(L, -2, sweep->inputs.at[i].name);
    }
}

/* ---- what it returns ----------------------------------------------------------------------- */

static bool is_file_name(const char *name)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    if (!*name || !strchr(chars, *name) || strlen(name) > 128)
        return false;
    name += strspn(name, chars);
    while (*name && strchr("._-", *name)) {
        name++;
        name += strspn(name, chars);
    }
    return *name == '\0';
}

/* The value on top of the stack is to be the text of the file whose name is below it. */
static void hand_on(lua_State *L, const struct post *p)
{
    const bool named = lua_type(L, -2) == LUA_TSTRING; /* lua_tostring would make a number one */
    const char *text, *name = named ? lua_tostring(L, -2) : "";
    struct hd_error err;
    size_t length;

    if (!is_file_name(name) || strlen(name) != lua_rawlen(L, -2))
        sweep_refuse(L, p->sweep, "post", "use letters, digits, '.', '_' and '-'",
                     "post returned a file with the name \"%s\"", sandbox_text(L, -2, NULL));
    if (lua_type(L, -1) != LUA_TSTRING)
        sweep_refuse(L, p->sweep, "post", NULL, "post returned a %s for \"%s\" and not its text",
                     luaL_typename(L, -1), name);
    text = lua_tolstring(L, -1, &length);
    if (p->with->output(p->with->user, name, text, length, &err) != HD_OK)
        script_raise(L, &err);
}

/* The table on top of the stack, in the order of the sandbox's pairs. */
static void hand_on_all(lua_State *L, const struct post *p)
{
    const int table = lua_gettop(L);

    lua_pushcfunction(L, sorted_pairs);
    lua_pushvalue(L, table);
    lua_call(L, 1, 3);
    for (;;) {
        lua_pushvalue(L, table + 1);
        lua_pushvalue(L, table + 2);
        lua_pushvalue(L, table + 3);
        lua_call(L, 2, 2);
        if (lua_isnil(L, -2))
            return;
        hand_on(L, p);
        lua_settop(L, table + 3);
    }
}

static int run_post(lua_State *L)
{
    struct post *p = lua_touserdata(L, 1);

    lua_getfield(L, LUA_REGISTRYINDEX, KEY_SWEEP);
    lua_getfield(L, -1, "post");
    push_results(L, p);
    push_inputs(L, p->sweep);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1))
        return 0;
    if (!lua_istable(L, -1))
        return sweep_refuse(L, p->sweep, "post", "return {[\"name.csv\"] = text}",
                            "post returned a %s and not a table of files", luaL_typename(L, -1));
    hand_on_all(L, p);
    return 0;
}

enum hd_status hd_sweep_run_post(struct hd_sweep *sweep, const struct hd_sweep_post *post,
                                 struct text *traceback, struct hd_error *err)
{
    struct post p = {sweep, post};
    enum hd_status status;

    if (!sweep->has_post)
        return HD_OK;
    status = script_protected(&sweep->script->script, run_post, &p, err);
    if (status != HD_OK)
        text_add(traceback, "%s", text_str(&sweep->script->info.traceback));
    return status;
}
