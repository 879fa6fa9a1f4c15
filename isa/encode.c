#include "isa/encode.h"

#include "isa/format.h"

#include <string.h>

static void put(uint8_t *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *in, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

static uint64_t operand_code(const struct isa_operand *o)
{
    switch (o->kind) {
    case ISA_O_V:
        return ISA_SB_V + o->index;
    case ISA_O_S:
        return ISA_SB_S + o->index;
    case ISA_O_M:
        return ISA_SB_M + o->index;
    case ISA_O_EXEC:
        return ISA_SB_EXEC;
    case ISA_O_IMM:
        return ISA_ENC_IMM;
    default:
        return ISA_ENC_NONE;
    }
}

static bool code_operand(uint64_t code, struct isa_operand *o)
{
    *o = (struct isa_operand){0};
    if (code < ISA_SB_S)
        *o = (struct isa_operand){ISA_O_V, 1, (uint16_t)code};
    else if (code < ISA_SB_M)
        *o = (struct isa_operand){ISA_O_S, 1, (uint16_t)(code - ISA_SB_S)};
    else if (code < ISA_SB_EXEC)
        *o = (struct isa_operand){ISA_O_M, 1, (uint16_t)(code - ISA_SB_M)};
    else if (code == ISA_SB_EXEC)
        *o = (struct isa_operand){ISA_O_EXEC, 1, 0};
    else if (code == ISA_ENC_IMM)
        *o = (struct isa_operand){ISA_O_IMM, 0, 0};
    return code <= ISA_ENC_NONE && code != ISA_SB_TX; /* that one is no register */
}

static unsigned log2_scale(unsigned scale)
{
    return scale == 8 ? 3 : scale >> 1;
}

/* What stands in the low half of word 1. */
static uint64_t low_word(const struct isa_insn *in, unsigned extra)
{
    if (extra & ISA_X_TARGET)
        return in->target;
    if (extra & ISA_X_ADDRESS)
        return (uint32_t)in->addr.disp;
    return in->imm & UINT32_MAX;
}

unsigned isa_encode(const struct isa_insn *in, uint8_t out[ISA_ENC_MAX_BYTES])
{
    unsigned extra = isa_formats[isa_ops[in->op].format].extra;
    bool literal = !(extra & (ISA_X_CONTROL | ISA_X_ADDRESS)) && in->imm > UINT32_MAX;
    uint64_t w0 = in->op, w1 = literal ? 0 : low_word(in, extra);

    w0 |= (uint64_t)in->pred << 16 | (uint64_t)in->pred_not << 21;
    w0 |= (uint64_t)((in->flags & ISA_F_NOMASK) != 0) << 22 | (uint64_t)literal << 23;
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++)
        w0 |= operand_code(isa_slot_of(in, slot)) << (24 + 9 * (unsigned)slot);
    w0 |= (uint64_t)log2_scale(in->addr.scale) << 60;
    w1 |= extra & ISA_X_JIP
              ? (uint64_t)in->jip << 32
              : operand_code(&in->addr.base) << 32 | operand_code(&in->addr.index) << 41;
    put(out, w0, 8);
    put(out + 8, w1, 8);
    if (literal)
        put(out + ISA_INSN_BYTES, in->imm, ISA_LITERAL_BYTES);
    return ISA_INSN_BYTES + (literal ? ISA_LITERAL_BYTES : 0);
}

/* ---- decoding: every field is checked, since the bytes may come from anywhere ----------------- */

static const char *check_register(const struct isa_operand *o)
{
    if (o->words == 2 && o->index % 2)
        return "a register pair is not aligned";
    if (o->kind == ISA_O_V && o->index + o->words > ISA_MAX_VREGS)
        return "a vector register is out of range";
    if (o->kind == ISA_O_S && o->words == 2 && o->index + 1 >= ISA_MAX_SREGS)
        return "a scalar pair is out of range";
    if (o->kind == ISA_O_S && o->index >= ISA_SV_END)
        return "a scalar register is out of range";
    return NULL;
}

static const char *decode_slot(uint64_t w0, enum isa_slot slot, const struct isa_op_info *op,
                               struct isa_insn *in)
{
    struct isa_operand *o = isa_slot(in, slot);
    unsigned kinds = isa_slot_kinds(op, slot);

    if (!code_operand(w0 >> (24 + 9 * (unsigned)slot) & 0x1ff, o))
        return "an operand's code is unknown";
    if (o->kind == ISA_O_NONE)
        return kinds ? "an operand is missing" : NULL;
    if (!(kinds & 1u << o->kind))
        return "an operand is of a kind that the opcode does not take";
    o->words = (uint8_t)isa_operand_words(isa_slot_type(op, slot), (enum isa_operand_kind)o->kind);
    if (slot == ISA_SLOT_D && o->kind == ISA_O_S && o->index >= ISA_MAX_SREGS)
        return "a special value is written";
    return check_register(o);
}

static const char *decode_address(uint64_t w0, uint64_t w1, bool local, struct isa_insn *in)
{
    struct isa_address *a = &in->addr;

    if (!code_operand(w1 >> 32 & 0x1ff, &a->base) || !code_operand(w1 >> 41 & 0x1ff, &a->index))
        return "an address register's code is unknown";
    if ((a->base.kind != ISA_O_NONE && a->base.kind != ISA_O_S) ||
        (a->index.kind != ISA_O_NONE && a->index.kind != ISA_O_V))
        return "an address is made of wrong registers";
    a->scale = (uint8_t)(1u << (w0 >> 60 & 3));
    a->disp = (int32_t)(uint32_t)w1;
    if (a->index.kind == ISA_O_NONE && a->scale != 1)
        return "a scale without an index";
    if (local && a->base.kind == ISA_O_S && a->index.kind == ISA_O_V)
        return "a local address has two registers";
    if (!local && a->base.kind == ISA_O_NONE && a->index.kind == ISA_O_NONE)
        return "a global address has no base";
    if (!local && a->base.kind == ISA_O_S)
        a->base.words = 2;
    if (!local && a->base.kind == ISA_O_NONE) {
        a->index.words = 2;
        if (a->scale != 1)
            return "a 64-bit address is scaled";
    }
    const char *why = check_register(&a->base);

    return why ? why : check_register(&a->index);
}

static const char *decode_rest(uint64_t w0, uint64_t w1, unsigned extra, struct isa_insn *in)
{
    if (w0 >> 62 || (w1 >> 50 && !(extra & ISA_X_JIP)))
        return "reserved bits are set";
    if (extra & ISA_X_ADDRESS)
        return decode_address(w0, w1, extra & ISA_X_LOCAL, in);
    if (w0 >> 60 & 3 || (!(extra & ISA_X_JIP) && (w1 >> 32) != (ISA_ENC_NONE | ISA_ENC_NONE << 9)))
        return "an address where the opcode has none";
    if (extra & ISA_X_TARGET)
        in->target = (uint32_t)w1;
    else if ((extra & ISA_X_JIP) && (uint32_t)w1)
        return "a join has a target";
    if (extra & ISA_X_JIP)
        in->jip = (uint32_t)(w1 >> 32);
    if ((extra & ISA_X_SPECIAL) && in->imm >= ISA_VV_END)
        return "a special value is out of range";
    return NULL;
}

static const char *decode_flags(uint64_t w0, struct isa_insn *in)
{
    in->pred = (uint8_t)(w0 >> 16 & 31);
    in->pred_not = w0 >> 21 & 1;
    if (in->pred > ISA_VCC + 1 || (in->pred_not && !in->pred))
        return "a predicate is out of range";
    if (w0 >> 22 & 1)
        in->flags |= ISA_F_NOMASK;
    if ((in->pred && !isa_takes_predicate(in)) ||
        ((in->flags & ISA_F_NOMASK) && !isa_takes_nomask(in)))
        return "a predicate where the opcode takes none";
    return NULL;
}

static bool has_literal_operand(const struct isa_insn *in)
{
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++)
        if (isa_slot_of(in, slot)->kind == ISA_O_IMM)
            return true;
    return false;
}

/* A literal belongs to an operand, a special value or a string, and fits the operand's type. */
static const char *check_literal(const struct isa_insn *in, unsigned extra)
{
    const struct isa_op_info *op = &isa_ops[in->op];

    if (!has_literal_operand(in) && !(extra & (ISA_X_SPECIAL | ISA_X_STRING)))
        return in->imm ? "a literal that no operand uses" : NULL;
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++) {
        enum isa_type type = isa_slot_type(op, slot);

        if (isa_slot_of(in, slot)->kind != ISA_O_IMM)
            continue;
        if (type == T_MASK ? in->imm + 1 > 1 : isa_type_words(type) == 1 && in->imm > UINT32_MAX)
            return "a literal does not fit its operand";
    }
    return NULL;
}

static const char *decode(const uint8_t *bytes, size_t avail, struct isa_insn *in, unsigned *used)
{
    uint64_t w0, w1;
    const char *why;
    unsigned extra;
    bool literal;

    if (avail < ISA_INSN_BYTES)
        return "the code ends inside an instruction";
    w0 = get(bytes, 8);
    w1 = get(bytes + 8, 8);
    literal = w0 >> 23 & 1;
    *used = ISA_INSN_BYTES + (literal ? ISA_LITERAL_BYTES : 0);
    if (avail < *used)
        return "the code ends inside a literal";
    in->op = (uint16_t)w0;
    if (in->op >= ISA_NUM_OPS)
        return "an opcode is unknown";
    extra = isa_formats[isa_ops[in->op].format].extra;
    if (!(extra & (ISA_X_ADDRESS | ISA_X_CONTROL)))
        in->imm = literal ? get(bytes + ISA_INSN_BYTES, ISA_LITERAL_BYTES) : (uint32_t)w1;
    if (literal && (in->imm <= UINT32_MAX || (uint32_t)w1))
        return "a literal is encoded in a way that the assembler does not use";
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++)
        if ((why = decode_slot(w0, slot, &isa_ops[in->op], in)) != NULL)
            return why;
    if ((why = decode_rest(w0, w1, extra, in)) != NULL || (why = decode_flags(w0, in)) != NULL)
        return why;
    return extra & (ISA_X_ADDRESS | ISA_X_CONTROL) ? NULL : check_literal(in, extra);
}

unsigned isa_decode(const uint8_t *bytes, size_t avail, struct isa_insn *in, const char **why)
{
    const struct isa_op_info *op;
    const char *wrong;
    unsigned used = 0;
    bool address;

    memset(in, 0, sizeof *in);
    wrong = decode(bytes, avail, in, &used);
    if (why)
        *why = wrong;
    if (wrong)
        return 0;
    op = &isa_ops[in->op];
    address = isa_formats[op->format].extra & ISA_X_ADDRESS;
    in->format = op->format;
    in->cls = op->cls;
    in->flags |= op->flags;
    in->dtype = op->dtype == T_NONE && address ? op->atype : op->dtype;
    in->stype = op->atype == T_NONE && address ? op->dtype : op->atype;
    return used;
}
