#include "sim/demand.h"
#include "sim/machine.h"
#include "sim/um_fault.h"

static void set_bit(uint64_t *bitmap, uint64_t page)
{
    bitmap[page / 64] |= UINT64_C(1) << page % 64;
}

static void clear_bit(uint64_t *bitmap, uint64_t page)
{
    bitmap[page / 64] &= ~(UINT64_C(1) << page % 64);
}

void demand_keep_in_step(struct sim_array *a)
{
    a->in_step++;
}

void demand_let_ahead(struct sim_array *a)
{
    a->in_step--;
}

/* Which accesses have to look at pages follows from the counts. */
static void set_watch(const struct memory *mem, struct sim_array *a)
{
    bool loads = a->absent > 0 || mem->counts_uses || mem->uses_due, stores = loads || a->clean > 0;
    bool looked = a->watch & WATCH_LOADS;

    if (loads && !looked)
        demand_keep_in_step(a);
    if (!loads && looked)
        demand_let_ahead(a);
    a->watch = (uint8_t)((loads ? WATCH_LOADS : 0) | (stores ? WATCH_STORES : 0));
}

void demand_new(struct memory *mem, struct sim_array *a)
{
    a->absent = a->npages;
    set_watch(mem, a);
}

void demand_forget(struct memory *mem, struct sim_array *a)
{
    for (uint64_t page = 0; page < a->npages; page++)
        if (a->frame[page] != FRAME_NONE)
            frames_remove(&mem->frames, a->frame[page]);
}

static void now_usable(struct sim_machine *m, struct sim_array *a, uint64_t page)
{
    struct memory *mem = &m->memory;

    a->frame[page] = frames_add(&mem->frames, (uint32_t)(a - mem->arrays.at), (uint32_t)page);
    if (a->frame[page] == FRAME_NONE)
        machine_out_of_memory(m);
    a->absent--;
    a->clean++;
    set_watch(mem, a);
}

bool demand_come(struct sim_machine *m, struct sim_array *a, uint64_t page)
{
    bool moves = page_bit(a->populated, page);

    set_bit(a->on_device, page);
    set_bit(a->populated, page);
    if (moves && a->read_mostly)
        set_bit(a->both, page);
    a->device_pages++;
    m->memory.device_bytes += m->memory.page_bytes;
    if (moves && m->mode == SIM_TIMED) {
        set_bit(a->arriving, page);
        return true;
    }
    now_usable(m, a, page);
    return false;
}

void demand_arrive(struct sim_machine *m, struct sim_array *a, uint64_t page)
{
    clear_bit(a->arriving, page);
    now_usable(m, a, page);
}

bool demand_leave(struct memory *mem, struct sim_array *a, uint64_t page)
{
    bool dirty = page_bit(a->dirty, page);

    clear_bit(a->on_device, page);
    clear_bit(a->dirty, page);
    clear_bit(a->both, page);
    a->device_pages--;
    mem->device_bytes -= mem->page_bytes;
    if (a->frame[page] != FRAME_NONE)
        frames_remove(&mem->frames, a->frame[page]);
    a->frame[page] = FRAME_NONE;
    a->absent++;
    a->clean -= !dirty;
    set_watch(mem, a);
    return dirty;
}

void demand_write(struct memory *mem, struct sim_array *a, uint64_t page)
{
    clear_bit(a->both, page);
    if (page_bit(a->dirty, page))
        return;
    set_bit(a->dirty, page);
    a->clean--;
    set_watch(mem, a);
}

bool demand_share(struct memory *mem, struct sim_array *a, uint64_t page)
{
    bool dirty = page_bit(a->dirty, page);

    set_bit(a->both, page);
    clear_bit(a->dirty, page);
    a->clean += dirty;
    set_watch(mem, a);
    return dirty;
}

static bool oversubscribed(const struct sim_machine *m)
{
    const struct memory *mem = &m->memory;

    return mem->demand &&
           mem->managed_pages * mem->page_bytes > m->config.dram_bytes - mem->explicit_bytes;
}

static void set_uses(struct sim_machine *m, bool due, bool counts)
{
    struct memory *mem = &m->memory;

    mem->uses_due = due;
    mem->counts_uses = counts;
    for (size_t i = 0; i < mem->arrays.len; i++)
        if (mem->arrays.at[i].live && mem->arrays.at[i].frame)
            set_watch(mem, &mem->arrays.at[i]);
}

/* No compute unit is ahead of the host's calls by more; see cu_set_lookahead(). */
static uint64_t longest_lookahead_ps(const struct sim_config *c)
{
    uint64_t ns = c->launch_latency < c->link_latency ? c->launch_latency : c->link_latency;

    return (ns < c->um_host_fault ? ns : c->um_host_fault) * PS_PER_NS;
}

void demand_array_made(struct sim_machine *m)
{
    const struct memory *mem = &m->memory;

    if (mem->counts_uses || mem->uses_due || !oversubscribed(m))
        return;
    if (m->mode == SIM_VALUES) {
        set_uses(m, false, true);
        return;
    }
    set_uses(m, true, false);
    machine_schedule(m, m->now_ps + longest_lookahead_ps(&m->config), UNIT_FAULT, EV_USES, 0, 0);
}

void demand_uses_event(struct sim_machine *m, const struct event *e)
{
    (void)e;
    if (!m->memory.uses_due)
        return;
    set_uses(m, false, oversubscribed(m));
    um_fault_left(m);
}

void demand_launched(struct sim_machine *m)
{
    const struct memory *mem = &m->memory;

    if ((mem->counts_uses || mem->uses_due) && !oversubscribed(m))
        set_uses(m, false, false);
    else if (mem->uses_due && m->mode == SIM_VALUES)
        set_uses(m, false, true);
}
