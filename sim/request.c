#include "sim/request.h"

#include <stdlib.h>
#include <string.h>

bool requests_grow(struct requests *p)
{
    uint32_t count = p->count ? 2 * p->count : 1024;
    struct request *at;

    if (count <= p->count)
        return false;
    at = aligned_alloc(64, (size_t)count * sizeof *at);
    if (!at)
        return false;
    if (p->count)
        memcpy(at, p->at, p->count * sizeof *at);
    free(p->at);
    for (uint32_t i = p->count; i < count; i++)
        at[i].next = i + 1 < count ? i + 1 : p->free;
    p->free = p->count;
    p->count = count;
    p->at = at;
    return true;
}

bool requests_init(struct requests *p, uint32_t count)
{
    *p = (struct requests){.free = REQUEST_NONE};
    while (p->count < count)
        if (!requests_grow(p))
            return false;
    return true;
}

void requests_free(struct requests *p)
{
    free(p->at);
    *p = (struct requests){.free = REQUEST_NONE};
}

bool requests_copy(struct requests *to, const struct requests *from)
{
    struct request *at = aligned_alloc(64, from->count * sizeof *at);

    if (!at)
        return false;
    memcpy(at, from->at, from->count * sizeof *at);
    free(to->at);
    *to = *from;
    to->at = at;
    return true;
}
