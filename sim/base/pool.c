#include "sim/base/pool.h"

static bool resize(struct pool *p, uint32_t count)
{
    unsigned char *at;

    if (count <= p->count || count == POOL_NONE)
        return false;
    at = realloc(p->at, (size_t)count * p->item);
    if (!at)
        return false;
    p->at = at;
    for (uint32_t i = count; i-- > p->count;)
        pool_give(p, i);
    p->count = count;
    return true;
}

bool pool_init(struct pool *p, uint32_t item, uint32_t count)
{
    memset(p, 0, sizeof *p);
    p->item = item;
    p->free = POOL_NONE;
    return resize(p, count);
}

bool pool_grow(struct pool *p)
{
    return resize(p, p->count > POOL_NONE / 2 ? POOL_NONE : p->count * 2);
}

void pool_free(struct pool *p)
{
    free(p->at);
    memset(p, 0, sizeof *p);
}

bool pool_copy(struct pool *to, const struct pool *from)
{
    unsigned char *at = malloc((size_t)from->count * from->item);

    if (!at)
        return false;
    memcpy(at, from->at, (size_t)from->count * from->item);
    free(to->at);
    *to = *from;
    to->at = at;
    return true;
}

bool *pool_free_items(const struct pool *p)
{
    bool *is_free = calloc((size_t)p->count + 1, sizeof *is_free);

    for (uint32_t i = p->free; is_free && i != POOL_NONE;) {
        is_free[i] = true;
        memcpy(&i, pool_at(p, i), sizeof i);
    }
    return is_free;
}
