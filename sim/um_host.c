/*
 * Accesses of the host. One that finds any of its pages on the device takes one fault, however many
 * they are; then the dirty ones move as one transfer, and the clean ones need the fault alone. With
 * page faults the pages leave when the fault has been served, not before: until then kernels use them.
 */
#include "sim/attach.h"
#include "sim/demand.h"
#include "sim/machine.h"
#include "sim/pages.h"
#include "sim/um.h"

/* ---- without page faults ------------------------------------------------------------------ */

static struct page_change take_range(struct sim_machine *m, const struct sim_host_access *h)
{
    struct memory *mem = &m->memory;
    struct sim_array *a = &mem->arrays.at[h->array];
    struct page_change c;

    if (h->whole)
        pages_discard(a, pages_within(mem, a, h->offset, h->bytes));
    c = pages_to_host(a, pages_of(mem, a, h->offset, h->bytes));
    mem->device_bytes -= c.changed * mem->page_bytes;
    attach_settle(mem, a);
    return c;
}

/* ---- with page faults --------------------------------------------------------------------- */

/* Whether the host cannot use the page as it is. */
static bool faults(const struct sim_array *a, uint64_t page, bool write)
{
    return page_on_device(a, page) && (write || !page_bit(a->both, page));
}

static bool range_faults(const struct sim_array *a, struct page_range r, bool write)
{
    for (uint64_t page = r.first; page < r.end; page++)
        if (faults(a, page, write))
            return true;
    return false;
}

static bool range_coming(const struct sim_array *a, struct page_range r)
{
    for (uint64_t page = r.first; page < r.end; page++)
        if (page_coming(a, page))
            return true;
    return false;
}

static struct page_change take_pages(struct sim_machine *m, const struct sim_host_access *h)
{
    struct memory *mem = &m->memory;
    struct sim_array *a = &mem->arrays.at[h->array];
    struct page_range r = pages_of(mem, a, h->offset, h->bytes), none = {0, 0};
    struct page_range whole = h->whole ? pages_within(mem, a, h->offset, h->bytes) : none;
    struct page_change c = {0};

    pages_populate(a, r);
    for (uint64_t page = r.first; page < r.end; page++) {
        bool overwritten = page >= whole.first && page < whole.end, dirty;

        if (!faults(a, page, h->write) || page_coming(a, page))
            continue;
        if (!h->write && a->read_mostly)
            dirty = demand_share(mem, a, page);
        else
            dirty = demand_leave(mem, a, page);
        c.changed++;
        c.moved += dirty && !overwritten;
    }
    return c;
}

/* ---- the fault ---------------------------------------------------------------------------- */

static struct page_change take_to_host(struct sim_machine *m, const struct sim_host_access *h)
{
    return m->memory.demand ? take_pages(m, h) : take_range(m, h);
}

/* With page faults nothing moves before the fault is served; then the pages may leave at any time. */
static void hold(const struct memory *mem, struct sim_array *a)
{
    a->outbound += !mem->demand;
    a->pinned += mem->demand;
    if (mem->demand)
        demand_keep_in_step(a);
}

/* Its pages leave now. */
static void release(const struct memory *mem, struct sim_array *a)
{
    a->outbound += mem->demand;
    a->pinned -= mem->demand;
    if (mem->demand)
        demand_let_ahead(a);
}

/* A fault that takes its time. Without page faults the pages have left already. */
static uint64_t begin_fault(struct sim_machine *m, const struct sim_host_access *h, uint64_t moved)
{
    struct sim_array *a = &m->memory.arrays.at[h->array];
    struct host_fault f = {.access = *h,
                           .ticket = queues_new_ticket(m),
                           .queued_ps = m->now_ps,
                           .bytes = moved * m->memory.page_bytes};

    if (!vec_push(&m->memory.host_faults, f)) {
        machine_out_of_memory(m);
        return f.ticket;
    }
    hold(&m->memory, a);
    machine_schedule(m, m->now_ps + m->config.um_host_fault * PS_PER_NS, UNIT_QUEUE, EV_TICKET, 0,
                     f.ticket);
    return f.ticket;
}

uint64_t sim_host_access(struct sim_machine *m, const struct sim_host_access *h)
{
    struct sim_array *a = memory_array(&m->memory, h->array);
    bool timed = m->mode == SIM_TIMED && !h->untimed;
    struct page_range r;
    struct page_change c = {0};

    if (!a || a->kind != SIM_MANAGED)
        return 0;
    r = pages_of(&m->memory, a, h->offset, h->bytes);
    if (m->memory.demand && timed && range_faults(a, r, h->write))
        return begin_fault(m, h, 0);
    c = take_to_host(m, h);
    return timed && c.changed > 0 ? begin_fault(m, h, c.moved) : 0;
}

static size_t find_fault(const struct memory *mem, uint64_t ticket)
{
    size_t i = 0;

    while (mem->host_faults.at[i].ticket != ticket)
        i++;
    return i;
}

/* Takes the pages of a fault that is served; false if some are on their way to the device. */
static bool take_faulted(struct sim_machine *m, struct host_fault *f)
{
    struct memory *mem = &m->memory;
    struct sim_array *a = &mem->arrays.at[f->access.array];

    if (!mem->demand)
        return true;
    f->waits = a->live && range_coming(a, pages_of(mem, a, f->access.offset, f->access.bytes));
    if (f->waits)
        return false;
    if (a->live)
        f->bytes = take_pages(m, &f->access).moved * mem->page_bytes;
    return true;
}

uint64_t um_host_fault_served(struct sim_machine *m, uint64_t ticket)
{
    struct memory *mem = &m->memory;
    size_t at = find_fault(mem, ticket);
    struct host_fault f;
    struct sim_transfer_record r = {.ticket = ticket, .kind = SIM_T_FAULT};

    if (!take_faulted(m, &mem->host_faults.at[at]))
        return 0;
    f = mem->host_faults.at[at];
    mem->host_faults.at[at] = mem->host_faults.at[--mem->host_faults.len];
    release(mem, &mem->arrays.at[f.access.array]);
    r.array = f.access.array;
    r.bytes = f.bytes;
    r.queued_ps = f.queued_ps;
    if (f.bytes > 0) {
        link_submit(m, &r, true, 0);
        return 0;
    }
    mem->arrays.at[r.array].outbound--;
    attach_settle(mem, &mem->arrays.at[r.array]);
    memory_release_id(mem, r.array);
    return ticket;
}

void um_host_retry(struct sim_machine *m, uint32_t array)
{
    struct memory *mem = &m->memory;

    for (size_t i = 0; i < mem->host_faults.len; i++) {
        struct host_fault *f = &mem->host_faults.at[i];

        if (!f->waits || f->access.array != array)
            continue;
        f->waits = false;
        machine_schedule(m, m->now_ps, UNIT_QUEUE, EV_TICKET, 0, f->ticket);
    }
}
