/*
 * A pool of equal items that are named by index, so that it may move when it grows. The first 4
 * bytes of a free item hold the next free one.
 */
#ifndef HD_SIM_BASE_POOL_H
#define HD_SIM_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define POOL_NONE UINT32_MAX

struct pool {
    unsigned char *at;
    uint32_t item, count, free; /* bytes of an item; items made; first free one, or POOL_NONE */
};

static inline void *pool_at(const struct pool *p, uint32_t index)
{
    return p->at + (size_t)index * p->item;
}

static inline void pool_give(struct pool *p, uint32_t index)
{
    memcpy(pool_at(p, index), &p->free, sizeof p->free);
    p->free = index;
}

/* Starts empty; item is at least 4 bytes. False when memory is short. */
bool pool_init(struct pool *p, uint32_t item, uint32_t count);
bool pool_grow(struct pool *p);
/* Makes a pool equal to another one; false when memory is short. */
bool pool_copy(struct pool *to, const struct pool *from);
/* For each item whether it is free; the caller frees the array. NULL when memory is short. */
bool *pool_free_items(const struct pool *p);
void pool_free(struct pool *p);

/* An item with old contents; POOL_NONE when memory is short. Pointers into the pool may be stale
 * after this. */
static inline uint32_t pool_take(struct pool *p)
{
    uint32_t index;

    if (p->free == POOL_NONE && !pool_grow(p))
        return POOL_NONE;
    index = p->free;
    memcpy(&p->free, pool_at(p, index), sizeof p->free);
    return index;
}

#endif
