/*
 * Requests that travel between compute units and L2, by the core cycle in which they arrive. Those
 * of one cycle are taken in the order in which they were sent.
 */
#ifndef HD_SIM_TRANSIT_H
#define HD_SIM_TRANSIT_H

#include "sim/request.h"

enum {
    TRANSIT_CYCLES = 16384, /* cycles it sees ahead: past the latency of DRAM behind a long queue */
    TRANSIT_WORDS = TRANSIT_CYCLES / 64,
};

#define TRANSIT_NEVER UINT64_MAX

struct transit {
    uint64_t now;                                         /* nothing arrives at an earlier cycle */
    uint64_t next;                                        /* the next cycle in which something does */
    uint32_t first[TRANSIT_CYCLES], last[TRANSIT_CYCLES]; /* lists of requests, where due */
    uint64_t due[TRANSIT_WORDS];
    uint64_t due_words[TRANSIT_WORDS / 64]; /* words of due that are not 0 */
};

struct transit *transit_new(void); /* NULL when memory is short */
void transit_free(struct transit *t);

/* All before cycle `now` has been taken. False if `cycle`, not before it, is too far ahead. */
static inline bool transit_add(struct transit *t, uint64_t now, struct requests *requests,
                               uint32_t request, uint64_t cycle)
{
    uint32_t place = (uint32_t)(cycle % TRANSIT_CYCLES);
    uint64_t bit = UINT64_C(1) << place % 64;

    if (t->now < now)
        t->now = now;
    if (cycle - t->now >= TRANSIT_CYCLES)
        return false;
    requests->at[request].next = REQUEST_NONE;
    if (t->due[place / 64] & bit) {
        requests->at[t->last[place]].next = request;
    } else {
        t->first[place] = request;
        t->due[place / 64] |= bit;
        t->due_words[place / 64 / 64] |= UINT64_C(1) << place / 64 % 64;
        if (cycle < t->next)
            t->next = cycle;
    }
    t->last[place] = request;
    return true;
}

/* The next cycle in which a request arrives, TRANSIT_NEVER if none does. */
static inline uint64_t transit_next(const struct transit *t)
{
    return t->next;
}

/* Takes the requests of that cycle, which must be transit_next(): the first of a list that is
 * linked by .next. */
uint32_t transit_take(struct transit *t, uint64_t cycle);

#endif
