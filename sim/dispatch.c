#include "sim/dispatch.h"

#include "sim/demand.h"
#include "sim/device.h"
#include "sim/placement.h"
#include "sim/transactions.h"

#include <stdlib.h>
#include <string.h>

/* ---- resident kernels ---- */

static struct kernel_run *free_run(struct device *d)
{
    for (uint32_t i = 0; i < d->nruns; i++)
        if (!d->runs[i].used)
            return &d->runs[i];
    return NULL;
}

static void residents_changed(struct device *d)
{
    if (d->placement->residents)
        d->placement->residents(d);
}

static void run_init(struct sim_machine *m, struct kernel_run *run,
                     const struct waiting_launch *wait)
{
    const struct sim_launch *l = wait->launch;

    memset(run, 0, sizeof *run);
    run->used = true;
    run->ticket = wait->ticket;
    run->tag = wait->tag;
    run->queue = wait->queue;
    run->queued_ps = wait->queued_ps;
    run->launch = l;
    run->program = l->program;
    run->kernel = l->kernel;
    run->order = ++m->device->next_order;
    run->groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    m->device->open_runs++;
    occupancy_needs(&m->config, l, run);
    run->array_at = calloc(l->kernel->end - l->kernel->first, sizeof *run->array_at);
    if (!run->array_at || !private_init(m, run) ||
        cf_prepare(m->device->cf, run->program, run->kernel, &run->plan, NULL) ||
        !tx_run_start(m, run))
        machine_out_of_memory(m);
    (void)occupancy_check(&m->config, l, &run->occupancy, NULL);
}

/* A counter more is summed without a line here. */
_Static_assert(sizeof(struct sim_counters) % sizeof(uint64_t) == 0, "counters are 64 bits each");

void sim_counters_add(struct sim_counters *to, const struct sim_counters *from)
{
    uint64_t *t = (uint64_t *)to;
    const uint64_t *f = (const uint64_t *)from;

    for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
        t[i] += f[i];
}

static void run_finish(struct sim_machine *m, struct kernel_run *run)
{
    struct sim_kernel_record r = {
        .ticket = run->ticket,
        .tag = run->tag,
        .queue = run->queue,
        .program = run->program,
        .kernel = run->kernel,
        .dynamic_lds = run->launch->dynamic_lds,
        .queued_ps = run->queued_ps,
        .start_ps = run->start_ps,
        .end_ps = m->now_ps,
        .groups_per_cu = run->occupancy.groups,
        .waves_per_group = run->occupancy.waves_per_group,
        .limit = run->occupancy.limit,
    };

    memcpy(r.grid, run->launch->grid, sizeof r.grid);
    memcpy(r.block, run->launch->block, sizeof r.block);
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
        run->c.residency_cycles += run->c.stall_cycles[i];
    sim_counters_add(&m->totals, &run->c);
    r.counters = run->c;
    private_end(m, run);
    free(run->array_at);
    free(run->plan);
    free(run->tm);
    run->array_at = NULL;
    run->plan = NULL;
    run->tm = NULL;
    run->used = false;
    residents_changed(m->device);
    queue_kernel_done(m, r.ticket, &r);
}

static void dispatch_wake(struct sim_machine *m)
{
    struct device *d = m->device;

    if (d->dispatch_due || m->mode == SIM_VALUES)
        return;
    d->dispatch_due = true;
    machine_schedule(m, m->now_ps > d->dispatch_free_ps ? m->now_ps : d->dispatch_free_ps,
                     UNIT_DISPATCH, EV_DISPATCH, 0, 0);
}

static void start_waiting(struct sim_machine *m)
{
    struct device *d = m->device;
    struct kernel_run *run = free_run(d);

    if (!run || !d->waiting.len)
        return;
    run_init(m, run, &d->waiting.at[0]);
    residents_changed(d);
    d->waiting.len--;
    memmove(d->waiting.at, d->waiting.at + 1, d->waiting.len * sizeof *d->waiting.at);
    dispatch_wake(m);
}

void dispatch_kernel(struct sim_machine *m, uint64_t ticket, uint64_t tag, uint32_t queue,
                     uint64_t queued_ps, const struct sim_launch *launch)
{
    struct waiting_launch wait = {ticket, tag, queued_ps, queue, launch};

    demand_launched(m);
    if (!vec_push(&m->device->waiting, wait)) {
        machine_out_of_memory(m);
        return;
    }
    start_waiting(m);
    if (m->mode == SIM_VALUES)
        values_run(m);
}

/* ---- work-groups ---- */

bool dispatch_place(struct sim_machine *m, uint64_t cycle)
{
    struct device *d = m->device;
    struct cu *cu;
    struct kernel_run *run = d->placement->pick(d, &cu);

    if (!run)
        return false;
    if (!run->started) {
        run->started = true;
        run->start_ps = m->now_ps;
    }
    if (!group_start(m, run, cu, run->placed++, cycle)) {
        machine_out_of_memory(m);
        return false;
    }
    d->open_runs -= run->placed == run->groups;
    return true;
}

static void place_next(struct sim_machine *m)
{
    struct device *d = m->device;
    uint64_t cycle = clock_cycle_at(&m->core, m->now_ps);

    d->dispatch_due = false;
    if (!dispatch_place(m, cycle))
        return;
    d->dispatch_free_ps = clock_edge(&m->core, cycle + m->config.cycles_per_group);
    dispatch_wake(m);
}

void dispatch_group_done(struct sim_machine *m, struct kernel_run *run)
{
    run->done++;
    if (m->mode == SIM_TIMED)
        dispatch_wake(m);
    run_check_done(m, run);
}

/* The kernel is over when its work-groups are and its last store, also of what L1 has, has taken effect. */
void run_check_done(struct sim_machine *m, struct kernel_run *run)
{
    if (run->done < run->groups || m->mode == SIM_VALUES)
        return;
    if (m->device->l1_writes_back && !run->flushed) {
        run->flushed = true;
        run->stores++;
        machine_schedule(m, m->now_ps, UNIT_KERNEL, EV_FLUSH, (uint32_t)(run - m->device->runs), 0);
    }
    if (run->stores)
        return;
    machine_schedule(m, run->last_ps > m->now_ps ? run->last_ps : m->now_ps, UNIT_KERNEL,
                     EV_KERNEL_DONE, (uint32_t)(run - m->device->runs), 0);
}

void dispatch_event(struct sim_machine *m, const struct event *e)
{
    if (e->kind == EV_DISPATCH) {
        place_next(m);
        return;
    }
    run_finish(m, &m->device->runs[e->a]);
    start_waiting(m);
}

void dispatch_finish_values(struct sim_machine *m)
{
    struct device *d = m->device;

    for (uint32_t i = 0; i < d->nruns; i++)
        if (d->runs[i].used && d->runs[i].done == d->runs[i].groups)
            run_finish(m, &d->runs[i]);
    start_waiting(m);
}
