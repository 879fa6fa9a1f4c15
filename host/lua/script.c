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

static enum hd_status find_folders(struct script *s, struct hd_error *err)
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
        status = find_folders(s, err);
    return status;
}

/* ---- the run in Lua ----------------------------------------------------------------------- */

/* What the first protected function is handed; the error of the compiler comes back in it. */
struct chunk {
    const char *text;
    size_t length;
    struct hd_error syntax;
    bool refused;
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

static int run_program(lua_State *L)
{
    struct chunk *c = lua_touserdata(L, 1);

    open_state(L);
    lua_pushfstring(L, "@%s", script_of(L)->o->path);
    switch (luaL_loadbufferx(L, c->text, c->length, lua_tostring(L, -1), "t")) {
    case LUA_OK:
        break;
    case LUA_ERRSYNTAX:
        c->refused = true;
        script_syntax_error(lua_tostring(L, -1), &c->syntax);
        return 0;
    default:
        return lua_error(L);
    }
    limits_arm(L);
    lua_call(L, 0, 0);
    return 0;
}

/* Lua calls no message handler when memory is short, nor for an error in the handler itself. */
static void explain(struct script *s, int result, const struct chunk *c)
{
    if (s->limits.spent)
        return;
    if (c->refused)
        s->why = c->syntax;
    else if (result == LUA_ERRMEM)
        limits_memory_error(s, &s->why);
    else if (result == LUA_ERRERR)
        hd_error_set(&s->why, HD_BAD_INPUT, "lua-error", s->o->path, NULL,
                     "an error in the __tostring of an error");
}

static enum hd_status run_in_state(struct script *s, const struct text *source, struct hd_error *err)
{
    lua_State *L = lua_newstate(limits_alloc, s);
    struct chunk c = {0};
    int result;

    if (!L)
        return limits_memory_error(s, err), HD_SIM_FAILED;
    *(struct script **)lua_getextraspace(L) = s;
    s->L = L;
    c.text = file_chunk(source, &c.length);
    lua_pushcfunction(L, script_on_error);
    lua_pushcfunction(L, run_program);
    lua_pushlightuserdata(L, &c);
    result = lua_pcall(L, 1, 0, 1);
    explain(s, result, &c);
    lua_close(L);
    if (result == LUA_OK && !c.refused && !s->limits.spent)
        return HD_OK;
    if (err)
        *err = s->why;
    return s->why.status;
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
        return hd_error_set(err, HD_SIM_FAILED, "out-of-memory", NULL, NULL, "out of memory");
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
        return hd_error_set(err, HD_SIM_FAILED, "out-of-memory", NULL, NULL, "out of memory");
    s->rt = rt;
    s->o = o;
    s->info = info;
    s->limits.max_memory = o->max_memory ? (size_t)o->max_memory : SIZE_MAX;
    s->limits.max_instructions = o->max_instructions ? o->max_instructions : UINT64_MAX;
    status = run(s, err);
    free(s);
    return status;
}
