/* One sweep script: its state is made here, and lives until the sweep is freed, for post. */
#include "host/lua/sweep_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the script --------------------------------------------------------------------------- */

struct load {
    const char *text;
    size_t length;
    struct hd_sweep *sweep;
    struct hd_error syntax;
};

static int no_device(lua_State *L)
{
    return script_error(L, "sweep-module", "call it in the workload",
                        "heddle.%s is for workloads: a sweep only says which runs are wanted",
                        luaL_checkstring(L, 2));
}

/* The module heddle explains itself to those who mix up the two kinds of script. */
static void open_modules(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L);
    sandbox_front(L, no_device, no_device);
    lua_setfield(L, -2, "heddle");
    lua_setfield(L, LUA_REGISTRYINDEX, KEY_MODULES);
}

static int run_script(lua_State *L)
{
    struct load *load = lua_touserdata(L, 1);

    sandbox_open(L);
    open_modules(L);
    if (!script_load(L, load->text, load->length, &load->syntax))
        return 0;
    limits_arm(L);
    lua_call(L, 0, 1);
    if (!lua_istable(L, -1))
        return script_error(L, "sweep-table",
                            "end the script with: return {workload = ..., axes = "
                            "...}",
                            "the script returned %s and not a table", luaL_typename(L, -1));
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, KEY_SWEEP);
    sweep_read(L, load->sweep);
    return 0;
}

static void print_to_stderr(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

static enum hd_status start(struct hd_sweep *sweep, const struct text *source, struct hd_error *err)
{
    struct sweep_script *own = sweep->script;
    struct script *s = &own->script;
    struct load load = {.sweep = sweep};
    enum hd_status status;

    hd_script_options_default(&own->options);
    own->options.path = sweep->path;
    own->options.print = print_to_stderr;
    s->o = &own->options;
    s->info = &own->info;
    s->limits.max_memory = (size_t)own->options.max_memory;
    s->limits.max_instructions = own->options.max_instructions;
    status = script_folders(s, err);
    if (status == HD_OK)
        status = script_open(s, err);
    if (status != HD_OK)
        return status;
    sweep->folder = strdup(s->folder);
    load.text = file_chunk(source, &load.length);
    if (!sweep->folder)
        return hd_no_memory(err, "the sweep");
    status = script_protected(s, run_script, &load, err);
    if (status != HD_OK || load.syntax.status == HD_OK)
        return status;
    *err = load.syntax;
    return load.syntax.status;
}

enum hd_status hd_sweep_load(const char *path, struct hd_sweep **out, struct text *traceback,
                             struct hd_error *err)
{
    struct hd_sweep *sweep = calloc(1, sizeof *sweep);
    struct text source = {0};
    enum hd_status status;

    *out = NULL;
    if (sweep) {
        sweep->path = strdup(path);
        sweep->script = calloc(1, sizeof *sweep->script);
    }
    if (!sweep || !sweep->path || !sweep->script) {
        hd_sweep_free(sweep);
        return hd_no_memory(err, "the sweep");
    }
    status = file_read(path, &source, err);
    if (status == HD_OK)
        status = start(sweep, &source, err);
    text_free(&source);
    if (status == HD_OK) {
        *out = sweep;
        return HD_OK;
    }
    text_add(traceback, "%s", text_str(&sweep->script->info.traceback));
    hd_sweep_free(sweep);
    return status;
}

static void free_axis(struct hd_sweep_axis *axis)
{
    for (size_t i = 0; i < axis->values.len; i++)
        free(axis->values.at[i].s);
    vec_free(&axis->values);
}

void hd_sweep_free(struct hd_sweep *sweep)
{
    if (!sweep)
        return;
    for (size_t i = 0; i < sweep->base.len; i++) {
        free(sweep->base.at[i].key);
        free(sweep->base.at[i].value.s);
    }
    for (size_t i = 0; i < sweep->axes.len; i++)
        free_axis(&sweep->axes.at[i]);
    for (size_t i = 0; i < sweep->inputs.len; i++) {
        free(sweep->inputs.at[i].name);
        free(sweep->inputs.at[i].path);
    }
    vec_free(&sweep->base);
    for (size_t i = 0; i < sweep->columns.len; i++)
        free(sweep->columns.at[i].key);
    vec_free(&sweep->axes);
    vec_free(&sweep->columns);
    vec_free(&sweep->inputs);
    if (sweep->script) {
        if (sweep->script->script.L)
            lua_close(sweep->script->script.L);
        hd_script_info_free(&sweep->script->info);
    }
    free(sweep->script);
    free(sweep->path);
    free(sweep->folder);
    free(sweep);
}

/* ---- the cross product --------------------------------------------------------------------- */

size_t hd_sweep_steps(const struct hd_sweep_axis *axis)
{
    return axis->values.len / axis->width;
}

size_t hd_sweep_count(const struct hd_sweep *sweep)
{
    size_t count = 1;

    for (size_t i = 0; i < sweep->axes.len; i++) {
        const size_t steps = hd_sweep_steps(&sweep->axes.at[i]);

        if (steps > HD_SWEEP_POINTS_MAX / count)
            return 0;
        count *= steps;
    }
    return count;
}

const struct hd_script_value *hd_sweep_value(const struct hd_sweep *sweep, size_t column,
                                             size_t point)
{
    const struct hd_sweep_column *c = &sweep->columns.at[column];
    const struct hd_sweep_axis *axis = &sweep->axes.at[c->axis];
    const struct hd_script_value *value;

    for (size_t i = sweep->axes.len; --i > c->axis;)
        point /= hd_sweep_steps(&sweep->axes.at[i]);
    value = &axis->values.at[point % hd_sweep_steps(axis) * axis->width + c->at];
    return hd_sweep_is_unset(value) ? NULL : value;
}

bool hd_sweep_is_unset(const struct hd_script_value *value)
{
    return value->kind == HD_SCRIPT_STRING && !value->s;
}

/* ---- values -------------------------------------------------------------------------------- */

void hd_sweep_json(struct json_writer *w, const char *key, const struct hd_script_value *value)
{
    switch (value->kind) {
    case HD_SCRIPT_INT:
        json_i64(w, key, value->i);
        break;
    case HD_SCRIPT_FLOAT:
        json_f64(w, key, value->f);
        break;
    case HD_SCRIPT_STRING:
        json_text(w, key, value->s);
        break;
    case HD_SCRIPT_BOOL:
        json_bool(w, key, value->i != 0);
        break;
    }
}

const char *sweep_word(const struct hd_script_value *value, char digits[SWEEP_DIGITS])
{
    switch (value->kind) {
    case HD_SCRIPT_INT:
        snprintf(digits, SWEEP_DIGITS, "%" PRId64, value->i);
        return digits;
    case HD_SCRIPT_FLOAT:
        json_format_double(digits, SWEEP_DIGITS, value->f);
        return digits;
    case HD_SCRIPT_STRING:
        return value->s;
    case HD_SCRIPT_BOOL:
        break;
    }
    return value->i ? "true" : "false";
}

void hd_sweep_text(const struct hd_script_value *value, struct text *out)
{
    char digits[SWEEP_DIGITS];

    text_add(out, "%s", sweep_word(value, digits));
}
