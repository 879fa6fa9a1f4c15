/* What the keys of a sweep mean: "workload", "seed", ... by a table, "arg.NAME", and configuration keys. */
#include "host/cli/sweep.h"

#include "host/config/config.h"
#include "host/config/find.h"
#include "sim/base/nearest.h"
#include "sim/base/regular.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum special_kind { SPECIAL_WORKLOAD, SPECIAL_CONFIG, SPECIAL_WHOLE, SPECIAL_CHOICE };

static const char *const on_off[] = {"on", "off", NULL};

#define AT(member) offsetof(struct cli_args, member)

static const struct special {
    const char *key;
    enum special_kind kind;
    size_t offset;
    const char *const *choices;
    uint64_t min, max; /* of whole numbers */
} specials[] = {
    {"workload", SPECIAL_WORKLOAD, 0, NULL, 0, 0},
    {"config", SPECIAL_CONFIG, AT(config), NULL, 0, 0},
    {"seed", SPECIAL_WHOLE, AT(seed), NULL, 0, UINT64_MAX},
    {"iterations", SPECIAL_WHOLE, AT(iterations), NULL, 1, CLI_ITERATIONS_MAX},
    {"warmup", SPECIAL_WHOLE, AT(warmup), NULL, 0, CLI_ITERATIONS_MAX},
    {"detail", SPECIAL_CHOICE, AT(detail), record_detail_names, 0, 0},
    {"timing", SPECIAL_CHOICE, AT(timing), on_off, 0, 0},
};

enum { NSPECIALS = sizeof specials / sizeof *specials };

_Static_assert(sizeof((const char *const[]){HD_SWEEP_SCALARS}) == NSPECIALS * sizeof(char *),
               "a key of the script's table has no meaning, or one too many");

static const struct special *find_special(const char *key)
{
    for (size_t i = 0; i < NSPECIALS; i++)
        if (strcmp(specials[i].key, key) == 0)
            return &specials[i];
    return NULL;
}

bool sweep_key_is_special(const char *key)
{
    return find_special(key) != NULL;
}

static const char *argument_name(const char *key)
{
    return strncmp(key, "arg.", 4) == 0 ? key + 4 : NULL;
}

/* ---- checks --------------------------------------------------------------------------------------- */

static enum hd_status unknown_key(const char *key, const char *place, struct hd_error *err)
{
    struct nearest near = nearest_start(key);
    const struct param *row;
    char hint[160];

    for (size_t i = 0; i < NSPECIALS; i++)
        nearest_offer(&near, specials[i].key);
    for (size_t i = 0; (row = hd_config_row(i, NULL, NULL)) != NULL; i++)
        nearest_offer(&near, row->path);
    if (near.best)
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", near.best);
    else
        snprintf(hint, sizeof hint,
                 "a key is workload, config, seed, arg.NAME, or what heddle list parameters shows");
    return hd_error_set(err, HD_BAD_INPUT, "sweep-key", place, hint, "there is no key \"%s\"", key);
}

static enum hd_status wrong_value(const struct sweep_setting *s, const char *place,
                                  const char *wanted, struct hd_error *err)
{
    struct text value = {0};
    enum hd_status status;

    hd_sweep_text(s->value, &value);
    status = hd_error_set(err, HD_BAD_INPUT, "sweep-value", place, NULL,
                          "%s must be %s, not \"%s\"", s->key, wanted, text_str(&value));
    text_free(&value);
    return status;
}

/* A path of the script's is beside the script. NULL when memory is short. */
static char *path_of(const struct hd_sweep *sweep, const struct sweep_setting *s)
{
    struct text path = {0};
    const char *name = s->value->s;

    if (s->given || *name == '/' || strcmp(sweep->folder, ".") == 0)
        text_add(&path, "%s", name);
    else
        text_add(&path, "%s/%s", sweep->folder, name);
    if (!path.failed)
        return path.at;
    text_free(&path);
    return NULL;
}

/* A configuration is a file by the form of its name. */
static char *config_path_of(const struct hd_sweep *sweep, const struct sweep_setting *s)
{
    return config_is_file(s->value->s) ? path_of(sweep, s) : strdup(s->value->s);
}

static enum hd_status check_workload(const char *path, const char *place, struct hd_error *err)
{
    const char *why;
    FILE *file = regular_open(path, &why);

    if (!file)
        return hd_error_set(err, HD_BAD_INPUT, "sweep-workload", place,
                            "the path is from the script's folder",
                            "cannot read the workload \"%s\": %s", path, why);
    fclose(file);
    return HD_OK;
}

static enum hd_status check_file(const struct hd_sweep *sweep, const struct sweep_setting *s,
                                 enum special_kind kind, const char *place, struct hd_error *err)
{
    struct hd_options scratch;
    enum hd_status status;
    char *path;

    if (s->value->kind != HD_SCRIPT_STRING || !*s->value->s)
        return wrong_value(s, place, "a name", err);
    path = kind == SPECIAL_CONFIG ? config_path_of(sweep, s) : path_of(sweep, s);
    if (!path)
        return hd_no_memory(err, "the name of a file");
    hd_options_default(&scratch);
    status = kind == SPECIAL_CONFIG ? hd_config_load(path, &scratch, err)
                                    : check_workload(path, place, err);
    if (status != HD_OK && !*err->place)
        snprintf(err->place, sizeof err->place, "%s", place);
    free(path);
    return status;
}

static bool find_choice(const struct special *special, const struct hd_script_value *v,
                        uint32_t *index)
{
    if (v->kind != HD_SCRIPT_STRING)
        return false;
    for (uint32_t i = 0; special->choices[i]; i++) {
        *index = i;
        if (strcmp(special->choices[i], v->s) == 0)
            return true;
    }
    return false;
}

/* What the command line gives are 64 bits without a sign. */
static enum hd_status check_whole(const struct special *special, const struct sweep_setting *s,
                                  const char *place, struct hd_error *err)
{
    const uint64_t n = (uint64_t)s->value->i;
    char wanted[80];

    if (!s->given && (s->value->kind != HD_SCRIPT_INT || s->value->i < 0))
        return wrong_value(s, place, "a whole number", err);
    if (n >= special->min && n <= special->max)
        return HD_OK;
    snprintf(wanted, sizeof wanted, "from %" PRIu64 " to %" PRIu64, special->min, special->max);
    return wrong_value(s, place, wanted, err);
}

static enum hd_status check_special(const struct hd_sweep *sweep, const struct special *special,
                                    const struct sweep_setting *s, const char *place,
                                    struct hd_error *err)
{
    char wanted[96] = "one of";
    uint32_t index;

    switch (special->kind) {
    case SPECIAL_WORKLOAD:
    case SPECIAL_CONFIG:
        return check_file(sweep, s, special->kind, place, err);
    case SPECIAL_WHOLE:
        return check_whole(special, s, place, err);
    case SPECIAL_CHOICE:
        if (find_choice(special, s->value, &index))
            return HD_OK;
        for (size_t i = 0, n = strlen(wanted); special->choices[i] && n < sizeof wanted; i++)
            n += (size_t)snprintf(wanted + n, sizeof wanted - n, "%s%s", i ? ", " : " ",
                                  special->choices[i]);
        return wrong_value(s, place, wanted, err);
    }
    return HD_BROKEN(err, "the key %s is of no kind", s->key);
}

static enum hd_status check_parameter(const struct sweep_setting *s, const char *place,
                                      struct hd_error *err)
{
    struct hd_options scratch;
    struct text assignment = {0};
    enum hd_status status;

    hd_options_default(&scratch);
    text_add(&assignment, "%s=", s->key);
    hd_sweep_text(s->value, &assignment);
    status = hd_config_set(&scratch, text_str(&assignment), err);
    text_free(&assignment);
    if (status == HD_OK)
        return HD_OK;
    snprintf(err->place, sizeof err->place, "%s", place);
    return HD_BAD_INPUT;
}

enum hd_status sweep_key_check(const struct hd_sweep *sweep, const struct sweep_setting *s,
                               const char *place, struct hd_error *err)
{
    const struct special *special = find_special(s->key);
    const char *argument = argument_name(s->key);

    if (special)
        return check_special(sweep, special, s, place, err);
    if (argument && *argument && !strchr(argument, '='))
        return HD_OK;
    if (argument || !hd_config_param(s->key))
        return unknown_key(s->key, place, err);
    return check_parameter(s, place, err);
}

/* ---- use ------------------------------------------------------------------------------------------ */

/* The run owns the text from here on; NULL passes through. */
static bool own(struct sweep_run *run, char *text)
{
    if (text && vec_push(&run->texts, text))
        return true;
    free(text);
    return false;
}

static bool apply_special(const struct hd_sweep *sweep, const struct special *special,
                          const struct sweep_setting *s, struct sweep_run *run)
{
    void *field = (char *)&run->args + special->offset;
    char *path;

    switch (special->kind) {
    case SPECIAL_WORKLOAD:
        path = path_of(sweep, s);
        return own(run, path) && vec_push(&run->args.words, path);
    case SPECIAL_CONFIG:
        *(char **)field = config_path_of(sweep, s);
        return own(run, *(char **)field);
    case SPECIAL_WHOLE:
        *(uint64_t *)field = (uint64_t)s->value->i;
        return true;
    case SPECIAL_CHOICE:
        return find_choice(special, s->value, field);
    }
    return false;
}

bool sweep_key_apply(const struct hd_sweep *sweep, const struct sweep_setting *s,
                     struct sweep_run *run)
{
    const struct special *special = find_special(s->key);
    const char *argument = argument_name(s->key);
    struct text assignment = {0};

    if (special)
        return apply_special(sweep, special, s, run);
    text_add(&assignment, "%s=", argument ? argument : s->key);
    hd_sweep_text(s->value, &assignment);
    if (assignment.failed) {
        text_free(&assignment);
        return false;
    }
    if (!own(run, assignment.at))
        return false;
    return argument ? vec_push(&run->args.arg, assignment.at)
                    : vec_push(&run->args.set, assignment.at);
}
