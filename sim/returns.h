/*
 * MSHRs of a compute unit without L1 that lines give back in cycles to come, when nothing else happens with them: they
 * are counted by cycle, and added up when a load needs them.
 */
#ifndef HD_SIM_RETURNS_H
#define HD_SIM_RETURNS_H

#include "sim/transit.h"

struct sim_machine;
struct cu;

struct returns {
    uint64_t from; /* none is of an earlier cycle, or TRANSIT_CYCLES later */
    uint32_t free; /* of cycles that are over */
    uint32_t at[TRANSIT_CYCLES];
};

struct returns *returns_new(void); /* NULL when memory is short */

/* Takes those of all cycles up to and with `cycle`, which is not before one asked for earlier. */
uint32_t returns_take(struct returns *r, uint64_t cycle);

/* A load is held from cycle `now` on: those of later cycles come as requests, one for each cycle. */
void returns_tell(struct sim_machine *m, struct cu *cu, uint64_t now);

/* One more at `cycle`, less than TRANSIT_CYCLES after `now`, before which all is over. */
static inline void returns_add(struct returns *r, uint64_t now, uint64_t cycle)
{
    if (cycle - r->from >= TRANSIT_CYCLES)
        r->free = returns_take(r, now - 1);
    r->at[cycle % TRANSIT_CYCLES]++;
}

#endif
