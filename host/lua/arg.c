/* gpu.arg: the parameters of a program. The default says which type the text of --arg must have. */
#include "host/lua/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts to values ---------------------------------------------------------------------- */

/* Decimal or 0x, with a sign. Says why not: NULL means that *out is the number. */
static const char *parse_integer(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    const char *const first = hex ? digits + 2 : digits;
    char *end;

    if (*first == '\0' ||
        strspn(first, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(first))
        return "is not a whole number";
    errno = 0;
    *out = strtoll(text, &end, hex ? 16 : 10);
    return errno == ERANGE ? "does not fit a 64-bit integer" : NULL;
}

static const char *parse_float(const char *text, double *out)
{
    char *end;

    /* strtod also takes "inf", "nan" and leading space. */
    if (!strchr("+-.0123456789", *text))
        return "is not a finite number";
    *out = strtod(text, &end);
    if (end == text || *end)
        return "is not a number";
    return isfinite(*out) ? NULL : "is not a finite number";
}

static const char *parse_bool(const char *text, int64_t *out)
{
    static const char *const names[] = {"false", "true", "off", "on", "0", "1"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i % 2;
            return NULL;
        }
    }
    return "is not true or false";
}

static const char *parse_value(const char *text, struct hd_script_value *v)
{
    switch (v->kind) {
    case HD_SCRIPT_INT:
        return parse_integer(text, &v->i);
    case HD_SCRIPT_FLOAT:
        return parse_float(text, &v->f);
    case HD_SCRIPT_BOOL:
        return parse_bool(text, &v->i);
    default:
        v->s = strdup(text);
        return v->s ? NULL : "does not fit into memory";
    }
}

/* ---- Lua's values ------------------------------------------------------------------------- */

/* *v borrows a string. */
static void check_default(lua_State *L, int idx, struct hd_script_value *v)
{
    memset(v, 0, sizeof *v);
    switch (lua_type(L, idx)) {
    case LUA_TNUMBER:
        v->kind = lua_isinteger(L, idx) ? HD_SCRIPT_INT : HD_SCRIPT_FLOAT;
        if (v->kind == HD_SCRIPT_INT)
            v->i = lua_tointeger(L, idx);
        else
            v->f = lua_tonumber(L, idx);
        luaL_argcheck(L, isfinite(v->f), idx, "the default must be finite");
        return;
    case LUA_TSTRING:
        v->kind = HD_SCRIPT_STRING;
        v->s = (char *)lua_tostring(L, idx);
        return;
    case LUA_TBOOLEAN:
        v->kind = HD_SCRIPT_BOOL;
        v->i = lua_toboolean(L, idx);
        return;
    default:
        luaL_typeerror(L, idx, "number, string or boolean");
    }
}

static void push_value(lua_State *L, const struct hd_script_value *v)
{
    switch (v->kind) {
    case HD_SCRIPT_INT:
        lua_pushinteger(L, v->i);
        break;
    case HD_SCRIPT_FLOAT:
        lua_pushnumber(L, v->f);
        break;
    case HD_SCRIPT_BOOL:
        lua_pushboolean(L, v->i != 0);
        break;
    default:
        lua_pushstring(L, v->s);
    }
}

/* ---- the list of arguments ---------------------------------------------------------------- */

static struct hd_script_arg *find_arg(struct hd_script_info *info, const char *name)
{
    for (size_t i = 0; i < info->args.len; i++)
        if (strcmp(info->args.at[i].name, name) == 0)
            return &info->args.at[i];
    return NULL;
}

static bool copy_value(struct hd_script_value *to, const struct hd_script_value *from)
{
    *to = *from;
    if (from->kind == HD_SCRIPT_STRING)
        to->s = strdup(from->s);
    return from->kind != HD_SCRIPT_STRING || to->s;
}

static void free_arg(struct hd_script_arg *a)
{
    free(a->name);
    free(a->value.s);
    free(a->def.s);
}

void hd_script_info_free(struct hd_script_info *info)
{
    for (size_t i = 0; i < info->args.len; i++)
        free_arg(&info->args.at[i]);
    vec_free(&info->args);
    text_free(&info->traceback);
}

enum { MAX_ARGS = 1000 };

/* Makes the entry of a name; raises an error if the text that was given is not of the default's type. */
static struct hd_script_arg *add_arg(lua_State *L, const char *name,
                                     const struct hd_script_value *def)
{
    struct script *s = script_of(L);
    size_t index;
    const char *text = named_find(s->o->args, s->o->nargs, name, &index);
    struct hd_script_arg a = {.name = strdup(name), .given = text != NULL};
    const char *why = NULL;

    a.value.kind = def->kind;
    if (!a.name || !copy_value(&a.def, def) || !(text || copy_value(&a.value, def)))
        why = "does not fit into memory";
    else if (text)
        why = parse_value(text, &a.value);
    if (!why && vec_push(&s->info->args, a))
        return &s->info->args.at[s->info->args.len - 1];
    free_arg(&a);
    script_error(L, "lua-arg-value", NULL, "--arg %s=%s: %s %s", name, text ? text : "", name,
                 why ? why : "does not fit into memory");
    return NULL;
}

static double as_number(const struct hd_script_value *v)
{
    return v->kind == HD_SCRIPT_INT ? (double)v->i : v->f;
}

/* Integers are compared as such: f64 would round the large ones. */
static int compare_values(const struct hd_script_value *a, const struct hd_script_value *b)
{
    if (a->kind == HD_SCRIPT_INT && b->kind == HD_SCRIPT_INT)
        return (a->i > b->i) - (a->i < b->i);
    return (as_number(a) > as_number(b)) - (as_number(a) < as_number(b));
}

static void check_bound(lua_State *L, const struct hd_script_arg *a, int idx, int bad)
{
    struct hd_script_value bound;
    const char *value, *limit;

    if (lua_isnoneornil(L, idx))
        return;
    luaL_checktype(L, idx, LUA_TNUMBER);
    luaL_argcheck(L, a->value.kind <= HD_SCRIPT_FLOAT, idx, "only numbers have bounds");
    check_default(L, idx, &bound);
    if (compare_values(&a->value, &bound) != bad)
        return;
    limit = luaL_tolstring(L, idx, NULL);
    push_value(L, &a->value);
    value = luaL_tolstring(L, -1, NULL);
    script_error(L, "lua-arg-range", NULL, "argument %s is %s, %s its %s of %s", a->name, value,
                 bad < 0 ? "below" : "above", bad < 0 ? "minimum" : "maximum", limit);
}

static int gpu_arg(lua_State *L)
{
    struct script *s = script_of(L);
    const char *name = luaL_checkstring(L, 1);
    struct hd_script_value def;
    struct hd_script_arg *a;

    luaL_argcheck(L, name[0] && !strchr(name, '='), 1,
                  "the name of an argument is not empty and has no '='");
    check_default(L, 2, &def);
    a = find_arg(s->info, name);
    if (!a && s->info->args.len == MAX_ARGS)
        return script_error(L, "lua-arg-count", NULL, "a program has at most %d arguments",
                            MAX_ARGS);
    if (!a)
        a = add_arg(L, name, &def);
    else if (a->def.kind != def.kind)
        return luaL_argerror(L, 2, "an earlier gpu.arg of this name has a default of another type");
    check_bound(L, a, 3, -1);
    check_bound(L, a, 4, 1);
    push_value(L, &a->value);
    return 1;
}

const struct api_row arg_api[] = {
    {"arg", gpu_arg, "(name, default [, min, max])",
     "The value of --arg name=VALUE, else the default, whose type (integer, float, string, "
     "boolean) the value must have"},
    {NULL, NULL, NULL, NULL},
};

/* ---- what nobody asked for ---------------------------------------------------------------- */

static enum hd_status unknown_arg(const struct script *s, const char *item, struct hd_error *err)
{
    VEC(const char *) names = {0};
    struct text known = {0};
    const char *nearest;
    char name[128];

    snprintf(name, sizeof name, "%.*s", (int)named_length(item), item);
    for (size_t i = 0; i < s->info->args.len; i++) {
        const char *other = s->info->args.at[i].name;

        if (vec_push(&names, other))
            text_add(&known, i ? ", %s" : "%s", other);
    }
    nearest = name_nearest(name, names.at, names.len);
    hd_error_set(err, HD_BAD_INPUT, "lua-unknown-arg", s->o->path, NULL,
                 "the program has no argument %s%s%s%s", name, nearest ? "; did you mean " : "",
                 nearest ? nearest : "", nearest ? "?" : "");
    snprintf(err->hint, sizeof err->hint, "its arguments are: %s", known.len ? known.at : "none");
    vec_free(&names);
    text_free(&known);
    return HD_BAD_INPUT;
}

enum hd_status script_check_unused(const struct script *s, struct hd_error *err)
{
    for (size_t i = 0; i < s->o->nargs; i++) {
        bool used = false;

        for (size_t k = 0; k < s->info->args.len && !used; k++) {
            const char *name = s->info->args.at[k].name;

            used = strlen(name) == named_length(s->o->args[i]) &&
                   memcmp(name, s->o->args[i], strlen(name)) == 0;
        }
        if (!used)
            return unknown_arg(s, s->o->args[i], err);
    }
    for (size_t i = 0; i < s->o->ndata; i++)
        if (!s->data_used[i])
            return hd_error_set(err, HD_BAD_INPUT, "lua-unknown-data", s->o->path,
                                "only from_npy and to_npy use data",
                                "the program never uses --data %.*s",
                                (int)named_length(s->o->data[i]), s->o->data[i]);
    return HD_OK;
}
