/*
 * Wavefront schedulers: which of the wavefronts that could issue does. To add one: one file in
 * sim/sched/ with one struct of functions, and one row in sim/wave_scheduler.c.
 */
#ifndef HD_SIM_WAVE_SCHEDULER_H
#define HD_SIM_WAVE_SCHEDULER_H

#include "sim/base/bits.h"
#include "sim/base/param.h"

struct simd;

struct wave_scheduler {
    /* One of the slots in `eligible`, which is not 0. s->last is the slot that issued last,
     * s->order[] the order of arrival. */
    uint32_t (*pick)(const struct simd *s, uint64_t eligible);
    /* Where several wavefronts issue in a cycle s->last is the last of them, or the first. */
    bool keeps_first;
    /* SIMD unit i issues only in cycles that are i modulo the number of SIMD units. */
    bool rotates;
};

extern const struct wave_scheduler wave_scheduler_lrr, wave_scheduler_gto, wave_scheduler_oldest,
    wave_scheduler_rotating;

/* In the order of `heddle list`; the value of cu.scheduler is the index. Ends with NULL. */
extern const struct wave_scheduler *const wave_schedulers[];
/* The same list as names, for the parameter table. */
extern const struct param_choice wave_scheduler_choices[];

/* One of the eligible slots, of which there must be one; the policy is asked where there is a choice. */
static inline uint32_t wave_pick(const struct wave_scheduler *scheduler, const struct simd *s,
                                 uint64_t eligible)
{
    return eligible & (eligible - 1) ? scheduler->pick(s, eligible) : bits_first(eligible);
}

#endif
