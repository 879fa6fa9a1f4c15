#include "sim/link.h"
#include "sim/base/bits.h"
#include "sim/machine.h"

struct transfer {
    struct sim_transfer_record record;
    bool pinned;
};

/* Transfers from `head` on wait, or are served. */
struct engine {
    VEC(struct transfer) queue;
    size_t head;
};

struct link {
    uint32_t nengines;
    struct engine engines[2];
    struct rate_server rates[2][2]; /* [to device][pinned] */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t link_engines(const struct sim_config *c)
{
    return c->link_duplex ? c->copy_engines : 1;
}

struct link *link_new(const struct sim_config *c)
{
    struct link *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->nengines = link_engines(c);
    rate_init(&l->rates[false][true], c->link_d2h_rate);
    rate_init(&l->rates[false][false], least(c->link_d2h_rate, c->link_pageable_rate));
    rate_init(&l->rates[true][true], c->link_h2d_rate);
    rate_init(&l->rates[true][false], least(c->link_h2d_rate, c->link_pageable_rate));
    return l;
}

void link_free(struct link *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < 2; i++)
        vec_free(&l->engines[i].queue);
    free(l);
}

bool link_copy(struct link *to, const struct link *from)
{
    memcpy(to->rates, from->rates, sizeof to->rates);
    for (size_t i = 0; i < 2; i++) {
        to->engines[i].head = from->engines[i].head;
        if (!vec_copy(&to->engines[i].queue, &from->engines[i].queue))
            return false;
    }
    return true;
}

/* Puts the first transfer of the queue in service. */
static void serve(struct sim_machine *m, uint32_t engine)
{
    const struct sim_config *c = &m->config;
    struct engine *en = &m->link->engines[engine];
    struct transfer *t = &en->queue.at[en->head];
    struct sim_transfer_record *r = &t->record;
    uint64_t pieces = r->kind == SIM_T_COPY ? 1 : bits_ceil_div(r->bytes, c->um_chunk_bytes);

    r->start_ps = m->now_ps;
    r->end_ps = rate_serve(&m->link->rates[r->to_device][t->pinned],
                           m->now_ps + c->link_latency * PS_PER_NS, r->bytes, NULL);
    if (pieces > 1)
        r->end_ps += (pieces - 1) * c->um_chunk_gap * PS_PER_NS;
    machine_schedule(m, r->end_ps, UNIT_LINK + engine, EV_LINK, engine, 0);
}

void link_submit(struct sim_machine *m, const struct sim_transfer_record *request, bool pinned)
{
    uint32_t engine = m->link->nengines == 2 && request->to_device;
    struct engine *en = &m->link->engines[engine];

    if (!vec_push(&en->queue, ((struct transfer){.record = *request, .pinned = pinned}))) {
        machine_out_of_memory(m);
        return;
    }
    if (en->queue.len - en->head == 1)
        serve(m, engine);
}

/* The served places in front are reclaimed when they are as many as those that wait. */
static void drop_first(struct engine *en)
{
    size_t left = en->queue.len - ++en->head;

    if (left <= en->head) {
        memmove(en->queue.at, en->queue.at + en->head, left * sizeof *en->queue.at);
        en->queue.len = left;
        en->head = 0;
    }
}

void link_event(struct sim_machine *m, const struct event *e)
{
    struct engine *en = &m->link->engines[e->a];
    struct sim_transfer_record done = en->queue.at[en->head].record;

    drop_first(en);
    if (en->queue.len > 0)
        serve(m, e->a);
    queue_transfer_done(m, &done);
}
