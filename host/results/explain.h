/*
 * Where the time of a run goes, what a schedule could gain, and what a faster part of the machine would: the numbers of
 * heddle explain, from one run and from others of it on machines that are changed.
 */
#ifndef HD_HOST_RESULTS_EXPLAIN_H
#define HD_HOST_RESULTS_EXPLAIN_H

#include "host/results/critical.h"
#include "host/results/fields.h"
#include "host/results/record.h"
#include "host/results/usage.h"

/* Time of the iteration by what ran in it; the four add up to it. */
struct explain_time {
    uint64_t transfers_ps, kernels_ps, both_ps, neither_ps;
};

/* How long a part was busy, or would have been at its full rate, over the iteration's time. */
struct explain_use {
    const char *part;
    uint64_t busy_ps;
    double share;
};

/* The steps of the critical path that waited for one thing. */
struct explain_wait {
    const char *bounded_by;
    uint64_t time_ps, steps;
    double share;        /* of the iteration */
    const char *longest; /* kernel or array of the longest step; NULL: the host */
    uint64_t longest_ps;
};

/* Times below which no schedule of the same work can come, beside measured ones. JSON_NO_TIME: not known. */
struct explain_bounds {
    uint64_t transfer_ps; /* the busier direction's bytes at its full rate */
    uint64_t work_ps;     /* the part of the device with most work, at its full rate */
    const char *work_part;
    uint64_t dependency_ps; /* the longest path with the times of elements alone */
    uint64_t least_ps;      /* the longest of the three */
    uint64_t serial_no_prefetch_ps, serial_ps, parallel_ps;
    double speedup, possible_speedup; /* parallel over serial; the least time over it */
    double gained;                    /* serial - parallel over serial - least */
};

/* A run on a machine of which one part is faster. */
enum { EXPLAIN_CHANGES_MAX = 16, EXPLAIN_CHANGE_CHARS = 64 };

struct explain_run {
    bool ran;
    char error[256]; /* why there is no time; empty if there is */
    uint64_t time_ps;
    double gain; /* the unchanged run's time over it */
    size_t nchanges;
    char changes[EXPLAIN_CHANGES_MAX][EXPLAIN_CHANGE_CHARS]; /* "KEY=VALUE" */
    struct field_rows change_rows;
};

struct explain_ideal {
    const char *resource, *doc, *advice;
    bool used; /* false: the run does not use it, so that nothing could change */
    struct explain_run twice, infinite;
    bool anomaly; /* faster made the run slower, or twice gained more than infinitely */
};

enum { EXPLAIN_USES_MAX = USAGE_PARTS + 6, EXPLAIN_WAITS_MAX = 16, EXPLAIN_IDEALS_MAX = 16 };

struct explain {
    uint64_t time_ps;
    struct explain_time time;
    struct explain_use uses[EXPLAIN_USES_MAX];
    struct explain_wait waits[EXPLAIN_WAITS_MAX];
    struct explain_bounds bounds;
    struct explain_ideal ideals[EXPLAIN_IDEALS_MAX];
    size_t nuses, nwaits, nideals;
    struct field_rows use_rows, wait_rows, ideal_rows;
};

/* ---- from the one run ------------------------------------------------------------------------------- */

/* The run that is explained: an iteration, its timeline and critical path. */
struct explain_source {
    const struct record_iteration *iteration;
    const struct timeline *timeline;
    const struct sim_config *config;
    const struct critical_step *steps;
    size_t nsteps;
    bool one_engine; /* both directions of the link share it */
};

/*
 * Fills in time, uses, waits, and of the bounds the transfer's and the work's. Lists are in order of their times, longest
 * first. False when memory is short.
 */
bool explain_measure(struct explain *out, const struct explain_source *from);
/* Works out the least time and what it and parallel gain, once the times are there. */
void explain_finish_bounds(struct explain_bounds *b);
/* Works out gains and anomalies, and sorts: what gains most first, what is not used last. */
void explain_finish_ideals(struct explain *e);

/* ---- the table --------------------------------------------------------------------------------------- */

extern const struct field_table result_explain_fields;
extern const struct field_table result_use_fields, result_wait_fields, result_ideal_fields;
/* Sets the writers of the lists. */
void explain_set_rows(struct explain *e);

#endif
