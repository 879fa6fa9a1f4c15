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

struct cache_line {
    uint64_t tag;       /* address of the line, or UINT64_MAX */
    uint64_t latest_ps; /* no sector of it is ready later; caches with ready times */
    uint32_t valid;     /* sectors that are there, or will be at a known time */
    uint32_t dirty;     /* sectors */
    uint32_t fetching;  /* sectors on their way, to arrive at a time not known yet */
    uint32_t waiters;   /* list of the owner's, UINT32_MAX when empty */
};

/*
 * A way's last use, as a number that only orders the ways of its set: the least is the one to
 * replace. A set's numbers are given out anew when they reach CACHE_USES.
 */
typedef int16_t cache_use;
enum { CACHE_USES = INT16_MAX, CACHE_WAYS_MAX = 64 };

/* Lines are named by set * stride + way. What a look-up reads is kept together. */
struct cache {
    uint32_t sets, ways, sectors;
    uint32_t stride;     /* ways, rounded up to 8; the places past the ways stay empty */
    uint32_t *keys;      /* a part of the tag, to find the one way that is worth a look */
    cache_use *used;     /* beside keys */
    cache_use *next_use; /* [sets] */
    uint64_t *held;      /* [sets]: ways with data on its way, which may not be replaced */
    struct cache_line *lines;
    uint64_t *ready; /* [line][sectors]; NULL if made without ready times */
};

/* ways is at most CACHE_WAYS_MAX. timed: with a ready time for each sector. */
bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);

/* Lines are at least 32 bytes. */
static inline uint32_t cache_key(uint64_t tag)
{
    return (uint32_t)(tag >> 5);
}

/* Which of eight ways from `keys` on have the key, a bit each. */
static inline uint32_t cache_match8(const uint32_t *keys, uint32_t key)
{
#ifdef __SSE2__
    __m128i want = _mm_set1_epi32((int)key);
    __m128i low = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)keys), want);
    __m128i high = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)keys + 1), want);

    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(low, high), low)) & 0xff;
#else
    uint32_t match = 0;

    for (unsigned i = 0; i < 8; i++)
        match |= (uint32_t)(keys[i] == key) << i;
    return match;
#endif
}

/* The line in its set, or CACHE_NONE. */
static inline uint32_t cache_find(const struct cache *c, uint32_t set, uint64_t tag)
{
    uint32_t first = set * c->stride, key = cache_key(tag);

    for (uint32_t i = first; i < first + c->stride; i += 8) {
        for (uint32_t match = cache_match8(c->keys + i, key); match; match &= match - 1)
            if (c->lines[i + bits_first(match)].tag == tag)
                return i + bits_first(match);
    }
    return CACHE_NONE;
}

/*
 * The line to replace: one never used, else the least recently used of those with nothing on its
 * way; CACHE_NONE if all are waiting for something.
 */
uint32_t cache_victim(const struct cache *c, uint32_t set);

/* Gives the numbers of a set's uses out anew. */
void cache_renumber(struct cache *c, uint32_t set);

static inline void cache_touch(struct cache *c, uint32_t set, uint32_t index)
{
    if (c->next_use[set] == CACHE_USES)
        cache_renumber(c, set);
    c->used[index] = c->next_use[set]++;
}

/* Gives the way to a new line, with no sector valid. */
static inline void cache_replace(struct cache *c, uint32_t set, uint32_t index, uint64_t tag)
{
    c->keys[index] = cache_key(tag);
    c->lines[index] = (struct cache_line){.tag = tag, .waiters = UINT32_MAX};
    cache_touch(c, set, index);
}

/* Sets which sectors of a line are on their way. */
static inline void cache_set_fetching(struct cache *c, uint32_t set, uint32_t index,
                                      uint32_t sectors)
{
    uint64_t way = UINT64_C(1) << (index - set * c->stride);

    c->lines[index].fetching = sectors;
    c->held[set] = (c->held[set] & ~way) | (sectors ? way : 0);
}

static inline uint64_t *cache_ready(const struct cache *c, uint32_t index)
{
    return c->ready + (uint64_t)index * c->sectors;
}

#endif
