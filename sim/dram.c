/* DRAM: channels that pass bytes at a fixed rate, in order of arrival, and answer after a fixed
 * access time. */
#include "sim/device.h"

/* When the channel has passed sectors that arrive at it. */
static inline uint64_t pass(struct device *d, uint32_t channel, uint32_t sectors,
                            uint64_t arrival_ps)
{
    uint64_t start_ps;

    return rate_serve_step(&d->channels[channel], arrival_ps, &d->dram_steps[bits_count(sectors)],
                           &start_ps);
}

/*
 * A slice sends in order of arrival, so that a channel that has one slice alone can serve a request
 * as soon as it is sent; where slices share a channel, the order among them is known only at arrival.
 */
static inline bool is_direct(const struct sim_machine *m)
{
    return m->config.dram_channels == m->config.l2_slices;
}

/* Slices share the channels evenly, in order. */
static void send(struct sim_machine *m, const struct request *r, uint64_t arrival_ps)
{
    uint32_t channel = r->slice * m->config.dram_channels / m->config.l2_slices;
    uint32_t i = request_new(m);

    if (i == REQUEST_NONE)
        return;
    *request_at(m->device, i) = *r;
    machine_schedule(m, arrival_ps, UNIT_DRAM + channel, EV_DRAM, i, 0);
}

uint64_t dram_read(struct sim_machine *m, const struct request *r, uint32_t sectors,
                   uint64_t arrival_ps)
{
    struct request f;

    if (is_direct(m))
        return pass(m->device, r->slice, sectors, arrival_ps) + m->device->dram_latency_ps;
    f = *r;
    f.sectors = sectors;
    f.kind = REQ_LOAD;
    send(m, &f, arrival_ps);
    return SIM_NEVER;
}

uint64_t dram_write(struct sim_machine *m, const struct request *r, uint64_t line, uint32_t sectors,
                    uint64_t arrival_ps, uint32_t store)
{
    struct request w;

    if (is_direct(m))
        return pass(m->device, r->slice, sectors, arrival_ps);
    w = *r;
    w.line = line;
    w.sectors = sectors;
    w.kind = REQ_WRITEBACK;
    w.owner = store;
    send(m, &w, arrival_ps);
    return SIM_NEVER;
}

void dram_event(struct sim_machine *m, const struct event *e)
{
    struct request r = *request_at(m->device, e->a);
    uint64_t done_ps = pass(m->device, e->unit - UNIT_DRAM, r.sectors, e->time_ps);

    requests_give(&m->device->requests, e->a);
    if (r.kind != REQ_WRITEBACK)
        l2_fetched(m, &r, done_ps + m->device->dram_latency_ps);
    else if (r.owner != NONE32)
        l2_written(m, r.owner, done_ps);
}
