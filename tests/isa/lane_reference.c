#include "tests/isa/lane_reference.h"

#include "isa/isa.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;
__extension__ typedef __float128 quad; /* 113 bits: more than 2 * 53 + 2, so + - * / round as if once */

enum { MAX_STEM = 32 };

/* ---- operands ------------------------------------------------------------------------------ */

static unsigned width_of(enum isa_type type)
{
    return 8 * isa_type_bytes(type);
}

static bool is_float(enum isa_type type)
{
    return type == T_F32 || type == T_F64;
}

static wide integer_of(enum isa_type type, uint64_t u)
{
    switch (type) {
    case T_I32:
        return (int32_t)(uint32_t)u;
    case T_I64:
        return (int64_t)u;
    default:
        return width_of(type) == 32 ? (uint32_t)u : (wide)u;
    }
}

static double float_of(enum isa_type type, uint64_t u)
{
    uint32_t low = (uint32_t)u;
    float f;
    double d;

    memcpy(&f, &low, sizeof f);
    memcpy(&d, &u, sizeof d);
    return type == T_F32 ? (double)f : d;
}

/* x rounded to the type, a NaN made canonical. */
static uint64_t bits_of(enum isa_type type, quad x)
{
    float f = (float)x;
    double d = (double)x;
    uint32_t u;
    uint64_t v;

    if (x != x)
        return type == T_F32 ? 0x7fc00000u : UINT64_C(0x7ff8000000000000);
    memcpy(&u, &f, sizeof u);
    memcpy(&v, &d, sizeof v);
    return type == T_F32 ? u : v;
}

/* "v_mad_u64_u32" is mad: what stands before the first type. */
static void stem_of(const char *name, char *stem)
{
    static const char *const types[] = {"_b32", "_u32", "_i32", "_f32", "_b64",
                                        "_u64", "_i64", "_f64", "_f16"};
    const char *from = name + 2, *end = from + strlen(from);

    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        const char *at = strstr(from, types[i]);

        if (at && at < end)
            end = at;
    }
    snprintf(stem, MAX_STEM, "%.*s", (int)(end - from), from);
}

/* ---- integers ------------------------------------------------------------------------------ */

static bool bit(uint64_t u, unsigned i)
{
    return i < 64 && (u >> i & 1);
}

/* `count` bits of a from `from` up; those past the top are `fill`. Extended with its own top bit if is_signed. */
static uint64_t field(uint64_t a, uint64_t from, uint64_t count, bool is_signed)
{
    uint64_t out = 0;
    bool fill = is_signed && bit(a, 31), last = false;

    for (unsigned i = 0; i < 32; i++) {
        uint64_t source = from + i;

        if (i < count)
            last = source < 32 ? bit(a, (unsigned)source) : fill;
        if (i < count || (is_signed && count))
            out |= (uint64_t)last << i;
    }
    return out;
}

static uint64_t count_bits(const char *stem, uint64_t a, unsigned width)
{
    unsigned set = 0, low = 0, high = 0;
    uint64_t reversed = 0;

    for (unsigned i = 0; i < width; i++) {
        set += bit(a, i);
        if (bit(a, i))
            reversed |= UINT64_C(1) << (width - 1 - i);
    }
    while (low < width && !bit(a, low))
        low++;
    while (high < width && !bit(a, width - 1 - high))
        high++;
    return strcmp(stem, "popcount") == 0 ? set
           : strcmp(stem, "ctz") == 0    ? low
           : strcmp(stem, "clz") == 0    ? high
                                         : reversed;
}

static wide divided(const char *stem, wide a, wide b)
{
    bool quotient = strcmp(stem, "div") == 0;

    if (b == 0)
        return quotient ? -1 : a;
    return quotient ? a / b : a % b;
}

static bool one_of(const char *stem, const char *list)
{
    const char *at = strstr(list, stem);
    size_t len = strlen(stem);

    return at && (at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == 0);
}

/* Bitwise operations, one bit at a time. */
static uint64_t logic(const char *stem, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t out = 0;

    for (unsigned i = 0; i < 64; i++) {
        bool x = bit(a, i), y = bit(b, i), z = bit(c, i), r;

        switch (stem[0]) {
        case 'a':
            r = strcmp(stem, "and") == 0 ? x && y : x && !y;
            break;
        case 'o':
            r = x || y;
            break;
        case 'x':
            r = x != y;
            break;
        case 'n':
            r = !x;
            break;
        default: /* bfi */
            r = x ? y : z;
        }
        out |= (uint64_t)r << i;
    }
    return out;
}

/* floor(a * 2^-n) for a right shift, a * 2^n for a left one. */
static wide shifted(const char *stem, wide a, wide by)
{
    for (; by > 0; by--)
        a = strcmp(stem, "shl") == 0 ? a * 2 : a < 0 ? (a - 1) / 2 : a / 2;
    return a;
}

static wide integer_value(const char *stem, const struct isa_op_info *info, const uint64_t *u)
{
    wide a = integer_of(info->atype, u[0]), b = integer_of(info->btype, u[1]);
    wide c = integer_of(info->ctype, u[2]);
    unsigned width = width_of(info->atype);

    if (one_of(stem, "add sub neg"))
        return stem[0] == 'a' ? a + b : stem[0] == 's' ? a - b : -a;
    if (one_of(stem, "mul mad"))
        return (wide)((uwide)a * (uwide)b + (stem[1] == 'a' ? (uwide)c : 0));
    if (strcmp(stem, "mulhi") == 0)
        return shifted("shr", a * b, 32);
    if (one_of(stem, "div rem"))
        return divided(stem, a, b);
    if (one_of(stem, "min max"))
        return (a < b) == (stem[1] == 'i') ? a : b;
    if (strcmp(stem, "abs") == 0)
        return a < 0 ? -a : a;
    if (one_of(stem, "and or xor andn not bfi"))
        return (wide)logic(stem, u[0], u[1], u[2]);
    if (one_of(stem, "shl shr ashr"))
        return shifted(stem, a, b % (wide)width);
    if (strcmp(stem, "bfe") == 0)
        return (wide)field(u[0], (uint32_t)u[1], (uint32_t)u[2], info->atype == T_I32);
    if (strcmp(stem, "bfm") == 0)
        return (wide)((uwide)field(~UINT64_C(0), 0, (uint32_t)u[0], false)
                      << ((uint32_t)u[1] < 32 ? (uint32_t)u[1] : 32));
    if (one_of(stem, "popcount clz ctz brev"))
        return (wide)count_bits(stem, u[0], width);
    if (one_of(stem, "mov cvt"))
        return a;
    if (strcmp(stem, "select") == 0)
        return (uint32_t)u[2] ? a : b;
    abort(); /* an opcode that the reference does not know */
}

/* ---- comparisons --------------------------------------------------------------------------- */

static unsigned class_of(enum isa_type type, uint64_t u)
{
    unsigned fraction = type == T_F32 ? 23 : 52;
    double x = float_of(type, u);
    bool minus = bit(u, width_of(type) - 1);
    uint64_t exponent = u >> fraction & (type == T_F32 ? 0xff : 0x7ff);

    if (isnan(x))
        return bit(u, fraction - 1) ? 1 : 0;
    if (isinf(x))
        return minus ? 2 : 9;
    if (x == 0)
        return minus ? 5 : 6;
    return exponent ? (minus ? 3 : 8) : (minus ? 4 : 7);
}

/* -1, 0, 1, or 2 for unordered. */
static int order_of(enum isa_type type, uint64_t a, uint64_t b)
{
    if (is_float(type)) {
        double x = float_of(type, a), y = float_of(type, b);

        return isnan(x) || isnan(y) ? 2 : isgreater(x, y) - isless(x, y);
    }
    return (integer_of(type, a) > integer_of(type, b)) - (integer_of(type, a) < integer_of(type, b));
}

static bool compared(const char *stem, enum isa_type type, const uint64_t *u)
{
    int order = order_of(type, u[0], u[1]);
    const char *relation = stem + strlen("cmp_");

    if (strcmp(relation, "class") == 0)
        return bit((uint32_t)u[1], class_of(type, u[0]));
    if (strcmp(relation, "o") == 0)
        return order != 2;
    if (strcmp(relation, "u") == 0)
        return order == 2;
    if (strcmp(relation, "ne") == 0)
        return order != 0;
    return (strcmp(relation, "eq") == 0 && order == 0) || (relation[0] == 'l' && order == -1) ||
           (relation[0] == 'g' && order == 1) ||
           (relation[1] == 'e' && relation[0] != 'n' && order == 0);
}

/* ---- floating point ------------------------------------------------------------------------ */

/*
 * a * b + c rounded to odd in 113 bits, after which rounding to fewer bits is right: a * b is exact,
 * and the error of the sum says whether its last bit has to be made odd.
 */
static quad fused(quad a, quad b, quad c)
{
    quad p = a * b, s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    uwide u;

    if (!(error < 0 || error > 0) || s - s != 0)
        return s;
    memcpy(&u, &s, sizeof u);
    if (!(u & 1))
        u = (error > 0) == (s > 0) ? u + 1 : u - 1;
    memcpy(&s, &u, sizeof s);
    return s;
}

static quad scaled(quad x, int n)
{
    for (; n > 0; n--)
        x *= 2;
    for (; n < 0; n++)
        x /= 2;
    return x;
}

/* The nearest f64 to the root: of the candidates, the one between whose midpoints it lies. */
static quad square_root(double x)
{
    double r = sqrt(x);

    if (!(x > 0) || isinf(x))
        return (quad)r;
    for (double s = nextafter(r, 0); s <= nextafter(r, INFINITY); s = nextafter(s, INFINITY)) {
        quad low = ((quad)s + (quad)nextafter(s, 0)) / 2;
        quad high = ((quad)s + (quad)nextafter(s, INFINITY)) / 2;

        if (low * low < (quad)x && (quad)x < high * high)
            return (quad)s;
    }
    return 0;
}

/* Number wins over NaN, -0 < +0. */
static double extreme(bool least, double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return (signbit(a) != 0) == least ? a : b;
    return (a < b) == least ? a : b;
}

static quad float_value(const char *stem, const struct isa_op_info *info, const uint64_t *u)
{
    double a = float_of(info->atype, u[0]), b = float_of(info->btype, u[1]);
    double c = float_of(info->ctype, u[2]);
    double below_one = info->atype == T_F32 ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1;
    int exponent = (int32_t)(uint32_t)u[1], unused;
    quad q = (quad)a;

    if (one_of(stem, "add sub mul div"))
        return stem[0] == 'a'   ? q + (quad)b
               : stem[0] == 's' ? q - (quad)b
               : stem[0] == 'm' ? q * (quad)b
                                : q / (quad)b;
    if (strcmp(stem, "fma") == 0)
        return fused(q, (quad)b, (quad)c);
    if (strcmp(stem, "sqrt") == 0)
        return square_root(a);
    if (one_of(stem, "min max"))
        return (quad)extreme(stem[1] == 'i', a, b);
    if (one_of(stem, "floor ceil trunc rint"))
        return (quad)(stem[0] == 'f'   ? floor(a)
                      : stem[0] == 'c' ? ceil(a)
                      : stem[0] == 't' ? trunc(a)
                                       : rint(a));
    if (strcmp(stem, "fract") == 0)
        return q - (quad)floor(a) > (quad)below_one ? (quad)below_one : q - (quad)floor(a);
    if (strcmp(stem, "ldexp") == 0)
        return scaled(q, exponent > 4000 ? 4000 : exponent < -4000 ? -4000 : exponent);
    if (strcmp(stem, "frexp_mant") == 0)
        return isfinite(a) ? (quad)frexp(a, &unused) : q;
    if (strcmp(stem, "rcp") == 0)
        return 1 / q;
    abort();
}

/* ---- conversions --------------------------------------------------------------------------- */

static wide saturated(enum isa_type type, double x)
{
    wide high = type == T_I32   ? INT32_MAX
                : type == T_U32 ? UINT32_MAX
                : type == T_I64 ? INT64_MAX
                                : (wide)UINT64_MAX;
    wide low = type == T_I32 || type == T_I64 ? -high - 1 : 0;

    if (isnan(x))
        return 0;
    return x >= 1e30        ? high
           : x <= -1e30     ? low
           : (wide)x > high ? high
           : (wide)x < low  ? low
                            : (wide)x;
}

static uint64_t to_f16(double x)
{
    uint64_t sign = signbit(x) ? 0x8000 : 0, units;
    int exponent = -14;

    if (isnan(x))
        return 0x7e00;
    x = fabs(x);
    if (x > 1e6)
        return sign | 0x7c00;
    while (x >= ldexp(2.0, exponent))
        exponent++;
    /* In units of the last place; a carry goes into the exponent by itself. */
    units = (uint64_t)nearbyint(ldexp(x, 10 - exponent));
    units += x < 0x1p-14 ? 0 : (uint64_t)(exponent + 14) << 10;
    return sign | (units > 0x7c00 ? 0x7c00 : units);
}

static double from_f16(uint64_t h)
{
    double sign = h & 0x8000 ? -1 : 1, fraction = (double)(h & 0x3ff);
    int exponent = (int)(h >> 10 & 31);

    if (exponent == 31)
        return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static quad toward_zero_f32(quad x)
{
    float f = (float)x;
    quad magnitude = x < 0 ? -x : x;

    if (isnan(f) || (quad)fabsf(f) <= magnitude)
        return (quad)f;
    return (quad)nextafterf(f, 0);
}

static bool conversion_value(const struct isa_op_info *info, uint64_t a, uint64_t *result)
{
    bool to_float = is_float(info->dtype), from_float = is_float(info->atype);
    quad value = from_float ? (quad)float_of(info->atype, a) : (quad)integer_of(info->atype, a);

    if (strstr(info->name, "_f32_f16"))
        *result = bits_of(T_F32, (quad)from_f16(a));
    else if (strstr(info->name, "_f16_f32"))
        *result = to_f16(float_of(T_F32, a));
    else if (to_float && strstr(info->name, "_rz_"))
        *result = bits_of(T_F32, toward_zero_f32(value));
    else if (to_float)
        *result = bits_of(info->dtype, value);
    else if (from_float)
        *result = (uint64_t)saturated(info->dtype, float_of(info->atype, a));
    else
        return false;
    return true;
}

/* ---- the reference ------------------------------------------------------------------------- */

static bool is_judged_by_bound(const char *stem, enum isa_type type)
{
    return one_of(stem, "rsqrt exp2 log2 sin cos") || (strcmp(stem, "rcp") == 0 && type == T_F64);
}

static uint64_t any_value(const char *stem, const struct isa_op_info *info, const uint64_t *u)
{
    uint64_t sign = UINT64_C(1) << (width_of(info->atype) - 1), result;
    int exponent = 0;

    if (strncmp(stem, "cmp_", 4) == 0)
        return compared(stem, info->atype, u);
    if (strncmp(stem, "cvt", 3) == 0 && conversion_value(info, u[0], &result))
        return result;
    if (is_float(info->atype) && one_of(stem, "abs neg"))
        return stem[0] == 'a' ? u[0] & ~sign : u[0] ^ sign;
    if (strcmp(stem, "frexp_exp") == 0) {
        if (isfinite(float_of(info->atype, u[0])))
            frexp(float_of(info->atype, u[0]), &exponent);
        return (uint64_t)exponent;
    }
    if (is_float(info->dtype))
        return bits_of(info->dtype, float_value(stem, info, u));
    return (uint64_t)integer_value(stem, info, u);
}

bool reference_value(int op, uint64_t a, uint64_t b, uint64_t c, uint64_t *result)
{
    const struct isa_op_info *info = &isa_ops[op];
    const uint64_t u[3] = {a, b, c};
    char stem[MAX_STEM];

    stem_of(info->name, stem);
    if (is_judged_by_bound(stem, info->dtype))
        return false;
    *result = any_value(stem, info, u);
    if (isa_type_words(info->dtype) == 1)
        *result = (uint32_t)*result;
    return true;
}

static long double exact(const char *stem, long double x)
{
    return strcmp(stem, "rsqrt") == 0  ? 1 / sqrtl(x)
           : strcmp(stem, "rcp") == 0  ? 1 / x
           : strcmp(stem, "exp2") == 0 ? exp2l(x)
           : strcmp(stem, "log2") == 0 ? log2l(x)
           : strcmp(stem, "sin") == 0  ? sinl(x)
                                       : cosl(x);
}

/* x87's sine and cosine reach to 2^63; beyond, glibc's in f64 are good for an f32. */
static long double exact_far(const char *stem, double x)
{
    if (fabs(x) > 0x1p62 && isfinite(x) && one_of(stem, "sin cos"))
        return stem[0] == 's' ? (long double)sin(x) : (long double)cos(x);
    return exact(stem, (long double)x);
}

bool reference_bound(int op, uint64_t a, uint64_t result)
{
    const struct isa_op_info *info = &isa_ops[op];
    double x = float_of(info->atype, a), got = float_of(info->dtype, result);
    char stem[MAX_STEM];
    long double want;
    int exponent;

    stem_of(info->name, stem);
    want = exact_far(stem, x);
    if (isnan(want))
        return result == bits_of(info->dtype, (quad)NAN);
    if (info->dtype == T_F64) {
        if (isinf((double)want) || want == 0 || isinf(got))
            return got == (double)want && signbit(got) == signbit((double)want);
        return (result & 0x1fffffff) == 0 &&
               fabsl(got - want) <= fmaxl(fabsl(want) * 0x1p-23L, ldexpl(1, -1074 + 29));
    }
    if (isinf((float)want) || want == 0 || isinf(got))
        return got == (double)(float)want && signbit(got) == signbit((double)want);
    frexpl(want, &exponent);
    return fabsl(got - want) <= ldexpl(1, (exponent < -125 ? -125 : exponent) - 24);
}
