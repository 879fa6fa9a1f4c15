#include "isa/rows.h"
#include "isa/semantics.h"
#include "isa/wave.h"

/* Room for sources that are not a vector register: a scalar or a mask in all lanes. */
struct scratch {
    _Alignas(32) uint32_t a[2 * ISA_MAX_WIDTH];
    _Alignas(32) uint32_t b[2 * ISA_MAX_WIDTH];
    _Alignas(32) uint32_t c[2 * ISA_MAX_WIDTH];
};

static uint64_t scalar_pair(const uint32_t *s)
{
    return s[0] | (uint64_t)s[1] << 32;
}

static uint32_t *vector_register(const struct isa_wave *w, struct isa_operand o,
                                 const struct isa_lanes *lanes)
{
    return w->v + (size_t)o.index * lanes->width;
}

/* A lane number, which counts modulo the width. */
static unsigned lane_operand(const struct isa_wave *w, const struct isa_insn *in,
                             struct isa_operand o, const struct isa_lanes *lanes)
{
    uint32_t lane = o.kind == ISA_O_S ? w->s[o.index] : (uint32_t)in->imm;

    return lane & (lanes->width - 1);
}

const uint32_t *isa_spread(struct isa_wave *w, uint64_t mask, const struct isa_lanes *lanes)
{
    if (w->spread_of != mask) {
        lanes->spread(w->spread, mask);
        w->spread_of = mask;
    }
    return w->spread;
}

uint64_t isa_read_mask(const struct isa_wave *w, const struct isa_insn *in, struct isa_operand o)
{
    switch (o.kind) {
    case ISA_O_M:
        return w->m[o.index];
    case ISA_O_EXEC:
        return w->exec & w->live & w->tx;
    case ISA_O_S:
        return scalar_pair(w->s + o.index);
    default:
        return in->imm;
    }
}

/* Lanes of TCM stay in EXEC whatever is written (ATT is tx | TCM inside a transaction). */
static void write_exec(struct isa_wave *w, uint64_t value)
{
    w->exec = (value | w->tcm) & (w->tx | w->tcm) & w->live;
}

/* A source of a vector instruction as one word (or two) a lane; NULL where there is none. */
static inline const uint32_t *vector_source(struct isa_wave *w, const struct isa_insn *in,
                                            struct isa_operand o, uint32_t *room,
                                            const struct isa_lanes *lanes)
{
    switch (o.kind) {
    case ISA_O_V:
        return vector_register(w, o, lanes);
    case ISA_O_IMM:
        return isa_imm_lanes(in->imm_vec, lanes->width);
    case ISA_O_S:
        lanes->broadcast(room, w->s[o.index]);
        if (o.words == 2)
            lanes->broadcast(room + lanes->width, w->s[o.index + 1]);
        return room;
    case ISA_O_NONE:
        return NULL;
    default:
        lanes->spread(room, isa_read_mask(w, in, o));
        return room;
    }
}

static inline void write_lanes(struct isa_wave *w, const struct isa_insn *in, uint64_t active,
                               const uint32_t *a, const uint32_t *b, const uint32_t *c,
                               const struct isa_lane_row *row, const struct isa_lanes *lanes)
{
    uint32_t *d = vector_register(w, in->d, lanes);

    if (active == bits_low(lanes->width))
        row->full(d, a, b, c);
    else
        row->some(d, a, b, c, isa_spread(w, active, lanes));
}

/* Whether a source of the instruction has to be spread over the lanes first. */
static inline bool needs_room(const struct isa_insn *in)
{
    const uint32_t in_lanes = 1u << ISA_O_NONE | 1u << ISA_O_V | 1u << ISA_O_IMM;

    return (1u << in->a.kind | 1u << in->b.kind | 1u << in->c.kind) & ~in_lanes;
}

/* A source that is in lanes; of none, anything. */
static inline const uint32_t *source_in_lanes(const struct isa_wave *w, const struct isa_insn *in,
                                              struct isa_operand o, const struct isa_lanes *lanes)
{
    return o.kind == ISA_O_IMM ? isa_imm_lanes(in->imm_vec, lanes->width)
                               : vector_register(w, o, lanes);
}

/* With a source that is a scalar or a mask. */
static void exec_spread(struct isa_wave *w, const struct isa_insn *in, uint64_t active,
                        const struct isa_lanes *lanes)
{
    struct scratch room;
    const uint32_t *a = vector_source(w, in, in->a, room.a, lanes);
    const uint32_t *b = vector_source(w, in, in->b, room.b, lanes);
    const uint32_t *c = vector_source(w, in, in->c, room.c, lanes);

    write_lanes(w, in, active, a, b, c, &lanes->rows[in->op], lanes);
}

static inline void exec_vector(struct isa_wave *w, const struct isa_insn *in,
                               const struct isa_lanes *lanes)
{
    uint64_t active = isa_active(w, in);

    if (!active)
        return;
    if (needs_room(in))
        exec_spread(w, in, active, lanes);
    else
        write_lanes(w, in, active, source_in_lanes(w, in, in->a, lanes),
                    source_in_lanes(w, in, in->b, lanes), source_in_lanes(w, in, in->c, lanes),
                    &lanes->rows[in->op], lanes);
}

static uint64_t compare_spread(struct isa_wave *w, const struct isa_insn *in,
                               const struct isa_lanes *lanes)
{
    struct scratch room;
    const uint32_t *a = vector_source(w, in, in->a, room.a, lanes);

    return lanes->rows[in->op].cmp(a, vector_source(w, in, in->b, room.b, lanes));
}

static inline void exec_compare(struct isa_wave *w, const struct isa_insn *in,
                                const struct isa_lanes *lanes)
{
    uint64_t active = isa_active(w, in), value;

    if (!active)
        return;
    if (needs_room(in))
        value = compare_spread(w, in, lanes);
    else
        value = lanes->rows[in->op].cmp(source_in_lanes(w, in, in->a, lanes),
                                        source_in_lanes(w, in, in->b, lanes));
    value &= active;
    if (in->d.index != ISA_VCC)
        value |= w->m[in->d.index] & ~active;
    w->m[in->d.index] = value;
}

/* Coordinates of consecutive work-items are counted up, x fastest: one division a wavefront. */
static void get_coordinate(const struct isa_wave *w, uint64_t special, unsigned width, uint32_t *out)
{
    uint32_t size_x = w->s[ISA_SV_THREADS_X], size_y = w->s[ISA_SV_THREADS_Y];
    uint32_t at[3] = {w->tid0 % size_x, w->tid0 / size_x % size_y, w->tid0 / size_x / size_y};

    for (unsigned lane = 0; lane < width; lane++) {
        out[lane] = at[special - ISA_VV_TID_X];
        if (++at[0] == size_x) {
            at[0] = 0;
            if (++at[1] == size_y) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
}

static void get_special(const struct isa_wave *w, uint64_t special, unsigned width, uint32_t *out)
{
    uint32_t first = 0;

    if (special >= ISA_VV_TID_X && special <= ISA_VV_TID_Z) {
        get_coordinate(w, special, width, out);
        return;
    }
    if (special != ISA_VV_LANE)
        first = w->tid0;
    if (special == ISA_VV_GID)
        first += w->s[ISA_SV_GROUP] * w->s[ISA_SV_THREADS_X] * w->s[ISA_SV_THREADS_Y] *
                 w->s[ISA_SV_THREADS_Z];
    for (unsigned lane = 0; lane < width; lane++)
        out[lane] = first + lane;
}

static void exec_get(struct isa_wave *w, const struct isa_insn *in, const struct isa_lanes *lanes)
{
    uint64_t active = isa_active(w, in);
    struct scratch room;

    if (!active)
        return;
    get_special(w, in->imm, lanes->width, room.a);
    write_lanes(w, in, active, room.a, NULL, NULL, &lanes->rows[OP_v_mov_b32], lanes);
}

static inline const uint32_t *scalar_source(const struct isa_wave *w, struct isa_operand o,
                                            const uint32_t *literal)
{
    return o.kind == ISA_O_S ? w->s + o.index : literal;
}

static void exec_scalar(struct isa_wave *w, const struct isa_insn *in, const struct isa_lanes *lanes)
{
    const uint32_t literal[2] = {(uint32_t)in->imm, (uint32_t)(in->imm >> 32)};

    lanes->rows[in->op].full(w->s + in->d.index, scalar_source(w, in->a, literal),
                             scalar_source(w, in->b, literal), scalar_source(w, in->c, literal));
}

#define KIND_MASK_OP ~, MASK
#define KIND_SAVE_EXEC ~, MASK
#define KIND_REDUCE ~, MASK
#define CASE_NONE(...)
#define CASE_MASK(name, ...)                                                                       \
    case OP_##name:                                                                                \
        return (uint64_t)(__VA_ARGS__);

/* The value of mask logic, and of a reduction over the lanes of ACTIVE. */
static uint64_t mask_value(uint16_t op, uint64_t A, uint64_t B, uint64_t ACTIVE)
{
    switch (op) {
#define OP(name, format, cls, dtype, atype, btype, ctype, flags, doc, ...)                         \
    ISA_PASTE(CASE_, ISA_KIND(KIND_, format))(name, __VA_ARGS__)
#include "isa/opcodes.def"
#undef OP
    default:
        return 0;
    }
}

static void write_scalar(struct isa_wave *w, struct isa_operand d, uint64_t value)
{
    w->s[d.index] = (uint32_t)value;
    if (d.words == 2)
        w->s[d.index + 1] = (uint32_t)(value >> 32);
}

/* m0-m15 are one-bit vector registers; EXEC, VCC and scalar pairs are written whole. */
static void exec_mask(struct isa_wave *w, const struct isa_insn *in)
{
    uint64_t active = isa_active(w, in);
    uint64_t value =
        mask_value(in->op, isa_read_mask(w, in, in->a), isa_read_mask(w, in, in->b), active);

    if (in->d.kind == ISA_O_EXEC)
        write_exec(w, value);
    else if (in->d.kind == ISA_O_S)
        write_scalar(w, in->d, value);
    else if (in->d.index == ISA_VCC)
        w->m[ISA_VCC] = value;
    else
        w->m[in->d.index] = (w->m[in->d.index] & ~active) | (value & active);
}

static void exec_save(struct isa_wave *w, const struct isa_insn *in)
{
    uint64_t old = isa_read_mask(w, in, (struct isa_operand){.kind = ISA_O_EXEC});
    uint64_t value = mask_value(in->op, isa_read_mask(w, in, in->a), old, 0);

    write_scalar(w, in->d, old);
    write_exec(w, value);
}

static void exec_readlane(struct isa_wave *w, const struct isa_insn *in,
                          const struct isa_lanes *lanes)
{
    uint64_t active = isa_active(w, in);
    unsigned lane = active ? bits_first(active) : 0;

    if (in->b.kind != ISA_O_NONE)
        lane = lane_operand(w, in, in->b, lanes);
    w->s[in->d.index] = vector_register(w, in->a, lanes)[lane];
}

static void exec_writelane(struct isa_wave *w, const struct isa_insn *in,
                           const struct isa_lanes *lanes)
{
    unsigned lane = lane_operand(w, in, in->b, lanes);

    if (isa_active(w, in) >> lane & 1)
        vector_register(w, in->d, lanes)[lane] =
            in->a.kind == ISA_O_S ? w->s[in->a.index] : (uint32_t)in->imm;
}

void isa_exec(struct isa_wave *w, const struct isa_insn *in, unsigned n,
              const struct isa_lanes *lanes)
{
    for (const struct isa_insn *end = in + n; in < end; in++) {
        switch (in->format) {
        case ISA_VALU:
        case ISA_VSEL:
        case ISA_XLANE:
            exec_vector(w, in, lanes);
            break;
        case ISA_VCMP:
            exec_compare(w, in, lanes);
            break;
        case ISA_VGET:
            exec_get(w, in, lanes);
            break;
        case ISA_SALU:
            exec_scalar(w, in, lanes);
            break;
        case ISA_MASK_OP:
            exec_mask(w, in);
            break;
        case ISA_SAVE_EXEC:
            exec_save(w, in);
            break;
        case ISA_REDUCE:
            write_scalar(w, in->d,
                         mask_value(in->op, isa_read_mask(w, in, in->a), 0, isa_active(w, in)));
            break;
        case ISA_READLANE:
            exec_readlane(w, in, lanes);
            break;
        case ISA_WRITELANE:
            exec_writelane(w, in, lanes);
            break;
        default: /* not register to register */
            break;
        }
    }
}

bool isa_branch_taken(const struct isa_wave *w, const struct isa_insn *in)
{
    uint64_t mask, active;
    bool holds;

    if (in->format == ISA_JUMP)
        return true;
    if (in->format == ISA_BRANCH_S) {
        holds = w->s[in->a.index] != 0;
    } else {
        mask = isa_read_mask(w, in, in->a);
        active = isa_active(w, in);
        holds = in->flags & ISA_F_ALL ? (~mask & active) == 0 : (mask & active) != 0;
    }
    return holds != ((in->flags & ISA_F_NEGATE) != 0);
}
