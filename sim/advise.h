/* What tm/advise.h has to know of a launch. */
#ifndef HD_SIM_ADVISE_H
#define HD_SIM_ADVISE_H

#include "sim/config.h"
#include "sim/sim.h"
#include "tm/advise.h"

/* All but the profile; the launch's shape is not 0. Its args may be NULL. */
struct tm_known sim_tx_known(const struct sim_config *c, const struct sim_launch *l);
/* What its transactions take with a detector. */
struct tm_needs sim_tx_needs(const struct sim_config *c, const struct sim_launch *l,
                             uint32_t detector);

#endif
