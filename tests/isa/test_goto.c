/* The goto form in text and in bytes. */
#include "isa/asm.h"
#include "isa/dis.h"
#include "isa/encode.h"
#include "isa/format.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Listing 1 of the paper, with the join's operands corrected (a join leads forward). */
static const char listing[] = ".kernel k\n"
                              "v_get_u32 v0, %lane\n"          /* 0 */
                              "v_cmp_gt_i32 m0, v0, -1\n"      /* 1 */
                              "@!m0 goto BB_2\n"               /* 2 */
                              "v_add_u32 v1, v0, 1\n"          /* 3 */
                              "@m0 goto BB_4\n"                /* 4 */
                              "BB_2: join\n"                   /* 5 */
                              "v_add_u32 v1, v0, 0xffffffff\n" /* 6 */
                              "BB_4: join\n"                   /* 7 */
                              "s_end\n"                        /* 8 */
                              ".endkernel\n";

static void listing_1_gets_its_jips(void **state)
{
    struct isa_program *p = mini_assemble(listing);

    (void)state;
    assert_int_equal(p->kernels[0].forms, ISA_FORM_GOTO);
    assert_int_equal(p->insns[2].format, ISA_GOTO);
    assert_int_equal(p->insns[2].cls, ISA_C_BRANCH);
    assert_int_equal(p->insns[2].target, 5);
    assert_int_equal(p->insns[2].jip, 5);
    assert_int_equal(p->insns[4].target, 7);
    assert_int_equal(p->insns[4].jip, 5);
    assert_int_equal(p->insns[5].format, ISA_JOIN);
    assert_int_equal(p->insns[5].jip, 7);
    assert_int_equal(p->insns[7].jip, ISA_NO_PC);
    isa_program_free(p);
}

static void a_backward_goto_leaves_to_the_join_behind_it(void **state)
{
    struct isa_program *p = mini_assemble(".kernel k\nv_get_u32 v0, %lane\nv_mov_b32 v1, 0\n"
                                          "head: v_add_u32 v1, v1, 1\nv_cmp_lt_u32 m0, v1, v0\n"
                                          "@m0 goto.b head\njoin\ns_end\n.endkernel\n");

    (void)state;
    assert_int_equal(p->insns[4].format, ISA_GOTO_BACK);
    assert_string_equal(isa_ops[p->insns[4].op].name, "goto.b");
    assert_int_equal(p->insns[4].target, 2);
    assert_int_equal(p->insns[4].jip, 5);
    isa_program_free(p);
}

/* What is written is kept, in the order UIP, JIP, whatever the assembler would have chosen; "-" is no JIP. */
static void written_jips_are_kept(void **state)
{
    struct isa_program *p = mini_assemble(".kernel k\nv_cmp_eq_u32 m0, v0, 0\n@m0 goto b, b\n"
                                          "a: join -\nb: join\ns_end\n.endkernel\n");

    (void)state;
    assert_int_equal(p->insns[1].target, 3);
    assert_int_equal(p->insns[1].jip, 3);
    assert_int_equal(p->insns[2].jip, ISA_NO_PC);
    assert_int_equal(p->insns[3].jip, ISA_NO_PC);
    isa_program_free(p);
}

static void text_and_image_keep_jips(void **state)
{
    static const char *const sources[] = {
        listing,
        ".kernel k\nv_cmp_eq_u32 m0, v0, 0\n@m0 goto b, b\na: join -\nb: join\ns_end\n.endkernel\n",
        ".kernel k\nv_cmp_eq_u32 m0, v0, 0\n@m0 goto b, b\na: join b\nb: join\ns_end\n.endkernel\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct isa_program *p = mini_assemble(sources[i]), *q, *image;
        struct text text = {0}, bytes = {0};

        isa_disassemble(p, &text);
        q = mini_assemble(text_str(&text));
        isa_image_write(p, &bytes);
        assert_int_equal(isa_image_read("i", bytes.at, bytes.len, &image, NULL), HD_OK);
        assert_int_equal(q->ninsns, p->ninsns);
        for (size_t pc = 0; pc < p->ninsns; pc++) {
            assert_int_equal(q->insns[pc].jip, p->insns[pc].jip);
            assert_int_equal(image->insns[pc].jip, p->insns[pc].jip);
            assert_int_equal(image->insns[pc].target, p->insns[pc].target);
        }
        text_free(&text);
        text_free(&bytes);
        isa_program_free(p);
        isa_program_free(q);
        isa_program_free(image);
    }
}

static void one_instruction_as_text(void **state)
{
    static const char *const want[] = {"v_get_u32 v0, %lane",          "v_cmp_gt_i32 m0, v0, -1",
                                       "@!m0 goto pc 5, pc 5",         "v_add_u32 v1, v0, 1",
                                       "@m0 goto pc 7, pc 5",          "join pc 7",
                                       "v_add_u32 v1, v0, 0xffffffff", "join -"};
    struct isa_program *p = mini_assemble(listing);

    (void)state;
    for (size_t pc = 0; pc < sizeof want / sizeof *want; pc++) {
        struct text line = {0};

        isa_disassemble_insn(p, &p->insns[pc], &line);
        assert_string_equal(text_str(&line), want[pc]);
        text_free(&line);
    }
    isa_program_free(p);
}

/* A join wakes lanes, so values computed ahead must not cross it; nor a place to which a JIP leads. */
static void runs_end_at_gotos_and_joins(void **state)
{
    struct isa_program *p = mini_assemble(
        ".kernel k\nv_mov_b32 v0, 1\nv_mov_b32 v1, 2\n@vcc goto out\nv_mov_b32 v2, 3\n"
        "v_mov_b32 v3, 4\nout: join\nv_mov_b32 v4, 5\nv_mov_b32 v5, 6\nv_mov_b32 v6, 7\n"
        "s_end\n.endkernel\n");
    static const unsigned want[] = {2, 1, 0, 2, 1, 0, 3, 2, 1, 0};

    (void)state;
    for (size_t pc = 0; pc < p->ninsns; pc++)
        assert_int_equal(p->insns[pc].run, want[pc]);
    isa_program_free(p);
}

static void refuse(const char *body, const char *code, unsigned line)
{
    struct text source = {0};
    struct isa_program *p;
    struct hd_error err;
    char place[24];

    text_add(&source, ".kernel k\n%s.endkernel\n", body);
    assert_int_not_equal(isa_assemble_text("t", text_str(&source), source.len, NULL, 0, &p, &err),
                         HD_OK);
    assert_string_equal(err.code, code);
    snprintf(place, sizeof place, "t:%u", line);
    if (strncmp(err.place, place, strlen(place)) != 0)
        fail_msg("%s is at %s: %s", code, err.place, err.message);
    text_free(&source);
}

static void mistakes_in_gotos(void **state)
{
    (void)state;
    refuse("@m0 goto.nomask a\na: join\ns_end\n", "asm-predicate", 2);
    refuse("@m0 join\ns_end\n", "asm-predicate", 2);
    refuse("goto a,\na: join\ns_end\n", "asm-syntax", 2);
    refuse("goto a, 3\na: join\ns_end\n", "asm-operand-kind", 2);
    refuse("goto a, a, a\na: join\ns_end\n", "asm-operand-count", 2);
    refuse("@m0 goto b\na: join\ns_end\n", "asm-undefined-label", 2);
    refuse("@m0 goto a, b\na: join\ns_end\n", "asm-undefined-label", 2);
    refuse(".form predicated\ngoto a\na: join\ns_end\n", "verify-form", 3);
    refuse(".form exec\njoin\ns_end\n", "verify-form", 3);
    refuse("join\nm_mov exec, 0\ns_end\n", "verify-exec", 3);
}

/* A func's labels are its own, and regions make another form: gotos cannot lead into or out of either. */
static void gotos_stay_in_their_func_and_out_of_regions(void **state)
{
    (void)state;
    refuse(".func f()\n@m0 goto out\nin: join\n.endfunc\ncall f\nout: join\ns_end\n",
           "asm-undefined-label", 3);
    refuse(".func f()\nin: join\n.endfunc\n@m0 goto in\ncall f\ns_end\n", "asm-undefined-label", 5);
    refuse("@m0 goto a\n.if m1\na: join\n.endif\ns_end\n", "asm-form", 1);
    refuse(".form goto\n.if m1\ns_nop\n.endif\ns_end\n", "asm-form", 1);
    refuse(".form exec\n.loop\n.break\n.endloop\ns_end\n", "asm-form", 1);
}

/* Each call has joins of its own. */
static void gotos_of_a_func(void **state)
{
    struct isa_program *p = mini_assemble(".func f(m c)\n@c goto out\ns_nop\nout: join\n.endfunc\n"
                                          ".kernel k\ncall f, m1\ncall f, m2\ns_end\n.endkernel\n");

    (void)state;
    assert_int_equal(p->insns[0].target, 2);
    assert_int_equal(p->insns[3].target, 5);
    assert_int_equal(p->insns[3].jip, 5);
    assert_int_equal(p->insns[3].pred, 1 + 2);
    isa_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing_1_gets_its_jips),
        cmocka_unit_test(a_backward_goto_leaves_to_the_join_behind_it),
        cmocka_unit_test(written_jips_are_kept),
        cmocka_unit_test(text_and_image_keep_jips),
        cmocka_unit_test(one_instruction_as_text),
        cmocka_unit_test(runs_end_at_gotos_and_joins),
        cmocka_unit_test(mistakes_in_gotos),
        cmocka_unit_test(gotos_stay_in_their_func_and_out_of_regions),
        cmocka_unit_test(gotos_of_a_func),
    };

    return cmocka_run_group_tests_name("goto", tests, NULL, NULL);
}
