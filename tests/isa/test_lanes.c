/*
 * Every opcode with lane functions against the reference of lane_reference.h, over special and random operands: all widths,
 * both builds, all lanes and some.
 */
#include "isa/lanes.h"
#include "sim/base/rng.h"
#include "tests/isa/lane_reference.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VALUES = 8192, GUARD = 0x5a5a5a5a };

static const unsigned widths[] = {1, 8, 16, 32, 64};
enum { NUM_WIDTHS = sizeof widths / sizeof *widths };

static const uint32_t specials32[] = {
    0,          1,          2,          3,          7,          31,         32,         33,
    63,         64,         65,         255,        0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
    0xfffffffe, 0xfffffff9, 0x00800000, 0x007fffff, 0x80800000, 0x3f800000, 0xbf800000, 0x3f000000,
    0x3fc00000, 0x40200000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x3f7fffff,
    0x4b7fffff, 0x4b000001, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x4f7fffff, 0x5f000000,
    0x5f800000, 0xdf000000, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x38800000, 0x387fffff,
    0x01000001, 0x00007c00, 0x00007c01, 0x0000fbff, 0x000003ff, 0x7f7fffff, 0xff7fffff, 0xbf7fffff,
};

static const uint64_t specials64[] = {
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000),
    UINT64_C(0x8000000000000001),
    UINT64_C(0xffffffffffffffff),
    UINT64_C(0xffffffff00000000),
    UINT64_C(0x0000000100000000),
    UINT64_C(0x00000000ffffffff),
    UINT64_C(0x0010000000000000),
    UINT64_C(0x000fffffffffffff),
    UINT64_C(0x8010000000000000),
    UINT64_C(0x3ff0000000000000),
    UINT64_C(0xbff0000000000000),
    UINT64_C(0x3fe0000000000000),
    UINT64_C(0x3ff8000000000000),
    UINT64_C(0x4004000000000000),
    UINT64_C(0x7ff0000000000000),
    UINT64_C(0xfff0000000000000),
    UINT64_C(0x7ff8000000000000),
    UINT64_C(0x7ff0000000000001),
    UINT64_C(0xfff8123456789abc),
    UINT64_C(0x3fefffffffffffff),
    UINT64_C(0x433fffffffffffff),
    UINT64_C(0x4330000000000001),
    UINT64_C(0x41dfffffffc00000),
    UINT64_C(0x41e0000000000000),
    UINT64_C(0xc1e0000000000000),
    UINT64_C(0xc1e0000000100000),
    UINT64_C(0x41f0000000000000),
    UINT64_C(0x41efffffffe00000),
    UINT64_C(0x43e0000000000000),
    UINT64_C(0xc3e0000000000000),
    UINT64_C(0x43f0000000000000),
    UINT64_C(0x43efffffffffffff),
    UINT64_C(0x47efffffe0000000),
    UINT64_C(0x47effffff0000000),
    UINT64_C(0x36a0000000000000),
    UINT64_C(0x3690000000000000),
    UINT64_C(0x3690000000000001),
    UINT64_C(0x7fefffffffffffff),
};

enum {
    NUM_32 = sizeof specials32 / sizeof *specials32,
    NUM_64 = sizeof specials64 / sizeof *specials64,
};

/* Operands and expected results of one opcode. */
struct cases {
    int op;
    size_t count; /* a multiple of the greatest width */
    uint64_t a[MAX_VALUES], b[MAX_VALUES], c[MAX_VALUES], want[MAX_VALUES];
    bool exact; /* want is set; else the results are judged by a bound */
};

static uint64_t special(enum isa_type type, uint64_t i)
{
    return isa_type_words(type) == 2 && type != T_MASK ? specials64[i % NUM_64]
                                                       : specials32[i % NUM_32];
}

/* Of the kinds that matter: any bits, few bits, and numbers near each other in size. */
static uint64_t random_value(struct rng *r, enum isa_type type)
{
    uint64_t u = rng_next(r);

    switch (rng_below(r, 4)) {
    case 0:
        return u;
    case 1:
        return rng_below(r, 80);
    case 2:
        return special(type, u);
    default:
        if (type == T_F32)
            return (u & 0x83ffffff) | 0x3c000000;
        return type == T_F64 ? (u & UINT64_C(0x807fffffffffffff)) | UINT64_C(0x3f80000000000000)
                             : u >> (u & 31);
    }
}

static uint64_t operand_bits(enum isa_type type, uint64_t u)
{
    if (type == T_MASK)
        return u & 1 ? 0xffffffff : 0;
    return type == T_NONE ? 0 : isa_type_words(type) == 2 ? u : (uint32_t)u;
}

/* All pairs of special values first, with c going round; then random ones. */
static void fill(struct cases *k, int op, struct rng *r)
{
    const struct isa_op_info *info = &isa_ops[op];
    size_t na = isa_type_words(info->atype) == 2 ? NUM_64 : NUM_32;
    size_t nb = !info->btype ? 1 : isa_type_words(info->btype) == 2 ? NUM_64 : NUM_32;

    k->op = op;
    k->count = (na * nb + 1024 + ISA_MAX_WIDTH - 1) / ISA_MAX_WIDTH * ISA_MAX_WIDTH;
    for (size_t i = 0; i < k->count; i++) {
        bool paired = i < na * nb;

        k->a[i] = paired ? special(info->atype, i % na) : random_value(r, info->atype);
        k->b[i] = paired ? special(info->btype, i / na) : random_value(r, info->btype);
        k->c[i] = paired ? special(info->ctype, rng_next(r) >> 8) : random_value(r, info->ctype);
        k->a[i] = operand_bits(info->atype, k->a[i]);
        k->b[i] = operand_bits(info->btype, k->b[i]);
        k->c[i] = operand_bits(info->ctype, k->c[i]);
        k->exact = reference_value(op, k->a[i], k->b[i], k->c[i], &k->want[i]);
    }
}

/* ---- registers ----------------------------------------------------------------------------- */

/* Values of consecutive lanes as a register: low words, then high words. */
static const uint32_t *load(uint32_t *words, const uint64_t *values, unsigned width,
                            enum isa_type type)
{
    if (type == T_NONE)
        return NULL;
    for (unsigned i = 0; i < width; i++) {
        words[i] = (uint32_t)values[i];
        words[width + i] = (uint32_t)(values[i] >> 32);
    }
    return words;
}

static uint64_t lane_value(const uint32_t *words, unsigned lane, unsigned width, enum isa_type type)
{
    uint64_t high = isa_type_words(type) == 2 ? words[width + lane] : 0;

    return words[lane] | high << 32;
}

struct registers {
    _Alignas(32) uint32_t d[2 * ISA_MAX_WIDTH], a[2 * ISA_MAX_WIDTH], b[2 * ISA_MAX_WIDTH],
        c[2 * ISA_MAX_WIDTH], spread[ISA_MAX_WIDTH];
};

static void check_value(const struct cases *k, size_t i, uint64_t got,
                        const struct isa_lanes *lanes, const char *what)
{
    const struct isa_op_info *info = &isa_ops[k->op];

    if (k->exact ? got == k->want[i] : reference_bound(k->op, k->a[i], got))
        return;
    fail_msg("%s, %s %u lanes, %s: a %llx b %llx c %llx: %llx, not %llx", info->name, lanes->build,
             lanes->width, what, (unsigned long long)k->a[i], (unsigned long long)k->b[i],
             (unsigned long long)k->c[i], (unsigned long long)got,
             k->exact ? (unsigned long long)k->want[i] : 0);
}

static uint64_t low_bits(unsigned width)
{
    return width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
}

/* One wavefront of cases from `first` on, all lanes and the lanes of mask. */
static void check_vector(const struct cases *k, size_t first, const struct isa_lanes *lanes,
                         uint64_t mask)
{
    const struct isa_op_info *info = &isa_ops[k->op];
    const struct isa_lane_row *row = &lanes->rows[k->op];
    unsigned width = lanes->width;
    struct registers r = {0};
    const uint32_t *a = load(r.a, k->a + first, width, info->atype);
    const uint32_t *b = load(r.b, k->b + first, width, info->btype);
    const uint32_t *c = load(r.c, k->c + first, width, info->ctype);

    row->full(r.d, a, b, c);
    for (unsigned lane = 0; lane < width; lane++)
        check_value(k, first + lane, lane_value(r.d, lane, width, info->dtype), lanes, "all");

    for (unsigned i = 0; i < 2 * ISA_MAX_WIDTH; i++)
        r.d[i] = GUARD;
    lanes->spread(r.spread, mask);
    row->some(r.d, a, b, c, r.spread);
    for (unsigned lane = 0; lane < width; lane++) {
        uint64_t got = lane_value(r.d, lane, width, info->dtype);

        if (mask >> lane & 1)
            check_value(k, first + lane, got, lanes, "some");
        else if ((uint32_t)got != GUARD || (got >> 32 != 0 && got >> 32 != GUARD))
            fail_msg("%s writes lane %u, which is off", info->name, lane);
    }
    for (unsigned i = isa_type_words(info->dtype) * width; i < 2 * ISA_MAX_WIDTH; i++)
        assert_int_equal(r.d[i], GUARD);
}

static void check_compare(const struct cases *k, size_t first, const struct isa_lanes *lanes)
{
    const struct isa_op_info *info = &isa_ops[k->op];
    struct registers r;
    uint64_t got = lanes->rows[k->op].cmp(load(r.a, k->a + first, lanes->width, info->atype),
                                          load(r.b, k->b + first, lanes->width, info->btype));

    assert_true((got & ~low_bits(lanes->width)) == 0);
    for (unsigned lane = 0; lane < lanes->width; lane++)
        check_value(k, first + lane, got >> lane & 1, lanes, "compare");
}

static void check_scalar(const struct cases *k, size_t i, const struct isa_lanes *lanes)
{
    const struct isa_op_info *info = &isa_ops[k->op];
    struct registers r;
    const uint32_t *a = load(r.a, k->a + i, 1, info->atype);
    const uint32_t *b = load(r.b, k->b + i, 1, info->btype);
    const uint32_t *c = load(r.c, k->c + i, 1, info->ctype);

    r.d[1] = GUARD;
    lanes->rows[k->op].full(r.d, a, b, c);
    check_value(k, i, lane_value(r.d, 0, 1, info->dtype), lanes, "scalar");
    if (isa_type_words(info->dtype) == 1)
        assert_int_equal(r.d[1], GUARD);
}

/* All of one opcode's cases in one width and build, in steps that leave the masks random. */
static void check_cases(const struct cases *k, const struct isa_lanes *lanes, struct rng *r)
{
    enum isa_format format = isa_ops[k->op].format;

    for (size_t i = 0; i < k->count; i += lanes->width) {
        if (format == ISA_VCMP)
            check_compare(k, i, lanes);
        else if (format == ISA_SALU)
            check_scalar(k, i, lanes);
        else
            check_vector(k, i, lanes, rng_next(r) & low_bits(lanes->width));
    }
}

/* The builds that this processor has. */
static unsigned builds(unsigned width, const struct isa_lanes *out[2])
{
    unsigned n = 0;

    out[n++] = isa_lanes_get(width, ISA_BUILD_BASELINE);
    out[n] = isa_lanes_get(width, ISA_BUILD_AVX2);
    return out[n] ? n + 1 : n;
}

static void check_formats(unsigned formats)
{
    static struct cases k;
    uint64_t seed = test_seed(1);
    struct rng r;

    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(&r, seed);
    for (uint64_t round = 0; round < test_count(1); round++) {
        for (int op = 0; op < ISA_NUM_OPS; op++) {
            if (!(formats >> isa_ops[op].format & 1))
                continue;
            fill(&k, op, &r);
            for (unsigned w = 0; w < NUM_WIDTHS; w++) {
                const struct isa_lanes *lanes[2];
                unsigned n = builds(widths[w], lanes);

                for (unsigned i = 0; i < n; i++)
                    check_cases(&k, lanes[i], &r);
            }
        }
    }
}

static void test_vector_opcodes(void **state)
{
    (void)state;
    check_formats(1u << ISA_VALU | 1u << ISA_VSEL);
}

static void test_compare_opcodes(void **state)
{
    (void)state;
    check_formats(1u << ISA_VCMP);
}

static void test_scalar_opcodes(void **state)
{
    (void)state;
    check_formats(1u << ISA_SALU);
}

/* Results that a bound judges must still have the same bits in every width and build. */
static void check_same_bits(struct cases *k, const struct isa_lanes *lanes)
{
    enum isa_type type = isa_ops[k->op].dtype;
    struct registers r;

    for (size_t first = 0; first < k->count; first += lanes->width) {
        lanes->rows[k->op].full(r.d, load(r.a, k->a + first, lanes->width, type), NULL, NULL);
        for (unsigned lane = 0; lane < lanes->width; lane++) {
            uint64_t got = lane_value(r.d, lane, lanes->width, type);

            if (k->exact)
                check_value(k, first + lane, got, lanes, "same bits");
            else
                k->want[first + lane] = got;
        }
    }
    k->exact = true;
}

static void test_special_functions_have_the_same_bits(void **state)
{
    static const char *const names[] = {"v_rsqrt_f32", "v_exp2_f32", "v_log2_f32", "v_sin_f32",
                                        "v_cos_f32",   "v_rcp_f64",  "v_rsqrt_f64"};
    static struct cases k;
    struct rng r;

    (void)state;
    rng_seed(&r, test_seed(2));
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
        fill(&k, isa_op_find(names[n]), &r);
        assert_false(k.exact);
        for (unsigned w = 0; w < NUM_WIDTHS; w++) {
            const struct isa_lanes *lanes[2];
            unsigned count = builds(widths[w], lanes);

            for (unsigned i = 0; i < count; i++)
                check_same_bits(&k, lanes[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_opcodes),
        cmocka_unit_test(test_compare_opcodes),
        cmocka_unit_test(test_scalar_opcodes),
        cmocka_unit_test(test_special_functions_have_the_same_bits),
    };

    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
