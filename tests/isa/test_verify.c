/* The verifier's three verdicts. */
#include "isa/verify.h"
#include "isa/asm.h"
#include "isa/encode.h"
#include "isa/manual.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define K ".kernel k\n"
#define E "\ns_end\n.endkernel\n"

/* "verdict code pc text" of the findings, a line each, without those about memory that only a run can tell. */
static void expect(const char *text, const char *want)
{
    struct isa_program *p = mini_assemble(text);
    struct isa_findings all = {0};
    struct text got = {0};

    isa_verify(p, &all);
    assert_false(all.failed);
    for (size_t i = 0; i < all.len; i++)
        if (all.at[i].verdict != ISA_UNKNOWN)
            text_add(&got, "%d %s %u %.9s\n", (int)all.at[i].verdict, all.at[i].code, all.at[i].pc,
                     all.at[i].text);
    assert_string_equal(text_str(&got), want);
    text_free(&got);
    isa_findings_free(&all);
    isa_program_free(p);
}

static void remarks_registers_that_are_read_before_any_write(void **state)
{
    (void)state;
    expect(K "v_add_u32 v0, v1, v2\nv_mov_b32 v3, v1\nv_mov_b32 v4, v0" E,
           "1 verify-unwritten 0 v1 is rea\n1 verify-unwritten 0 v2 is rea\n");
    /* v0 as source and destination; a pair word by word */
    expect(K "v_add_u32 v0, v0, 1\nv_mov_b32 v2, 1\nv_add_f64 v[2:3], v[2:3], 1.0" E,
           "1 verify-unwritten 0 v0 is rea\n1 verify-unwritten 2 v3 is rea\n");
    expect(K "@m0 v_mov_b32 v0, 1\ns_any s0, vcc\nv_select_b32 v1, v0, 1, m2" E,
           "1 verify-unwritten 0 m0 is rea\n1 verify-unwritten 1 vcc is re\n1 verify-unwritten 2 "
           "m2 is rea\n");
    /* written on one of two ways, or further down in a loop: no remark */
    expect(K "s_branch_z s0, x\nv_mov_b32 v0, 1\nx: v_mov_b32 v1, v0" E, "");
    expect(K "x: s_branch_z s1, y\nv_mov_b32 v1, v0\ny: v_mov_b32 v0, 1\ns_branch_nz s0, x" E, "");
    /* behind an unconditional jump the write is on no way */
    expect(K "s_jump x\nv_mov_b32 v0, 1\nx: v_mov_b32 v1, v0" E,
           "1 verify-unwritten 2 v0 is rea\n");
    /* what cannot be reached is not looked at */
    expect(K "s_jump x\nv_mov_b32 v1, v0\nx: s_nop" E, "");
    expect(K ".param x f32[]\nglobal_store_b32 [x + v4*4], v5" E,
           "1 verify-unwritten 0 v4 is rea\n1 verify-unwritten 0 v5 is rea\n");
}

static void remarks_barriers_in_regions_that_may_diverge(void **state)
{
    (void)state;
    expect(K "m_mov m0, -1\n.if m0\ns_barrier\n.endif" E, "1 verify-barrier 3 the barri\n");
    expect(K "m_mov m0, -1\ns_branch_none m0, x\ns_barrier\nx: s_barrier" E,
           "1 verify-barrier 2 the barri\n");
    expect(K "x: s_barrier\nm_mov m0, 0\ns_branch_any m0, x\ns_barrier" E,
           "1 verify-barrier 0 the barri\n");
    expect(K "x: s_barrier\ns_branch_nz s0, x" E, "");
}

static void refuse(const char *text, const char *code, unsigned line, const char *message)
{
    struct isa_program *p;
    struct hd_error err = {0};
    char place[24];

    if (isa_assemble_text("t", text, strlen(text), NULL, 0, &p, &err) == HD_OK)
        fail_msg("accepted: %s", text);
    snprintf(place, sizeof place, "t:%u", line);
    assert_string_equal(err.code, code);
    assert_string_equal(err.place, place);
    assert_non_null(strstr(err.message, message));
    assert_true(err.hint[0] != '\0');
}

static void checks_the_form_predicated_all(void **state)
{
    (void)state;
    refuse(K ".form predicated-all\ns_branch_none m0, a\na: s_nop" E, "verify-form", 3,
           "a forward branch");
    refuse(K ".form predicated-all\na: @m0 v_mov_b32 v0, 1\nb: v_mov_b32 v0, 1\n"
             "s_branch_any m1, b\ns_branch_any m0, a" E,
           "verify-form", 4, "without a mask");
    refuse(K ".form predicated-all\n.local x 4\na: local_store_b32 [x], v0\ns_branch_any m0, a" E,
           "verify-form", 4, "local_store_b32");
    refuse(K ".form predicated-all\na: print \"%d\", v0\ns_branch_any m0, a" E, "verify-form", 3,
           "print");
    /* masks, scalars, and what is in no loop of lanes */
    expect(K ".form predicated-all\nv_mov_b32 v0, 1\na: v_cmp_lt_u32 m0, v0, 4\n"
             "@m0 v_add_u32 v0, v0, 1\ns_any s0, m0\ns_branch_any m0, a\nv_mov_b32 v0, 1\n"
             "b: v_mov_b32 v0, 2\ns_branch_nz s0, b" E,
           "");
    expect(K ".form predicated\nm_mov m0, 0\ns_branch_none m0, a\nv_mov_b32 v0, 1\na: s_nop" E, "");
}

static void names_the_check_of_what_only_a_run_can_tell(void **state)
{
    struct isa_program *p =
        mini_assemble(K ".param x f32[]\n.lds 8\nv_mov_b32 v0, 0\nglobal_load_b32 v1, [x]\n"
                        "local_load_b32 v1, [v0]\nlocal_load_b32 v1, [4]" E);
    struct isa_findings all = {0};

    (void)state;
    isa_verify(p, &all);
    assert_int_equal(all.len, 2);
    assert_int_equal(all.at[0].verdict, ISA_UNKNOWN);
    assert_int_equal(all.at[0].pc, 1);
    assert_string_equal(all.at[0].check, "outside-arrays, misaligned");
    assert_int_equal(all.at[1].pc, 2);
    assert_string_equal(all.at[1].check, "outside-local, misaligned");
    isa_findings_free(&all);
    isa_program_free(p);
}

static void a_kernel_that_asks_for_local_bytes_may_go_behind_its_own(void **state)
{
    struct isa_program *p =
        mini_assemble(K ".lds 8\nv_mov_b32 v0, %local_bytes\nlocal_load_b32 v1, [64]" E);

    (void)state;
    isa_program_free(p);
}

/* Code that no assembler text gives: the kernel is changed under the verifier. */
static void refuses_what_an_image_may_hold(void **state)
{
    struct isa_program *p = mini_assemble(K ".vregs 4\n.sregs 4\nv_mov_b32 v3, s3" E);
    struct hd_error err;

    (void)state;
    assert_int_equal(isa_verify_refuse(p, &err), HD_OK);
    p->kernels[0].vregs = 3;
    assert_int_equal(isa_verify_refuse(p, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "verify-register");
    assert_string_equal(err.place, "t.hasm:4");
    assert_non_null(strstr(err.message, "v3"));
    p->kernels[0].vregs = 4;
    p->kernels[0].sregs = 3;
    assert_int_equal(isa_verify_refuse(p, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "s3"));
    p->kernels[0].sregs = 4;
    p->kernels[0].end = 1;
    assert_int_equal(isa_verify_refuse(p, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "verify-runs-off");
    isa_program_free(p);
}

static void the_manual_has_every_opcode_and_special_value(void **state)
{
    struct text manual = {0};
    char row[96];

    (void)state;
    isa_manual(&manual);
    assert_false(manual.failed);
    for (int op = 0; op < ISA_NUM_OPS; op++) {
        snprintf(row, sizeof row, "| `%s` | ", isa_ops[op].name);
        assert_non_null(strstr(manual.at, row));
    }
    assert_null(strstr(manual.at, "(null)")); /* a format or class without a name */
    assert_non_null(strstr(manual.at, "`%group_x`"));
    assert_non_null(strstr(manual.at, "`%gid`"));
    text_free(&manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remarks_registers_that_are_read_before_any_write),
        cmocka_unit_test(remarks_barriers_in_regions_that_may_diverge),
        cmocka_unit_test(checks_the_form_predicated_all),
        cmocka_unit_test(names_the_check_of_what_only_a_run_can_tell),
        cmocka_unit_test(a_kernel_that_asks_for_local_bytes_may_go_behind_its_own),
        cmocka_unit_test(refuses_what_an_image_may_hold),
        cmocka_unit_test(the_manual_has_every_opcode_and_special_value),
    };

    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
