#include "sim/um_room.h"
#include "sim/attach.h"
#include "sim/base/bits.h"
#include "sim/demand.h"
#include "sim/machine.h"
#include "sim/um.h"

#include <inttypes.h>
#include <stdlib.h>

static void send_home(struct sim_machine *m, uint32_t array, uint64_t pages)
{
    struct sim_transfer_record r = {.array = array,
                                    .kind = SIM_T_EVICT,
                                    .bytes = pages * m->memory.page_bytes,
                                    .queued_ps = m->now_ps};

    if (pages == 0 || m->mode == SIM_VALUES)
        return;
    m->memory.arrays.at[array].outbound++;
    m->memory.evictions++;
    link_submit(m, &r, true, 0);
}

static void count_evicted(struct sim_machine *m, uint64_t pages, uint64_t dirty)
{
    if (m->mode == SIM_VALUES)
        return;
    m->memory.totals.evictions += pages;
    m->memory.totals.write_backs += dirty;
}

/* ---- without page faults: arrays -------------------------------------------------------- */

static bool evictable(const struct memory *mem, const struct sim_array *a)
{
    return a->live && a->kind == SIM_MANAGED && a->pinned == 0 && a->device_pages > 0 &&
           !attach_held(mem, a);
}

static int by_use(const void *a, const void *b)
{
    const struct array_use *x = a, *y = b;

    if (x->last_use != y->last_use)
        return x->last_use < y->last_use ? -1 : 1;
    return (x->array > y->array) - (x->array < y->array);
}

/* With those that are in use now, which may not be later, and those that the launch in hand is about to claim. */
static bool make_order(struct memory *mem)
{
    struct use_order *o = &mem->order;

    o->list.len = o->head = 0;
    o->clock = mem->use_clock;
    for (uint32_t i = 0; i < mem->arrays.len; i++) {
        const struct sim_array *a = &mem->arrays.at[i];
        uint64_t use = attach_last_use(mem, a);

        if (a->live && a->kind == SIM_MANAGED && (a->device_pages > 0 || use == o->clock) &&
            !vec_push(&o->list, ((struct array_use){use, i})))
            return false;
    }
    if (o->list.len > 1)
        qsort(o->list.at, o->list.len, sizeof *o->list.at, by_use);
    return true;
}

/* The first array of the order that may go; NULL if there is none, or if the order does not hold any more. */
static struct sim_array *first_of_order(struct memory *mem)
{
    struct use_order *o = &mem->order;

    for (size_t i = o->head; i < o->list.len; i++) {
        struct sim_array *a = &mem->arrays.at[o->list.at[i].array];
        uint64_t use = attach_last_use(mem, a);
        bool gone = !a->live || (a->device_pages == 0 && use < o->clock);
        bool later = use != o->list.at[i].last_use;

        if (!gone && later && use <= o->clock)
            return NULL; /* by an attachment to what was used then */
        if (i == o->head && (gone || later))
            o->head++;
        if (!later && evictable(mem, a))
            return a;
    }
    return NULL;
}

/* There is one; NULL when memory is short. */
static struct sim_array *least_recently_used(struct memory *mem)
{
    struct sim_array *a = first_of_order(mem);

    return a || !make_order(mem) ? a : first_of_order(mem);
}

/* Whether arrays of that many bytes could go. */
static bool can_evict(const struct memory *mem, uint64_t bytes)
{
    const struct use_order *o = &mem->order;
    uint64_t pages = 0;

    for (size_t i = o->head; i < o->list.len && pages * mem->page_bytes < bytes; i++) {
        const struct sim_array *a = &mem->arrays.at[o->list.at[i].array];

        pages += evictable(mem, a) ? a->device_pages : 0;
    }
    if (pages * mem->page_bytes >= bytes)
        return true;
    pages = 0;
    for (size_t i = 0; i < mem->arrays.len; i++)
        if (evictable(mem, &mem->arrays.at[i]))
            pages += mem->arrays.at[i].device_pages;
    return pages * mem->page_bytes >= bytes;
}

static void evict_array_pages(struct sim_machine *m, struct sim_array *a, uint64_t count)
{
    struct page_change c = pages_evict(a, count);

    m->memory.device_bytes -= c.changed * m->memory.page_bytes;
    count_evicted(m, c.changed, c.moved);
    send_home(m, (uint32_t)(a - m->memory.arrays.at), c.moved);
    attach_settle(&m->memory, a);
}

bool um_room_of_arrays(struct sim_machine *m, uint64_t bytes)
{
    struct memory *mem = &m->memory;
    uint64_t capacity = m->config.dram_bytes;

    if (bytes <= capacity && mem->device_bytes <= capacity - bytes)
        return true;
    if (bytes > capacity || !can_evict(mem, mem->device_bytes - (capacity - bytes)))
        return false;
    while (mem->device_bytes > capacity - bytes) {
        uint64_t excess = mem->device_bytes - (capacity - bytes);
        struct sim_array *a = least_recently_used(mem);

        if (!a) {
            machine_out_of_memory(m);
            return false;
        }
        evict_array_pages(m, a, bits_ceil_div(excess, mem->page_bytes));
    }
    return true;
}

/* ---- with page faults: pages ------------------------------------------------------------ */

/* Dirty pages that lie behind each other go as one transfer. */
struct run {
    uint32_t array;
    uint64_t next, pages;
};

static void add_dirty(struct sim_machine *m, struct run *run, uint32_t array, uint64_t page)
{
    if (run->pages > 0 && run->array == array && run->next == page) {
        run->pages++;
    } else {
        send_home(m, run->array, run->pages);
        *run = (struct run){.array = array, .pages = 1};
    }
    run->next = page + 1;
}

/* Pages that are not to go. */
struct spared {
    bool in_flight; /* those of arrays that pending commands use */
    uint32_t array; /* and those of a range of this one, if there is a range */
    const struct page_range *range;
};

static bool is_spared(const struct memory *mem, const struct frame *f, const struct spared *s)
{
    if (s->in_flight && mem->arrays.at[f->array].in_flight > 0)
        return true;
    return s->range && f->array == s->array && f->page >= s->range->first && f->page < s->range->end;
}

uint64_t um_free_pages(const struct sim_machine *m)
{
    return (m->config.dram_bytes - m->memory.device_bytes) / m->memory.page_bytes;
}

/* Returns for how many of the pages there is room. */
static uint64_t evict_pages(struct sim_machine *m, uint64_t pages, const struct spared *spared)
{
    struct memory *mem = &m->memory;
    uint64_t room = um_free_pages(m);
    struct run run = {0};

    for (uint32_t i = mem->frames.oldest, newer; i != FRAME_NONE && room < pages; i = newer) {
        struct frame f = mem->frames.at.at[i];
        bool dirty;

        newer = f.newer;
        if (is_spared(mem, &f, spared))
            continue;
        dirty = demand_leave(mem, &mem->arrays.at[f.array], f.page);
        if (dirty)
            add_dirty(m, &run, f.array, f.page);
        count_evicted(m, 1, dirty);
        room++;
    }
    send_home(m, run.array, run.pages);
    return room < pages ? room : pages;
}

/* Whether there would be room for all of the pages. */
static bool would_fit(const struct sim_machine *m, uint64_t pages, const struct spared *spared)
{
    const struct memory *mem = &m->memory;
    uint64_t room = um_free_pages(m);

    for (uint32_t i = mem->frames.oldest; i != FRAME_NONE && room < pages;
         i = mem->frames.at.at[i].newer)
        room += !is_spared(mem, &mem->frames.at.at[i], spared);
    return room >= pages;
}

/*
 * While uses do not count, wavefronts may be ahead with loads from what pending commands use; then
 * there is room for all, but shortly after one array too many was made.
 */
uint64_t um_room_of_pages(struct sim_machine *m, uint64_t pages)
{
    return evict_pages(m, pages, &(struct spared){.in_flight = !m->memory.counts_uses});
}

bool um_room_for_range(struct sim_machine *m, uint64_t pages, uint32_t array,
                       const struct page_range *range)
{
    const struct spared spared = {!m->memory.counts_uses, array, range};

    return would_fit(m, pages, &spared) && evict_pages(m, pages, &spared) == pages;
}

/* ---- device arrays ------------------------------------------------------------------------ */

/* It takes its room at once, which kernels that run must not notice. */
static bool room_for_device_array(struct sim_machine *m, uint64_t bytes)
{
    uint64_t pages = bits_ceil_div(bytes, m->memory.page_bytes);
    const struct spared spared = {.in_flight = true};

    if (!m->memory.demand)
        return um_room_of_arrays(m, bytes);
    return would_fit(m, pages, &spared) && evict_pages(m, pages, &spared) == pages;
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
    if (!room_for_device_array(m, bytes))
        return hd_error_set(
            err, HD_BAD_INPUT, "device-memory-in-use", NULL, "wait for the kernels that run",
            "device array %s needs %" PRIu64 " bytes, which kernels that run are using", name,
            bytes);
    return HD_OK;
}
