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

static uint64_t find_next(const struct transit *t)
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

uint32_t transit_take(struct transit *t, struct requests *requests)
{
    uint32_t place = (uint32_t)(t->next % TRANSIT_CYCLES), last = t->last[place];
    uint32_t first = requests->at[last].next;

    requests->at[last].next = REQUEST_NONE;
    t->now = t->next;
    t->due[place / 64] &= ~(UINT64_C(1) << place % 64);
    if (!t->due[place / 64])
        t->due_words &= ~(UINT64_C(1) << place / 64);
    t->next = find_next(t);
    if (t->next != TRANSIT_NEVER)
        __builtin_prefetch(&requests->at[t->last[t->next % TRANSIT_CYCLES]]);
    return first;
}
