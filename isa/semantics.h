/*
 * The meaning of the opcodes whose body in isa/opcodes.def is too long for an expression, one
 * lane at a time. Everything here is total: no input traps or is undefined. Floating-point
 * operations are computed unconditionally and their results chosen by bits afterwards: a compiler
 * that respects floating-point traps keeps an operation in the branch that a conditional
 * expression makes, and then cannot vectorise the lane loop.
 * A NaN that these functions return becomes canonical where it is stored (isa/lanes.c).
 */
#ifndef HD_ISA_SEMANTICS_H
#define HD_ISA_SEMANTICS_H

#include "sim/base/bits.h"

#include <emmintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define SEM_SIGN32 0x80000000u
#define SEM_SIGN64 UINT64_C(0x8000000000000000)
#define SEM_NAN32 0x7fc00000u
#define SEM_NAN64 UINT64_C(0x7ff8000000000000)

/* ---- bits and values ------------------------------------------------------------------- */

static inline uint32_t sem_bits_f32(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float sem_from_f32(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t sem_bits_f64(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double sem_from_f64(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint32_t sem_canonical_f32(float x)
{
    return x != x ? SEM_NAN32 : sem_bits_f32(x);
}

static inline uint64_t sem_canonical_f64(double x)
{
    return x != x ? SEM_NAN64 : sem_bits_f64(x);
}

static inline float sem_copysign_f32(float magnitude, float sign)
{
    return sem_from_f32((sem_bits_f32(magnitude) & ~SEM_SIGN32) | (sem_bits_f32(sign) & SEM_SIGN32));
}

static inline double sem_copysign_f64(double magnitude, double sign)
{
    return sem_from_f64((sem_bits_f64(magnitude) & ~SEM_SIGN64) | (sem_bits_f64(sign) & SEM_SIGN64));
}

static inline float sem_magnitude_f32(float x)
{
    return sem_from_f32(sem_bits_f32(x) & ~SEM_SIGN32);
}

static inline double sem_magnitude_f64(double x)
{
    return sem_from_f64(sem_bits_f64(x) & ~SEM_SIGN64);
}

/* yes (1 or 0) ? a : b, both computed. */
static inline uint32_t sem_choose_b32(int yes, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & (0u - (uint32_t)yes));
}

static inline uint64_t sem_choose_b64(int yes, uint64_t a, uint64_t b)
{
    return b ^ ((a ^ b) & (0u - (uint64_t)(uint32_t)yes));
}

static inline float sem_choose_f32(int yes, float a, float b)
{
    return sem_from_f32(sem_choose_b32(yes, sem_bits_f32(a), sem_bits_f32(b)));
}

static inline double sem_choose_f64(int yes, double a, double b)
{
    return sem_from_f64(sem_choose_b64(yes, sem_bits_f64(a), sem_bits_f64(b)));
}

/* 2^n, n from -1022 to 1023. */
static inline double sem_pow2(int32_t n)
{
    return sem_from_f64((uint64_t)(uint32_t)(n + 1023) << 52);
}

/* ---- integers -------------------------------------------------------------------------- */

static inline int32_t sem_mulhi_i32(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b) >> 32);
}

static inline uint32_t sem_div_u32(uint32_t a, uint32_t b)
{
    return b ? a / b : ~0u;
}

static inline uint32_t sem_rem_u32(uint32_t a, uint32_t b)
{
    return b ? a % b : a;
}

/* Dividing by 1 in its place gives INT_MIN / -1 the values INT_MIN and 0. */
static inline int32_t sem_safe_divisor(int32_t a, int32_t b)
{
    return b == 0 || (a == INT32_MIN && b == -1) ? 1 : b;
}

static inline int32_t sem_div_i32(int32_t a, int32_t b)
{
    int32_t q = a / sem_safe_divisor(a, b);

    return b ? q : -1;
}

static inline int32_t sem_rem_i32(int32_t a, int32_t b)
{
    int32_t r = a % sem_safe_divisor(a, b);

    return b ? r : a;
}

static inline int32_t sem_abs_i32(int32_t a)
{
    uint32_t u = (uint32_t)a;

    return (int32_t)(a < 0 ? 0u - u : u);
}

/* n ones from bit 0 up; n past 32 is 32. */
static inline uint32_t sem_ones_u32(uint32_t n)
{
    uint32_t some = (1u << (n & 31)) - 1u;

    return n < 32 ? some : ~0u;
}

static inline uint32_t sem_bfe_u32(uint32_t a, uint32_t pos, uint32_t count)
{
    uint32_t moved = a >> (pos & 31);

    return (pos < 32 ? moved : 0) & sem_ones_u32(count);
}

static inline int32_t sem_bfe_i32(int32_t a, uint32_t pos, uint32_t count)
{
    int32_t moved = a >> (pos < 31 ? pos : 31);
    uint32_t above = count < 32 ? 32 - count : 0;
    int32_t field = (int32_t)((uint32_t)moved << (above & 31)) >> (above & 31);

    return count ? field : 0;
}

static inline uint32_t sem_bfm_b32(uint32_t count, uint32_t pos)
{
    uint32_t moved = sem_ones_u32(count) << (pos & 31);

    return pos < 32 ? moved : 0;
}

/* Counted in parallel fields, since there is no vector instruction for it before AVX-512. */
static inline uint32_t sem_popcount_b32(uint32_t a)
{
    a -= (a >> 1) & 0x55555555u;
    a = (a & 0x33333333u) + ((a >> 2) & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    a += a >> 8;
    a += a >> 16;
    return a & 63;
}

static inline uint32_t sem_clz_b32(uint32_t a)
{
    a |= a >> 1;
    a |= a >> 2;
    a |= a >> 4;
    a |= a >> 8;
    a |= a >> 16;
    return sem_popcount_b32(~a);
}

static inline uint32_t sem_ctz_b32(uint32_t a)
{
    return sem_popcount_b32(~a & (a - 1));
}

static inline uint32_t sem_brev_b32(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}

static inline uint32_t sem_popcount_b64(uint64_t a)
{
    return sem_popcount_b32((uint32_t)a) + sem_popcount_b32((uint32_t)(a >> 32));
}

static inline uint32_t sem_clz_b64(uint64_t a)
{
    return a ? 63 - bits_last(a) : 64;
}

static inline uint32_t sem_ctz_b64(uint64_t a)
{
    return a ? bits_first(a) : 64;
}

/* Index of the first set bit, -1 without one. */
static inline int32_t sem_first(uint64_t mask)
{
    return mask ? (int32_t)bits_first(mask) : -1;
}

/* ---- f32 and f64 arithmetic ------------------------------------------------------------ */

/* One instruction with FMA; else the C library's, which rounds once as well. */
static inline float sem_fma_f32(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline double sem_fma_f64(double a, double b, double c)
{
    return fma(a, b, c);
}

/* The instruction itself: the library function would set errno. */
static inline float sem_sqrt_f32(float x)
{
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
}

static inline double sem_sqrt_f64(double x)
{
    return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

static inline float sem_rsqrt_f32(float x)
{
    return (float)(1.0 / sem_sqrt_f64((double)x));
}

static inline double sem_rsqrt_f64(double x)
{
    return 1.0 / sem_sqrt_f64(x);
}

/* 23 fraction bits. A NaN of arithmetic is quiet and so stays one. */
static inline double sem_seed_f64(double x)
{
    return sem_from_f64(sem_bits_f64(x) & ~UINT64_C(0x1fffffff));
}

/* Equal operands have equal bits, or are zeros, which or and and order by their sign. */
static inline float sem_min_f32(float a, float b)
{
    uint32_t x = sem_bits_f32(a), y = sem_bits_f32(b), least = a < b ? x : y;

    least = a == b ? x | y : least;
    return sem_from_f32(b != b ? x : least);
}

static inline float sem_max_f32(float a, float b)
{
    uint32_t x = sem_bits_f32(a), y = sem_bits_f32(b), most = a > b ? x : y;

    most = a == b ? x & y : most;
    return sem_from_f32(b != b ? x : most);
}

static inline double sem_min_f64(double a, double b)
{
    uint64_t x = sem_bits_f64(a), y = sem_bits_f64(b), least = a < b ? x : y;

    least = a == b ? x | y : least;
    return sem_from_f64(b != b ? x : least);
}

static inline double sem_max_f64(double a, double b)
{
    uint64_t x = sem_bits_f64(a), y = sem_bits_f64(b), most = a > b ? x : y;

    most = a == b ? x & y : most;
    return sem_from_f64(b != b ? x : most);
}

/* Adding 2^23 (2^52) to a lesser magnitude leaves no fraction bits and rounds to nearest even. */
static inline float sem_rint_f32(float x)
{
    float magnitude = sem_magnitude_f32(x);
    float rounded = (magnitude + 0x1p23f) - 0x1p23f;

    return sem_copysign_f32(sem_choose_f32(magnitude < 0x1p23f, rounded, magnitude), x);
}

static inline double sem_rint_f64(double x)
{
    double magnitude = sem_magnitude_f64(x);
    double rounded = (magnitude + 0x1p52) - 0x1p52;

    return sem_copysign_f64(sem_choose_f64(magnitude < 0x1p52, rounded, magnitude), x);
}

static inline float sem_floor_f32(float x)
{
    float nearest = sem_rint_f32(x);

    return nearest - sem_choose_f32(nearest > x, 1.0f, 0.0f);
}

static inline double sem_floor_f64(double x)
{
    double nearest = sem_rint_f64(x);

    return nearest - sem_choose_f64(nearest > x, 1.0, 0.0);
}

static inline float sem_ceil_f32(float x)
{
    float nearest = sem_rint_f32(x);

    return sem_copysign_f32(nearest + sem_choose_f32(nearest < x, 1.0f, 0.0f), x);
}

static inline double sem_ceil_f64(double x)
{
    double nearest = sem_rint_f64(x);

    return sem_copysign_f64(nearest + sem_choose_f64(nearest < x, 1.0, 0.0), x);
}

static inline float sem_trunc_f32(float x)
{
    return sem_copysign_f32(sem_floor_f32(sem_magnitude_f32(x)), x);
}

static inline double sem_trunc_f64(double x)
{
    return sem_copysign_f64(sem_floor_f64(sem_magnitude_f64(x)), x);
}

static inline float sem_fract_f32(float x)
{
    float fraction = x - sem_floor_f32(x);

    return sem_choose_f32(fraction > 0x1.fffffep-1f, 0x1.fffffep-1f, fraction);
}

static inline double sem_fract_f64(double x)
{
    double fraction = x - sem_floor_f64(x);

    return sem_choose_f64(fraction > 0x1.fffffffffffffp-1, 0x1.fffffffffffffp-1, fraction);
}

static inline int32_t sem_clamp_i32(int32_t x, int32_t low, int32_t high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* In f64 the product is exact, so that only the conversion rounds. */
static inline float sem_ldexp_f32(float x, int32_t n)
{
    return (float)((double)x * sem_pow2(sem_clamp_i32(n, -300, 300)));
}

/*
 * Three factors reach from the least denormal to infinity. A negative part of the way goes by
 * 2^-969: if that already makes a denormal, what is left takes it below half the least one,
 * so that no result is rounded twice.
 */
static inline double sem_ldexp_f64(double x, int32_t n)
{
    n = sem_clamp_i32(n, -3000, 3000);
    for (int part = 0; part < 2; part++) {
        int32_t step = n > 1023 ? 1023 : n;

        step = n < -1022 ? -969 : step;
        x *= sem_pow2(step);
        n -= step;
    }
    return x * sem_pow2(sem_clamp_i32(n, -1022, 1023));
}

static inline uint32_t sem_exponent_f64(double x)
{
    return (uint32_t)(sem_bits_f64(x) >> 52) & 0x7ff;
}

/* Zero, infinity or NaN: no exponent to take. */
static inline int sem_is_special_f64(double x)
{
    return (x == 0) | !(sem_magnitude_f64(x) < (double)INFINITY);
}

static inline int32_t sem_frexp_exp_f64(double x)
{
    uint32_t e = sem_exponent_f64(x), scaled = sem_exponent_f64(x * 0x1p54);
    uint32_t exponent = sem_choose_b32(e != 0, e, scaled - 54) - 1022;

    return (int32_t)sem_choose_b32(sem_is_special_f64(x), 0, exponent);
}

static inline double sem_frexp_mant_f64(double x)
{
    double scaled = x * 0x1p54;
    uint64_t u = sem_bits_f64(sem_choose_f64(sem_exponent_f64(x) != 0, x, scaled));
    double mantissa = sem_from_f64((u & UINT64_C(0x800fffffffffffff)) | UINT64_C(1022) << 52);

    return sem_choose_f64(sem_is_special_f64(x), x, mantissa);
}

/* Every f32 is a normal f64. */
static inline int32_t sem_frexp_exp_f32(float x)
{
    uint32_t exponent = sem_exponent_f64((double)x) - 1022;

    return (int32_t)sem_choose_b32(sem_is_special_f64((double)x), 0, exponent);
}

static inline float sem_frexp_mant_f32(float x)
{
    return (float)sem_frexp_mant_f64((double)x);
}

/* The bit of the v_cmp_class opcodes that the value has. */
static inline uint32_t sem_class_f32(float x)
{
    uint32_t u = sem_bits_f32(x), m = u & ~SEM_SIGN32;
    uint32_t side = m == 0 ? 0 : m < 0x00800000u ? 1 : m < 0x7f800000u ? 2 : 3;
    uint32_t nan = m >= SEM_NAN32 ? 1 : 0;

    return m > 0x7f800000u ? nan : u & SEM_SIGN32 ? 5 - side : 6 + side;
}

static inline uint32_t sem_class_f64(double x)
{
    uint64_t u = sem_bits_f64(x), m = u & ~SEM_SIGN64;
    uint64_t inf = UINT64_C(0x7ff0000000000000);
    uint32_t side = m == 0 ? 0 : m < UINT64_C(1) << 52 ? 1 : m < inf ? 2 : 3;
    uint32_t nan = m >= SEM_NAN64 ? 1 : 0;

    return m > inf ? nan : u & SEM_SIGN64 ? 5 - side : 6 + side;
}

/* ---- conversions ----------------------------------------------------------------------- */

/* What an i32 saturates to: its greatest above, its least below, 0 for NaN. */
static inline uint32_t sem_end_i32(int above, int below)
{
    return sem_choose_b32(above, INT32_MAX, sem_choose_b32(below, SEM_SIGN32, 0));
}

/* The cast is given 0 where it would be undefined. */
static inline int32_t sem_i32_f64(double x)
{
    int inside = (x > -2147483649.0) & (x < 2147483648.0);
    int32_t value = (int32_t)sem_choose_f64(inside, x, 0.0);

    return (int32_t)sem_choose_b32(inside, (uint32_t)value, sem_end_i32(x > 0, x < 0));
}

static inline uint32_t sem_u32_f64(double x)
{
    int inside = (x > -1.0) & (x < 4294967296.0);
    double safe = sem_choose_f64(inside, x, 0.0);
    /* There is no vector conversion to u32, so values past i32 go down by 2^31 and back. */
    int large = safe >= 2147483648.0;
    double low = safe - sem_choose_f64(large, 2147483648.0, 0.0);
    uint32_t value = (uint32_t)(int32_t)low ^ sem_choose_b32(large, SEM_SIGN32, 0);

    return sem_choose_b32(inside, value, sem_choose_b32(x > 0, UINT32_MAX, 0));
}

static inline int32_t sem_i32_f32(float x)
{
    int inside = (x >= -2147483648.0f) & (x < 2147483648.0f);
    int32_t value = (int32_t)sem_choose_f32(inside, x, 0.0f);

    return (int32_t)sem_choose_b32(inside, (uint32_t)value, sem_end_i32(x > 0, x < 0));
}

static inline uint32_t sem_u32_f32(float x)
{
    int inside = (x > -1.0f) & (x < 4294967296.0f);
    float safe = sem_choose_f32(inside, x, 0.0f);
    int large = safe >= 2147483648.0f;
    float low = safe - sem_choose_f32(large, 2147483648.0f, 0.0f);
    uint32_t value = (uint32_t)(int32_t)low ^ sem_choose_b32(large, SEM_SIGN32, 0);

    return sem_choose_b32(inside, value, sem_choose_b32(x > 0, UINT32_MAX, 0));
}

static inline int64_t sem_i64_f64(double x)
{
    int inside = (x >= -0x1p63) & (x < 0x1p63);
    int64_t value = (int64_t)(inside ? x : 0.0);
    int64_t end = x > 0 ? INT64_MAX : x < 0 ? INT64_MIN : 0;

    return inside ? value : end;
}

static inline uint64_t sem_u64_f64(double x)
{
    int inside = (x > -1.0) & (x < 0x1p64);
    uint64_t value = (uint64_t)(inside ? x : 0.0);

    return inside ? value : x > 0 ? UINT64_MAX : 0;
}

static inline int64_t sem_i64_f32(float x)
{
    return sem_i64_f64((double)x);
}

static inline uint64_t sem_u64_f32(float x)
{
    return sem_u64_f64((double)x);
}

static inline double sem_f64_f32(float x)
{
    return sem_from_f64(sem_choose_b64(x != x, SEM_NAN64, sem_bits_f64((double)x)));
}

/* A nearest value past x goes back by one unit: the greatest finite number from infinity. */
static inline float sem_rz_f32(double x)
{
    float nearest = (float)x;
    int past = sem_magnitude_f64((double)nearest) > sem_magnitude_f64(x);

    return sem_from_f32(sem_bits_f32(nearest) - (uint32_t)past);
}

static inline uint32_t sem_f16_f32(float x)
{
    uint32_t u = sem_bits_f32(x), sign = u >> 16 & 0x8000u, m = u & ~SEM_SIGN32;
    /* Half an ulp of f16, less one if the last kept bit is even; then the bias, 127 - 15. */
    uint32_t normal = ((m + 0xfffu + (m >> 13 & 1)) >> 13) - (112u << 10);
    /* One ulp of 0.5f is the least f16 denormal. */
    uint32_t denormal = sem_bits_f32(sem_from_f32(m) + 0.5f) - sem_bits_f32(0.5f);
    uint32_t h = sem_choose_b32(m < sem_bits_f32(0x1p-14f), denormal, normal);

    h = sign | sem_choose_b32(m >= sem_bits_f32(65520.0f), 0x7c00u, h);
    return sem_choose_b32(m > 0x7f800000u, 0x7e00u, h);
}

static inline float sem_f32_f16(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, m = h & 0x7fffu;
    uint32_t normal = (m << 13) + (112u << 23);
    uint32_t denormal = sem_bits_f32((float)(int32_t)m * 0x1p-24f);
    uint32_t u = sem_choose_b32(m < 0x0400u, denormal, normal);

    return sem_from_f32(sign | sem_choose_b32(m >= 0x7c00u, 0x7f800000u | m << 13, u));
}

#endif
