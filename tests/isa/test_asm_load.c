/* What loading adds to an instruction: scoreboard names, literals in all lanes, straight-line runs; and images of programs. */
#include "isa/asm.h"
#include "isa/dis.h"
#include "isa/encode.h"
#include "isa/format.h"
#include "sim/base/rng.h"
#include "tests/isa/mini.h"
#include "tests/soak.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define K ".kernel k\n"
#define E "\ns_end\n.endkernel\n"

/* ---- runs ------------------------------------------------------------------------------------- */

static void expect_runs(const char *text, const unsigned *runs, size_t count)
{
    struct isa_program *p = mini_assemble(text);

    assert_int_equal(p->ninsns, count);
    for (size_t i = 0; i < count; i++)
        if (p->insns[i].run != runs[i])
            fail_msg("%s\npc %zu has run %u, not %u", text, i, p->insns[i].run, runs[i]);
    isa_program_free(p);
}

#define EXPECT_RUNS(text, ...)                                                                     \
    expect_runs(text, (const unsigned[]){__VA_ARGS__},                                             \
                sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void runs_hold_register_to_register_instructions(void **state)
{
    (void)state;
    EXPECT_RUNS(
        K "v_mov_b32 v0, 1\nv_get_u32 v1, %lane\ns_mov_b32 s0, 1\nv_shuffle_xor_b32 v0, v0, 1\n"
          "v_readlane_b32 s1, v0, 0\nv_writelane_b32 v0, s1, 1\ns_popcount s2, m0\n"
          "v_select_b32 v0, 1, v0, m0" E,
        8, 7, 6, 5, 4, 3, 2, 1, 0);
    EXPECT_RUNS(K ".param x f32[]\nv_mov_b32 v0, 1\nglobal_load_b32 v0, [x]\nv_mov_b32 v0, "
                  "1\ns_clock s[2:3]\n"
                  "v_mov_b32 v0, 1\nv_mov_b32 v0, 1\ns_nop\ns_barrier" E,
                1, 0, 1, 0, 2, 1, 0, 0, 0);
}

static void runs_end_behind_masks_and_exec(void **state)
{
    (void)state;
    EXPECT_RUNS(
        K "v_mov_b32 v0, 1\nv_cmp_lt_u32 m0, v0, 1\nv_mov_b32 v0, 1\nv_cmp_lt_u32 vcc, v0, 1\n"
          "m_and m1, m0, vcc\nm_mov exec, m0\nm_mov s[2:3], m0\nv_mov_b32 v1, 1" E,
        2, 1, 2, 1, 1, 1, 2, 1, 0);
}

static void runs_begin_anew_at_branch_targets(void **state)
{
    (void)state;
    EXPECT_RUNS(K "v_mov_b32 v0, 1\nv_mov_b32 v0, 2\nx: v_mov_b32 v0, 3\nv_mov_b32 v0, 4\n"
                  "s_branch_any m0, x\nunused: v_mov_b32 v0, 5" E,
                2, 1, 2, 1, 0, 1, 0);
}

static void runs_end_behind_what_a_branch_waits_for(void **state)
{
    (void)state;
    EXPECT_RUNS(K "x: s_sub_u32 s0, s0, 1\nv_mov_b32 v0, 1\ns_mov_b32 s1, 1\ns_branch_nz s0, x" E,
                1, 2, 1, 0, 0);
    /* the load in between changes nothing; the next block's branch does not count */
    EXPECT_RUNS(
        K "x: s_mov_b64 s[0:1], 1\nv_mov_b32 v0, 1\nlocal_load_b32 v1, [v0]\ns_branch_z s1, x\n"
          "s_mov_b32 s1, 1\nv_mov_b32 v0, 1\ns_branch_z s0, x" E,
        1, 1, 0, 0, 2, 1, 0, 0);
}

static void runs_have_a_greatest_length(void **state)
{
    struct isa_program *p = mini_assemble(K ".rept 40\nv_mov_b32 v0, 1\n.endrept" E);

    (void)state;
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(p->insns[i].run, i < 8 ? 8 - i : 40 - i);
    isa_program_free(p);
}

/* ---- scoreboard ------------------------------------------------------------------------------- */

enum { S = ISA_SB_S, M = ISA_SB_M, VCC = ISA_SB_M + ISA_VCC, EXEC = ISA_SB_EXEC, END = 0xffff };

static void expect_names(const struct isa_insn *in, const unsigned *wait, const unsigned *set)
{
    unsigned n = 0;

    for (; wait[n] != END; n++)
        if (n >= in->nwait || in->wait[n] != wait[n])
            fail_msg("%s: wait[%u] is not %u", isa_ops[in->op].name, n, wait[n]);
    assert_int_equal(in->nwait, n);
    for (n = 0; set[n] != END; n++)
        assert_int_equal(in->set[n], set[n]);
    assert_int_equal(in->nset, n);
}

#define NAMES(...) ((const unsigned[]){__VA_ARGS__})

static void instructions_wait_for_all_that_they_touch(void **state)
{
    struct isa_program *p = mini_assemble(
        K "@!m3 v_fma_f64 v[2:3], v[4:5], s[6:7], v[4:5]\n"
          "@vcc global_load_b64 v[8:9], [s[10:11] + v12*4]\n"
          "global_store_b32 [v[14:15]], v1\n"
          "local_atomic_cmpswap_b64_rtn v[0:1], [v2], v[4:5], v[6:7]\n"
          "v_add_u32 v1, v1, %wave\n"
          "m_and vcc, m1, s[2:3]\n"
          "x: s_branch_any vcc, x\n"
          "v_select_b32 v1, 0, v2, m4\n"
          "s_popcount s3, exec" E
          ".kernel e\nm_mov exec, m1\nv_mov_b32 v0, 1\nv_mov_b32.nomask v0, 1\ns_mov_b32 s0, 1" E);
    const struct isa_insn *in = p->insns;

    (void)state;
    expect_names(&in[0], NAMES(4, 5, S + 6, S + 7, M + 3, 2, 3, END), NAMES(2, 3, END));
    expect_names(&in[1], NAMES(S + 10, S + 11, 12, VCC, 8, 9, END), NAMES(8, 9, END));
    expect_names(&in[2], NAMES(1, 14, 15, END), NAMES(END));
    expect_names(&in[3], NAMES(4, 5, 6, 7, 2, 0, 1, END), NAMES(0, 1, END));
    expect_names(&in[4], NAMES(1, END), NAMES(1, END));
    expect_names(&in[5], NAMES(M + 1, S + 2, S + 3, VCC, END), NAMES(VCC, END));
    expect_names(&in[6], NAMES(VCC, END), NAMES(END));
    expect_names(&in[7], NAMES(2, M + 4, 1, END), NAMES(1, END));
    expect_names(&in[8], NAMES(EXEC, S + 3, END), NAMES(S + 3, END));
    /* where code writes EXEC, what it masks waits for it */
    expect_names(&in[10], NAMES(M + 1, EXEC, END), NAMES(EXEC, END));
    expect_names(&in[11], NAMES(EXEC, 0, END), NAMES(0, END));
    expect_names(&in[12], NAMES(0, END), NAMES(0, END));
    expect_names(&in[13], NAMES(S, END), NAMES(S, END));
    isa_program_free(p);
}

static void literals_lie_ready_in_all_lanes(void **state)
{
    struct isa_program *p = mini_assemble(K "v_mov_b32 v0, 7\nv_add_f64 v[2:3], v[2:3], 0.5\n"
                                            "v_add_u32 v0, v0, 7\ns_mov_b32 s0, 7" E);
    static const unsigned widths[] = {8, 16, 32, 64};

    (void)state;
    for (unsigned w = 0; w < 4; w++) {
        const uint32_t *seven = isa_imm_lanes(p->insns[0].imm_vec, widths[w]);
        const uint32_t *half = isa_imm_lanes(p->insns[1].imm_vec, widths[w]);

        for (unsigned i = 0; i < widths[w]; i++) {
            assert_int_equal(seven[i], 7);
            assert_int_equal(half[i], 0);
            assert_int_equal(half[widths[w] + i], 0x3fe00000);
        }
    }
    assert_ptr_equal(p->insns[0].imm_vec, p->insns[2].imm_vec);
    assert_null(p->insns[3].imm_vec);
    assert_int_equal(p->insns[3].imm, 7);
    isa_program_free(p);
}

static void memory_instructions_have_the_type_of_the_word(void **state)
{
    struct isa_program *p =
        mini_assemble(K "global_load_i8 v0, [v[2:3]]\nlocal_store_b16 [v0], v1" E);

    (void)state;
    assert_int_equal(p->insns[0].dtype, T_I8);
    assert_int_equal(p->insns[0].stype, T_I8);
    assert_int_equal(p->insns[0].d.words, 1);
    assert_int_equal(p->insns[1].dtype, T_U16);
    assert_int_equal(p->insns[1].stype, T_U16);
    isa_program_free(p);
}

/* ---- images ------------------------------------------------------------------------------------- */

static struct isa_program *sample(void)
{
    return mini_assemble(
        ".kernel one\n.param x f32[]\n.param n i32\n.lds 64\n v_get_u32 v0, %gid\n"
        " v_cmp_lt_u32 m0, v0, n\n.if m0\n global_load_b32 v1, [x + v0*4]\n"
        " print \"%f\\n\", v1\n assert m0, \"text\"\n .endif\n s_end\n.endkernel\n"
        ".kernel two\n.form goto\n x: v_mov_b64 v[0:1], 0x123456789abc\n s_jump x\n"
        ".endkernel\n");
}

static void images_hold_all_but_the_sources(void **state)
{
    struct isa_program *p = sample(), *q;
    struct text image = {0}, again = {0}, a = {0}, b = {0};
    struct hd_error err;
    char place[300];

    (void)state;
    isa_image_write(p, &image);
    assert_true(isa_image_is(image.at, image.len));
    assert_false(isa_image_is(".kernel", 7));
    if (isa_image_read("image", image.at, image.len, &q, &err) != HD_OK)
        fail_msg("%s", err.message);
    isa_image_write(q, &again);
    assert_int_equal(image.len, again.len);
    assert_memory_equal(image.at, again.at, image.len);
    isa_disassemble(p, &a);
    isa_disassemble(q, &b);
    assert_string_equal(text_str(&a), text_str(&b));
    isa_place(q, 5, place, sizeof place);
    assert_string_equal(place, "t.hasm:9");
    text_free(&image);
    text_free(&again);
    text_free(&a);
    text_free(&b);
    isa_program_free(p);
    isa_program_free(q);
}

/* Cut off anywhere or with any bits flipped, an image is refused or is a program; nothing else happens. */
static void damaged_images_are_refused(void **state)
{
    struct isa_program *p = sample(), *q;
    uint64_t seed = test_seed(3);
    struct text image = {0};
    struct hd_error err;
    struct rng r;
    unsigned refused = 0;

    (void)state;
    rng_seed(&r, seed);
    isa_image_write(p, &image);
    isa_program_free(p);
    for (size_t len = 0; len < image.len; len++)
        assert_int_equal(isa_image_read("i", image.at, len, &q, &err), HD_BAD_INPUT);
    for (uint64_t i = 0; i < test_count(20000); i++) {
        char *copy = malloc(image.len);

        assert_non_null(copy);
        memcpy(copy, image.at, image.len);
        for (uint64_t flips = 1 + rng_below(&r, 3); flips > 0; flips--)
            copy[rng_below(&r, image.len)] ^= (char)(1 << rng_below(&r, 8));
        if (isa_image_read("i", copy, image.len, &q, &err) == HD_OK)
            isa_program_free(q);
        else
            refused++;
        free(copy);
    }
    assert_true(refused > 1000);
    text_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_hold_register_to_register_instructions),
        cmocka_unit_test(runs_end_behind_masks_and_exec),
        cmocka_unit_test(runs_begin_anew_at_branch_targets),
        cmocka_unit_test(runs_end_behind_what_a_branch_waits_for),
        cmocka_unit_test(runs_have_a_greatest_length),
        cmocka_unit_test(instructions_wait_for_all_that_they_touch),
        cmocka_unit_test(literals_lie_ready_in_all_lanes),
        cmocka_unit_test(memory_instructions_have_the_type_of_the_word),
        cmocka_unit_test(images_hold_all_but_the_sources),
        cmocka_unit_test(damaged_images_are_refused),
    };

    return cmocka_run_group_tests_name("asm_load", tests, NULL, NULL);
}
