#include "sim/calendar.h"

#include <stdlib.h>
#include <string.h>

bool calendar_init(struct calendar *c, uint32_t units)
{
    memset(c, 0, sizeof *c);
    c->units = units;
    c->next = CALENDAR_NEVER;
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

void calendar_copy(struct calendar *to, const struct calendar *from)
{
    to->now = from->now;
    to->next = from->next;
    to->due = from->due;
    memcpy(to->slots, from->slots, (size_t)RING_PLACES * from->words * sizeof *to->slots);
    memcpy(to->at, from->at, from->units * sizeof *to->at);
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

void calendar_move(struct calendar *c, uint32_t unit, uint64_t cycle)
{
    uint64_t was = c->at[unit];
    uint64_t *slot = slot_of(c, was);

    if (was <= cycle)
        return;
    slot[unit / 64] &= ~(UINT64_C(1) << unit % 64);
    if (slot_empty(c, slot))
        ring_clear(&c->due, was);
    c->at[unit] = CALENDAR_NEVER;
    calendar_set(c, c->now, unit, cycle);
}

uint32_t calendar_take(struct calendar *c, uint64_t cycle, uint32_t *units, uint32_t most)
{
    uint64_t *slot = slot_of(c, cycle);
    uint32_t n = 0;

    c->now = cycle;
    for (uint32_t i = 0; i < c->words; i++) {
        for (; slot[i]; slot[i] &= slot[i] - 1) {
            if (n == most)
                return n;
            units[n] = i * 64 + bits_first(slot[i]);
            c->at[units[n++]] = CALENDAR_NEVER;
        }
    }
    if (n == 0) {
        ring_clear(&c->due, cycle);
        c->next = ring_next(&c->due, cycle);
    }
    return n;
}
