#include "sim/base/fmath.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* An unevaluated sum: hi is the value rounded to f64, lo what is left of it. */
struct pair {
    double hi, lo;
};

#define SHIFTER                                                                                    \
    0x1.8p52 /* added to a small number, it leaves the nearest integer in the low bits */
#define LN2_TOP 0x1.62e42fefa2p-1 /* 40 bits: exact times an exponent */
#define LN2_REST 0x1.9ef35793c7673p-41

static const struct pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const struct pair per_ln2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const struct pair half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const struct pair third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
static const struct pair fifth = {0x1.999999999999ap-3, -0x1.999999999999ap-57};

static uint64_t bits_of(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static double from_bits(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

/* 2^n, n from -1022 to 1023. */
static double power_of_two(int n)
{
    return from_bits((uint64_t)(n + 1023) << 52);
}

/* ---- sums and products without loss ------------------------------------------------------ */

/* a + b exactly; |a| >= |b| or a is 0. */
static struct pair ordered_sum(double a, double b)
{
    double s = a + b;

    return (struct pair){s, b - (s - a)};
}

/* a + b exactly (Knuth). */
static struct pair exact_sum(double a, double b)
{
    double s = a + b, t = s - a;

    return (struct pair){s, (a - (s - t)) + (b - t)};
}

/* The upper 26 bits of a. */
static double upper_half(double a)
{
    double t = a * 0x1.0000002p27;

    return t - (t - a);
}

/* a * b exactly (Dekker), unless something overflows or underflows. */
static struct pair exact_product(double a, double b)
{
    double ah = upper_half(a), al = a - ah, bh = upper_half(b), bl = b - bh, p = a * b;

    return (struct pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static struct pair product(struct pair a, struct pair b)
{
    struct pair p = exact_product(a.hi, b.hi);

    return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* |a| >= |b|, or about as large and of the same sign. */
static struct pair sum(struct pair a, struct pair b)
{
    struct pair s = exact_sum(a.hi, b.hi);

    return ordered_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* ---- exponentials ------------------------------------------------------------------------ */

/*
 * 2^k * e^(r.hi + r.lo), |r.hi| <= 0.35, k from -1100 to 1024. The series goes to r^14, past which
 * is less than 2^-61 of the result; k is applied in two halves so that a result that is
 * denormal is rounded once more at most.
 */
static double scaled_exp(struct pair r, int k)
{
    static const double inverse_factorials[] = {
        1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
        1.0 / 362880,      1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,
        1.0 / 24,          1.0 / 6,          1.0 / 2,
    };
    struct pair head = ordered_sum(1.0, r.hi);
    double tail = 0;
    int half = k / 2;

    for (unsigned i = 0; i < sizeof inverse_factorials / sizeof *inverse_factorials; i++)
        tail = tail * r.hi + inverse_factorials[i];
    tail = tail * r.hi * r.hi + (r.lo + r.lo * r.hi);
    return (head.hi + (head.lo + tail)) * power_of_two(half) * power_of_two(k - half);
}

/* 2^(e.hi + e.lo) for |e.hi| < 1100. */
static double exp2_of_pair(struct pair e)
{
    double k = (e.hi + SHIFTER) - SHIFTER;
    struct pair r = product((struct pair){e.hi - k, e.lo}, ln2);

    return scaled_exp(r, (int)k);
}

double hd_exp2(double x)
{
    if (x != x)
        return x + x;
    if (x >= 1024.0)
        return (double)INFINITY;
    if (x < -1080.0)
        return 0.0;
    return exp2_of_pair((struct pair){x, 0.0});
}

double hd_exp(double x)
{
    double k;

    if (x != x)
        return x + x;
    if (x > 710.0)
        return (double)INFINITY;
    if (x < -750.0)
        return 0.0;
    k = (x * per_ln2.hi + SHIFTER) - SHIFTER;
    return scaled_exp(ordered_sum(x - k * LN2_TOP, -k * LN2_REST), (int)k);
}

/* ---- logarithms -------------------------------------------------------------------------- */

/*
 * ln(m) for x = 2^k * m, m from sqrt(1/2) to sqrt(2): 2 artanh(s), s = (m - 1) / (m + 1), |s| <
 * 0.172. The series goes to s^27; its first terms are pairs. Relative error about 2^-68. x is
 * finite and positive.
 */
static struct pair log_of_mantissa(double x, int *k)
{
    bool denormal = x < 0x1p-1022;
    uint64_t bits = bits_of(denormal ? x * 0x1p54 : x);
    /* sqrt(1/2), where k steps. */
    int64_t steps = (int64_t)(bits - UINT64_C(0x3fe6a09e667f3bcd)) >> 52;
    double m = from_bits(bits - ((uint64_t)steps << 52)), tail = 1.0 / 27;
    struct pair below = exact_sum(m, 1.0), s, p, z, u, v;

    *k = (int)steps - (denormal ? 54 : 0);
    s.hi = (m - 1.0) / below.hi;
    p = exact_product(s.hi, below.hi);
    s.lo = ((((m - 1.0) - p.hi) - p.lo) - s.hi * below.lo) / below.hi;
    z = product(s, s);
    for (int odd = 25; odd >= 7; odd -= 2)
        tail = tail * z.hi + 1.0 / odd;
    u = sum(fifth, (struct pair){tail * z.hi, 0.0});
    u = sum(third, product(z, u));
    v = product(s, product(z, u));
    s = sum(s, v);
    return (struct pair){2.0 * s.hi, 2.0 * s.lo};
}

/* What is not a finite positive number: NaN, infinity, 0, or below. */
static bool has_no_log(double x)
{
    return !(x > 0 && x < (double)INFINITY);
}

static double log_of_special(double x)
{
    if (x == 0)
        return -(double)INFINITY;
    return x < 0 ? (double)NAN : x + x;
}

double hd_log(double x)
{
    int k;
    struct pair m, s;

    if (has_no_log(x))
        return log_of_special(x);
    m = log_of_mantissa(x, &k);
    s = exact_sum(k * LN2_TOP, m.hi);
    return s.hi + (s.lo + (k * LN2_REST + m.lo));
}

static struct pair log2_of(double x)
{
    int k;
    struct pair m = log_of_mantissa(x, &k);

    m = product(m, per_ln2);
    return sum((struct pair){k, 0.0}, m);
}

double hd_log2(double x)
{
    struct pair l;

    if (has_no_log(x))
        return log_of_special(x);
    l = log2_of(x);
    return l.hi + l.lo;
}

/* ---- powers ------------------------------------------------------------------------------ */

/* 0: y is no integer; 1: odd; 2: even. y is finite. */
static int parity(double y)
{
    double magnitude = fabs(y), half = magnitude * 0.5;

    if (magnitude >= 0x1p53)
        return 2;
    if (magnitude != (double)(int64_t)magnitude)
        return 0;
    return half == (double)(int64_t)half ? 2 : 1;
}

/* x^y where x or y is 0 or infinite, and x is not 1 and y not 0. */
static double pow_of_special(double x, double y)
{
    double magnitude = fabs(x);
    bool grows;

    if (isinf(y)) {
        if (magnitude == 1)
            return 1.0;
        return (magnitude > 1) == (y > 0) ? (double)INFINITY : 0.0;
    }
    grows = (magnitude > 1) == (y > 0);
    magnitude = grows ? (double)INFINITY : 0.0;
    return signbit(x) && parity(y) == 1 ? -magnitude : magnitude;
}

double hd_pow(double x, double y)
{
    struct pair l, e;
    double sign = 1.0, estimate;

    if (x == 1 || y == 0)
        return 1.0;
    if (x != x || y != y)
        return x + y;
    if (x == 0 || isinf(x) || isinf(y))
        return pow_of_special(x, y);
    if (x < 0) {
        if (parity(y) == 0)
            return (double)NAN;
        sign = parity(y) == 1 ? -1.0 : 1.0;
        x = -x;
    }
    l = log2_of(x);
    if (l.hi == 0)
        return sign; /* -1; the product below could overflow on its way to 0 */
    estimate = y * l.hi;
    if (estimate > 1025.0)
        return sign * (double)INFINITY;
    if (estimate < -1080.0)
        return sign * 0.0;
    e = exact_product(y, l.hi);
    return sign * exp2_of_pair(ordered_sum(e.hi, e.lo + y * l.lo));
}

/* ---- sine and cosine --------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 uint128;

/* A word of zeros, then the fraction of 2/pi. */
static const uint64_t two_over_pi[] = {
    0,
    UINT64_C(0xa2f9836e4e441529),
    UINT64_C(0xfc2757d1f534ddc0),
    UINT64_C(0xdb6295993c439041),
    UINT64_C(0xfe5163abdebbc561),
    UINT64_C(0xb7246e3a424dd2e0),
    UINT64_C(0x06492eea09d1921c),
    UINT64_C(0xfe1deb1cb129a73e),
    UINT64_C(0xe88235f52ebb4484),
    UINT64_C(0xe99c7026b45f7e41),
    UINT64_C(0x3991d639835339f4),
    UINT64_C(0x9c845f8bbdf9283b),
    UINT64_C(0x1ff897ffde05980f),
    UINT64_C(0xef2f118b5a0a6d1f),
    UINT64_C(0x6d367ecf27cb09b7),
    UINT64_C(0x4f463f669e5fea2d),
    UINT64_C(0x7527bac7ebe5f17b),
    UINT64_C(0x3d0739f78a5292ea),
    UINT64_C(0x6bfb5fb11f8d5d08),
    UINT64_C(0x56033046fc7b6bab),
    UINT64_C(0xf0cfbc209af4361d),
};

/* 64 bits of the table from that bit on. */
static uint64_t table_bits(unsigned bit)
{
    uint64_t word = two_over_pi[bit / 64] << bit % 64;

    return bit % 64 ? word | two_over_pi[bit / 64 + 1] >> (64 - bit % 64) : word;
}

/* magnitude / 2^128 as a pair; not 0. */
static struct pair fraction_pair(uint128 magnitude)
{
    uint64_t top = (uint64_t)(magnitude >> 64);
    int shift = top ? __builtin_clzll(top) : 64 + __builtin_clzll((uint64_t)magnitude);

    magnitude <<= shift;
    return (struct pair){
        (double)(uint64_t)(magnitude >> 75) * power_of_two(75 - 128 - shift),
        (double)((uint64_t)(magnitude >> 22) & ((UINT64_C(1) << 53) - 1)) *
            power_of_two(22 - 128 - shift),
    };
}

/*
 * Payne and Hanek's reduction: x - n * pi/2 as a pair, at most pi/4 in magnitude, for x > pi/4;
 * returns n modulo 4. x is M * 2^e, and M times bits of 2/pi whose product with 2^e is a multiple
 * of 4 need not be computed: 192 bits from there on give the fraction to 2^-137.
 */
static unsigned reduce(double x, struct pair *r)
{
    uint64_t bits = bits_of(x);
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    unsigned first = (unsigned)(bits >> 52) - 1075 + 64 - 2;
    uint128 low = (uint128)mantissa * table_bits(first + 128);
    uint128 middle = (uint128)mantissa * table_bits(first + 64) + (uint64_t)(low >> 64);
    uint64_t high = mantissa * table_bits(first) + (uint64_t)(middle >> 64);
    uint128 fraction = ((uint128)high << 64 | (uint64_t)middle) << 2;
    unsigned quadrant = (unsigned)(high >> 62);
    bool up = fraction >> 127 != 0;

    *r = product(fraction_pair(up ? -fraction : fraction), half_pi);
    if (up)
        *r = (struct pair){-r->hi, -r->lo};
    return (quadrant + up) & 3;
}

/* |r| <= pi/4; the series goes to r^19. */
static double sine(struct pair r)
{
    double z = r.hi * r.hi, tail = -1.0 / 121645100408832000;

    tail = tail * z + 1.0 / 355687428096000;
    tail = tail * z - 1.0 / 1307674368000;
    tail = tail * z + 1.0 / 6227020800;
    tail = tail * z - 1.0 / 39916800;
    tail = tail * z + 1.0 / 362880;
    tail = tail * z - 1.0 / 5040;
    tail = tail * z + 1.0 / 120;
    tail = tail * z - 1.0 / 6;
    return r.hi + (r.hi * z * tail + r.lo * (1.0 - 0.5 * z));
}

/* |r| <= pi/4; the series goes to r^18. */
static double cosine(struct pair r)
{
    double z = r.hi * r.hi, half = 0.5 * z, tail = -1.0 / 6402373705728000;
    struct pair head = ordered_sum(1.0, -half);

    tail = tail * z + 1.0 / 20922789888000;
    tail = tail * z - 1.0 / 87178291200;
    tail = tail * z + 1.0 / 479001600;
    tail = tail * z - 1.0 / 3628800;
    tail = tail * z + 1.0 / 40320;
    tail = tail * z - 1.0 / 720;
    tail = tail * z + 1.0 / 24;
    return head.hi + (head.lo + (z * z * tail - r.hi * r.lo));
}

/* sin(x + turn * pi/2) for x >= 0. */
static double turned_sine(double x, unsigned turn)
{
    struct pair r = {x, 0.0};
    double value;

    if (x > 0x1.921fb54442d18p-1)
        turn += reduce(x, &r);
    value = turn & 1 ? cosine(r) : sine(r);
    return turn & 2 ? -value : value;
}

double hd_sin(double x)
{
    double magnitude = fabs(x);

    if (!(magnitude < (double)INFINITY))
        return (double)NAN;
    if (magnitude < 0x1p-27)
        return x; /* and so the sign of zero stays */
    return x < 0 ? -turned_sine(magnitude, 0) : turned_sine(magnitude, 0);
}

double hd_cos(double x)
{
    double magnitude = fabs(x);

    if (!(magnitude < (double)INFINITY))
        return (double)NAN;
    return turned_sine(magnitude, 1);
}
