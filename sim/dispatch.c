#include "sim/dispatch.h"

#include "sim/base/checked.h"
#include "sim/device.h"
#include "sim/placement.h"

#include <stdlib.h>
#include <string.h>

/* ---- occupancy ---- */

static enum hd_status too_much(struct hd_error *err, const char *code, const char *what,
                               uint64_t asked, const char *unit, const char *key, uint64_t limit)
{
    return hd_error_set(err, HD_BAD_INPUT, code, NULL, NULL,
                        "%s: %llu %s asked for, the limit %s is %llu", what,
                        (unsigned long long)asked, unit, key, (unsigned long long)limit);
}

static enum hd_status check_shape(const struct sim_config *c, const struct sim_launch *l,
                                  uint64_t *items, struct hd_error *err)
{
    uint64_t groups = 1;

    *items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!l->grid[i] || !l->block[i])
            return hd_error_set(err, HD_BAD_INPUT, "launch-empty", NULL, "use at least 1 of each",
                                "kernel %s: %s of a launch is 0 in dimension %c", l->kernel->name,
                                l->grid[i] ? "threads" : "blocks", "xyz"[i]);
        *items *= l->block[i];
        if (*items > c->group_items_max)
            return too_much(err, "launch-group-size", l->kernel->name, *items,
                            "work-items of a work-group", "cu.workgroup_items", c->group_items_max);
        if (!u64_mul(groups, l->grid[i], &groups) || groups > UINT32_MAX)
            return hd_error_set(err, HD_BAD_INPUT, "launch-grid-size", NULL, "use fewer work-groups",
                                "kernel %s: more than 2^32 - 1 work-groups", l->kernel->name);
    }
    return HD_OK;
}

static enum hd_status check_local(const struct sim_config *c, const struct sim_launch *l,
                                  struct hd_error *err)
{
    uint64_t bytes = (uint64_t)l->kernel->lds_bytes + l->dynamic_lds;

    if (bytes <= c->lds_group_max)
        return HD_OK;
    return hd_error_set(
        err, HD_BAD_INPUT, "launch-local-memory", NULL, NULL,
        "kernel %s: %llu bytes of local memory asked for (%u static, %u dynamic), the limit "
        "lds.bytes_per_workgroup is %u",
        l->kernel->name, (unsigned long long)bytes, l->kernel->lds_bytes, l->dynamic_lds,
        c->lds_group_max);
}

static uint32_t wave_vregs(const struct sim_config *c, const struct isa_kernel *k)
{
    return (uint32_t)bits_round_up((uint64_t)k->vregs * c->wavefront_size, c->vreg_granule);
}

static uint32_t wave_sregs(const struct sim_config *c, const struct isa_kernel *k)
{
    return c->sreg_words ? (uint32_t)bits_round_up(k->sregs, c->sreg_granule) : 0;
}

static uint32_t group_local(const struct sim_config *c, const struct sim_launch *l)
{
    return (uint32_t)bits_round_up((uint64_t)l->kernel->lds_bytes + l->dynamic_lds, c->lds_granule);
}

enum hd_status dispatch_check(const struct sim_config *c, const struct sim_launch *l,
                              struct occupancy *out, struct hd_error *err)
{
    uint64_t items, waves;

    if (check_shape(c, l, &items, err) || check_local(c, l, err))
        return err ? err->status : HD_BAD_INPUT;
    if (!(l->kernel->forms & cf_units[c->divergence_unit]->forms))
        return hd_error_set(
            err, HD_BAD_INPUT, "launch-form", NULL, "write the kernel in a form that the unit runs",
            "kernel %s is in a control-flow form that divergence unit %s does not run",
            l->kernel->name, cf_units[c->divergence_unit]->name);
    if (l->kernel->vregs > c->vregs_max)
        return too_much(err, "launch-registers", l->kernel->name, l->kernel->vregs,
                        "vector registers", "cu.vector_registers_max", c->vregs_max);
    waves = bits_ceil_div(items, c->wavefront_size);

    const struct {
        const char *name, *key;
        uint64_t need, have;
    } limits[] = {
        {"wavefronts", "cu.wavefront_slots", waves, c->wave_slots},
        {"workgroups", "cu.workgroup_slots", 1, c->group_slots},
        {"vector registers", "cu.vector_register_words", waves * wave_vregs(c, l->kernel),
         c->vreg_words},
        {"scalar registers", "cu.scalar_register_words", waves * wave_sregs(c, l->kernel),
         c->sreg_words},
        {"local memory", "lds.bytes", group_local(c, l), c->lds_bytes},
    };

    *out = (struct occupancy){UINT32_MAX, (uint32_t)waves, ""};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].need)
            continue;
        if (limits[i].need > limits[i].have)
            return too_much(err, "launch-never-fits", l->kernel->name, limits[i].need,
                            limits[i].name, limits[i].key, limits[i].have);
        if (limits[i].have / limits[i].need < out->groups) {
            out->groups = (uint32_t)(limits[i].have / limits[i].need);
            out->limit = limits[i].name;
        }
    }
    return HD_OK;
}

/* ---- resident kernels ---- */

static struct kernel_run *free_run(struct device *d)
{
    for (uint32_t i = 0; i < d->nruns; i++)
        if (!d->runs[i].used)
            return &d->runs[i];
    return NULL;
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
    run->vreg_words = wave_vregs(&m->config, l->kernel);
    run->sreg_words = wave_sregs(&m->config, l->kernel);
    run->lds_alloc = group_local(&m->config, l);
    run->lds_bytes = l->kernel->lds_bytes + l->dynamic_lds;
    run->array_at = calloc(l->kernel->end - l->kernel->first, sizeof *run->array_at);
    if (!run->array_at)
        machine_out_of_memory(m);
    (void)dispatch_check(&m->config, l, &run->occupancy, NULL);
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
    free(run->array_at);
    run->array_at = NULL;
    run->used = false;
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
    d->waiting.len--;
    memmove(d->waiting.at, d->waiting.at + 1, d->waiting.len * sizeof *d->waiting.at);
    dispatch_wake(m);
}

void dispatch_kernel(struct sim_machine *m, uint64_t ticket, uint64_t tag, uint32_t queue,
                     uint64_t queued_ps, const struct sim_launch *launch)
{
    struct waiting_launch wait = {ticket, tag, queued_ps, queue, launch};

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
    struct kernel_run *run = d->placement->pick(d, m->config.compute_units, &cu);

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

/* The kernel is over when its work-groups are and its last store has taken effect. */
void run_check_done(struct sim_machine *m, struct kernel_run *run)
{
    if (run->done < run->groups || run->stores || m->mode == SIM_VALUES)
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
