/*
 * Local memory: lane addresses, checks, values, and the passes that the banks need. Lanes are served lds.lanes_per_pass at
 * a time; in a pass each bank serves one word, to all lanes that want it.
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
    uint32_t address[ISA_MAX_WIDTH]; /* of active lanes */
};

static bool lane_ok(struct sim_machine *m, struct wavefront *w, const struct local *x, unsigned lane, int64_t address)
{
    const char *what = x->in->format == ISA_LLOAD ? "load" : x->in->format == ISA_LSTORE ? "store" : "atomic";

    if (address < 0 || address + x->bytes > w->group->lds_bytes)
        fault_raise(m, w, (int)lane, "outside-local", "declare it with .lds or pass dynamic local memory at the launch",
                    "local %s of %u bytes at %" PRId64 ", outside the work-group's %u bytes of local memory", what,
                    x->bytes, address, w->group->lds_bytes);
    else if (address % x->bytes)
        fault_raise(m, w, (int)lane, "misaligned", "addresses are multiples of the size of the access",
                    "misaligned local %s of %u bytes at %" PRId64, what, x->bytes, address);
    else
        return true;
    return false;
}

static bool find_addresses(struct sim_machine *m, struct wavefront *w, struct local *x)
{
    const struct isa_address *a = &x->in->addr;
    int64_t base = a->disp;
    const uint32_t *index = a->index.kind == ISA_O_V ? w->regs.v + (size_t)a->index.index * x->width : NULL;

    if (a->base.kind == ISA_O_S)
        base += w->regs.s[a->base.index];
    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        int64_t address = base + (index ? (int64_t)index[lane] * a->scale : 0);

        if (!lane_ok(m, w, x, lane, address))
            return false;
        x->address[lane] = (uint32_t)address;
    }
    return true;
}

/* ---- values ---- */

/* Returns whether memory has changed. */
static bool act(struct isa_wave *r, const struct local *x, unsigned lane)
{
    const struct isa_insn *in = x->in;
    uint8_t *p = x->lds + x->address[lane];
    uint64_t old, new;

    if (in->format == ISA_LLOAD) {
        lane_write(r, in->d, x->width, lane, memory_read(p, (enum isa_type)in->dtype));
        return false;
    }
    new = lane_read(r, in->a, x->width, lane);
    if (x->atomic) {
        uint64_t comparand = in->c.kind == ISA_O_V ? lane_read(r, in->c, x->width, lane) : 0;

        old = memory_read(p, (enum isa_type)in->dtype);
        new = isa_atomic(in->op, old, new, comparand);
        if (in->flags & ISA_F_RETURN)
            lane_write(r, in->d, x->width, lane, old);
    }
    if (memcmp(p, &new, x->bytes) == 0)
        return false;
    memcpy(p, &new, x->bytes);
    return true;
}

/* ---- banks ---- */

/*
 * Passes of one group of lanes: the most different words that one bank has to serve; for atomics, which
 * follow each other on a word, the most lanes.
 */
static unsigned group_passes(const struct local *x, uint64_t lanes, unsigned banks)
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

static int count_passes(struct sim_machine *m, struct wavefront *w, const struct local *x)
{
    unsigned step = lanes_per_pass(&m->config, x);
    unsigned passes = 0, least = 0;

    for (unsigned first = 0; first < x->width; first += step) {
        uint64_t lanes = x->active & (bits_low(first + step) & ~bits_low(first));

        if (!lanes)
            continue;
        least++;
        passes += group_passes(x, lanes, m->config.lds_banks);
    }
    w->run->c.local_passes += passes;
    w->run->c.local_conflict_passes += passes - least;
    return (int)passes;
}

int local_access(struct sim_machine *m, struct wavefront *w, uint64_t active)
{
    const struct isa_insn *in = w->next;
    bool changed = false;
    struct local x;

    if (!active)
        return 0;
    x.in = in;
    x.active = active;
    x.width = m->lanes->width;
    x.bytes = isa_type_bytes((enum isa_type)(in->format == ISA_LSTORE ? in->stype : in->dtype));
    x.atomic = in->format == ISA_LATOMIC;
    x.lds = w->group->lds;
    if (!find_addresses(m, w, &x))
        return -1;
    for (uint64_t rest = active; rest; rest &= rest - 1)
        changed |= act(&w->regs, &x, bits_first(rest));
    if (changed)
        progress_effect(m->device);
    w->run->c.local_accesses++;
    return count_passes(m, w, &x);
}
