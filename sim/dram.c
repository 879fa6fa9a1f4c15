/*
 * DRAM: channels that pass bytes at a fixed rate, in order of arrival, and answer after a fixed access
 * time. With dram.row_bytes a channel has rows, of which one a bank is open.
 */
#include "sim/device.h"

#include <string.h>

/*
 * Whether a row of a bank, newest first, is open when a request arrives or waits to be opened: the newest
 * is until another is asked for, the others until the next newer one is opened.
 */
static inline bool row_is_there(const struct dram_row *bank, uint32_t rows, uint64_t row,
                                uint64_t arrival_ps)
{
    if (bank[0].row == row)
        return true;
    for (uint32_t i = 1; i < rows && bank[i - 1].open_ps > arrival_ps; i++)
        if (bank[i].row == row)
            return true;
    return false;
}

/*
 * A row of a channel is its part of row_span bytes. One that is not open is opened first: the channel
 * passes nothing for row_miss_ps, and opens no other row for row_gap_ps, in which bytes of open rows
 * pass. Returns when the bytes of the request may pass; a channel keeps the order of requests, so that
 * one for a row that waits comes behind the one that opens it.
 */
static uint64_t open_row(struct sim_machine *m, struct kernel_run *run, uint32_t channel,
                         uint64_t line, uint64_t arrival_ps)
{
    struct device *d = m->device;
    uint32_t banks = m->config.dram_banks, rows = m->config.dram_bank_rows;
    uint64_t row = line / d->row_span, start_ps = arrival_ps;
    struct dram_row *bank = &d->rows[(channel * banks + row % banks) * rows];

    if (row_is_there(bank, rows, row, arrival_ps))
        return arrival_ps;
    run->c.dram_row_misses++;
    if (start_ps < d->next_rows_ps[channel])
        start_ps = d->next_rows_ps[channel];
    d->next_rows_ps[channel] = start_ps + d->row_gap_ps;
    memmove(bank + 1, bank, (rows - 1) * sizeof *bank);
    bank[0] = (struct dram_row){row, start_ps};
    rate_hold(&d->channels[channel], start_ps, d->row_miss_ps);
    return start_ps;
}

/* When the channel has passed sectors of a line that arrive at it. */
static inline uint64_t pass(struct sim_machine *m, struct kernel_run *run, uint32_t channel,
                            uint64_t line, uint32_t sectors, uint64_t arrival_ps)
{
    struct device *d = m->device;
    uint64_t start_ps;

    if (d->rows)
        arrival_ps = open_row(m, run, channel, line, arrival_ps);
    return rate_serve_step(&d->channels[channel], arrival_ps,
                           &d->dram_steps[bits_count_few(sectors)], &start_ps);
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
        return pass(m, r->run, r->slice, r->line, sectors, arrival_ps) + m->device->dram_latency_ps;
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
        return pass(m, r->run, r->slice, line, sectors, arrival_ps);
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
    uint64_t done_ps = pass(m, r.run, e->unit - UNIT_DRAM, r.line, r.sectors, e->time_ps);

    requests_give(&m->device->requests, e->a);
    if (r.kind != REQ_WRITEBACK)
        l2_fetched(m, &r, done_ps + m->device->dram_latency_ps);
    else if (r.owner != NONE32)
        l2_written(m, r.owner, done_ps);
}
