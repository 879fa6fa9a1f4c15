/* Execution on a wavefront: active lanes, masks, EXEC, operands of each kind, scalars, special values, branches, atomics. */
#include "isa/wave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { VREGS = 16 };

struct rig {
    struct isa_wave w;
    const struct isa_lanes *lanes;
    _Alignas(32) uint32_t v[VREGS * ISA_MAX_WIDTH];
    uint32_t imm_vec[2 * ISA_MAX_WIDTH];
};

static uint64_t all_lanes(unsigned width)
{
    return width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
}

/* Register r of lane i holds 1000 r + i. */
static void start(struct rig *g, unsigned width)
{
    memset(g, 0, sizeof *g);
    g->lanes = isa_lanes_get(width, ISA_BUILD_AUTO);
    g->w.v = g->v;
    g->w.live = g->w.exec = all_lanes(width);
    g->w.tx = ~UINT64_C(0);
    for (unsigned i = 0; i < VREGS * width; i++)
        g->v[i] = i / width * 1000 + i % width;
}

static uint32_t lane(const struct rig *g, unsigned reg, unsigned i)
{
    return g->v[reg * g->lanes->width + i];
}

/* ---- instructions by hand ------------------------------------------------------------------ */

static struct isa_operand v(unsigned index)
{
    return (struct isa_operand){ISA_O_V, 1, (uint16_t)index};
}

static struct isa_operand v64(unsigned index)
{
    return (struct isa_operand){ISA_O_V, 2, (uint16_t)index};
}

static struct isa_operand s(unsigned index)
{
    return (struct isa_operand){ISA_O_S, 1, (uint16_t)index};
}

static struct isa_operand s64(unsigned index)
{
    return (struct isa_operand){ISA_O_S, 2, (uint16_t)index};
}

static struct isa_operand m(unsigned index)
{
    return (struct isa_operand){ISA_O_M, 1, (uint16_t)index};
}

static const struct isa_operand none = {ISA_O_NONE, 0, 0}, exec_reg = {ISA_O_EXEC, 1, 0},
                                literal = {ISA_O_IMM, 1, 0}, vcc = {ISA_O_M, 1, ISA_VCC};

static struct isa_insn insn(enum isa_op op, struct isa_operand d, struct isa_operand a,
                            struct isa_operand b, struct isa_operand c)
{
    const struct isa_op_info *info = &isa_ops[op];

    return (struct isa_insn){.op = (uint16_t)op,
                             .format = info->format,
                             .cls = info->cls,
                             .flags = info->flags,
                             .dtype = info->dtype,
                             .stype = info->atype,
                             .d = d,
                             .a = a,
                             .b = b,
                             .c = c};
}

static void run(struct rig *g, struct isa_insn in)
{
    for (unsigned i = 0; i < ISA_MAX_WIDTH; i++) {
        g->imm_vec[i] = (uint32_t)in.imm;
        g->imm_vec[ISA_MAX_WIDTH + i] = (uint32_t)(in.imm >> 32);
    }
    in.imm_vec = g->imm_vec;
    isa_exec(&g->w, &in, 1, g->lanes);
}

static void run_op(struct rig *g, enum isa_op op, struct isa_operand d, struct isa_operand a,
                   struct isa_operand b)
{
    run(g, insn(op, d, a, b, none));
}

static void each_width(void (*f)(struct rig *g))
{
    static const unsigned widths[] = {8, 16, 32, 64};

    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct rig g;

        start(&g, widths[i]);
        f(&g);
    }
}

/* ---- active lanes -------------------------------------------------------------------------- */

/* v0 = v1 + v2 in exactly the lanes of `active`. */
static void check_add(struct rig *g, struct isa_insn in, uint64_t active)
{
    unsigned width = g->lanes->width;

    for (unsigned i = 0; i < width; i++)
        g->v[i] = 7;
    assert_true(isa_active(&g->w, &in) == active);
    run(g, in);
    for (unsigned i = 0; i < width; i++)
        assert_int_equal(lane(g, 0, i), active >> i & 1 ? 3000 + 2 * i : 7);
}

static void active_lanes(struct rig *g)
{
    struct isa_insn add = insn(OP_v_add_u32, v(0), v(1), v(2), none), in = add;
    uint64_t all = all_lanes(g->lanes->width), odd = UINT64_C(0xaaaaaaaaaaaaaaaa) & all;
    uint64_t tail = all >> 3; /* the last three lanes do not exist */

    check_add(g, in, all);
    g->w.exec = odd;
    check_add(g, in, odd);
    g->w.exec = 0;
    check_add(g, in, 0);
    in.flags |= ISA_F_NOMASK;
    check_add(g, in, all);
    g->w.live = tail;
    check_add(g, in, tail);
    g->w.tx = odd;
    check_add(g, in, tail & odd);
    g->w.tx = ~UINT64_C(0);
    g->w.exec = all;
    g->w.m[3] = odd;
    in = add;
    in.pred = 1 + 3;
    check_add(g, in, tail & odd);
    in.pred_not = true;
    check_add(g, in, tail & ~odd);
    g->w.m[ISA_VCC] = 5;
    in.pred = 1 + ISA_VCC;
    in.pred_not = false;
    check_add(g, in, 5);
    in.flags |= ISA_F_NOMASK; /* lifts EXEC, not the predicate */
    g->w.exec = 0;
    check_add(g, in, 5);
}

static void test_active_lanes(void **state)
{
    (void)state;
    each_width(active_lanes);
}

/* ---- operands ------------------------------------------------------------------------------ */

static void operand_kinds(struct rig *g)
{
    unsigned width = g->lanes->width;
    struct isa_insn in;

    g->w.s[4] = 50;
    run_op(g, OP_v_add_u32, v(0), s(4), v(1));
    for (unsigned i = 0; i < width; i++)
        assert_int_equal(lane(g, 0, i), 1050 + i);

    in = insn(OP_v_mad_u32, v(0), v(1), literal, s(4));
    in.imm = 3;
    run(g, in);
    for (unsigned i = 0; i < width; i++)
        assert_int_equal(lane(g, 0, i), 3 * (1000 + i) + 50);

    /* 64 bits: a pair of vector registers, a scalar pair, a literal with both words. */
    g->w.s[6] = 0xffffffff;
    g->w.s[7] = 1;
    run_op(g, OP_v_add_u64, v64(4), v64(2), s64(6));
    for (unsigned i = 0; i < width; i++) {
        assert_int_equal(lane(g, 4, i), 2000 + i - 1);
        assert_int_equal(lane(g, 5, i), 3000 + i + 2);
    }
    in = insn(OP_v_sub_u64, v64(4), v64(2), literal, none);
    in.imm = UINT64_C(0x500000002);
    g->w.exec = 2;
    run(g, in);
    assert_int_equal(lane(g, 4, 1), 1999);
    assert_int_equal(lane(g, 5, 1), 2996);
    assert_int_equal(lane(g, 5, 0), 3002);
    g->w.exec = all_lanes(width);

    g->w.m[2] = 6;
    run(g, insn(OP_v_select_b32, v(0), v(1), s(4), m(2)));
    for (unsigned i = 0; i < width; i++)
        assert_int_equal(lane(g, 0, i), i == 1 || i == 2 ? 1000 + i : 50);
}

static void test_operand_kinds(void **state)
{
    (void)state;
    each_width(operand_kinds);
}

static void test_scalar_operations(void **state)
{
    struct rig g;
    struct isa_insn in;

    (void)state;
    start(&g, 16);
    g.w.s[0] = 7;
    g.w.s[1] = 5;
    g.w.exec = 0; /* scalars do not ask for lanes */
    run_op(&g, OP_s_sub_u32, s(2), s(0), s(1));
    assert_int_equal(g.w.s[2], 2);
    in = insn(OP_s_mov_b64, s64(4), literal, none, none);
    in.imm = UINT64_C(0x123456789abcdef0);
    run(&g, in);
    assert_int_equal(g.w.s[4], 0x9abcdef0);
    assert_int_equal(g.w.s[5], 0x12345678);
    run(&g, insn(OP_s_add_u64, s64(4), s64(4), s64(4), none));
    assert_int_equal(g.w.s[4], 0x3579bde0);
    assert_int_equal(g.w.s[5], 0x2468acf1);
    run_op(&g, OP_s_cmp_lt_u32, s(2), s(1), s(0));
    assert_int_equal(g.w.s[2], 1);
    run(&g, insn(OP_s_select_b32, s(3), s(0), s(1), s(2)));
    assert_int_equal(g.w.s[3], 7);
    g.w.s[ISA_SV_GROUP_X] = 9;
    run_op(&g, OP_s_add_u32, s(2), s(ISA_SV_GROUP_X), s(0));
    assert_int_equal(g.w.s[2], 16);
}

static void coordinates(struct rig *g)
{
    unsigned width = g->lanes->width;
    static const uint32_t size[3] = {5, 3, 7};
    struct isa_insn in = insn(OP_v_get_u32, v(0), none, none, none);

    memcpy(&g->w.s[ISA_SV_THREADS_X], size, sizeof size);
    g->w.s[ISA_SV_GROUP] = 11;
    for (g->w.tid0 = 0; g->w.tid0 < 100; g->w.tid0 += width) {
        for (in.imm = 0; in.imm < ISA_VV_END; in.imm++) {
            run(g, in);
            for (unsigned i = 0; i < width; i++) {
                uint32_t tid = g->w.tid0 + i;
                const uint32_t want[ISA_VV_END] = {i,           tid,      tid % 5,
                                                   tid / 5 % 3, tid / 15, 11 * 105 + tid};

                assert_int_equal(lane(g, 0, i), want[in.imm]);
            }
        }
    }
    in.imm = ISA_VV_LANE;
    g->w.exec = 4;
    g->v[0] = g->v[2] = 77;
    run(g, in);
    assert_int_equal(lane(g, 0, 0), 77);
    assert_int_equal(lane(g, 0, 2), 2);
}

static void test_vector_special_values(void **state)
{
    (void)state;
    each_width(coordinates);
}

/* ---- masks --------------------------------------------------------------------------------- */

static void test_compare_writes_masks(void **state)
{
    struct rig g;
    struct isa_insn in =
        insn(OP_v_cmp_lt_u32, m(1), v(1), s(0), none); /* lanes 0-3 are below 1004 */

    (void)state;
    start(&g, 16);
    g.w.s[0] = 1004;
    g.w.exec = 0x00fa;
    g.w.m[1] = 0xf003;
    run(&g, in);
    assert_int_equal(g.w.m[1], 0xf00b); /* bits of inactive lanes stay */
    in.d = vcc;
    g.w.m[ISA_VCC] = 0xffff;
    run(&g, in);
    assert_int_equal(g.w.m[ISA_VCC], 0x000a); /* and are 0 in VCC */
    g.w.exec = 0;
    g.w.m[ISA_VCC] = 0x1234;
    run(&g, in); /* without an active lane there is no effect */
    assert_int_equal(g.w.m[ISA_VCC], 0x1234);
}

/* PB-17: a predicate made from NaN < 1, negated, selects the first source. */
static void test_pb17_negated_predicate(void **state)
{
    struct rig g;

    (void)state;
    start(&g, 8);
    g.w.s[0] = 0x7fc00000;
    g.w.s[1] = 0x3f800000;
    run_op(&g, OP_v_mov_b32, v(0), s(0), none);
    run_op(&g, OP_v_cmp_lt_f32, m(0), v(0), s(1));
    run_op(&g, OP_m_not, m(1), m(0), none);
    run(&g, insn(OP_v_select_b32, v(2), v(3), v(4), m(1)));
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(lane(&g, 2, i), 3000 + i);
}

static void test_mask_logic(void **state)
{
    static const struct {
        enum isa_op op;
        uint16_t want; /* of a = 0b1100, b = 0b1010 in 16 lanes */
    } rows[] = {
        {OP_m_mov, 0x000c}, {OP_m_not, 0xfff3},  {OP_m_and, 0x0008}, {OP_m_or, 0x000e},
        {OP_m_xor, 0x0006}, {OP_m_andn, 0x0004}, {OP_m_orn, 0xfffd}, {OP_m_nand, 0xfff7},
        {OP_m_nor, 0xfff1}, {OP_m_xnor, 0xfff9},
    };
    struct rig g;

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        start(&g, 16);
        g.w.m[0] = 0xc;
        g.w.m[1] = 0xa;
        run_op(&g, rows[i].op, m(2), m(0), m(1));
        assert_int_equal(g.w.m[2], rows[i].want);
        /* EXEC, VCC and scalar pairs whole, m2 in active lanes alone. */
        g.w.exec = 0x00ff;
        g.w.m[2] = 0x3300;
        run_op(&g, rows[i].op, m(2), m(0), m(1));
        assert_int_equal(g.w.m[2], 0x3300 | (rows[i].want & 0xff));
        run_op(&g, rows[i].op, vcc, m(0), m(1));
        assert_int_equal(g.w.m[ISA_VCC] & 0xffff, rows[i].want);
        run_op(&g, rows[i].op, s64(10), m(0), m(1));
        assert_int_equal(g.w.s[10] & 0xffff, rows[i].want);
        run_op(&g, rows[i].op, exec_reg, m(0), m(1));
        assert_int_equal(g.w.exec, rows[i].want);
    }
}

static void test_mask_operands(void **state)
{
    struct rig g;
    struct isa_insn in = insn(OP_m_mov, m(5), literal, none, none);

    (void)state;
    start(&g, 64);
    in.imm = ~UINT64_C(0);
    run(&g, in);
    assert_true(g.w.m[5] == ~UINT64_C(0));
    g.w.s[2] = 0x89abcdef;
    g.w.s[3] = 0x01234567;
    run_op(&g, OP_m_and, m(6), s64(2), m(5));
    assert_true(g.w.m[6] == UINT64_C(0x0123456789abcdef));
    g.w.exec = UINT64_C(0xf0f0);
    run_op(&g, OP_m_mov, s64(4), exec_reg, none);
    assert_int_equal(g.w.s[4], 0xf0f0);
    assert_int_equal(g.w.s[5], 0);
}

/* EXEC has no bit of a lane that does not exist, has ended, or is not in the attempt. */
static void test_exec_register(void **state)
{
    struct rig g;

    (void)state;
    start(&g, 16);
    g.w.live = 0x0fff;
    g.w.m[0] = 0xffff;
    run_op(&g, OP_m_mov, exec_reg, m(0), none);
    assert_int_equal(g.w.exec, 0x0fff);
    /* In a transaction of lanes 0-7 in which 2 and 3 are marked: they stay awake whatever is written. */
    g.w.exec = 0x00ff;
    g.w.tcm = 0x000c;
    g.w.tx = 0x00f3;
    run_op(&g, OP_m_mov, m(1), exec_reg, none);
    assert_int_equal(g.w.m[1], 0x00f3);
    g.w.m[0] = 0xff11;
    run_op(&g, OP_m_mov, exec_reg, m(0), none);
    assert_int_equal(g.w.exec, 0x001d);
}

static void test_reductions(void **state)
{
    struct rig g;

    (void)state;
    start(&g, 64);
    g.w.m[0] = UINT64_C(0xff00000000000f00);
    g.w.exec = UINT64_C(0x8000000000000700);
    run_op(&g, OP_s_any, s(0), m(0), none);
    run_op(&g, OP_s_all, s(1), m(0), none);
    run_op(&g, OP_s_popcount, s(2), m(0), none);
    run_op(&g, OP_s_first, s(3), m(0), none);
    run_op(&g, OP_s_ballot, s64(4), m(0), none);
    assert_int_equal(g.w.s[0], 1);
    assert_int_equal(g.w.s[1], 1);
    assert_int_equal(g.w.s[2], 4);
    assert_int_equal(g.w.s[3], 8);
    assert_int_equal(g.w.s[4], 0x700);
    assert_int_equal(g.w.s[5], 0x80000000);
    g.w.exec |= 1;
    run_op(&g, OP_s_all, s(1), m(0), none);
    assert_int_equal(g.w.s[1], 0);
    /* Without an active lane: any is false, all is true. */
    g.w.exec = 0;
    run_op(&g, OP_s_any, s(0), m(0), none);
    run_op(&g, OP_s_all, s(1), m(0), none);
    run_op(&g, OP_s_popcount, s(2), m(0), none);
    run_op(&g, OP_s_first, s(3), m(0), none);
    assert_int_equal(g.w.s[0], 0);
    assert_int_equal(g.w.s[1], 1);
    assert_int_equal(g.w.s[2], 0);
    assert_int_equal(g.w.s[3], 0xffffffff);
}

/* ---- between lanes ------------------------------------------------------------------------- */

static void lanes_and_scalars(struct rig *g)
{
    unsigned width = g->lanes->width;
    struct isa_insn in = insn(OP_v_readlane_b32, s(0), v(1), literal, none);

    g->w.exec = 4;
    in.imm = 3;
    run(g, in);
    assert_int_equal(g->w.s[0], 1003); /* lane 3 is not active */
    in.imm = width + 1;
    run(g, in);
    assert_int_equal(g->w.s[0], 1001);
    run_op(g, OP_v_readfirst_b32, s(0), v(1), none);
    assert_int_equal(g->w.s[0], 1002);
    g->w.exec = 0;
    run_op(g, OP_v_readfirst_b32, s(0), v(1), none);
    assert_int_equal(g->w.s[0], 1000);

    g->w.exec = 4;
    g->w.s[1] = 2;
    g->w.s[2] = 555;
    run_op(g, OP_v_writelane_b32, v(3), s(2), s(1));
    assert_int_equal(lane(g, 3, 2), 555);
    g->w.s[1] = 5;
    run_op(g, OP_v_writelane_b32, v(3), s(2), s(1));
    assert_int_equal(lane(g, 3, 5), 3005);
}

static void test_lanes_and_scalars(void **state)
{
    (void)state;
    each_width(lanes_and_scalars);
}

/* Inactive source lanes are read; lanes outside the width give the lane's own value. */
static void shuffles(struct rig *g)
{
    unsigned width = g->lanes->width;
    struct isa_insn in = insn(OP_v_shuffle_down_b32, v(0), v(1), literal, none);

    in.imm = 2;
    g->w.exec = all_lanes(width) & ~UINT64_C(0xc);
    run(g, in);
    for (unsigned i = 0; i < width; i++)
        assert_int_equal(lane(g, 0, i), i == 2 || i == 3 ? i : 1000 + (i + 2 < width ? i + 2 : i));
    g->w.exec = all_lanes(width);
    g->w.s[0] = 1;
    run_op(g, OP_v_shuffle_xor_b64, v64(4), v64(2), s(0));
    for (unsigned i = 0; i < width; i++) {
        assert_int_equal(lane(g, 4, i), 2000 + (i ^ 1));
        assert_int_equal(lane(g, 5, i), 3000 + (i ^ 1));
    }
}

static void test_shuffles(void **state)
{
    (void)state;
    each_width(shuffles);
}

/* ---- control ------------------------------------------------------------------------------- */

static bool taken(const struct rig *g, enum isa_op op, struct isa_operand a)
{
    struct isa_insn in = insn(op, none, a, none, none);

    return isa_branch_taken(&g->w, &in);
}

static void test_branches(void **state)
{
    static const struct {
        uint64_t mask, exec;
        bool any, all;
    } rows[] = {
        {0x00, 0xff, false, false}, {0xff, 0xff, true, true},   {0x0f, 0xff, true, false},
        {0x0f, 0x0f, true, true},   {0xf0, 0x0f, false, false}, {0xff, 0x00, false, true},
    };
    struct rig g;

    (void)state;
    start(&g, 8);
    assert_true(taken(&g, OP_s_jump, none));
    assert_false(taken(&g, OP_s_branch_nz, s(0)));
    assert_true(taken(&g, OP_s_branch_z, s(0)));
    g.w.s[0] = 2;
    assert_true(taken(&g, OP_s_branch_nz, s(0)));
    assert_false(taken(&g, OP_s_branch_z, s(0)));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        g.w.m[4] = rows[i].mask;
        g.w.exec = rows[i].exec;
        assert_int_equal(taken(&g, OP_s_branch_any, m(4)), rows[i].any);
        assert_int_equal(taken(&g, OP_s_branch_none, m(4)), !rows[i].any);
        assert_int_equal(taken(&g, OP_s_branch_all, m(4)), rows[i].all);
        assert_int_equal(taken(&g, OP_s_branch_notall, m(4)), !rows[i].all);
        assert_int_equal(taken(&g, OP_s_branch_any, exec_reg), rows[i].exec != 0);
    }
}

/* PB-18: of a branch on x < y and one on its negation each lane takes exactly one. */
static void test_pb18_branches_on_both_sides(void **state)
{
    static const uint32_t values[] = {0x7fc00000, 0, 0x80000000, 0x3f800000, 0x7f800000};
    static const enum isa_op ops[] = {OP_v_cmp_eq_f32, OP_v_cmp_ne_f32, OP_v_cmp_lt_f32,
                                      OP_v_cmp_le_f32, OP_v_cmp_gt_f32, OP_v_cmp_ge_f32};
    struct rig g;

    (void)state;
    start(&g, 8);
    for (unsigned i = 0; i < 5 * 5 * 6; i++) {
        g.w.s[0] = values[i % 5];
        g.w.s[1] = values[i / 5 % 5];
        run_op(&g, OP_v_mov_b32, v(0), s(0), none);
        run_op(&g, ops[i / 25], m(0), v(0), s(1));
        run_op(&g, OP_m_not, m(1), m(0), none);
        assert_int_equal(g.w.m[0] ^ g.w.m[1], 0xff);
        assert_int_equal(taken(&g, OP_s_branch_any, m(0)), !taken(&g, OP_s_branch_any, m(1)));
        if (i % 5 == 0 || i / 5 % 5 == 0) /* with a NaN, only ne holds */
            assert_int_equal(g.w.m[0], ops[i / 25] == OP_v_cmp_ne_f32 ? 0xff : 0);
    }
}

/* A straight line computed in one call gives what it gives one by one. */
static void test_runs(void **state)
{
    struct rig g, h;
    const struct isa_insn line[] = {
        insn(OP_v_add_u32, v(0), v(1), v(2), none),
        insn(OP_s_add_u32, s(0), s(1), s(1), none),
        insn(OP_v_mul_u32, v(3), v(0), s(0), none),
        insn(OP_v_cmp_gt_u32, m(0), v(3), v(0), none),
        insn(OP_v_select_b32, v(4), v(3), v(1), m(0)),
    };
    enum { LENGTH = sizeof line / sizeof *line };

    (void)state;
    start(&g, 32);
    start(&h, 32);
    g.w.exec = h.w.exec = 0x0ff0ff0f;
    g.w.s[1] = h.w.s[1] = 3;
    isa_exec(&g.w, line, LENGTH, g.lanes);
    for (unsigned i = 0; i < LENGTH; i++)
        isa_exec(&h.w, &line[i], 1, h.lanes);
    assert_memory_equal(g.v, h.v, sizeof g.v);
    assert_memory_equal(g.w.m, h.w.m, sizeof g.w.m);
    assert_int_equal(lane(&g, 4, 0), 6 * 3000);
    assert_int_equal(lane(&g, 4, 4), 4004);
}

static void test_spread_is_cached(void **state)
{
    struct rig g;

    (void)state;
    start(&g, 8);
    for (unsigned round = 0; round < 3; round++) {
        uint64_t mask = round == 1 ? 0x81 : 0x3c;

        assert_ptr_equal(isa_spread(&g.w, mask, g.lanes), g.w.spread);
        assert_true(g.w.spread_of == mask);
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(g.w.spread[i], mask >> i & 1 ? 0xffffffff : 0);
    }
    isa_spread(&g.w, 0, g.lanes);
    assert_int_equal(g.w.spread[2], 0);
}

/* ---- atomics ------------------------------------------------------------------------------- */

static void test_atomics(void **state)
{
    static const struct {
        enum isa_op op;
        uint64_t memory, a, c, want;
    } rows[] = {
        {OP_global_atomic_add_u32, 0xffffffff, 2, 0, 1},
        {OP_global_atomic_add_u64, 0xffffffff, 2, 0, UINT64_C(0x100000001)},
        {OP_global_atomic_sub_u32, 1, 2, 0, 0xffffffff},
        {OP_global_atomic_sub_u64, 1, 2, 0, UINT64_MAX},
        {OP_local_atomic_min_u32, 5, 0xffffffff, 0, 5},
        {OP_local_atomic_min_i32, 5, 0xffffffff, 0, 0xffffffff},
        {OP_local_atomic_max_i32, 5, 0xffffffff, 0, 5},
        {OP_local_atomic_max_u32, 5, 0xffffffff, 0, 0xffffffff},
        {OP_local_atomic_min_i64, 5, UINT64_MAX, 0, UINT64_MAX},
        {OP_local_atomic_max_u64, 5, UINT64_MAX, 0, UINT64_MAX},
        {OP_global_atomic_and_b32, 0xc, 0xa, 0, 0x8},
        {OP_global_atomic_or_b64, UINT64_C(0xc00000000), 0xa, 0, UINT64_C(0xc0000000a)},
        {OP_global_atomic_xor_b32, 0xc, 0xa, 0, 0x6},
        {OP_global_atomic_exch_b32, 0xc, 0xa, 0, 0xa},
        {OP_global_atomic_exch_b64_rtn, 0xc, UINT64_MAX, 0, UINT64_MAX},
        {OP_global_atomic_cmpswap_b32, 5, 9, 5, 9},
        {OP_global_atomic_cmpswap_b32_rtn, 5, 9, 6, 5},
        {OP_local_atomic_cmpswap_b64, UINT64_MAX, 9, UINT64_MAX, 9},
        {OP_global_atomic_add_f32, 0x3f800000, 0x40000000, 0, 0x40400000},
        {OP_global_atomic_add_f32, 0x7f800000, 0xff800000, 0, 0x7fc00000},
        {OP_global_atomic_add_f64, UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000), 0,
         UINT64_C(0x4000000000000000)},
        {OP_local_atomic_min_f32, 0x7fc00000, 0x3f800000, 0, 0x3f800000},
        {OP_local_atomic_max_f32, 0x80000000, 0, 0, 0},
        /* The high halves of 32-bit operands are not looked at. */
        {OP_global_atomic_add_u32, UINT64_C(0x700000001), UINT64_C(0x900000001), 0, 2},
        {OP_global_atomic_cmpswap_b32, UINT64_C(0x700000001), 8, UINT64_C(0x500000001), 8},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t got = isa_atomic((uint16_t)rows[i].op, rows[i].memory, rows[i].a, rows[i].c);

        if (got != rows[i].want)
            fail_msg("%s: %llx, not %llx", isa_ops[rows[i].op].name, (unsigned long long)got,
                     (unsigned long long)rows[i].want);
    }
}

/* Each form that returns computes what the one that does not return computes. */
static void test_atomics_that_return(void **state)
{
    unsigned pairs = 0;

    (void)state;
    for (int op = 0; op + 1 < ISA_NUM_OPS; op++) {
        if ((isa_ops[op].format != ISA_GATOMIC && isa_ops[op].format != ISA_LATOMIC) ||
            (isa_ops[op].flags & ISA_F_RETURN))
            continue;
        assert_true(isa_ops[op + 1].flags & ISA_F_RETURN);
        for (uint64_t i = 0; i < 64; i++) {
            uint64_t memory = i * UINT64_C(0x9e3779b97f4a7c15), a = memory * memory + i;

            assert_true(isa_atomic((uint16_t)op, memory, a, i & 1 ? memory : a) ==
                        isa_atomic((uint16_t)(op + 1), memory, a, i & 1 ? memory : a));
        }
        pairs++;
    }
    assert_int_equal(pairs, 2 * 26);
}

/* All lanes at once do what one after the other does, in ascending order on a word that they share. */
static void test_atomics_of_lanes(void **state)
{
    const uint64_t lanes = UINT64_C(0xf00ff0f3);
    uint64_t offset[32];
    uint32_t a[32], c[32];

    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        offset[i] = i % 5 * 4;
        a[i] = i * 0x9e3779b1u;
        c[i] = i & 1 ? a[i - 1] : i;
    }
    for (int op = 0; op < ISA_NUM_OPS; op++) {
        uint32_t one[5] = {1, 2, 0x80000000, 0x3f800000, 5}, all[5], old[32], want[32];
        bool changed = false;

        if (isa_ops[op].format != ISA_GATOMIC || isa_type_bytes(isa_ops[op].dtype) != 4)
            continue;
        memcpy(all, one, sizeof all);
        for (unsigned i = 0; i < 32; i++) {
            uint32_t *word = &one[offset[i] / 4];

            old[i] = want[i] = 77;
            if (!(lanes >> i & 1))
                continue;
            want[i] = *word;
            *word = (uint32_t)isa_atomic((uint16_t)op, *word, a[i], c[i]);
            changed = changed || *word != want[i];
        }
        assert_int_equal(isa_atomic_lanes((uint16_t)op, lanes, (uint8_t *)all, offset, a, c, old),
                         changed);
        assert_memory_equal(all, one, sizeof all);
        assert_memory_equal(old, want, sizeof old);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atomics_of_lanes),
        cmocka_unit_test(test_active_lanes),
        cmocka_unit_test(test_operand_kinds),
        cmocka_unit_test(test_scalar_operations),
        cmocka_unit_test(test_vector_special_values),
        cmocka_unit_test(test_compare_writes_masks),
        cmocka_unit_test(test_pb17_negated_predicate),
        cmocka_unit_test(test_mask_logic),
        cmocka_unit_test(test_mask_operands),
        cmocka_unit_test(test_exec_register),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_lanes_and_scalars),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_pb18_branches_on_both_sides),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_spread_is_cached),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_atomics_that_return),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
