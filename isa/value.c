/* Values as the bits of an operand of a type. */
#include "isa/asm_internal.h"

#include <math.h>
#include <string.h>

static bool is_float_type(enum isa_type type)
{
    return type == T_F32 || type == T_F64;
}

static bool is_signed_type(enum isa_type type)
{
    return type == T_I32 || type == T_I64;
}

static bool range_error(struct assembler *as, uint32_t col, struct slice text, enum isa_type type,
                        __int128 min, __int128 max)
{
    if (max > INT64_MAX)
        return asm_fail(as, col, "asm-range", "values are never cut",
                        "`%.*s` does not fit in %s: %lld to %llu", SLICE(text), isa_type_name(type),
                        (long long)min, (unsigned long long)max);
    return asm_fail(as, col, "asm-range", "values are never cut",
                    "`%.*s` does not fit in %s: %lld to %lld", SLICE(text), isa_type_name(type),
                    (long long)min, (long long)max);
}

/*
 * A type without a sign takes its own range, and negative numbers for their bits. A signed one
 * takes a number past its greatest only where it is written as bits, in hexadecimal or binary.
 */
static bool int_bits(struct assembler *as, const struct value *v, enum isa_type type, uint32_t col,
                     struct slice text, uint64_t *bits)
{
    unsigned width = isa_type_words(type) * 32;
    __int128 min = -((__int128)1 << (width - 1)), max = ((__int128)1 << width) - 1;

    if (is_signed_type(type) && !v->hex)
        max = ((__int128)1 << (width - 1)) - 1;
    if (v->i < min || v->i > max)
        return range_error(as, col, text, type, min, max);
    *bits = width == 32 ? (uint32_t)v->i : (uint64_t)v->i;
    return true;
}

static uint64_t f32_bits(float f)
{
    uint32_t bits;

    if (isnan(f))
        return 0x7fc00000u;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint64_t f64_bits(double d)
{
    uint64_t bits;

    if (isnan(d))
        return 0x7ff8000000000000u;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static bool float_bits(struct assembler *as, const struct value *v, enum isa_type type,
                       uint32_t col, struct slice text, uint64_t *bits)
{
    bool single = isa_type_words(type) == 1;
    double d = single ? (double)v->f : v->d;

    if (isinf(d) && (!v->literal_inf || (single && !isinf(v->d))))
        return asm_fail(as, col, "asm-range", "write inf for infinity",
                        "`%.*s` is past the greatest %s", SLICE(text), single ? "f32" : "f64");
    if (v->nonzero && d == 0)
        return asm_fail(as, col, "asm-range", "write 0.0 for zero", "`%.*s` is below the least %s",
                        SLICE(text), single ? "f32" : "f64");
    *bits = single ? f32_bits(v->f) : f64_bits(v->d);
    return true;
}

/* An integer written for a float: it must be that number, not one near it. */
static bool int_to_float(struct assembler *as, const struct value *v, enum isa_type type,
                         uint32_t col, struct slice text, uint64_t *bits)
{
    struct value f = {.kind = VALUE_FLOAT, .d = (double)v->i, .f = (float)v->i};

    if (v->hex)
        return asm_fail(as, col, "asm-operand-type",
                        "write 1.0 or 0x1p0 for a number, bits(0x3f800000) for bits",
                        "`%.*s` is an integer in hexadecimal or binary, wanted %s", SLICE(text),
                        isa_type_name(type));
    if (type == T_F32 ? (__int128)f.f != v->i : (__int128)f.d != v->i)
        return asm_fail(as, col, "asm-range", "write it with a point to have it rounded",
                        "`%.*s` is no %s", SLICE(text), isa_type_name(type));
    return float_bits(as, &f, type, col, text, bits);
}

static bool raw_bits(struct assembler *as, const struct value *v, enum isa_type type, uint32_t col,
                     struct slice text, uint64_t *bits)
{
    __int128 max = ((__int128)1 << (isa_type_words(type) * 32)) - 1;

    if (v->i > max)
        return range_error(as, col, text, type, 0, max);
    *bits = (uint64_t)v->i;
    return true;
}

static bool mask_bits(struct assembler *as, const struct value *v, uint32_t col, struct slice text,
                      uint64_t *bits)
{
    if (v->kind != VALUE_INT || (v->i != 0 && v->i != -1))
        return asm_fail(as, col, "asm-range", "0 is no lane, -1 all lanes",
                        "`%.*s` as a mask: 0 and -1 are the only literals", SLICE(text));
    *bits = v->i ? ~UINT64_C(0) : 0;
    return true;
}

bool asm_value_bits(struct assembler *as, const struct value *v, enum isa_type type, uint32_t col,
                    struct slice text, uint64_t *bits)
{
    bool bits_type = type == T_B32 || type == T_B64;

    if (type == T_MASK)
        return mask_bits(as, v, col, text, bits);
    if (v->kind == VALUE_BITS)
        return raw_bits(as, v, type, col, text, bits);
    if (v->kind == VALUE_INT)
        return is_float_type(type) ? int_to_float(as, v, type, col, text, bits)
                                   : int_bits(as, v, type, col, text, bits);
    if (is_float_type(type) || bits_type)
        return float_bits(as, v, type, col, text, bits);
    return asm_fail(as, col, "asm-operand-type", "write it without point and exponent",
                    "`%.*s` is a float, wanted %s", SLICE(text), isa_type_name(type));
}
