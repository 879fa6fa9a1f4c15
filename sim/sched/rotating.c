/*
 * Southern Islands: a compute unit looks at one of its SIMD units a cycle, and issues from it what
 * it can, one instruction for each function unit (AMD Graphics Cores Next whitepaper, June 2012;
 * Multi2Sim 4.2 does the same).
 */
#include "sim/sched/oldest.h"
#include "sim/wave_scheduler.h"

const struct wave_scheduler wave_scheduler_rotating = {.pick = sched_oldest, .rotates = true};
