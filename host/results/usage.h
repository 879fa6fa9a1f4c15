/* What kernels ask of each part of the device, as the time that the part needs for it at its full rate. */
#ifndef HD_HOST_RESULTS_USAGE_H
#define HD_HOST_RESULTS_USAGE_H

#include "sim/sim.h"

enum part { PART_DRAM, PART_L2, PART_FP32, PART_FP64, PART_SPECIAL, PART_LDS, PART_ISSUE, NPARTS };
/* A kernel that keeps no part busy waits for latencies: of memory, of results, at barriers. */
enum { PART_NONE = NPARTS };

extern const char *const part_names[NPARTS + 1]; /* "latency" for PART_NONE */

/* A part that is busy for at least this share of a kernel's time bounds the kernel. */
#define PART_BOUNDS 0.6

/*
 * Picoseconds that each part needs for the work counted in c, if it does nothing else and is never idle: DRAM passes bytes and
 * opens rows, the L2 slices pass bytes, the function units take full wavefronts, local memories serve passes, and
 * the issue ports issue.
 */
void usage_needs(const struct sim_config *config, const struct sim_counters *c,
                 double needs_ps[NPARTS]);
/* The part that needs the longest. */
enum part usage_most(const double needs_ps[NPARTS]);
/* What bounds a kernel that did this work in that time: a part, or PART_NONE. */
unsigned usage_bound(const struct sim_config *config, const struct sim_counters *c, uint64_t ps);

#endif
