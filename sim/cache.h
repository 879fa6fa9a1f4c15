/*
 * Tags of a set-associative cache with sectors: which sectors of which lines it holds, and whether they are dirty. It knows
 * nothing of time but to keep it: a sector may be known to be ready at a later time.
 */
#ifndef HD_SIM_CACHE_H
#define HD_SIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_NONE UINT32_MAX /* no such way */

struct cache_line {
    uint64_t tag;     /* address of the line, or UINT64_MAX */
    uint64_t used;    /* order of last use */
    uint32_t valid;    /* sectors that are there, or will be at a known time */
    uint32_t dirty;    /* sectors */
    uint32_t fetching; /* sectors on their way, to arrive at a time not known yet */
    uint32_t waiters;  /* list of the owner's, UINT32_MAX when empty */
};

struct cache {
    uint32_t sets, ways, sectors;
    uint64_t clock; /* order of uses */
    struct cache_line *lines; /* [sets][ways] */
    uint64_t *ready;          /* [sets][ways][sectors]; NULL if made without ready times */
};

/* timed: with a ready time for each sector. */
bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);

/* The line in its set, or CACHE_NONE. The result is an index into lines. */
uint32_t cache_find(const struct cache *c, uint32_t set, uint64_t tag);

/*
 * The line to replace: one never used, else the least recently used of those with nothing on its way; CACHE_NONE if all are
 * waiting for something.
 */
uint32_t cache_victim(const struct cache *c, uint32_t set);

/* Gives the way to a new line, with no sector valid. */
void cache_replace(struct cache *c, uint32_t index, uint64_t tag);

static inline void cache_touch(struct cache *c, uint32_t index)
{
    c->lines[index].used = ++c->clock;
}

static inline uint64_t *cache_ready(const struct cache *c, uint32_t index)
{
    return c->ready + (uint64_t)index * c->sectors;
}

#endif
