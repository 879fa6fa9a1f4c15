/* The handler of page faults: batches, and their service. */
#include "sim/um_handler.h"
#include "sim/demand.h"
#include "sim/device.h"
#include "sim/um.h"
#include "sim/um_room.h"

#include <stdlib.h>

struct um_faults *um_faults_new(void)
{
    struct um_faults *f = calloc(1, sizeof *f);

    if (f && !fault_buffer_init(&f->buffer)) {
        free(f);
        return NULL;
    }
    return f;
}

void um_faults_free(struct um_faults *f)
{
    if (!f)
        return;
    fault_buffer_free(&f->buffer);
    vec_free(&f->batch);
    vec_free(&f->blocks);
    vec_free(&f->keys);
    free(f);
}

bool um_faults_copy(struct um_faults *to, const struct um_faults *from)
{
    to->phase = from->phase;
    to->since_ps = from->since_ps;
    to->pages = from->pages;
    to->transfers = from->transfers;
    return fault_buffer_copy(&to->buffer, &from->buffer) && vec_copy(&to->batch, &from->batch) &&
           vec_copy(&to->blocks, &from->blocks);
}

static uint32_t pages_a_block(const struct sim_machine *m)
{
    return BLOCK_BYTES / m->memory.page_bytes;
}

static struct sim_array *array_at(struct sim_machine *m, uint32_t id)
{
    return &m->memory.arrays.at[id];
}

/* ---- batches ------------------------------------------------------------------------------ */

static void read_batch(struct sim_machine *m);

void um_handler_wake(struct sim_machine *m, uint64_t cycle)
{
    struct um_faults *f = m->faults;

    if (f->phase != PHASE_IDLE)
        return;
    f->phase = PHASE_WAKE;
    machine_schedule(m, clock_edge(&m->core, cycle) + m->config.um_fault_latency * PS_PER_NS,
                     UNIT_FAULT, EV_FAULT, 0, 0);
}

static void end_batch(struct sim_machine *m)
{
    struct um_faults *f = m->faults;

    for (size_t i = 0; i < f->batch.len; i++) {
        if (fault_page_at(&f->buffer, f->batch.at[i])->served)
            um_replay(m, f->batch.at[i]);
        else
            um_forget_entries(fault_page_at(&f->buffer, f->batch.at[i]));
    }
    f->batch.len = 0;
    m->memory.totals.handler_busy_ps += m->now_ps - f->since_ps;
    um_replay_ready(m);
    read_batch(m);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct batch_key *)a)->key, y = ((const struct batch_key *)b)->key;

    return (x > y) - (x < y);
}

void um_sort_keys(struct um_faults *f)
{
    if (f->keys.len > 1)
        qsort(f->keys.at, f->keys.len, sizeof *f->keys.at, by_key);
}

static bool sort_batch(struct um_faults *f)
{
    f->keys.len = 0;
    for (size_t i = 0; i < f->batch.len; i++) {
        const struct fault_page *p = fault_page_at(&f->buffer, f->batch.at[i]);

        if (!vec_push(&f->keys,
                      ((struct batch_key){(uint64_t)p->array << 32 | p->page, f->batch.at[i]})))
            return false;
    }
    um_sort_keys(f);
    for (size_t i = 0; i < f->batch.len; i++)
        f->batch.at[i] = f->keys.at[i].record;
    f->keys.len = 0;
    return true;
}

static bool find_blocks(struct sim_machine *m)
{
    struct um_faults *f = m->faults;
    uint32_t block = pages_a_block(m);

    f->blocks.len = 0;
    for (size_t i = 0; i < f->batch.len; i++) {
        const struct fault_page *p = fault_page_at(&f->buffer, f->batch.at[i]);
        uint32_t first = p->page / block * block;
        struct fault_block *last = f->blocks.len ? &f->blocks.at[f->blocks.len - 1] : NULL;

        if (!last || last->array != p->array || last->first != first) {
            if (!vec_push(&f->blocks,
                          ((struct fault_block){.array = p->array, .run = p->run, .first = first})))
                return false;
            last = &f->blocks.at[f->blocks.len - 1];
        }
        last->faults.bits[(p->page - first) / 64] |= UINT64_C(1) << (p->page - first) % 64;
    }
    return true;
}

/* A page that a prefetch is bringing by now is waited for. */
static bool comes_anyway(struct sim_machine *m, struct fault_page *p)
{
    const struct sim_array *a = array_at(m, p->array);

    if (p->taken || !a->live || !page_coming(a, p->page))
        return false;
    um_forget_entries(p);
    return true;
}

/* Takes the entries of a batch; those of one page are one record. Notes the kernels that they are of. */
static bool take_entries(struct sim_machine *m, uint64_t *runs)
{
    struct um_faults *f = m->faults;
    uint32_t most = m->config.um_fault_batch < m->config.um_fault_buffer ? m->config.um_fault_batch
                                                                         : m->config.um_fault_buffer;
    struct fault_entry e;

    for (uint32_t n = 0; n < most && fault_buffer_take(&f->buffer, &e);) {
        struct fault_page *p = fault_page_at(&f->buffer, e.record);

        if (comes_anyway(m, p))
            continue;
        n++;
        runs[e.run / 64] |= UINT64_C(1) << e.run % 64;
        if (p->taken)
            continue;
        p->taken = true;
        p->served = false;
        if (!vec_push(&f->batch, e.record))
            return false;
    }
    return true;
}

static void read_batch(struct sim_machine *m)
{
    struct um_faults *f = m->faults;
    uint64_t runs[RESIDENT_MAX / 64] = {0}, cost;

    f->phase = PHASE_IDLE;
    if (!take_entries(m, runs)) {
        machine_out_of_memory(m);
        return;
    }
    if (f->batch.len == 0)
        return;
    if (!sort_batch(f) || !find_blocks(m)) {
        machine_out_of_memory(m);
        return;
    }
    for (uint32_t i = 0; i < m->device->nruns; i++)
        m->device->runs[i].c.fault_batches += runs[i / 64] >> i % 64 & 1;
    m->memory.totals.fault_batches++;
    cost = m->config.um_fault_batch_cost + (uint64_t)f->blocks.len * m->config.um_fault_block_cost;
    f->since_ps = m->now_ps;
    f->phase = PHASE_SERVE;
    machine_schedule(m, m->now_ps + cost * PS_PER_NS, UNIT_FAULT, EV_FAULT, 0, 0);
}

/* ---- service ------------------------------------------------------------------------------ */

static uint32_t block_length(const struct sim_machine *m, const struct sim_array *a, uint64_t first)
{
    uint64_t left = a->npages - first;

    return left < pages_a_block(m) ? (uint32_t)left : pages_a_block(m);
}

static void come(struct sim_machine *m, struct sim_array *a, struct fault_block *k, uint32_t page)
{
    m->faults->pages++;
    if (demand_come(m, a, k->first + page))
        k->moving.bits[page / 64] |= UINT64_C(1) << page % 64;
}

static uint64_t pages_to_come(struct sim_machine *m)
{
    const struct um_faults *f = m->faults;
    uint64_t count = 0;

    for (size_t i = 0; i < f->batch.len; i++) {
        const struct fault_page *p = fault_page_at(&f->buffer, f->batch.at[i]);
        const struct sim_array *a = array_at(m, p->array);

        count += a->live && !page_on_device(a, p->page);
    }
    return count;
}

/* The block of a record, which is k or comes after it: blocks and records are in order of pages. */
static struct fault_block *block_from(struct fault_block *k, const struct fault_page *p,
                                      uint32_t pages)
{
    while (k->array != p->array || k->first != p->page / pages * pages)
        k++;
    return k;
}

/* Brings the pages of the batch, as many as there is room for. Returns how many records are served. */
static size_t bring_faults(struct sim_machine *m, uint64_t room)
{
    struct um_faults *f = m->faults;
    struct fault_block *k = f->blocks.at;
    size_t served = 0;

    for (size_t i = 0; i < f->batch.len; i++) {
        struct fault_page *p = fault_page_at(&f->buffer, f->batch.at[i]);
        struct sim_array *a = array_at(m, p->array);
        bool comes = a->live && !page_on_device(a, p->page);

        if ((comes && room == 0) || (a->live && page_coming(a, p->page)))
            continue;
        if (comes) {
            k = block_from(k, p, pages_a_block(m));
            come(m, a, k, (uint32_t)(p->page - k->first));
            room--;
        }
        p->served = true;
        served++;
    }
    return served;
}

/* The pages that come along, as far as they need no eviction. */
static void bring_tree(struct sim_machine *m, struct fault_block *k)
{
    struct sim_array *a = array_at(m, k->array);
    uint32_t leaf = m->config.um_prefetch_leaf / m->memory.page_bytes, n;
    struct block_pages there = {{0}}, grown = k->faults;

    if (!m->config.um_prefetch_tree || !a->live)
        return;
    n = block_length(m, a, k->first);
    for (uint32_t i = 0; i < n; i++)
        there.bits[i / 64] |= (uint64_t)page_on_device(a, k->first + i) << i % 64;
    for (uint32_t w = 0; w < BLOCK_WORDS; w++)
        grown.bits[w] &= there.bits[w];
    prefetch_tree_grow(&grown, &there, n, leaf ? leaf : 1, m->config.um_prefetch_percent);
    for (uint32_t i = 0; i < n; i++)
        if (page_bit(grown.bits, i) && !page_on_device(a, k->first + i) && um_free_pages(m) > 0)
            come(m, a, k, i);
}

static void send_run(struct sim_machine *m, const struct fault_block *k, uint32_t first,
                     uint32_t end)
{
    const struct kernel_run *run = &m->device->runs[k->run];
    const struct sim_transfer_record r = {.ticket = run->ticket,
                                          .tag = run->tag,
                                          .queue = run->queue,
                                          .kind = SIM_T_FAULT,
                                          .queued_ps = m->faults->since_ps};
    struct um_claim c = {.array = k->array,
                         .pages = {k->first + first, k->first + end},
                         .move_bytes = (uint64_t)(end - first) * m->memory.page_bytes};

    m->device->runs[k->run].c.fault_bytes += c.move_bytes;
    m->memory.totals.fault_bytes += c.move_bytes;
    m->faults->transfers++;
    um_send_pages(m, &c, 1, &r);
}

static void send_block(struct sim_machine *m, const struct fault_block *k)
{
    uint32_t n = pages_a_block(m);

    for (uint32_t first = 0, end; first < n; first = end + 1) {
        for (end = first; end < n && page_bit(k->moving.bits, end); end++)
            continue;
        if (end > first)
            send_run(m, k, first, end);
    }
}

static bool waits_to_leave(const struct sim_machine *m)
{
    const struct um_faults *f = m->faults;

    if (m->memory.evictions > 0)
        return true;
    for (size_t i = 0; i < f->blocks.len; i++)
        if (m->memory.arrays.at[f->blocks.at[i].array].outbound > 0)
            return true;
    return false;
}

static void send_batch(struct sim_machine *m)
{
    struct um_faults *f = m->faults;

    f->phase = PHASE_LEAVE;
    if (waits_to_leave(m))
        return;
    f->phase = PHASE_ARRIVE;
    for (size_t i = 0; i < f->blocks.len; i++)
        send_block(m, &f->blocks.at[i]);
    if (f->transfers == 0)
        end_batch(m);
}

/* Pages that come can be evicted when they are there. */
static void wait_for_room(struct sim_machine *m)
{
    const struct memory *mem = &m->memory;
    uint64_t arrived = (uint64_t)mem->frames.count * mem->page_bytes;

    m->faults->phase = PHASE_ROOM;
    if (mem->device_bytes - mem->explicit_bytes == arrived && mem->evictions == 0 && !mem->uses_due)
        machine_fail(m, HD_BAD_INPUT, "device-memory", NULL, "free device arrays",
                     "a page that a kernel touches has no room beside the device arrays");
}

static void serve_batch(struct sim_machine *m)
{
    struct um_faults *f = m->faults;
    uint64_t room = um_room_of_pages(m, pages_to_come(m));

    f->pages = 0;
    if (bring_faults(m, room) == 0) {
        wait_for_room(m);
        return;
    }
    for (size_t i = 0; i < f->blocks.len; i++)
        bring_tree(m, &f->blocks.at[i]);
    f->phase = PHASE_MAP;
    machine_schedule(m, m->now_ps + f->pages * m->config.um_fault_page_cost * PS_PER_NS, UNIT_FAULT,
                     EV_FAULT, 0, 0);
}

void um_fault_event(struct sim_machine *m, const struct event *e)
{
    (void)e;
    if (m->faults->phase == PHASE_WAKE)
        read_batch(m);
    else if (m->faults->phase == PHASE_SERVE)
        serve_batch(m);
    else
        send_batch(m);
}

void um_fault_arrived(struct sim_machine *m, bool by_batch)
{
    struct um_faults *f = m->faults;

    if (!by_batch)
        um_replay_arrived(m);
    else if (--f->transfers == 0)
        end_batch(m);
    if (f->phase == PHASE_ROOM)
        serve_batch(m);
}

void um_fault_left(struct sim_machine *m)
{
    if (m->faults->phase == PHASE_LEAVE)
        send_batch(m);
    else if (m->faults->phase == PHASE_ROOM)
        serve_batch(m);
}

/* ---- values only -------------------------------------------------------------------------- */

static void touch_page(struct sim_machine *m, struct sim_array *a, uint64_t page, bool write)
{
    uint32_t block = pages_a_block(m);
    struct fault_block k = {.array = (uint32_t)(a - m->memory.arrays.at),
                            .first = page / block * block};

    if (!page_on_device(a, page)) {
        if (um_room_of_pages(m, 1) == 0) {
            wait_for_room(m);
            return;
        }
        k.faults.bits[(page - k.first) / 64] = UINT64_C(1) << (page - k.first) % 64;
        come(m, a, &k, (uint32_t)(page - k.first));
        bring_tree(m, &k);
    }
    demand_use(&m->memory, a, page);
    if (write)
        demand_write(&m->memory, a, page);
}

void um_touch(struct sim_machine *m, struct sim_array *a, uint64_t first, uint64_t last, bool write)
{
    uint64_t end = last / m->memory.page_bytes + 1;

    for (uint64_t page = first / m->memory.page_bytes; page < end && m->fault.status == HD_OK;
         page++)
        touch_page(m, a, page, write);
}
