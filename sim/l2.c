/*
 * L2: slices that are served in order of arrival. A load whose sectors are all known answers at
 * once; the others wait at their line until DRAM has said when the data comes. Stores and atomics
 * make sectors dirty; dirty sectors go to DRAM when their line is replaced. A sector that a store
 * writes in part is merged here and not fetched.
 */
#include "sim/l2_send.h"

void l2_tell_sent(struct sim_machine *m, uint32_t request, uint64_t cycle)
{
    probe_line(m, request_at(m->device, request), HD_PROBE_REQUEST,
               clock_edge(&m->core, cycle) + m->device->noc_ps);
}

/* ---- answers ---- */

/*
 * An answer that is so late waits outside until its cycle comes into view. One of the same cycle that is
 * given before then waits outside as well, so that they come in the order in which they were given.
 */
enum { ANSWERS_VIEW = TRANSIT_CYCLES / 2 };

static void send_later(struct sim_machine *m, uint32_t index, uint64_t cycle)
{
    uint64_t view_ps = clock_edge(&m->core, cycle - ANSWERS_VIEW);

    request_at(m->device, index)->at_ps = cycle;
    machine_schedule(m, view_ps > m->now_ps ? view_ps : m->now_ps, UNIT_CU, EV_FILL, index, 0);
}

static inline void receive(struct sim_machine *m, struct cu *cu, uint32_t index, uint64_t cycle,
                           uint64_t view)
{
    struct device *d = m->device;

    if (transit_add(cu->fills, d->calendar.now, view, &d->requests, index, cycle))
        cu_due(m, cu, cycle);
    else
        send_later(m, index, cycle);
}

/* Whether an MSHR that is free at `cycle` may be left to count: a load that is held waits for it. */
static inline bool may_count(const struct device *d, const struct cu *cu, uint64_t cycle)
{
    return !lsu_held(cu) && cycle - d->calendar.now < ANSWERS_VIEW;
}

/* The MSHR of a line past L1 is free at `cycle`; the request itself goes on with the load. */
static void free_mshr_at(struct sim_machine *m, struct cu *cu, uint32_t index, uint64_t cycle)
{
    struct device *d = m->device;
    uint32_t i;

    request_at(d, index)->life = 0;
    if (may_count(d, cu, cycle)) {
        returns_add(cu->returns, d->calendar.now, cycle);
        return;
    }
    i = request_new(m);
    if (i == REQUEST_NONE)
        return;
    *request_at(d, i) = *request_at(d, index);
    request_at(d, i)->owner = NONE32;
    request_at(d, i)->life = 1;
    receive(m, cu, i, cycle, ANSWERS_VIEW);
}

/*
 * A line of a load past L1 will come at *cycle. False if that is only counted, and the request given back. Of a whole
 * load only the last line that comes is told: the last to be answered takes its cycle on.
 */
static inline bool past_is_told(struct sim_machine *m, struct cu *cu, uint32_t index,
                                uint64_t *cycle)
{
    struct device *d = m->device;
    struct request *r = request_at(d, index);
    struct load_op *op = pool_at(&cu->ops, r->owner);
    ready_t at = READY(*cycle, SIM_STALL_MEMORY);

    if (!op->whole)
        return true;
    if (op->at < at)
        op->at = at;
    if (op->lines == 1) {
        if (op->at > at)
            free_mshr_at(m, cu, index, *cycle);
        *cycle = READY_CYCLE(op->at);
        return true;
    }
    op->lines--;
    r->owner = NONE32;
    if (!may_count(d, cu, *cycle))
        return true;
    returns_add(cu->returns, d->calendar.now, *cycle);
    requests_give(&d->requests, index);
    return false;
}

/* Pointers to requests may be stale after this. */
static inline __attribute__((always_inline)) void
go_back(struct sim_machine *m, const struct request *r, uint32_t index, uint64_t at_ps)
{
    struct device *d = m->device;
    struct cu *cu = &d->cus[r->cu];
    uint64_t cycle = clock_cycle_at(&m->core, at_ps + d->noc_ps);

    if (r->kind != REQ_PAST || past_is_told(m, cu, index, &cycle))
        receive(m, cu, index, cycle, ANSWERS_VIEW);
}

/* All sectors of the request, r or `index`, are ready at at_ps. */
static inline __attribute__((always_inline)) void
answer(struct sim_machine *m, const struct request *r, uint32_t index, uint64_t at_ps)
{
    bool goes_back = r->kind == REQ_ATOMIC_RETURN;

    if (request_reads(r)) {
        go_back(m, r, index, at_ps);
        return;
    }
    lsu_store_done(m, r, at_ps);
    if (goes_back)
        go_back(m, request_at(m->device, index), index, at_ps);
    else
        requests_give(&m->device->requests, index);
}

void fill_event(struct sim_machine *m, const struct event *e)
{
    const struct request *r = request_at(m->device, e->a);

    receive(m, &m->device->cus[r->cu], e->a, r->at_ps, TRANSIT_CYCLES);
}

static inline void set_ready(struct cache_line *line, uint32_t sectors, uint64_t ready_ps)
{
    line->valid |= sectors;
    if (line->latest_ps < ready_ps)
        line->latest_ps = ready_ps;
    for (; sectors; sectors &= sectors - 1)
        line->ready_ps[bits_first(sectors)] = ready_ps;
}

void l2_fetched(struct sim_machine *m, const struct request *fetched, uint64_t ready_ps)
{
    struct cache *l2 = &m->device->l2;
    uint32_t sectors = fetched->sectors;
    uint32_t i = cache_find(l2, fetched->set, fetched->line);
    struct cache_line *line = cache_line(l2, i);
    uint32_t before = NONE32;

    cache_set_fetching(l2, fetched->set, i, line->fetching & ~sectors);
    set_ready(line, sectors, ready_ps);
    for (;;) {
        uint32_t *link = before == NONE32 ? &line->waiters : &request_at(m->device, before)->next;
        uint32_t index = *link;
        struct request *r;

        if (index == NONE32)
            return;
        r = request_at(m->device, index);

        if (r->missing & sectors && r->at_ps < ready_ps)
            r->at_ps = ready_ps;
        r->missing &= ~sectors;
        if (r->missing) {
            before = index;
            continue;
        }
        *link = r->next;
        answer(m, r, index, r->at_ps);
    }
}

/* ---- lines ---- */

/*
 * The dirty sectors of a line in the set of request r go to DRAM. Returns when the channel has passed
 * them, or SIM_NEVER if that is not known yet: then it ends the wait of `store`, a request or NONE32.
 */
static uint64_t write_back(struct sim_machine *m, const struct request *r,
                           const struct cache_line *line, uint64_t at_ps, uint32_t store)
{
    r->run->c.dram_write_bytes += (uint64_t)bits_count_few(line->dirty) << m->device->sector_shift;
    return dram_write(m, r, line->tag, line->dirty, at_ps, store);
}

/*
 * The line, made room for if it is not there; CACHE_NONE if every way of its set waits for data.
 * *written_ps is as write_back returns it for what had to leave, and at_ps if nothing had to.
 */
static inline uint32_t line_for(struct sim_machine *m, const struct request *r, uint64_t at_ps,
                                uint32_t store, uint64_t *written_ps)
{
    struct cache *l2 = &m->device->l2;
    uint64_t line = r->line;
    uint32_t set = r->set, i = cache_look_up_at(l2, set, line, r->place);

    *written_ps = at_ps;
    if (i != CACHE_NONE)
        return i;
    i = cache_victim(l2, set);
    if (i == CACHE_NONE)
        return i;
    if (cache_is_dirty(l2, set, i))
        *written_ps = write_back(m, r, cache_line(l2, i), at_ps, store);
    cache_replace(l2, set, i, line);
    return i;
}

/* When the sectors, all valid, are ready, if not before at_ps. */
static inline uint64_t ready_time(const struct cache_line *line, uint32_t sectors, uint64_t at_ps)
{
    if (line->latest_ps <= at_ps)
        return at_ps;
    for (; sectors; sectors &= sectors - 1)
        if (line->ready_ps[bits_first(sectors)] > at_ps)
            at_ps = line->ready_ps[bits_first(sectors)];
    return at_ps;
}

/* The request waits at its line for sectors that are on their way. */
static void wait_for(struct sim_machine *m, uint32_t index, struct cache_line *line,
                     uint32_t missing, uint64_t at_ps)
{
    struct request *r = request_at(m->device, index);

    r->missing = missing;
    r->at_ps = at_ps;
    r->next = line->waiters;
    line->waiters = index;
}

/* Asks DRAM for sectors of line i. */
static inline void fetch(struct sim_machine *m, const struct request *r, uint32_t i,
                         uint32_t sectors, uint64_t at_ps)
{
    struct cache *l2 = &m->device->l2;
    struct cache_line *line = cache_line(l2, i);
    uint32_t n = bits_count_few(sectors), set = r->set;
    uint64_t ready_ps;

    r->run->c.dram_read_bytes += (uint64_t)n << m->device->sector_shift;
    r->run->c.l2_misses += n;
    ready_ps = dram_read(m, r, sectors, at_ps);
    if (ready_ps == SIM_NEVER)
        cache_set_fetching(l2, set, i, line->fetching | sectors);
    else
        set_ready(line, sectors, ready_ps);
}

/* Every way of its set waits for data: it tries again when it would have been served, and then every
 * l2.latency_cycles. */
static void try_again(struct sim_machine *m, uint32_t index, uint64_t served_ps)
{
    machine_schedule(m, served_ps > m->now_ps ? served_ps : served_ps + m->device->l2_latency_ps,
                     UNIT_L2 + request_at(m->device, index)->slice, EV_L2, index, 0);
}

/*
 * A load that finds at its place all that it asks for, of `n` sectors. False, with nothing done, if it does not, or
 * is no load.
 */
static inline __attribute__((always_inline)) bool serve_hit(struct sim_machine *m,
                                                            const struct request *r, uint32_t index,
                                                            uint32_t n, uint64_t served_ps)
{
    struct cache *l2 = &m->device->l2;
    const struct cache_line *line = cache_line(l2, r->place);
    uint32_t sectors = r->sectors;

    if (line->tag != r->line || sectors & ~line->valid || !request_reads(r))
        return false;
    cache_touch(l2, r->set, r->place);
    r->run->c.l2_hits += n;
    go_back(m, r, index, ready_time(line, sectors, served_ps));
    return true;
}

/* A load or atomic: what is missing is fetched; served_ps is when the slice has served it. */
static inline __attribute__((always_inline)) void serve_read(struct sim_machine *m, uint32_t index,
                                                             uint64_t served_ps)
{
    struct cache *l2 = &m->device->l2;
    const struct request *r = request_at(m->device, index);
    uint32_t sectors = r->sectors, set = r->set, fresh, missing;
    bool reads = request_reads(r);
    uint64_t at_ps, written_ps;
    uint32_t i = line_for(m, r, served_ps, NONE32, &written_ps);
    struct cache_line *line;

    if (i == CACHE_NONE) {
        try_again(m, index, served_ps);
        return;
    }
    line = cache_line(l2, i);
    r = request_at(m->device, index);
    fresh = sectors & ~line->valid & ~line->fetching;
    if (fresh != sectors)
        r->run->c.l2_hits += bits_count_few(sectors & ~fresh);
    if (fresh)
        fetch(m, r, i, fresh, served_ps);
    if (!reads)
        cache_make_dirty(l2, set, i, sectors);
    missing = sectors & ~line->valid;
    at_ps = ready_time(line, sectors & ~missing, served_ps);
    if (missing)
        wait_for(m, index, line, missing, at_ps);
    else
        answer(m, request_at(m->device, index), index, at_ps);
}

/*
 * A store takes its place at once. It takes effect no earlier than its channel has passed what had to
 * leave L2 for it, so that stores are not faster than DRAM for long.
 */
static inline void serve_store(struct sim_machine *m, uint32_t index, uint64_t at_ps)
{
    struct cache *l2 = &m->device->l2;
    struct request *r = request_at(m->device, index);
    uint32_t sectors = r->sectors, set = r->set, i;
    uint64_t written_ps;

    r->at_ps = at_ps;
    i = line_for(m, r, at_ps, index, &written_ps);
    if (i == CACHE_NONE) {
        r = request_at(m->device, index);
        r->run->c.dram_write_bytes += (uint64_t)bits_count_few(sectors) << m->device->sector_shift;
        written_ps = dram_write(m, r, r->line, sectors, at_ps, index);
    } else {
        struct cache_line *line = cache_line(l2, i);

        set_ready(line, sectors & ~line->valid & ~line->fetching, at_ps);
        cache_make_dirty(l2, set, i, sectors);
    }
    if (written_ps != SIM_NEVER)
        answer(m, request_at(m->device, index), index, written_ps > at_ps ? written_ps : at_ps);
}

void l2_written(struct sim_machine *m, uint32_t store, uint64_t written_ps)
{
    const struct request *r = request_at(m->device, store);

    answer(m, r, store, written_ps > r->at_ps ? written_ps : r->at_ps);
}

/* What is no hit of a load, and no store; the slice has served it from start_ps to end_ps. */
static __attribute__((noinline)) void serve_other(struct sim_machine *m, uint32_t index,
                                                  uint64_t start_ps, uint64_t end_ps)
{
    struct device *d = m->device;
    const struct request *r = request_at(d, index);

    if (r->kind == REQ_ATOMIC || r->kind == REQ_ATOMIC_RETURN) {
        uint64_t atomic_ps = start_ps + r->serial * d->l2_atomic_ps;

        if (atomic_ps > end_ps)
            end_ps = d->slices[r->slice].free_ps = atomic_ps;
    }
    serve_read(m, index, end_ps + d->l2_latency_ps);
}

/* A request arrives at its slice. */
static inline __attribute__((always_inline)) void arrive(struct sim_machine *m, uint32_t request,
                                                         uint64_t time_ps)
{
    struct device *d = m->device;
    const struct request *r = request_at(d, request);
    struct rate_server *port = &d->slices[r->slice];
    uint32_t sectors = bits_count_few(r->sectors);
    uint64_t start_ps, end_ps = rate_serve_step(port, time_ps, &d->l2_steps[sectors], &start_ps);

    r->run->c.l2_bytes += (uint64_t)sectors << d->sector_shift;
    if (r->kind == REQ_STORE)
        serve_store(m, request, end_ps + d->l2_latency_ps);
    else if (!serve_hit(m, r, request, sectors, end_ps + d->l2_latency_ps))
        serve_other(m, request, start_ps, end_ps);
}

static __attribute__((noinline)) void arrive_alone(struct sim_machine *m, uint32_t request,
                                                   uint64_t time_ps)
{
    arrive(m, request, time_ps);
}

/* Requests of one cycle, put into a list for each compute unit: their order is by that, and by sending where they are of one. */
static void sort_arrivals(struct device *d, uint32_t first)
{
    struct arrivals *a = &d->arrivals;
    struct request *at = d->requests.at;

    for (uint32_t i = first, next; i != REQUEST_NONE; i = next) {
        struct request *r = &at[i];
        uint32_t cu = r->cu;
        uint64_t bit = UINT64_C(1) << cu % 64, cus = a->cus[cu / 64];

        r->place = cache_prefetch_line(&d->l2, r->set, r->line);
        next = r->next;
        r->next = REQUEST_NONE;
        *(cus & bit ? &at[a->last[cu]].next : &a->first[cu]) = i;
        a->cus[cu / 64] = cus | bit;
        a->last[cu] = i;
    }
}

static void arrive_sorted(struct sim_machine *m)
{
    struct device *d = m->device;
    struct arrivals *a = &d->arrivals;

    for (uint32_t word = 0; word * 64 < d->ncus; word++) {
        for (; a->cus[word]; a->cus[word] &= a->cus[word] - 1) {
            uint32_t cu = word * 64 + bits_first(a->cus[word]);

            for (uint32_t i = a->first[cu], next; i != REQUEST_NONE; i = next) {
                next = request_at(d, i)->next;
                arrive(m, i, m->now_ps);
            }
        }
    }
}

void l2_arrivals(struct sim_machine *m)
{
    struct device *d = m->device;
    struct request *r;
    uint32_t first;

    calendar_pass(&d->calendar, d->to_l2->next);
    first = transit_take(d->to_l2, &d->requests);
    r = request_at(d, first);
    if (r->next == REQUEST_NONE) {
        r->place = cache_prefetch_line(&d->l2, r->set, r->line);
        arrive_alone(m, first, m->now_ps);
        return;
    }
    sort_arrivals(d, first);
    arrive_sorted(m);
}

void l2_replay(struct sim_machine *m, uint32_t first)
{
    struct device *d = m->device;

    for (uint32_t i = first; i != REQUEST_NONE; i = request_at(d, i)->next) {
        l2_find_home(d, request_at(d, i));
        if (m->probe.fn)
            probe_line(m, request_at(d, i), HD_PROBE_REQUEST, m->now_ps + d->noc_ps);
    }
    machine_schedule(m, m->now_ps + d->noc_ps, UNIT_FAULT, EV_REPLAY, first, 0);
}

void l2_replay_event(struct sim_machine *m, const struct event *e)
{
    for (uint32_t i = e->a, next; i != REQUEST_NONE; i = next) {
        next = request_at(m->device, i)->next;
        arrive_alone(m, i, e->time_ps);
    }
}

void l2_event(struct sim_machine *m, const struct event *e)
{
    serve_read(m, e->a, e->time_ps);
}
