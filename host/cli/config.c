/* heddle config: presets and files that describe GPUs. */
#include "host/cli/cli.h"

#include "host/config/config.h"
#include "host/config/find.h"
#include "sim/base/nearest.h"

#include <string.h>

static enum hd_status load(const struct cli_args *args, struct hd_options *o, struct hd_error *err)
{
    enum hd_status status;
    size_t i;

    hd_options_default(o);
    status = hd_config_load(args->words.at[1], o, err);
    for (i = 0; i < args->set.len && status == HD_OK; i++)
        status = hd_config_set(o, args->set.at[i], err);
    if (status == HD_OK)
        status = sim_config_check(&o->gpu, err);
    if (status != HD_OK && !*err->place)
        snprintf(err->place, sizeof err->place, "%s", args->words.at[1]);
    return status;
}

static int list(const struct cli_args *args, struct hd_error *err)
{
    struct config_names names = {0};
    struct hd_options o;
    size_t i;

    (void)err;
    config_list(&names);
    for (i = 0; i < names.len; i++) {
        hd_options_default(&o);
        if (args->quiet || hd_config_load(names.at[i], &o, NULL) != HD_OK)
            printf("%s\n", names.at[i]);
        else
            printf("%-10s %s\n", names.at[i], o.gpu.name);
    }
    config_names_free(&names);
    return HD_OK;
}

static int show(const struct cli_args *args, struct hd_error *err)
{
    struct json_writer w;
    struct hd_options o;

    if (load(args, &o, err) != HD_OK)
        return cli_fail(err);
    json_start(&w, cli_stdout(), JSON_PRETTY);
    hd_config_write(&w, NULL, &o);
    json_finish(&w);
    return HD_OK;
}

static int check(const struct cli_args *args, struct hd_error *err)
{
    struct hd_options o;

    if (load(args, &o, err) != HD_OK)
        return cli_fail(err);
    if (!args->quiet)
        printf("%s: no mistake\n", args->words.at[1]);
    return HD_OK;
}

static int schema(const struct cli_args *args, struct hd_error *err)
{
    struct json_writer w;

    (void)args;
    (void)err;
    json_start(&w, cli_stdout(), JSON_PRETTY);
    hd_config_schema(&w);
    json_finish(&w);
    return HD_OK;
}

static const struct {
    const char *name;
    size_t words; /* with its own name */
    int (*run)(const struct cli_args *args, struct hd_error *err);
} actions[] = {
    {"list", 1, list},
    {"show", 2, show},
    {"check", 2, check},
    {"schema", 1, schema},
};

enum { NACTIONS = sizeof actions / sizeof *actions };

static int unknown_action(const char *name, struct hd_error *err)
{
    struct nearest near = nearest_start(name);
    char hint[96];
    size_t i;

    for (i = 0; i < NACTIONS; i++)
        nearest_offer(&near, actions[i].name);
    if (near.best)
        snprintf(hint, sizeof hint, "did you mean %s?", near.best);
    else
        snprintf(hint, sizeof hint, "list, show, check or schema");
    hd_error_set(err, HD_USAGE, "usage", NULL, hint, "heddle config cannot %s", name);
    return cli_fail(err);
}

int cli_config(const struct cli_args *args)
{
    const char *name = args->words.at[0];
    struct hd_error err;
    size_t i;

    hd_error_clear(&err);
    for (i = 0; i < NACTIONS; i++) {
        if (strcmp(actions[i].name, name) != 0)
            continue;
        if (args->words.len == actions[i].words)
            return cli_end(actions[i].run(args, &err));
        hd_error_set(&err, HD_USAGE, "usage", NULL, "heddle config show p100",
                     "heddle config %s takes %s", name,
                     actions[i].words == 1 ? "no name" : "a name or a file");
        return cli_fail(&err);
    }
    return unknown_action(name, &err);
}
