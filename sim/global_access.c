/*
 * Global memory: lane addresses, their checks, and the values. An access is classified first: all
 * lanes at one address, or at a constant distance, need no walk over the lanes to be checked and
 * split into lines.
 */
#include "sim/access.h"
#include "sim/lanes_io.h"
#include "sim/um_fault.h"

#include <inttypes.h>
#include <string.h>

static unsigned access_bytes(const struct isa_insn *in)
{
    return isa_type_bytes((enum isa_type)(in->format == ISA_GSTORE ? in->stype : in->dtype));
}

static uint64_t base_address(const struct isa_wave *r, const struct isa_address *a)
{
    uint64_t base = (uint64_t)(int64_t)a->disp;

    if (a->base.kind == ISA_O_S)
        base += r->s[a->base.index] | (uint64_t)r->s[a->base.index + 1] << 32;
    return base;
}

/* Without a base the index is a pair that holds the whole address. */
static void pair_addresses(struct access *x, const uint32_t *index, uint64_t base, unsigned shift)
{
    x->low = UINT64_MAX;
    x->high = x->bits = 0;
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        uint64_t address = base + ((index[lane] | (uint64_t)index[x->width + lane] << 32) << shift);

        x->address[lane] = address;
        x->low = address < x->low ? address : x->low;
        x->high = address > x->high ? address : x->high;
        x->bits |= address;
    }
}

static void general_addresses(struct access *x, struct isa_wave *r, const struct isa_lanes *lanes,
                              uint64_t base)
{
    const struct isa_address *a = &x->in->addr;
    const uint32_t *index = r->v + (size_t)a->index.index * x->width;
    unsigned shift = bits_first(a->scale);
    struct isa_span span;

    x->pattern = ISA_GENERAL;
    if (a->index.words == 2) {
        pair_addresses(x, index, base, shift);
        return;
    }
    span = lanes->span(index, isa_spread(r, x->active, lanes));
    lanes->addresses(x->address, index, base, shift);
    x->low = base + ((uint64_t)span.low << shift);
    x->high = base + ((uint64_t)span.high << shift);
    x->bits = base | (uint64_t)span.bits << shift;
}

/* The same of a uniform or affine access. */
static void regular_span(struct access *x)
{
    x->low = x->first + bits_first(x->active) * x->stride;
    x->high = x->first + bits_last(x->active) * x->stride;
    x->bits = x->first | x->stride;
}

static void find_addresses(struct access *x, struct isa_wave *r, const struct isa_lanes *lanes)
{
    const struct isa_address *a = &x->in->addr;
    uint64_t base = base_address(r, a);
    const uint32_t *index;
    uint32_t stride = 0;

    x->pattern = ISA_UNIFORM;
    x->stride = 0;
    x->first = base;
    if (a->index.kind == ISA_O_NONE) {
        regular_span(x);
        return;
    }
    if (a->index.words == 2) {
        general_addresses(x, r, lanes, base);
        return;
    }
    index = r->v + (size_t)a->index.index * x->width;
    x->pattern = lanes->classify(index, &stride);
    /* Indices are 32 bits wide and wrap; a vector that does is not affine in addresses. */
    if (x->pattern == ISA_GENERAL ||
        (x->pattern == ISA_AFFINE && index[0] + (uint64_t)stride * (x->width - 1) > UINT32_MAX)) {
        general_addresses(x, r, lanes, base);
        return;
    }
    x->first = base + (uint64_t)index[0] * a->scale;
    if (x->pattern == ISA_AFFINE)
        x->stride = (uint64_t)stride * a->scale;
    regular_span(x);
}

/* ---- checks ---- */

static bool inside(const struct sim_array *a, uint64_t address, uint64_t bytes)
{
    return address >= a->base && address - a->base < a->bytes &&
           a->bytes - (address - a->base) >= bytes;
}

/* An array that was given, and never to be written. Arrays that were not given are open to raw addresses. */
static bool is_const(const struct sim_launch *l, uint32_t id)
{
    bool given = false;

    for (uint32_t i = 0; i < l->narrays; i++) {
        if (l->arrays[i] != id)
            continue;
        if (l->writes[i])
            return false;
        given = true;
    }
    return given;
}

/* Whether this instruction would write an array that its kernel may only read. */
static bool forbidden(const struct sim_machine *m, const struct wavefront *w,
                      const struct isa_insn *in, const struct sim_array *a)
{
    return in->format != ISA_GLOAD && is_const(w->run->launch, (uint32_t)(a - m->memory.arrays.at));
}

static void fault_at(struct sim_machine *m, const struct wavefront *w, const struct access *x,
                     unsigned lane)
{
    uint64_t address = lane_address(x, lane);
    const char *what = x->in->format == ISA_GLOAD    ? "load"
                       : x->in->format == ISA_GSTORE ? "store"
                                                     : "atomic";
    const struct sim_array *a;
    char where[256];

    if (address % x->bytes) {
        fault_raise(m, w, (int)lane, "misaligned",
                    "addresses are multiples of the size of the access",
                    "misaligned %s of %u bytes at address 0x%" PRIx64, what, x->bytes, address);
        return;
    }
    a = memory_find(&m->memory, address);
    if (a && inside(a, address, x->bytes) && forbidden(m, w, x->in, a)) {
        fault_raise(m, w, (int)lane, "const-write", "declare the parameter inout in the signature",
                    "%s of %u bytes at address 0x%" PRIx64 ", byte %" PRIu64
                    " of array %s, which the kernel was given as in",
                    what, x->bytes, address, address - a->base, a->name);
        return;
    }
    memory_describe(&m->memory, address, where, sizeof where);
    fault_raise(m, w, (int)lane, "outside-arrays", "mask the lanes that have no element",
                "%s of %u bytes at address 0x%" PRIx64 ", %s", what, x->bytes, address, where);
}

/*
 * The array of an address that the instruction may act on: mostly the one that it met last, which was checked
 * then. NULL if there is none.
 */
static inline struct sim_array *find_array(struct sim_machine *m, const struct wavefront *w,
                                           const struct isa_insn *in, uint64_t address)
{
    uint32_t *cached = &w->run->array_at[in->pc - w->run->kernel->first];
    struct sim_array *a;

    if (*cached) {
        a = &m->memory.arrays.at[*cached - 1];
        if (a->live && address - a->base < a->bytes)
            return a;
    }
    a = memory_find(&m->memory, address);
    if (a && forbidden(m, w, in, a))
        return NULL;
    if (a)
        *cached = (uint32_t)(a - m->memory.arrays.at) + 1;
    return a;
}

static bool lane_ok(struct sim_machine *m, const struct wavefront *w, struct access *x,
                    unsigned lane)
{
    uint64_t address = lane_address(x, lane);

    if (address % x->bytes == 0 && x->array && inside(x->array, address, x->bytes))
        return true;
    if (address % x->bytes == 0) {
        struct sim_array *a = find_array(m, w, x->in, address);

        if (a && inside(a, address, x->bytes)) {
            x->array = a;
            return true;
        }
    }
    fault_at(m, w, x, lane);
    return false;
}

/* All lanes in one array and aligned, seen from the least and the greatest address. */
static bool span_ok(struct sim_machine *m, const struct wavefront *w, struct access *x)
{
    if (x->bits & (x->bytes - 1) || x->high < x->low)
        return false;
    x->array = find_array(m, w, x->in, x->low);
    return x->array && inside(x->array, x->low, x->bytes) && inside(x->array, x->high, x->bytes);
}

/* Checks every active lane before any acts; x->array is left NULL if lanes are in different arrays. */
static bool check(struct sim_machine *m, const struct wavefront *w, struct access *x)
{
    struct sim_array *one = NULL;
    bool several = false;

    if (span_ok(m, w, x))
        return true;
    x->array = NULL;
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        if (!lane_ok(m, w, x, bits_first(rest)))
            return false;
        several = several || (one && one != x->array);
        one = x->array;
    }
    if (several)
        x->array = NULL;
    return true;
}

static uint8_t *lane_data(struct sim_machine *m, const struct access *x, unsigned lane)
{
    uint64_t address = lane_address(x, lane);
    struct sim_array *a = x->array ? x->array : memory_find(&m->memory, address);

    return a->data + (address - a->base);
}

/* ---- values ---- */

/* All lanes, 4 bytes each, one behind the other. */
static bool is_block(const struct access *x)
{
    return x->pattern == ISA_AFFINE && x->stride == 4 && x->bytes == 4 && x->array &&
           x->active == bits_low(x->width);
}

/* 4 bytes each, somewhere in one array. */
static inline void load_words(uint32_t *d, const struct access *x, bool general)
{
    struct lane_addresses at = lane_addresses(x, general);
    const uint8_t *data = x->array->data;
    uint64_t base = x->array->base;

    if (x->active == bits_low(x->width)) {
        for (unsigned lane = 0; lane < x->width; lane++)
            memcpy(&d[lane], data + (address_of(at, lane) - base), 4);
        return;
    }
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);

        memcpy(&d[lane], data + (address_of(at, lane) - base), 4);
    }
}

/* The same with 8 bytes each. */
static inline void load_pairs(uint32_t *d, const struct access *x, bool general)
{
    struct lane_addresses at = lane_addresses(x, general);
    const uint8_t *data = x->array->data;
    uint64_t base = x->array->base;

    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        uint64_t value;

        memcpy(&value, data + (address_of(at, lane) - base), 8);
        d[lane] = (uint32_t)value;
        d[x->width + lane] = (uint32_t)(value >> 32);
    }
}

static inline void load_in_array(uint32_t *d, const struct access *x, bool general)
{
    if (x->bytes == 4)
        load_words(d, x, general);
    else
        load_pairs(d, x, general);
}

/* Whether the access is of whole registers in one array. */
static bool is_plain(const struct access *x)
{
    return x->array && x->bytes >= 4;
}

static void load(struct sim_machine *m, struct isa_wave *r, const struct access *x)
{
    uint32_t *d = r->v + (size_t)x->in->d.index * x->width;

    if (is_block(x)) {
        memcpy(d, lane_data(m, x, 0), x->width * 4);
    } else if (is_plain(x) && x->pattern == ISA_GENERAL) {
        load_in_array(d, x, true);
    } else if (is_plain(x)) {
        load_in_array(d, x, false);
    } else {
        for (uint64_t rest = x->active; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest);

            lane_write(r, x->in->d, x->width, lane,
                       memory_read(lane_data(m, x, lane), (enum isa_type)x->in->dtype));
        }
    }
}

static inline void store_in_array(const uint32_t *a, const struct access *x, bool general)
{
    struct lane_addresses at = lane_addresses(x, general);
    uint8_t *data = x->array->data;
    uint64_t base = x->array->base;

    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        uint8_t *to = data + (address_of(at, lane) - base);

        memcpy(to, &a[lane], 4);
        if (x->bytes == 8)
            memcpy(to + 4, &a[x->width + lane], 4);
    }
}

/* Lanes act in ascending order, so of several that store to one address the highest wins. */
static void store(struct sim_machine *m, const struct isa_wave *r, const struct access *x)
{
    const uint32_t *a = r->v + (size_t)x->in->a.index * x->width;

    if (is_block(x)) {
        memcpy(lane_data(m, x, 0), a, x->width * 4);
    } else if (is_plain(x) && x->pattern == ISA_GENERAL) {
        store_in_array(a, x, true);
    } else if (is_plain(x)) {
        store_in_array(a, x, false);
    } else {
        for (uint64_t rest = x->active; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest);
            uint64_t value = lane_read(r, x->in->a, x->width, lane);

            memcpy(lane_data(m, x, lane), &value, x->bytes);
        }
    }
}

/* 32-bit words in one array. */
static bool atomic_words(struct isa_wave *r, const struct access *x)
{
    const struct isa_insn *in = x->in;
    uint32_t *old = in->flags & ISA_F_RETURN ? r->v + (size_t)in->d.index * x->width : NULL;
    const uint32_t *comparand = in->c.kind == ISA_O_V ? r->v + (size_t)in->c.index * x->width : NULL;
    uint64_t offset[ISA_MAX_WIDTH];

    for (unsigned lane = 0; lane < x->width; lane++)
        offset[lane] = lane_address(x, lane) - x->array->base;
    return isa_atomic_lanes(in->op, x->active, x->array->data, offset,
                            r->v + (size_t)in->a.index * x->width, comparand, old);
}

/* Returns whether memory has changed. */
static bool atomic(struct sim_machine *m, struct isa_wave *r, const struct access *x)
{
    const struct isa_insn *in = x->in;
    bool changed = false;

    if (x->bytes == 4 && x->array)
        return atomic_words(r, x);
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        uint8_t *p = lane_data(m, x, lane);
        uint64_t old = memory_read(p, (enum isa_type)in->dtype);
        uint64_t comparand = in->c.kind == ISA_O_V ? lane_read(r, in->c, x->width, lane) : 0;
        uint64_t new = isa_atomic(in->op, old, lane_read(r, in->a, x->width, lane), comparand);

        changed = changed || new != old;
        memcpy(p, &new, x->bytes);
        if (in->flags & ISA_F_RETURN)
            lane_write(r, in->d, x->width, lane, old);
    }
    return changed;
}

static void tell_probe(struct sim_machine *m, const struct wavefront *w, const struct access *x,
                       uint32_t nlines)
{
    uint64_t address[ISA_MAX_WIDTH];

    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        address[bits_first(rest)] = lane_address(x, bits_first(rest));
    probe_global(m, w,
                 &(struct probe_access){
                     .active = x->active, .address = address, .bytes = x->bytes, .nlines = nlines});
}

/* ---- pages ---- */

/* Whether the access has to look at the pages that it touches. */
static inline bool looks_at_pages(const struct sim_machine *m, const struct access *x)
{
    unsigned watched = x->in->format == ISA_GLOAD ? WATCH_LOADS : WATCH_STORES;

    return x->array ? x->array->watch & watched : m->memory.demand;
}

/* Without time the pages of the active lanes come at once. */
static void touch_pages(struct sim_machine *m, const struct access *x)
{
    bool write = x->in->format != ISA_GLOAD;

    if (x->array && x->pattern != ISA_GENERAL && x->stride <= m->memory.page_bytes) {
        um_touch(m, x->array, x->low - x->array->base, x->high - x->array->base, write);
        return;
    }
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        uint64_t address = lane_address(x, bits_first(rest));
        struct sim_array *a = x->array ? x->array : memory_find(&m->memory, address);

        if (a->frame)
            um_touch(m, a, address - a->base, address - a->base, write);
    }
}

/* Moves the values. */
static void act(struct sim_machine *m, struct wavefront *w, const struct access *x)
{
    struct sim_counters *c = &w->run->c;

    switch (x->in->format) {
    case ISA_GLOAD:
        c->global_loads++;
        load(m, &w->regs, x);
        break;
    case ISA_GSTORE:
        c->global_stores++;
        store(m, &w->regs, x);
        progress_effect(m->device);
        break;
    default:
        c->global_atomics++;
        if (atomic(m, &w->regs, x))
            progress_effect(m->device);
        break;
    }
}

int global_access(struct sim_machine *m, struct wavefront *w, uint64_t active, bool lines)
{
    struct access x;
    uint32_t n;

    if (!active)
        return 0;
    x.in = w->next;
    x.active = active;
    x.width = m->lanes->width;
    x.bytes = access_bytes(w->next);
    find_addresses(&x, &w->regs, m->lanes);
    if (!check(m, w, &x))
        return -1;
    act(m, w, &x);
    if (!lines) {
        if (looks_at_pages(m, &x))
            touch_pages(m, &x);
        return 0;
    }
    m->device->looks_at_pages = looks_at_pages(m, &x);
    m->device->lines = m->device->cus[w->cu].held;
    n = access_lines(m->device, &x);
    if (m->probe.fn)
        tell_probe(m, w, &x, n);
    return (int)n;
}
