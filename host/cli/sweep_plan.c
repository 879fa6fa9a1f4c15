/* The points of a sweep: what each sets, and its id. */
#include "host/cli/sweep.h"

#include "sim/base/regular.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ------------------------------------------------------------------------------- */

static bool give(struct sweep_plan *plan, const char *prefix, const char *name, size_t len,
                 const struct hd_script_value *value)
{
    struct hd_sweep_setting s = {NULL, *value};
    struct text key = {0};

    text_add(&key, "%s", prefix);
    text_add_bytes(&key, name, len);
    s.key = key.at;
    if (value->kind == HD_SCRIPT_STRING)
        s.value.s = strdup(value->s);
    if (!key.failed && (value->kind != HD_SCRIPT_STRING || s.value.s) && vec_push(&plan->given, s))
        return true;
    free(s.key);
    if (value->kind == HD_SCRIPT_STRING)
        free(s.value.s);
    return false;
}

static enum hd_status give_text(struct sweep_plan *plan, const char *key, const char *text,
                                struct hd_error *err)
{
    const struct hd_script_value value = {.kind = HD_SCRIPT_STRING, .s = (char *)text};

    if (!text || give(plan, "", key, strlen(key), &value))
        return HD_OK;
    return hd_no_memory(err, "the points of the sweep");
}

/* UINT64_MAX: not given. */
static enum hd_status give_number(struct sweep_plan *plan, const char *key, uint64_t number,
                                  struct hd_error *err)
{
    const struct hd_script_value value = {.kind = HD_SCRIPT_INT, .i = (int64_t)number};

    if (number == UINT64_MAX || give(plan, "", key, strlen(key), &value))
        return HD_OK;
    return hd_no_memory(err, "the points of the sweep");
}

/* "KEY=VALUE" of --set and --arg; the last of one key counts. */
static enum hd_status give_list(struct sweep_plan *plan, const char *option, const char *prefix,
                                const struct cli_list *list, struct hd_error *err)
{
    for (size_t i = 0; i < list->len; i++) {
        const size_t len = strcspn(list->at[i], "=");
        const struct hd_script_value value = {.kind = HD_SCRIPT_STRING,
                                              .s = (char *)list->at[i] + len + 1};

        if (len == 0 || list->at[i][len] != '=')
            return hd_error_set(err, HD_USAGE, "usage", option, "write KEY=VALUE",
                                "%s \"%s\" is not of the form KEY=VALUE", option, list->at[i]);
        if (!give(plan, prefix, list->at[i], len, &value))
            return hd_no_memory(err, "the points of the sweep");
    }
    return HD_OK;
}

static enum hd_status take_command_line(struct sweep_plan *plan, struct hd_error *err)
{
    const struct cli_args *args = plan->args;
    enum hd_status status = give_list(plan, "--set", "", &args->set, err);

    for (size_t i = 0; i < plan->given.len && status == HD_OK; i++)
        if (sweep_key_is_special(plan->given.at[i].key))
            status = hd_error_set(err, HD_USAGE, "usage", "--set", NULL,
                                  "%s is no parameter; write --%s", plan->given.at[i].key,
                                  plan->given.at[i].key);
    if (status == HD_OK)
        status = give_list(plan, "--arg", "arg.", &args->arg, err);
    if (status == HD_OK)
        status = give_text(plan, "config", args->config, err);
    if (status == HD_OK)
        status = give_number(plan, "seed", args->seed, err);
    if (status == HD_OK)
        status = give_number(plan, "iterations", args->iterations, err);
    if (status == HD_OK)
        status = give_number(plan, "warmup", args->warmup, err);
    if (status == HD_OK && args->detail != UINT32_MAX)
        status = give_text(plan, "detail", record_detail_names[args->detail], err);
    if (status == HD_OK && args->timing == CLI_TIMING_OFF)
        status = give_text(plan, "timing", "off", err);
    return status;
}

static enum hd_status check_given(const struct sweep_plan *plan, struct hd_error *err)
{
    for (size_t i = 0; i < plan->given.len; i++)
        for (size_t a = 0; a < plan->sweep->columns.len; a++)
            if (strcmp(plan->given.at[i].key, plan->sweep->columns.at[a].key) == 0)
                return hd_error_set(err, HD_USAGE, "usage", plan->sweep->path,
                                    "change the values in the script",
                                    "the command line sets %s, which is an axis of the sweep",
                                    plan->given.at[i].key);
    return HD_OK;
}

/* ---- settings --------------------------------------------------------------------------------------- */

/* Puts the setting in its place; one of the same key is replaced. */
static bool put(struct sweep_settings *list, struct sweep_setting s)
{
    size_t at = list->len;

    while (at > 0 && strcmp(list->at[at - 1].key, s.key) >= 0)
        at--;
    if (at < list->len && strcmp(list->at[at].key, s.key) == 0) {
        list->at[at] = s;
        return true;
    }
    if (!vec_push(list, s))
        return false;
    memmove(list->at + at + 1, list->at + at, (list->len - 1 - at) * sizeof *list->at);
    list->at[at] = s;
    return true;
}

static bool make_base(struct sweep_plan *plan)
{
    bool ok = true;

    for (size_t i = 0; i < plan->sweep->base.len && ok; i++) {
        const struct hd_sweep_setting *s = &plan->sweep->base.at[i];

        ok = put(&plan->base, (struct sweep_setting){s->key, &s->value, false});
    }
    for (size_t i = 0; i < plan->given.len && ok; i++) {
        const struct hd_sweep_setting *s = &plan->given.at[i];

        ok = put(&plan->base, (struct sweep_setting){s->key, &s->value, true});
    }
    return ok;
}

/* All that a point sets; the list is used again. */
static bool settings_of(const struct sweep_plan *plan, size_t point, struct sweep_settings *out)
{
    bool ok = true;

    out->len = 0;
    for (size_t i = 0; i < plan->base.len && ok; i++)
        ok = vec_push(out, plan->base.at[i]);
    for (size_t a = 0; a < plan->sweep->columns.len && ok; a++) {
        const struct hd_script_value *value = hd_sweep_value(plan->sweep, a, point);

        if (value)
            ok = put(out, (struct sweep_setting){plan->sweep->columns.at[a].key, value, false});
    }
    return ok;
}

static enum hd_status check_base(const struct sweep_plan *plan, struct hd_error *err)
{
    char place[256];
    enum hd_status status = HD_OK;

    for (size_t i = 0; i < plan->base.len && status == HD_OK; i++) {
        const struct sweep_setting *s = &plan->base.at[i];

        if (s->given)
            snprintf(place, sizeof place, "%s",
                     sweep_key_is_special(s->key) ? "command line" : "--set");
        else
            snprintf(place, sizeof place, "%s (%s)", plan->sweep->path, s->key);
        status = sweep_key_check(plan->sweep, s, place, err);
    }
    return status;
}

static enum hd_status check_column(const struct sweep_plan *plan,
                                   const struct hd_sweep_column *column, struct hd_error *err)
{
    const struct hd_sweep_axis *axis = &plan->sweep->axes.at[column->axis];
    enum hd_status status = HD_OK;
    char place[256];

    snprintf(place, sizeof place, "%s (axis %s)", plan->sweep->path, column->key);
    for (size_t i = column->at; i < axis->values.len && status == HD_OK; i += axis->width) {
        const struct sweep_setting s = {column->key, &axis->values.at[i], false};

        if (hd_sweep_is_unset(s.value))
            continue;
        status = sweep_key_check(plan->sweep, &s, place, err);
    }
    if (status == HD_OK && axis->repeated && column->at == 0)
        cli_warn("axis %s: %zu values are there before and run once", column->key, axis->repeated);
    return status;
}

/* Every point needs a program; what else is missing has a default. */
static enum hd_status check_workload(const struct sweep_plan *plan, struct hd_error *err)
{
    for (size_t i = 0; i < plan->base.len; i++)
        if (strcmp(plan->base.at[i].key, "workload") == 0)
            return HD_OK;
    for (size_t i = 0; i < plan->sweep->columns.len; i++)
        if (strcmp(plan->sweep->columns.at[i].key, "workload") == 0)
            return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "sweep-workload", plan->sweep->path,
                        "write workload = \"NAME.lua\"", "the sweep names no workload");
}

/* post reads them when all points have run: too late to find that one is not there. */
static enum hd_status check_inputs(const struct sweep_plan *plan, struct hd_error *err)
{
    for (size_t i = 0; i < plan->sweep->inputs.len; i++) {
        const struct hd_sweep_input *input = &plan->sweep->inputs.at[i];
        const char *why;
        FILE *file = regular_open(input->path, &why);

        if (!file)
            return hd_error_set(err, HD_BAD_INPUT, "sweep-input", plan->sweep->path,
                                "the path is from the script's folder",
                                "cannot read the input %s, \"%s\": %s", input->name, input->path,
                                why);
        fclose(file);
    }
    return HD_OK;
}

static enum hd_status check(const struct sweep_plan *plan, struct hd_error *err)
{
    enum hd_status status = check_given(plan, err);

    if (status == HD_OK)
        status = check_base(plan, err);
    for (size_t i = 0; i < plan->sweep->columns.len && status == HD_OK; i++)
        status = check_column(plan, &plan->sweep->columns.at[i], err);
    if (status == HD_OK)
        status = check_workload(plan, err);
    return status == HD_OK ? check_inputs(plan, err) : status;
}

/* ---- ids ---------------------------------------------------------------------------------------------- */

/*
 * FNV-1a of the settings as texts, in the order of their keys, so that an id says what a point is and not which script or
 * which order of axes led to it.
 */
static uint64_t id_of(const struct sweep_settings *settings, struct text *scratch)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    scratch->len = 0;
    for (size_t i = 0; i < settings->len; i++) {
        text_add(scratch, "%s=", settings->at[i].key);
        hd_sweep_text(settings->at[i].value, scratch);
        text_add_bytes(scratch, "", 1); /* no text has a NUL, so that nothing runs into the next */
    }
    for (size_t i = 0; i < scratch->len; i++)
        hash = (hash ^ (unsigned char)scratch->at[i]) * UINT64_C(1099511628211);
    return hash;
}

static int compare_ids(const void *a, const void *b)
{
    const struct sweep_id *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static enum hd_status make_ids(struct sweep_plan *plan, struct hd_error *err)
{
    struct sweep_settings settings = {0};
    struct text scratch = {0};
    bool ok = true;

    plan->ids = calloc(plan->count, sizeof *plan->ids);
    plan->id_of = calloc(plan->count, sizeof *plan->id_of);
    ok = plan->ids && plan->id_of;
    for (size_t i = 0; i < plan->count && ok; i++) {
        ok = settings_of(plan, i, &settings);
        plan->id_of[i] = ok ? id_of(&settings, &scratch) : 0;
        plan->ids[i] = (struct sweep_id){plan->id_of[i], i};
        ok = ok && !scratch.failed;
    }
    vec_free(&settings);
    text_free(&scratch);
    if (!ok)
        return hd_no_memory(err, "the points of the sweep");
    qsort(plan->ids, plan->count, sizeof *plan->ids, compare_ids);
    for (size_t i = 1; i < plan->count; i++)
        if (plan->ids[i - 1].id == plan->ids[i].id)
            return hd_error_set(err, HD_BAD_INPUT, "sweep-points", plan->sweep->path,
                                "leave one of them out", "points %zu and %zu are one run",
                                plan->ids[i - 1].point, plan->ids[i].point);
    return HD_OK;
}

size_t sweep_plan_find(const struct sweep_plan *plan, const char *id)
{
    struct sweep_id key = {0};
    const struct sweep_id *found;
    char *end;

    if (strlen(id) != SWEEP_ID_SIZE - 1)
        return SIZE_MAX;
    key.id = strtoull(id, &end, 16);
    found = *end ? NULL : bsearch(&key, plan->ids, plan->count, sizeof key, compare_ids);
    return found ? found->point : SIZE_MAX;
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static enum hd_status load(struct sweep_plan *plan, struct hd_error *err)
{
    enum hd_status status =
        hd_sweep_load(plan->args->words.at[0], &plan->sweep, &plan->traceback, err);

    if (strcmp(err->code, "sweep-table") == 0) /* its place is in the table, not in a call */
        text_free(&plan->traceback);
    return status;
}

enum hd_status sweep_plan_make(struct sweep_plan *plan, const struct cli_args *args,
                               struct hd_error *err)
{
    enum hd_status status;

    memset(plan, 0, sizeof *plan);
    plan->args = args;
    status = load(plan, err);
    if (status == HD_OK)
        status = take_command_line(plan, err);
    if (status == HD_OK && !make_base(plan))
        status = hd_no_memory(err, "the points of the sweep");
    if (status == HD_OK)
        status = check(plan, err);
    if (status != HD_OK)
        return status;
    plan->count = hd_sweep_count(plan->sweep);
    if (plan->count == 0)
        return hd_error_set(err, HD_BAD_INPUT, "sweep-points", plan->sweep->path,
                            "split the sweep, or leave out values",
                            "the axes have more than %d points", HD_SWEEP_POINTS_MAX);
    return make_ids(plan, err);
}

void sweep_plan_free(struct sweep_plan *plan)
{
    for (size_t i = 0; i < plan->given.len; i++) {
        free(plan->given.at[i].key);
        free(plan->given.at[i].value.s);
    }
    vec_free(&plan->given);
    vec_free(&plan->base);
    free(plan->ids);
    free(plan->id_of);
    text_free(&plan->traceback);
    hd_sweep_free(plan->sweep);
}

void sweep_plan_label(const struct sweep_plan *plan, size_t point, struct text *out)
{
    const size_t start = out->len;

    for (size_t a = 0; a < plan->sweep->columns.len; a++) {
        const struct hd_script_value *value = hd_sweep_value(plan->sweep, a, point);

        if (!value)
            continue;
        text_add(out, "%s%s=", out->len > start ? " " : "", plan->sweep->columns.at[a].key);
        hd_sweep_text(value, out);
    }
}

/* ---- one point ------------------------------------------------------------------------------------------ */

void sweep_inline_start(struct json_writer *w, struct text *out)
{
    json_start(w, json_to_text(out), JSON_COMPACT);
    json_object(w, NULL);
}

void sweep_inline_end(struct json_writer *w, struct text *out)
{
    json_end(w);
    json_finish(w);
    if (out->len)
        out->at[--out->len] = '\0'; /* the newline */
}

static void write_axes(const struct sweep_plan *plan, size_t point, struct text *out)
{
    struct json_writer w;

    sweep_inline_start(&w, out);
    for (size_t a = 0; a < plan->sweep->columns.len; a++) {
        const struct hd_script_value *value = hd_sweep_value(plan->sweep, a, point);

        if (value)
            hd_sweep_json(&w, plan->sweep->columns.at[a].key, value);
    }
    sweep_inline_end(&w, out);
}

static void write_args(const struct sweep_settings *settings, struct text *out)
{
    struct json_writer w;

    sweep_inline_start(&w, out);
    for (size_t i = 0; i < settings->len; i++)
        if (strncmp(settings->at[i].key, "arg.", 4) == 0)
            hd_sweep_json(&w, settings->at[i].key + 4, settings->at[i].value);
    sweep_inline_end(&w, out);
}

/* What the command line of the sweep says of every run. */
static void take_limits(struct cli_args *run, const struct cli_args *args)
{
    run->detail = RECORD_SUMMARY;
    run->seed = 1;
    run->iterations = run->warmup = UINT64_MAX;
    run->max_time = args->max_time;
    run->max_cycles = args->max_cycles;
    run->max_instr = args->max_instr;
    run->lanes = args->lanes;
}

bool sweep_run_make(struct sweep_run *run, const struct sweep_plan *plan, size_t point)
{
    struct sweep_settings settings = {0};
    bool ok;

    memset(run, 0, sizeof *run);
    take_limits(&run->args, plan->args);
    ok = settings_of(plan, point, &settings);
    for (size_t i = 0; i < settings.len && ok; i++)
        ok = sweep_key_apply(plan->sweep, &settings.at[i], run);
    snprintf(run->id, sizeof run->id, "%016" PRIx64, plan->id_of[point]);
    write_axes(plan, point, &run->axes_json);
    write_args(&settings, &run->args_json);
    vec_free(&settings);
    run->point = (struct result_point){run->id, point, text_str(&run->axes_json), 0};
    return ok && !run->axes_json.failed && !run->args_json.failed;
}

void sweep_run_free(struct sweep_run *run)
{
    for (size_t i = 0; i < run->texts.len; i++)
        free(run->texts.at[i]);
    vec_free(&run->texts);
    cli_args_free(&run->args);
    text_free(&run->axes_json);
    text_free(&run->args_json);
}
