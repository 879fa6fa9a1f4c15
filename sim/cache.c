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
    c->lines = malloc(lines * sizeof *c->lines);
    if (timed)
        c->ready = calloc(lines, sectors * sizeof *c->ready);
    if (!c->lines || (timed && !c->ready))
        return false;
    cache_clear(c);
    return true;
}

void cache_free(struct cache *c)
{
    free(c->lines);
    free(c->ready);
    memset(c, 0, sizeof *c);
}

void cache_clear(struct cache *c)
{
    uint64_t lines = (uint64_t)c->sets * c->ways;

    for (uint64_t i = 0; i < lines; i++)
        c->lines[i] = (struct cache_line){.tag = UINT64_MAX, .waiters = UINT32_MAX};
    c->clock = 0;
}

uint32_t cache_find(const struct cache *c, uint32_t set, uint64_t tag)
{
    const struct cache_line *line = c->lines + (uint64_t)set * c->ways;

    for (uint32_t way = 0; way < c->ways; way++)
        if (line[way].tag == tag)
            return set * c->ways + way;
    return CACHE_NONE;
}

uint32_t cache_victim(const struct cache *c, uint32_t set)
{
    const struct cache_line *line = c->lines + (uint64_t)set * c->ways;
    uint32_t best = CACHE_NONE;
    uint64_t oldest = UINT64_MAX;

    for (uint32_t way = 0; way < c->ways; way++) {
        if (!line[way].fetching && line[way].used < oldest) {
            oldest = line[way].used;
            best = set * c->ways + way;
        }
    }
    return best;
}

void cache_replace(struct cache *c, uint32_t index, uint64_t tag)
{
    c->lines[index] = (struct cache_line){.tag = tag, .waiters = UINT32_MAX};
    cache_touch(c, index);
}
