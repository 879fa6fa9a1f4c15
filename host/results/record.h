/*
 * What is kept of a run: the rows of the result, spooled, and what the analyses need. A record
 * outlives its runtime. Memory is bounded by the detail asked for and not by the length of the run.
 */
#ifndef HD_HOST_RESULTS_RECORD_H
#define HD_HOST_RESULTS_RECORD_H

#include "host/heddle.h"
#include "host/results/metrics.h"
#include "host/results/names.h"
#include "host/results/span.h"
#include "host/results/spool.h"
#include "sim/base/vec.h"

struct profile;

enum record_detail {
    RECORD_SUMMARY, /* no rows of kernels, transfers and the DAG */
    RECORD_KERNELS, /* RECORD_ROWS_MAX rows of each list */
    RECORD_FULL,    /* every row */
};
extern const char *const record_detail_names[]; /* ends with NULL */

enum {
    RECORD_ROWS_MAX = 65536,
    RECORD_LIST_MAX = 10000,    /* regions, checks, critical path; RECORD_FULL has no bound */
    RECORD_SPANS_MAX = 1 << 20, /* kernels and transfers of an iteration that is analysed */
};

/* Rows that were left out. */
struct record_cuts {
    uint64_t regions, critical_path, kernels, transfers, nodes, edges, checks;
    uint64_t analysed; /* kernels and transfers of iterations too long to analyse */
};

/* Rows as they are spooled. region_name is found when they are written: a region is named when it ends. */
struct record_kernel {
    uint64_t id;
    const char *name, *region_name, *limit;
    uint32_t region, iteration, stream, device;
    uint32_t grid[3], block[3];
    uint64_t queued_ps, start_ps, end_ps, dram_bytes;
    double occupancy;
    struct sim_counters counters;
};

struct record_transfer {
    uint64_t id, node, bytes, queued_ps, start_ps, end_ps;
    const char *region_name, *array;
    uint32_t region, iteration, stream;
    uint32_t kind, dir; /* indices of the names in the schema */
};

struct record_node {
    uint64_t id;
    const char *name, *region_name;
    uint32_t kind, region, iteration, stream;
};

enum { RECORD_EDGE_ARRAYS = 64 }; /* names kept of an edge */

struct record_edge {
    uint64_t from, to;
    uint32_t kind, narrays;
    const char *arrays[RECORD_EDGE_ARRAYS];
};

/* One iteration of a region, or a whole script. */
struct record_iteration {
    const char *name; /* NULL for a script */
    uint32_t region, iteration;
    uint64_t begin_ps, end_ps;              /* on the host's clock */
    uint64_t time_ps, device_time_ps;       /* what lies between the pairs above and below */
    uint64_t waited_ps;                     /* by the host for the device */
    uint64_t first_queued_ps, last_end_ps;  /* on the device; first > last if nothing ran */
    uint64_t moves[SIM_NUM_TRANSFER_KINDS]; /* transfers, by enum sim_transfer_kind */
    uint64_t spans[2], edges[2], nodes[2], waits[2]; /* where its rows are in the spools */
    struct overlap overlap;                          /* not finite if there were too many rows */
    struct metrics metrics;
};

struct record {
    enum record_detail detail;
    const hd_runtime *rt; /* during the run only */
    struct sim_config config;
    struct names names;
    VEC(const char *) region_names; /* by index */
    VEC(const char *) array_names;  /* by uid; NULL until asked for */
    struct spool kernels, transfers, nodes, edges, checks, iterations;
    struct spool spans, span_edges, span_nodes, span_waits;
    struct record_iteration script, current; /* sums so far; current is reset by each region */
    struct record_cuts cuts;
    uint64_t ntransfers;
    uint64_t checks_passed, checks_failed;
    struct hd_error error; /* the first thing that could not be kept */
    void (*print)(void *user, const char *line);
    void *print_user;
    struct profile *profile; /* the caller's; hears of the launches too. NULL: none */
};

/* NULL when memory is short. config gives the rates of metrics their clocks. */
struct record *record_new(enum record_detail detail, const struct sim_config *config);
void record_free(struct record *r);
/*
 * What hd_set_recorder() takes, so that r receives the rows of rt. r->print and r->print_user may be set to
 * receive what kernels print.
 */
void record_recorder(struct record *r, const hd_runtime *rt, struct hd_recorder *out);
/* The run is over, at that time of its host; the runtime may be freed. HD_BAD_INPUT if a row was lost, as on a full disk. */
enum hd_status record_close(struct record *r, uint64_t host_time_ps, struct hd_error *err);

/* HD_BAD_INPUT if a row was lost since, as when the temporary file cannot be read. */
enum hd_status record_broken(const struct record *r, struct hd_error *err);

/*
 * The iteration that stands for the run: the lower median by time of region main (or, without one of that name, of
 * the first region), or the whole script.
 */
void record_chosen(struct record *r, struct record_iteration *out);
/* Loads the rows of an iteration (timeline_free). False when memory is short or there are more than RECORD_SPANS_MAX. */
bool record_timeline(struct record *r, const struct record_iteration *it, struct timeline *out);
void timeline_free(struct timeline *t);

#endif
