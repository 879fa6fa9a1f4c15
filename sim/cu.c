/*
 * A compute unit runs on its own between the points at which it acts on what all share, or at which
 * something can come to it from outside: a stretch of cycles at a time, while what it needs is at
 * hand. What it does is the same as if all compute units went cycle by cycle.
 */
#include "sim/device.h"

/* The least time from now, at which L2 serves what it has, to data at a compute unit. */
static uint64_t answer_ps(const struct sim_machine *m)
{
    const struct device *d = m->device;

    /* A slice that waits for its channel answers when that has served it. */
    if (m->config.dram_channels != m->config.l2_slices)
        return d->noc_ps;
    return d->noc_ps + d->l2_latency_ps;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Data comes no sooner than answer_ps() after what L2 has yet to serve; the work-groups of a new
 * kernel no sooner than its launch takes; and a copy from the host, whose array is not loaded from
 * ahead of time once it is submitted, ends no sooner than the link's latency. Pages that the host touches leave no sooner than its fault takes. A probe sees events in their order, and a limit on
 * instructions ends the run with the cycle in which it is reached.
 */
void cu_set_lookahead(struct sim_machine *m)
{
    uint64_t host_ps = least(m->config.launch_latency, m->config.link_latency) * PS_PER_NS;
    uint64_t ps = least(answer_ps(m), host_ps);
    uint64_t cycles;

    if (m->config.um_page_faults)
        ps = least(ps, m->config.um_host_fault * PS_PER_NS);
    cycles = least(clock_cycle_at(&m->core, ps), LOOKAHEAD_MAX);

    /* The end of a kernel reaches into the L1 of all its compute units. */
    if (m->device->l1_writes_back)
        cycles = 1;
    /* An edge may lie up to a picosecond early. */
    m->device->lookahead = m->device->run_ahead && cycles > 2 ? cycles - 1 : 1;
}

/* Whether a work-group that waits to be placed would fit. */
static bool may_receive(const struct device *d, const struct cu *cu)
{
    uint32_t open = d->open_runs;

    if (d->waiting.len && cu->free_groups)
        return true;
    for (uint32_t i = 0; open && i < d->nruns; i++) {
        const struct kernel_run *run = &d->runs[i];

        if (!run->used || run->placed == run->groups)
            continue;
        if (group_fits(cu, run))
            return true;
        open--;
    }
    return false;
}

/* The first cycle that the compute unit may not serve yet. */
static uint64_t horizon(const struct sim_machine *m, const struct cu *cu, uint64_t cycle)
{
    const struct device *d = m->device;
    uint64_t until = cycle + d->lookahead;

    if (d->lookahead == 1 || cu->tied || may_receive(d, cu))
        return cycle;
    until = least(until, queue_next_launch(m));
    if (m->limits.max_time_ps)
        until = least(until, clock_cycle_at(&m->core, m->limits.max_time_ps) + 1);
    return until;
}

static inline uint64_t next_cycle(const struct cu *cu)
{
    return least(cu->fills->next, cu->due);
}

static void serve_fills(struct sim_machine *m, struct cu *cu, uint64_t cycle)
{
    struct device *d = m->device;

    for (uint32_t i = transit_take(cu->fills, &d->requests), next; i != REQUEST_NONE; i = next) {
        next = request_at(d, i)->next;
        lsu_fill(m, cu, i, cycle);
    }
}

/* The SIMD units that are due; false if one has to wait until its time has come. What one does may wake another. */
static bool step_simds(struct sim_machine *m, struct cu *cu, uint64_t cycle, bool ahead)
{
    const struct simd *end = cu->simds + cu->nsimds;

    cu->due = CALENDAR_NEVER;
    for (struct simd *s = cu->simds; s < end; s++) {
        if (s->due == cycle && !m->device->step(m, s, ahead)) {
            cu->due = cycle;
            return false;
        }
        cu->due = least(cu->due, s->due);
    }
    return m->fault.status == HD_OK;
}

/* One cycle; false if it has to wait until its time has come. */
static inline bool serve_cycle(struct sim_machine *m, struct cu *cu, uint64_t cycle, bool ahead)
{
    if (cu->fills->next == cycle)
        serve_fills(m, cu, cycle);
    return cu->due != cycle || step_simds(m, cu, cycle, ahead);
}

void cu_run(struct sim_machine *m, struct cu *cu, uint64_t cycle)
{
    struct device *d = m->device;
    uint64_t next = next_cycle(cu), until;

    d->running = cu;
    if (next == cycle && serve_cycle(m, cu, cycle, false))
        next = next_cycle(cu);
    /* What it did in its present cycle, alone, may have tied it to others or made room in it. */
    until = horizon(m, cu, cycle);
    while (next < until && serve_cycle(m, cu, next, true))
        next = next_cycle(cu);
    d->running = NULL;
    if (next != CALENDAR_NEVER)
        calendar_set(&d->calendar, cycle, cu->id, next);
}
