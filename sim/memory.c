/*
 * The device's address space. Arrays start on a page and have at least a page that belongs to
 * nobody behind them, and addresses are never given out twice: an access past an end, or to a freed
 * array, hits nothing.
 */
#include "sim/memory.h"
#include "sim/attach.h"
#include "sim/base/bits.h"
#include "sim/demand.h"
#include "sim/base/checked.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    DATA_ALIGN = 64,
    NEAR_BYTES = 1 << 24, /* an address further from any array has nothing to do with it */
};

#define ARRAY_BYTES_MAX (UINT64_C(1) << 40)

/* The first array; a 32-bit number that was taken for an address is below it. */
#define FIRST_ADDRESS (UINT64_C(1) << 32)

void memory_init(struct memory *mem, uint32_t page_bytes, bool demand)
{
    *mem =
        (struct memory){.next_address = FIRST_ADDRESS, .page_bytes = page_bytes, .demand = demand};
    frames_init(&mem->frames);
}

static void free_array(struct sim_array *a)
{
    free(a->block);
    free(a->populated);
    free(a->frame);
    a->block = NULL;
    a->data = NULL;
    a->populated = a->on_device = a->dirty = a->arriving = a->both = NULL;
    a->frame = NULL;
}

void memory_free(struct memory *mem)
{
    for (size_t i = 0; i < mem->arrays.len; i++)
        free_array(&mem->arrays.at[i]);
    vec_free(&mem->arrays);
    vec_free(&mem->retired);
    vec_free(&mem->by_address);
    vec_free(&mem->free_ids);
    vec_free(&mem->host_faults);
    vec_free(&mem->moves);
    vec_free(&mem->attached);
    vec_free(&mem->visible);
    vec_free(&mem->order.list);
    frames_free(&mem->frames);
}

struct sim_array *memory_array(struct memory *mem, uint32_t id)
{
    return id < mem->arrays.len && mem->arrays.at[id].live ? &mem->arrays.at[id] : NULL;
}

/* ---- making and freeing ---------------------------------------------------------------- */

/* The system gives zero pages as they are touched: a large array is cheap until it is used. */
static bool allocate_values(struct sim_array *a)
{
    a->block = calloc(1, a->bytes + 2 * DATA_ALIGN);
    if (!a->block)
        return false;
    a->data = (uint8_t *)a->block + (DATA_ALIGN - (uintptr_t)a->block % DATA_ALIGN) % DATA_ALIGN;
    return true;
}

enum { BITMAPS = 5 };

static bool allocate_frames(struct sim_array *a)
{
    a->frame = malloc(a->npages * sizeof *a->frame);
    if (a->frame)
        memset(a->frame, 0xff, a->npages * sizeof *a->frame);
    return a->frame != NULL;
}

/* The bitmaps are one block that starts with `populated`. */
static bool allocate_pages(struct sim_array *a, bool demand)
{
    size_t words = bits_ceil_div(a->npages, 64);

    if (a->kind == SIM_DEVICE)
        return true;
    a->populated = calloc(BITMAPS * words, sizeof *a->populated);
    if (!a->populated)
        return false;
    a->on_device = a->populated + words;
    a->dirty = a->on_device + words;
    a->arriving = a->dirty + words;
    a->both = a->arriving + words;
    return !demand || allocate_frames(a);
}

static bool copy_array(struct sim_array *to, const struct sim_array *from)
{
    size_t words = bits_ceil_div(from->npages, 64);

    *to = *from;
    to->block = NULL;
    to->data = NULL;
    to->populated = to->on_device = to->dirty = to->arriving = to->both = NULL;
    to->frame = NULL;
    if (from->block) {
        if (!allocate_values(to))
            return false;
        memcpy(to->data, from->data, from->bytes);
    }
    if (from->populated) {
        if (!allocate_pages(to, from->frame != NULL))
            return false;
        memcpy(to->populated, from->populated, BITMAPS * words * sizeof *to->populated);
    }
    if (from->frame) {
        memcpy(to->frame, from->frame, from->npages * sizeof *to->frame);
    }
    return true;
}

/* With the room that arrays may be freed in, which cannot fail. */
static bool copy_lists(struct memory *to, const struct memory *from)
{
    return vec_reserve(&to->retired, MEMORY_RETIRED_MAX) &&
           vec_reserve(&to->free_ids, from->arrays.len + 1) &&
           vec_copy(&to->retired, &from->retired) && vec_copy(&to->by_address, &from->by_address) &&
           vec_copy(&to->free_ids, &from->free_ids) &&
           vec_copy(&to->host_faults, &from->host_faults) && vec_copy(&to->moves, &from->moves) &&
           vec_copy(&to->frames.at, &from->frames.at) && vec_copy(&to->attached, &from->attached);
}

bool memory_copy(struct memory *to, const struct memory *from)
{
    struct memory copy = *from;

    memset(&copy.arrays, 0, sizeof copy.arrays);
    memset(&copy.retired, 0, sizeof copy.retired);
    memset(&copy.by_address, 0, sizeof copy.by_address);
    memset(&copy.free_ids, 0, sizeof copy.free_ids);
    memset(&copy.host_faults, 0, sizeof copy.host_faults);
    memset(&copy.moves, 0, sizeof copy.moves);
    memset(&copy.attached, 0, sizeof copy.attached);
    memset(&copy.visible, 0, sizeof copy.visible);
    memset(&copy.order, 0, sizeof copy.order);
    memset(&copy.frames.at, 0, sizeof copy.frames.at);
    *to = copy;
    if (!copy_lists(to, from) || !vec_reserve(&to->arrays, from->arrays.len))
        return false;
    for (size_t i = 0; i < from->arrays.len; i++) {
        to->arrays.len = i + 1;
        if (!copy_array(&to->arrays.at[i], &from->arrays.at[i]))
            return false;
    }
    return true;
}

static enum hd_status check_description(const struct sim_array_desc *d, struct hd_error *err)
{
    if (d->bytes == 0)
        return hd_error_set(err, HD_BAD_INPUT, "array-empty", NULL,
                            "an array has at least one element", "array %s has no bytes", d->name);
    if (d->elem_bytes > 8 || !bits_is_power_of_two(d->elem_bytes))
        return hd_error_set(err, HD_BAD_INPUT, "array-element", NULL,
                            "elements have 1, 2, 4 or 8 bytes",
                            "array %s has elements of %" PRIu32 " bytes", d->name, d->elem_bytes);
    if (d->bytes > ARRAY_BYTES_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "array-size", NULL, "use several smaller arrays",
                            "array %s has %" PRIu64 " bytes, more than 2^40", d->name, d->bytes);
    return HD_OK;
}

static enum hd_status check_limit(const struct memory *mem, const struct sim_array_desc *d,
                                  struct hd_error *err)
{
    if (mem->max_bytes == 0 ||
        (mem->bytes <= mem->max_bytes && d->bytes <= mem->max_bytes - mem->bytes))
        return HD_OK;
    return hd_error_set(err, HD_SIM_FAILED, "array-memory", NULL,
                        "use smaller arrays, or free those that are done with",
                        "array %s of %" PRIu64 " bytes, beside %" PRIu64
                        " bytes of other arrays, is past the limit of %" PRIu64 " bytes",
                        d->name, d->bytes, mem->bytes, mem->max_bytes);
}

/* Room for one more array in every list, so that nothing fails half-way. */
static bool reserve_one(struct memory *mem)
{
    return vec_reserve(&mem->arrays, mem->arrays.len + 1) &&
           vec_reserve(&mem->by_address, mem->by_address.len + 1) &&
           vec_reserve(&mem->free_ids, mem->arrays.len + 1) &&
           vec_reserve(&mem->retired, MEMORY_RETIRED_MAX);
}

static uint32_t take_id(struct memory *mem)
{
    if (mem->free_ids.len > 0)
        return mem->free_ids.at[--mem->free_ids.len];
    return (uint32_t)mem->arrays.len++;
}

enum hd_status memory_add(struct memory *mem, const struct sim_array_desc *desc, uint32_t *id,
                          struct hd_error *err)
{
    struct sim_array a = {.base = mem->next_address,
                          .bytes = desc->bytes,
                          .elem_bytes = desc->elem_bytes,
                          .kind = desc->kind,
                          .live = true,
                          .attached = SIM_ATTACH_HOST};
    uint64_t next;
    enum hd_status status = check_description(desc, err);

    if (!status)
        status = check_limit(mem, desc, err);
    if (status)
        return status;
    if (!u64_add(a.base, a.bytes, &next) || !u64_add(next, 2 * (uint64_t)mem->page_bytes, &next))
        return hd_error_set(
            err, HD_BAD_INPUT, "array-size", NULL,
            "addresses of freed arrays are not used again: use smaller or fewer arrays",
            "array %s: no addresses are left for %" PRIu64 " bytes", desc->name, desc->bytes);
    snprintf(a.name, sizeof a.name, "%s", desc->name);
    a.npages = bits_ceil_div(a.bytes, mem->page_bytes);
    if (!allocate_values(&a) || !allocate_pages(&a, mem->demand) || !reserve_one(mem)) {
        free_array(&a);
        return hd_no_memory(err, "array %s of %" PRIu64 " bytes", desc->name, desc->bytes);
    }
    mem->next_address = next / mem->page_bytes * mem->page_bytes;
    *id = take_id(mem);
    mem->arrays.at[*id] = a;
    mem->bytes += a.bytes;
    if (a.kind == SIM_MANAGED)
        mem->managed_pages += a.npages;
    if (a.kind == SIM_MANAGED && mem->demand)
        demand_new(mem, &mem->arrays.at[*id]);
    mem->by_address.at[mem->by_address.len++] = *id;
    return HD_OK;
}

static void retire(struct memory *mem, const struct sim_array *a)
{
    size_t i = mem->nretired++ % MEMORY_RETIRED_MAX;

    if (i == mem->retired.len)
        mem->retired.len++;
    mem->retired.at[i] = (struct memory_retired){.base = a->base, .bytes = a->bytes};
    memcpy(mem->retired.at[i].name, a->name, sizeof a->name);
}

/* The number of live arrays that start at or before the address. */
static size_t arrays_from(const struct memory *mem, uint64_t address)
{
    size_t low = 0, high = mem->by_address.len;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (mem->arrays.at[mem->by_address.at[mid]].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void memory_remove(struct memory *mem, uint32_t id)
{
    struct sim_array *a = &mem->arrays.at[id];
    size_t at = arrays_from(mem, a->base);

    memmove(mem->by_address.at + at - 1, mem->by_address.at + at,
            (mem->by_address.len - at) * sizeof *mem->by_address.at);
    mem->by_address.len--;
    mem->bytes -= a->bytes;
    mem->device_bytes -= a->device_pages * mem->page_bytes;
    if (a->kind == SIM_MANAGED)
        mem->managed_pages -= a->npages;
    attach_set(mem, id, SIM_ATTACH_HOST);
    if (a->frame)
        demand_forget(mem, a);
    retire(mem, a);
    free_array(a);
    a->live = false;
    memory_release_id(mem, id);
}

void memory_release_id(struct memory *mem, uint32_t id)
{
    const struct sim_array *a = &mem->arrays.at[id];

    if (!a->live && a->pinned == 0 && a->inbound == 0 && a->outbound == 0)
        mem->free_ids.at[mem->free_ids.len++] = id;
}

/* ---- addresses ------------------------------------------------------------------------- */

struct sim_array *memory_find(struct memory *mem, uint64_t address)
{
    size_t n = arrays_from(mem, address);
    struct sim_array *a;

    if (n == 0)
        return NULL;
    a = &mem->arrays.at[mem->by_address.at[n - 1]];
    return address - a->base < a->bytes ? a : NULL;
}

static bool describe_retired(const struct memory *mem, uint64_t address, char *out, size_t size)
{
    for (size_t i = 0; i < mem->retired.len; i++) {
        const struct memory_retired *r = &mem->retired.at[i];

        if (address - r->base < r->bytes) {
            snprintf(out, size, "byte %" PRIu64 " of array %s, which was freed", address - r->base,
                     r->name);
            return true;
        }
    }
    return false;
}

static void describe_beside(const struct sim_array *a, uint64_t distance, const char *where,
                            char *out, size_t size)
{
    snprintf(out, size, "%" PRIu64 " bytes %s array %s (%" PRIu64 " elements of %" PRIu32 " bytes)",
             distance, where, a->name, a->bytes / a->elem_bytes, a->elem_bytes);
}

void memory_describe(const struct memory *mem, uint64_t address, char *out, size_t size)
{
    size_t n = arrays_from(mem, address);
    uint64_t past = NEAR_BYTES, ahead = NEAR_BYTES;
    const struct sim_array *below = NULL, *above = NULL;

    if (n > 0) {
        below = &mem->arrays.at[mem->by_address.at[n - 1]];
        past = address - (below->base + below->bytes);
    }
    if (n < mem->by_address.len) {
        above = &mem->arrays.at[mem->by_address.at[n]];
        ahead = above->base - address;
    }
    if (address < mem->page_bytes)
        snprintf(out, size, "null%s", address ? " with an offset" : "");
    else if (describe_retired(mem, address, out, size))
        return;
    else if (past >= NEAR_BYTES && ahead >= NEAR_BYTES)
        snprintf(out, size, "in no array");
    else if (past <= ahead)
        describe_beside(below, past, "past the end of", out, size);
    else
        describe_beside(above, ahead, "before", out, size);
}
