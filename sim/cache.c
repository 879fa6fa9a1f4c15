#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

enum { HOST_LINE = 64 }; /* bytes of a cache line of the host */

/* Room for items that each begin at a line of the host, if they are longer than half of one. */
static unsigned char *items(uint64_t count, size_t *bytes)
{
    *bytes = bits_round_up(*bytes, *bytes > HOST_LINE / 2 ? HOST_LINE : 16);
    return aligned_alloc(HOST_LINE, bits_round_up(count * *bytes, HOST_LINE));
}

bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed)
{
    memset(c, 0, sizeof *c);
    c->sets = sets;
    c->ways = ways;
    c->sectors = sectors;
    c->stride = (uint32_t)bits_round_up(ways, 8);
    c->set_bytes = sizeof(struct cache_set) + c->stride * (sizeof(uint32_t) + sizeof(cache_use));
    c->line_bytes = sizeof(struct cache_line) + (timed ? sectors * sizeof(uint64_t) : 0);
    c->set_at = items(sets, &c->set_bytes);
    c->line_at = items((uint64_t)sets * c->stride, &c->line_bytes);
    if (!c->set_at || !c->line_at)
        return false;
    cache_clear(c);
    return true;
}

void cache_free(struct cache *c)
{
    free(c->set_at);
    free(c->line_at);
    memset(c, 0, sizeof *c);
}

void cache_copy(struct cache *to, const struct cache *from)
{
    memcpy(to->set_at, from->set_at, from->sets * from->set_bytes);
    memcpy(to->line_at, from->line_at, (size_t)from->sets * from->stride * from->line_bytes);
}

static void clear_set(struct cache *c, uint32_t set)
{
    struct cache_set *s = cache_set(c, set);

    s->held = s->dirty = 0;
    s->next_use = (cache_use)c->ways;
    for (uint32_t way = 0; way < c->stride; way++) {
        struct cache_line *line = cache_line(c, set * c->stride + way);

        s->keys[way] = UINT32_MAX;
        /* Ways never used are taken in their order, and places past the ways never. */
        cache_uses(c, s)[way] = way < c->ways ? (cache_use)way : CACHE_USES;
        *line = (struct cache_line){.tag = UINT64_MAX, .waiters = UINT32_MAX};
    }
}

void cache_clear(struct cache *c)
{
    for (uint32_t set = 0; set < c->sets; set++)
        clear_set(c, set);
}

void cache_renumber(struct cache *c, struct cache_set *s)
{
    cache_use *used = cache_uses(c, s), rank[CACHE_WAYS_MAX] = {0};

    for (uint32_t way = 0; way < c->ways; way++)
        for (uint32_t other = 0; other < c->ways; other++)
            rank[way] = (cache_use)(rank[way] + (used[other] < used[way]));
    memcpy(used, rank, c->ways * sizeof *used);
    s->next_use = (cache_use)c->ways;
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
    struct cache_set *s = cache_set(c, set);
    const cache_use *used = cache_uses(c, s);
    uint32_t best = CACHE_NONE;

    if (!s->held)
        return set * c->stride + least(used, c->stride);
    for (uint32_t way = 0; way < c->ways; way++)
        if (!(s->held >> way & 1) && (best == CACHE_NONE || used[way] < used[best]))
            best = way;
    return best == CACHE_NONE ? best : set * c->stride + best;
}
