/*
 * Tags of a set-associative cache with sectors: which sectors of which lines it holds, and whether
 * they are dirty. It knows nothing of time but to keep it: a sector may be known to be ready at a
 * later time.
 */
#ifndef HD_SIM_CACHE_H
#define HD_SIM_CACHE_H

#include "sim/base/bits.h"

#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CACHE_NONE UINT32_MAX /* no such way */

struct cache_line {
    uint64_t tag;        /* address of the line, or UINT64_MAX */
    uint64_t latest_ps;  /* no sector of it is ready later; caches with ready times */
    uint32_t valid;      /* sectors that are there, or will be at a known time */
    uint32_t dirty;      /* sectors */
    uint32_t fetching;   /* sectors on their way, to arrive at a time not known yet */
    uint32_t waiters;    /* list of the owner's, UINT32_MAX when empty */
    uint64_t ready_ps[]; /* of each sector; caches with ready times */
};

/*
 * A way's last use, as a number that only orders the ways of its set: the least is the one to
 * replace. A set's numbers are given out anew when they reach CACHE_USES.
 */
typedef int16_t cache_use;
enum { CACHE_USES = INT16_MAX, CACHE_WAYS_MAX = 64 };

/*
 * What a look-up in a set reads. Behind it come the keys of its ways, a part of each tag to find the
 * one way that is worth a look, and their last uses.
 */
struct cache_set {
    uint64_t held;  /* ways with data on its way, which may not be replaced */
    uint64_t dirty; /* ways with a dirty sector */
    cache_use next_use;
    _Alignas(16) uint32_t keys[];
};

/* Lines are named by set * stride + way. */
struct cache {
    uint32_t sets, ways, sectors;
    uint32_t stride; /* ways, rounded up to 8; the places past the ways stay empty */
    size_t set_bytes, line_bytes;
    unsigned char *set_at, *line_at;
};

/* ways is at most CACHE_WAYS_MAX. timed: with a ready time for each sector. */
bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);
/* Makes a cache equal to another one of the same shape. */
void cache_copy(struct cache *to, const struct cache *from);

static inline struct cache_set *cache_set(const struct cache *c, uint32_t set)
{
    return (struct cache_set *)(void *)(c->set_at + set * c->set_bytes);
}

static inline cache_use *cache_uses(const struct cache *c, struct cache_set *s)
{
    return (cache_use *)(void *)(s->keys + c->stride);
}

static inline struct cache_line *cache_line(const struct cache *c, uint32_t index)
{
    return (struct cache_line *)(void *)(c->line_at + index * c->line_bytes);
}

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

/* For cache_find(), of a set in hand. */
static inline uint32_t cache_find_in(const struct cache *c, const struct cache_set *s, uint32_t set,
                                     uint64_t tag)
{
    uint32_t first = set * c->stride, stride = c->stride, key = cache_key(tag);

    for (uint32_t i = 0; i < stride; i += 8) {
        for (uint32_t match = cache_match8(s->keys + i, key); match; match &= match - 1) {
            uint32_t index = first + i + bits_first(match);

            if (cache_line(c, index)->tag == tag)
                return index;
        }
    }
    return CACHE_NONE;
}

/* The line in its set, or CACHE_NONE. */
static inline uint32_t cache_find(const struct cache *c, uint32_t set, uint64_t tag)
{
    return cache_find_in(c, cache_set(c, set), set, tag);
}

/*
 * The line to replace: one never used, else the least recently used of those with nothing on its
 * way; CACHE_NONE if all are waiting for something.
 */
uint32_t cache_victim(const struct cache *c, uint32_t set);

/* Gives the numbers of a set's uses out anew. */
void cache_renumber(struct cache *c, struct cache_set *s);

/* For cache_touch(), of a set in hand. */
static inline void cache_touch_in(struct cache *c, struct cache_set *s, uint32_t way)
{
    cache_use use = s->next_use;

    if (use == CACHE_USES) {
        cache_renumber(c, s);
        use = s->next_use;
    }
    cache_uses(c, s)[way] = use;
    s->next_use = (cache_use)(use + 1);
}

static inline void cache_touch(struct cache *c, uint32_t set, uint32_t index)
{
    cache_touch_in(c, cache_set(c, set), index - set * c->stride);
}

/* The line, or CACHE_NONE; a look-up is a use. */
static inline uint32_t cache_look_up(struct cache *c, uint32_t set, uint64_t tag)
{
    struct cache_set *s = cache_set(c, set);
    uint32_t index = cache_find_in(c, s, set, tag);

    if (index != CACHE_NONE)
        cache_touch_in(c, s, index - set * c->stride);
    return index;
}

/* The same for a line that may be at a place, of whatever set. */
static inline uint32_t cache_look_up_at(struct cache *c, uint32_t set, uint64_t tag, uint32_t place)
{
    if (cache_line(c, place)->tag != tag)
        return cache_look_up(c, set, tag);
    cache_touch(c, set, place);
    return place;
}

/* The bit of a line in its set. */
static inline uint64_t cache_way(const struct cache *c, uint32_t set, uint32_t index)
{
    return UINT64_C(1) << (index - set * c->stride);
}

static inline bool cache_is_dirty(const struct cache *c, uint32_t set, uint32_t index)
{
    return (cache_set(c, set)->dirty & cache_way(c, set, index)) != 0;
}

static inline void cache_make_dirty(struct cache *c, uint32_t set, uint32_t index, uint32_t sectors)
{
    cache_line(c, index)->dirty |= sectors;
    cache_set(c, set)->dirty |= cache_way(c, set, index);
}

/* Gives the way to a new line, with no sector valid. */
static inline void cache_replace(struct cache *c, uint32_t set, uint32_t index, uint64_t tag)
{
    struct cache_line *line = cache_line(c, index);

    cache_set(c, set)->keys[index - set * c->stride] = cache_key(tag);
    cache_set(c, set)->dirty &= ~cache_way(c, set, index);
    line->tag = tag;
    line->latest_ps = 0;
    line->valid = line->dirty = line->fetching = 0;
    line->waiters = UINT32_MAX;
    cache_touch(c, set, index);
}

/* Sets which sectors of a line are on their way. */
static inline void cache_set_fetching(struct cache *c, uint32_t set, uint32_t index,
                                      uint32_t sectors)
{
    struct cache_set *s = cache_set(c, set);
    uint64_t way = cache_way(c, set, index);

    cache_line(c, index)->fetching = sectors;
    s->held = (s->held & ~way) | (sectors ? way : 0);
}

/* Brings what a look-up in a set reads nearer, for one that comes later. */
static inline void cache_prefetch_set(const struct cache *c, uint32_t set)
{
    const char *s = (const char *)cache_set(c, set);

    __builtin_prefetch(s);
    __builtin_prefetch(s + 64);
}

/* The same for the line itself, for a look-up that comes soon. Returns where it is, or another place. */
static inline uint32_t cache_prefetch_line(const struct cache *c, uint32_t set, uint64_t tag)
{
    const uint32_t *keys = cache_set(c, set)->keys;
    uint32_t key = cache_key(tag), first = set * c->stride;

    for (uint32_t i = 0; i < c->stride; i += 8) {
        uint32_t match = cache_match8(keys + i, key);

        if (!match)
            continue;
        first += i + bits_first(match);
        __builtin_prefetch(cache_line(c, first));
        break;
    }
    return first;
}

#endif
