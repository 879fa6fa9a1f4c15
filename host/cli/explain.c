/* heddle explain: what bounds a run, and what would change it. */
#include "host/cli/explain.h"

#include <stdlib.h>

/* ---- the work -------------------------------------------------------------------------------------------- */

static enum hd_status explain(struct session *s, const struct cli_args *args, struct hd_error *err)
{
    const struct result *r = &s->result;
    const struct explain_source from = {
        .iteration = &r->chosen,
        .timeline = &r->timeline,
        .config = &s->options.gpu,
        .steps = r->steps,
        .nsteps =
            r->nsteps + (size_t)r->truncated.critical_path, /* all, whatever is written of them */
        .one_engine = s->run.rules.one_engine,
    };
    struct explain *e = s->explain = calloc(1, sizeof *e);
    enum hd_status status;

    if (!e)
        return hd_no_memory(err, "the explanation");
    if (!explain_measure(e, &from))
        return hd_no_memory(err, "the explanation");
    explain_ideals(e, s);
    status = explain_run_all(e, s, args, err);
    if (status == HD_STOPPED)
        cli_warn("stopped: times of the runs that were left are missing");
    explain_finish_bounds(&e->bounds);
    explain_finish_ideals(e);
    s->result.contention_free_ps = e->bounds.dependency_ps;
    s->result.explain = e;
    return status;
}

/* ---- the verb -------------------------------------------------------------------------------------------- */

static void print_json(const struct session *s)
{
    struct json_writer w;

    json_start(&w, cli_stdout(), JSON_PRETTY);
    fields_write(&w, NULL, &result_explain_fields, s->explain);
    json_finish(&w);
}

static void print_answer(const struct session *s, const struct cli_args *args)
{
    if (!s->explain)
        return; /* the run failed, which is said elsewhere */
    if (args->json)
        print_json(s);
    else
        explain_print(s, args);
}

int cli_explain(const struct cli_args *args)
{
    struct hd_error err;

    if (args->timing == CLI_TIMING_ON)
        return session_main(args, explain, print_answer);
    hd_error_set(&err, HD_USAGE, "usage", NULL, "leave --timing off out",
                 "without time there is nothing to explain");
    return cli_fail(&err);
}
