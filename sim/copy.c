/*
 * A copy of a machine, at any point between two calls. A machine of the same configuration is made,
 * which has the same blocks, and each is copied; what points into a block points to the same place
 * of its copy.
 */
#include "cf/cf.h"
#include "sim/device.h"
#include "sim/queue_state.h"
#include "sim/um_fault.h"

#include <stdlib.h>
#include <string.h>

/* The place in the block `to` of what p is in the block `from`. */
static void *moved(const void *p, const void *from, void *to)
{
    return p ? (char *)to + ((uintptr_t)p - (uintptr_t)from) : NULL;
}

/* Another block with the same bytes, in *out; true for none. */
static bool block_copy(void **out, const void *from, size_t bytes)
{
    *out = NULL;
    if (!from || !bytes)
        return true;
    *out = aligned_alloc(64, bits_round_up(bytes, 64));
    if (*out)
        memcpy(*out, from, bytes);
    return *out != NULL;
}

/* ---- queues ---- */

static bool copy_commands(struct queue *to, const struct queue *from)
{
    struct command **link = &to->head;

    to->head = to->tail = NULL;
    for (const struct command *c = from->head; c; c = c->next) {
        struct command *copy = command_new(&c->cmd);

        if (!copy)
            return false;
        copy->ticket = c->ticket;
        copy->queued_ps = c->queued_ps;
        *link = to->tail = copy;
        link = &copy->next;
    }
    return true;
}

static bool copy_queue(struct queue *to, const struct queue *from)
{
    *to = *from;
    memset(&to->claims.list, 0, sizeof to->claims.list);
    return copy_commands(to, from) && vec_copy(&to->claims.list, &from->claims.list);
}

static bool copy_queues(struct queues *to, const struct queues *from)
{
    to->running = from->running;
    to->serve_due = from->serve_due;
    to->again = from->again;
    to->room_taken = from->room_taken;
    to->first_launch = from->first_launch;
    if (!vec_reserve(&to->list, from->list.len) || !vec_reserve(&to->waiting, from->list.len) ||
        !vec_reserve(&to->free_ids, from->list.len) || !vec_copy(&to->waiting, &from->waiting) ||
        !vec_copy(&to->free_ids, &from->free_ids) ||
        !vec_reserve(&to->launches, from->launches.cap) ||
        !vec_copy(&to->launches, &from->launches) || !tickets_copy(&to->tickets, &from->tickets))
        return false;
    for (size_t i = 0; i < from->list.len; i++) {
        to->list.len = i + 1;
        if (!copy_queue(&to->list.at[i], &from->list.at[i]))
            return false;
    }
    return true;
}

/* ---- kernels ---- */

/* A kernel that runs, or waits to, is the head of its queue. */
static const struct sim_launch *launch_of(const struct sim_machine *m, uint32_t queue)
{
    return &m->queues->list.at[queue].head->cmd.launch;
}

static bool copy_run(struct sim_machine *to, struct kernel_run *run, const struct kernel_run *from)
{
    const struct isa_kernel *k = from->kernel;
    void *array_at, *load_from, *tm;

    *run = *from;
    run->array_at = run->load_from = NULL;
    run->plan = NULL;
    run->tm = NULL;
    if (!from->used)
        return true;
    if (!block_copy(&tm, from->tm, sizeof *run->tm))
        return false;
    run->tm = tm;
    if (!block_copy(&array_at, from->array_at, (k->end - k->first) * sizeof *run->array_at))
        return false;
    run->array_at = array_at;
    if (!block_copy(&load_from, from->load_from, (k->end - k->first) * sizeof *run->load_from))
        return false;
    run->load_from = load_from;
    run->launch = launch_of(to, run->queue);
    return cf_prepare(to->device->cf, run->program, k, &run->plan, NULL) == HD_OK;
}

static bool copy_runs(struct sim_machine *to, const struct device *from)
{
    struct device *d = to->device;

    for (uint32_t i = 0; i < from->nruns; i++)
        if (!copy_run(to, &d->runs[i], &from->runs[i]))
            return false;
    if (!vec_copy(&d->waiting, &from->waiting))
        return false;
    for (size_t i = 0; i < d->waiting.len; i++)
        d->waiting.at[i].launch = launch_of(to, d->waiting.at[i].queue);
    return true;
}

/* ---- compute units ---- */

static bool copy_groups(struct sim_machine *to, struct cu *cu, const struct cu *from,
                        const struct device *old)
{
    for (uint32_t i = 0; i < to->config.group_slots; i++) {
        struct workgroup *g = &cu->groups[i];
        void *lds, *tm, *oracle;

        *g = from->groups[i];
        g->run = moved(g->run, old->runs, to->device->runs);
        g->lds = NULL;
        g->tm = NULL;
        g->oracle = NULL;
        if (!block_copy(&lds, from->groups[i].lds, g->lds_room))
            return false;
        g->lds = lds;
        if (!block_copy(&tm, from->groups[i].tm, g->tm_room))
            return false;
        g->tm = tm;
        if (!block_copy(&oracle, from->groups[i].oracle, g->oracle_room))
            return false;
        g->oracle = oracle;
    }
    return true;
}

static bool copy_wave(struct sim_machine *to, struct cu *cu, struct wavefront *w,
                      const struct wavefront *from, const struct cu *old_cu,
                      const struct device *old)
{
    void *v, *cf, *tx;

    *w = *from;
    w->run = moved(w->run, old->runs, to->device->runs);
    w->group = moved(w->group, old_cu->groups, cu->groups);
    w->v = NULL;
    w->cf = NULL;
    w->tx = NULL;
    if (!block_copy(&v, from->v, from->v_room))
        return false;
    w->v = w->regs.v = v;
    if (!block_copy(&cf, from->cf, from->cf_room))
        return false;
    w->cf = cf;
    if (!block_copy(&tx, from->tx, from->tx_room))
        return false;
    w->tx = tx;
    return true;
}

static void copy_simd(struct simd *to, const struct simd *from)
{
    struct cu *cu = to->cu;
    struct wavefront *waves = to->waves;

    *to = *from;
    to->cu = cu;
    to->waves = waves;
}

static bool copy_load_ops(struct cu *cu, const struct cu *from)
{
    bool *is_free = pool_free_items(&from->ops);

    if (!is_free || !pool_copy(&cu->ops, &from->ops) || !pool_copy(&cu->waiters, &from->waiters)) {
        free(is_free);
        return false;
    }
    for (uint32_t i = 0; i < cu->ops.count; i++) {
        struct load_op *op = pool_at(&cu->ops, i);

        if (!is_free[i])
            op->wave = moved(op->wave, from->waves, cu->waves);
    }
    free(is_free);
    return true;
}

/* What a compute unit has by value, but for its own blocks. */
static void copy_cu_values(struct cu *cu, const struct cu *from)
{
    struct cu own = *cu;

    *cu = *from;
    cu->simds = own.simds;
    cu->waves = own.waves;
    cu->groups = own.groups;
    cu->held = own.held;
    cu->l1 = own.l1;
    cu->rounds = own.rounds;
    cu->mshrs = own.mshrs;
    cu->mshr_index = own.mshr_index;
    cu->returns = own.returns;
    cu->fills = own.fills;
    cu->ops = own.ops;
    cu->waiters = own.waiters;
}

static bool copy_cu(struct sim_machine *to, struct cu *cu, const struct cu *from,
                    const struct device *old)
{
    const struct sim_config *c = &to->config;

    copy_cu_values(cu, from);
    memcpy(cu->held, from->held, ACCESS_LINES_MAX * sizeof *cu->held);
    memcpy(cu->mshrs, from->mshrs, c->l1_mshrs * sizeof *cu->mshrs);
    memcpy(cu->mshr_index, from->mshr_index, (cu->mshr_mask + 1) * sizeof *cu->mshr_index);
    if (from->returns)
        *cu->returns = *from->returns;
    *cu->fills = *from->fills;
    cache_copy(&cu->l1, &from->l1);
    for (uint32_t i = 0; i < c->simds; i++)
        copy_simd(&cu->simds[i], &from->simds[i]);
    if (!copy_groups(to, cu, from, old) || !copy_load_ops(cu, from) ||
        !vec_copy(&cu->rounds, &from->rounds))
        return false;
    for (uint32_t i = 0; i < c->simds * old->simd_slots; i++)
        if (!copy_wave(to, cu, &cu->waves[i], &from->waves[i], from, old))
            return false;
    return true;
}

/* ---- the device ---- */

static void copy_device_values(struct device *d, const struct device *from)
{
    struct device own = *d;

    *d = *from;
    d->cus = own.cus;
    d->simds = own.simds;
    d->calendar = own.calendar;
    d->l2 = own.l2;
    d->slices = own.slices;
    d->channels = own.channels;
    d->rows = own.rows;
    d->next_rows_ps = own.next_rows_ps;
    d->requests = own.requests;
    d->to_l2 = own.to_l2;
    d->runs = own.runs;
    d->waiting = own.waiting;
    d->lines = NULL;
}

static struct wavefront *moved_wave(const struct wavefront *w, const struct cu *from,
                                    const struct cu *to)
{
    return w ? moved(w, from[w->cu].waves, to[w->cu].waves) : NULL;
}

static void move_request(struct device *d, struct request *r, const struct device *from)
{
    bool has_wave = r->kind == REQ_STORE || r->kind == REQ_ATOMIC || r->kind == REQ_ATOMIC_RETURN;

    r->run = moved(r->run, from->runs, d->runs);
    r->wave = has_wave ? moved_wave(r->wave, from->cus, d->cus) : NULL;
}

/* A free request has old contents, which point anywhere. */
static bool copy_requests(struct device *d, const struct device *from)
{
    bool *is_free = calloc(from->requests.count + 1, sizeof *is_free);

    if (!is_free || !requests_copy(&d->requests, &from->requests)) {
        free(is_free);
        return false;
    }
    for (uint32_t i = from->requests.free; i != REQUEST_NONE; i = request_at(from, i)->next)
        is_free[i] = true;
    for (uint32_t i = 0; i < d->requests.count; i++)
        if (!is_free[i])
            move_request(d, request_at(d, i), from);
    free(is_free);
    return true;
}

static void copy_rows(const struct sim_config *c, struct device *d, const struct device *from)
{
    if (!d->rows)
        return;
    memcpy(d->rows, from->rows, device_rows(c) * sizeof *d->rows);
    memcpy(d->next_rows_ps, from->next_rows_ps, c->dram_channels * sizeof *d->next_rows_ps);
}

static bool copy_device(struct sim_machine *to, const struct sim_machine *m)
{
    const struct sim_config *c = &m->config;
    const struct device *from = m->device;
    struct device *d = to->device;

    copy_device_values(d, from);
    calendar_copy(&d->calendar, &from->calendar);
    cache_copy(&d->l2, &from->l2);
    memcpy(d->slices, from->slices, c->l2_slices * sizeof *d->slices);
    memcpy(d->channels, from->channels, c->dram_channels * sizeof *d->channels);
    copy_rows(c, d, from);
    *d->to_l2 = *from->to_l2;
    if (!copy_runs(to, from))
        return false;
    for (uint32_t i = 0; i < c->compute_units; i++)
        if (!copy_cu(to, &d->cus[i], &from->cus[i], from))
            return false;
    return copy_requests(d, from);
}

static bool copy_parts(struct sim_machine *to, const struct sim_machine *m)
{
    struct event_queue *events = event_queue_copy(m->events);

    if (!events)
        return false;
    event_queue_free(to->events);
    to->events = events;
    return memory_copy(&to->memory, &m->memory) && link_copy(to->link, m->link) &&
           um_faults_copy(to->faults, m->faults) && copy_queues(to->queues, m->queues) &&
           copy_device(to, m);
}

enum hd_status sim_copy(const struct sim_machine *m, struct sim_machine **out, struct hd_error *err)
{
    struct sim_machine *copy;
    enum hd_status status = sim_new(&m->config, m->lanes_build, &copy, err);

    *out = NULL;
    if (status != HD_OK)
        return status;
    copy->mode = m->mode;
    copy->now_ps = m->now_ps;
    copy->totals = m->totals;
    copy->fault = m->fault;
    text_add_bytes(&copy->dump, text_str(&m->dump), m->dump.len);
    sim_set_limits(copy, &m->limits);
    if (!copy_parts(copy, m)) {
        sim_free(copy);
        return hd_no_memory(err, "the copy of a machine");
    }
    *out = copy;
    return HD_OK;
}
