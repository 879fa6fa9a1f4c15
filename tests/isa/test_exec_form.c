/* What code that keeps EXEC by itself is made of, as on Southern Islands: by values, on the little machine. */
#include "isa/asm.h"
#include "sim/base/text.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define K ".kernel k\nv_get_u32 v0, %lane\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\n"
#define E "s_end\n.endkernel\n"

static struct mini *run(const char *text, unsigned items)
{
    struct isa_program *p = mini_assemble(text);
    struct mini *m = mini_new(p, "k", 32, items);

    assert_int_equal(p->kernels[0].forms, ISA_FORM_EXEC);
    mini_run(m, 100000);
    if (m->wrong)
        fail_msg("%s", m->wrong);
    return m;
}

static void finish(struct mini *m)
{
    struct isa_program *p = (struct isa_program *)(uintptr_t)m->program;

    mini_free(m);
    isa_program_free(p);
}

/* Lanes 0, 3, 6, ... add 1, the others 2; a last wavefront has lanes that do not exist. */
static void if_and_else(void **state)
{
    struct mini *m = run(K "v_rem_u32 v3, v0, 3\nv_cmp_eq_u32 vcc, v3, 0\n"
                           "m_and_saveexec s[0:1], vcc\ns_branch_none exec, else\n"
                           "v_add_u32 v1, v1, 1\n"
                           "else: m_andn_saveexec s[2:3], s[0:1]\ns_branch_none exec, end\n"
                           "v_add_u32 v1, v1, 2\n"
                           "end: m_mov exec, s[0:1]\nv_add_u32 v2, v2, 1\n" E,
                         27);

    (void)state;
    for (unsigned lane = 0; lane < 27; lane++) {
        assert_int_equal(mini_reg(m, lane, 1), lane % 3 == 0 ? 1 : 2);
        assert_int_equal(mini_reg(m, lane, 2), 1);
    }
    finish(m);
}

/* Arms without a lane are jumped over: their scalar does not change. */
static void branches_on_exec(void **state)
{
    struct mini *m =
        run(K "s_mov_b32 s8, 0\nm_and_saveexec s[0:1], 0\ns_branch_none exec, a\n"
              "s_add_u32 s8, s8, 1\n"
              "a: m_mov exec, s[0:1]\ns_branch_none exec, b\ns_add_u32 s8, s8, 2\n"
              "b: s_branch_any exec, c\ns_add_u32 s8, s8, 4\n"
              "c: m_and_saveexec s[0:1], 0\ns_branch_any exec, d\ns_add_u32 s8, s8, 8\n"
              "d: m_mov exec, s[0:1]\nv_mov_b32 v1, s8\n" E,
            32);

    (void)state;
    assert_int_equal(mini_reg(m, 5, 1), 2 + 8);
    finish(m);
}

/* Lane n goes round n times; lanes that are done wait until the last is. */
static void loop_while_a_lane_is_left(void **state)
{
    struct mini *m = run(K "m_mov s[0:1], exec\n"
                           "head: v_cmp_lt_u32 vcc, v1, v0\nm_and exec, exec, vcc\n"
                           "s_branch_none exec, out\nv_add_u32 v1, v1, 1\nv_add_u32 v2, v2, v1\n"
                           "s_jump head\nout: m_mov exec, s[0:1]\n" E,
                         32);

    (void)state;
    for (unsigned lane = 0; lane < 32; lane++) {
        assert_int_equal(mini_reg(m, lane, 1), lane);
        assert_int_equal(mini_reg(m, lane, 2), lane * (lane + 1) / 2);
    }
    finish(m);
}

/* d gets EXEC as it was, and EXEC the value of the row; the bits of lanes that do not exist are 0 in both. */
static void each_saveexec(void **state)
{
    static const struct {
        const char *name;
        uint32_t exec;
    } rows[] = {{"m_and_saveexec", 0x30},
                {"m_andn_saveexec", 0xc0},
                {"m_or_saveexec", 0xfc},
                {"m_xor_saveexec", 0xcc}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        struct mini *m;

        text_add(&text,
                 "%ss_mov_b32 s0, 0xfff0\ns_mov_b32 s1, 0\ns_mov_b32 s4, 0x3c\ns_mov_b32 s5, 0\n"
                 "m_mov exec, s[4:5]\n%s s[0:1], s[0:1]\nm_mov s[2:3], exec\nm_mov exec, -1\n"
                 "v_mov_b32 v1, s0\nv_mov_b32 v2, s2\n" E,
                 K, rows[i].name);
        m = run(text_str(&text), 8);
        assert_int_equal(mini_reg(m, 0, 1), 0x3c);
        assert_int_equal(mini_reg(m, 0, 2), rows[i].exec);
        finish(m);
        text_free(&text);
    }
}

static void vcc_and_exec_are_masks_like_others(void **state)
{
    struct mini *m = run(K "v_cmp_lt_u32 vcc, v0, 20\nv_cmp_lt_u32 m0, v0, 4\nm_andn vcc, vcc, m0\n"
                           "m_and exec, exec, vcc\nv_mov_b32 v1, 1\nm_not exec, exec\n"
                           "v_mov_b32 v1, 2\nm_mov exec, -1\n" E,
                         32);

    (void)state;
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(mini_reg(m, lane, 1), lane >= 4 && lane < 20 ? 1 : 2);
    finish(m);
}

/* Masked instructions wait for the EXEC that it sets, and a run of values ends behind it. */
static void saveexec_sets_exec(void **state)
{
    struct isa_program *p = mini_assemble(".kernel k\nv_mov_b32 v0, 1\nm_and_saveexec s[2:3], vcc\n"
                                          "v_mov_b32 v1, 1\n" E);
    const struct isa_insn *in = &p->insns[1];

    (void)state;
    assert_int_equal(in->nwait, 4);
    assert_int_equal(in->wait[1], ISA_SB_EXEC);
    assert_int_equal(in->nset, 3);
    assert_int_equal(in->set[0], ISA_SB_S + 2);
    assert_int_equal(in->set[1], ISA_SB_S + 3);
    assert_int_equal(in->set[2], ISA_SB_EXEC);
    assert_int_equal(p->insns[0].run, 2);
    assert_int_equal(in->run, 1);
    assert_int_equal(p->insns[2].nwait, 2);
    assert_int_equal(p->insns[2].wait[0], ISA_SB_EXEC);
    isa_program_free(p);
}

static void other_forms_may_not_save_exec(void **state)
{
    static const char *const forms[] = {"predicated", "predicated-all", "goto"};

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct text text = {0};
        struct isa_program *p;
        struct hd_error err;

        text_add(&text, ".kernel k\n.form %s\nm_and_saveexec s[0:1], m0\n" E, forms[i]);
        assert_int_equal(isa_assemble_text("t", text_str(&text), text.len, NULL, 0, &p, &err),
                         HD_BAD_INPUT);
        assert_string_equal(err.code, "verify-exec");
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_and_else),
        cmocka_unit_test(branches_on_exec),
        cmocka_unit_test(loop_while_a_lane_is_left),
        cmocka_unit_test(each_saveexec),
        cmocka_unit_test(vcc_and_exec_are_masks_like_others),
        cmocka_unit_test(saveexec_sets_exec),
        cmocka_unit_test(other_forms_may_not_save_exec),
    };

    return cmocka_run_group_tests_name("exec_form", tests, NULL, NULL);
}
