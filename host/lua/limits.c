/*
 * What a script may use up. Once a limit is reached the run is over: the hook, which then fires at every
 * instruction, call and return of every thread, raises the error again and again, so that no pcall, message handler,
 * __close or coroutine holds it. C functions that run long without an allocation or a call are not
 * seen here; the command ends the process some seconds after
 * its stop flag is set.
 */
#include "host/lua/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { HOOK_STEP = 1000 };

static void end_run(struct script *s, lua_State *L, const struct hd_error *why)
{
    if (s->limits.spent)
        return;
    s->limits.spent = true;
    s->why = *why;
    if (s->why.place[0] == '\0')
        script_place(L, s->why.place, sizeof s->why.place);
}

void limits_memory_error(const struct script *s, struct hd_error *err)
{
    hd_error_set(err, HD_SIM_FAILED, "lua-limit-memory",
                 s->limits.refused_place[0] ? s->limits.refused_place : s->o->path,
                 "keep data in arrays, which do not count, or raise the limit",
                 "the script needs more than its limit of %zu bytes of memory",
                 s->limits.max_memory);
}

/* ---- memory ----------------------------------------------------------------------------- */

/*
 * Lua itself answers a refusal by collecting garbage and asking the same again, and raises a memory error only
 * when that is refused too; its buffers of strings raise the error at once. (A second refusal to grow Lua's string table would do no harm, but then the limit
 * is all but reached.)
 */
static void *refuse(struct script *s, size_t new_size)
{
    struct hd_error why;

    /* Reading the line of a thread neither allocates nor changes it. A coroutine's place is where it was resumed. */
    if (s->L)
        script_place(s->L, s->limits.refused_place, sizeof s->limits.refused_place);
    if (s->limits.refused != new_size) {
        s->limits.refused = new_size;
        return NULL;
    }
    s->limits.refused = 0;
    limits_memory_error(s, &why);
    end_run(s, s->L, &why);
    return NULL;
}

void *limits_alloc(void *ud, void *at, size_t old_size, size_t new_size)
{
    struct script *s = ud;
    struct limits *m = &s->limits;
    const size_t held = at ? old_size : 0; /* without a block old_size says what is made */
    void *fresh;

    if (new_size == 0) {
        free(at);
        m->memory -= held;
        return NULL;
    }
    if (new_size > held && new_size - held > m->max_memory - m->memory)
        return refuse(s, new_size);
    fresh = realloc(at, new_size);
    if (!fresh)
        return refuse(s, new_size);
    if (new_size == m->refused)
        m->refused = 0;
    m->memory = m->memory - held + new_size;
    if (m->memory > m->peak_memory)
        m->peak_memory = m->memory;
    return fresh;
}

static bool fits(const struct limits *m, size_t bytes)
{
    return bytes <= m->max_memory - m->memory;
}

void limits_hold(lua_State *L, size_t bytes)
{
    struct script *s = script_of(L);
    struct limits *m = &s->limits;
    struct hd_error why;

    if (!fits(m, bytes))
        lua_gc(L, LUA_GCCOLLECT);
    if (!fits(m, bytes)) {
        script_place(L, m->refused_place, sizeof m->refused_place);
        limits_memory_error(s, &why);
        limits_end_run(L, &why);
    }
    m->memory += bytes;
    if (m->memory > m->peak_memory)
        m->peak_memory = m->memory;
}

void limits_let_go(lua_State *L, size_t bytes)
{
    script_of(L)->limits.memory -= bytes;
}

/* ---- instructions ----------------------------------------------------------------------- */

static void on_step(lua_State *L, lua_Debug *ar);

static int raise_again(lua_State *L)
{
    lua_sethook(L, on_step, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
    lua_pushstring(L, script_of(L)->why.message);
    return lua_error(L);
}

static void use_instructions(lua_State *L, uint64_t n)
{
    struct script *s = script_of(L);
    struct limits *m = &s->limits;
    struct hd_error why;

    if (n < m->max_instructions - m->instructions) {
        m->instructions += n;
        return;
    }
    m->instructions = m->max_instructions;
    hd_error_set(&why, HD_SIM_FAILED, "lua-limit-instructions", NULL,
                 "work on whole arrays with fill, map and copy, or raise the limit",
                 "the script ran into its limit of %" PRIu64 " instructions", m->max_instructions);
    limits_end_run(L, &why);
}

static void check_stop(lua_State *L)
{
    hd_runtime *rt = script_of(L)->rt;
    const struct hd_options *o = rt ? hd_runtime_options(rt) : NULL;
    struct hd_error why;

    if (!o || !o->limits.stop || !*o->limits.stop)
        return;
    hd_error_set(&why, HD_STOPPED, "stopped", NULL, NULL, "stopped while the script was running");
    limits_end_run(L, &why);
}

static void on_step(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    if (script_of(L)->limits.spent)
        raise_again(L);
    check_stop(L);
    use_instructions(L, HOOK_STEP);
}

void limits_arm(lua_State *L)
{
    lua_sethook(L, on_step, LUA_MASKCOUNT, HOOK_STEP);
}

void limits_charge(lua_State *L, uint64_t instructions)
{
    use_instructions(L, instructions);
}

int limits_end_run(lua_State *L, const struct hd_error *why)
{
    struct script *s = script_of(L);

    if (!s->limits.spent) {
        end_run(s, L, why);
        luaL_traceback(L, L, NULL, 0);
        text_add(&s->info->traceback, "%s", lua_tostring(L, -1));
    }
    return raise_again(L);
}
