/* What the probe is told. */
#include "sim/device.h"

void probe_wave(struct sim_machine *m, const struct wavefront *w, enum hd_probe_kind kind,
                uint64_t cycle)
{
    const struct hd_probe_event e = {
        .kind = kind,
        .time_ps = clock_edge(&m->core, cycle),
        .cu = w->cu,
        .simd = w->simd,
        .slot = w->slot,
        .ticket = w->run->ticket,
        .group = w->group->index,
        .wave = w->regs.s[ISA_SV_WAVE],
        .pc = w->next->pc,
        .lanes = kind == HD_PROBE_ISSUE ? isa_active(&w->regs, w->next) : w->regs.live,
    };

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
        .store = r->kind != REQ_LOAD,
    };

    m->probe.fn(m->probe.user, &e);
}
