/*
 * The calendar of compute units: which have something to do at which core cycle. A unit stands in it
 * at most once, and the units of one cycle come out in order of their number, so the order (time,
 * unit) needs no sorting.
 */
#ifndef HD_SIM_CALENDAR_H
#define HD_SIM_CALENDAR_H

#include "sim/base/ring.h"

/* It sees RING_PLACES cycles ahead; a unit due later is looked at once in between. */

struct calendar {
    uint32_t units, words; /* words of 64 units */
    uint64_t now;          /* no unit stands at an earlier cycle */
    uint64_t next;         /* the next cycle at which a unit is due, CALENDAR_NEVER if none is */
    struct ring due;       /* slots that are not empty */
    uint64_t *slots;       /* [RING_PLACES][words] */
    uint64_t *at; /* [units]: the cycle at which it stands, CALENDAR_NEVER if it does not */
};

#define CALENDAR_NEVER UINT64_MAX

bool calendar_init(struct calendar *c, uint32_t units);
void calendar_free(struct calendar *c);
/* Makes a calendar equal to another one of as many units. */
void calendar_copy(struct calendar *to, const struct calendar *from);

/* For calendar_set: the unit stands in the calendar already. */
void calendar_move(struct calendar *c, uint32_t unit, uint64_t cycle);

/* Nothing is due before a cycle: all that was has been taken. */
static inline void calendar_pass(struct calendar *c, uint64_t cycle)
{
    if (c->now < cycle)
        c->now = cycle;
}

/*
 * The unit is due at that cycle, or earlier if it already was. All before cycle `now` has been
 * taken; cycle must not be before it.
 */
static inline void calendar_set(struct calendar *c, uint64_t now, uint32_t unit, uint64_t cycle)
{
    calendar_pass(c, now);
    if (cycle - c->now >= RING_PLACES)
        cycle = c->now + RING_PLACES - 1;
    if (c->at[unit] != CALENDAR_NEVER) {
        calendar_move(c, unit, cycle);
        return;
    }
    c->at[unit] = cycle;
    if (cycle < c->next)
        c->next = cycle;
    c->slots[cycle % RING_PLACES * c->words + unit / 64] |= UINT64_C(1) << unit % 64;
    ring_set(&c->due, cycle);
}

/*
 * Takes units due at `cycle`, which must be c->next, the lowest first and at most `most` of
 * them; returns how many. With 0 the cycle is over.
 */
uint32_t calendar_take(struct calendar *c, uint64_t cycle, uint32_t *units, uint32_t most);

#endif
