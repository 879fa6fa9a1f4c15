/* One point in a process of its own, and the row of one that did not get to its end. */
#include "host/cli/sweep.h"

#include "host/config/config.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const struct session_changes no_changes = {NULL, 0};

static bool write_file(void *user, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, user) == len;
}

static bool write_row(struct session *s, const struct result_point *point, struct json_out out)
{
    struct json_writer w;

    s->result.point = point;
    json_start(&w, out, JSON_COMPACT);
    result_write(&w, &s->result);
    return json_finish(&w) && record_broken(s->record, NULL) == HD_OK;
}

/* ---- rows without a run ----------------------------------------------------------------------------- */

static bool write_config(struct text *out, const struct hd_options *o)
{
    struct json_writer w;

    json_start(&w, json_to_text(out), JSON_COMPACT);
    hd_config_write(&w, NULL, o);
    json_finish(&w);
    if (out->len)
        out->at[--out->len] = '\0'; /* the newline */
    return !out->failed;
}

/* What is known of the run without it: all but what it measured. */
static void describe(struct session *s, const struct sweep_run *run, enum hd_status status)
{
    s->run = (struct result_run){
        .workload = run->args.words.at[0],
        .args_json = s->args_json.len ? s->args_json.at : run->args_json.at,
        .config_name = s->config_name,
        .config_json = s->config_json.len ? s->config_json.at : "{}",
        .seed = run->args.seed,
        .timing = run->args.timing == CLI_TIMING_ON,
        .status = status,
        .error = {s->error.code, s->error.place, s->error.message, s->error.hint, NULL},
        .simulator = {.version = HD_VERSION,
                      .lanes = "none",
                      .wall_s = NAN,
                      .wave_instr_per_s = NAN,
                      .schedule_s = NAN},
    };
}

/*
 * The row of a run that left no result: s->error says why, and s->args_json what the program had asked for. Times are null: there is none
 * to be compared.
 */
static bool write_failed(struct session *s, struct sweep_run *run, enum hd_status status,
                         uint32_t exit_status, struct json_out out)
{
    struct hd_error ignored; /* of a configuration that is wrong, which is then the reason already */
    const bool configured =
        session_options(&run->args, &no_changes, &s->options, &s->config_name, &ignored) == HD_OK;
    bool ok = s->config_name &&
              (s->config_json.len || !configured || write_config(&s->config_json, &s->options));

    s->record = ok ? record_new((enum record_detail)run->args.detail, &s->options.gpu) : NULL;
    if (!s->record || record_close(s->record, 0, NULL) != HD_OK)
        return false;
    describe(s, run, status);
    if (result_build(&s->result, s->record, &s->run, NULL) != HD_OK)
        return false;
    s->result.chosen.time_ps = s->result.chosen.device_time_ps = JSON_NO_TIME;
    s->result.host_time_ps = JSON_NO_TIME;
    s->result.chosen.overlap = s->result.fig11 = (struct overlap){NAN, NAN, NAN, NAN};
    run->point.exit_status = exit_status;
    return write_row(s, &run->point, out);
}

/* ---- in the process of the point ------------------------------------------------------------------------ */

/* A session that ended early keeps its texts; what it had recorded goes. */
static void forget_record(struct session *s)
{
    if (s->record)
        record_free(s->record);
    s->record = NULL;
    free(s->config_name);
    s->config_name = NULL;
    memset(&s->result, 0, sizeof s->result);
}

int sweep_point_run(const struct sweep_plan *plan, size_t point, FILE *to)
{
    const struct json_out out = {to, write_file};
    struct sweep_run run;
    struct session s;
    struct hd_error err;
    enum hd_status status;
    bool written;

    hd_error_clear(&err);
    if (!sweep_run_make(&run, plan, point))
        return SWEEP_NO_ROW;
    status = session_run(&s, &run.args, &no_changes, cli_stop_flag(run.args.max_time), NULL, &err);
    cli_stop_heeded();
    if (status == HD_OK) {
        status = session_status(&s);
        run.point.exit_status = (uint32_t)status;
        written = write_row(&s, &run.point, out);
    } else {
        s.error = err;
        forget_record(&s);
        written = write_failed(&s, &run, status, (uint32_t)status, out);
    }
    session_free(&s);
    sweep_run_free(&run);
    return written && fflush(to) == 0 ? (int)status : SWEEP_NO_ROW;
}

/* ---- in the sweep ------------------------------------------------------------------------------------ */

static enum hd_status too_long(const struct cli_args *args, struct hd_error *err)
{
    return hd_error_set(err, HD_STOPPED, "timeout", NULL,
                        "raise --max-time, or make the point smaller",
                        "the point took longer than %g seconds", args->max_time);
}

/* What a process that left no row died of. */
static enum hd_status cause(const struct sweep_plan *plan, int wait_status, struct hd_error *err)
{
    if (WIFSIGNALED(wait_status))
        return hd_error_set(
            err, HD_SIM_FAILED, "killed", NULL,
            WTERMSIG(wait_status) == SIGKILL
                ? "the system kills a process when memory is short; try a smaller -j"
                : "please report this run",
            "the process of the point was killed by signal %d (%s)", WTERMSIG(wait_status),
            strsignal(WTERMSIG(wait_status)));
    if (WEXITSTATUS(wait_status) == HD_STOPPED && plan->args->max_time > 0)
        return too_long(plan->args, err);
    return hd_error_set(err, HD_SIM_FAILED, "no-result", NULL, "is there room for temporary files?",
                        "the process of the point ended with status %d and left no result",
                        WEXITSTATUS(wait_status));
}

bool sweep_point_lost(const struct sweep_plan *plan, size_t point, int wait_status, struct text *row)
{
    struct sweep_run run;
    struct session s;
    enum hd_status status;
    bool ok = sweep_run_make(&run, plan, point);

    memset(&s, 0, sizeof s);
    status = cause(plan, wait_status, &s.error);
    if (ok)
        ok = write_failed(&s, &run, status,
                          WIFSIGNALED(wait_status) ? 128 + (uint32_t)WTERMSIG(wait_status)
                                                   : (uint32_t)status,
                          json_to_text(row));
    session_free(&s);
    sweep_run_free(&run);
    return ok && !row->failed;
}
