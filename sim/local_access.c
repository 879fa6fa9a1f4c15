/*
 * Local memory: lane addresses, checks, values, and the passes that the banks need. Lanes are served
 * lds.lanes_per_pass at a time; in a pass each bank serves one word, to all lanes that want it.
 */
#include "sim/device.h"
#include "sim/lanes_io.h"

#include <inttypes.h>
#include <string.h>

enum { BANKS_MAX = 128 };

struct local {
    const struct isa_insn *in;
    uint64_t active;
    unsigned width, bytes;
    bool atomic;
    uint8_t *lds;
    enum isa_pattern pattern;
    uint32_t stride;                 /* uniform (0) and affine: bytes from lane to lane */
    uint32_t address[ISA_MAX_WIDTH]; /* of active lanes; uniform and affine: of all */
};

static bool lane_ok(struct sim_machine *m, struct wavefront *w, const struct local *x,
                    unsigned lane, int64_t address)
{
    const char *what = x->in->format == ISA_LLOAD    ? "load"
                       : x->in->format == ISA_LSTORE ? "store"
                                                     : "atomic";

    if (address < 0 || address + x->bytes > w->group->lds_bytes)
        fault_raise(m, w, (int)lane, "outside-local",
                    "declare it with .lds or pass dynamic local memory at the launch",
                    "local %s of %u bytes at %" PRId64
                    ", outside the work-group's %u bytes of local memory",
                    what, x->bytes, address, w->group->lds_bytes);
    else if (address % x->bytes)
        fault_raise(m, w, (int)lane, "misaligned",
                    "addresses are multiples of the size of the access",
                    "misaligned local %s of %u bytes at %" PRId64, what, x->bytes, address);
    else
        return true;
    return false;
}

/* All lanes at once; false if a lane is outside or misaligned, which the slow way then names. */
static bool find_all(const struct sim_machine *m, const struct wavefront *w, struct local *x,
                     const uint32_t *index, int64_t base)
{
    unsigned shift = bits_first(x->in->addr.scale);
    uint64_t room;

    if (base < 0 || base + x->bytes > w->group->lds_bytes || x->active != bits_low(x->width))
        return false;
    room = w->group->lds_bytes - x->bytes - (uint64_t)base;
    return m->lanes->place(x->address, index, shift, (uint32_t)base, (uint32_t)(room >> shift),
                           x->bytes);
}

static bool find_general(struct sim_machine *m, struct wavefront *w, struct local *x, int64_t base)
{
    const struct isa_address *a = &x->in->addr;
    const uint32_t *index = w->regs.v + (size_t)a->index.index * x->width;

    x->pattern = ISA_GENERAL;
    if (find_all(m, w, x, index, base))
        return true;
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        int64_t address = base + (int64_t)index[lane] * a->scale;

        if (!lane_ok(m, w, x, lane, address))
            return false;
        x->address[lane] = (uint32_t)address;
    }
    return true;
}

/* Lane 0's address and the last one's say whether all are inside; if not, the lanes are looked at one by one. */
static bool find_regular(const struct wavefront *w, struct local *x, int64_t first, uint64_t stride)
{
    uint64_t span = stride * (x->width - 1);

    if (first < 0 || (uint64_t)first + span + x->bytes > w->group->lds_bytes || first % x->bytes ||
        stride % x->bytes)
        return false;
    x->stride = (uint32_t)stride;
    for (unsigned lane = 0; lane < x->width; lane++)
        x->address[lane] = (uint32_t)first + lane * x->stride;
    return true;
}

static bool find_addresses(struct sim_machine *m, struct wavefront *w, struct local *x)
{
    const struct isa_address *a = &x->in->addr;
    const uint32_t *index = w->regs.v + (size_t)a->index.index * x->width;
    int64_t base = a->disp;
    uint32_t stride = 0;

    if (a->base.kind == ISA_O_S)
        base += w->regs.s[a->base.index];
    x->pattern = ISA_UNIFORM;
    if (a->index.kind != ISA_O_V) {
        if (find_regular(w, x, base, 0))
            return true;
        return lane_ok(m, w, x, bits_first(x->active), base);
    }
    x->pattern = m->lanes->classify(index, &stride);
    if (x->pattern != ISA_GENERAL &&
        find_regular(w, x, base + (int64_t)index[0] * a->scale, (uint64_t)stride * a->scale))
        return true;
    return find_general(m, w, x, base);
}

/* ---- values ---- */

static void load_lane(struct isa_wave *r, const struct local *x, unsigned lane)
{
    lane_write(r, x->in->d, x->width, lane,
               memory_read(x->lds + x->address[lane], (enum isa_type)x->in->dtype));
}

/* Returns whether memory has changed. */
static bool change_lane(struct isa_wave *r, const struct local *x, unsigned lane)
{
    const struct isa_insn *in = x->in;
    uint8_t *p = x->lds + x->address[lane];
    uint64_t new = lane_read(r, in->a, x->width, lane);

    if (x->atomic) {
        uint64_t comparand = in->c.kind == ISA_O_V ? lane_read(r, in->c, x->width, lane) : 0;
        uint64_t old = memory_read(p, (enum isa_type)in->dtype);

        new = isa_atomic(in->op, old, new, comparand);
        if (in->flags & ISA_F_RETURN)
            lane_write(r, in->d, x->width, lane, old);
    }
    if (memcmp(p, &new, x->bytes) == 0)
        return false;
    memcpy(p, &new, x->bytes);
    return true;
}

/* All lanes, 4 bytes each. */
static bool is_full_word(const struct local *x)
{
    return x->bytes == 4 && x->active == bits_low(x->width);
}

static void load(const struct isa_lanes *lanes, struct isa_wave *r, const struct local *x)
{
    uint32_t *d = r->v + (size_t)x->in->d.index * x->width;

    if (is_full_word(x) && x->pattern == ISA_AFFINE && x->stride == 4) {
        memcpy(d, x->lds + x->address[0], x->width * 4);
        return;
    }
    if (is_full_word(x)) {
        lanes->gather(d, x->lds, x->address);
        return;
    }
    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        load_lane(r, x, bits_first(rest));
}

static bool change(struct isa_wave *r, const struct local *x)
{
    bool changed = false;

    if (!x->atomic && is_full_word(x) && x->pattern == ISA_AFFINE && x->stride == 4) {
        const uint32_t *a = r->v + (size_t)x->in->a.index * x->width;

        changed = memcmp(x->lds + x->address[0], a, x->width * 4) != 0;
        memcpy(x->lds + x->address[0], a, x->width * 4);
        return changed;
    }
    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        changed |= change_lane(r, x, bits_first(rest));
    return changed;
}

/* ---- banks ---- */

/*
 * Passes of one group of lanes: the most different words that one bank has to serve; for atomics,
 * which follow each other on a word, the most lanes.
 */
static unsigned passes_by_bank(const struct local *x, uint64_t lanes, unsigned banks)
{
    uint32_t word[BANKS_MAX][ISA_MAX_WIDTH];
    uint8_t count[BANKS_MAX] = {0};
    unsigned most = 0, words = x->bytes > 4 ? 2 : 1;

    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        for (unsigned k = 0; k < words; k++) {
            uint32_t number = x->address[bits_first(rest)] / 4 + k;
            unsigned bank = number % banks, i = 0;

            while (!x->atomic && i < count[bank] && word[bank][i] != number)
                i++;
            if (x->atomic || i == count[bank])
                word[bank][count[bank]++] = number;
            if (count[bank] > most)
                most = count[bank];
        }
    }
    return most;
}

/* A 64-bit lane takes two words of the pass, so that half as many lanes fit. */
static unsigned lanes_per_pass(const struct sim_config *c, const struct local *x)
{
    unsigned lanes = x->bytes > 4 ? c->lds_lanes_per_pass / 2 : c->lds_lanes_per_pass;

    return lanes ? lanes : 1;
}

static struct local_passes count_passes(const struct sim_config *c, const struct local *x)
{
    unsigned step = lanes_per_pass(c, x);
    struct local_passes p = {0, 0};

    for (unsigned first = 0; first < x->width; first += step) {
        uint64_t lanes = x->active & (bits_low(first + step) & ~bits_low(first));

        if (!lanes)
            continue;
        p.least++;
        p.passes = (uint16_t)(p.passes + passes_by_bank(x, lanes, c->lds_banks));
    }
    return p;
}

/* ---- the same pattern again ---- */

/*
 * Wavefronts mostly repeat a few patterns, moved by whole words, which does not change how the
 * banks are met. So the passes are remembered by what they follow from: the lanes' distances from
 * the first active one.
 */
static uint32_t first_word(const struct local *x)
{
    return x->address[bits_first(x->active)] & ~3u;
}

static void distances(const struct local *x, uint32_t *out)
{
    uint32_t first = first_word(x);

    for (unsigned lane = 0; lane < x->width; lane++)
        out[lane] = x->active >> lane & 1 ? x->address[lane] - first : 0;
}

/* Of a few lanes: enough to keep the patterns of a kernel apart. */
static uint32_t pattern_hash(const struct local *x)
{
    uint32_t first = first_word(x), h = x->bytes;

    if (x->active == bits_low(x->width))
        h ^= (x->address[1] - first) ^ (x->address[x->width / 2] - first) << 3 ^
             (x->address[x->width - 1] - first) << 7 ^ (x->address[x->width / 4] - first) << 13;
    return (h * 0x9e3779b1u) >> 16;
}

static bool same_pattern(const struct isa_lanes *lanes, const struct local_pattern *p,
                         const struct local *x)
{
    uint32_t distance[ISA_MAX_WIDTH];

    if (p->active != x->active || p->bytes != x->bytes || p->atomic != x->atomic)
        return false;
    if (x->active == bits_low(x->width))
        return lanes->at_distances(x->address, first_word(x), p->distance);
    distances(x, distance);
    return memcmp(p->distance, distance, x->width * sizeof *distance) == 0;
}

static struct local_passes passes_of(struct sim_machine *m, const struct local *x)
{
    struct local_pattern *p = &m->device->patterns[pattern_hash(x) % LOCAL_PATTERNS];

    if (!same_pattern(m->lanes, p, x)) {
        p->active = x->active;
        p->bytes = (uint8_t)x->bytes;
        p->atomic = x->atomic;
        distances(x, p->distance);
        p->result = count_passes(&m->config, x);
    }
    return p->result;
}

static void tell_probe(struct sim_machine *m, const struct wavefront *w, const struct local *x,
                       struct local_passes passes)
{
    uint64_t address[ISA_MAX_WIDTH];

    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        address[bits_first(rest)] = x->address[bits_first(rest)];
    probe_local(m, w,
                &(struct probe_access){
                    .active = x->active, .address = address, .bytes = x->bytes, .passes = passes});
}

static int book_passes(struct sim_machine *m, struct wavefront *w, const struct local *x)
{
    struct local_passes p = passes_of(m, x);

    w->run->c.local_accesses++;
    w->run->c.local_passes += p.passes;
    w->run->c.local_conflict_passes += p.passes - p.least;
    if (m->probe.fn && m->mode == SIM_TIMED)
        tell_probe(m, w, x, p);
    return p.passes;
}

int local_access(struct sim_machine *m, struct wavefront *w, uint64_t active)
{
    const struct isa_insn *in = w->next;
    struct local x;

    if (!active)
        return 0;
    x.in = in;
    x.active = active;
    x.width = m->lanes->width;
    x.bytes = isa_type_bytes((enum isa_type)(in->format == ISA_LSTORE ? in->stype : in->dtype));
    x.atomic = in->format == ISA_LATOMIC;
    x.lds = w->group->lds;
    x.stride = 0;
    if (!find_addresses(m, w, &x))
        return -1;
    if (in->format == ISA_LLOAD)
        load(m->lanes, &w->regs, &x);
    else if (change(&w->regs, &x))
        progress_effect(m->device);
    return book_passes(m, w, &x);
}
