/* Those who wait for pages. */
#include "sim/um_fault.h"
#include "sim/demand.h"
#include "sim/device.h"
#include "sim/um_handler.h"

#include <string.h>

static uint64_t page_of(const struct sim_machine *m, const struct sim_array *a, uint64_t address)
{
    return (address - a->base) / m->memory.page_bytes;
}

static struct sim_array *array_at(struct sim_machine *m, uint32_t id)
{
    return &m->memory.arrays.at[id];
}

/* ---- faults ------------------------------------------------------------------------------- */

bool um_line_passes(struct sim_machine *m, uint64_t line, bool write)
{
    struct sim_array *a = memory_find(&m->memory, line);
    uint64_t page;

    if (!a || !a->frame)
        return true;
    page = page_of(m, a, line);
    if (!page_usable(a, page, write))
        return false;
    demand_use(&m->memory, a, page);
    if (write)
        demand_write(&m->memory, a, page);
    return true;
}

/* An entry in the buffer, for a page that is not on its way. */
static void ask(struct sim_machine *m, uint32_t record, const struct request *r, uint64_t cycle)
{
    struct fault_buffer *b = &m->faults->buffer;
    struct fault_page *p = fault_page_at(b, record);
    bool first = true, memory;

    for (uint32_t w = 0; w < CUS_MAX / 64; w++)
        first = first && !p->cus[w];
    if (fault_buffer_enter(b, record, r->cu, (uint32_t)(r->run - m->device->runs), &memory)) {
        r->run->c.page_faults += first;
        r->run->c.fault_duplicates += !first;
        m->memory.totals.page_faults += first;
        m->memory.totals.fault_duplicates += !first;
        um_handler_wake(m, cycle);
    }
    if (!memory)
        machine_out_of_memory(m);
}

static void append(struct device *d, struct fault_page *p, uint32_t request)
{
    request_at(d, request)->next = REQUEST_NONE;
    if (p->first == FAULT_NONE)
        p->first = request;
    else
        request_at(d, p->last)->next = request;
    p->last = request;
}

void um_line_waits(struct sim_machine *m, uint32_t request, bool write, uint64_t cycle)
{
    struct fault_buffer *b = &m->faults->buffer;
    const struct request *r = request_at(m->device, request);
    struct sim_array *a = memory_find(&m->memory, r->line);
    uint32_t id = (uint32_t)(a - m->memory.arrays.at), page = (uint32_t)page_of(m, a, r->line);
    uint32_t record = fault_buffer_find(b, id, page);

    if (record == FAULT_NONE) {
        record = fault_buffer_add(b, id, page, (uint32_t)(r->run - m->device->runs));
        if (record == FAULT_NONE) {
            machine_out_of_memory(m);
            return;
        }
        a->pinned++;
    }
    append(m->device, fault_page_at(b, record), request);
    fault_page_at(b, record)->write |= write;
    if (!page_coming(a, page) && !fault_page_at(b, record)->taken)
        ask(m, record, r, cycle);
}

/* ---- replay ------------------------------------------------------------------------------- */

void um_replay(struct sim_machine *m, uint32_t record)
{
    struct fault_buffer *b = &m->faults->buffer;
    struct fault_page p = *fault_page_at(b, record);
    struct sim_array *a = array_at(m, p.array);

    l2_replay(m, p.first);
    fault_buffer_remove(b, record);
    if (a->live && page_usable(a, p.page, false)) {
        demand_use(&m->memory, a, p.page);
        if (p.write)
            demand_write(&m->memory, a, p.page);
    }
    a->pinned--;
    memory_release_id(&m->memory, p.array);
}

void um_forget_entries(struct fault_page *p)
{
    memset(p->cus, 0, sizeof p->cus);
    p->taken = false;
}

/* The page was taken away again before what waits for it could go on: it is asked for once more. */
static void ask_again(struct sim_machine *m, uint32_t record)
{
    struct fault_page *p = fault_page_at(&m->faults->buffer, record);
    uint64_t cycle = clock_cycle_at(&m->core, m->now_ps);

    ask(m, record, request_at(m->device, p->first), cycle);
}

static void replay_if_ready(struct sim_machine *m, uint32_t record)
{
    const struct fault_page *p = fault_page_at(&m->faults->buffer, record);
    const struct sim_array *a = array_at(m, p->array);

    if (!a->live || page_usable(a, p->page, p->write))
        um_replay(m, record);
    else if (!page_coming(a, p->page))
        ask_again(m, record);
}

void um_replay_ready(struct sim_machine *m)
{
    struct fault_buffer *b = &m->faults->buffer;

    for (uint32_t i = b->oldest, newer; i != FAULT_NONE; i = newer) {
        newer = fault_page_at(b, i)->newer;
        replay_if_ready(m, i);
    }
}

void um_page_arrived(struct sim_machine *m, uint32_t array, uint64_t page)
{
    struct um_faults *f = m->faults;
    uint32_t record = fault_buffer_find(&f->buffer, array, (uint32_t)page);

    if (record == FAULT_NONE || fault_page_at(&f->buffer, record)->taken)
        return;
    if (!vec_push(&f->keys, ((struct batch_key){fault_page_at(&f->buffer, record)->serial, record})))
        machine_out_of_memory(m);
}

void um_replay_arrived(struct sim_machine *m)
{
    struct um_faults *f = m->faults;

    um_sort_keys(f);
    for (size_t i = 0; i < f->keys.len; i++)
        replay_if_ready(m, f->keys.at[i].record);
    f->keys.len = 0;
}
