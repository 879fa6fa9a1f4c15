/* Where lanes may be apart, and what divergence units refuse for it. */
#include "isa/regions.h"
#include "sim/base/text.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct isa_program *assemble(const char *body)
{
    struct text source = {0};
    struct isa_program *p;

    text_add(&source, ".kernel k\n%s\n.endkernel\n", body);
    p = mini_assemble(text_str(&source));
    text_free(&source);
    return p;
}

/* want: an x for each instruction where lanes may be apart, else a dot. */
static void apart_is(const char *body, const char *want)
{
    struct isa_program *p = assemble(body);
    bool *apart = calloc(p->ninsns, sizeof *apart);
    struct text got = {0};

    assert_non_null(apart);
    assert_true(isa_divergent_regions(p, &p->kernels[0], apart));
    for (size_t pc = 0; pc < p->ninsns; pc++)
        text_add(&got, apart[pc] ? "x" : ".");
    assert_string_equal(text_str(&got), want);
    text_free(&got);
    free(apart);
    isa_program_free(p);
}

static void lanes_are_apart_from_a_goto_to_its_join(void **state)
{
    (void)state;
    apart_is("s_nop\n@m0 goto a\ns_nop\ns_nop\na: join\ns_nop\ns_end", "..xx...");
    apart_is("@m0 goto a\ns_nop\ngoto b\na: join\ns_nop\nb: join\ns_end", ".xxxx..");
    apart_is("s_nop\na: s_nop\n@m0 goto.b a\njoin\ns_end", ".xx..");
    apart_is("s_nop\na: @m0 goto b\ns_nop\ns_jump a\nb: join\ns_end", ".xxx..");
    apart_is("s_mov_b32 s0, 1\na: s_nop\n@m0 goto b\ns_branch_nz s0, a\nb: join\ns_end", ".xxx..");
    /* lanes that leave by a goto without a predicate, where all are together and where not */
    apart_is("s_nop\ngoto a, a\ns_nop\na: join\ns_end", ".....");
    apart_is("@m0 goto a\ngoto b\na: join\ns_nop\nb: join\ns_end", ".xxx..");
    /* behind an end in a region those that slept are alone */
    apart_is("@m0 goto a\ns_end\na: join\ns_nop\ns_end", ".xxxx");
    apart_is("@m0 s_end\ns_nop\ns_end", "...");
    /* in other forms EXEC, or masks, tell lanes apart */
    apart_is("s_branch_none m0, a\ns_nop\na: s_end", "...");
}

static void refused(enum hd_status status, const struct hd_error *err, const char *place,
                    const char *message)
{
    assert_int_equal(status, HD_BAD_INPUT);
    assert_string_equal(err->code, "divergence-unit");
    assert_string_equal(err->place, place);
    if (!strstr(err->message, message) || !strstr(err->message, "unit u cannot"))
        fail_msg("%s", err->message);
    assert_true(err->hint[0] != '\0');
}

static void crossing(const char *insn, bool crosses)
{
    char body[200];
    struct isa_program *p;
    struct hd_error err;
    enum hd_status status;

    snprintf(body, sizeof body, "%s\n@m0 goto a\n%s\na: join\ns_end", insn, insn);
    p = assemble(body);
    assert_true(isa_crosses_lanes(&p->insns[0]) == crosses);
    status = isa_refuse_crossing(p, &p->kernels[0], "u", &err);
    if (crosses)
        refused(status, &err, "t.hasm:4", "lanes may be apart here");
    else
        assert_int_equal(status, HD_OK);
    isa_program_free(p);
}

static void what_crosses_lanes(void **state)
{
    static const char *const yes[] = {"v_mov_b32.nomask v0, 1",
                                      "@m1 v_add_u32.nomask v0, v0, 1",
                                      "v_shuffle_xor_b32 v0, v1, 1",
                                      "v_readfirst_b32 s0, v0",
                                      "v_readlane_b32 s0, v0, 2",
                                      "v_writelane_b32 v0, 2, 2",
                                      "s_any s0, m1",
                                      "s_ballot s[0:1], m1",
                                      "m_mov s[0:1], m1",
                                      "m_and s[0:1], exec, -1"};
    static const char *const no[] = {
        "v_mov_b32 v0, 1", "@m1 v_mov_b32 v0, 1", "m_mov m1, exec", "m_not vcc, m1",
        "s_mov_b32 s0, 1", "m_mov m1, s[0:1]",    "s_nop",          "v_cmp_eq_u32 vcc, v0, 1"};

    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        crossing(yes[i], true);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        crossing(no[i], false);
}

static void branches_on_masks_cross_lanes(void **state)
{
    struct isa_program *p =
        assemble("@m0 goto a\ns_branch_any m1, b\ns_nop\nb: s_nop\na: join\ns_end");
    struct hd_error err;

    (void)state;
    refused(isa_refuse_crossing(p, &p->kernels[0], "u", &err), &err, "t.hasm:3", "s_branch_any");
    isa_program_free(p);
}

static void skipped(const char *body, const char *place, const char *message)
{
    struct isa_program *p = assemble(body);
    struct hd_error err = {0};
    enum hd_status status = isa_refuse_skipped(p, &p->kernels[0], "u", &err);

    if (place)
        refused(status, &err, place, message);
    else if (status != HD_OK)
        fail_msg("%s at %s for\n%s", err.message, err.place, body);
    isa_program_free(p);
}

static void ranges_that_cannot_run_for_no_lane(void **state)
{
    (void)state;
    skipped("s_branch_none m0, a\ns_mov_b32 s0, 1\na: v_mov_b32 v0, s0\ns_end", "t.hasm:3",
            "s0 changes");
    skipped("s_branch_none m0, a\nv_cmp_eq_u32 vcc, v0, 1\na: @vcc v_mov_b32 v0, 1\ns_end",
            "t.hasm:3", "vcc changes");
    /* behind a loop: the range is all that the branch skips, however deep */
    skipped("b: s_branch_none m0, a\ns_branch_all m1, c\ns_add_u32 s0, s0, 1\nc: s_nop\na: s_nop\n"
            "s_branch_nz s0, b\ns_end",
            "t.hasm:4", "s0 changes");
    skipped("s_branch_none m0, a\ns_jump b\na: v_mov_b32 v0, 1\nb: s_end", "t.hasm:3", "leads out");
    skipped("b: s_nop\ns_branch_none m0, a\ns_branch_nz s0, b\na: s_end", "t.hasm:4", "leads out");
    skipped("b: s_branch_none m0, a\nc: s_branch_none m1, d\na: s_branch_nz s0, c\nd: s_end",
            "t.hasm:4", "leads out");
    skipped("s_branch_any m0, a\ns_end\na: s_nop\ns_end", "t.hasm:3", "all lanes end");
}

static void ranges_that_can(void **state)
{
    (void)state;
    skipped("s_branch_none m0, a\ns_mov_b32 s0, 1\n@m0 v_mov_b32 v0, s0\na: s_mov_b32 s0, 2\n"
            "v_mov_b32 v1, s0\ns_end",
            NULL, NULL);
    skipped(
        "s_mov_b32 s0, 1\ns_branch_none m0, a\n@m0 v_mov_b32 v0, s0\na: v_mov_b32 v1, s0\ns_end",
        NULL, NULL);
    skipped("s_branch_none m0, a\nb: s_sub_u32 s0, s0, 1\ns_branch_nz s0, b\n@m0 s_end\na: s_end",
            NULL, NULL);
    /* not by a branch on a mask, and not forward */
    skipped("s_branch_nz s1, a\ns_mov_b32 s0, 1\na: v_mov_b32 v0, s0\ns_end", NULL, NULL);
    skipped("a: s_add_u32 s0, s0, 1\ns_branch_any m0, a\nv_mov_b32 v0, s0\ns_end", NULL, NULL);
    /* the sugar's own branches */
    skipped("m_mov m0, -1\n.loop\n.if m0\n.break m1\n.continue m2\n.else\n.loop\n.break\n.endloop\n"
            ".endif\n.endloop\ns_end",
            NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_apart_from_a_goto_to_its_join),
        cmocka_unit_test(what_crosses_lanes),
        cmocka_unit_test(branches_on_masks_cross_lanes),
        cmocka_unit_test(ranges_that_cannot_run_for_no_lane),
        cmocka_unit_test(ranges_that_can),
    };

    return cmocka_run_group_tests_name("regions", tests, NULL, NULL);
}
