/* fifo: the stream that has been free longest. */
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

static void release(struct stream_pool *pool, struct hd_stream *s)
{
    list_insert(&pool->free, &s->free);
}

const struct new_stream_policy new_stream_fifo = {take, release};
