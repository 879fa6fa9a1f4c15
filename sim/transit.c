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

uint64_t transit_find_next(const struct transit *t)
{
    uint32_t start = (uint32_t)(t->now % TRANSIT_CYCLES);
    uint32_t word = start / 64, place;
    uint64_t here = t->due[word] & ~bits_low(start % 64);

    if (!here) {
        if (!t->due_words)
            return TRANSIT_NEVER;
        word = (word + 1) % TRANSIT_WORDS;
        word = (word + bits_first(bits_rotate_right(t->due_words, word))) % TRANSIT_WORDS;
        here = t->due[word];
    }
    place = word * 64 + bits_first(here);
    return t->now + (place - start) % TRANSIT_CYCLES;
}
