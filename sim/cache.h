/*
 * Tags of a set-associative cache with sectors: which sectors of which lines it holds, and whether
 * they are dirty. It knows nothing of time but to keep it: a sector may be known to be ready at a
 * later time.
 */
#ifndef HD_SIM_CACHE_H
#define HD_SIM_CACHE_H

#include "sim/base/bits.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CACHE_NONE UINT32_MAX /* no such way */
#define CACHE_HELD (UINT64_C(1) << 63)
enum { CACHE_WAY_BITS = 8 };

struct cache_line {
    uint32_t valid;    /* sectors that are there, or will be at a known time */
    uint32_t dirty;    /* sectors */
    uint32_t fetching; /* sectors on their way, to arrive at a time not known yet */
    uint32_t waiters;  /* list of the owner's, UINT32_MAX when empty */
};

/* Lines are named by set * stride + way. What a look-up reads is kept together. */
struct cache {
    uint32_t sets, ways, sectors;
    uint32_t stride; /* ways, rounded up to 4; the places past the ways stay empty */
    uint64_t clock;  /* order of uses */
    uint32_t *keys;  /* a part of the tag, to find the one way that is worth a look */
    uint64_t *tags;  /* address of the line, or UINT64_MAX */
    uint64_t *used; /* order of last use << CACHE_WAY_BITS | way, so that the least names the victim;
                       CACHE_HELD is added while data is on its way */
    struct cache_line *lines;
    uint64_t *ready; /* [line][sectors]; NULL if made without ready times */
};

/* timed: with a ready time for each sector. */
bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);

/* Lines are at least 32 bytes. */
static inline uint32_t cache_key(uint64_t tag)
{
    return (uint32_t)(tag >> 5);
}

/* Which of four ways from `keys` on have the key, a bit each. */
static inline uint32_t cache_match4(const uint32_t *keys, uint32_t key)
{
#ifdef __SSE2__
    __m128i same = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)keys), _mm_set1_epi32((int)key));

    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same));
#else
    uint32_t match = 0;

    for (unsigned i = 0; i < 4; i++)
        match |= (uint32_t)(keys[i] == key) << i;
    return match;
#endif
}

/* The line in its set, or CACHE_NONE. */
static inline uint32_t cache_find(const struct cache *c, uint32_t set, uint64_t tag)
{
    uint32_t first = set * c->stride, key = cache_key(tag);

    for (uint32_t i = first; i < first + c->stride; i += 4) {
        for (uint32_t match = cache_match4(c->keys + i, key); match; match &= match - 1)
            if (c->tags[i + bits_first(match)] == tag)
                return i + bits_first(match);
    }
    return CACHE_NONE;
}

/*
 * The line to replace: one never used, else the least recently used of those with nothing on its
 * way; CACHE_NONE if all are waiting for something.
 */
uint32_t cache_victim(const struct cache *c, uint32_t set);

/* Gives the way to a new line, with no sector valid. */
void cache_replace(struct cache *c, uint32_t index, uint64_t tag);

static inline void cache_touch(struct cache *c, uint32_t index)
{
    uint64_t kept = CACHE_HELD | bits_low(CACHE_WAY_BITS);

    c->used[index] = ++c->clock << CACHE_WAY_BITS | (c->used[index] & kept);
}

/* Sets which sectors of a line are on their way. */
static inline void cache_set_fetching(struct cache *c, uint32_t index, uint32_t sectors)
{
    c->lines[index].fetching = sectors;
    c->used[index] = (c->used[index] & ~CACHE_HELD) | (sectors ? CACHE_HELD : 0);
}

static inline uint64_t *cache_ready(const struct cache *c, uint32_t index)
{
    return c->ready + (uint64_t)index * c->sectors;
}

#endif
