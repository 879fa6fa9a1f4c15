/* Addresses of memory instructions: sums of registers and constants in brackets. */
#include "isa/asm_internal.h"

#include <string.h>

static bool add_disp(struct assembler *as, struct isa_insn *in, const struct value *v, bool minus,
                     uint32_t col)
{
    int64_t part, limit = minus ? -(int64_t)INT32_MIN : INT32_MAX;

    if (!asm_value_int(as, v, "the displacement", -INT64_C(0xffffffff), limit, col, &part))
        return false;
    part = in->addr.disp + (minus ? -part : part);
    if (part < INT32_MIN || part > INT32_MAX)
        return asm_fail(as, col, "asm-range", "add the rest to a register",
                        "the displacement does not fit in 32 bits");
    in->addr.disp = (int32_t)part;
    return true;
}

static bool scale_of(struct assembler *as, struct isa_insn *in, const struct isa_operand *o)
{
    uint32_t col = asm_tok(as)->col;
    struct value v;

    if (!asm_take(as, '*'))
        return true;
    col = asm_tok(as)->col;
    if (!asm_factor(as, &v))
        return false;
    if (v.kind != VALUE_INT || (v.i != 1 && v.i != 2 && v.i != 4 && v.i != 8))
        return asm_fail(as, col, "asm-address", "shift or multiply the index first",
                        "an index is scaled by 1, 2, 4 or 8");
    if (o->kind != ISA_O_V || o->words != 1)
        return asm_fail(as, col, "asm-address", "", "only a vector register of 32 bits is scaled");
    in->addr.scale = (uint8_t)v.i;
    return true;
}

static bool add_register(struct assembler *as, struct isa_insn *in, const struct isa_operand *o,
                         uint32_t col)
{
    struct isa_operand *to = o->kind == ISA_O_V ? &in->addr.index : &in->addr.base;

    if (o->kind != ISA_O_V && o->kind != ISA_O_S)
        return asm_fail(as, col, "asm-address", "", "a mask is no part of an address");
    if (to->kind != ISA_O_NONE)
        return asm_fail(as, col, "asm-address", "add them into one register first",
                        "an address has one %s register", o->kind == ISA_O_V ? "vector" : "scalar");
    *to = *o;
    return scale_of(as, in, o);
}

static bool term(struct assembler *as, struct isa_insn *in, bool minus)
{
    uint32_t col = asm_tok(as)->col;
    struct isa_operand o;
    struct value v;

    switch (asm_register(as, &o)) {
    case FOUND_BAD:
        return false;
    case FOUND:
        if (minus)
            return asm_fail(as, col, "asm-address", "", "a register is added, not subtracted");
        return add_register(as, in, &o, col);
    default:
        if (!asm_product(as, &v))
            return false;
        if (asm_at(as, '*') || asm_tok(as)->kind == TOK_NAME)
            return asm_fail(as, asm_tok(as)->col, "asm-address", "write v0*4",
                            "the scale stands behind");
        return add_disp(as, in, &v, minus, col);
    }
}

static bool check_global(struct assembler *as, const struct isa_insn *in, uint32_t col)
{
    const struct isa_address *a = &in->addr;

    if (a->base.kind == ISA_O_S && a->base.words != 2)
        return asm_fail(as, col, "asm-address", "an array parameter, or s[4:5]",
                        "the base of a global address is a 64-bit scalar");
    if (a->base.kind == ISA_O_NONE && a->index.words != 2)
        return asm_fail(as, col, "asm-address", "write [x + v0*4], [s[4:5] + 8] or [v[2:3] + 8]",
                        "a global address needs a 64-bit base");
    if (a->base.kind == ISA_O_S && a->index.words == 2)
        return asm_fail(as, col, "asm-address", "add the base to the pair first",
                        "the index beside a base is one vector register");
    return true;
}

static bool check_local(struct assembler *as, const struct isa_insn *in, uint32_t col)
{
    const struct isa_address *a = &in->addr;

    if (a->base.kind == ISA_O_S && a->index.kind == ISA_O_V)
        return asm_fail(as, col, "asm-address", "add them into one vector register first",
                        "a local address has a scalar or a vector register, not both");
    if (a->base.words == 2 || a->index.words == 2)
        return asm_fail(as, col, "asm-address", "local addresses are bytes from the group's start",
                        "a local address has 32 bits");
    return true;
}

bool asm_address(struct assembler *as, struct isa_insn *in)
{
    bool local = isa_formats[isa_ops[in->op].format].extra & ISA_X_LOCAL;
    uint32_t col = asm_tok(as)->col;
    bool minus = false;

    if (!asm_want(as, '[', "to begin an address"))
        return false;
    in->addr.scale = 1;
    minus = asm_take(as, '-');
    for (;;) {
        if (!term(as, in, minus))
            return false;
        if (asm_take(as, ']'))
            break;
        minus = asm_at(as, '-');
        if (!minus && !asm_at(as, '+'))
            return asm_want(as, ']', "to end the address");
        as->next++;
    }
    return local ? check_local(as, in, col) : check_global(as, in, col);
}
