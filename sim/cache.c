#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

static uint64_t places(const struct cache *c)
{
    return (uint64_t)c->sets * c->stride;
}

static void *array(uint64_t count, size_t size)
{
    return aligned_alloc(64, bits_round_up(count * size, 64));
}

bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed)
{
    memset(c, 0, sizeof *c);
    c->sets = sets;
    c->ways = ways;
    c->sectors = sectors;
    c->stride = (uint32_t)bits_round_up(ways, 8);
    c->keys = array(places(c), sizeof *c->keys);
    c->used = array(places(c), sizeof *c->used);
    c->next_use = array(sets, sizeof *c->next_use);
    c->held = array(sets, sizeof *c->held);
    c->lines = array(places(c), sizeof *c->lines);
    if (timed)
        c->ready = calloc(places(c), sectors * sizeof *c->ready);
    if (!c->keys || !c->used || !c->next_use || !c->held || !c->lines || (timed && !c->ready))
        return false;
    cache_clear(c);
    return true;
}

void cache_free(struct cache *c)
{
    free(c->keys);
    free(c->used);
    free(c->next_use);
    free(c->held);
    free(c->lines);
    free(c->ready);
    memset(c, 0, sizeof *c);
}

void cache_clear(struct cache *c)
{
    memset(c->keys, 0xff, places(c) * sizeof *c->keys);
    memset(c->held, 0, c->sets * sizeof *c->held);
    for (uint64_t i = 0; i < places(c); i++) {
        uint32_t way = (uint32_t)(i % c->stride);

        /* Ways never used are taken in their order, and places past the ways never. */
        c->used[i] = way < c->ways ? (cache_use)way : CACHE_USES;
        c->lines[i] = (struct cache_line){.tag = UINT64_MAX, .waiters = UINT32_MAX};
    }
    for (uint32_t i = 0; i < c->sets; i++)
        c->next_use[i] = (cache_use)c->ways;
}

void cache_renumber(struct cache *c, uint32_t set)
{
    cache_use *used = c->used + (uint64_t)set * c->stride, rank[CACHE_WAYS_MAX] = {0};

    for (uint32_t way = 0; way < c->ways; way++)
        for (uint32_t other = 0; other < c->ways; other++)
            rank[way] = (cache_use)(rank[way] + (used[other] < used[way]));
    memcpy(used, rank, c->ways * sizeof *used);
    c->next_use[set] = (cache_use)c->ways;
}

/* The place of the least of n numbers, n a multiple of 8; of equal ones the first. */
static uint32_t least(const cache_use *used, uint32_t n)
{
#ifdef __SSE2__
    __m128i best = _mm_load_si128((const __m128i *)used);
    uint32_t i = 0, match;

    for (uint32_t k = 8; k < n; k += 8)
        best = _mm_min_epi16(best, _mm_load_si128((const __m128i *)(used + k)));
    best = _mm_min_epi16(best, _mm_shuffle_epi32(best, _MM_SHUFFLE(1, 0, 3, 2)));
    best = _mm_min_epi16(best, _mm_shuffle_epi32(best, _MM_SHUFFLE(2, 3, 0, 1)));
    best = _mm_min_epi16(best, _mm_shufflehi_epi16(_mm_shufflelo_epi16(best, 0xb1), 0xb1));
    do {
        __m128i same = _mm_cmpeq_epi16(_mm_load_si128((const __m128i *)(used + i)), best);

        match = (uint32_t)_mm_movemask_epi8(same);
        i += 8;
    } while (!match);
    return i - 8 + bits_first(match) / 2;
#else
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++)
        if (used[i] < used[best])
            best = i;
    return best;
#endif
}

uint32_t cache_victim(const struct cache *c, uint32_t set)
{
    uint32_t first = set * c->stride, best = CACHE_NONE;

    if (!c->held[set])
        return first + least(c->used + first, c->stride);
    for (uint32_t way = 0; way < c->ways; way++)
        if (!(c->held[set] >> way & 1) &&
            (best == CACHE_NONE || c->used[first + way] < c->used[best]))
            best = first + way;
    return best;
}
