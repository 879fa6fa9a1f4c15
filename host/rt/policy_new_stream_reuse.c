/*
 * reuse: any free stream; which one is not said where the policy comes from, so that it is the one of the smallest number:
 * a loop then runs on the same streams each time.
 */
#include "host/rt/stream.h"

static struct hd_stream *take(struct stream_pool *pool)
{
    struct hd_stream *s;

    if (list_empty(&pool->free))
        return NULL;
    s = LIST_ITEM(pool->free.next, struct hd_stream, free);
    list_remove(&s->free);
    return s;
}

/* Keeps the list in order of the numbers. */
static void release(struct stream_pool *pool, struct hd_stream *s)
{
    struct list *place = &pool->free;

    while (place->prev != &pool->free &&
           LIST_ITEM(place->prev, struct hd_stream, free)->number > s->number)
        place = place->prev;
    list_insert(place, &s->free);
}

const struct new_stream_policy new_stream_reuse = {take, release};
