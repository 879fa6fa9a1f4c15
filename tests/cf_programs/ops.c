/* The operations that programs are made of, in plain C: a reference beside the machine's lane functions. */
#include "tests/cf_programs/program.h"

#include <math.h>
#include <string.h>

uint32_t cfp_float_bits(float f)
{
    uint32_t bits;

    if (f != f)
        return 0x7fc00000u;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

float cfp_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static int32_t as_signed(uint32_t a)
{
    int32_t i;

    memcpy(&i, &a, sizeof i);
    return i;
}

#define INT(id, expression)                                                                        \
    static uint32_t id(uint32_t a, uint32_t b, uint32_t c)                                         \
    {                                                                                              \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        return expression;                                                                         \
    }
#define FLOAT(id, expression)                                                                      \
    static uint32_t id(uint32_t ia, uint32_t ib, uint32_t ic)                                      \
    {                                                                                              \
        float a = cfp_float(ia), b = cfp_float(ib);                                                \
                                                                                                   \
        (void)b;                                                                                   \
        (void)ic;                                                                                  \
        return cfp_float_bits(expression);                                                         \
    }

INT(move, a)
INT(add, a + b)
INT(sub, a - b)
INT(mul, a *b)
INT(mad, a *b + c)
INT(divide, b ? a / b : UINT32_MAX)
INT(rest, b ? a % b : a)
INT(min_unsigned, a < b ? a : b)
INT(max_signed, as_signed(a) > as_signed(b) ? a : b)
INT(and, a &b)
INT(or, a | b)
INT(xor, a ^ b)
INT(left, a << (b & 31))
INT(right, a >> (b & 31))
FLOAT(add_float, a + b)
FLOAT(sub_float, a - b)
FLOAT(mul_float, a *b)
FLOAT(div_float, a / b)
FLOAT(root, sqrtf(a))

static uint32_t to_float(uint32_t a, uint32_t b, uint32_t c)
{
    (void)b;
    (void)c;
    return cfp_float_bits((float)as_signed(a));
}

/* Toward zero; past the range its nearest end; NaN gives 0. */
static uint32_t to_int(uint32_t a, uint32_t b, uint32_t c)
{
    float f = cfp_float(a);

    (void)b;
    (void)c;
    if (f != f)
        return 0;
    if (f >= 0x1p31f)
        return INT32_MAX;
    return f < -0x1p31f ? 0x80000000u : (uint32_t)(int32_t)f;
}

const struct cfp_op cfp_ops[] = {
    {"v_mov_b32", 1, false, false, move},        {"v_add_u32", 2, false, false, add},
    {"v_sub_u32", 2, false, false, sub},         {"v_mul_u32", 2, false, false, mul},
    {"v_mad_u32", 3, false, false, mad},         {"v_div_u32", 2, false, false, divide},
    {"v_rem_u32", 2, false, false, rest},        {"v_min_u32", 2, false, false, min_unsigned},
    {"v_max_i32", 2, false, false, max_signed},  {"v_and_b32", 2, false, false, and},
    {"v_or_b32", 2, false, false, or },          {"v_xor_b32", 2, false, false, xor},
    {"v_shl_b32", 2, false, false, left},        {"v_shr_b32", 2, false, false, right},
    {"v_mov_b32", 1, true, true, move},          {"v_add_f32", 2, true, true, add_float},
    {"v_sub_f32", 2, true, true, sub_float},     {"v_mul_f32", 2, true, true, mul_float},
    {"v_div_f32", 2, true, true, div_float},     {"v_sqrt_f32", 1, true, true, root},
    {"v_cvt_f32_i32", 1, true, false, to_float}, {"v_cvt_i32_f32", 1, false, true, to_int},
};
const unsigned cfp_nops = sizeof cfp_ops / sizeof *cfp_ops;

#define COMPARE(id, expression)                                                                    \
    static bool id(uint32_t a, uint32_t b)                                                         \
    {                                                                                              \
        return expression;                                                                         \
    }

COMPARE(eq, a == b)
COMPARE(ne, a != b)
COMPARE(lt, a < b)
COMPARE(ge, a >= b)
COMPARE(lt_signed, as_signed(a) < as_signed(b))
COMPARE(gt_signed, as_signed(a) > as_signed(b))
COMPARE(lt_float, cfp_float(a) < cfp_float(b))
COMPARE(ge_float, cfp_float(a) >= cfp_float(b))
COMPARE(ne_float, cfp_float(a) != cfp_float(b))
COMPARE(no_number, cfp_float(a) != cfp_float(a) || cfp_float(b) != cfp_float(b))

const struct cfp_comparison cfp_compares[] = {
    {"v_cmp_eq_u32", false, eq},        {"v_cmp_ne_u32", false, ne},
    {"v_cmp_lt_u32", false, lt},        {"v_cmp_ge_u32", false, ge},
    {"v_cmp_lt_i32", false, lt_signed}, {"v_cmp_gt_i32", false, gt_signed},
    {"v_cmp_lt_f32", true, lt_float},   {"v_cmp_ge_f32", true, ge_float},
    {"v_cmp_ne_f32", true, ne_float},   {"v_cmp_u_f32", true, no_number},
};
const unsigned cfp_ncompares = sizeof cfp_compares / sizeof *cfp_compares;

#define ATOMIC(id, expression)                                                                     \
    static uint32_t id(uint32_t m, uint32_t a)                                                     \
    {                                                                                              \
        return expression;                                                                         \
    }

ATOMIC(atomic_add, m + a)
ATOMIC(atomic_sub, m - a)
ATOMIC(atomic_min, m < a ? m : a)
ATOMIC(atomic_max, m > a ? m : a)
ATOMIC(atomic_max_signed, as_signed(m) > as_signed(a) ? m : a)
ATOMIC(atomic_and, m &a)
ATOMIC(atomic_or, m | a)
ATOMIC(atomic_xor, m ^ a)

const struct cfp_atomic cfp_atomics[CFP_CLASSES] = {
    {"atomic_add_u32", atomic_add},        {"atomic_sub_u32", atomic_sub},
    {"atomic_min_u32", atomic_min},        {"atomic_max_u32", atomic_max},
    {"atomic_max_i32", atomic_max_signed}, {"atomic_and_b32", atomic_and},
    {"atomic_or_b32", atomic_or},          {"atomic_xor_b32", atomic_xor},
};
