/*
 * A timeline for ui.perfetto.dev and chrome://tracing: a track a stream and a copy engine each direction, the
 * regions of the host, counters of what runs, and an arrow for each edge of the DAG between two kernels.
 * Timestamps are microseconds with six decimals, which is exact.
 */
#ifndef HD_HOST_RESULTS_TRACE_H
#define HD_HOST_RESULTS_TRACE_H

#include "host/results/json_writer.h"
#include "host/results/record.h"

#define TRACE_CAP_DEFAULT (UINT64_C(64) << 20) /* bytes */

/* About what a slice takes with its counters and arrows; with the cap it bounds how many are kept in memory. */
enum { TRACE_SLICE_BYTES = 512 };

struct trace_options {
    uint64_t from_ps, to_ps; /* slices that lie in part in [from, to) are kept */
    uint64_t cap_bytes;      /* about how large the file may become */
};

/* A slice that is to be drawn; tracks are numbered from 0 within their group. */
struct trace_slice {
    const char *name;
    uint64_t start_ps, end_ps;
    uint64_t id;    /* of the kernel or transfer */
    uint64_t bytes; /* of a transfer */
    uint32_t track; /* stream; 0 h2d, 1 d2h; region */
    uint32_t iteration;
    uint8_t group; /* enum trace_group */
    uint8_t move;  /* enum sim_transfer_kind */
};

enum trace_group { TRACE_HOST, TRACE_STREAMS, TRACE_COPIES, TRACE_GROUPS };

struct trace_slices {
    struct trace_slice *at;
    size_t len, cap;
};

/* What was left out, by the window and by the cap. */
struct trace_cuts {
    uint64_t outside, past_cap;
};

/* Adds a slice unless the window or the cap leaves it out, which is counted. False when memory is short. */
bool trace_add(struct trace_slices *out, const struct trace_slice *slice,
               const struct trace_options *options, struct trace_cuts *cuts);

/*
 * Writes a trace of the slices, which are put in order, and an arrow for each edge between two kernels among
 * them. False when memory is short.
 */
bool trace_write(struct json_writer *w, struct trace_slices *slices, const struct span_edge *edges,
                 size_t nedges, const struct trace_cuts *cuts);

/* Writes the trace of a closed record. */
bool trace_record(struct json_writer *w, struct record *r, const struct trace_options *options,
                  struct trace_cuts *cuts);

#endif
