#include "sim/um.h"
#include "sim/base/bits.h"
#include "sim/base/checked.h"
#include "sim/machine.h"
#include "sim/pages.h"

#include <inttypes.h>

static struct sim_array *array_at(struct sim_machine *m, uint32_t id)
{
    return &m->memory.arrays.at[id];
}

/* ---- room on the device ---------------------------------------------------------------- */

static bool evictable(const struct sim_array *a)
{
    return a->live && a->kind == SIM_MANAGED && a->pinned == 0 && a->device_pages > 0;
}

static struct sim_array *least_recently_used(struct memory *mem)
{
    struct sim_array *oldest = NULL;

    for (size_t i = 0; i < mem->arrays.len; i++) {
        struct sim_array *a = &mem->arrays.at[i];

        if (evictable(a) && (!oldest || a->last_use < oldest->last_use))
            oldest = a;
    }
    return oldest;
}

static uint64_t evictable_bytes(const struct memory *mem)
{
    uint64_t pages = 0;

    for (size_t i = 0; i < mem->arrays.len; i++)
        if (evictable(&mem->arrays.at[i]))
            pages += mem->arrays.at[i].device_pages;
    return pages * mem->page_bytes;
}

static void evict_pages(struct sim_machine *m, struct sim_array *a, uint64_t count)
{
    struct memory *mem = &m->memory;
    struct page_change c = pages_evict(a, count);
    struct sim_transfer_record r = {.array = (uint32_t)(a - mem->arrays.at),
                                    .kind = SIM_T_EVICT,
                                    .bytes = c.moved * mem->page_bytes,
                                    .queued_ps = m->now_ps};

    mem->device_bytes -= c.changed * mem->page_bytes;
    if (c.moved == 0 || m->mode == SIM_VALUES)
        return;
    a->outbound++;
    mem->evictions++;
    link_submit(m, &r, true);
}

/* Frees `bytes` of device memory, or, when that is not possible now, nothing. */
static bool make_room(struct sim_machine *m, uint64_t bytes)
{
    struct memory *mem = &m->memory;
    uint64_t capacity = m->config.dram_bytes;

    if (bytes > capacity || mem->device_bytes - evictable_bytes(mem) > capacity - bytes)
        return false;
    while (mem->device_bytes > capacity - bytes) {
        uint64_t excess = mem->device_bytes - (capacity - bytes);

        evict_pages(m, least_recently_used(mem), bits_ceil_div(excess, mem->page_bytes));
    }
    return true;
}

enum hd_status um_make_room(struct sim_machine *m, const char *name, uint64_t bytes,
                            struct hd_error *err)
{
    uint64_t capacity = m->config.dram_bytes, taken = m->memory.explicit_bytes;

    if (bytes > capacity - taken)
        return hd_error_set(err, HD_BAD_INPUT, "device-memory", NULL,
                            "free other device arrays, or use managed ones",
                            "device array %s needs %" PRIu64 " bytes, the device has %" PRIu64
                            " (dram.bytes) of which %" PRIu64 " are taken by other device arrays",
                            name, bytes, capacity, taken);
    if (!make_room(m, bytes))
        return hd_error_set(
            err, HD_BAD_INPUT, "device-memory-in-use", NULL, "wait for the kernels that run",
            "device array %s needs %" PRIu64 " bytes, which kernels that run are using", name,
            bytes);
    return HD_OK;
}

/* ---- what a launch can see ------------------------------------------------------------- */

static bool attached_to(const struct sim_array *a, uint32_t queue)
{
    return a->attached == SIM_ATTACH_GLOBAL || (a->attached >= 0 && (uint32_t)a->attached == queue);
}

/*
 * Marks what the launch can see with a new value of the clock of uses, which it returns: the use
 * that eviction goes by, and a set in which an argument that is given twice is once.
 */
static uint64_t mark_visible(struct sim_machine *m, uint32_t queue, const struct sim_launch *launch)
{
    struct memory *mem = &m->memory;
    uint64_t use = ++mem->use_clock;

    for (uint32_t i = 0; i < launch->narrays; i++)
        array_at(m, launch->arrays[i])->last_use = use;
    for (size_t i = 0; i < mem->arrays.len; i++)
        if (mem->arrays.at[i].live && attached_to(&mem->arrays.at[i], queue))
            mem->arrays.at[i].last_use = use;
    return use;
}

static bool visible(const struct sim_array *a, uint64_t use)
{
    return a->live && a->kind == SIM_MANAGED && a->last_use == use;
}

static bool is_argument(const struct sim_launch *launch, uint32_t id)
{
    for (uint32_t i = 0; i < launch->narrays; i++)
        if (launch->arrays[i] == id)
            return true;
    return false;
}

enum hd_status um_check_launch(struct sim_machine *m, uint32_t queue,
                               const struct sim_launch *launch, struct hd_error *err)
{
    struct memory *mem = &m->memory;
    uint64_t pages = 0, capacity = m->config.dram_bytes - mem->explicit_bytes;

    if (m->config.um_page_faults)
        return HD_OK;
    for (size_t i = 0; i < mem->arrays.len; i++) {
        const struct sim_array *a = &mem->arrays.at[i];

        if (a->live && a->kind == SIM_MANAGED &&
            (attached_to(a, queue) || is_argument(launch, (uint32_t)i)))
            pages += a->npages;
    }
    if (pages <= capacity / mem->page_bytes)
        return HD_OK;
    return hd_error_set(
        err, HD_BAD_INPUT, "device-memory", NULL,
        "a device without page faults (um.page_faults) holds all arrays that a launch can see",
        "kernel %s needs %" PRIu64 " bytes for the arrays that it can see, the device has %" PRIu64
        " (dram.bytes) without its device arrays",
        launch->kernel->name, pages * mem->page_bytes, capacity);
}

/* ---- claims ---------------------------------------------------------------------------- */

static bool claim(struct sim_machine *m, uint32_t id, struct page_range r, struct um_claims *claims)
{
    struct memory *mem = &m->memory;
    struct sim_array *a = array_at(m, id);
    struct page_change c;

    if (!vec_push(&claims->list, ((struct um_claim){.array = id})))
        return false;
    c = pages_to_device(a, r);
    mem->device_bytes += c.changed * mem->page_bytes;
    a->pinned++;
    if (c.moved == 0 || m->mode == SIM_VALUES)
        return true;
    claims->list.at[claims->list.len - 1].move_bytes = c.moved * mem->page_bytes;
    a->inbound++;
    return true;
}

/* Makes room without evicting what is about to be claimed. */
static bool make_room_beside(struct sim_machine *m, uint64_t use, uint64_t bytes)
{
    struct memory *mem = &m->memory;
    bool room;

    for (size_t i = 0; i < mem->arrays.len; i++)
        if (visible(&mem->arrays.at[i], use))
            mem->arrays.at[i].pinned++;
    room = make_room(m, bytes);
    for (size_t i = 0; i < mem->arrays.len; i++)
        if (visible(&mem->arrays.at[i], use))
            mem->arrays.at[i].pinned--;
    return room;
}

enum um_outcome um_claim_launch(struct sim_machine *m, uint32_t queue,
                                const struct sim_launch *launch, struct um_claims *claims)
{
    struct memory *mem = &m->memory;
    struct hd_error err;
    uint64_t use, missing = 0;

    /* Arrays may have been attached since the launch was submitted. */
    if (um_check_launch(m, queue, launch, &err)) {
        machine_fail(m, HD_SIM_FAILED, err.code, NULL, err.hint, "%s", err.message);
        return UM_FAILED;
    }
    use = mark_visible(m, queue, launch);
    for (size_t i = 0; i < mem->arrays.len; i++)
        if (visible(&mem->arrays.at[i], use))
            missing += mem->arrays.at[i].npages - mem->arrays.at[i].device_pages;
    if (!make_room_beside(m, use, missing * mem->page_bytes))
        return UM_NO_ROOM;
    for (size_t i = 0; i < mem->arrays.len; i++)
        if (visible(&mem->arrays.at[i], use) &&
            !claim(m, (uint32_t)i, pages_all(&mem->arrays.at[i]), claims)) {
            machine_out_of_memory(m);
            return UM_FAILED;
        }
    return UM_CLAIMED;
}

enum um_outcome um_claim_prefetch(struct sim_machine *m, const struct sim_copy *range,
                                  struct um_claims *claims)
{
    struct sim_array *a = array_at(m, range->array);
    struct page_range r = pages_of(&m->memory, a, range->offset, range->bytes);
    uint64_t use = ++m->memory.use_clock;

    a->last_use = use;
    if (!make_room_beside(m, use, pages_missing(a, r) * m->memory.page_bytes))
        return UM_NO_ROOM;
    if (!claim(m, range->array, r, claims)) {
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

void um_move_in(struct sim_machine *m, const struct um_claims *claims,
                const struct sim_transfer_record *common)
{
    for (size_t i = 0; i < claims->list.len; i++) {
        struct sim_transfer_record r = *common;

        if (claims->list.at[i].move_bytes == 0)
            continue;
        r.array = claims->list.at[i].array;
        r.bytes = claims->list.at[i].move_bytes;
        r.to_device = true;
        r.queued_ps = m->now_ps;
        link_submit(m, &r, true);
    }
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
}

void um_written(struct sim_machine *m, uint32_t array)
{
    struct sim_array *a = array_at(m, array);

    if (a->kind == SIM_MANAGED)
        pages_written(a, pages_all(a));
}

/* ---- host accesses --------------------------------------------------------------------- */

/* Changes the states; returns what that takes of the device. */
static struct page_change take_to_host(struct sim_machine *m, const struct sim_host_access *h)
{
    struct memory *mem = &m->memory;
    struct sim_array *a = array_at(m, h->array);
    struct page_change c;

    if (h->whole)
        pages_discard(a, pages_within(mem, a, h->offset, h->bytes));
    c = pages_to_host(a, pages_of(mem, a, h->offset, h->bytes));
    mem->device_bytes -= c.changed * mem->page_bytes;
    return c;
}

/*
 * An access that finds any of its pages on the device takes one fault, however many they are; then
 * the dirty ones move as one transfer. The clean ones need the fault alone.
 */
uint64_t sim_host_access(struct sim_machine *m, const struct sim_host_access *h)
{
    struct sim_array *a = memory_array(&m->memory, h->array);
    struct host_fault f = {.array = h->array, .queued_ps = m->now_ps};
    struct page_change c;

    if (!a || a->kind != SIM_MANAGED)
        return 0;
    c = take_to_host(m, h);
    if (c.changed == 0 || h->untimed || m->mode == SIM_VALUES)
        return 0;
    f.ticket = queues_new_ticket(m);
    f.bytes = c.moved * m->memory.page_bytes;
    if (!vec_push(&m->memory.host_faults, f)) {
        machine_out_of_memory(m);
        return f.ticket;
    }
    a->outbound++;
    machine_schedule(m, m->now_ps + m->config.um_host_fault * PS_PER_NS, UNIT_QUEUE, EV_TICKET, 0,
                     f.ticket);
    return f.ticket;
}

static struct host_fault take_host_fault(struct memory *mem, uint64_t ticket)
{
    size_t i = 0;
    struct host_fault f;

    while (mem->host_faults.at[i].ticket != ticket)
        i++;
    f = mem->host_faults.at[i];
    mem->host_faults.at[i] = mem->host_faults.at[--mem->host_faults.len];
    return f;
}

static void outbound_done(struct sim_machine *m, uint32_t array)
{
    array_at(m, array)->outbound--;
    memory_release_id(&m->memory, array);
}

uint64_t um_host_fault_served(struct sim_machine *m, uint64_t ticket)
{
    struct host_fault f = take_host_fault(&m->memory, ticket);
    struct sim_transfer_record r = {.ticket = ticket,
                                    .array = f.array,
                                    .kind = SIM_T_FAULT,
                                    .bytes = f.bytes,
                                    .queued_ps = f.queued_ps};

    if (f.bytes > 0) {
        link_submit(m, &r, true);
        return 0;
    }
    outbound_done(m, f.array);
    return ticket;
}

uint64_t um_move_done(struct sim_machine *m, const struct sim_transfer_record *r)
{
    if (r->to_device) {
        array_at(m, r->array)->inbound--;
        memory_release_id(&m->memory, r->array);
        return 0;
    }
    if (r->kind == SIM_T_EVICT)
        m->memory.evictions--;
    outbound_done(m, r->array);
    return r->kind == SIM_T_FAULT ? r->ticket : 0;
}
