/* The occupied places of a ring of 256, to find the next one from a place on. */
#ifndef HD_SIM_BASE_RING_H
#define HD_SIM_BASE_RING_H

#include "sim/base/bits.h"

enum { RING_PLACES = 256, RING_WORDS = RING_PLACES / 64 };

struct ring {
    uint64_t word[RING_WORDS];
};

static inline void ring_set(struct ring *r, uint64_t place)
{
    r->word[place % RING_PLACES / 64] |= UINT64_C(1) << place % 64;
}

static inline void ring_clear(struct ring *r, uint64_t place)
{
    r->word[place % RING_PLACES / 64] &= ~(UINT64_C(1) << place % 64);
}

/* The first occupied place at or after `from`, counted on from there (at most 255 later);
 * UINT64_MAX if all are empty. */
static inline uint64_t ring_next(const struct ring *r, uint64_t from)
{
    unsigned start = (unsigned)(from % RING_PLACES);

    /* One word more than there are: the places below `start` in its own word come last. */
    for (unsigned i = 0; i <= RING_WORDS; i++) {
        unsigned word = (start / 64 + i) % RING_WORDS;
        uint64_t places = r->word[word];

        if (i == 0)
            places &= ~bits_low(start % 64);
        else if (i == RING_WORDS)
            places &= bits_low(start % 64);
        if (places)
            return from + (word * 64 + bits_first(places) - start) % RING_PLACES;
    }
    return UINT64_MAX;
}

#endif
