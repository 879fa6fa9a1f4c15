/*
 * Arithmetic corners on the whole machine: PB-16 to PB-20. Every pair of a set of values, and random ones, goes from memory through
 * an instruction and back, timed and for values only, in wavefronts of every width, for all lanes and for some, from registers,
 * literals and scalar registers. The results are computed here a second time, with integers where C has no rule.
 */
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NAN_BITS 0x7fc00000u

static float f(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Bits of a result: a NaN that is computed is the one. */
static uint32_t bits(float x)
{
    uint32_t b;

    memcpy(&b, &x, sizeof b);
    return isnan(x) ? NAN_BITS : b;
}

/* ---- what each instruction is ---- */

typedef uint32_t binary_fn(uint32_t a, uint32_t b);

/* Toward zero in 64 bits, where INT_MIN / -1 is no overflow. By 0: all ones, and the dividend. */
static uint32_t div_i32(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((int64_t)(int32_t)a / (int32_t)b) : UINT32_MAX;
}

static uint32_t rem_i32(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((int64_t)(int32_t)a % (int32_t)b) : a;
}

static uint32_t div_u32(uint32_t a, uint32_t b)
{
    return b ? a / b : UINT32_MAX;
}

static uint32_t rem_u32(uint32_t a, uint32_t b)
{
    return b ? a % b : a;
}

/* Shifts are modulo 32, here by single steps. */
static uint32_t shl(uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < b % 32; i++)
        a += a;
    return a;
}

static uint32_t shr(uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < b % 32; i++)
        a /= 2;
    return a;
}

static uint32_t ashr(uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < b % 32; i++)
        a = a / 2 | (a & 0x80000000u);
    return a;
}

/* Toward zero, the nearest end where it is out of range, NaN is 0; from the bits alone. */
static uint32_t to_integer(uint32_t a, bool with_sign)
{
    uint32_t exponent = a >> 23 & 255;
    uint64_t mantissa = (a & 0x7fffff) | 0x800000, size;
    bool negative = a >> 31;

    if (exponent == 255 && (a & 0x7fffff))
        return 0;
    size = exponent < 127        ? 0
           : exponent > 127 + 33 ? UINT64_C(1) << 33
           : exponent < 150      ? mantissa >> (150 - exponent)
                                 : mantissa << (exponent - 150);
    if (!with_sign)
        return negative ? 0 : size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    if (negative)
        return size > 0x80000000u ? 0x80000000u : 0u - (uint32_t)size;
    return size > INT32_MAX ? INT32_MAX : (uint32_t)size;
}

static uint32_t i32_of_f32(uint32_t a, uint32_t b)
{
    (void)b;
    return to_integer(a, true);
}

static uint32_t u32_of_f32(uint32_t a, uint32_t b)
{
    (void)b;
    return to_integer(a, false);
}

/* The 24 upper bits, rounded to the nearest, to even between two. */
static uint32_t f32_of_size(uint32_t size, uint32_t sign)
{
    unsigned shift = 0;
    uint64_t m = size;

    if (!size)
        return sign;
    while (m >> shift >= UINT64_C(1) << 24)
        shift++;
    if (shift) {
        uint64_t rest = m & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);

        m >>= shift;
        m += rest > half || (rest == half && (m & 1));
    }
    while (m < UINT64_C(1) << 23) {
        m <<= 1;
        shift--;
    }
    /* The upper bit of m is one to the exponent. */
    return sign | (((uint32_t)(149 + (int)shift) << 23) + (uint32_t)m);
}

static uint32_t f32_of_u32(uint32_t a, uint32_t b)
{
    (void)b;
    return f32_of_size(a, 0);
}

static uint32_t f32_of_i32(uint32_t a, uint32_t b)
{
    (void)b;
    return a >> 31 ? f32_of_size(0u - a, 0x80000000u) : f32_of_size(a, 0);
}

static bool is_nan(uint32_t a)
{
    return (a & 0x7fffffff) > 0x7f800000;
}

/* Numbers in order, by sign and size; -0 is below +0. */
static int64_t order(uint32_t a)
{
    return a >> 31 ? -(int64_t)(a & 0x7fffffff) - 1 : (int64_t)a;
}

/* A number wins over NaN. */
static uint32_t min_f32(uint32_t a, uint32_t b)
{
    if (is_nan(a) || is_nan(b))
        return !is_nan(a) ? a : !is_nan(b) ? b : NAN_BITS;
    return order(a) < order(b) ? a : b;
}

static uint32_t max_f32(uint32_t a, uint32_t b)
{
    if (is_nan(a) || is_nan(b))
        return !is_nan(a) ? a : !is_nan(b) ? b : NAN_BITS;
    return order(a) < order(b) ? b : a;
}

static uint32_t add_f32(uint32_t a, uint32_t b)
{
    return bits(f(a) + f(b));
}

static uint32_t mul_f32(uint32_t a, uint32_t b)
{
    return bits(f(a) * f(b));
}

static uint32_t move(uint32_t a, uint32_t b)
{
    (void)b;
    return a;
}

/* Where both zeros are one; a comparison with NaN is false, but for ne. */
static int64_t place(uint32_t a)
{
    return (a & 0x7fffffff) == 0 ? 0 : order(a);
}

#define COMPARISON(name, op, with_nan)                                                             \
    static uint32_t name(uint32_t a, uint32_t b)                                                   \
    {                                                                                              \
        return is_nan(a) || is_nan(b) ? with_nan : place(a) op place(b);                           \
    }
COMPARISON(eq, ==, 0)
COMPARISON(ne, !=, 1)
COMPARISON(lt, <, 0)
COMPARISON(le, <=, 0)
COMPARISON(gt, >, 0)
COMPARISON(ge, >=, 0)

/* Of a branch on a comparison and one on its negation each lane takes exactly one. */
#define SIDES " v_mov_b32 v2, 7\n @m1 v_mov_b32 v2, 1\n @!m1 v_mov_b32 v2, 0\n"
#define UNARY(op) " " op " v2, v0\n"
#define BINARY(op) " " op " v2, v0, v1\n"
#define COMPARE(op) " " op " m1, v0, v1\n" SIDES

struct instruction {
    const char *code; /* v2 from v0 and v1 */
    const char *name; /* of one that takes a second operand as a literal, NULL for none */
    binary_fn *is;
};

static const struct instruction instructions[] = {
    /* PB-16 */
    {BINARY("v_div_i32"), "v_div_i32", div_i32},
    {BINARY("v_rem_i32"), "v_rem_i32", rem_i32},
    {BINARY("v_div_u32"), "v_div_u32", div_u32},
    {BINARY("v_rem_u32"), "v_rem_u32", rem_u32},
    /* PB-17 */
    {BINARY("v_shl_b32"), "v_shl_b32", shl},
    {BINARY("v_shr_b32"), "v_shr_b32", shr},
    {BINARY("v_ashr_i32"), "v_ashr_i32", ashr},
    {UNARY("v_cvt_f32_i32"), NULL, f32_of_i32},
    {UNARY("v_cvt_f32_u32"), NULL, f32_of_u32},
    /* PB-18 */
    {BINARY("v_min_f32"), NULL, min_f32},
    {BINARY("v_max_f32"), NULL, max_f32},
    {COMPARE("v_cmp_eq_f32"), NULL, eq},
    {COMPARE("v_cmp_ne_f32"), NULL, ne},
    {COMPARE("v_cmp_lt_f32"), NULL, lt},
    {COMPARE("v_cmp_le_f32"), NULL, le},
    {COMPARE("v_cmp_gt_f32"), NULL, gt},
    {COMPARE("v_cmp_ge_f32"), NULL, ge},
    /* PB-19 */
    {UNARY("v_cvt_i32_f32"), NULL, i32_of_f32},
    {UNARY("v_cvt_u32_f32"), NULL, u32_of_f32},
    /* PB-20 */
    {BINARY("v_add_f32"), NULL, add_f32},
    {BINARY("v_mul_f32"), NULL, mul_f32},
    {UNARY("v_mov_b32"), NULL, move},
};

/* Integers and floats, each for what it is not as well. */
static const uint32_t corners[] = {
    0,          1,          2,          5,          7,          31,         32,
    33,         64,         255,        16777217,   16777219,   0x7fffffff, /* integers */
    0x80000000, 0x80000001, 0xffffff80, 0xfffffff9, 0xfffffffe, 0xffffffff, 0x00000002,
    0x007fffff, 0x00800000, 0x807fffff, 0x80800000,             /* denormals and their neighbours */
    0x3f000000, 0x3f800000, 0xbf800000, 0x40bfae14, 0xc0b00000, /* 0.5, 1, -1, 5.99, -5.5 */
    0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x501502f9,
    0xd01502f9, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345,
};

enum { CORNERS = sizeof corners / sizeof *corners, PAIRS = CORNERS * CORNERS, RANDOM = 151 };
enum { ITEMS = PAIRS + RANDOM, BLOCK = 256, OLD = 0x5a5a5a5a };

struct operands {
    uint32_t a[ITEMS], b[ITEMS];
};

static void fill(struct operands *o, uint64_t seed)
{
    struct rng g;

    rng_seed(&g, seed);
    for (unsigned i = 0; i < ITEMS; i++) {
        o->a[i] = i < PAIRS ? corners[i / CORNERS] : (uint32_t)rng_below(&g, UINT64_C(1) << 32);
        o->b[i] = i < PAIRS ? corners[i % CORNERS] : (uint32_t)rng_below(&g, UINT64_C(1) << 32);
    }
}

/* Runs code on items whose lane is in mask, a lane modulo 8, and compares. */
static void check(const char *code, const char *what, binary_fn *is, const struct operands *o,
                  unsigned width, bool values, unsigned mask)
{
    static char text[2048];
    char widths[8];
    const uint32_t *got;
    struct krig r;
    uint32_t id[3];

    snprintf(widths, sizeof widths, "%u", width);
    snprintf(text, sizeof text,
             ".kernel k\n.param a u32[]\n.param b u32[]\n.param d u32[]\n.vregs 8\n"
             " v_get_u32 v3, %%gid\n v_cmp_lt_u32 m0, v3, %u\n @m0 global_load_b32 v0, [a + v3*4]\n"
             " @m0 global_load_b32 v1, [b + v3*4]\n v_mov_b32 v2, 0x%x\n"
             " v_and_b32 v4, v3, 7\n v_mov_b32 v5, %u\n v_shr_b32 v5, v5, v4\n"
             " v_and_b32 v5, v5, 1\n v_cmp_eq_u32 m2, v5, 1\n s_branch_none m2, behind\n%s"
             "behind:\n @m0 global_store_b32 [d + v3*4], v2\n s_end\n.endkernel\n",
             (unsigned)ITEMS, (unsigned)OLD, mask, code);
    krig_open(&r, "wavefront_size", widths, "compute_units", "2", "cu.simds", "2", NULL);
    if (values)
        sim_set_mode(r.m, SIM_VALUES);
    for (unsigned i = 0; i < 3; i++)
        id[i] = krig_array(&r, ITEMS * 4);
    memcpy(sim_array_data(r.m, id[0]), o->a, sizeof o->a);
    memcpy(sim_array_data(r.m, id[1]), o->b, sizeof o->b);
    krig_run(&r, &(struct krig_launch){
                     .text = text,
                     .groups = (ITEMS + BLOCK - 1) / BLOCK,
                     .threads = BLOCK,
                     .nargs = 3,
                     .args = {KRIG_ARRAY(id[0]), KRIG_ARRAY(id[1]), KRIG_ARRAY(id[2])}});
    got = sim_array_data(r.m, id[2]);
    for (unsigned i = 0; i < ITEMS; i++) {
        uint32_t want = mask >> i % 8 & 1 ? is(o->a[i], o->b[i]) : OLD;

        if (got[i] != want)
            fail_msg("%s of 0x%" PRIx32 ", 0x%" PRIx32 " is 0x%" PRIx32 ", not 0x%" PRIx32
                     ", width %u, %s, lanes 0x%x",
                     what, o->a[i], o->b[i], got[i], want, width, values ? "values" : "timed", mask);
    }
    krig_close(&r);
}

/* The code with a mask on its last vector writes. */
static const char *masked(const struct instruction *in)
{
    static char out[512];
    size_t len = 0;

    if (strstr(in->code, "@m1"))
        return in->code;
    len = (size_t)snprintf(out, sizeof out, " @m2");
    snprintf(out + len, sizeof out - len, "%s", in->code);
    return out;
}

/* Of the instructions from..to in the table all have the id. */
static void check_all(unsigned first, unsigned count)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    static struct operands o;
    uint64_t seed = test_seed(20261130), n = test_count(1);

    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t k = 0; k < n; k++) {
        fill(&o, seed + k);
        for (unsigned i = first; i < first + count; i++) {
            const struct instruction *in = &instructions[i];
            bool compares = strstr(in->code, "@m1");

            for (unsigned w = 0; w < 4; w++) {
                check(in->code, in->code, in->is, &o, widths[w], w % 2, 0xff);
                check(in->code, in->code, in->is, &o, widths[w], 1 - w % 2, 0xff);
                if (!compares) {
                    check(masked(in), in->code, in->is, &o, widths[w], w % 2, 0xa6);
                    check(masked(in), in->code, in->is, &o, widths[w], 1 - w % 2, 0x01);
                }
            }
        }
    }
}

/* The same with the second operand as a literal, and in the scalar unit: what the assembler keeps, and what one lane computes. */
static void check_literals(unsigned first, unsigned count)
{
    static struct operands o;

    fill(&o, 1);
    for (unsigned i = first; i < first + count; i++) {
        const struct instruction *in = &instructions[i];
        char code[256];

        for (unsigned k = 0; in->name && k < CORNERS; k++) {
            for (unsigned j = 0; j < ITEMS; j++)
                o.b[j] = corners[k];
            snprintf(code, sizeof code, " %s v2, v0, 0x%x\n", in->name, corners[k]);
            check(code, in->name, in->is, &o, 64, k % 2, 0xff);
            for (unsigned j = 0; j < ITEMS; j++)
                o.a[j] = corners[(k + 7) % CORNERS];
            snprintf(
                code, sizeof code,
                " s_mov_b32 s8, 0x%x\n s_mov_b32 s9, 0x%x\n s%s s10, s8, s9\n v_mov_b32 v2, s10\n",
                o.a[0], o.b[0], in->name + 1);
            check(code, in->name, in->is, &o, 32, k % 2, 0xff);
            fill(&o, 1);
        }
    }
}

static void test_pb16_division(void **state)
{
    (void)state;
    check_all(0, 4);
    check_literals(0, 4);
}

static void test_pb17_shifts_and_conversions(void **state)
{
    (void)state;
    check_all(4, 5);
    check_literals(4, 3);
}

static void test_pb18_nan(void **state)
{
    (void)state;
    check_all(9, 8);
}

static void test_pb19_float_to_integer(void **state)
{
    (void)state;
    check_all(17, 2);
}

static void test_pb20_denormals(void **state)
{
    (void)state;
    check_all(19, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb16_division),  cmocka_unit_test(test_pb17_shifts_and_conversions),
        cmocka_unit_test(test_pb18_nan),       cmocka_unit_test(test_pb19_float_to_integer),
        cmocka_unit_test(test_pb20_denormals),
    };

    return cmocka_run_group_tests_name("cases_arithmetic", tests, NULL, NULL);
}
