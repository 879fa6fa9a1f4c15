/* Blocks and post-dominators against their definition, on random code. */
#include "cf/cfg.h"
#include "sim/base/rng.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40 };

struct code {
    struct isa_insn insns[MOST];
    struct isa_program program;
    struct isa_kernel kernel;
};

static void put(struct code *c, uint32_t pc, enum isa_op op, bool pred, uint32_t target)
{
    c->insns[pc] = (struct isa_insn){.op = (uint16_t)op,
                                     .format = isa_ops[op].format,
                                     .pred = pred,
                                     .pc = pc,
                                     .target = target,
                                     .jip = ISA_NO_PC};
}

static void finish(struct code *c, uint32_t first, uint32_t n)
{
    c->program = (struct isa_program){.ninsns = n, .insns = c->insns};
    c->kernel = (struct isa_kernel){.first = first, .end = n};
}

/* Anything that leads anywhere; it ends with an end. */
static void make_code(struct code *c, struct rng *rng)
{
    static const enum isa_op ops[] = {OP_s_nop,  OP_s_nop,  OP_s_nop,      OP_join,      OP_goto,
                                      OP_goto_b, OP_s_jump, OP_s_branch_z, OP_s_barrier, OP_s_end};
    uint32_t n = 2 + (uint32_t)rng_below(rng, MOST - 1), first = (uint32_t)rng_below(rng, n - 1);

    for (uint32_t pc = 0; pc + 1 < n; pc++)
        put(c, pc, ops[rng_below(rng, sizeof ops / sizeof *ops)], rng_below(rng, 2),
            first + (uint32_t)rng_below(rng, n - first));
    put(c, n - 1, OP_s_end, false, 0);
    finish(c, first, n);
}

/* Pcs that a lane can go to; 0 where it ends. */
static unsigned successors(const struct isa_insn *in, uint32_t out[2])
{
    switch (in->format) {
    case ISA_JUMP:
        out[0] = in->target;
        return 1;
    case ISA_BRANCH_S:
        out[0] = in->pc + 1;
        out[1] = in->target;
        return 2;
    case ISA_GOTO:
    case ISA_GOTO_BACK:
        out[0] = in->target;
        out[1] = in->pc + 1;
        return in->pred ? 2 : 1;
    case ISA_END:
        out[0] = in->pc + 1;
        return in->pred ? 1 : 0;
    default:
        out[0] = in->pc + 1;
        return 1;
    }
}

/* Whether a lane at pc can come to its end without coming to `avoid`. */
static bool can_end(const struct code *c, uint32_t pc, uint32_t avoid)
{
    bool seen[MOST + 1] = {false};
    uint32_t stack[2 * MOST + 2], depth = 0;

    stack[depth++] = pc;
    while (depth) {
        uint32_t at = stack[--depth], next[2];
        unsigned n;

        if (at == avoid || seen[at])
            continue;
        seen[at] = true;
        n = successors(&c->insns[at], next);
        if (!n)
            return true;
        while (n)
            stack[depth++] = next[--n];
    }
    return false;
}

/* The nearest of the joins that every lane comes to which goes on behind pc, to its end. */
static uint32_t slow_next_join(const struct code *c, uint32_t pc)
{
    uint32_t next[2], best = ISA_NO_PC;
    unsigned n = successors(&c->insns[pc], next);

    for (uint32_t join = c->kernel.first; join < c->kernel.end; join++) {
        bool all = n > 0, ends = false;

        if (c->insns[join].format != ISA_JOIN)
            continue;
        for (unsigned i = 0; i < n; i++) {
            all &= !can_end(c, next[i], join);
            ends |= can_end(c, next[i], ISA_NO_PC);
        }
        /* Of two such joins the nearer one is that from which the other must still be passed. */
        if (all && ends && (best == ISA_NO_PC || !can_end(c, join, best)))
            best = join;
    }
    return best;
}

static void check(const struct code *c)
{
    struct cfg g;

    assert_true(cfg_build(&g, &c->program, &c->kernel));
    for (uint32_t b = 0; b < g.flow.nblocks; b++) {
        const struct isa_block *k = &g.flow.blocks[b];
        uint32_t next[2];

        assert_int_equal(b ? g.flow.blocks[b - 1].end : c->kernel.first, k->first);
        for (uint32_t pc = k->first; pc < k->end; pc++) {
            assert_int_equal(isa_block_at(&g.flow, pc), b);
            assert_true(pc == k->first || c->insns[pc].format != ISA_JOIN);
            if (pc + 1 < k->end) {
                assert_int_equal(successors(&c->insns[pc], next), 1);
                assert_int_equal(next[0], pc + 1);
            }
        }
        if (cfg_next_join(&g, b) != slow_next_join(c, k->end - 1))
            fail_msg("the next join of pc %u is %u, not %u", k->end - 1, cfg_next_join(&g, b),
                     slow_next_join(c, k->end - 1));
    }
    cfg_free(&g);
}

static void test_random_code(void **state)
{
    uint64_t seed = test_seed(20), count = test_count(3000);

    (void)state;
    print_message("HEDDLE_SEED=%" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < count; i++) {
        struct code c;
        struct rng rng;

        rng_seed(&rng, seed + i);
        make_code(&c, &rng);
        check(&c);
    }
}

/* Where lanes can be before they meet: the arms of an if-else with a loop in one. */
static void test_reach(void **state)
{
    struct code c;
    struct cfg g;
    bool inside[MOST] = {false};

    (void)state;
    put(&c, 0, OP_goto, true, 5);   /* block 0: to the else-arm */
    put(&c, 1, OP_s_nop, false, 0); /* 1 */
    put(&c, 2, OP_goto_b, true, 1);
    put(&c, 3, OP_join, false, 0); /* 2 */
    put(&c, 4, OP_goto, false, 7);
    put(&c, 5, OP_join, false, 0); /* 3 */
    put(&c, 6, OP_s_nop, false, 0);
    put(&c, 7, OP_join, false, 0); /* 4 */
    put(&c, 8, OP_s_end, false, 0);
    finish(&c, 0, 9);
    assert_true(cfg_build(&g, &c.program, &c.kernel));
    assert_int_equal(g.flow.nblocks, 5);
    assert_int_equal(cfg_next_join(&g, 0), 7);
    assert_int_equal(cfg_next_join(&g, 1), 3);
    cfg_reach(&g, 1, 7, inside);
    assert_true(!inside[0] && inside[1] && inside[2] && !inside[3] && !inside[4]);
    cfg_reach(&g, 3, 7, inside);
    assert_true(!inside[0] && inside[3] && !inside[4]);
    cfg_free(&g);
}

/* Code that leads back to code that leads forwards again. */
static void test_reach_backwards(void **state)
{
    struct code c;
    struct cfg g;
    bool inside[MOST] = {false};

    (void)state;
    put(&c, 0, OP_s_jump, false, 5); /* block 0 */
    put(&c, 1, OP_join, false, 0);   /* 1 */
    put(&c, 2, OP_s_jump, false, 3);
    put(&c, 3, OP_join, false, 0); /* 2 */
    put(&c, 4, OP_s_end, false, 0);
    put(&c, 5, OP_join, false, 0); /* 3 */
    put(&c, 6, OP_s_jump, false, 1);
    finish(&c, 0, 7);
    assert_true(cfg_build(&g, &c.program, &c.kernel));
    cfg_reach(&g, 3, ISA_NO_PC, inside);
    assert_true(!inside[0] && inside[1] && inside[2] && inside[3]);
    cfg_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_code),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_reach_backwards),
    };

    return cmocka_run_group_tests_name("cfg", tests, NULL, NULL);
}
