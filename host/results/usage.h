/* What kernels ask of each part of the device, as the time that the part needs for it at its full rate. */
#ifndef HD_HOST_RESULTS_USAGE_H
#define HD_HOST_RESULTS_USAGE_H

#include "sim/sim.h"

enum usage_part {
    PART_DRAM,
    PART_L2,
    PART_L1,
    PART_FP32,
    PART_FP64,
    PART_SPECIAL,
    PART_LDS,
    PART_ISSUE,
    USAGE_PARTS
};
/* A kernel that keeps no part busy waits for latencies: of memory, of results, at barriers. */
enum { PART_NONE = USAGE_PARTS };

extern const char *const part_names[USAGE_PARTS + 1]; /* "latency" for PART_NONE */

/* A part that is busy for at least this share of a kernel's time bounds the kernel. */
#define PART_BOUNDS 0.6

/*
 * Picoseconds that each part needs for the work counted in c, if it does nothing else and is never idle: DRAM passes bytes and
 * opens rows, the L2 slices pass bytes, the L1 ports look up lines of loads, the function units take full wavefronts, local memories serve passes, and
 * the issue ports issue.
 */
void usage_needs(const struct sim_config *config, const struct sim_counters *c,
                 double needs_ps[USAGE_PARTS]);
/* The part that needs the longest. */
enum usage_part usage_most(const double needs_ps[USAGE_PARTS]);
/* What bounds a kernel of which that part needs so long for its work: the part, or PART_NONE. */
unsigned usage_bound(enum usage_part part, uint64_t need_ps, uint64_t ps);

#endif
