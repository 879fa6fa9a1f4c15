/* The documented rule of each corner, as values written down by hand; shuffles; spread and classify. */
#include "isa/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NAN32 0x7fc00000u
#define INF32 0x7f800000u
#define NAN64 UINT64_C(0x7ff8000000000000)
#define INF64 UINT64_C(0x7ff0000000000000)
#define MIN32 0x80000000u
#define U64(high, low) (UINT64_C(high) << 32 | UINT64_C(low))

struct corner {
    const char *op;
    uint64_t a, b, c, want;
};

#define CHECK(corners) check_corners(corners, sizeof(corners) / sizeof *(corners))

static const unsigned widths[] = {1, 8, 16, 32, 64};
enum { NUM_WIDTHS = sizeof widths / sizeof *widths };

/* Each lanes there is: calls f for all widths and builds. */
static void each_lanes(void (*f)(const struct isa_lanes *, const void *), const void *user)
{
    for (unsigned w = 0; w < NUM_WIDTHS; w++) {
        for (int build = ISA_BUILD_BASELINE; build <= ISA_BUILD_AVX2; build++) {
            const struct isa_lanes *lanes = isa_lanes_get(widths[w], (enum isa_build)build);

            if (lanes)
                f(lanes, user);
        }
    }
}

static void fill(uint32_t *words, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        words[i] = (uint32_t)value;
        words[width + i] = (uint32_t)(value >> 32);
    }
}

static uint64_t value_of(const struct isa_op_info *info, const uint32_t *d, unsigned lane,
                         unsigned width)
{
    return d[lane] | (isa_type_words(info->dtype) == 2 ? (uint64_t)d[width + lane] << 32 : 0);
}

static void check_corner(const struct isa_lanes *lanes, const void *user)
{
    const struct corner *k = user;
    int op = isa_op_find(k->op);
    uint32_t a[2 * ISA_MAX_WIDTH], b[2 * ISA_MAX_WIDTH], c[2 * ISA_MAX_WIDTH], d[2 * ISA_MAX_WIDTH];
    unsigned width = op >= 0 && isa_ops[op].format == ISA_SALU ? 1 : lanes->width;
    uint64_t got;

    if (op < 0)
        fail_msg("no opcode %s", k->op);
    fill(a, k->a, width);
    fill(b, k->b, width);
    fill(c, k->c, width);
    if (isa_ops[op].format == ISA_VCMP) {
        got = lanes->rows[op].cmp(a, b);
        assert_true(got == 0 || got == (width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1));
        got &= 1;
    } else {
        lanes->rows[op].full(d, a, b, c);
        got = value_of(&isa_ops[op], d, width - 1, width);
    }
    if (got != k->want)
        fail_msg("%s %llx, %llx, %llx = %llx, not %llx (%s, %u lanes)", k->op,
                 (unsigned long long)k->a, (unsigned long long)k->b, (unsigned long long)k->c,
                 (unsigned long long)got, (unsigned long long)k->want, lanes->build, lanes->width);
}

static void check_corners(const struct corner *corners, size_t count)
{
    for (size_t i = 0; i < count; i++)
        each_lanes(check_corner, &corners[i]);
}

/* ---- integers ------------------------------------------------------------------------------ */

static void test_pb16_division(void **state)
{
    static const struct corner corners[] = {
        {"v_div_i32", MIN32, 0xffffffff, 0, MIN32},
        {"v_rem_i32", MIN32, 0xffffffff, 0, 0},
        {"v_div_i32", 7, 0, 0, 0xffffffff},
        {"v_rem_i32", 7, 0, 0, 7},
        {"v_div_i32", 0xfffffff9, 0, 0, 0xffffffff},
        {"v_rem_i32", 0xfffffff9, 0, 0, 0xfffffff9},
        {"v_div_i32", 0, 0, 0, 0xffffffff},
        {"v_rem_i32", 0, 0, 0, 0},
        {"v_div_i32", 0xfffffff9, 2, 0, 0xfffffffd}, /* -7 / 2 = -3, rest -1 */
        {"v_rem_i32", 0xfffffff9, 2, 0, 0xffffffff},
        {"v_div_i32", 7, 0xfffffffe, 0, 0xfffffffd}, /* 7 / -2 = -3, rest 1 */
        {"v_rem_i32", 7, 0xfffffffe, 0, 1},
        {"v_div_u32", 0xffffffff, 1, 0, 0xffffffff},
        {"v_rem_u32", 0xffffffff, 1, 0, 0},
        {"v_div_u32", 5, 0, 0, 0xffffffff},
        {"v_rem_u32", 5, 0, 0, 5},
        {"s_div_i32", MIN32, 0xffffffff, 0, MIN32},
        {"s_rem_i32", MIN32, 0xffffffff, 0, 0},
        {"s_div_u32", 5, 0, 0, 0xffffffff},
        {"s_rem_u32", 5, 0, 0, 5},
    };

    (void)state;
    CHECK(corners);
}

/* In disabled lanes too nothing traps, and nothing is written. */
static void divide_in_lane_0(const struct isa_lanes *lanes, const void *user)
{
    uint32_t a[ISA_MAX_WIDTH], b[ISA_MAX_WIDTH], d[ISA_MAX_WIDTH];
    _Alignas(32) uint32_t spread[ISA_MAX_WIDTH];

    (void)user;
    for (unsigned i = 0; i < lanes->width; i++) {
        a[i] = i ? MIN32 : 100;
        b[i] = i ? (i & 1 ? 0 : 0xffffffff) : 7;
        d[i] = 1234;
    }
    lanes->spread(spread, 1);
    lanes->rows[OP_v_div_i32].some(d, a, b, NULL, spread);
    assert_int_equal(d[0], 14);
    for (unsigned i = 1; i < lanes->width; i++)
        assert_int_equal(d[i], 1234);
}

static void test_pb16_division_in_disabled_lanes(void **state)
{
    (void)state;
    each_lanes(divide_in_lane_0, NULL);
}

static void test_pb17_shifts(void **state)
{
    static const struct corner corners[] = {
        /* Modulo 32: by 32 is by 0, by 33 by 1, by 255 by 31. */
        {"v_shl_b32", 0x80000001, 0, 0, 0x80000001},
        {"v_shl_b32", 0x80000001, 1, 0, 0x00000002},
        {"v_shl_b32", 0x80000001, 31, 0, 0x80000000},
        {"v_shl_b32", 0x80000001, 32, 0, 0x80000001},
        {"v_shl_b32", 0x80000001, 33, 0, 0x00000002},
        {"v_shl_b32", 0x80000001, 255, 0, 0x80000000},
        {"v_shr_b32", 0x80000001, 1, 0, 0x40000000},
        {"v_shr_b32", 0x80000001, 31, 0, 1},
        {"v_shr_b32", 0x80000001, 32, 0, 0x80000001},
        {"v_shr_b32", 0x80000001, 33, 0, 0x40000000},
        {"v_shr_b32", 0x80000001, 255, 0, 1},
        {"v_ashr_i32", 0x80000001, 1, 0, 0xc0000000},
        {"v_ashr_i32", 0x80000001, 31, 0, 0xffffffff},
        {"v_ashr_i32", 0x80000001, 32, 0, 0x80000001},
        {"v_ashr_i32", 0x80000001, 33, 0, 0xc0000000},
        {"v_ashr_i32", 0x80000001, 255, 0, 0xffffffff},
        {"s_shl_b32", 0x80000001, 33, 0, 0x00000002},
        {"s_shr_b32", 0x80000001, 33, 0, 0x40000000},
        {"s_ashr_i32", 0x80000001, 255, 0, 0xffffffff},
        {"v_shl_b64", 1, 64, 0, 1},
        {"v_shl_b64", 1, 63, 0, U64(0x80000000, 0)},
        {"v_shr_b64", U64(0x80000000, 0), 127, 0, 1},
        {"v_ashr_i64", U64(0x80000000, 0), 63, 0, U64(0xffffffff, 0xffffffff)},
        {"v_ashr_i64", U64(0x80000000, 0), 64, 0, U64(0x80000000, 0)},
    };

    (void)state;
    CHECK(corners);
}

static void test_pb17_carries_and_bit_fields(void **state)
{
    static const struct corner corners[] = {
        {"v_add_u64", U64(0xffffffff, 0), U64(1, 0), 0, 0},
        {"v_add_u64", U64(0, 0xffffffff), 1, 0, U64(1, 0)},
        {"v_sub_u64", 0, 1, 0, U64(0xffffffff, 0xffffffff)},
        {"s_add_u64", U64(0, 0xffffffff), 1, 0, U64(1, 0)},
        {"v_mad_u64_u32", 0xffffffff, 0xffffffff, U64(0, 0xffffffff), U64(0xffffffff, 0)},
        {"v_mad_i64_i32", 0xffffffff, 2, 1, U64(0xffffffff, 0xffffffff)},
        {"v_mulhi_i32", MIN32, MIN32, 0, 0x40000000},
        {"v_mulhi_u32", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
        {"v_bfe_u32", 0xdeadbeef, 8, 8, 0xbe},
        {"v_bfe_u32", 0xdeadbeef, 0, 32, 0xdeadbeef},
        {"v_bfe_u32", 0xdeadbeef, 4, 0xffffffff, 0x0deadbee},
        {"v_bfe_u32", 0xdeadbeef, 31, 8, 1}, /* bits past 31 are 0 */
        {"v_bfe_u32", 0xdeadbeef, 32, 8, 0},
        {"v_bfe_u32", 0xdeadbeef, 40, 8, 0},
        {"v_bfe_u32", 0xdeadbeef, 8, 0, 0},
        {"v_bfe_i32", 0xdeadbeef, 8, 8, 0xffffffbe},
        {"v_bfe_i32", 0x7eadbeef, 24, 8, 0x7e},
        {"v_bfe_i32", 0xdeadbeef, 32, 8, 0xffffffff}, /* bits past 31 are the sign */
        {"v_bfe_i32", 0x5eadbeef, 77, 8, 0},
        {"v_bfe_i32", 0xdeadbeef, 8, 0, 0},
        {"v_bfm_b32", 4, 8, 0, 0xf00},
        {"v_bfm_b32", 40, 0, 0, 0xffffffff},
        {"v_bfm_b32", 8, 28, 0, 0xf0000000},
        {"v_bfm_b32", 8, 32, 0, 0},
        {"v_bfi_b32", 0x0000ffff, 0x12345678, 0x9abcdef0, 0x9abc5678},
        {"v_clz_b32", 0, 0, 0, 32},
        {"v_ctz_b32", 0, 0, 0, 32},
        {"v_clz_b32", 1, 0, 0, 31},
        {"v_ctz_b32", MIN32, 0, 0, 31},
        {"s_clz_b64", 0, 0, 0, 64},
        {"s_ctz_b64", 0, 0, 0, 64},
        {"v_abs_i32", MIN32, 0, 0, MIN32},
        {"v_neg_i32", MIN32, 0, 0, MIN32},
    };

    (void)state;
    CHECK(corners);
}

/* ---- floating point ------------------------------------------------------------------------ */

static void test_pb17_conversions_and_rounding(void **state)
{
    static const struct corner corners[] = {
        {"v_cvt_f32_i32", 16777217, 0, 0, 0x4b800000}, /* 16777216 */
        {"v_cvt_f32_i32", 16777219, 0, 0, 0x4b800002}, /* 16777220 */
        {"v_cvt_rz_f32_i32", 16777217, 0, 0, 0x4b800000},
        {"v_cvt_rz_f32_i32", 16777219, 0, 0, 0x4b800001}, /* 16777218 */
        {"v_cvt_rz_f32_i32", (uint32_t)-16777219, 0, 0, 0xcb800001},
        {"v_cvt_f32_u32", 0xffffffff, 0, 0, 0x4f800000},
        {"v_cvt_rz_f32_u32", 0xffffffff, 0, 0, 0x4f7fffff},
        /* 2^24 + 1 + 2^-29 in units of 2^40: a conversion through f64 would round it twice. */
        {"v_cvt_f32_u64", U64(0x01000001, 0) << 7 | 1, 0, 0, 0x5f000001},
        {"v_cvt_f32_f64", U64(0x47efffff, 0xefffffff), 0, 0, 0x7f7fffff},
        {"v_cvt_f32_f64", U64(0x47efffff, 0xf0000000), 0, 0, INF32},
        {"v_cvt_rz_f32_f64", U64(0x47efffff, 0xf0000000), 0, 0, 0x7f7fffff},
        {"v_cvt_rz_f32_f64", INF64, 0, 0, INF32},
        {"v_cvt_f16_f32", 0x3f801000, 0, 0, 0x3c00}, /* 1 + 2^-11, half way, to even */
        {"v_cvt_f16_f32", 0x3f803000, 0, 0, 0x3c02},
        {"v_cvt_f16_f32", 0x477fefff, 0, 0, 0x7bff}, /* just below 65520 */
        {"v_cvt_f16_f32", 0x477ff000, 0, 0, 0x7c00},
        {"v_cvt_f16_f32", 0x33000000, 0, 0, 0}, /* 2^-25, half the least denormal */
        {"v_cvt_f16_f32", 0x33000001, 0, 0, 1},
        {"v_cvt_f16_f32", 0xffc00001, 0, 0, 0x7e00},
        {"v_cvt_f32_f16", 0x0001, 0, 0, 0x33800000},
        {"v_cvt_f32_f16", 0xfc00, 0, 0, 0xff800000},
        {"v_cvt_f32_f16", 0xfe01, 0, 0, NAN32},
        {"v_cvt_f32_f16", 0xffff3c00, 0, 0, 0x3f800000}, /* the high half is not looked at */
        {"v_rint_f32", 0x3f000000, 0, 0, 0},             /* 0.5 */
        {"v_rint_f32", 0x3fc00000, 0, 0, 0x40000000},    /* 1.5 */
        {"v_rint_f32", 0xbf000000, 0, 0, MIN32},
        {"v_ceil_f32", 0xbf000000, 0, 0, MIN32},
        {"v_floor_f32", MIN32, 0, 0, MIN32},
        {"v_trunc_f64", U64(0xbfe00000, 0), 0, 0, U64(0x80000000, 0)},
        {"v_fract_f32", 0x80000001, 0, 0, 0x3f7fffff},
        {"v_fract_f32", INF32, 0, 0, NAN32},
        /* In units of 2^-1074: 1/2 + 2^-53, 1/2, 3/2 + 2^-52, far below 1/2. */
        {"v_ldexp_f64", U64(0x3ff00000, 1), (uint32_t)-1075, 0, 1},
        {"v_ldexp_f64", U64(0x3ff00000, 0), (uint32_t)-1075, 0, 0},
        {"v_ldexp_f64", U64(0x3fd80000, 1), (uint32_t)-1072, 0, 2},
        {"v_ldexp_f64", U64(0x00300000, 1), (uint32_t)-56, 0, 0},
        /* (1/2 + 2^-53) * 2^-1074 by way of a denormal in between would be a tie. */
        {"v_ldexp_f64", U64(0x3cb00000, 1), (uint32_t)-1023, 0, 1},
        {"v_ldexp_f64", 1, 2097, 0, U64(0x7fe00000, 0)},
        {"v_ldexp_f64", 1, 2098, 0, INF64},
        {"v_ldexp_f64", U64(0x7fe00000, 0), (uint32_t)-2097, 0, 1},
        {"v_ldexp_f64", U64(0x3ff00000, 0), 0x7fffffff, 0, INF64},
        {"v_ldexp_f64", U64(0x3ff00000, 0), MIN32, 0, 0},
        {"v_ldexp_f32", 0x00000001, 276, 0, 0x7f000000},
        {"v_ldexp_f32", 0x3fc00001, (uint32_t)-149, 0, 2},
        {"v_frexp_exp_i32_f64", 1, 0, 0, (uint32_t)-1073},
        {"v_frexp_mant_f64", 1, 0, 0, U64(0x3fe00000, 0)},
        {"v_frexp_exp_i32_f32", INF32, 0, 0, 0},
    };

    (void)state;
    CHECK(corners);
}

/* A negated predicate made from NaN < 1 selects the first source in a select on its complement. */
static void test_pb17_select(void **state)
{
    static const struct corner corners[] = {
        {"v_cmp_lt_f32", NAN32, 0x3f800000, 0, 0},
        {"v_select_b32", 11, 22, 0xffffffff, 11},
        {"v_select_b32", 11, 22, 0, 22},
        {"v_select_b64", U64(1, 2), U64(3, 4), 0xffffffff, U64(1, 2)},
        {"v_select_b64", U64(1, 2), U64(3, 4), 0, U64(3, 4)},
        {"v_select_b32", 0x7f800001, 0, 0xffffffff, 0x7f800001}, /* NaN bits stay */
    };

    (void)state;
    CHECK(corners);
}

/* All six comparisons of {NaN, 0, -0, 1, inf} with each other, by the rules of order. */
static void test_pb18_comparisons(void **state)
{
    static const uint32_t values[] = {NAN32, 0, MIN32, 0x3f800000, INF32};
    static const int rank[] = {0, 1, 1, 2, 3}; /* of values[1..] in order; NaN has none */
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned j = 0; j < 5; j++) {
            bool nan = i == 0 || j == 0;
            int x = rank[i], y = rank[j];
            const bool want[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};

            for (unsigned n = 0; n < 6; n++) {
                char vector[16], scalar[16];
                bool holds = nan ? n == 1 : want[n];

                snprintf(vector, sizeof vector, "v_cmp_%s_f32", names[n]);
                snprintf(scalar, sizeof scalar, "s_cmp_%s_f32", names[n]);
                each_lanes(check_corner, &(struct corner){vector, values[i], values[j], 0, holds});
                each_lanes(check_corner, &(struct corner){scalar, values[i], values[j], 0, holds});
            }
        }
    }
}

static void test_pb18_min_and_max(void **state)
{
    static const struct corner corners[] = {
        {"v_min_f32", NAN32, 0x3f800000, 0, 0x3f800000},
        {"v_min_f32", 0x3f800000, NAN32, 0, 0x3f800000},
        {"v_max_f32", NAN32, 0x3f800000, 0, 0x3f800000},
        {"v_max_f32", 0x3f800000, NAN32, 0, 0x3f800000},
        {"v_min_f32", 0x7f800001, 0xffc00005, 0, NAN32},
        {"v_max_f32", 0xffc00005, 0x7f800001, 0, NAN32},
        {"v_min_f32", MIN32, 0, 0, MIN32},
        {"v_min_f32", 0, MIN32, 0, MIN32},
        {"v_max_f32", MIN32, 0, 0, 0},
        {"v_max_f32", 0, MIN32, 0, 0},
        {"v_min_f64", NAN64, U64(0x3ff00000, 0), 0, U64(0x3ff00000, 0)},
        {"v_min_f64", U64(0x3ff00000, 0), NAN64, 0, U64(0x3ff00000, 0)},
        {"v_max_f64", U64(0x80000000, 0), 0, 0, 0},
        {"v_min_f64", 0, U64(0x80000000, 0), 0, U64(0x80000000, 0)},
        {"s_min_f32", NAN32, 0x3f800000, 0, 0x3f800000},
        {"s_max_f32", 0, MIN32, 0, 0},
    };

    (void)state;
    CHECK(corners);
}

/* min and max of all lanes by halving: the place of one NaN does not matter. */
static void reduce_with_nan(const struct isa_lanes *lanes, const void *user)
{
    static const unsigned places[] = {0, 31, 63};
    int op = *(const int *)user;
    unsigned width = lanes->width;
    uint32_t first = 0;

    for (unsigned p = 0; p < 3; p++) {
        _Alignas(32) uint32_t v[ISA_MAX_WIDTH] = {0}, other[ISA_MAX_WIDTH], lane_xor[ISA_MAX_WIDTH];

        for (unsigned i = 0; i < width; i++)
            v[i] = i == places[p] % width ? NAN32 : 0x40000000;
        for (unsigned step = width / 2; step; step /= 2) {
            lanes->broadcast(lane_xor, step);
            lanes->rows[OP_v_shuffle_xor_b32].full(other, v, lane_xor, NULL);
            lanes->rows[op].full(v, v, other, NULL);
        }
        for (unsigned i = 0; i < width; i++)
            assert_int_equal(v[i], v[0]);
        if (p == 0)
            first = v[0];
        assert_int_equal(v[0], first);
        assert_int_equal(v[0], width > 1 ? 0x40000000 : NAN32);
    }
}

static void test_pb18_reductions(void **state)
{
    static const int ops[] = {OP_v_min_f32, OP_v_max_f32};

    (void)state;
    each_lanes(reduce_with_nan, &ops[0]);
    each_lanes(reduce_with_nan, &ops[1]);
}

static void test_pb19_float_to_integer(void **state)
{
    static const struct corner corners[] = {
        {"v_cvt_i32_f32", NAN32, 0, 0, 0},
        {"v_cvt_i32_f32", INF32, 0, 0, 0x7fffffff},
        {"v_cvt_i32_f32", 0xff800000, 0, 0, MIN32},
        {"v_cvt_i32_f32", 0x501502f9, 0, 0, 0x7fffffff}, /* 1e10 */
        {"v_cvt_i32_f32", 0xd01502f9, 0, 0, MIN32},
        {"v_cvt_i32_f32", 0xc0b00000, 0, 0, (uint32_t)-5}, /* -5.5 */
        {"v_cvt_i32_f32", 0x40bfae14, 0, 0, 5},            /* 5.99 */
        {"v_cvt_i32_f32", 0x4effffff, 0, 0, 2147483520},
        {"v_cvt_i32_f32", 0x4f000000, 0, 0, 2147483647},
        {"v_cvt_i32_f32", MIN32, 0, 0, 0},
        {"v_cvt_u32_f32", NAN32, 0, 0, 0},
        {"v_cvt_u32_f32", 0xc0b00000, 0, 0, 0},
        {"v_cvt_u32_f32", 0x501502f9, 0, 0, 0xffffffff},
        {"v_cvt_u32_f32", 0x4f7fffff, 0, 0, 4294967040},
        {"v_cvt_u32_f32", 0x4f800000, 0, 0, 0xffffffff},
        {"v_cvt_u32_f32", 0x4f000000, 0, 0, MIN32},
        {"v_cvt_u32_f32", 0xbf7fffff, 0, 0, 0},
        {"v_cvt_i32_f64", U64(0x41dfffff, 0xffe00000), 0, 0, 0x7fffffff}, /* 2^31 - 0.5 */
        {"v_cvt_i32_f64", U64(0xc1e00000, 0x00100000), 0, 0, MIN32},      /* -2^31 - 0.5 */
        {"v_cvt_u32_f64", U64(0x41efffff, 0xfff00000), 0, 0, 0xffffffff}, /* 2^32 - 0.5 */
        {"v_cvt_i64_f64", U64(0x43e00000, 0), 0, 0, U64(0x7fffffff, 0xffffffff)},
        {"v_cvt_i64_f64", U64(0xc3e00000, 0), 0, 0, U64(0x80000000, 0)},
        {"v_cvt_u64_f64", U64(0x43efffff, 0xffffffff), 0, 0, U64(0xffffffff, 0xfffff800)},
        {"v_cvt_u64_f64", U64(0x43f00000, 0), 0, 0, U64(0xffffffff, 0xffffffff)},
        {"v_cvt_u64_f32", 0xbf800000, 0, 0, 0},
        {"v_cvt_i64_f32", NAN32, 0, 0, 0},
        {"s_cvt_i32_f32", 0x4f000000, 0, 0, 2147483647},
        {"s_cvt_u32_f32", NAN32, 0, 0, 0},
    };

    (void)state;
    CHECK(corners);
}

static void test_pb20_denormals(void **state)
{
    static const struct corner corners[] = {
        {"v_mul_f32", 0x00800000, 0x3f000000, 0, 0x00400000},
        {"v_mov_b32", 0x00000001, 0, 0, 0x00000001},
        {"v_add_f32", 0x00000001, 0x00000001, 0, 0x00000002},
        {"v_cmp_eq_f32", 0x00000001, 0, 0, 0},
        {"v_cmp_gt_f32", 0x00000001, 0, 0, 1},
        {"v_fma_f32", 0x00800000, 0x3f000000, 0x00000001, 0x00400001},
        {"v_max_f32", 0x00000001, 0, 0, 0x00000001},
        {"v_mul_f64", U64(0x00100000, 0), U64(0x3fe00000, 0), 0, U64(0x00080000, 0)},
        {"v_add_f64", 1, 1, 0, 2},
        {"v_cvt_f64_f32", 1, 0, 0, U64(0x36a00000, 0)},
        {"v_cvt_f32_f64", U64(0x36a00000, 0), 0, 0, 1},
        {"v_sqrt_f32", 0x00000001, 0, 0, 0x1a3504f3},
        {"v_exp2_f32", 0xc3150000, 0, 0, 1}, /* 2^-149 */
        {"v_cmp_class_f32", 1, 1u << 7, 0, 1},
    };

    (void)state;
    CHECK(corners);
}

static void test_nan_results_are_canonical(void **state)
{
    static const struct corner corners[] = {
        {"v_add_f32", INF32, 0xff800000, 0, NAN32},
        {"v_add_f32", 0xffc12345, 0, 0, NAN32},
        {"v_mul_f32", 0x7f800001, 0x3f800000, 0, NAN32},
        {"v_fma_f32", INF32, 0, 0x3f800000, NAN32},
        {"v_div_f32", 0, 0, 0, NAN32},
        {"v_div_f32", 0x3f800000, MIN32, 0, 0xff800000},
        {"v_sqrt_f32", 0xbf800000, 0, 0, NAN32},
        {"v_sqrt_f32", MIN32, 0, 0, MIN32},
        {"v_rsqrt_f32", MIN32, 0, 0, 0xff800000},
        {"v_log2_f32", 0xbf800000, 0, 0, NAN32},
        {"v_sin_f32", INF32, 0, 0, NAN32},
        {"v_sin_f32", MIN32, 0, 0, MIN32},
        {"v_add_f64", INF64, U64(0xfff00000, 0), 0, NAN64},
        {"v_cvt_f64_f32", 0xffc12345, 0, 0, NAN64},
        {"v_cvt_f32_f64", U64(0xfff80000, 1), 0, 0, NAN32},
        {"v_floor_f32", 0xff800001, 0, 0, NAN32},
        /* Moves, selects, and what only changes the sign, keep the bits. */
        {"v_abs_f32", 0xffc12345, 0, 0, 0x7fc12345},
        {"v_neg_f32", 0x7f800001, 0, 0, 0xff800001},
        {"v_neg_f64", U64(0x7ff00000, 1), 0, 0, U64(0xfff00000, 1)},
        {"v_mov_b64", U64(0x7ff00000, 1), 0, 0, U64(0x7ff00000, 1)},
    };

    (void)state;
    CHECK(corners);
}

/* Products and sums that a rounded product in between would get wrong. */
static void test_fma_rounds_once(void **state)
{
    static const struct corner corners[] = {
        /* (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46 */
        {"v_fma_f32", 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        {"s_fma_f32", 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        /* (1 + 2^-52)^2 - (1 + 2^-51) = 2^-104 */
        {"v_fma_f64", U64(0x3ff00000, 1), U64(0x3ff00000, 1), U64(0xbff00000, 2), U64(0x39700000, 0)},
        /* 4097^2 is half way between two f32; 2^-70 decides, which a sum in f64 would lose. */
        {"v_fma_f32", 0x45800800, 0x45800800, 0x1c800000, 0x4b801001},
        {"v_fma_f32", 0x45800800, 0x45800800, 0, 0x4b801000},
        {"v_fma_f32", 0x45800800, 0x45800800, 0x9c800000, 0x4b801000},
    };

    (void)state;
    CHECK(corners);
}

/* ---- between lanes ------------------------------------------------------------------------- */

static unsigned source_lane(int op, unsigned lane, uint32_t b, unsigned width)
{
    int64_t from = op == OP_v_shuffle_idx_b32 || op == OP_v_shuffle_idx_b64 ? (int64_t)b
                   : op == OP_v_shuffle_up_b32 || op == OP_v_shuffle_up_b64 ? (int64_t)lane - b
                   : op == OP_v_shuffle_down_b32 || op == OP_v_shuffle_down_b64
                       ? (int64_t)lane + b
                       : (int64_t)(lane ^ b);

    return from < 0 || from >= width ? lane : (unsigned)from;
}

static void check_shuffle(const struct isa_lanes *lanes, const void *user)
{
    static const uint32_t steps[] = {0, 1, 2, 5, 7, 8, 15, 31, 32, 63, 64, 1000, 0xffffffff, MIN32};
    int op = *(const int *)user;
    const struct isa_op_info *info = &isa_ops[op];
    unsigned width = lanes->width;

    for (unsigned s = 0; s < sizeof steps / sizeof *steps; s++) {
        _Alignas(32) uint32_t v[2 * ISA_MAX_WIDTH], b[ISA_MAX_WIDTH], spread[ISA_MAX_WIDTH];
        uint64_t mask = UINT64_C(0x0f0f33335555ff01);

        for (unsigned i = 0; i < width; i++) {
            v[i] = 100 + i;
            v[width + i] = 900 + i;
            b[i] = s & 1 ? steps[s] + i % 3 : steps[s];
        }
        lanes->spread(spread, mask);
        lanes->rows[op].some(v, v, b, NULL, spread); /* the destination is the source */
        for (unsigned i = 0; i < width; i++) {
            unsigned from = mask >> i & 1 ? source_lane(op, i, b[i], width) : i;

            assert_int_equal(v[i], 100 + from);
            assert_int_equal(v[width + i], 900 + (isa_type_words(info->dtype) == 2 ? from : i));
        }
        for (unsigned i = 0; i < width; i++)
            v[i] = 100 + i, v[width + i] = 900 + i;
        lanes->rows[op].full(v, v, b, NULL);
        for (unsigned i = 0; i < width; i++)
            assert_int_equal(v[i], 100 + source_lane(op, i, b[i], width));
    }
}

static void test_shuffles(void **state)
{
    (void)state;
    for (int op = 0; op < ISA_NUM_OPS; op++) {
        if (isa_ops[op].format == ISA_XLANE)
            each_lanes(check_shuffle, &op);
    }
}

/* ---- destinations that are sources --------------------------------------------------------- */

static void check_overlap(const struct isa_lanes *lanes, const void *user)
{
    unsigned width = lanes->width;
    _Alignas(32) uint32_t pair[2 * ISA_MAX_WIDTH] = {0}, single[ISA_MAX_WIDTH];

    (void)user;
    /* A pair added to itself; then its high half multiplied by its low one, into each half. */
    for (unsigned i = 0; i < width; i++)
        pair[i] = 0x80000000u + i, pair[width + i] = i;
    lanes->rows[OP_v_add_u64].full(pair, pair, pair, NULL);
    for (unsigned i = 0; i < width; i++) {
        assert_int_equal(pair[i], 2 * i);
        assert_int_equal(pair[width + i], 2 * i + 1);
    }
    lanes->broadcast(single, 5);
    lanes->rows[OP_v_mad_u64_u32].full(pair, pair + width, single, pair);
    for (unsigned i = 0; i < width; i++) {
        assert_int_equal(pair[i], 2 * i + 5 * (2 * i + 1));
        assert_int_equal(pair[width + i], 2 * i + 1);
    }
    for (unsigned i = 0; i < width; i++)
        pair[i] = 0, pair[width + i] = 0x3ff00000u + (i << 4 << 16); /* 2^i */
    lanes->rows[OP_v_cvt_u32_f64].full(pair + width, pair, NULL, NULL);
    for (unsigned i = 0; i < width; i++)
        assert_int_equal(pair[width + i], i < 32 ? 1u << i : 0xffffffff);
}

static void test_sources_may_be_the_destination(void **state)
{
    (void)state;
    each_lanes(check_overlap, NULL);
}

/* ---- masks and index vectors --------------------------------------------------------------- */

static void check_spread(const struct isa_lanes *lanes, const void *user)
{
    const uint64_t masks[] = {0, 1, ~UINT64_C(0), UINT64_C(0x8000000180000001),
                              UINT64_C(0x123456789abcdef0)};
    _Alignas(32) uint32_t words[ISA_MAX_WIDTH];

    (void)user;
    for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++) {
        lanes->spread(words, masks[m]);
        for (unsigned i = 0; i < lanes->width; i++)
            assert_int_equal(words[i], masks[m] >> i & 1 ? 0xffffffff : 0);
    }
    lanes->broadcast(words, 77);
    for (unsigned i = 0; i < lanes->width; i++)
        assert_int_equal(words[i], 77);
}

static void test_spread_and_broadcast(void **state)
{
    (void)state;
    each_lanes(check_spread, NULL);
}

static enum isa_pattern pattern_of(const struct isa_lanes *lanes, uint32_t first, uint32_t step,
                                   unsigned odd, uint32_t *stride)
{
    uint32_t index[ISA_MAX_WIDTH];

    for (unsigned i = 0; i < lanes->width; i++)
        index[i] = first + i * step + (i == odd);
    return lanes->classify(index, stride);
}

static void check_classify(const struct isa_lanes *lanes, const void *user)
{
    enum { NONE = ISA_MAX_WIDTH };
    uint32_t stride = 0, width = lanes->width;

    (void)user;
    assert_int_equal(pattern_of(lanes, 42, 0, NONE, &stride), ISA_UNIFORM);
    if (width == 1)
        return;
    assert_int_equal(pattern_of(lanes, 42, 3, NONE, &stride), ISA_AFFINE);
    assert_int_equal(stride, 3);
    assert_int_equal(pattern_of(lanes, 0, 1, NONE, &stride), ISA_AFFINE);
    assert_int_equal(stride, 1);
    for (unsigned odd = 0; odd < width; odd++) {
        assert_int_equal(pattern_of(lanes, 42, 0, odd, &stride), ISA_GENERAL);
        assert_int_equal(pattern_of(lanes, 42, 4, odd, &stride), ISA_GENERAL);
    }
    /* A falling stride, and indices that wrap past 2^32, are no address + lane * stride. */
    assert_int_equal(pattern_of(lanes, 1000, (uint32_t)-4, NONE, &stride), ISA_GENERAL);
    assert_int_equal(pattern_of(lanes, 0xfffffffe, 1, NONE, &stride), ISA_GENERAL);
    assert_int_equal(pattern_of(lanes, 0xffffffff - (width - 1), 1, NONE, &stride), ISA_AFFINE);
}

static void test_classify(void **state)
{
    (void)state;
    each_lanes(check_classify, NULL);
}

static void test_widths_and_builds(void **state)
{
    (void)state;
    assert_null(isa_lanes_get(0, ISA_BUILD_AUTO));
    assert_null(isa_lanes_get(48, ISA_BUILD_AUTO));
    assert_null(isa_lanes_get(128, ISA_BUILD_BASELINE));
    for (unsigned w = 0; w < NUM_WIDTHS; w++) {
        const struct isa_lanes *best = isa_lanes_get(widths[w], ISA_BUILD_AUTO);
        const struct isa_lanes *avx2 = isa_lanes_get(widths[w], ISA_BUILD_AVX2);
        const struct isa_lanes *baseline = isa_lanes_get(widths[w], ISA_BUILD_BASELINE);

        assert_ptr_equal(best, avx2 ? avx2 : baseline);
        assert_int_equal(baseline->width, widths[w]);
        assert_string_equal(baseline->build, "baseline");
        if (avx2)
            assert_string_equal(avx2->build, "avx2");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb16_division),
        cmocka_unit_test(test_pb16_division_in_disabled_lanes),
        cmocka_unit_test(test_pb17_shifts),
        cmocka_unit_test(test_pb17_carries_and_bit_fields),
        cmocka_unit_test(test_pb17_conversions_and_rounding),
        cmocka_unit_test(test_pb17_select),
        cmocka_unit_test(test_pb18_comparisons),
        cmocka_unit_test(test_pb18_min_and_max),
        cmocka_unit_test(test_pb18_reductions),
        cmocka_unit_test(test_pb19_float_to_integer),
        cmocka_unit_test(test_pb20_denormals),
        cmocka_unit_test(test_nan_results_are_canonical),
        cmocka_unit_test(test_fma_rounds_once),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_sources_may_be_the_destination),
        cmocka_unit_test(test_spread_and_broadcast),
        cmocka_unit_test(test_classify),
        cmocka_unit_test(test_widths_and_builds),
    };

    return cmocka_run_group_tests_name("lanes_corners", tests, NULL, NULL);
}
