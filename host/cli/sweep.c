/* heddle sweep: a program over all combinations of the values of axes. */
#include "host/cli/sweep.h"

#include "host/results/outfile.h"

#include <stdlib.h>
#include <string.h>

/* ---- the script's own files ------------------------------------------------------------------------ */

struct post_files {
    struct sweep_store *store;
    struct text written; /* names, for the message */
};

static bool next_row(void *user, size_t i, const char **line, size_t *len)
{
    struct post_files *files = user;

    if (i >= files->store->plan->count)
        return false;
    *line = sweep_store_row(files->store, i, len);
    return *line != NULL;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t len = strlen(name), n = strlen(end);

    return len >= n && strcmp(name + len - n, end) == 0;
}

/* What post makes are tables and figures: a slip in a name must not cost a program, or the rows. */
static bool is_guarded(const char *name)
{
    static const char *const ends[] = {".lua", ".hasm", ".jsonl", ".part"};
    bool guarded = false;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        guarded |= ends_in(name, ends[i]);
    return guarded;
}

/* Beside --out. */
static enum hd_status write_output(void *user, const char *name, const char *text, size_t len,
                                   struct hd_error *err)
{
    struct post_files *files = user;
    const char *out = files->store->path, *slash = strrchr(out, '/');
    struct text path = {0};
    struct out_file file;
    struct json_out to;
    enum hd_status status;

    if (is_guarded(name))
        return hd_error_set(err, HD_BAD_INPUT, "sweep-table", NULL, "give the file another name",
                            "post would write over \"%s\": programs and rows are not its to write",
                            name);
    text_add(&path, "%.*s%s", slash ? (int)(slash + 1 - out) : 0, out, name);
    status = out_open(&file, text_str(&path), err);
    if (status == HD_OK) {
        to = out_json(&file);
        to.write(to.user, text, len);
        status = out_commit(&file, err);
    }
    if (status == HD_OK)
        text_add(&files->written, "%s%s", files->written.len ? ", " : "", text_str(&path));
    text_free(&path);
    return status;
}

static enum hd_status run_post(struct sweep_plan *plan, struct sweep_store *store, FILE *to,
                               struct hd_error *err)
{
    struct post_files files = {store, {0}};
    const struct hd_sweep_post post = {&files, next_row, write_output};
    enum hd_status status;

    if (!plan->sweep->has_post || !store->part)
        return HD_OK;
    status = hd_sweep_run_post(plan->sweep, &post, &plan->traceback, err);
    if (files.written.len && !plan->args->quiet)
        fprintf(to, "wrote %s\n", files.written.at);
    text_free(&files.written);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------- */

static FILE *table_to(const struct cli_args *args)
{
    return args->out && strcmp(args->out, "-") == 0 ? stderr : stdout;
}

/* Said ahead of a run that may be long. */
static void warn_of_loss(const struct sweep_plan *plan, const struct sweep_store *store)
{
    if (!plan->args->out)
        cli_warn("without --out FILE.jsonl the results are not kept%s",
                 plan->sweep->has_post ? ", and post does not run" : "");
    else if (plan->sweep->has_post && !store->part)
        cli_warn(
            "the files of the sweep's post go beside --out FILE.jsonl; there are none without");
}

/* *stopped: not all points have run. The result is the exit status where all is well with the sweep itself. */
static enum hd_status run_and_finish(struct sweep_plan *plan, struct sweep_store *store,
                                     bool *stopped, struct hd_error *err)
{
    const struct cli_args *args = plan->args;
    enum hd_status status = sweep_pool_run(plan, store, stopped, err), finished;
    struct hd_error ignored;

    /* Whatever ended it, what has run is kept. */
    finished =
        sweep_store_finish(store, *stopped || status != HD_OK, status == HD_OK ? err : &ignored);
    if (status == HD_OK)
        status = finished;
    if (status != HD_OK)
        return status;
    if (!args->quiet)
        sweep_print_outcomes(store, table_to(args));
    sweep_complain(store);
    return *stopped ? HD_OK : run_post(plan, store, table_to(args), err);
}

static enum hd_status sweep(struct sweep_plan *plan, struct sweep_store *store, bool *stopped,
                            struct hd_error *err)
{
    enum hd_status status = session_check_outputs(plan->args, err);

    if (status == HD_OK)
        status = sweep_plan_make(plan, plan->args, err);
    if (status == HD_OK)
        status = sweep_store_open(store, plan, err);
    if (status != HD_OK)
        return status;
    if (!plan->args->dry_run) {
        warn_of_loss(plan, store);
        return run_and_finish(plan, store, stopped, err);
    }
    sweep_print_plan(plan, store, stdout);
    return HD_OK;
}

int cli_sweep(const struct cli_args *args)
{
    struct sweep_plan plan = {.args = args};
    struct sweep_store store = {0};
    bool stopped = false;
    struct hd_error err;
    enum hd_status status, worst;

    hd_error_clear(&err);
    status = sweep(&plan, &store, &stopped, &err);
    worst = store.worst;
    if (stopped && store.part)
        fprintf(stderr, "heddle: stopped; --resume runs the rest\n");
    if (status != HD_OK) {
        cli_fail(&err);
        if (plan.traceback.len)
            fprintf(stderr, "%s\n", plan.traceback.at);
    }
    sweep_store_free(&store);
    sweep_plan_free(&plan);
    if (status != HD_OK)
        return (int)status;
    if (args->dry_run)
        return cli_end(HD_OK);
    return cli_end(stopped ? HD_STOPPED : (int)worst);
}
