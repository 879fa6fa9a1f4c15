/*
 * From hd_error to Lua's errors and back. In Lua an error of ours is a string; the last one's other
 * fields wait in struct script and are used if that very string reaches the top.
 */
#include "host/lua/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Lua cuts its short_src; the name that a chunk was loaded by is whole. */
static const char *source_name(const lua_Debug *ar)
{
    return ar->source[0] == '@' ? ar->source + 1 : ar->short_src;
}

void script_place(lua_State *L, char *out, size_t size)
{
    lua_Debug ar;

    out[0] = '\0';
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0) {
            snprintf(out, size, "%s:%d", source_name(&ar), ar.currentline);
            return;
        }
    }
}

/* ---- raising ---------------------------------------------------------------------------- */

int script_raise(lua_State *L, const struct hd_error *err)
{
    struct script *s = script_of(L);

    if (err->status > HD_BAD_INPUT)
        return limits_end_run(L, err);
    s->raised = *err;
    if (s->raised.place[0] == '\0')
        script_place(L, s->raised.place, sizeof s->raised.place);
    luaL_where(L, 1);
    lua_pushfstring(L, err->place[0] ? "%s: %s" : "%s%s", err->place, err->message);
    lua_concat(L, 2);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, KEY_RAISED);
    return lua_error(L);
}

int script_error(lua_State *L, const char *code, const char *hint, const char *fmt, ...)
{
    char message[sizeof((struct hd_error *)0)->message];
    struct hd_error err;
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    hd_error_set(&err, HD_BAD_INPUT, code, NULL, hint, "%s", message);
    return script_raise(L, &err);
}

/* ---- catching --------------------------------------------------------------------------- */

/*
 * Takes "file:line: " off the front of a message if the running functions include that line, and writes the
 * place. Without it the place is the innermost line that runs.
 */
static const char *split_running_place(lua_State *L, const char *message, char *place, size_t size)
{
    lua_Debug ar;
    char front[LUA_IDSIZE + 32];

    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        snprintf(front, sizeof front, "%s:%d: ", ar.short_src, ar.currentline);
        if (ar.currentline > 0 && strncmp(message, front, strlen(front)) == 0) {
            snprintf(place, size, "%s:%d", source_name(&ar), ar.currentline);
            return message + strlen(front);
        }
    }
    script_place(L, place, size);
    return message;
}

static void keep(lua_State *L, struct script *s, const char *message)
{
    char place[sizeof s->why.place];
    bool ours;

    lua_getfield(L, LUA_REGISTRYINDEX, KEY_RAISED);
    ours = lua_isstring(L, -1) && lua_rawequal(L, -1, 1);
    lua_pop(L, 1);
    if (ours) {
        s->why = s->raised;
        return;
    }
    message = split_running_place(L, message, place, sizeof place);
    hd_error_set(&s->why, HD_BAD_INPUT, "lua-error", place, NULL, "%s", message);
}

int script_on_error(lua_State *L)
{
    struct script *s = script_of(L);
    const char *message;

    if (s->limits.spent)
        return 1;
    if (lua_type(L, 1) == LUA_TSTRING) {
        message = lua_tostring(L, 1);
    } else if (luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL) {
        message = sandbox_text(L, 1, NULL);
    } else {
        message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    }
    keep(L, s, message);
    luaL_traceback(L, L, NULL, 1);
    text_free(&s->info->traceback);
    text_add(&s->info->traceback, "%s", lua_tostring(L, -1));
    return 1;
}

/* The place ends at the first ":digits: ". */
void script_syntax_error(const char *message, struct hd_error *err)
{
    char place[sizeof err->place] = "";

    for (const char *colon = strchr(message, ':'); colon; colon = strchr(colon + 1, ':')) {
        const size_t digits = strspn(colon + 1, "0123456789");

        if (digits > 0 && strncmp(colon + 1 + digits, ": ", 2) == 0) {
            snprintf(place, sizeof place, "%.*s", (int)(colon + 1 + digits - message), message);
            message = colon + digits + 3;
            break;
        }
    }
    hd_error_set(err, HD_BAD_INPUT, "lua-syntax", place, NULL, "%s", message);
}
