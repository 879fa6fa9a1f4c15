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

/* All before cycle `now` has been taken; `cycle` is not before it, and less than TRANSIT_CYCLES ahead of it. */
static inline void transit_put(struct transit *t, uint64_t now, struct requests *requests,
                               uint32_t request, uint64_t cycle)
{
    uint32_t place = (uint32_t)(cycle % TRANSIT_CYCLES);
    uint64_t bit = UINT64_C(1) << place % 64;

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
}

/* The same; false if `cycle` is `view` cycles ahead of `now` or more. view is at most TRANSIT_CYCLES. */
static inline bool transit_add(struct transit *t, uint64_t now, uint64_t view,
                               struct requests *requests, uint32_t request, uint64_t cycle)
{
    if (cycle - now >= view)
        return false;
    transit_put(t, now, requests, request, cycle);
    return true;
}

/* The next cycle with a request, from t->now on. */
uint64_t transit_find_next(const struct transit *t);

/* Takes the requests of cycle t->next, which must not be TRANSIT_NEVER: the first of a list that is
 * linked by .next and ends with REQUEST_NONE. */
static inline uint32_t transit_take(struct transit *t, struct requests *requests)
{
    uint32_t place = (uint32_t)(t->next % TRANSIT_CYCLES), word = place / 64;
    uint32_t last = t->last[place], first = requests->at[last].next;
    uint64_t due = t->due[word] & ~(UINT64_C(1) << place % 64), later = due >> place % 64;

    requests->at[last].next = REQUEST_NONE;
    t->now = t->next;
    t->due[word] = due;
    if (!due)
        t->due_words &= ~(UINT64_C(1) << word);
    t->next = later ? t->next + bits_first(later) : transit_find_next(t);
    if (t->next != TRANSIT_NEVER)
        __builtin_prefetch(&requests->at[t->last[t->next % TRANSIT_CYCLES]]);
    return first;
}

#endif
