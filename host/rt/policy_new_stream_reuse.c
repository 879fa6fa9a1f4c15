/*
 * reuse: any free stream; which one is not said where the policy comes from, so that it is the one of the smallest number:
 * a loop then runs on the same streams each time. They are a binary heap in pool->by_number.
 */
#include "host/rt/stream.h"

static bool is_before(const struct stream_pool *pool, size_t i, size_t j)
{
    return pool->by_number.at[i]->number < pool->by_number.at[j]->number;
}

static void exchange(struct stream_pool *pool, size_t i, size_t j)
{
    struct hd_stream *s = pool->by_number.at[i];

    pool->by_number.at[i] = pool->by_number.at[j];
    pool->by_number.at[j] = s;
}

static void sink(struct stream_pool *pool, size_t i)
{
    size_t n = pool->by_number.len;

    for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(pool, child + 1, child))
            child++;
        if (!is_before(pool, child, i))
            return;
        exchange(pool, i, child);
        i = child;
    }
}

static struct hd_stream *take(struct stream_pool *pool)
{
    struct hd_stream *s;

    if (pool->by_number.len == 0)
        return NULL;
    s = pool->by_number.at[0];
    pool->by_number.at[0] = pool->by_number.at[--pool->by_number.len];
    sink(pool, 0);
    return s;
}

static void release(struct stream_pool *pool, struct hd_stream *s)
{
    size_t i = pool->by_number.len++; /* there is room for all streams */

    pool->by_number.at[i] = s;
    for (; i > 0 && is_before(pool, i, (i - 1) / 2); i = (i - 1) / 2)
        exchange(pool, i, (i - 1) / 2);
}

const struct new_stream_policy new_stream_reuse = {take, release};
