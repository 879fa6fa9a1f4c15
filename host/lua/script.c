/* One run of a program: its state is made, used and freed here. */
#include "host/lua/script.h"

#include "host/lua/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---------------------------------------------------------------------------- */

static void print_to_stderr(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

void hd_script_options_default(struct hd_script_options *o)
{
    *o = (struct hd_script_options){
        .max_memory = UINT64_C(1) << 30,
        .max_instructions = UINT64_C(1) << 32,
        .iterations = HD_SCRIPT_UNSET,
        .warmup = HD_SCRIPT_UNSET,
        .seed = 1,
        .print = print_to_stderr,
    };
}

enum hd_status script_folders(struct script *s, struct hd_error *err)
{
    const char *lib = s->o->lib_dir;
    bool fits = file_folder(s->o->path, s->folder, sizeof s->folder);

    if (lib)
        fits = fits && (size_t)snprintf(s->lib, sizeof s->lib, "%s", lib) < sizeof s->lib;
    else
        fits =
            fits && (size_t)snprintf(s->lib, sizeof s->lib, "%s/../lib", s->folder) < sizeof s->lib;
    return fits ? HD_OK
                : hd_error_set(err, HD_BAD_INPUT, "lua-file", s->o->path, NULL,
                               "the path is too long");
}

static enum hd_status check_options(struct script *s, struct hd_error *err)
{
    enum hd_status status = named_check(s->o->args, s->o->nargs, "--arg", err);

    if (status == HD_OK)
        status = named_check(s->o->data, s->o->ndata, "--data", err);
    if (status == HD_OK)
        status = script_folders(s, err);
    return status;
}

/* ---- the run in Lua ----------------------------------------------------------------------- */

/* What run_program is handed; the error of the compiler comes back in it. */
struct chunk {
    const char *text;
    size_t length;
    struct hd_error syntax; /* HD_OK: it compiled */
};

static void open_state(lua_State *L)
{
    sandbox_open(L);
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, KEY_REGIONS);
    lua_newtable(L);
    api_open(L);
    lua_setfield(L, -2, "heddle");
    lua_setfield(L, LUA_REGISTRYINDEX, KEY_MODULES);
}

bool script_load(lua_State *L, const char *text, size_t length, struct hd_error *syntax)
{
    lua_pushfstring(L, "@%s", script_of(L)->o->path);
    switch (luaL_loadbufferx(L, text, length, lua_tostring(L, -1), "t")) {
    case LUA_OK:
        return true;
    case LUA_ERRSYNTAX:
        script_syntax_error(lua_tostring(L, -1), syntax);
        return false;
    default:
        return lua_error(L), false;
    }
}

static int run_program(lua_State *L)
{
    struct chunk *c = lua_touserdata(L, 1);

    open_state(L);
    if (!script_load(L, c->text, c->length, &c->syntax))
        return 0;
    limits_arm(L);
    lua_call(L, 0, 0);
    return 0;
}

/* Lua calls no message handler when memory is short, nor for an error in the handler itself. */
static void explain(struct script *s, int result)
{
    if (s->limits.spent)
        return;
    if (result == LUA_ERRMEM)
        limits_memory_error(s, &s->why);
    else if (result == LUA_ERRERR)
        hd_error_set(&s->why, HD_BAD_INPUT, "lua-error", s->o->path, NULL,
                     "an error in the __tostring of an error");
}

enum hd_status script_open(struct script *s, struct hd_error *err)
{
    lua_State *L = lua_newstate(limits_alloc, s);

    if (!L)
        return limits_memory_error(s, err), HD_SIM_FAILED;
    *(struct script **)lua_getextraspace(L) = s;
    s->L = L;
    return HD_OK;
}

enum hd_status script_protected(struct script *s, lua_CFunction fn, void *data, struct hd_error *err)
{
    int result;

    lua_settop(s->L, 0);
    lua_pushcfunction(s->L, script_on_error);
    lua_pushcfunction(s->L, fn);
    lua_pushlightuserdata(s->L, data);
    result = lua_pcall(s->L, 1, 0, 1);
    explain(s, result);
    if (result == LUA_OK && !s->limits.spent)
        return HD_OK;
    if (err)
        *err = s->why;
    return s->why.status;
}

static enum hd_status run_in_state(struct script *s, const struct text *source, struct hd_error *err)
{
    struct chunk c = {0};
    enum hd_status status = script_open(s, err);

    if (status != HD_OK)
        return status;
    c.text = file_chunk(source, &c.length);
    status = script_protected(s, run_program, &c, err);
    lua_close(s->L);
    if (status != HD_OK || c.syntax.status == HD_OK)
        return status;
    if (err)
        *err = c.syntax;
    return c.syntax.status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static enum hd_status run_source(struct script *s, struct hd_error *err)
{
    struct text source = {0};
    enum hd_status status = file_read(s->o->path, &source, err);

    if (status == HD_OK)
        status = run_in_state(s, &source, err);
    text_free(&source);
    s->info->instructions = s->limits.instructions;
    s->info->peak_memory = s->limits.peak_memory;
    if (status == HD_OK)
        status = script_check_unused(s, err);
    if (status == HD_OK)
        status = hd_finish(s->rt, err);
    return status;
}

static enum hd_status run(struct script *s, struct hd_error *err)
{
    enum hd_status status = check_options(s, err);

    if (status != HD_OK)
        return status;
    s->data_used = calloc(s->o->ndata + 1, sizeof *s->data_used);
    if (!s->data_used)
        return hd_no_memory(err, "the script");
    status = run_source(s, err);
    free(s->data_used);
    return status;
}

enum hd_status hd_script_run(hd_runtime *rt, const struct hd_script_options *o,
                             struct hd_script_info *info, struct hd_error *err)
{
    struct script *s = calloc(1, sizeof *s);
    enum hd_status status;

    if (!s)
        return hd_no_memory(err, "the script");
    s->rt = rt;
    s->o = o;
    s->info = info;
    s->limits.max_memory = o->max_memory ? (size_t)o->max_memory : SIZE_MAX;
    s->limits.max_instructions = o->max_instructions ? o->max_instructions : UINT64_MAX;
    status = run(s, err);
    free(s);
    return status;
}
