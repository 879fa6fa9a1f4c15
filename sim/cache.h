/*
 * Tags of a set-associative cache with sectors: which sectors of which lines it holds, and whether they are dirty. It knows
 * nothing of time but to keep it: a sector may be known to be ready at a later time.
 */
#ifndef HD_SIM_CACHE_H
#define HD_SIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_NONE UINT32_MAX /* no such way */
#define CACHE_HELD (UINT64_C(1) << 63)

struct cache_line {
    uint32_t valid;    /* sectors that are there, or will be at a known time */
    uint32_t dirty;    /* sectors */
    uint32_t fetching; /* sectors on their way, to arrive at a time not known yet */
    uint32_t waiters;  /* list of the owner's, UINT32_MAX when empty */
};

/* Lines are named by set * ways + way. What a look-up reads is kept together. */
struct cache {
    uint32_t sets, ways, sectors;
    uint64_t clock;           /* order of uses */
    uint64_t *tags;           /* address of the line, or UINT64_MAX */
    uint64_t *used;           /* order of last use, 0: never; CACHE_HELD is added while data is on its way */
    struct cache_line *lines;
    uint64_t *ready;          /* [line][sectors]; NULL if made without ready times */
};

/* timed: with a ready time for each sector. */
bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);

/* The line in its set, or CACHE_NONE. */
static inline uint32_t cache_find(const struct cache *c, uint32_t set, uint64_t tag)
{
    const uint64_t *tags = c->tags + (uint64_t)set * c->ways;

    for (uint32_t way = 0; way < c->ways; way++)
        if (tags[way] == tag)
            return set * c->ways + way;
    return CACHE_NONE;
}

/*
 * The line to replace: one never used, else the least recently used of those with nothing on its way; CACHE_NONE if all are
 * waiting for something.
 */
uint32_t cache_victim(const struct cache *c, uint32_t set);

/* Gives the way to a new line, with no sector valid. */
void cache_replace(struct cache *c, uint32_t index, uint64_t tag);

static inline void cache_touch(struct cache *c, uint32_t index)
{
    c->used[index] = ++c->clock | (c->used[index] & CACHE_HELD);
}

/* Sets which sectors of a line are on their way. */
static inline void cache_set_fetching(struct cache *c, uint32_t index, uint32_t sectors)
{
    c->lines[index].fetching = sectors;
    c->used[index] = (c->used[index] & ~CACHE_HELD) | (sectors ? CACHE_HELD : 0);
}

/* The tags of a set will be looked up soon. */
static inline void cache_prefetch(const struct cache *c, uint32_t set)
{
    __builtin_prefetch(c->tags + (uint64_t)set * c->ways);
    __builtin_prefetch(c->tags + (uint64_t)(set + 1) * c->ways - 1);
    __builtin_prefetch(c->used + (uint64_t)set * c->ways);
    __builtin_prefetch(c->used + (uint64_t)(set + 1) * c->ways - 1);
}

static inline uint64_t *cache_ready(const struct cache *c, uint32_t index)
{
    return c->ready + (uint64_t)index * c->sectors;
}

#endif
