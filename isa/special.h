/*
 * The f32 special functions: computed in f64 to about 2^-38, then rounded once, so that the
 * result is within 1 ulp. The order of operations is fixed and nothing branches, so that lane
 * loops vectorise and every build gives the same bits.
 */
#ifndef HD_ISA_SPECIAL_H
#define HD_ISA_SPECIAL_H

#include "isa/semantics.h"

/* 1.5 * 2^52: added to a small number, it leaves the nearest integer in the low bits. */
#define SEM_SHIFTER 0x1.8p52
#define SEM_LN2 0x1.62e42fefa39efp-1
#define SEM_PI_2 0x1.921fb54442d18p+0

/* 2^x = 2^n * e^(f ln 2), |f| <= 1/2, e^r by its series to r^10. */
static inline float sem_exp2_f32(float x)
{
    double wide = (double)x;
    double low = sem_choose_f64(wide < -200.0, -200.0, wide);
    double y = sem_choose_f64(low > 200.0, 200.0, low);
    double shifted = y + SEM_SHIFTER;
    double r = (y - (shifted - SEM_SHIFTER)) * SEM_LN2;
    double e = 1.0 / 3628800;

    e = e * r + 1.0 / 362880;
    e = e * r + 1.0 / 40320;
    e = e * r + 1.0 / 5040;
    e = e * r + 1.0 / 720;
    e = e * r + 1.0 / 120;
    e = e * r + 1.0 / 24;
    e = e * r + 1.0 / 6;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    return (float)(e * sem_from_f64((sem_bits_f64(shifted) + 1023) << 52));
}

/*
 * log2(x) = k + log2(m), m from sqrt(1/2) to sqrt(2), and log2(m) = 2 / ln 2 * artanh(s),
 * s = (m - 1) / (m + 1), |s| < 0.172, by its series to s^17.
 */
static inline float sem_log2_f32(float x)
{
    uint64_t bits = sem_bits_f64((double)x);
    /* High word of the f64 nearest below sqrt(1/2): where k steps. */
    uint32_t above = (uint32_t)(bits >> 32) - 0x3fe6a09eu;
    int32_t k = (int32_t)above >> 20;
    double m = sem_from_f64(bits - ((uint64_t)(above & 0xfff00000u) << 32));
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double sum = 1.0 / 17;
    float result, end = sem_choose_f32(x == 0, -INFINITY, sem_choose_f32(x > 0, x, NAN));

    sum = sum * z + 1.0 / 15;
    sum = sum * z + 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    sum = sum * z + 1.0;
    result = (float)((double)k + sum * s * (2.0 / SEM_LN2));
    return sem_choose_f32((x > 0) & (x < INFINITY), result, end);
}

/*
 * 2/pi * 2^(8 i) modulo 4, in parts of 21, 21 and 53 bits: products of the first two with 24
 * bits are exact.
 */
static const double sem_two_over_pi_1[14] = {
    0x1.45f3000000000p-1, 0x1.7cc1b00000000p+1, 0x1.836e400000000p+0, 0x1.b727200000000p+1,
    0x1.2722000000000p+1, 0x1.220a900000000p+1, 0x1.529e000000000p-4, 0x1.29fc200000000p+0,
    0x1.fc27400000000p+0, 0x1.3abe000000000p-3, 0x1.abe8f00000000p+1, 0x1.e8fa900000000p+1,
    0x1.f534c00000000p+0, 0x1.34ddc00000000p+0,
};
static const double sem_two_over_pi_2[14] = {
    0x1.b727000000000p-23, 0x1.c9c8800000000p-21, 0x1.c882a00000000p-21, 0x1.054a400000000p-22,
    0x1.529fc00000000p-20, 0x1.3f84e00000000p-21, 0x1.c275700000000p-20, 0x1.d5f4400000000p-22,
    0x1.7d1f500000000p-20, 0x1.1f53400000000p-20, 0x1.534dd00000000p-20, 0x1.4ddc000000000p-20,
    0x1.dc0db00000000p-20, 0x1.b6c4000000000p-25,
};
static const double sem_two_over_pi_3[14] = {
    0x1.1054a7f09d5f4p-42, 0x1.529fc2757d1f5p-44, 0x1.4fe13abe8fa9ap-43, 0x1.f84eafa3ea69cp-41,
    0x1.3abe8fa9a6ee0p-43, 0x1.5f47d4d377037p-42, 0x1.a3ea69bb81b6cp-41, 0x1.ea69bb81b6c53p-41,
    0x1.a6ee06db14acdp-43, 0x1.bb81b6c52b328p-41, 0x1.81b6c52b32788p-41, 0x1.b6c52b3278872p-41,
    0x1.8a5664f10e410p-42, 0x1.2b32788720840p-41,
};

/*
 * sin(x + turn * pi/2). x = n * 2^(8 i) with n an integer if i > 0, so that multiples of 4 of
 * 2^(8 i) * 2/pi may be dropped: they are whole turns.
 */
static inline float sem_sin_turned_f32(float x, uint32_t turn)
{
    int32_t exponent = (int32_t)(sem_bits_f32(x) >> 23 & 0xff);
    int64_t i = ((exponent < 150 ? 150 : exponent) - 150) >> 3;
    double n = (double)x * sem_pow2(-8 * (int32_t)i);
    double first = n * sem_two_over_pi_1[i], second = n * sem_two_over_pi_2[i];
    double part = first - 4.0 * ((first * 0.25 + SEM_SHIFTER) - SEM_SHIFTER);
    double shifted = (part + second) + SEM_SHIFTER;
    uint64_t quadrant = sem_bits_f64(shifted) + turn;
    double fraction = ((part - (shifted - SEM_SHIFTER)) + second) + n * sem_two_over_pi_3[i];
    double r = fraction * SEM_PI_2, z = r * r;
    double sine = 1.0 / 6227020800.0, cosine = 1.0 / 87178291200.0, value;

    sine = sine * z - 1.0 / 39916800;
    sine = sine * z + 1.0 / 362880;
    sine = sine * z - 1.0 / 5040;
    sine = sine * z + 1.0 / 120;
    sine = sine * z - 1.0 / 6;
    sine = (sine * z + 1.0) * r;
    cosine = 1.0 / 479001600 - cosine * z;
    cosine = cosine * z - 1.0 / 3628800;
    cosine = cosine * z + 1.0 / 40320;
    cosine = cosine * z - 1.0 / 720;
    cosine = cosine * z + 1.0 / 24;
    cosine = cosine * z - 0.5;
    cosine = cosine * z + 1.0;
    value = sem_choose_f64((int)(quadrant & 1), cosine, sine);
    return (float)sem_from_f64(sem_bits_f64(value) ^ (quadrant & 2) << 62);
}

static inline float sem_sin_f32(float x)
{
    return sem_sin_turned_f32(x, 0);
}

static inline float sem_cos_f32(float x)
{
    return sem_sin_turned_f32(x, 1);
}

#endif
