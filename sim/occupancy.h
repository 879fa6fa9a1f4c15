/* How much of a compute unit a work-group takes. */
#ifndef HD_SIM_OCCUPANCY_H
#define HD_SIM_OCCUPANCY_H

#include "sim/config.h"

/* Bytes of local memory that are allocated for a work-group that asks for so many. */
uint32_t occupancy_local(const struct sim_config *c, uint64_t bytes);

#endif
