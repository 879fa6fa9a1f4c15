/* What the tests of transactions on the machine share. */
#ifndef HD_TESTS_SIM_TM_RIG_H
#define HD_TESTS_SIM_TM_RIG_H

#include "tests/sim/kernel_rig.h"

/* Registries, as values of tm.detector, tm.serialise and divergence.unit; they end with NULL. */
extern const char *const tm_rig_detectors[], *const tm_rig_serials[], *const tm_rig_units[];

/* Two kernels' counters keep what always holds: cycles, lanes, attempts. */
void tm_rig_check_counters(const struct sim_counters *c);

#endif
