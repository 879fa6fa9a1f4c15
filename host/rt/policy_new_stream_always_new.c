/* always-new: a stream for each computation that inherits none. A stream without work is of no more use, and is freed. */
#include "host/rt/stream.h"

static struct hd_stream *take(struct stream_pool *pool)
{
    (void)pool;
    return NULL;
}

static void release(struct stream_pool *pool, struct hd_stream *s)
{
    (void)pool;
    stream_destroy(s);
}

const struct new_stream_policy new_stream_always_new = {take, release};
