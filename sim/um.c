#include "sim/um.h"
#include "sim/attach.h"
#include "sim/demand.h"
#include "sim/machine.h"
#include "sim/um_fault.h"
#include "sim/um_room.h"

#include <inttypes.h>

static struct sim_array *array_at(struct sim_machine *m, uint32_t id)
{
    return &m->memory.arrays.at[id];
}

/* ---- what a launch can see ------------------------------------------------------------- */

static bool find_visible(struct sim_machine *m, uint32_t queue, const struct sim_launch *launch,
                         uint64_t *pages)
{
    bool found = attach_find_visible(&m->memory, queue, launch, pages);

    if (!found)
        machine_out_of_memory(m);
    return found;
}

enum hd_status um_check_launch(struct sim_machine *m, uint32_t queue,
                               const struct sim_launch *launch, struct hd_error *err)
{
    struct memory *mem = &m->memory;
    uint64_t pages, capacity = m->config.dram_bytes - mem->explicit_bytes;

    if (m->config.um_page_faults || !find_visible(m, queue, launch, &pages))
        return m->fault.status;
    if (pages <= capacity / mem->page_bytes)
        return HD_OK;
    return hd_error_set(
        err, HD_BAD_INPUT, "device-memory", NULL,
        "a device without page faults (um.page_faults) holds all arrays that a launch can see",
        "kernel %s needs %" PRIu64 " bytes for the arrays that it can see, the device has %" PRIu64
        " (dram.bytes) without its device arrays",
        launch->kernel->name, pages * mem->page_bytes, capacity);
}

/* ---- claims of launches ------------------------------------------------------------------- */

static bool claim_array(struct sim_machine *m, uint32_t id, struct um_claims *claims)
{
    struct sim_array *a = array_at(m, id);
    struct page_change c;

    if (!vec_push(&claims->list, ((struct um_claim){.array = id})))
        return false;
    c = pages_to_device(a, pages_all(a));
    m->memory.device_bytes += c.changed * m->memory.page_bytes;
    a->pinned++;
    if (c.moved > 0 && m->mode == SIM_TIMED) {
        claims->list.at[claims->list.len - 1].move_bytes = c.moved * m->memory.page_bytes;
        a->inbound++;
    }
    attach_settle(&m->memory, a);
    return true;
}

/* Makes room for what is missing of the visible arrays, which are used now and not evicted; holds those attached. */
static bool make_room_beside(struct sim_machine *m, uint32_t queue)
{
    const struct memory *mem = &m->memory;
    uint64_t use = ++m->memory.use_clock, missing = 0;
    bool room;

    for (size_t i = 0; i < mem->visible.len; i++) {
        struct sim_array *a = array_at(m, mem->visible.at[i]);

        a->last_use = use;
        a->pinned++;
        missing += a->npages - a->device_pages;
    }
    attach_use(&m->memory, queue, use);
    attach_hold(&m->memory, queue, true);
    room = um_room_of_arrays(m, missing * mem->page_bytes);
    for (size_t i = 0; i < mem->visible.len; i++)
        array_at(m, mem->visible.at[i])->pinned--;
    if (!room)
        attach_hold(&m->memory, queue, false);
    return room;
}

enum um_outcome um_claim_launch(struct sim_machine *m, uint32_t queue,
                                const struct sim_launch *launch, struct um_claims *claims)
{
    const struct memory *mem = &m->memory;
    struct hd_error err;

    /* Arrays may have been attached since the launch was submitted. */
    if (um_check_launch(m, queue, launch, &err)) {
        machine_fail(m, HD_BAD_INPUT, err.code, NULL, err.hint, "%s", err.message);
        return UM_FAILED;
    }
    if (!make_room_beside(m, queue))
        return UM_NO_ROOM;
    claims->holds_attached = true;
    claims->queue = queue;
    for (size_t i = 0; i < mem->visible.len; i++)
        if (!claim_array(m, mem->visible.at[i], claims)) {
            machine_out_of_memory(m);
            return UM_FAILED;
        }
    return UM_CLAIMED;
}

/* ---- claims of prefetches ----------------------------------------------------------------- */

static bool add_page(struct sim_machine *m, struct um_claims *claims, uint32_t id, uint64_t page)
{
    struct um_claim *last = &claims->list.at[claims->list.len - 1];

    if (last->pages.end != page || last->move_bytes == 0) {
        if (!vec_push(&claims->list, ((struct um_claim){.array = id, .pages = {page, page}})))
            return false;
        array_at(m, id)->pinned++;
        last = &claims->list.at[claims->list.len - 1];
    }
    last->pages.end++;
    last->move_bytes += m->memory.page_bytes;
    return true;
}

/* The first claim moves nothing: it holds the array, also when all of its pages are there. */
static bool claim_pages(struct sim_machine *m, uint32_t id, struct page_range r,
                        struct um_claims *claims)
{
    struct sim_array *a = array_at(m, id);

    if (!vec_push(&claims->list, ((struct um_claim){.array = id})))
        return false;
    a->pinned++;
    for (uint64_t page = r.first; page < r.end; page++)
        if (!page_on_device(a, page) && demand_come(m, a, page) && !add_page(m, claims, id, page))
            return false;
    return true;
}

enum um_outcome um_claim_prefetch(struct sim_machine *m, const struct sim_copy *range,
                                  struct um_claims *claims)
{
    struct sim_array *a = array_at(m, range->array);
    struct page_range r = pages_of(&m->memory, a, range->offset, range->bytes);
    uint64_t missing = pages_missing(a, r);

    for (uint64_t page = r.first; page < r.end; page++)
        if (a->frame[page] != FRAME_NONE)
            demand_use(&m->memory, a, page);
    if (!um_room_for_range(m, missing, range->array, &r))
        return UM_NO_ROOM;
    if (!claim_pages(m, range->array, r, claims)) {
        machine_out_of_memory(m);
        return UM_FAILED;
    }
    return UM_CLAIMED;
}

bool um_waits_for_host(const struct sim_machine *m, const struct um_claims *claims)
{
    if (m->memory.evictions > 0)
        return true;
    for (size_t i = 0; i < claims->list.len; i++)
        if (m->memory.arrays.at[claims->list.at[i].array].outbound > 0)
            return true;
    return false;
}

/* Without page faults: an array as a whole. */
static void send_array(struct sim_machine *m, const struct um_claim *c,
                       const struct sim_transfer_record *common)
{
    struct sim_transfer_record r = *common;

    if (c->move_bytes == 0)
        return;
    r.array = c->array;
    r.bytes = c->move_bytes;
    r.to_device = true;
    r.queued_ps = m->now_ps;
    link_submit(m, &r, true, 0);
}

void um_send_pages(struct sim_machine *m, const struct um_claim *runs, size_t n,
                   const struct sim_transfer_record *common)
{
    struct sim_transfer_record r = *common;
    uint64_t transfer = ++m->memory.transfers;

    r.to_device = true;
    if (r.kind != SIM_T_FAULT)
        r.queued_ps = m->now_ps;
    for (size_t i = 0; i < n; i++) {
        const struct page_move move = {runs[i].array, runs[i].pages.first, runs[i].pages.end,
                                       transfer};

        r.array = runs[i].array;
        r.bytes += runs[i].move_bytes;
        if (!vec_push(&m->memory.moves, move))
            machine_out_of_memory(m);
    }
    if (r.bytes == 0 || m->fault.status != HD_OK)
        return;
    array_at(m, r.array)->inbound++;
    link_submit(m, &r, true, transfer);
}

void um_move_in(struct sim_machine *m, const struct um_claims *claims,
                const struct sim_transfer_record *common)
{
    const struct um_claim *list = claims->list.at;

    if (m->memory.demand && claims->list.len > 1)
        um_send_pages(m, list + 1, claims->list.len - 1, common);
    for (size_t i = 0; i < claims->list.len && !m->memory.demand; i++)
        send_array(m, &list[i], common);
}

bool um_waits_for_device(const struct sim_machine *m, const struct um_claims *claims)
{
    for (size_t i = 0; i < claims->list.len; i++)
        if (m->memory.arrays.at[claims->list.at[i].array].inbound > 0)
            return true;
    return false;
}

void um_release(struct sim_machine *m, struct um_claims *claims)
{
    for (size_t i = 0; i < claims->list.len; i++) {
        array_at(m, claims->list.at[i].array)->pinned--;
        memory_release_id(&m->memory, claims->list.at[i].array);
    }
    claims->list.len = 0;
    if (claims->holds_attached)
        attach_hold(&m->memory, claims->queue, false);
    claims->holds_attached = false;
}

void um_written(struct sim_machine *m, uint32_t array)
{
    struct sim_array *a = array_at(m, array);

    if (a->kind == SIM_MANAGED)
        pages_written(a, pages_all(a));
}

/* ---- ends of moves ------------------------------------------------------------------------ */

static void arrive(struct sim_machine *m, const struct page_move *move)
{
    struct sim_array *a = array_at(m, move->array);

    for (uint64_t page = move->first; a->live && page < move->end; page++)
        demand_arrive(m, a, page);
}

/* Of a prefetch: what waits for its pages goes on. */
static void wake_all(struct sim_machine *m, const struct page_move *move)
{
    for (uint64_t page = move->first; page < move->end; page++)
        um_page_arrived(m, move->array, page);
}

static void arrive_all(struct sim_machine *m, uint64_t transfer, bool by_batch)
{
    struct memory *mem = &m->memory;
    size_t first = 0, end;

    while (mem->moves.at[first].transfer != transfer)
        first++;
    for (end = first; end < mem->moves.len && mem->moves.at[end].transfer == transfer; end++)
        arrive(m, &mem->moves.at[end]);
    for (size_t i = first; i < end && !by_batch; i++)
        wake_all(m, &mem->moves.at[i]);
    memmove(mem->moves.at + first, mem->moves.at + end,
            (mem->moves.len - end) * sizeof *mem->moves.at);
    mem->moves.len -= end - first;
}

static void move_in_done(struct sim_machine *m, const struct sim_transfer_record *r, uint64_t move)
{
    array_at(m, r->array)->inbound--;
    if (m->memory.demand) {
        arrive_all(m, move, r->kind == SIM_T_FAULT);
        um_fault_arrived(m, r->kind == SIM_T_FAULT);
        um_host_retry(m, r->array);
    } else {
        attach_settle(&m->memory, array_at(m, r->array));
    }
    memory_release_id(&m->memory, r->array);
}

uint64_t um_move_done(struct sim_machine *m, const struct sim_transfer_record *r, uint64_t move)
{
    if (r->to_device) {
        move_in_done(m, r, move);
        return 0;
    }
    if (r->kind == SIM_T_EVICT)
        m->memory.evictions--;
    array_at(m, r->array)->outbound--;
    attach_settle(&m->memory, array_at(m, r->array));
    memory_release_id(&m->memory, r->array);
    if (m->memory.demand)
        um_fault_left(m);
    return r->kind == SIM_T_FAULT ? r->ticket : 0;
}
