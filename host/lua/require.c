/*
 * require without package: the module heddle, then NAME.lua beside the program, then in the folder of shared
 * modules, then in heddle's own, workloads/lib. Each is loaded once; a module that needs itself is an error that shows the way round.
 */
#include "host/lua/internal.h"

#include "host/rt/data_dirs.h"

#include <stdio.h>
#include <string.h>

/* KEY_MODULES maps names to values; modules that are loading stand in a list under the key 1, 2, ... */

static bool is_module_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char letters_digits[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    for (;;) {
        if (!*name || !strchr(letters, *name))
            return false;
        name += strspn(name, letters_digits);
        if (*name != '.')
            return *name == '\0';
        name++;
    }
}

/* ---- cycles ----------------------------------------------------------------------------- */

static void refuse_cycle(lua_State *L, int modules, const char *name)
{
    const lua_Integer loading = luaL_len(L, modules);
    bool found = false;

    lua_pushliteral(L, "");
    for (lua_Integer i = 1; i <= loading; i++) {
        lua_rawgeti(L, modules, i);
        found = found || strcmp(lua_tostring(L, -1), name) == 0;
        if (!found) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushliteral(L, " -> ");
        lua_concat(L, 3);
    }
    if (found)
        script_error(L, "lua-require-cycle", "move what both need into a third module",
                     "modules require each other: %s%s", lua_tostring(L, -1), name);
    lua_pop(L, 1);
}

static void end_loading(lua_State *L, void *data)
{
    (void)data;
    lua_getfield(L, LUA_REGISTRYINDEX, KEY_MODULES);
    lua_pushnil(L);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2));
    lua_pop(L, 1);
}

/* ---- files ------------------------------------------------------------------------------ */

static void free_source(lua_State *L, void *data)
{
    (void)L;
    text_free(data);
}

/* Where modules are: beside the program, beside its folder, among heddle's own, and with --allow-io where the user is. */
struct module_folders {
    const char *at[DATA_DIRS_MAX + 3];
    size_t len;
    struct data_dirs own;
};

static void find_folders(const struct script *s, struct module_folders *out)
{
    out->len = 0;
    out->at[out->len++] = s->folder;
    out->at[out->len++] = s->lib;
    data_dirs_find("workloads/lib", &out->own);
    for (size_t i = 0; i < out->own.len; i++)
        out->at[out->len++] = out->own.at[i];
    if (s->o->allow_io)
        out->at[out->len++] = ".";
}

/* Looks in the folders in turn; the chunk's name is the file's path. Leaves the function, or returns false. */
static bool load_module(lua_State *L, const char *name)
{
    struct module_folders folders;
    const char *relative = lua_pushfstring(L, "%s.lua", luaL_gsub(L, name, ".", "/"));
    struct text *source = guard_push_memory(L, free_source, sizeof *source);
    struct hd_error err;
    size_t length;
    bool found;

    find_folders(script_of(L), &folders);
    luaL_checkstack(L, DATA_DIRS_MAX + 8, NULL);
    for (size_t i = 0; i < folders.len; i++) {
        const char *chunk, *path = lua_pushfstring(L, "@%s/%s", folders.at[i], relative);

        if (file_read_below(folders.at[i], relative, &found, source, &err) != HD_OK)
            script_raise(L, &err);
        if (!found)
            continue;
        chunk = file_chunk(source, &length);
        switch (luaL_loadbufferx(L, chunk, length, path, "t")) {
        case LUA_OK:
            return true;
        case LUA_ERRSYNTAX:
            script_syntax_error(lua_tostring(L, -1), &err);
            return script_raise(L, &err), false;
        default:
            return lua_error(L), false;
        }
    }
    return false;
}

static int call_loader(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);

    if (!load_module(L, name))
        return script_error(L, "lua-require", NULL, "no module '%s': looked for %s.lua in %s and %s",
                            name, name, script_of(L)->folder, script_of(L)->lib);
    return 1;
}

static void run_module(lua_State *L, int modules, const char *name)
{
    lua_pushvalue(L, 1);
    lua_rawseti(L, modules, luaL_len(L, modules) + 1);
    guard_push(L, end_loading, 0);
    /* A function of its own, so that the source is freed when it is loaded and not when it has run. */
    lua_pushcfunction(L, call_loader);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1))
        script_error(L, "lua-require", "end the file with: return M",
                     "module '%s' returned nothing", name);
}

int script_require(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);

    lua_settop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, KEY_MODULES);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, 2) != LUA_TNIL)
        return 1;
    if (!is_module_name(name))
        return script_error(L, "lua-require", "write a.b for a/b.lua",
                            "'%s' is not the name of a module", name);
    refuse_cycle(L, 2, name);
    run_module(L, 2, name);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, 2);
    return 1;
}
