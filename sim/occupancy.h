/* How much of a compute unit a work-group takes. */
#ifndef HD_SIM_OCCUPANCY_H
#define HD_SIM_OCCUPANCY_H

#include "sim/config.h"
#include "sim/sim.h"

/* Work-groups of a launch that one compute unit can hold at once, and the limit that bounds them. */
struct occupancy {
    uint32_t groups, waves_per_group;
    const char *limit;
};

/* HD_BAD_INPUT if not even one work-group fits, or the shape is past a limit; the message has both numbers. */
enum hd_status occupancy_check(const struct sim_config *c, const struct sim_launch *l,
                               struct occupancy *out, struct hd_error *err);

/* Bytes of local memory that are allocated for a work-group that asks for so many. */
uint32_t occupancy_local(const struct sim_config *c, uint64_t bytes);

#endif
