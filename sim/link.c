#include "sim/link.h"
#include "sim/base/bits.h"
#include "sim/machine.h"

struct transfer {
    struct sim_transfer_record record;
    uint64_t seq;  /* of arrival */
    uint64_t move; /* of pages to the device */
    bool pinned;
};

struct engine {
    VEC(struct transfer) waiting; /* a heap, the one to be served next in front */
    struct transfer now;          /* in service */
    uint64_t arrived;             /* transfers, so far */
    bool busy;                    /* `now` is in service, or EV_LINK_START is under way */
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
        vec_free(&l->engines[i].waiting);
    free(l);
}

bool link_copy(struct link *to, const struct link *from)
{
    memcpy(to->rates, from->rates, sizeof to->rates);
    for (size_t i = 0; i < 2; i++) {
        const struct engine *en = &from->engines[i];

        to->engines[i].now = en->now;
        to->engines[i].arrived = en->arrived;
        to->engines[i].busy = en->busy;
        if (!vec_copy(&to->engines[i].waiting, &en->waiting))
            return false;
    }
    return true;
}

/* ---- the order of service --------------------------------------------------------------- */

static bool before(const struct transfer *a, const struct transfer *b)
{
    if (a->record.ticket != b->record.ticket)
        return a->record.ticket < b->record.ticket;
    return a->seq < b->seq;
}

/* The last of the heap finds its place on the way to the front. */
static void rise(struct transfer *heap, size_t at)
{
    struct transfer t = heap[at];

    for (; at > 0 && before(&t, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = t;
}

/* t finds its place from the front on. */
static void sink(struct transfer *heap, size_t len, struct transfer t)
{
    size_t at = 0;

    for (size_t child = 1; child < len; child = 2 * at + 1) {
        if (child + 1 < len && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &t))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = t;
}

static struct transfer take_next(struct engine *en)
{
    struct transfer next = en->waiting.at[0];

    if (--en->waiting.len > 0)
        sink(en->waiting.at, en->waiting.len, en->waiting.at[en->waiting.len]);
    return next;
}

/* ---- service ---------------------------------------------------------------------------- */

static void serve(struct sim_machine *m, uint32_t engine)
{
    const struct sim_config *c = &m->config;
    struct engine *en = &m->link->engines[engine];
    struct sim_transfer_record *r = &en->now.record;
    uint64_t pieces;

    en->now = take_next(en);
    pieces = r->kind == SIM_T_COPY ? 1 : bits_ceil_div(r->bytes, c->um_chunk_bytes);
    r->start_ps = m->now_ps;
    r->end_ps = rate_serve(&m->link->rates[r->to_device][en->now.pinned],
                           m->now_ps + c->link_latency * PS_PER_NS, r->bytes, NULL);
    if (pieces > 1)
        r->end_ps += (pieces - 1) * c->um_chunk_gap * PS_PER_NS;
    machine_schedule(m, r->end_ps, UNIT_LINK + engine, EV_LINK, engine, 0);
}

/* What else comes at this time may be ahead of what is there. */
static void serve_soon(struct sim_machine *m, uint32_t engine)
{
    m->link->engines[engine].busy = true;
    machine_schedule(m, m->now_ps, UNIT_LINK_START + engine, EV_LINK_START, engine, 0);
}

void link_submit(struct sim_machine *m, const struct sim_transfer_record *request, bool pinned,
                 uint64_t move)
{
    uint32_t engine = m->link->nengines == 2 && request->to_device;
    struct engine *en = &m->link->engines[engine];
    struct transfer t = {.record = *request, .seq = en->arrived++, .move = move, .pinned = pinned};

    if (!vec_push(&en->waiting, t)) {
        machine_out_of_memory(m);
        return;
    }
    rise(en->waiting.at, en->waiting.len - 1);
    if (!en->busy)
        serve_soon(m, engine);
}

void link_event(struct sim_machine *m, const struct event *e)
{
    struct engine *en = &m->link->engines[e->a];

    if (e->kind == EV_LINK_START) {
        serve(m, e->a);
        return;
    }
    en->busy = false;
    if (en->waiting.len > 0)
        serve_soon(m, e->a);
    queue_transfer_done(m, &en->now.record, en->now.move);
}
