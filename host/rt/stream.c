#include "host/rt/stream.h"

#include "host/rt/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------- */

void streams_init(struct stream_pool *pool)
{
    list_init(&pool->all);
    list_init(&pool->recent);
    list_init(&pool->free);
    list_init(&pool->emptied);
    list_init(&pool->ahead);
}

static bool remember_number(struct stream_pool *pool, uint32_t queue, uint32_t number)
{
    while (pool->number_of_queue.len <= queue) {
        if (!vec_push(&pool->number_of_queue, 0))
            return false;
    }
    pool->number_of_queue.at[queue] = number;
    return true;
}

static struct hd_stream *stream_on_queue(hd_runtime *rt, uint32_t queue, bool automatic)
{
    struct stream_pool *pool = &rt->streams;
    struct hd_stream *s = calloc(1, sizeof *s);

    if (!s || !remember_number(pool, queue, pool->next_number) ||
        !vec_reserve(&pool->by_number, pool->automatic + 1)) {
        free(s);
        return NULL;
    }
    s->rt = rt;
    s->queue = queue;
    s->number = pool->next_number++;
    s->automatic = automatic;
    list_init(&s->recent);
    list_init(&s->free);
    list_init(&s->active);
    list_init(&s->attached);
    list_init(&s->ahead);
    list_insert(&pool->all, &s->all);
    if (automatic) {
        list_insert(&pool->recent, &s->recent);
        pool->automatic++;
    }
    return s;
}

enum hd_status streams_start(hd_runtime *rt, struct hd_error *err)
{
    rt->streams.standard = stream_on_queue(rt, 0, false); /* the machine's first queue */
    return rt->streams.standard ? HD_OK : rt_no_memory(rt, err);
}

enum hd_status stream_make(hd_runtime *rt, bool automatic, struct hd_stream **out,
                           struct hd_error *err)
{
    uint32_t queue;

    *out = NULL;
    if (rt->ops->queue_new(rt->machine, &queue, &rt->error) != HD_OK)
        return rt_failed(rt, err);
    rt_charge(rt, rt->cost->stream_new);
    *out = stream_on_queue(rt, queue, automatic);
    return *out ? HD_OK : rt_no_memory(rt, err);
}

void stream_destroy(struct hd_stream *s)
{
    hd_runtime *rt = s->rt;

    attach_orphan(s);
    rt->ops->queue_free(rt->machine, s->queue);
    list_remove(&s->all);
    list_remove(&s->recent);
    list_remove(&s->free);
    list_remove(&s->ahead);
    rt->streams.automatic -= s->automatic;
    free(s);
}

static void finish_computations(struct hd_stream *s)
{
    while (!list_empty(&s->active))
        dag_finish(&s->rt->dag, LIST_ITEM(s->active.prev, struct dag_vertex, in_stream));
}

void streams_free(hd_runtime *rt)
{
    struct stream_pool *pool = &rt->streams;

    for (struct list *l = pool->all.next; l != &pool->all; l = l->next)
        finish_computations(LIST_ITEM(l, struct hd_stream, all));
    while (!list_empty(&pool->all)) {
        struct hd_stream *s = LIST_ITEM(pool->all.next, struct hd_stream, all);

        list_remove(&s->all);
        free(s);
    }
    vec_free(&pool->number_of_queue);
    vec_free(&pool->by_number);
}

enum hd_status stream_given(hd_runtime *rt, hd_stream *s, hd_stream **out, struct hd_error *err)
{
    *out = s ? s : rt->streams.standard;
    if ((*out)->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "stream-foreign", NULL, NULL,
                            "the stream was made by another runtime");
    if ((*out)->freed)
        return hd_error_set(err, HD_BAD_INPUT, "stream-freed", NULL, NULL,
                            "stream %u is used after it was freed", (*out)->number);
    return HD_OK;
}

/* ---- commands ---------------------------------------------------------------------------------- */

enum hd_status stream_put(struct hd_stream *s, const struct sim_cmd *cmd, uint64_t *ticket,
                          struct hd_error *err)
{
    hd_runtime *rt = s->rt;

    if (rt->ops->submit(rt->machine, s->queue, cmd, ticket, &rt->error) != HD_OK)
        return rt_failed(rt, err);
    s->last_ticket = *ticket;
    if (s != rt->streams.standard && list_empty(&s->ahead))
        list_insert(&rt->streams.ahead, &s->ahead);
    return HD_OK;
}

enum hd_status stream_put_wait(struct hd_stream *s, uint64_t awaited, struct hd_error *err)
{
    struct sim_cmd cmd = {.kind = SIM_WAIT, .ticket = awaited};
    uint64_t ticket;

    return stream_put(s, &cmd, &ticket, err);
}

static enum hd_status put_wait_for(struct hd_stream *s, const struct hd_stream *other,
                                   struct hd_error *err)
{
    hd_runtime *rt = s->rt;

    if (other->last_ticket == 0 || rt->ops->done(rt->machine, other->last_ticket))
        return HD_OK;
    return stream_put_wait(s, other->last_ticket, err);
}

/* Tickets grow, so that a stream has waited for all that the default stream had before the stream's own last command. */
static enum hd_status put_waits_of_default(struct hd_stream *s, struct hd_error *err)
{
    struct stream_pool *pool = &s->rt->streams;
    enum hd_status status = HD_OK;

    if (s != pool->standard)
        return pool->standard->last_ticket > s->last_ticket ? put_wait_for(s, pool->standard, err)
                                                            : HD_OK;
    while (!list_empty(&pool->ahead) && status == HD_OK) {
        struct hd_stream *other = LIST_ITEM(pool->ahead.next, struct hd_stream, ahead);

        list_remove(&other->ahead);
        status = put_wait_for(s, other, err);
    }
    return status;
}

enum hd_status stream_submit(struct hd_stream *s, const struct sim_cmd *cmd, uint64_t *ticket,
                             struct hd_error *err)
{
    bool watched = watch_pause(s->rt);
    enum hd_status status = rt_catch_up(s->rt, err);

    if (status == HD_OK && s->rt->legacy)
        status = put_waits_of_default(s, err);
    if (status == HD_OK)
        status = stream_put(s, cmd, ticket, err);
    watch_resume(s->rt, watched);
    return status;
}

enum hd_status stream_submit_wait(struct hd_stream *s, uint64_t ticket, struct hd_error *err)
{
    struct sim_cmd cmd = {.kind = SIM_WAIT, .ticket = ticket};
    uint64_t own;

    return stream_submit(s, &cmd, &own, err);
}

/* ---- the stream of a computation ----------------------------------------------------------------- */

/* The machine may have no queue left before the scheduler has all the streams it may make. */
static bool queues_are_short(const hd_runtime *rt)
{
    return strcmp(rt->error.code, "queues-many") == 0 && !list_empty(&rt->streams.recent);
}

static enum hd_status choose(hd_runtime *rt, struct dag_vertex *v, struct hd_stream **out,
                             struct hd_error *err)
{
    struct stream_pool *pool = &rt->streams;

    *out = rt_parent_streams[rt->options.host.parent_stream]->inherit(v);
    if (!*out)
        *out = rt_new_streams[rt->options.host.new_stream]->take(pool);
    if (!*out && pool->automatic < rt->options.host.max_streams) {
        if (stream_make(rt, true, out, NULL) == HD_OK)
            return HD_OK;
        if (!queues_are_short(rt))
            return rt_failed(rt, err);
    }
    if (!*out)
        *out = LIST_ITEM(pool->recent.next, struct hd_stream, recent);
    list_remove(&(*out)->recent);
    list_insert(&pool->recent, &(*out)->recent);
    return HD_OK;
}

enum hd_status stream_assign(hd_runtime *rt, struct dag_vertex *v, struct hd_stream *chosen,
                             struct hd_error *err)
{
    enum hd_status status = HD_OK;

    if (!chosen)
        status = choose(rt, v, &chosen, err);
    if (status != HD_OK)
        return status;
    v->stream = chosen;
    list_insert(&chosen->active, &v->in_stream);
    rt->streams.nactive++;
    return HD_OK;
}

void stream_left(void *user, struct dag_vertex *v)
{
    struct stream_pool *pool = &((hd_runtime *)user)->streams;
    struct hd_stream *s = v->stream;

    if (!s) /* a host access has none */
        return;
    list_remove(&v->in_stream);
    pool->nactive--;
    if (s->automatic && list_empty(&s->active))
        list_insert(&pool->emptied, &s->free);
}

/* ---- waiting ------------------------------------------------------------------------------------- */

static void release_emptied(hd_runtime *rt)
{
    struct stream_pool *pool = &rt->streams;
    const struct new_stream_policy *policy = rt_new_streams[rt->options.host.new_stream];

    while (!list_empty(&pool->emptied)) {
        struct hd_stream *s = LIST_ITEM(pool->emptied.next, struct hd_stream, free);

        list_remove(&s->free);
        policy->release(pool, s);
    }
}

bool stream_unsynced(const struct hd_stream *s)
{
    return s->last_ticket > s->synced_ticket;
}

bool stream_unsynced_at(const struct hd_stream *s, uint64_t ticket)
{
    return ticket > s->synced_ticket;
}

bool streams_unsynced(const hd_runtime *rt)
{
    const struct list *head = &rt->streams.all;

    for (const struct list *l = head->next; l != head; l = l->next) {
        if (stream_unsynced(LIST_ITEM(l, const struct hd_stream, all)))
            return true;
    }
    return false;
}

void stream_used_by_hand(struct hd_stream *s, hd_array *a, uint64_t ticket)
{
    if (a->hand && a->hand != s && stream_unsynced_at(a->hand, a->hand_ticket))
        a->hand_many = true;
    a->hand = s;
    a->hand_ticket = ticket;
}

enum hd_status stream_sync_to(struct hd_stream *s, uint64_t ticket, struct hd_error *err)
{
    hd_runtime *rt = s->rt;
    enum hd_status status = ticket ? rt_wait(rt, ticket, err) : HD_OK;

    if (status != HD_OK)
        return status;
    rt_charge(rt, rt->cost->stream_sync);
    if (s->synced_ticket < ticket)
        s->synced_ticket = ticket;
    while (!list_empty(&s->active)) {
        struct dag_vertex *v = LIST_ITEM(s->active.next, struct dag_vertex, in_stream);

        if (v->ticket > ticket)
            break;
        dag_finish(&rt->dag, v);
    }
    release_emptied(rt);
    return HD_OK;
}

enum hd_status stream_sync(struct hd_stream *s, struct hd_error *err)
{
    return stream_sync_to(s, s->last_ticket, err);
}

enum hd_status streams_drain(hd_runtime *rt, struct hd_error *err)
{
    struct stream_pool *pool = &rt->streams;
    enum hd_status status = rt_wait(rt, 0, err);

    if (status != HD_OK)
        return status;
    for (struct list *l = pool->all.next; l != &pool->all; l = l->next) {
        struct hd_stream *s = LIST_ITEM(l, struct hd_stream, all);

        s->synced_ticket = s->last_ticket;
        finish_computations(s);
    }
    release_emptied(rt);
    return HD_OK;
}

enum hd_status streams_sync_all(hd_runtime *rt, struct hd_error *err)
{
    enum hd_status status = streams_drain(rt, err);

    if (status == HD_OK)
        rt_charge(rt, rt->cost->device_sync);
    return status;
}
