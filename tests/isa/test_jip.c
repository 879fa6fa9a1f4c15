/* The JIPs that the assembler derives: shapes whose JIPs are known, and random programs against a lane at a time. */
#include "isa/dis.h"
#include "isa/encode.h"
#include "isa/asleep.h"
#include "sim/base/bits.h"
#include "sim/base/rng.h"
#include "tests/isa/goto_programs.h"
#include "tests/isa/mini.h"
#include "tests/soak.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- shapes ----------------------------------------------------------------------------------- */

/* pcs of gotos and joins, each with its JIP; ends with {0, 0}. */
struct jip {
    uint32_t pc, jip;
};
enum { NONE = UINT32_MAX };

static void check(const char *body, const struct jip *want)
{
    struct text source = {0};
    struct isa_program *p;
    unsigned count = 0;

    text_add(&source, ".kernel k\n%s.endkernel\n", body);
    p = mini_assemble(text_str(&source));
    for (; want->pc || want->jip; want++, count++)
        if (p->insns[want->pc].jip != want->jip)
            fail_msg("pc %u has JIP %u, wanted %u in\n%s", want->pc, p->insns[want->pc].jip,
                     want->jip, body);
    for (size_t pc = 0; pc < p->ninsns; pc++)
        count -= p->insns[pc].format == ISA_GOTO || p->insns[pc].format == ISA_GOTO_BACK ||
                 p->insns[pc].format == ISA_JOIN;
    assert_int_equal(count, 0);
    text_free(&source);
    isa_program_free(p);
}

static void a_join_where_nobody_sleeps_is_no_stop(void **state)
{
    static const struct jip inner_if[] = {{0, 3}, {1, 2}, {2, 3}, {3, NONE}, {0, 0}};
    static const struct jip in_a_row[] = {{0, 2}, {2, NONE}, {3, 5}, {5, NONE}, {0, 0}};

    (void)state;
    check("@m0 goto a\n@m1 goto b\nb: join\na: join\ns_end\n", inner_if);
    check("@m0 goto a\ns_nop\na: join\n@m1 goto b\ns_nop\nb: join\ns_end\n", in_a_row);
}

static void if_else(void **state)
{
    static const struct jip want[] = {{0, 3}, {2, 3}, {3, 5}, {5, NONE}, {0, 0}};

    (void)state;
    check("@!m0 goto other\ns_nop\ngoto end\nother: join\ns_nop\nend: join\ns_end\n", want);
}

/* A break from an if leads on to the if's join, where lanes of the loop sleep, then to the loop's. */
static void break_out_of_an_if(void **state)
{
    static const struct jip want[] = {{1, 3}, {2, 3}, {3, 5}, {4, 5}, {5, NONE}, {0, 0}};

    (void)state;
    check(
        "head: s_nop\n@!m0 goto end\n@m1 goto out\nend: join\n@m2 goto.b head\nout: join\ns_end\n",
        want);
}

/* The join behind the first loop is the head of the second: going round the second does not change who may sleep there. */
static void loops_back_to_back_that_share_a_join(void **state)
{
    static const struct jip want[] = {{1, 2}, {2, 5}, {4, 5}, {5, NONE}, {0, 0}};

    (void)state;
    check("one: s_nop\n@m0 goto.b one\ntwo: join\ns_nop\n@m1 goto.b two\njoin\ns_end\n", want);
}

static void loops_back_to_back(void **state)
{
    static const struct jip want[] = {{1, 2}, {2, NONE}, {4, 5}, {5, NONE}, {0, 0}};

    (void)state;
    check("one: s_nop\n@m0 goto.b one\njoin\ntwo: s_nop\n@m1 goto.b two\njoin\ns_end\n", want);
}

/* A loop of all lanes in which a lane may leave: whoever stands above the goto may meet sleepers of an earlier trip. */
static void uniform_loop_with_an_exit(void **state)
{
    static const struct jip want[] = {{0, 2}, {2, 6}, {3, 6}, {6, NONE}, {0, 0}};

    (void)state;
    check("head: @m0 goto end\ns_nop\nend: join\n@m1 goto out\ns_sub_u32 s0, s0, 1\n"
          "s_branch_nz s0, head\nout: join\ns_end\n",
          want);
}

/* Lanes that slept before a loop of all lanes: the loop's joins lead to theirs behind the loop. */
static void uniform_loop_with_lanes_asleep_from_before(void **state)
{
    static const struct jip want[] = {{0, 6}, {1, 3}, {3, 6}, {6, NONE}, {0, 0}};

    (void)state;
    check("@m0 goto out\nhead: @m1 goto end\ns_nop\nend: join\ns_sub_u32 s0, s0, 1\n"
          "s_branch_nz s0, head\nout: join\ns_end\n",
          want);
}

/* No lane leaves the loop: its joins have nothing behind them, the one behind the loop included. */
static void uniform_loop_that_needs_no_join_behind_it(void **state)
{
    static const struct jip want[] = {{0, 2}, {2, NONE}, {5, NONE}, {6, 7}, {7, NONE}, {0, 0}};

    (void)state;
    check("head: @m0 goto end\ns_nop\nend: join\ns_sub_u32 s0, s0, 1\ns_branch_nz s0, head\njoin\n"
          "@m1 goto out\nout: join\ns_end\n",
          want);
}

static void target_that_is_next(void **state)
{
    static const struct jip want[] = {{0, 1}, {1, NONE}, {2, 3}, {3, NONE}, {0, 0}};

    (void)state;
    check("@m0 goto a\na: join\ngoto b\nb: join\ns_end\n", want);
}

/* A goto that nothing leads to sends nobody to sleep, so that its join is no stop. */
static void goto_that_is_never_reached(void **state)
{
    static const struct jip want[] = {{0, 5}, {2, 4}, {3, 5}, {4, 5}, {5, NONE}, {0, 0}};

    (void)state;
    check("@m0 goto a\ns_jump c\n@m1 goto b\nc: @m2 goto a\nb: join\na: join\ns_end\n", want);
}

/* A goto for all lanes in a divergent block sleeps like the others; a jump would pass the sleepers of its if. */
static void goto_for_all_lanes_in_an_if(void **state)
{
    static const struct jip want[] = {{0, 2}, {1, 2}, {2, 4}, {4, NONE}, {0, 0}};

    (void)state;
    check("@m0 goto a\ngoto out\na: join\ns_nop\nout: join\ns_end\n", want);
}

/* Inner loop in outer loop: a lane that leaves both sleeps at `out` in every later trip of both. */
static void break_of_two_loops(void **state)
{
    static const struct jip want[] = {{1, 4}, {2, 4}, {3, 4}, {4, 6}, {5, 6}, {6, NONE}, {0, 0}};

    (void)state;
    check("outer: s_nop\ninner: @m0 goto skip\n@m1 goto out\n@m2 goto.b inner\n"
          "skip: join\n@m3 goto.b outer\nout: join\ns_end\n",
          want);
}

/* ---- random programs -------------------------------------------------------------------------- */

/* The other rule that is right: the next join, whether anyone can sleep there or not. */
static void use_the_next_join(struct isa_program *p)
{
    uint32_t next = ISA_NO_PC;

    for (size_t pc = p->ninsns; pc-- > 0;) {
        p->insns[pc].jip = next;
        if (p->insns[pc].format == ISA_JOIN)
            next = (uint32_t)pc;
    }
}

static bool *find_apart(const struct isa_program *p)
{
    bool *apart = calloc(p->ninsns, sizeof *apart);

    assert_true(apart && isa_find_apart(p, &p->kernels[0], apart));
    return apart;
}

static struct mini *run(const struct isa_program *p, unsigned width, unsigned lane, bool scalar)
{
    struct mini *m = mini_new(p, "k", width, width);
    bool *apart = find_apart(p);

    m->apart = apart;
    m->scalar = scalar;
    mini_param(m, "first", lane);
    mini_run(m, 2000000);
    m->apart = NULL;
    free(apart);
    if (m->wrong) {
        struct text text = {0};

        isa_disassemble(p, &text);
        fail_msg("%s, of width %u, in\n%s", m->wrong, width, text_str(&text));
    }
    return m;
}

/* Each lane ends with what it computes alone, where a goto is a branch and a join is nothing. */
static void compare_lanes(const struct isa_program *p, const struct mini *m)
{
    for (unsigned lane = 0; lane < m->width; lane++) {
        struct mini *one = run(p, 1, lane, true);

        if (mini_reg(m, lane, GOTO_RESULT) != mini_reg(one, 0, GOTO_RESULT)) {
            struct text text = {0};

            isa_disassemble(p, &text);
            fail_msg("lane %u of %u differs in\n%s", lane, m->width, text_str(&text));
        }
        mini_free(one);
    }
}

static void both_come_back(const struct isa_program *p)
{
    struct text text = {0}, bytes = {0};
    struct isa_program *q, *image;

    isa_disassemble(p, &text);
    q = mini_assemble(text_str(&text));
    isa_image_write(p, &bytes);
    assert_int_equal(isa_image_read("i", bytes.at, bytes.len, &image, NULL), HD_OK);
    for (size_t pc = 0; pc < p->ninsns; pc++) {
        assert_int_equal(q->insns[pc].jip, p->insns[pc].jip);
        assert_int_equal(image->insns[pc].jip, p->insns[pc].jip);
    }
    text_free(&text);
    text_free(&bytes);
    isa_program_free(q);
    isa_program_free(image);
}

static void random_programs_end_as_lane_by_lane(void **state)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    uint64_t seed = test_seed(77), rounds = test_count(300);
    unsigned long hops = 0, simple_hops = 0;
    struct rng r;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(&r, seed);
    for (uint64_t round = 0; round < rounds; round++) {
        unsigned width = widths[rng_below(&r, 4)];
        struct text source = {0};
        struct isa_program *p;
        struct mini *m, *simple;

        goto_program(&r, &source);
        p = mini_assemble(text_str(&source));
        both_come_back(p);
        m = run(p, width, 0, false);
        compare_lanes(p, m);
        use_the_next_join(p);
        simple = run(p, width, 0, false);
        for (unsigned lane = 0; lane < width; lane++)
            assert_int_equal(mini_reg(m, lane, GOTO_RESULT), mini_reg(simple, lane, GOTO_RESULT));
        assert_true(m->hops <= simple->hops);
        hops += m->hops;
        simple_hops += simple->hops;
        mini_free(m);
        mini_free(simple);
        isa_program_free(p);
        text_free(&source);
    }
    print_message("joins with nobody awake: %lu, of the next join as JIP %lu\n", hops, simple_hops);
    assert_true(hops < simple_hops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_join_where_nobody_sleeps_is_no_stop),
        cmocka_unit_test(if_else),
        cmocka_unit_test(break_out_of_an_if),
        cmocka_unit_test(loops_back_to_back_that_share_a_join),
        cmocka_unit_test(loops_back_to_back),
        cmocka_unit_test(uniform_loop_with_an_exit),
        cmocka_unit_test(uniform_loop_with_lanes_asleep_from_before),
        cmocka_unit_test(uniform_loop_that_needs_no_join_behind_it),
        cmocka_unit_test(target_that_is_next),
        cmocka_unit_test(goto_that_is_never_reached),
        cmocka_unit_test(goto_for_all_lanes_in_an_if),
        cmocka_unit_test(break_of_two_loops),
        cmocka_unit_test(random_programs_end_as_lane_by_lane),
    };

    return cmocka_run_group_tests_name("jip", tests, NULL, NULL);
}
