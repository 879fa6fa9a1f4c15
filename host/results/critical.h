/* The chain of waits that ends last. */
#ifndef HD_HOST_RESULTS_CRITICAL_H
#define HD_HOST_RESULTS_CRITICAL_H

#include "host/results/span.h"
#include "host/results/usage.h"

/* What is needed of the configuration. */
struct critical_rules {
    bool one_engine;            /* both directions share a copy engine */
    uint64_t launch_latency_ps; /* of the device's front end */
};

/* What bounds a stretch of a kernel beside a part of the device (enum usage_part, PART_NONE: latency). */
enum { BOUND_HANDLER = USAGE_PARTS + 1, BOUND_LINK };

enum step_what { STEP_HOST, STEP_LAUNCH, STEP_WAIT, STEP_SPAN };

/* The steps follow each other without a gap, from the timeline's begin to its end. */
struct critical_step {
    enum step_what what;
    uint8_t bound;           /* STEP_SPAN of a kernel; a stretch of it has one */
    const struct span *span; /* STEP_LAUNCH, STEP_WAIT: what begins then; STEP_SPAN */
    uint64_t start_ps, end_ps;
};

/*
 * Walks back from what ended last: each element was bound by the one of its parents, its own transfers, the
 * last in its stream and on its copy engine, or (a kernel that waited for more than the front end) the kernel that left the device,
 * that ended last; or the one still there, if that made room for it as it came to its end; or what ended just when it went on, as behind an event; or by the host, and what that had
 * waited for last. *steps (free() it) is in order of time. A kernel that waited for pages has several steps, one for each stretch with one bound. False
 * when memory is short.
 */
bool critical_path(const struct timeline *t, const struct critical_rules *rules,
                   struct critical_step **steps, size_t *nsteps);

/*
 * The last part of it: bounds of the steps that are kernels, by the work of each, and by the faults on pages that were served while it ran
 * (host/results/critical_bound.c).
 */
bool critical_bounds(const struct timeline *t, struct critical_step **steps, size_t *nsteps);

#endif
