#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

bool cache_init(struct cache *c, uint32_t sets, uint32_t ways, uint32_t sectors, bool timed)
{
    uint64_t lines = (uint64_t)sets * ways;

    memset(c, 0, sizeof *c);
    c->sets = sets;
    c->ways = ways;
    c->sectors = sectors;
    c->tags = malloc(lines * sizeof *c->tags);
    c->used = malloc(lines * sizeof *c->used);
    c->lines = malloc(lines * sizeof *c->lines);
    if (timed)
        c->ready = calloc(lines, sectors * sizeof *c->ready);
    if (!c->tags || !c->used || !c->lines || (timed && !c->ready))
        return false;
    cache_clear(c);
    return true;
}

void cache_free(struct cache *c)
{
    free(c->tags);
    free(c->used);
    free(c->lines);
    free(c->ready);
    memset(c, 0, sizeof *c);
}

void cache_clear(struct cache *c)
{
    uint64_t lines = (uint64_t)c->sets * c->ways;

    memset(c->tags, 0xff, lines * sizeof *c->tags);
    memset(c->used, 0, lines * sizeof *c->used);
    for (uint64_t i = 0; i < lines; i++)
        c->lines[i] = (struct cache_line){.waiters = UINT32_MAX};
    c->clock = 0;
}

uint32_t cache_victim(const struct cache *c, uint32_t set)
{
    const uint64_t *used = c->used + (uint64_t)set * c->ways;
    uint32_t best = 0;

    for (uint32_t way = 1; way < c->ways; way++)
        if (used[way] < used[best])
            best = way;
    return used[best] & CACHE_HELD ? CACHE_NONE : set * c->ways + best;
}

void cache_replace(struct cache *c, uint32_t index, uint64_t tag)
{
    c->tags[index] = tag;
    c->used[index] = 0;
    c->lines[index] = (struct cache_line){.waiters = UINT32_MAX};
    cache_touch(c, index);
}
