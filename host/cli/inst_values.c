#include "host/cli/inst_values.h"

#include "host/results/json_writer.h"
#include "sim/base/bits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN = 4,       /* lanes of a vector */
    SMALL = 1000000, /* bits below are a number rather than a float: no normal f32 is so small */
};

/* ---- one value ------------------------------------------------------------------------------- */

/* The shortest text that reads back as the same f32. */
static void add_f32(uint32_t bits, struct text *out)
{
    char text[40];
    float f;

    memcpy(&f, &bits, sizeof f);
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)f);
        if (strtof(text, NULL) == f)
            break;
    }
    text_add(out, "%s", text);
}

static void add_f64(uint64_t bits, struct text *out)
{
    char text[40];
    double d;

    memcpy(&d, &bits, sizeof d);
    if (isfinite(d))
        json_format_double(text, sizeof text, d);
    else
        snprintf(text, sizeof text, "%g", d);
    text_add(out, "%s", text);
}

static void add_value(enum isa_type type, uint64_t bits, struct text *out)
{
    switch (type) {
    case T_F32:
        add_f32((uint32_t)bits, out);
        break;
    case T_F64:
        add_f64(bits, out);
        break;
    case T_I8:
    case T_I16:
    case T_I32:
        text_add(out, "%" PRId32, (int32_t)(uint32_t)bits);
        break;
    case T_I64:
        text_add(out, "%" PRId64, (int64_t)bits);
        break;
    case T_U8:
    case T_U16:
    case T_U32:
    case T_U64:
        text_add(out, "%" PRIu64, bits);
        break;
    case T_NONE:
    case T_B32:
    case T_B64:
    case T_MASK:
        text_add(out, bits < SMALL ? "%" PRIu64 : "0x%" PRIx64, bits);
        break;
    }
}

/* ---- registers ------------------------------------------------------------------------------- */

static uint64_t vector_bits(const struct isa_wave *regs, struct isa_operand d, unsigned width,
                            unsigned lane)
{
    uint64_t bits = regs->v[d.index * width + lane];

    if (d.words == 2)
        bits |= (uint64_t)regs->v[(d.index + 1u) * width + lane] << 32;
    return bits;
}

static bool uniform(const struct isa_wave *regs, struct isa_operand d, unsigned width,
                    uint64_t lanes)
{
    uint64_t first = vector_bits(regs, d, width, bits_first(lanes));

    for (uint64_t rest = lanes; rest; rest &= rest - 1)
        if (vector_bits(regs, d, width, bits_first(rest)) != first)
            return false;
    return true;
}

static void add_vector(const struct isa_insn *in, const struct isa_wave *regs, uint64_t lanes,
                       unsigned width, bool all, struct text *out)
{
    unsigned n = 0, count = bits_count(lanes);

    if (!lanes) {
        text_add(out, "unchanged");
        return;
    }
    if (!all && count > 1 && uniform(regs, in->d, width, lanes)) {
        add_value((enum isa_type)in->dtype, vector_bits(regs, in->d, width, bits_first(lanes)), out);
        text_add(out, " in each of %u lanes", count);
        return;
    }
    for (uint64_t rest = lanes; rest && (all || n < SHOWN); rest &= rest - 1, n++) {
        text_add(out, "%s", n ? ", " : "");
        add_value((enum isa_type)in->dtype, vector_bits(regs, in->d, width, bits_first(rest)), out);
    }
    if (n < count)
        text_add(out, ", ... (%u lanes)", count);
}

static void add_scalar(const struct isa_insn *in, const struct isa_wave *regs, struct text *out)
{
    uint64_t bits = regs->s[in->d.index];

    if (in->d.words == 2)
        bits |= (uint64_t)regs->s[in->d.index + 1u] << 32;
    add_value((enum isa_type)in->dtype, bits, out);
}

static void add_name(struct isa_operand d, struct text *out)
{
    static const char letters[] = {[ISA_O_V] = 'v', [ISA_O_S] = 's', [ISA_O_M] = 'm'};

    if (d.kind == ISA_O_EXEC)
        text_add(out, "exec = ");
    else if (d.kind == ISA_O_M && d.index == ISA_VCC)
        text_add(out, "vcc = ");
    else if (d.words == 2)
        text_add(out, "%c[%u:%u] = ", letters[d.kind], d.index, d.index + 1u);
    else
        text_add(out, "%c%u = ", letters[d.kind], d.index);
}

static void add_mask(uint64_t bits, unsigned width, struct text *out)
{
    text_add(out, "%0*" PRIx64, (int)(width / 4), bits);
}

void inst_results(const struct isa_insn *in, const struct isa_wave *regs, uint64_t lanes,
                  unsigned width, bool all, struct text *out)
{
    const struct isa_operand exec = {.kind = ISA_O_EXEC};

    if (in->d.kind == ISA_O_NONE || in->d.kind == ISA_O_IMM)
        return;
    add_name(in->d, out);
    switch (in->d.kind) {
    case ISA_O_V:
        add_vector(in, regs, lanes, width, all, out);
        break;
    case ISA_O_S:
        add_scalar(in, regs, out);
        break;
    case ISA_O_M:
        add_mask(regs->m[in->d.index], width, out);
        break;
    default:
        add_mask(regs->exec, width, out);
        break;
    }
    if (isa_writes_exec(in) && in->d.kind != ISA_O_EXEC) { /* beside its destination */
        text_add(out, ", ");
        add_name(exec, out);
        add_mask(regs->exec, width, out);
    }
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* The distance of neighbouring active lanes if it is one for all. */
static bool distance_of(const struct hd_probe_event *e, int64_t *distance)
{
    unsigned before = bits_first(e->lanes);
    bool known = false;

    for (uint64_t rest = e->lanes & (e->lanes - 1); rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        int64_t step = (int64_t)(e->address[lane] - e->address[before]);

        if (known && step != *distance)
            return false;
        *distance = step;
        known = true;
        before = lane;
    }
    return known;
}

void inst_access(const struct hd_probe_event *e, struct text *out)
{
    bool global = e->kind == HD_PROBE_GLOBAL;
    int64_t distance = 0;

    text_add(out, global ? "address 0x%" PRIx64 : "local address %" PRIu64,
             e->address[bits_first(e->lanes)]);
    if (distance_of(e, &distance))
        text_add(out, distance ? ", then %" PRId64 " bytes apart" : ", the same in all lanes",
                 distance);
    else if (bits_count(e->lanes) > 1)
        text_add(out, " and others");
    if (global)
        text_add(out, ": %" PRIu32 " line%s, %" PRIu32 " sector%s", e->nlines,
                 e->nlines == 1 ? "" : "s", e->nsectors, e->nsectors == 1 ? "" : "s");
    else
        text_add(out, ": %" PRIu32 " pass%s", e->passes, e->passes == 1 ? "" : "es");
}
