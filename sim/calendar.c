#include "sim/calendar.h"

#include <stdlib.h>
#include <string.h>

bool calendar_init(struct calendar *c, uint32_t units)
{
    memset(c, 0, sizeof *c);
    c->units = units;
    c->words = (units + 63) / 64;
    c->slots = calloc((size_t)RING_PLACES * c->words, sizeof *c->slots);
    c->at = malloc(units * sizeof *c->at);
    if (!c->slots || !c->at)
        return false;
    memset(c->at, 0xff, units * sizeof *c->at);
    return true;
}

void calendar_free(struct calendar *c)
{
    free(c->slots);
    free(c->at);
    memset(c, 0, sizeof *c);
}

static uint64_t *slot_of(const struct calendar *c, uint64_t cycle)
{
    return c->slots + (cycle % RING_PLACES) * c->words;
}

static bool slot_empty(const struct calendar *c, const uint64_t *slot)
{
    for (uint32_t i = 0; i < c->words; i++)
        if (slot[i])
            return false;
    return true;
}

static void unset(struct calendar *c, uint32_t unit)
{
    uint64_t cycle = c->at[unit];
    uint64_t *slot = slot_of(c, cycle);

    slot[unit / 64] &= ~(UINT64_C(1) << unit % 64);
    c->at[unit] = CALENDAR_NEVER;
    if (slot_empty(c, slot))
        ring_clear(&c->due, cycle);
}

void calendar_set(struct calendar *c, uint64_t now, uint32_t unit, uint64_t cycle)
{
    uint64_t horizon;

    if (c->now < now)
        c->now = now;
    horizon = c->now + RING_PLACES - 1;
    if (cycle > horizon)
        cycle = horizon;
    if (c->at[unit] <= cycle)
        return;
    if (c->at[unit] != CALENDAR_NEVER)
        unset(c, unit);
    c->at[unit] = cycle;
    slot_of(c, cycle)[unit / 64] |= UINT64_C(1) << unit % 64;
    ring_set(&c->due, cycle);
}

uint64_t calendar_next(const struct calendar *c)
{
    return ring_next(&c->due, c->now);
}

int32_t calendar_take(struct calendar *c, uint64_t cycle)
{
    uint64_t *slot = slot_of(c, cycle);

    c->now = cycle;
    for (uint32_t i = 0; i < c->words; i++) {
        if (slot[i]) {
            uint32_t unit = i * 64 + bits_first(slot[i]);

            slot[i] &= slot[i] - 1;
            c->at[unit] = CALENDAR_NEVER;
            return (int32_t)unit;
        }
    }
    ring_clear(&c->due, cycle);
    return -1;
}
