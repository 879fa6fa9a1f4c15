/*
 * What stores leave in L1, where l1.write or l1.allocate_on_store let them: dirty sectors, and how they
 * leave again. For sim/lsu.c and the end of kernels.
 */
#ifndef HD_SIM_L1_H
#define HD_SIM_L1_H

#include "sim/device.h"

static inline uint32_t l1_set(const struct sim_machine *m, uint64_t line)
{
    uint64_t n = line >> m->device->line_shift;

    return fastmod_rest(&m->device->by_l1_sets, (uint32_t)(n ^ n >> 32));
}

/* A way of the set for a new line; what was dirty in it leaves on behalf of `run` at the end of `cycle`. */
uint32_t l1_make_room(struct sim_machine *m, struct cu *cu, uint32_t set, struct kernel_run *run,
                      uint64_t cycle);
/* The dirty sectors of the line at a place leave. */
void l1_clean(struct sim_machine *m, struct cu *cu, uint32_t place, struct kernel_run *run,
              uint64_t cycle);
/*
 * A store to a line, of whose sectors some are on their way to L1. Returns whether it is done there;
 * else it goes on to L2.
 */
bool l1_store(struct sim_machine *m, struct cu *cu, struct kernel_run *run,
              const struct line_request *l, uint32_t coming, uint64_t cycle);
/*
 * A wavefront is at a fence: all that is dirty in L1 leaves, and counts as a store of the wavefront
 * that is under way until all that has left so far has taken effect.
 */
void l1_fence(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
/* Event EV_FLUSH: all work-groups of a kernel have ended, so that what its compute units have in L1 leaves. */
void l1_event(struct sim_machine *m, const struct event *e);
/* Sectors that left L1 take effect in L2 at effect_ps; r is their request. */
void l1_written(struct sim_machine *m, const struct request *r, uint64_t effect_ps);

#endif
