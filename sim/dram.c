/* DRAM: channels that pass bytes at a fixed rate, in order of arrival, and answer after a fixed access time. */
#include "sim/device.h"

/* Slices share the channels evenly, in order. */
static uint32_t channel_of(const struct sim_machine *m, uint64_t line)
{
    return l2_slice_of(m, line) * m->config.dram_channels / m->config.l2_slices;
}

void dram_send(struct sim_machine *m, const struct request *r, uint64_t arrival_ps)
{
    uint32_t i = request_new(m, r);

    if (i != POOL_NONE)
        event_push(m->events, arrival_ps, UNIT_DRAM + channel_of(m, r->line), EV_DRAM, i, 0);
}

void dram_event(struct sim_machine *m, const struct event *e)
{
    struct device *d = m->device;
    struct request r = *request_at(d, e->a);
    uint64_t bytes = (uint64_t)bits_count(r.sectors) << d->sector_shift;
    uint64_t end_ps = rate_serve(&d->channels[e->unit - UNIT_DRAM], e->time_ps, bytes, NULL);

    pool_give(&d->requests, e->a);
    if (r.kind != REQ_WRITEBACK)
        l2_fetched(m, r.line, r.sectors, end_ps + d->dram_latency_ps);
}
