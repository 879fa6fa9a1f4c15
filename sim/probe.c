/* What the probe is told. */
#include "sim/transactions.h"

static bool wanted(const struct sim_machine *m, enum hd_probe_kind kind)
{
    return m->probe.fn && (m->probe.wants & HD_PROBE_WANT(kind));
}

/* What is known of any wavefront. */
static struct hd_probe_event of_wave(const struct sim_machine *m, const struct wavefront *w,
                                     enum hd_probe_kind kind)
{
    return (struct hd_probe_event){
        .kind = kind,
        .cu = w->cu,
        .simd = w->simd,
        .slot = w->slot,
        .ticket = w->run->ticket,
        .tag = w->run->tag,
        .group = w->group->index,
        .wave = w->regs.s[ISA_SV_WAVE],
        .pc = w->next->pc,
        .time_ps = m->now_ps,
        .lanes = w->regs.live,
        .program = w->run->program,
        .kernel = w->run->kernel,
        .regs = &w->regs,
    };
}

void probe_wave(struct sim_machine *m, const struct wavefront *w, enum hd_probe_kind kind,
                uint64_t cycle)
{
    struct hd_probe_event e;

    if (!wanted(m, kind))
        return;
    e = of_wave(m, w, kind);
    e.time_ps = clock_edge(&m->core, cycle);
    if (kind == HD_PROBE_ISSUE)
        e.lanes = isa_active(&w->regs, w->next);
    m->probe.fn(m->probe.user, &e);
}

void probe_stalls(struct sim_machine *m, const struct wavefront *w, const uint64_t *before)
{
    struct hd_probe_event e;

    if (!wanted(m, HD_PROBE_STALL))
        return;
    e = of_wave(m, w, HD_PROBE_STALL);
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++) {
        e.cycles = w->run->c.stall_cycles[i] - before[i];
        e.reason = (enum sim_stall)i;
        if (e.cycles)
            m->probe.fn(m->probe.user, &e);
    }
}

void probe_global(struct sim_machine *m, const struct wavefront *w, const struct probe_access *a)
{
    const struct device *d = m->device;
    struct hd_probe_event e;

    if (!wanted(m, HD_PROBE_GLOBAL))
        return;
    e = of_wave(m, w, HD_PROBE_GLOBAL);
    e.lanes = a->active;
    e.address = a->address;
    e.bytes = a->bytes;
    e.nlines = a->nlines;
    for (uint32_t i = 0; i < a->nlines; i++)
        e.nsectors += bits_count(d->lines[i].sectors);
    m->probe.fn(m->probe.user, &e);
}

void probe_local(struct sim_machine *m, const struct wavefront *w, const struct probe_access *a)
{
    struct hd_probe_event e;

    if (!wanted(m, HD_PROBE_LOCAL))
        return;
    e = of_wave(m, w, HD_PROBE_LOCAL);
    e.lanes = a->active;
    e.address = a->address;
    e.bytes = a->bytes;
    e.passes = a->passes.passes;
    e.least_passes = a->passes.least;
    m->probe.fn(m->probe.user, &e);
}

void probe_tx(struct sim_machine *m, const struct wavefront *w, enum hd_probe_kind kind,
              uint64_t lanes, uint64_t cycle)
{
    struct hd_probe_event e;

    if (!wanted(m, kind) || !lanes || m->mode == SIM_VALUES)
        return;
    e = of_wave(m, w, kind);
    e.time_ps = clock_edge(&m->core, cycle);
    e.lanes = lanes;
    m->probe.fn(m->probe.user, &e);
}

void probe_l1_hit(struct sim_machine *m, const struct load_op *op, const struct line_request *l)
{
    struct hd_probe_event e;

    if (!wanted(m, HD_PROBE_L1_HIT))
        return;
    e = of_wave(m, op->wave, HD_PROBE_L1_HIT);
    e.pc = op->pc;
    e.regs = NULL;
    e.line = l->line;
    e.sectors = l->sectors;
    m->probe.fn(m->probe.user, &e);
}

void probe_line(struct sim_machine *m, const struct request *r, enum hd_probe_kind kind,
                uint64_t time_ps)
{
    const struct hd_probe_event e = {
        .kind = kind,
        .time_ps = time_ps,
        .cu = r->cu,
        .line = r->line,
        .sectors = r->sectors,
        .store = !request_reads(r),
    };

    if (wanted(m, kind))
        m->probe.fn(m->probe.user, &e);
}
