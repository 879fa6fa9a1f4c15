/* heddle list: names that a configuration or a program may use, from the tables. */
#include "host/cli/cli.h"

#include "host/config/config.h"
#include "host/config/find.h"
#include "host/lua/script.h"
#include "isa/isa.h"
#include "isa/manual.h"
#include "sim/base/nearest.h"

#include <string.h>

/* Takes one name of a group; extra is more about it, or NULL. */
typedef void item_fn(void *user, const char *name, const char *extra, const char *doc);

struct group {
    const char *name, *doc;
    void (*each)(const struct group *g, item_fn *item, void *user);
    const char *path; /* of groups that are the choices of one parameter */
};

static void each_config(const struct group *g, item_fn *item, void *user)
{
    struct config_names names = {0};
    struct hd_options o;
    size_t i;

    (void)g;
    config_list(&names);
    for (i = 0; i < names.len; i++) {
        hd_options_default(&o);
        item(user, names.at[i], NULL,
             hd_config_load(names.at[i], &o, NULL) == HD_OK ? o.gpu.name : "cannot be read");
    }
    config_names_free(&names);
}

static void each_choice(const struct group *g, item_fn *item, void *user)
{
    const struct param_choice *c;

    for (c = hd_config_param(g->path)->choices; c->name; c++)
        item(user, c->name, NULL, c->doc);
}

/* The choices of every parameter that has some, named "KEY=VALUE". */
static void each_policy(const struct group *g, item_fn *item, void *user)
{
    const struct param *row;
    const struct param_choice *c;
    char name[128];
    size_t i;

    (void)g;
    for (i = 0; (row = hd_config_row(i, NULL, NULL)) != NULL; i++) {
        for (c = row->kind == PARAM_KIND_CHOICE ? row->choices : NULL; c && c->name; c++) {
            snprintf(name, sizeof name, "%s=%s", row->path, c->name);
            item(user, name, NULL, c->doc);
        }
    }
}

static void each_parameter(const struct group *g, item_fn *item, void *user)
{
    const struct param *row;
    size_t i;

    (void)g;
    for (i = 0; (row = hd_config_row(i, NULL, NULL)) != NULL; i++)
        item(user, row->path, row->unit, row->doc);
}

static void each_opcode(const struct group *g, item_fn *item, void *user)
{
    int i;

    (void)g;
    for (i = 0; i < ISA_NUM_OPS; i++)
        item(user, isa_ops[i].name, NULL, isa_ops[i].doc);
}

static void each_function(const struct group *g, item_fn *item, void *user)
{
    struct hd_script_api row;
    char name[64];
    size_t i;

    (void)g;
    for (i = 0; hd_script_api_row(i, &row); i++) {
        snprintf(name, sizeof name, "%s%s", row.group, row.name);
        item(user, name, row.args, row.doc);
    }
}

static const struct group groups[] = {
    {"configs", "presets for --config", each_config, NULL},
    {"schedulers", "values of host.scheduler", each_choice, "host.scheduler"},
    {"policies", "values of every parameter that is a choice", each_policy, NULL},
    {"divergence-units", "values of divergence.unit", each_choice, "divergence.unit"},
    {"detectors", "values of tm.detector", each_choice, "tm.detector"},
    {"serialisations", "values of tm.serialise", each_choice, "tm.serialise"},
    {"parameters", "keys of configurations and of --set", each_parameter, NULL},
    {"opcodes", "instructions", each_opcode, NULL},
    {"api", "functions of host programs", each_function, NULL},
};

enum { NGROUPS = sizeof groups / sizeof *groups };

/* ---- output ---------------------------------------------------------------------------------- */

enum { LEFT = 28 }; /* columns of names; what is longer has a line of its own */

static void print_item(void *user, const char *name, const char *extra, const char *doc)
{
    char left[128];

    (void)user;
    snprintf(left, sizeof left, "%s%s%s", name, extra && *extra && *extra != '(' ? " " : "",
             extra ? extra : "");
    if (strlen(left) > LEFT)
        printf("  %s\n  %*s  %s\n", left, LEFT, "", doc);
    else
        printf("  %-*s  %s\n", LEFT, left, doc);
}

static void json_item(void *user, const char *name, const char *extra, const char *doc)
{
    struct json_writer *w = user;

    json_row_object(w, NULL);
    json_text(w, "name", name);
    if (extra && *extra)
        json_text(w, *extra == '(' ? "args" : "unit", extra);
    json_text(w, "doc", doc);
    json_end(w);
}

static void print_manual(void)
{
    struct text manual = {0};

    isa_manual(&manual);
    fputs(text_str(&manual), stdout);
    text_free(&manual);
}

/* At length the opcodes are their manual. */
static void print_groups(const struct group *g, size_t count, bool at_length)
{
    for (; count--; g++) {
        if (at_length && g->each == each_opcode) {
            print_manual();
            continue;
        }
        printf("%s: %s\n", g->name, g->doc);
        g->each(g, print_item, NULL);
    }
}

static void json_groups(const struct group *g, size_t count)
{
    struct json_writer w;

    json_start(&w, cli_stdout(), JSON_PRETTY);
    json_object(&w, NULL);
    for (; count--; g++) {
        json_array(&w, g->name);
        g->each(g, json_item, &w);
        json_end(&w);
    }
    json_end(&w);
    json_finish(&w);
}

static int unknown_group(const char *name)
{
    struct nearest near = nearest_start(name);
    struct text all = {0};
    char hint[160];
    struct hd_error err;
    size_t i;

    for (i = 0; i < NGROUPS; i++) {
        nearest_offer(&near, groups[i].name);
        text_add(&all, "%s%s", i ? ", " : "", groups[i].name);
    }
    text_add(&all, ", and those of a parameter with choices");
    snprintf(hint, sizeof hint, "%s%s", near.best ? "did you mean " : "there are ",
             near.best ? near.best : text_str(&all));
    text_free(&all);
    hd_error_set(&err, HD_USAGE, "usage", NULL, hint, "there is no list of \"%s\"", name);
    return cli_fail(&err);
}

/* The group of that name, or the choices of the parameter of that name, which take *of_key. */
static const struct group *find_group(const char *name, struct group *of_key)
{
    const struct param *row = hd_config_param(name);
    size_t i;

    for (i = 0; i < NGROUPS; i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    if (!row || row->kind != PARAM_KIND_CHOICE)
        return NULL;
    *of_key = (struct group){row->path, row->doc, each_choice, row->path};
    return of_key;
}

int cli_list(const struct cli_args *args)
{
    const struct group *first = groups;
    size_t count = NGROUPS;
    struct group of_key;

    if (args->words.len) {
        first = find_group(args->words.at[0], &of_key);
        count = 1;
    }
    if (!first)
        return unknown_group(args->words.at[0]);
    if (args->json)
        json_groups(first, count);
    else
        print_groups(first, count, args->verbose);
    return cli_end(HD_OK);
}
