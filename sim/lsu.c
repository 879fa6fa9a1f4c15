/*
 * The load-store unit of a compute unit, its L1 and its MSHRs. They are reached in order of issue,
 * so the tags are looked up at issue. What misses travels on as requests for sectors; a load is
 * ready when the last of its sectors has come back. When no MSHR is free the instruction at hand
 * holds the unit until one is.
 */
#include "sim/l1.h"
#include "sim/l2_send.h"
#include "sim/mshr.h"
#include "sim/um_fault.h"

/* ---- MSHRs ---- */

static inline struct load_op *op_at(const struct cu *cu, uint32_t index)
{
    return pool_at(&cu->ops, index);
}

static void add_waiter(struct sim_machine *m, struct cu *cu, struct mshr *mshr, uint32_t op,
                       uint32_t sectors)
{
    uint32_t i;

    op_at(cu, op)->lines++;
    mshr->loads++;
    if (!mshr->first.sectors) {
        mshr->first.op = op;
        mshr->first.sectors = sectors;
        return;
    }
    i = pool_take(&cu->waiters);
    if (i == POOL_NONE) {
        machine_out_of_memory(m);
        return;
    }
    *(struct waiter *)pool_at(&cu->waiters, i) =
        (struct waiter){.op = op, .next = mshr->first.next, .sectors = sectors};
    mshr->first.next = i;
}

/* ---- loads under way ---- */

static uint32_t op_new(struct sim_machine *m, struct cu *cu, struct wavefront *w,
                       const struct isa_insn *in)
{
    uint32_t i = pool_take(&cu->ops);
    struct load_op *op;

    if (i == POOL_NONE) {
        machine_out_of_memory(m);
        return i;
    }
    op = op_at(cu, i);
    op->wave = w;
    op->lines = 0;
    op->pc = in->pc;
    op->at = 0;
    op->nset = in->nset;
    op->whole = false;
    for (unsigned k = 0; k < in->nset; k++) {
        op->set[k] = in->set[k];
        w->sb[in->set[k]] = READY_PENDING;
    }
    w->loads++;
    return i;
}

static void op_ready_at(struct load_op *op, uint64_t cycle)
{
    if (op->at < READY(cycle, SIM_STALL_MEMORY))
        op->at = READY(cycle, SIM_STALL_MEMORY);
}

/* The time of all its data is known: the registers are ready then. */
static void op_complete(struct cu *cu, uint32_t index)
{
    struct load_op *op = op_at(cu, index);

    for (unsigned k = 0; k < op->nset; k++)
        op->wave->sb[op->set[k]] = op->at;
    op->wave->loads--;
    pool_give(&cu->ops, index);
}

void lsu_pass_fence(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    ready_t stored = READY(clock_cycle_at(&m->core, w->stored_ps), SIM_STALL_MEMORY);
    ready_t at = READY(now, SIM_STALL_MEMORY);

    if (at < stored)
        at = stored;
    wave_go_on(m, w, at > w->ready ? at : w->ready, now);
}

/* A wavefront that waited at a fence, or has ended, goes on when nothing of it is under way. */
static void leave_tied(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    bool ended = w->state == WAVE_DRAIN;

    if (w->loads || (w->stores && !ended))
        return;
    wave_untie(m, w);
    if (ended)
        wave_retire(m, w, now);
    else
        lsu_pass_fence(m, w, now);
}

static inline void wave_wake(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    if (w->state == WAVE_PENDING)
        wave_go_on(m, w, w->ready, now);
    else if (w->state == WAVE_DRAIN || w->state == WAVE_FENCE)
        leave_tied(m, w, now);
}

static inline void op_line_done(struct sim_machine *m, struct cu *cu, uint32_t index, uint64_t cycle)
{
    struct load_op *op = op_at(cu, index);
    struct wavefront *w = op->wave;

    op_ready_at(op, cycle);
    /* While it holds the unit more lines of it may follow. */
    if (--op->lines || (lsu_held(cu) && cu->held_op == index))
        return;
    op_complete(cu, index);
    wave_wake(m, w, cycle);
}

/* ---- look-ups ---- */

static inline void l1_hit(struct sim_machine *m, struct load_op *op, const struct line_request *l,
                          uint64_t cycle)
{
    struct sim_counters *c = &op->wave->run->c;

    c->l1_requests++;
    c->l1_hits++;
    if (m->probe.fn)
        probe_l1_hit(m, op, l);
    op_ready_at(op, cycle + m->config.l1_latency);
}

/* Asks L2 for sectors of a line. */
static inline void ask(struct sim_machine *m, struct cu *cu, enum request_kind kind, uint32_t owner,
                       struct kernel_run *run, uint64_t line, uint32_t sectors, uint64_t cycle)
{
    uint32_t i = request_new(m);
    struct request *r;

    if (i == REQUEST_NONE)
        return;
    r = request_at(m->device, i);
    r->line = line;
    r->run = run;
    r->sectors = sectors;
    r->owner = owner;
    r->life = 1;
    r->cu = (uint16_t)cu->id;
    r->kind = (uint8_t)kind;
    run->c.sectors += bits_count_few(sectors);
    l2_send(m, i, cycle);
}

/* The load waits for sectors that L1 lacks; those that are not on their way yet are asked for. */
static void miss(struct sim_machine *m, struct cu *cu, uint32_t op, uint32_t mshr, uint32_t missing,
                 uint64_t cycle)
{
    struct kernel_run *run = op_at(cu, op)->wave->run;
    struct mshr *e = &cu->mshrs[mshr];
    uint32_t fresh = missing & ~e->sectors;

    run->c.l1_requests++;
    e->sectors |= fresh;
    add_waiter(m, cu, e, op, missing);
    if (fresh)
        ask(m, cu, REQ_LOAD, mshr, run, e->line, fresh, cycle);
}

static inline bool mshr_is_full(const struct sim_machine *m, const struct mshr *e)
{
    return m->config.l1_mshr_loads && e->loads >= m->config.l1_mshr_loads;
}

/* One line of a load is looked up; false if it needs an MSHR and none is free, or its own is full. */
static inline bool load_line(struct sim_machine *m, struct cu *cu, struct load_op *op,
                             const struct line_request *l, uint64_t cycle)
{
    uint32_t missing = l->sectors, place = CACHE_NONE, i = NONE32;

    /* A line that was nowhere when the load was held is still nowhere: only a request brings one. */
    if (!cu->held_absent) {
        place = cache_look_up(&cu->l1, l1_set(m, l->line), l->line);
        if (place != CACHE_NONE)
            missing &= ~cache_line(&cu->l1, place)->valid;
        if (!missing) {
            l1_hit(m, op, l, cycle);
            return true;
        }
        i = mshr_find(cu, l->line);
    }
    if (i == NONE32)
        i = mshr_new(cu, l->line);
    else if (mshr_is_full(m, &cu->mshrs[i]))
        return false;
    cu->held_absent = i == NONE32 && place == CACHE_NONE;
    if (i == NONE32)
        return false;
    miss(m, cu, cu->held_op, i, missing, cycle);
    return true;
}

/* A place of the L1 port. */
struct port_place {
    uint64_t cycle;
    uint32_t used; /* places of the cycle */
};

static inline void port_next(const struct sim_machine *m, struct port_place *port)
{
    if (++port->used == m->config.l1_lines_per_cycle) {
        port->used = 0;
        port->cycle++;
    }
}

/*
 * As many held lines as there are MSHRs, without L1. Returns how many. GPGPU-Sim, ldst_unit::memory_cycle: what bypasses
 * L1 goes to the network, each access for itself, so that no MSHR is ever looked for.
 */
static uint32_t load_lines_past(struct sim_machine *m, struct cu *cu, struct load_op *op,
                                struct port_place *port)
{
    const struct line_request *l = &cu->held[cu->held_at];
    uint32_t left = cu->nheld - cu->held_at, n = cu->mshrs_left < left ? cu->mshrs_left : left;
    struct kernel_run *run = op->wave->run;

    cu->mshrs_left -= n;
    op->lines += n;
    run->c.l1_requests += n;
    for (uint32_t i = 0; i < n; i++) {
        ask(m, cu, REQ_PAST, cu->held_op, run, l[i].line, l[i].sectors, port->cycle);
        port_next(m, port);
    }
    return n;
}

static void load_done(struct sim_machine *m, struct cu *cu, uint64_t cycle)
{
    struct wavefront *w = op_at(cu, cu->held_op)->wave;

    if (op_at(cu, cu->held_op)->lines)
        return;
    op_complete(cu, cu->held_op);
    wave_wake(m, w, cycle);
}

/* Looks up held lines from a cycle on, as many as MSHRs allow; the unit is free when all are done. */
static void load_lines(struct sim_machine *m, struct cu *cu, uint64_t cycle)
{
    struct load_op *op = op_at(cu, cu->held_op);
    struct port_place port = {cu->port_cycle, cu->port_used};

    if (port.cycle < cycle)
        port = (struct port_place){cycle, 0};
    if (!m->config.l1_enabled)
        cu->held_at += load_lines_past(m, cu, op, &port);
    else
        for (; lsu_held(cu) && load_line(m, cu, op, &cu->held[cu->held_at], port.cycle);
             cu->held_at++)
            port_next(m, &port);
    cu->port_cycle = port.cycle;
    cu->port_used = port.used;
    if (lsu_held(cu))
        return;
    cu->lsu_free = port.cycle + (port.used > 0);
    load_done(m, cu, cycle);
}

/* A request for a line past L1: of a store or atomic, or of a load that waits for its page. */
static inline uint32_t through_request(struct sim_machine *m, struct cu *cu, struct wavefront *w,
                                       enum request_kind kind, uint32_t op,
                                       const struct line_request *l)
{
    uint32_t i = request_new(m);
    struct request *r;

    if (i == REQUEST_NONE)
        return i;
    r = request_at(m->device, i);
    r->line = l->line;
    r->run = w->run;
    r->wave = w;
    r->life = w->life;
    r->sectors = l->sectors;
    r->serial = l->serial;
    r->owner = op;
    r->cu = (uint16_t)cu->id;
    r->kind = (uint8_t)kind;
    w->run->c.sectors += bits_count_few(l->sectors);
    return i;
}

/*
 * The lines of an access whose page is not on the device wait for it, with the states as they are at
 * issue, and take no place of the L1 port. Returns how many of the held lines are left.
 */
static uint32_t wait_for_pages(struct sim_machine *m, struct cu *cu, struct wavefront *w,
                               enum request_kind kind, uint32_t op, uint32_t nlines, uint64_t now)
{
    bool load = kind == REQ_REPLAY;
    uint32_t left = 0;

    for (uint32_t k = 0; k < nlines; k++) {
        uint32_t i;

        if (um_line_passes(m, cu->held[k].line, !load)) {
            cu->held[left++] = cu->held[k];
            continue;
        }
        i = through_request(m, cu, w, kind, op, &cu->held[k]);
        if (i == REQUEST_NONE)
            break;
        if (load) {
            w->run->c.l1_requests++;
            op_at(cu, op)->lines++;
        }
        um_line_waits(m, i, !load, now);
    }
    return left;
}

static void issue_load(struct sim_machine *m, struct cu *cu, struct wavefront *w,
                       const struct isa_insn *in, uint32_t nlines, uint64_t now)
{
    bool past = !m->config.l1_enabled, whole;

    cu->held_at = 0;
    cu->held_absent = false;
    cu->nheld = nlines;
    cu->held_op = op_new(m, cu, w, in);
    if (cu->held_op == POOL_NONE)
        return;
    if (m->device->looks_at_pages)
        nlines = wait_for_pages(m, cu, w, REQ_REPLAY, cu->held_op, nlines, now);
    whole = past && nlines == cu->nheld && !m->probe.fn;
    cu->nheld = nlines;
    if (past && cu->mshrs_left < nlines)
        cu->mshrs_left += returns_take(cu->returns, now);
    load_lines(m, cu, now);
    if (!past)
        return;
    if (lsu_held(cu))
        returns_tell(m, cu, now);
    else if (whole)
        op_at(cu, cu->held_op)->whole = true;
}

/* An atomic acts in L2: its sectors are no more in its own L1, and what is dirty in the line goes first. */
static void l1_pass(struct sim_machine *m, struct cu *cu, struct kernel_run *run,
                    const struct line_request *l, uint64_t cycle)
{
    uint32_t i;

    if (!m->config.l1_enabled)
        return;
    i = cache_find(&cu->l1, l1_set(m, l->line), l->line);
    if (i == CACHE_NONE)
        return;
    if (cache_line(&cu->l1, i)->dirty)
        l1_clean(m, cu, i, run, cycle);
    cache_line(&cu->l1, i)->valid &= ~l->sectors;
}

/* A line of a store; true if it is done in L1. */
static bool l1_keeps(struct sim_machine *m, struct cu *cu, struct kernel_run *run,
                     const struct line_request *l, uint64_t cycle)
{
    uint32_t mshr = mshr_find(cu, l->line);

    return l1_store(m, cu, run, l, mshr == NONE32 ? 0 : cu->mshrs[mshr].sectors, cycle);
}

/* Sends a store or atomic of a line on to L2. */
static void send_through(struct sim_machine *m, struct cu *cu, struct wavefront *w,
                         enum request_kind kind, uint32_t op, const struct line_request *l,
                         uint64_t cycle)
{
    uint32_t i = through_request(m, cu, w, kind, op, l);

    if (i != REQUEST_NONE)
        l2_send(m, i, cycle);
}

static void issue_through(struct sim_machine *m, struct cu *cu, struct wavefront *w,
                          const struct isa_insn *in, uint32_t nlines, uint64_t now)
{
    uint32_t per_cycle = m->config.l1_lines_per_cycle, used = 0;
    bool atomic = in->format == ISA_GATOMIC, returns = atomic && (in->flags & ISA_F_RETURN);
    enum request_kind kind = returns ? REQ_ATOMIC_RETURN : atomic ? REQ_ATOMIC : REQ_STORE;
    uint32_t op = returns ? op_new(m, cu, w, in) : NONE32, done = 0; /* done: lines, in L1 */
    bool looked_up = !atomic && m->device->l1_takes_stores;

    if (returns && op == POOL_NONE)
        return;
    if (returns)
        op_at(cu, op)->lines += nlines;
    w->run->stores += nlines;
    w->stores += nlines;
    if (m->device->looks_at_pages)
        nlines = wait_for_pages(m, cu, w, kind, op, nlines, now);
    for (uint32_t i = 0; i < nlines; i++) {
        if (atomic)
            l1_pass(m, cu, w->run, &cu->held[i], now);
        if (looked_up && l1_keeps(m, cu, w->run, &cu->held[i], now))
            done++;
        else
            send_through(m, cu, w, kind, op, &cu->held[i], now);
        if (++used == per_cycle) {
            used = 0;
            now++;
        }
    }
    w->run->stores -= done;
    w->stores -= done;
    cu->lsu_free = now + (used > 0);
}

void lsu_issue(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
               uint32_t nlines, uint64_t now)
{
    struct cu *cu = &m->device->cus[w->cu];

    if (in->format == ISA_GLOAD)
        issue_load(m, cu, w, in, nlines, now);
    else
        issue_through(m, cu, w, in, nlines, now);
}

/* ---- data that comes back ---- */

/* Where a line that comes may go; CACHE_NONE if loads bring none in. */
static uint32_t l1_place(struct sim_machine *m, struct cu *cu, uint32_t set, struct kernel_run *run,
                         uint64_t cycle)
{
    return m->config.l1_allocate_on_load ? l1_make_room(m, cu, set, run, cycle) : CACHE_NONE;
}

static inline void l1_fill(struct sim_machine *m, struct cu *cu, struct kernel_run *run,
                           uint64_t line, uint32_t sectors, uint64_t cycle)
{
    uint32_t set, i;

    if (!m->config.l1_enabled)
        return;
    set = l1_set(m, line);
    i = cache_find(&cu->l1, set, line);
    if (i == CACHE_NONE) {
        i = m->device->l1_is_plain ? cache_victim(&cu->l1, set) : l1_place(m, cu, set, run, cycle);
        if (i == CACHE_NONE)
            return;
        cache_replace(&cu->l1, set, i, line);
    }
    cache_line(&cu->l1, i)->valid |= sectors;
}

static void serve_others(struct sim_machine *m, struct cu *cu, struct mshr *e, uint32_t sectors,
                         uint64_t cycle)
{
    uint32_t *link = &e->first.next;

    while (*link != NONE32) {
        uint32_t i = *link;
        struct waiter *waiter = pool_at(&cu->waiters, i);
        uint32_t op = waiter->op;

        waiter->sectors &= ~sectors;
        if (waiter->sectors) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        pool_give(&cu->waiters, i);
        op_line_done(m, cu, op, cycle);
    }
}

static inline void serve_waiters(struct sim_machine *m, struct cu *cu, struct mshr *e,
                                 uint32_t sectors, uint64_t cycle)
{
    if (e->first.next != NONE32)
        serve_others(m, cu, e, sectors, cycle);
    if (!(e->first.sectors & sectors))
        return;
    e->first.sectors &= ~sectors;
    if (!e->first.sectors)
        op_line_done(m, cu, e->first.op, cycle);
}

/* An MSHR is free again: the load that waits for one goes on. */
static inline void go_on_held(struct sim_machine *m, struct cu *cu, uint64_t cycle)
{
    load_lines(m, cu, cycle);
    if (lsu_held(cu))
        return;
    cu->held_until = cycle;
    cu_wake(m, cu, cycle);
}

/* Sectors that a load has asked for have come; true if its MSHR is free then. */
static inline bool fill_mshr(struct sim_machine *m, struct cu *cu, const struct request *r,
                             uint64_t cycle)
{
    uint32_t mshr = r->owner, sectors = r->sectors;
    struct mshr *e = &cu->mshrs[mshr];

    l1_fill(m, cu, r->run, r->line, sectors, cycle);
    e->sectors &= ~sectors;
    serve_waiters(m, cu, e, sectors, cycle);
    if (e->sectors)
        return false;
    mshr_release(cu, mshr);
    return true;
}

void lsu_fill(struct sim_machine *m, struct cu *cu, uint32_t request, uint64_t cycle)
{
    const struct request *r = request_at(m->device, request);
    uint32_t owner = r->owner, mshrs = r->life;
    enum request_kind kind = r->kind;

    if (m->probe.fn)
        probe_line(m, r, HD_PROBE_FILL, clock_edge(&m->core, cycle));
    requests_give(&m->device->requests, request);
    if (kind == REQ_LOAD) {
        if (!fill_mshr(m, cu, r, cycle))
            return;
    } else {
        if (kind == REQ_REPLAY)
            l1_fill(m, cu, r->run, r->line, r->sectors, cycle);
        if (owner != NONE32)
            op_line_done(m, cu, owner, cycle);
        if (kind != REQ_PAST || !mshrs)
            return;
        cu->mshrs_left += mshrs;
    }
    if (lsu_held(cu))
        go_on_held(m, cu, cycle);
}

void lsu_stored(struct sim_machine *m, struct wavefront *w, uint64_t effect_ps)
{
    uint64_t known_ps = effect_ps + m->device->noc_ps;

    w->stores--;
    if (w->stored_ps < known_ps)
        w->stored_ps = known_ps;
    if (w->state == WAVE_FENCE)
        leave_tied(m, w, clock_cycle_at(&m->core, m->now_ps));
}

void lsu_store_done(struct sim_machine *m, const struct request *r, uint64_t effect_ps)
{
    struct wavefront *w = r->wave;
    struct kernel_run *run = r->run;

    if (!w)
        l1_written(m, r, effect_ps);
    else if (w->life == r->life)
        lsu_stored(m, w, effect_ps);
    run->stores--;
    if (run->last_ps < effect_ps)
        run->last_ps = effect_ps;
    if (!run->stores)
        run_check_done(m, run);
}
