/* What the verifier says of gotos and joins, and that it says it of all runs that go wrong. */
#include "isa/asm.h"
#include "isa/dis.h"
#include "isa/verify.h"
#include "sim/base/bits.h"
#include "tests/isa/goto_programs.h"
#include "tests/isa/mini.h"
#include "tests/soak.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- certain ---------------------------------------------------------------------------------- */

static void refuse(const char *body, const char *code, unsigned line, const char *message)
{
    struct text source = {0};
    struct isa_program *p;
    struct hd_error err = {0};
    char place[24];

    text_add(&source, ".kernel k\n%s\n.endkernel\n", body);
    if (isa_assemble_text("t", text_str(&source), source.len, NULL, 0, &p, &err) == HD_OK)
        fail_msg("accepted: %s", text_str(&source));
    snprintf(place, sizeof place, "t:%u", line);
    if (strcmp(err.code, code) != 0 || strcmp(err.place, place) != 0 ||
        !strstr(err.message, message) || !err.hint[0])
        fail_msg("%s at %s: %s (%s) for\n%s", err.code, err.place, err.message, err.hint,
                 text_str(&source));
    text_free(&source);
}

static void where_gotos_lead(void **state)
{
    (void)state;
    refuse("a: join\n@m0 goto a\ns_end", "verify-uip", 3, "not further down");
    refuse("a: @m0 goto a\njoin\ns_end", "verify-uip", 2, "not further down");
    refuse("@m0 goto a\ns_nop\na: s_nop\njoin\ns_end", "verify-uip", 2, "no join");
    refuse("@m0 goto.b a\na: join\ns_end", "verify-uip", 2, "goto.b is further down");
}

static void where_jips_lead(void **state)
{
    (void)state;
    refuse("a: join\n@m0 goto b, a\nb: join\ns_end", "verify-jip", 3, "goto is not further down");
    refuse("a: join\nb: join a\ns_end", "verify-jip", 3, "join is not further down");
    refuse("@m0 goto b, a\na: s_nop\nb: join\ns_end", "verify-jip", 2, "goto is no join");
    refuse("a: join b\nb: s_nop\ns_end", "verify-jip", 2, "join is no join");
    refuse("@m0 goto a, b\na: join\nb: join\ns_end", "verify-jip", 2, "behind its target");
    refuse("a: s_nop\n@m0 goto.b a\ns_nop\njoin\ns_end", "verify-jip", 3, "no join is right behind");
    refuse("a: s_nop\n@m0 goto.b a, b\njoin\nb: join\ns_end", "verify-jip", 3,
           "not the join right behind");
}

static void passes_lanes_that_surely_sleep(void **state)
{
    (void)state;
    refuse("goto b, a\na: join c\nb: join\nc: join\ns_end", "verify-passes-sleepers", 3,
           "join passes over the join of line 4");
    /* over two joins of which the second has sleepers */
    refuse("@m0 goto c, a\ngoto c, a\na: join d\nb: join\nc: join\nd: join\ns_end",
           "verify-passes-sleepers", 4, "join passes over the join of line 6");
}

static void goes_on_with_no_lane_awake(void **state)
{
    (void)state;
    refuse("goto b, a\na: join -\nv_mov_b32 v0, 1\nb: join\ns_end", "verify-nobody-awake", 3,
           "no lane is awake");
}

static void scalars_that_lanes_write_apart(void **state)
{
    (void)state;
    refuse("s_mov_b32 s0, 1\n@m0 goto a\ns_mov_b32 s0, 2\na: join\nv_mov_b32 v0, s0\ns_end",
           "verify-divergent-scalar", 4, "s0 is written where lanes may be apart");
    refuse("@m0 goto a\nv_cmp_eq_u32 vcc, v0, 1\na: join\n@vcc v_mov_b32 v0, 1\ns_end",
           "verify-divergent-scalar", 3, "vcc is written");
    /* a reduction too; the high word of a pair alone is read */
    refuse("@m0 goto a\ns_ballot s[2:3], m1\na: join\nv_mov_b32 v0, s3\ns_end",
           "verify-divergent-scalar", 3, "s3 is written");
    /* the else arm reads what the then arm wrote */
    refuse("s_mov_b32 s0, 1\n@m0 goto a\ns_mov_b32 s0, 2\ngoto b\na: join\nv_mov_b32 v0, s0\n"
           "b: join\ns_end",
           "verify-divergent-scalar", 4, "behind the join of line 6");
    /* a lane leaves the loop in one trip, and reads what a later one writes */
    refuse("s_mov_b32 s0, 4\nhead: @m0 goto out\ns_sub_u32 s0, s0, 1\ns_branch_nz s0, head\n"
           "out: join\nv_mov_b32 v0, s0\ns_end",
           "verify-divergent-scalar", 4, "behind the join of line 6");
}

/* ---- possible --------------------------------------------------------------------------------- */

/* "code pc" of the remarks other than registers that were not written. */
static void expect(const char *body, const char *want)
{
    struct text source = {0}, got = {0};
    struct isa_findings all = {0};
    struct isa_program *p;

    text_add(&source, ".kernel k\n%s\n.endkernel\n", body);
    p = mini_assemble(text_str(&source));
    isa_verify(p, &all);
    assert_false(all.failed);
    for (size_t i = 0; i < all.len; i++)
        if (all.at[i].verdict == ISA_POSSIBLE && strcmp(all.at[i].code, "verify-unwritten") != 0)
            text_add(&got, "%s %u\n", all.at[i].code, all.at[i].pc);
    if (strcmp(text_str(&got), want) != 0)
        fail_msg("remarks\n%swanted\n%sfor\n%s", text_str(&got), want, text_str(&source));
    text_free(&source);
    text_free(&got);
    isa_findings_free(&all);
    isa_program_free(p);
}

static void remarks_what_may_leave_lanes_asleep(void **state)
{
    (void)state;
    expect("@m0 goto a\ns_jump b\na: join\nb: s_end", "verify-passes-sleepers 1\n");
    expect("@m0 goto a\ns_branch_nz s0, b\na: join\nb: s_end", "verify-passes-sleepers 1\n");
    expect("@m0 goto a\ngoto end, a\na: join\ns_branch_z s0, out\nend: join\nout: s_end",
           "verify-passes-sleepers 3\n");
    expect("@m0 goto b\n@m1 goto c, c\nb: join\nc: join\ns_end", "verify-passes-sleepers 1\n");
    expect("@m0 goto a\n@m1 s_end\na: join\ns_end", "verify-ends-asleep 1\n");
    expect("@m0 goto a\ns_end\na: join\ns_end", "verify-ends-asleep 1\n");
    expect("@m0 goto b\n@m1 goto a\na: join -\nb: join\ns_end", "verify-nobody-awake 2\n");
    expect("@m0 goto a\ns_barrier\na: join\ns_barrier\ns_end", "verify-barrier 1\n");
}

static void has_nothing_to_say_of_good_shapes(void **state)
{
    (void)state;
    expect("@!m0 goto a\ns_nop\ngoto b\na: join\ns_nop\nb: join\ns_end", "");
    expect("a: s_nop\n@m0 goto.b a\njoin\ns_barrier\ns_end", "");
    expect("a: @m0 goto b\ns_nop\ns_jump a\nb: join\n@m1 s_end\ns_nop\ns_end", "");
    /* those that slept at b are awake when a goto passes it */
    expect("s_jump s\nx: @m0 goto d\ns_jump d\ns: goto b, a\na: join b\nb: join\ns_jump x\n"
           "d: join\ns_end",
           "");
    /* a goto of all lanes where all are awake is a jump */
    expect("goto a\na: join\ns_jump b\nb: s_end", "");
    /* a scalar that is written before it is read in both arms, or not read behind the join */
    expect("@m0 goto a\ns_mov_b32 s0, 1\nv_mov_b32 v0, s0\ngoto b\na: join\ns_mov_b32 s0, 2\n"
           "v_mov_b32 v0, s0\nb: join\ns_mov_b32 s0, 3\nv_mov_b32 v1, s0\ns_end",
           "");
    /* the counter of a loop that no lane leaves */
    expect("s_mov_b32 s0, 4\nhead: @m0 goto a\ns_nop\na: join\ns_sub_u32 s0, s0, 1\n"
           "s_branch_nz s0, head\nv_mov_b32 v0, s0\ns_end",
           "");
}

/* ---- random programs with a mistake ------------------------------------------------------------ */

static uint32_t random_join_behind(const struct isa_program *p, struct rng *r, uint32_t pc)
{
    uint32_t found = ISA_NO_PC, seen = 0;

    for (uint32_t i = pc + 1; i < p->ninsns; i++)
        if (p->insns[i].format == ISA_JOIN && rng_below(r, ++seen) == 0)
            found = i;
    return found;
}

static void set_op(struct isa_insn *in, enum isa_op op)
{
    in->op = (uint16_t)op;
    in->format = isa_ops[op].format;
    in->flags = isa_ops[op].flags;
}

/* A JIP that is not the derived one, or a jump, a branch or an end in place of a goto. */
static void damage(struct isa_program *p, struct rng *r)
{
    unsigned what = (unsigned)rng_below(r, 4);
    struct isa_insn *in;

    do
        in = &p->insns[rng_below(r, p->ninsns - 1)];
    while (in->format != ISA_GOTO && in->format != ISA_JOIN);
    if (what < 2 || in->format == ISA_JOIN) {
        in->jip = random_join_behind(p, r, in->pc);
        if (in->format == ISA_GOTO && in->jip > in->target)
            in->jip = in->target;
    } else if (what == 2) {
        set_op(in, OP_s_end);
    } else {
        set_op(in, in->pred ? OP_s_branch_nz : OP_s_jump);
        in->a = (struct isa_operand){ISA_O_S, 1, 0};
        in->pred = 0;
        in->pred_not = false;
    }
}

static bool leaves_lanes(const struct isa_finding *f)
{
    return f->verdict != ISA_UNKNOWN && strcmp(f->code, "verify-unwritten") != 0;
}

struct tally {
    unsigned certain, possible, silent, wrong;
};

/* What goes wrong was remarked; and where something was certain, no run gets past it. */
static void check_run(const struct isa_program *p, const struct isa_findings *all, uint32_t first,
                      struct tally *t)
{
    struct mini *m = mini_new(p, "k", 16, 16);
    bool told = false, certain = false;

    mini_param(m, "first", first);
    for (size_t i = 0; i < all->len; i++) {
        told |= leaves_lanes(&all->at[i]);
        if (all->at[i].verdict != ISA_CERTAIN || certain)
            continue;
        certain = true;
        m->watch = all->at[i].pc;
    }
    mini_run(m, 100000);
    if ((m->wrong && !told) || (certain && m->watched && !m->wrong)) {
        struct text text = {0};

        isa_disassemble(p, &text);
        fail_msg("%s, %s, pc %u in\n%s", m->wrong ? m->wrong : "goes well",
                 certain ? "certain" : "not told", m->watch, text_str(&text));
    }
    t->wrong += m->wrong != NULL;
    t->certain += certain;
    t->possible += told && !certain;
    t->silent += !told;
    mini_free(m);
}

static void says_it_of_all_runs_that_go_wrong(void **state)
{
    uint64_t seed = test_seed(5), rounds = test_count(1500);
    struct tally t = {0};
    struct rng r;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(&r, seed);
    for (uint64_t round = 0; round < rounds; round++) {
        struct text source = {0};
        struct isa_findings all = {0};
        struct isa_program *p;

        goto_program(&r, &source);
        p = mini_assemble(text_str(&source));
        damage(p, &r);
        isa_verify(p, &all);
        check_run(p, &all, (uint32_t)round, &t);
        isa_findings_free(&all);
        isa_program_free(p);
        text_free(&source);
    }
    print_message("%u certain, %u possible, %u silent, %u wrong\n", t.certain, t.possible, t.silent,
                  t.wrong);
    assert_true(t.silent > rounds / 10 && t.wrong > rounds / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_gotos_lead),
        cmocka_unit_test(where_jips_lead),
        cmocka_unit_test(passes_lanes_that_surely_sleep),
        cmocka_unit_test(goes_on_with_no_lane_awake),
        cmocka_unit_test(scalars_that_lanes_write_apart),
        cmocka_unit_test(remarks_what_may_leave_lanes_asleep),
        cmocka_unit_test(has_nothing_to_say_of_good_shapes),
        cmocka_unit_test(says_it_of_all_runs_that_go_wrong),
    };

    return cmocka_run_group_tests_name("verify_goto", tests, NULL, NULL);
}
