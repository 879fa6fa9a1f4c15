/*
 * Requests under way, by a core cycle: those on their way to L2 by the cycle in which they were sent,
 * and those on their way back, of each compute unit, by the cycle in which they arrive. Those of one
 * cycle are taken in the order in which they were added.
 */
#ifndef HD_SIM_TRANSIT_H
#define HD_SIM_TRANSIT_H

#include "sim/request.h"

enum {
    TRANSIT_CYCLES = 4096, /* cycles it sees ahead: past the latency of DRAM behind a long queue */
    TRANSIT_WORDS = TRANSIT_CYCLES / 64,
};

#define TRANSIT_NEVER UINT64_MAX

struct transit {
    uint64_t now;                /* nothing is at an earlier cycle */
    uint64_t next;               /* the next cycle with a request, TRANSIT_NEVER if there is none */
    uint64_t due_words;          /* words of due that are not 0 */
    uint64_t due[TRANSIT_WORDS]; /* cycles with a request */
    uint32_t last[TRANSIT_CYCLES]; /* the last of a list in a ring, by .next, where due */
};

_Static_assert(TRANSIT_WORDS == 64, "due_words has a bit a word");

struct transit *transit_new(void); /* NULL when memory is short */
void transit_free(struct transit *t);

/* All before cycle `now` has been taken. False if `cycle`, not before it, is `view` cycles ahead of it or more;
 * view is at most TRANSIT_CYCLES. */
static inline bool transit_add(struct transit *t, uint64_t now, uint64_t view,
                               struct requests *requests, uint32_t request, uint64_t cycle)
{
    uint32_t place = (uint32_t)(cycle % TRANSIT_CYCLES);
    uint64_t bit = UINT64_C(1) << place % 64;

    if (cycle - now >= view)
        return false;
    if (t->now < now)
        t->now = now;
    if (t->due[place / 64] & bit) {
        requests->at[request].next = requests->at[t->last[place]].next;
        requests->at[t->last[place]].next = request;
    } else {
        requests->at[request].next = request;
        t->due[place / 64] |= bit;
        t->due_words |= UINT64_C(1) << place / 64;
        if (cycle < t->next)
            t->next = cycle;
    }
    t->last[place] = request;
    return true;
}

/* Takes the requests of cycle t->next, which must not be TRANSIT_NEVER: the first of a list that is
 * linked by .next and ends with REQUEST_NONE. */
uint32_t transit_take(struct transit *t, struct requests *requests);

#endif
