#ifndef HD_SIM_SCHED_OLDEST_H
#define HD_SIM_SCHED_OLDEST_H

#include <stdint.h>

struct simd;

/* The slot of `eligible` (not 0) whose wavefront arrived first; part of several policies. */
uint32_t sched_oldest(const struct simd *s, uint64_t eligible);

#endif
