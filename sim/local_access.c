/*
 * Local memory: lane addresses, checks, values, and the passes that the banks need. Lanes are served
 * lds.lanes_per_pass at a time; in a pass each bank serves one word, to all lanes that want it.
 */
#include "sim/local.h"

#include "sim/lanes_io.h"

#include <inttypes.h>
#include <string.h>

enum { BANKS_MAX = 128 };

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
            /* Where the lowest address is does not matter but within a word: it only turns the banks. */
            uint32_t at = (uint32_t)(x->first + x->pattern->low) & 3;
            uint32_t number = (at + x->pattern->offset[bits_first(rest)]) / 4 + k;
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
 * Wavefronts mostly repeat a few patterns of indices, moved by a constant. What follows from the
 * distances between the lanes is worked out once: the passes, the bounds, the offsets.
 */

/* Of a few lanes: enough to keep the patterns of a kernel apart. */
static inline uint32_t pattern_hash(const struct local *x)
{
    uint32_t first = x->index[bits_first(x->active)], h = x->bytes << 2 | ((uint32_t)x->first & 3);

    if (x->active == bits_low(x->width))
        h ^= (x->index[1] - first) ^ (x->index[x->width / 2] - first) << 3 ^
             (x->index[x->width - 1] - first) << 7 ^ (x->index[x->width / 4] - first) << 13;
    else
        h ^= (uint32_t)x->active ^ (x->index[bits_last(x->active)] - first) << 5;
    return (h * 0x9e3779b1u) >> 16;
}

static bool at_distances(const struct isa_lanes *lanes, const struct local *x,
                         const uint32_t *distance)
{
    uint32_t first = x->index[bits_first(x->active)], off = 0;

    if (x->active == bits_low(x->width))
        return lanes->at_distances(x->index, first, distance);
    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        off |= (x->index[bits_first(rest)] - first) ^ distance[bits_first(rest)];
    return off == 0;
}

static inline bool same_pattern(const struct isa_lanes *lanes, const struct local_pattern *p,
                                const struct local *x)
{
    int64_t first = x->index[bits_first(x->active)];

    return p->active == x->active && p->bytes == x->bytes && p->shift == x->shift &&
           p->atomic == x->atomic && p->within == ((uint32_t)x->first & 3) &&
           /* distances are modulo 2^32: no lane's index has gone round */
           first + p->low_index >= 0 && first + p->high_index <= UINT32_MAX &&
           at_distances(lanes, x, p->distance);
}

static void measure(struct local_pattern *p, const struct local *x)
{
    int64_t first = x->index[bits_first(x->active)];
    bool block = x->active == bits_low(x->width) && x->bytes == 4;

    p->low_index = p->high_index = 0;
    p->bits = 0;
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        int64_t distance = x->index[bits_first(rest)] - first;

        p->distance[bits_first(rest)] = (uint32_t)distance;
        p->low_index = distance < p->low_index ? distance : p->low_index;
        p->high_index = distance > p->high_index ? distance : p->high_index;
        p->bits |= (uint32_t)distance << x->shift;
    }
    p->low = p->low_index * (1 << x->shift);
    p->high = p->high_index * (1 << x->shift);
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);

        p->offset[lane] = (uint32_t)((x->index[lane] - first - p->low_index) << x->shift);
        block = block && p->offset[lane] == lane * 4;
    }
    p->block = block;
}

static void find_pattern(struct sim_machine *m, struct local *x)
{
    struct local_pattern *p = &m->device->patterns[pattern_hash(x) % LOCAL_PATTERNS];

    x->pattern = p;
    if (same_pattern(m->lanes, p, x))
        return;
    p->active = x->active;
    p->bytes = (uint8_t)x->bytes;
    p->shift = (uint8_t)x->shift;
    p->atomic = x->atomic;
    p->within = (uint32_t)x->first & 3;
    measure(p, x);
    if (x->active == bits_low(x->width))
        m->lanes->gather_kinds(p->kinds, p->offset);
    p->result = count_passes(&m->config, x);
}

/* ---- addresses and their checks ---- */

static bool lane_ok(struct sim_machine *m, struct wavefront *w, const struct local *x, unsigned lane)
{
    int64_t address = local_address(x, lane);
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

static bool check(struct sim_machine *m, struct wavefront *w, const struct local *x)
{
    const struct local_pattern *p = x->pattern;

    if (x->first + p->low >= 0 && x->first + p->high + x->bytes <= w->group->lds_bytes &&
        (((uint32_t)x->first | p->bits) & (x->bytes - 1)) == 0)
        return true;
    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        if (!lane_ok(m, w, x, bits_first(rest)))
            break;
    return false;
}

static bool find_addresses(struct sim_machine *m, struct wavefront *w, struct local *x)
{
    static const uint32_t none[ISA_MAX_WIDTH];
    const struct isa_address *a = &x->in->addr;
    int64_t base = a->disp;

    if (a->base.kind == ISA_O_S)
        base += w->regs.s[a->base.index];
    x->index = none;
    x->shift = 0;
    if (a->index.kind == ISA_O_V) {
        x->index = w->regs.v + (size_t)a->index.index * x->width;
        x->shift = bits_first(a->scale);
    }
    x->first = base + ((int64_t)x->index[bits_first(x->active)] << x->shift);
    find_pattern(m, x);
    if (!check(m, w, x))
        return false;
    x->lowest = w->group->lds + x->first + x->pattern->low;
    return true;
}

/* ---- values ---- */

static void load_lane(struct isa_wave *r, const struct local *x, unsigned lane)
{
    lane_write(r, x->in->d, x->width, lane,
               memory_read(x->lowest + x->pattern->offset[lane], (enum isa_type)x->in->dtype));
}

/* Returns whether memory has changed. */
static bool change_lane(struct isa_wave *r, const struct local *x, unsigned lane)
{
    const struct isa_insn *in = x->in;
    uint8_t *p = x->lowest + x->pattern->offset[lane];
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

static void load(const struct isa_lanes *lanes, struct isa_wave *r, const struct local *x)
{
    uint32_t *d = r->v + (size_t)x->in->d.index * x->width;

    if (x->pattern->block)
        memcpy(d, x->lowest, x->width * 4);
    else if (x->bytes == 4 && x->active == bits_low(x->width))
        lanes->gather(d, x->lowest, x->pattern->offset, x->pattern->kinds);
    else
        for (uint64_t rest = x->active; rest; rest &= rest - 1)
            load_lane(r, x, bits_first(rest));
}

/* 32-bit words. */
static bool atomic_words(struct isa_wave *r, const struct local *x)
{
    const struct isa_insn *in = x->in;
    uint32_t *old = in->flags & ISA_F_RETURN ? r->v + (size_t)in->d.index * x->width : NULL;
    const uint32_t *comparand = in->c.kind == ISA_O_V ? r->v + (size_t)in->c.index * x->width : NULL;
    uint64_t offset[ISA_MAX_WIDTH];

    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        offset[bits_first(rest)] = x->pattern->offset[bits_first(rest)];
    return isa_atomic_lanes(in->op, x->active, x->lowest, offset,
                            r->v + (size_t)in->a.index * x->width, comparand, old);
}

/* Lanes act in ascending order, so of several that store to one address the highest wins. */
static bool change(struct isa_wave *r, const struct local *x)
{
    bool changed = false;

    if (x->atomic && x->bytes == 4)
        return atomic_words(r, x);

    if (!x->atomic && x->pattern->block) {
        const uint32_t *a = r->v + (size_t)x->in->a.index * x->width;

        changed = memcmp(x->lowest, a, x->width * 4) != 0;
        memcpy(x->lowest, a, x->width * 4);
        return changed;
    }
    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        changed |= change_lane(r, x, bits_first(rest));
    return changed;
}

void local_tell_probe(struct sim_machine *m, const struct wavefront *w, const struct local *x,
                      struct local_passes passes)
{
    uint64_t address[ISA_MAX_WIDTH];

    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        address[bits_first(rest)] = (uint64_t)local_address(x, bits_first(rest));
    probe_local(m, w,
                &(struct probe_access){
                    .active = x->active, .address = address, .bytes = x->bytes, .passes = passes});
}

static int book_passes(struct sim_machine *m, struct wavefront *w, const struct local *x)
{
    struct local_passes p = x->pattern->result;

    w->run->c.local_accesses++;
    w->run->c.local_passes += p.passes;
    w->run->c.local_conflict_passes += p.passes - p.least;
    if (m->probe.fn && m->mode == SIM_TIMED)
        local_tell_probe(m, w, x, p);
    return p.passes;
}

bool local_find(struct sim_machine *m, struct wavefront *w, uint64_t active, struct local *x)
{
    const struct isa_insn *in = w->next;

    x->in = in;
    x->active = active;
    x->width = m->lanes->width;
    x->bytes = isa_type_bytes((enum isa_type)(in->format == ISA_LSTORE ? in->stype : in->dtype));
    x->atomic = in->format == ISA_LATOMIC;
    return find_addresses(m, w, x);
}

int local_access(struct sim_machine *m, struct wavefront *w, uint64_t active)
{
    struct local x;

    if (!active)
        return 0;
    if (!local_find(m, w, active, &x))
        return -1;
    if (x.in->format == ISA_LLOAD)
        load(m->lanes, &w->regs, &x);
    else if (change(&w->regs, &x))
        progress_effect(m->device);
    return book_passes(m, w, &x);
}
