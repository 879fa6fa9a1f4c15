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
    c->stride = (uint32_t)bits_round_up(ways, 4);
    c->keys = array(places(c), sizeof *c->keys);
    c->tags = array(places(c), sizeof *c->tags);
    c->used = array(places(c), sizeof *c->used);
    c->lines = array(places(c), sizeof *c->lines);
    if (timed)
        c->ready = calloc(places(c), sectors * sizeof *c->ready);
    if (!c->keys || !c->tags || !c->used || !c->lines || (timed && !c->ready))
        return false;
    cache_clear(c);
    return true;
}

void cache_free(struct cache *c)
{
    free(c->keys);
    free(c->tags);
    free(c->used);
    free(c->lines);
    free(c->ready);
    memset(c, 0, sizeof *c);
}

void cache_clear(struct cache *c)
{
    memset(c->keys, 0xff, places(c) * sizeof *c->keys);
    memset(c->tags, 0xff, places(c) * sizeof *c->tags);
    for (uint64_t i = 0; i < places(c); i++) {
        c->used[i] = i % c->stride;
        c->lines[i] = (struct cache_line){.waiters = UINT32_MAX};
    }
    c->clock = 0;
}

uint32_t cache_victim(const struct cache *c, uint32_t set)
{
    const uint64_t *used = c->used + (uint64_t)set * c->stride;
    uint64_t oldest = used[0];

    for (uint32_t way = 1; way < c->ways; way++)
        oldest = used[way] < oldest ? used[way] : oldest;
    if (oldest & CACHE_HELD)
        return CACHE_NONE;
    return set * c->stride + (uint32_t)(oldest & bits_low(CACHE_WAY_BITS));
}

void cache_replace(struct cache *c, uint32_t index, uint64_t tag)
{
    c->keys[index] = cache_key(tag);
    c->tags[index] = tag;
    c->lines[index] = (struct cache_line){.waiters = UINT32_MAX};
    cache_touch(c, index);
}
