/* A run from the command line to its exit status, for the verbs that do one. */
#include "host/cli/cli.h"
#include "host/cli/session.h"
#include "host/results/outfile.h"

#include <stdio.h>
#include <string.h>

static enum hd_status write_result(struct session *s, const char *path, struct hd_error *err)
{
    struct json_writer w;
    struct out_file out;
    enum hd_status status = out_open(&out, path, err);

    if (status != HD_OK)
        return status;
    json_start(&w, out_json(&out), JSON_PRETTY);
    result_write(&w, &s->result);
    json_finish(&w);
    if (record_broken(s->record, err) != HD_OK) {
        out_abandon(&out);
        return HD_BAD_INPUT;
    }
    return out_commit(&out, err);
}

static enum hd_status write_files(struct session *s, const struct cli_args *args,
                                  struct hd_error *err)
{
    enum hd_status status = args->out ? write_result(s, args->out, err) : HD_OK;

    return status == HD_OK ? session_trace(s, args, err) : status;
}

static enum hd_status check_args(const struct cli_args *args, struct hd_error *err)
{
    enum hd_status status = session_check_args(args, err);

    if (status == HD_OK)
        status = out_probe(args->out, err);
    if (status == HD_OK)
        status = out_probe(args->trace_inst_out, err);
    return status == HD_OK ? out_probe(args->trace, err) : status;
}

static enum hd_status run_and_work(struct session *s, const struct cli_args *args,
                                   session_work *work, FILE *prints, struct hd_error *err)
{
    const struct session_changes none = {NULL, 0};
    enum hd_status status = session_run(s, args, &none, cli_stop_flag(args->max_time), prints, err);

    cli_stop_heeded();
    if (status != HD_OK || !work || s->run.status != HD_OK)
        return status;
    return work(s, args, err);
}

static int failed(struct session *s, const struct hd_error *err)
{
    cli_fail(err);
    session_traceback(s);
    session_free(s);
    return (int)err->status;
}

int session_main(const struct cli_args *args, session_work *work,
                 void (*summary)(const struct session *s, const struct cli_args *args))
{
    bool to_stdout = (args->out && strcmp(args->out, "-") == 0) ||
                     (args->trace && strcmp(args->trace, "-") == 0);
    struct hd_error err;
    struct session s;
    enum hd_status worked, status;

    hd_error_clear(&err);
    if (check_args(args, &err) != HD_OK)
        return cli_fail(&err);
    worked = run_and_work(&s, args, work, to_stdout || args->json ? stderr : stdout, &err);
    if (err.status != HD_OK || write_files(&s, args, &err) != HD_OK)
        return failed(&s, &err);
    if (!args->quiet && !to_stdout)
        summary(&s, args);
    session_complain(&s);
    status = session_status(&s);
    if (status == HD_OK)
        status = worked;
    if (s.inst && inst_trace_commit(s.inst, &err) != HD_OK)
        status = status == HD_OK ? (enum hd_status)cli_fail(&err) : status;
    session_free(&s);
    return cli_end((int)status);
}
