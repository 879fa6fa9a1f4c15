/* A machine that does nothing: each command is done when the host first waits. What is left is the scheduler's own work. */
#ifndef HD_TESTS_BENCH_STILL_MACHINE_H
#define HD_TESTS_BENCH_STILL_MACHINE_H

#include "host/rt/machine.h"

extern const struct rt_machine_ops still_machine;

/* NULL when memory is short. */
struct sim_machine *still_machine_new(void);

#endif
