#include "sim/transit.h"

#include <stdlib.h>

struct transit *transit_new(void)
{
    struct transit *t = calloc(1, sizeof *t);

    if (t)
        t->next = TRANSIT_NEVER;
    return t;
}

void transit_free(struct transit *t)
{
    free(t);
}

/* The first word of due from `from` on, around the ring, that is not 0; TRANSIT_WORDS if all are. */
static uint32_t next_word(const struct transit *t, uint32_t from)
{
    enum { GROUPS = TRANSIT_WORDS / 64 };

    for (uint32_t i = 0; i <= GROUPS; i++) {
        uint32_t group = (from / 64 + i) % GROUPS;
        uint64_t words = t->due_words[group];

        if (i == 0)
            words &= ~bits_low(from % 64);
        else if (i == GROUPS)
            words &= bits_low(from % 64);
        if (words)
            return group * 64 + bits_first(words);
    }
    return TRANSIT_WORDS;
}

static uint64_t find_next(const struct transit *t)
{
    uint32_t start = (uint32_t)(t->now % TRANSIT_CYCLES);
    uint64_t here = t->due[start / 64] & ~bits_low(start % 64);
    uint32_t word = start / 64, place;

    if (!here) {
        word = next_word(t, (word + 1) % TRANSIT_WORDS);
        if (word == TRANSIT_WORDS)
            return TRANSIT_NEVER;
        here = t->due[word];
    }
    place = word * 64 + bits_first(here);
    return t->now + (place - start) % TRANSIT_CYCLES;
}

uint32_t transit_take(struct transit *t, uint64_t cycle)
{
    uint32_t place = (uint32_t)(cycle % TRANSIT_CYCLES);

    t->now = cycle;
    t->due[place / 64] &= ~(UINT64_C(1) << place % 64);
    if (!t->due[place / 64])
        t->due_words[place / 64 / 64] &= ~(UINT64_C(1) << place / 64 % 64);
    t->next = find_next(t);
    return t->first[place];
}
