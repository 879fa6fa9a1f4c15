/* The keys of "explain" in a result. */
#include "host/results/explain.h"
#include "host/results/schema_rows.h"

#define ET struct explain_time
static const struct field time_rows[] = {
    KEY(NS, ET, transfers_ps, "transfers_only_ns", "transfers ran and no kernel"),
    KEY(NS, ET, kernels_ps, "kernels_only_ns", "kernels ran and no transfer"),
    KEY(NS, ET, both_ps, "both_ns", "both ran"),
    KEY(NS, ET, neither_ps, "neither_ns", "neither ran: calls of the host, launches, waits"),
};
static TABLE(time_fields, time_rows, true);

#define EU struct explain_use
static const struct field use_rows[] = {
    KEY(TEXT, EU, part, "part",
        "link to device, link to host, fault handler (a batch of faults in hand), launch (a kernel "
        "in "
        "the front end), host (not waiting for the device); dram, l2, l1 (its ports), fp32, fp64, "
        "special (conversions and special functions), local memory, issue, wavefront slots"),
    KEY(NS, EU, busy_ps,
        "busy_ns", "of the first five: while it is so; else what the part needs for the work at its full rate"),
    KEY(F64, EU, share, "share", "busy_ns over the time"),
};
TABLE(result_use_fields, use_rows, true);

#define EW struct explain_wait
static const struct field wait_rows[] = {
    KEY(TEXT, EW, bounded_by, "bounded_by", "as in critical_path[]"),
    KEY(NS, EW, time_ps, "time_ns", "of all steps of the critical path that waited for it"),
    KEY(F64, EW, share, "share", "time_ns over the time"),
    KEY(U64, EW, steps, "steps", "their number"),
    NULLABLE(TEXT, EW, longest, "longest",
             "kernel or array of the longest of them; null for the host"),
    KEY(NS, EW, longest_ps, "longest_ns", "its length"),
};
TABLE(result_wait_fields, wait_rows, true);

#define EB struct explain_bounds
static const struct field bound_rows[] = {
    KEY(NS, EB, transfer_ps, "transfer_ns",
        "bytes of the busier direction of the link over its rate; of both, where they share an "
        "engine"),
    KEY(NS, EB, work_ps, "work_ns",
        "work of all kernels for the part of the device that needs longest, over its full rate"),
    NULLABLE(TEXT, EB, work_part, "work_part", "that part; null if no kernel ran"),
    NULLABLE(
        NS, EB, dependency_ps, "dependency_ns",
        "contention_free_ns: longest path of the parallel run's DAG with the times of elements "
        "in the serial prefetched run"),
    KEY(NS, EB, least_ps, "least_ns", "the longest of the three"),
    NULLABLE(NS, EB, serial_no_prefetch_ps, "serial_no_prefetch_ns",
             "time under serial-sync without prefetch; null where prefetch changes nothing"),
    NULLABLE(NS, EB, serial_ps, "serial_ns", "time under serial-sync"),
    NULLABLE(NS, EB, parallel_ps, "parallel_ns", "time under parallel-async"),
    KEY(F64, EB, speedup, "speedup", "serial_ns over parallel_ns"),
    KEY(F64, EB, possible_speedup, "possible_speedup", "serial_ns over least_ns"),
    KEY(F64, EB, gained, "gained",
        "serial_ns - parallel_ns over serial_ns - least_ns: the part of the possible gain that "
        "parallel-async has"),
};
static TABLE(bound_fields, bound_rows, false);

#define ER struct explain_run
static const struct field run_rows[] = {
    KEY(BOOL, ER, ran, "ran", "whether there is a time"),
    KEY(CHARS, ER, error, "error", "why there is none; else empty"),
    NULLABLE(NS, ER, time_ps, "time_ns", "of the run on that machine"),
    KEY(F64, ER, gain, "gain", "the unchanged machine's time over it"),
    KEY(NAMES, ER, change_rows, "changes", "parameters that differ, KEY=VALUE"),
};
static TABLE(run_fields, run_rows, true);

#define EI struct explain_ideal
static const struct field ideal_rows[] = {
    KEY(TEXT, EI, resource, "resource", "part of the machine that is made faster"),
    KEY(TEXT, EI, doc, "doc", "what belongs to it"),
    KEY(TEXT, EI, advice, "advice", "what to do in a program that it bounds"),
    KEY(BOOL, EI, used,
        "used", "false: the program does not use it, so that no run was needed to know that nothing changes"),
    PART(OBJECT, run_fields, EI, twice, "twice", "rates doubled, latencies and costs halved"),
    PART(OBJECT, run_fields, EI, infinite, "infinite",
         "rates as high and latencies and costs as low as the parameters go"),
    KEY(BOOL, EI, anomaly, "anomaly",
        "whether a faster part made the run slower, or twice as fast gained more than infinitely "
        "fast"),
};
TABLE(result_ideal_fields, ideal_rows, false);

static const struct field explain_rows[] = {
    KEY(NS, struct explain, time_ps, "time_ns", "of the run that is explained"),
    PART(OBJECT, time_fields, struct explain, time, "time", "what ran; the four add up to time_ns"),
    PART(ROWS, result_use_fields, struct explain, use_rows, "utilisation", "busiest parts first"),
    PART(ROWS, result_wait_fields, struct explain, wait_rows, "path",
         "the critical path by what it waited for, longest first"),
    PART(OBJECT, bound_fields, struct explain, bounds, "bounds", "what a schedule could gain"),
    PART(ROWS, result_ideal_fields, struct explain, ideal_rows, "ideals",
         "what faster parts would gain, largest gain first"),
};
TABLE(result_explain_fields, explain_rows, false);

/* ---- lists ------------------------------------------------------------------------------------------- */

static void write_uses(void *user, struct json_writer *w)
{
    const struct explain *e = user;

    for (size_t i = 0; i < e->nuses; i++)
        fields_write(w, NULL, &result_use_fields, &e->uses[i]);
}

static void write_waits(void *user, struct json_writer *w)
{
    const struct explain *e = user;

    for (size_t i = 0; i < e->nwaits; i++)
        fields_write(w, NULL, &result_wait_fields, &e->waits[i]);
}

static void write_ideals(void *user, struct json_writer *w)
{
    const struct explain *e = user;

    for (size_t i = 0; i < e->nideals; i++)
        fields_write(w, NULL, &result_ideal_fields, &e->ideals[i]);
}

static void write_changes(void *user, struct json_writer *w)
{
    const struct explain_run *r = user;

    for (size_t i = 0; i < r->nchanges; i++)
        json_text(w, NULL, r->changes[i]);
}

void explain_set_rows(struct explain *e)
{
    e->use_rows = (struct field_rows){e, write_uses};
    e->wait_rows = (struct field_rows){e, write_waits};
    e->ideal_rows = (struct field_rows){e, write_ideals};
    for (size_t i = 0; i < e->nideals; i++) {
        struct explain_ideal *ideal = &e->ideals[i];

        ideal->twice.change_rows = (struct field_rows){&ideal->twice, write_changes};
        ideal->infinite.change_rows = (struct field_rows){&ideal->infinite, write_changes};
    }
}
