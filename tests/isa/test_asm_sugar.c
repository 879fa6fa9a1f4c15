/*
 * Structured regions: random programs of .if, .else, .loop, .break and .continue run as a wavefront, and
 * lane by lane as the scalar program that they mean. Each lane must end with the same registers.
 */
#include "sim/base/rng.h"
#include "sim/base/text.h"
#include "tests/isa/mini.h"
#include "tests/soak.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * v0 is the lane; v1-v4 are the data; v10 + depth counts the trips of the loop at that depth. v5 is
 * scratch of conditions. A condition is ((data >> shift) + lane & 7) < limit, computed just before its use.
 */
enum { NUM_DATA = 4, MAX_NODES = 400, MAX_DEPTH = 12, MAX_TRIPS = 4, FIRST_COUNTER = 10 };

enum node_kind { SET, IF, LOOP, BREAK, CONTINUE, RETURN, NUM_KINDS };

struct condition {
    bool none, negated;
    unsigned data, shift, limit, mask; /* mask 16: vcc */
};

struct node {
    enum node_kind kind;
    struct condition cond;
    unsigned data, add, mul;
    int body, other, next; /* nodes or -1 */
};

struct program {
    struct rng rng;
    struct node nodes[MAX_NODES];
    int count;
    unsigned made[NUM_KINDS], deepest;
    struct text text;
};

/* ---- making a program ----------------------------------------------------------------------- */

static unsigned pick(struct program *p, unsigned n)
{
    return (unsigned)rng_below(&p->rng, n);
}

static struct condition make_condition(struct program *p, bool may_be_none)
{
    struct condition c = {.none = may_be_none && pick(p, 8) == 0, .negated = pick(p, 3) == 0};

    c.data = pick(p, NUM_DATA);
    c.shift = pick(p, 6);
    c.limit = pick(p, 9);
    c.mask = pick(p, 9);
    if (c.mask == 8)
        c.mask = ISA_VCC;
    return c;
}

static int make_list(struct program *p, unsigned depth, bool in_loop);

static int make_node(struct program *p, unsigned depth, bool in_loop)
{
    int index = p->count++;
    struct node *n = &p->nodes[index];
    unsigned dice = pick(p, 20);

    *n = (struct node){.kind = SET, .body = -1, .other = -1, .next = -1};
    if (dice < 7 && depth < MAX_DEPTH)
        n->kind = dice < 4 ? IF : LOOP;
    else if (dice < 11 && in_loop)
        n->kind = dice < 9 ? BREAK : CONTINUE;
    else if (dice == 11 && pick(p, 4) == 0)
        n->kind = RETURN;
    n->cond = make_condition(p, n->kind == SET || n->kind == BREAK || n->kind == CONTINUE);
    n->data = pick(p, NUM_DATA);
    n->add = pick(p, 1000);
    n->mul = 1 + 2 * pick(p, 8);
    p->made[n->kind]++;
    if (depth > p->deepest)
        p->deepest = depth;
    if (n->kind == IF || n->kind == LOOP)
        p->nodes[index].body = make_list(p, depth + 1, in_loop || n->kind == LOOP);
    if (p->nodes[index].kind == IF && pick(p, 2))
        p->nodes[index].other = make_list(p, depth + 1, in_loop);
    return index;
}

static int make_list(struct program *p, unsigned depth, bool in_loop)
{
    int first = -1, last = -1;

    for (unsigned left = 1 + pick(p, 4); left > 0 && p->count < MAX_NODES - 64; left--) {
        int index = make_node(p, depth, in_loop);

        if (first < 0)
            first = index;
        else
            p->nodes[last].next = index;
        last = index;
    }
    return first;
}

/* ---- as assembly ---------------------------------------------------------------------------- */

static const char *mask_name(const struct condition *c, char out[8])
{
    snprintf(out, 8, c->mask == ISA_VCC ? "vcc" : "m%u", c->mask);
    return out;
}

static void put_condition(struct program *p, const struct condition *c)
{
    char mask[8];

    if (c->none)
        return;
    text_add(&p->text, " v_shr_b32 v5, v%u, %u\n v_add_u32 v5, v5, v0\n v_and_b32 v5, v5, 7\n",
             1 + c->data, c->shift);
    text_add(&p->text, " v_cmp_lt_u32 %s, v5, %u\n", mask_name(c, mask), c->limit);
}

static void put_use(struct program *p, const char *before, const struct condition *c)
{
    char mask[8];

    text_add(&p->text, "%s", before);
    if (!c->none)
        text_add(&p->text, "%s%s", c->negated ? "!" : "", mask_name(c, mask));
}

static void put_list(struct program *p, int index, unsigned depth);

static void put_loop(struct program *p, const struct node *n, unsigned depth)
{
    unsigned counter = FIRST_COUNTER + depth;

    text_add(&p->text, " v_mov_b32 v%u, 0\n .loop\n", counter);
    text_add(&p->text, " v_cmp_ge_u32 m7, v%u, %u\n .break m7\n", counter, 1 + n->add % MAX_TRIPS);
    text_add(&p->text, " v_add_u32 v%u, v%u, 1\n", counter, counter);
    put_list(p, n->body, depth + 1);
    text_add(&p->text, " .endloop\n");
}

static void put_set(struct program *p, const struct node *n)
{
    text_add(&p->text, " ");
    if (!n->cond.none) {
        put_use(p, "@", &n->cond);
        text_add(&p->text, " ");
    }
    text_add(&p->text, "v_mad_u32 v%u, v%u, v6, v7\n", 1 + n->data, 1 + n->data);
}

static void put_node(struct program *p, const struct node *n, unsigned depth)
{
    if (n->kind == SET)
        text_add(&p->text, " v_mov_b32 v6, %u\n v_mov_b32 v7, %u\n", n->mul, n->add);
    if (n->kind != LOOP)
        put_condition(p, &n->cond);
    switch (n->kind) {
    case SET:
        put_set(p, n);
        break;
    case IF:
        put_use(p, " .if ", &n->cond);
        text_add(&p->text, "\n");
        put_list(p, n->body, depth + 1);
        if (n->other >= 0) {
            text_add(&p->text, " .else\n");
            put_list(p, n->other, depth + 1);
        }
        text_add(&p->text, " .endif\n");
        break;
    case LOOP:
        put_loop(p, n, depth);
        break;
    case BREAK:
    case CONTINUE:
        put_use(p, n->kind == BREAK ? " .break " : " .continue ", &n->cond);
        text_add(&p->text, "\n");
        break;
    default:
        put_use(p, " @", &n->cond);
        text_add(&p->text, " s_end\n");
    }
}

static void put_list(struct program *p, int index, unsigned depth)
{
    for (; index >= 0; index = p->nodes[index].next)
        put_node(p, &p->nodes[index], depth);
}

/* ---- as a scalar program ------------------------------------------------------------------------ */

enum flow { GO_ON, LEFT_LOOP, NEXT_TRIP, ENDED };

struct lane {
    uint32_t lane, data[NUM_DATA];
};

static bool holds(const struct lane *l, const struct condition *c)
{
    bool less = (((l->data[c->data] >> c->shift) + l->lane) & 7) < c->limit;

    return c->none || less != c->negated;
}

static enum flow run_list(const struct program *p, int index, struct lane *l);

static enum flow run_loop(const struct program *p, const struct node *n, struct lane *l)
{
    for (unsigned trip = 0; trip < 1 + n->add % MAX_TRIPS; trip++) {
        enum flow flow = run_list(p, n->body, l);

        if (flow == ENDED)
            return ENDED;
        if (flow == LEFT_LOOP)
            break;
    }
    return GO_ON;
}

static enum flow run_node(const struct program *p, const struct node *n, struct lane *l)
{
    bool yes = holds(l, &n->cond);

    switch (n->kind) {
    case SET:
        if (yes)
            l->data[n->data] = l->data[n->data] * n->mul + n->add;
        return GO_ON;
    case IF:
        return run_list(p, yes ? n->body : n->other, l);
    case LOOP:
        return run_loop(p, n, l);
    case BREAK:
        return yes ? LEFT_LOOP : GO_ON;
    case CONTINUE:
        return yes ? NEXT_TRIP : GO_ON;
    default:
        return yes ? ENDED : GO_ON;
    }
}

static enum flow run_list(const struct program *p, int index, struct lane *l)
{
    enum flow flow = GO_ON;

    for (; index >= 0 && flow == GO_ON; index = p->nodes[index].next)
        flow = run_node(p, &p->nodes[index], l);
    return flow;
}

/* ---- the comparison ------------------------------------------------------------------------------ */

static void make_program(struct program *p, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    rng_seed(&p->rng, seed);
    text_add(&p->text, ".kernel k\n v_get_u32 v0, %%lane\n");
    for (int i = 0; i < NUM_DATA; i++)
        text_add(&p->text, " v_mul_u32 v%d, v0, %d\n", i + 1, 0x1234567 * (i + 1));
    put_list(p, make_list(p, 0, false), 0);
    text_add(&p->text, " .if m0\n .endif\n s_end\n.endkernel\n");
}

static void compare_lanes(const struct program *p, const struct mini *m, uint64_t seed)
{
    for (unsigned lane = 0; lane < m->items; lane++) {
        struct lane l = {.lane = lane};

        for (unsigned i = 0; i < NUM_DATA; i++)
            l.data[i] = lane * 0x1234567u * (i + 1);
        run_list(p, 0, &l);
        for (unsigned i = 0; i < NUM_DATA; i++)
            if (mini_reg(m, lane, 1 + i) != l.data[i])
                fail_msg("seed %llu width %u lane %u v%u: %u, not %u\n%s", (unsigned long long)seed,
                         m->width, lane, 1 + i, mini_reg(m, lane, 1 + i), l.data[i], p->text.at);
    }
}

static void random_structured_programs(void **state)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    uint64_t seed = test_seed(31), rounds = test_count(500);
    struct program *p = malloc(sizeof *p);
    unsigned made[NUM_KINDS] = {0}, spilled = 0;

    (void)state;
    assert_non_null(p);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint64_t round = 0; round < rounds; round++) {
        unsigned width = widths[round % 4];
        struct isa_program *program;
        struct mini *m;

        make_program(p, seed + round);
        program = mini_assemble(p->text.at);
        m = mini_new(program, "k", width, round % 3 ? width : width - 3);
        mini_run(m, 20000000);
        if (m->wrong)
            fail_msg("seed %llu: %s\n%s", (unsigned long long)(seed + round), m->wrong, p->text.at);
        compare_lanes(p, m, seed + round);
        for (unsigned i = 0; i < NUM_KINDS; i++)
            made[i] += p->made[i];
        spilled += m->kernel->sregs > 0;
        mini_free(m);
        isa_program_free(program);
        text_free(&p->text);
    }
    for (unsigned i = 0; i < NUM_KINDS; i++)
        assert_true(made[i] > rounds / 10);
    assert_true(spilled > rounds / 20);
    free(p);
}

/* ---- single facts -------------------------------------------------------------------------------- */

/* PB-02: lane L loops i = 0..L; odd i continue; even i add i. out[L] = k * (k + 1) with k = floor(L / 2). */
static void test_pb02_continue(void **state)
{
    struct isa_program *program =
        mini_assemble(".kernel k\n"
                      "v_get_u32 v0, %lane\n v_mov_b32 v1, -1\n v_mov_b32 v2, 0\n"
                      ".loop\n"
                      " v_add_u32 v1, v1, 1\n"
                      " v_cmp_gt_i32 m0, v1, v0\n"
                      " .break m0\n"
                      " v_and_b32 v3, v1, 1\n"
                      " v_cmp_ne_u32 vcc, v3, 0\n"
                      " .continue vcc\n"
                      " v_add_u32 v2, v2, v1\n"
                      ".endloop\n s_end\n.endkernel\n");
    struct mini *m = mini_new(program, "k", 64, 64);

    (void)state;
    mini_run(m, 100000);
    assert_null(m->wrong);
    for (unsigned lane = 0; lane < 64; lane++)
        assert_int_equal(mini_reg(m, lane, 2), (lane / 2) * (lane / 2 + 1));
    mini_free(m);
    isa_program_free(program);
}

/* An arm without lanes is skipped: its one scalar addition does not happen. */
static void empty_arms_are_skipped(void **state)
{
    struct isa_program *program =
        mini_assemble(".kernel k\n"
                      "s_mov_b32 s0, 0\n m_mov m0, 0\n m_mov m1, -1\n"
                      ".if m0\n s_add_u32 s0, s0, 1\n.else\n s_add_u32 s0, s0, 2\n.endif\n"
                      ".if m1\n s_add_u32 s0, s0, 4\n.else\n s_add_u32 s0, s0, 8\n.endif\n"
                      "v_mov_b32 v0, s0\n s_end\n.endkernel\n");
    struct mini *m = mini_new(program, "k", 32, 32);

    (void)state;
    mini_run(m, 1000);
    assert_int_equal(mini_reg(m, 0, 0), 2 + 4);
    mini_free(m);
    isa_program_free(program);
}

/* The stores, loads and comparisons of a region carry its mask; whole mask operations and scalars do not. */
static void all_that_acts_on_lanes_is_masked(void **state)
{
    struct isa_program *p = mini_assemble(
        ".kernel k\n.param x f32[]\n.lds 64\n.if m1\n global_load_b32 v0, [x]\n global_store_b32 "
        "[x], v0\n"
        " global_atomic_add_u32 [x], v0\n local_load_b32 v0, [v1]\n local_store_b32 [v1], v0\n"
        " v_cmp_lt_u32 m0, v0, v1\n m_and m2, m0, m1\n print \"%d\", v0\n assert m0, \"a\"\n"
        " s_any s4, m0\n v_shuffle_xor_b32 v0, v0, 1\n v_writelane_b32 v0, s4, 1\n s_end\n"
        " m_mov s[6:7], m0\n s_mov_b32 s4, 1\n s_nop\n.endif\n s_end\n.endkernel\n");

    (void)state;
    for (uint32_t pc = 2; pc < 15; pc++)
        assert_int_equal(p->insns[pc].pred, 1 + 8);
    for (uint32_t pc = 15; pc < 18; pc++)
        assert_int_equal(p->insns[pc].pred, 0);
    assert_int_equal(p->insns[0].op, OP_m_mov);
    assert_int_equal(p->insns[1].op, OP_s_branch_none);
    assert_int_equal(p->insns[1].target, 18);
    assert_int_equal(p->kernels[0].forms, ISA_FORM_PREDICATED);
    isa_program_free(p);
}

/* The spilled masks of deep regions take pairs from the top of .sregs down. */
static void deep_regions_take_scalar_pairs_from_the_top(void **state)
{
    char text[1024] = ".kernel k\n.sregs 21\n s_mov_b32 s15, 7\n";
    struct isa_program *p;
    unsigned low = 99, high = 0;

    (void)state;
    for (int i = 0; i < 9; i++)
        strcat(text, ".if m0\n");
    for (int i = 0; i < 9; i++)
        strcat(text, ".endif\n");
    strcat(text, "s_end\n.endkernel\n");
    p = mini_assemble(text);
    for (size_t i = 1; i < p->ninsns; i++) {
        if (p->insns[i].d.kind != ISA_O_S)
            continue;
        low = p->insns[i].d.index < low ? p->insns[i].d.index : low;
        high = p->insns[i].d.index > high ? p->insns[i].d.index : high;
    }
    assert_int_equal(high, 18); /* .sregs 21: pairs s[18:19], s[16:17] */
    assert_int_equal(low, 16);
    isa_program_free(p);
}

/* Lane n enters the ifs of levels 1 to n. v1 counts them, v2 is the level whose .else it takes, v3 the sum of those it sees end. */
static void ifs_that_are_nested_up_to_20_deep(void **state)
{
    (void)state;
    for (unsigned depth = 6; depth <= 20; depth++) {
        struct text text = {0};
        struct isa_program *p;
        struct mini *m;

        text_add(&text, ".kernel k\nv_get_u32 v0, %%lane\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\n"
                        "v_mov_b32 v3, 0\n");
        for (unsigned i = 1; i <= depth; i++)
            text_add(&text, "v_cmp_ge_u32 m0, v0, %u\n.if m0\nv_add_u32 v1, v1, 1\n", i);
        for (unsigned i = depth; i >= 1; i--)
            text_add(&text, ".else\nv_add_u32 v2, v2, %u\n.endif\nv_add_u32 v3, v3, %u\n", i, i);
        text_add(&text, "s_end\n.endkernel\n");
        p = mini_assemble(text_str(&text));
        m = mini_new(p, "k", 32, 29);
        mini_run(m, 10000);
        assert_null(m->wrong);
        for (unsigned lane = 0; lane < 29; lane++) {
            unsigned in = lane < depth ? lane : depth, seen = in < depth ? in + 1 : depth;

            assert_int_equal(mini_reg(m, lane, 1), in);
            assert_int_equal(mini_reg(m, lane, 2), lane < depth ? lane + 1 : 0);
            assert_int_equal(mini_reg(m, lane, 3), seen * (seen + 1) / 2);
        }
        mini_free(m);
        isa_program_free(p);
        text_free(&text);
    }
}

/*
 * Loops in loops, each with two masks, since it has a .continue; each goes round once. Lane n leaves the loop of level n + 1.
 * v1 counts visits of the innermost level, v2 the loops that a lane sees through.
 */
static void loops_that_are_nested_up_to_20_deep(void **state)
{
    (void)state;
    for (unsigned depth = 6; depth <= 20; depth++) {
        struct text text = {0};
        struct isa_program *p;
        struct mini *m;

        text_add(
            &text,
            ".kernel k\nv_get_u32 v0, %%lane\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\nm_mov m3, 0\n");
        for (unsigned i = 1; i <= depth; i++)
            text_add(&text, ".loop\nv_cmp_lt_u32 m0, v0, %u\n.break m0\n.continue m3\n", i);
        text_add(&text, "v_add_u32 v1, v1, 1\n");
        for (unsigned i = depth; i >= 1; i--)
            text_add(&text, "v_add_u32 v2, v2, 1\n.break\n.endloop\n");
        text_add(&text, "s_end\n.endkernel\n");
        p = mini_assemble(text_str(&text));
        m = mini_new(p, "k", 32, 32);
        mini_run(m, 100000);
        assert_null(m->wrong);
        for (unsigned lane = 0; lane < 32; lane++) {
            assert_int_equal(mini_reg(m, lane, 1), lane >= depth ? 1 : 0);
            assert_int_equal(mini_reg(m, lane, 2), lane >= depth ? depth : lane);
        }
        mini_free(m);
        isa_program_free(p);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_structured_programs),
        cmocka_unit_test(test_pb02_continue),
        cmocka_unit_test(empty_arms_are_skipped),
        cmocka_unit_test(all_that_acts_on_lanes_is_masked),
        cmocka_unit_test(deep_regions_take_scalar_pairs_from_the_top),
        cmocka_unit_test(ifs_that_are_nested_up_to_20_deep),
        cmocka_unit_test(loops_that_are_nested_up_to_20_deep),
    };

    return cmocka_run_group_tests_name("asm_sugar", tests, NULL, NULL);
}
