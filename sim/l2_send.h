/* The way of a request to its L2 slice, in the loops that send the lines of an access. */
#ifndef HD_SIM_L2_SEND_H
#define HD_SIM_L2_SEND_H

#include "sim/device.h"

/*
 * Where the line of a request is in L2. l2.hash xor folds upper bits of the line's number in, so that no power-of-two
 * stride falls on one slice.
 */
static inline void l2_find_home(const struct device *d, struct request *r)
{
    uint64_t n = r->line >> d->line_shift;
    uint32_t number = (uint32_t)(n ^ n >> 32);
    uint32_t hash = number ^ ((number >> 8 ^ number >> 16 ^ number >> 24) & d->slice_fold);
    uint32_t within = fastmod_rest(&d->by_slice_sets, fastmod_quotient(&d->by_slices, number));
    uint32_t slice = fastmod_rest(&d->by_slices, hash);

    r->place = 0;
    r->slice = (uint8_t)slice;
    r->set = slice * d->by_slice_sets.divisor + within;
}

enum { SENT_AHEAD = ISA_MAX_WIDTH + LOOKAHEAD_MAX + NOC_LATENCY_MAX + 1 };

_Static_assert(SENT_AHEAD < (int)TRANSIT_CYCLES,
               "the cycles of requests under way to L2 must be in view at once");

/*
 * A request is sent at most as many cycles ahead as an access has lines, by a compute unit that may
 * itself be ahead, and takes noc.latency_cycles: what was sent before that has arrived.
 */
static inline uint64_t l2_oldest_in_transit(uint64_t cycle)
{
    return cycle > SENT_AHEAD ? cycle - SENT_AHEAD : 0;
}

/* Tells the probe of a request that has been sent. */
void l2_tell_sent(struct sim_machine *m, uint32_t request, uint64_t cycle);

/* Sends a request to its slice at the end of core cycle `cycle`. */
static inline void l2_send(struct sim_machine *m, uint32_t request, uint64_t cycle)
{
    struct device *d = m->device;
    struct request *r = request_at(d, request);

    l2_find_home(d, r);
    cache_prefetch_set(&d->l2, r->set);
    transit_put(d->to_l2, l2_oldest_in_transit(cycle), &d->requests, request, cycle);
    if (m->probe.fn)
        l2_tell_sent(m, request, cycle);
}

#endif
