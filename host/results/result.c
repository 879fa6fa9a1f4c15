#include "host/results/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t status_of(const struct record *r, enum hd_status status)
{
    switch (status) {
    case HD_OK:
    case HD_CHECK_FAILED:
        return r->checks_failed ? RESULT_CHECK_FAILED : RESULT_OK;
    case HD_STOPPED:
        return RESULT_STOPPED;
    case HD_USAGE:
    case HD_BAD_INPUT:
    case HD_SIM_FAILED:
    case HD_INTERNAL:
        break;
    }
    return RESULT_FAILED;
}

static void take_run(struct result *out, const struct result_run *run)
{
    out->schema = "heddle.result/1";
    out->workload = run->workload;
    out->args_json = run->args_json;
    out->config_name = run->config_name;
    out->config_json = run->config_json;
    out->seed = run->seed;
    out->timing = run->timing;
    out->unsafe = run->unsafe;
    out->host_time_ps = run->host_time_ps;
    out->array_bytes = run->array_bytes;
    out->simulator = run->simulator;
    out->status = status_of(out->record, run->status);
    if (out->status == RESULT_FAILED || out->status == RESULT_STOPPED)
        out->error = &run->error;
}

static void take_cf(struct result_cf *cf, const struct metrics *m)
{
    cf->branches = m->sums.branches;
    cf->branches_taken = m->sums.branches_taken;
    cf->divergent_branches = m->sums.divergent_branches;
    cf->gotos = m->sums.gotos;
    cf->joins = m->sums.joins;
    cf->hops = m->sums.hops;
    cf->skipped_instr = m->sums.skipped_instr;
    cf->mask_ops = m->sums.mask_ops;
    cf->lane_utilisation = m->lane_utilisation;
}

/* The critical path is cut at its end. */
static void cut_steps(struct result *out)
{
    if (out->record->detail == RECORD_FULL || out->nsteps <= RECORD_LIST_MAX)
        return;
    out->truncated.critical_path = out->nsteps - RECORD_LIST_MAX;
    out->nsteps = RECORD_LIST_MAX;
}

static enum hd_status analyse(struct result *out, const struct critical_rules *rules,
                              struct hd_error *err)
{
    out->fig11 = (struct overlap){NAN, NAN, NAN, NAN};
    if (out->chosen.metrics.kernels + out->chosen.metrics.transfers > RECORD_SPANS_MAX)
        return HD_OK;
    if (!record_timeline(out->record, &out->chosen, &out->timeline) ||
        !overlap_fig11(out->timeline.spans, out->timeline.nspans, &out->fig11) ||
        !critical_path(&out->timeline, rules, &out->steps, &out->nsteps))
        return hd_no_memory(err, "the analysis of the run");
    cut_steps(out);
    return HD_OK;
}

enum hd_status result_build(struct result *out, struct record *record, const struct result_run *run,
                            struct hd_error *err)
{
    memset(out, 0, sizeof *out);
    out->record = record;
    out->detail = record->detail;
    out->contention_free_ps = JSON_NO_TIME;
    out->checks_passed = record->checks_passed;
    out->checks_failed = record->checks_failed;
    out->profile = record->profile;
    take_run(out, run);
    record_chosen(record, &out->chosen);
    out->truncated = record->cuts;
    take_cf(&out->cf, &out->chosen.metrics);
    result_set_rows(out);
    return analyse(out, &run->rules, err);
}

void result_free(struct result *r)
{
    timeline_free(&r->timeline);
    free(r->steps);
    memset(r, 0, sizeof *r);
}

void result_write_point(struct json_writer *w, const struct result_point *point)
{
    fields_write(w, "point", &result_point_fields, point);
}

void result_write(struct json_writer *w, const struct result *r)
{
    w->untimed = !r->timing;
    fields_write(w, NULL, &result_fields, r);
    w->untimed = false;
}
