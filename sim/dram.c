/* DRAM: channels that pass bytes at a fixed rate, in order of arrival, and answer after a fixed
 * access time. */
#include "sim/device.h"

/* When the channel has passed the request's bytes and, for one that reads, the access time is over. */
static uint64_t serve(struct sim_machine *m, uint32_t channel, const struct request *r,
                      uint64_t arrival_ps)
{
    struct device *d = m->device;
    uint64_t start_ps;
    uint64_t end_ps = rate_serve_step(&d->channels[channel], arrival_ps,
                                      &d->dram_steps[bits_count(r->sectors)], &start_ps);

    return r->kind == REQ_WRITEBACK ? end_ps : end_ps + d->dram_latency_ps;
}

/*
 * A slice sends in order of arrival, so that a channel that has one slice alone can serve a request
 * as soon as it is sent; where slices share a channel, the order among them is known only at arrival.
 */
uint64_t dram_send(struct sim_machine *m, const struct request *r, uint64_t arrival_ps)
{
    uint32_t channel, i;

    if (m->config.dram_channels == m->config.l2_slices)
        return serve(m, r->slice, r, arrival_ps);
    /* Slices share the channels evenly, in order. */
    channel = r->slice * m->config.dram_channels / m->config.l2_slices;
    i = request_new(m);
    if (i == REQUEST_NONE)
        return SIM_NEVER;
    *request_at(m->device, i) = *r;
    machine_schedule(m, arrival_ps, UNIT_DRAM + channel, EV_DRAM, i, 0);
    return SIM_NEVER;
}

void dram_event(struct sim_machine *m, const struct event *e)
{
    struct request r = *request_at(m->device, e->a);
    uint64_t done_ps = serve(m, e->unit - UNIT_DRAM, &r, e->time_ps);

    requests_give(&m->device->requests, e->a);
    if (r.kind != REQ_WRITEBACK)
        l2_fetched(m, &r, done_ps);
    else if (r.owner != NONE32)
        l2_written(m, r.owner, done_ps);
}
