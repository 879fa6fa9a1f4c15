/* What took time on the device, as the analyses see it. Times are picoseconds of the run. */
#ifndef HD_HOST_RESULTS_SPAN_H
#define HD_HOST_RESULTS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum span_kind { SPAN_KERNEL, SPAN_H2D, SPAN_D2H };

#define SPAN_NO_NODE UINT64_MAX

/* A kernel, or a transfer in one direction. Many are in memory at once: they are kept small. */
struct span {
    uint64_t start_ps, end_ps;
    uint64_t queued_ps; /* handed to the device */
    uint64_t node;      /* in the DAG: the kernel, or what the transfer is for; SPAN_NO_NODE */
    uint64_t id;        /* a kernel's node, a transfer's number */
    union {
        uint64_t bytes;   /* of a transfer */
        uint64_t need_ps; /* of a kernel: how long `part` needs for its work */
    };
    const char *name; /* kernel or array */
    uint32_t stream;
    uint8_t kind; /* enum span_kind */
    uint8_t move; /* of a transfer: enum sim_transfer_kind */
    uint8_t part; /* of a kernel: enum usage_part, the one that needs longest */
    bool in_region;
};

/* `to` must not begin before `from` has ended; both are nodes. */
struct span_edge {
    uint64_t from, to;
};

/* A node of the DAG; the host's are its accesses to arrays. */
struct span_node {
    uint64_t id;
    bool host;
    bool in_region; /* made between the begin and the end of one */
};

/* One iteration, or a whole script. */
struct timeline {
    struct span *spans;
    struct span_edge *edges;
    struct span_node *nodes;
    uint64_t *waits; /* when waits of the host for the device ended, in order */
    size_t nspans, nedges, nnodes, nwaits;
    uint64_t begin_ps, end_ps; /* on the host's clock */
};

#endif
