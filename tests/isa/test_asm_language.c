/* What the language means: numbers, constants, parameters, local memory, macros, repetition, funcs, includes, forms. */
#include "isa/asm.h"
#include "isa/dis.h"
#include "sim/base/text.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include <cmocka.h>

/* The instructions of the text's first kernel as the disassembler writes them, a line each. */
static void expect(const char *text, const char *want)
{
    struct isa_program *p = mini_assemble(text);
    struct text got = {0};

    for (size_t i = 0; i < p->ninsns; i++) {
        isa_disassemble_insn(p, &p->insns[i], &got);
        text_add(&got, "\n");
    }
    assert_string_equal(text_str(&got), want);
    text_free(&got);
    isa_program_free(p);
}

#define K ".kernel k\n"
#define E "\ns_end\n.endkernel\n"

static uint64_t literal_of(const char *opcode, const char *literal)
{
    char text[256];
    struct isa_program *p;
    uint64_t bits;

    snprintf(text, sizeof text, K "%s, %s" E, opcode, literal);
    p = mini_assemble(text);
    bits = p->insns[0].imm;
    isa_program_free(p);
    return bits;
}

static void literals_have_the_bits_of_their_type(void **state)
{
    static const struct {
        const char *opcode, *literal;
        uint64_t bits;
    } table[] = {
        {"v_mov_b32 v0", "70000", 70000},
        {"v_mov_b32 v0", "4294967295", 0xffffffff},
        {"v_mov_b32 v0", "-2147483648", 0x80000000},
        {"v_mov_b32 v0", "-1", 0xffffffff},
        {"v_mov_b32 v0", "0xDEAD_beef", 0xdeadbeef},
        {"v_mov_b32 v0", "0b1010", 10},
        {"v_mov_b32 v0", "1_000_000", 1000000},
        {"v_mov_b32 v0", "'a'", 97},
        {"v_mov_b32 v0", "'\\n'", 10},
        {"v_mov_b32 v0", "';'", 59},
        {"v_mov_b32 v0", "1.5", 0x3fc00000},
        {"v_cmp_lt_i32 m0, v0", "0x80000000", 0x80000000},
        {"v_cmp_lt_i32 m0, v0", "-5", 0xfffffffb},
        {"v_add_f32 v0, v0", "1", 0x3f800000},
        {"v_add_f32 v0, v0", "-0.0", 0x80000000},
        {"v_add_f32 v0, v0", "0.1", 0x3dcccccd},
        {"v_add_f32 v0, v0", "3.4028235e38", 0x7f7fffff},
        {"v_add_f32 v0, v0", "1e-45", 0x00000001},
        {"v_add_f32 v0, v0", "16777217.0", 0x4b800000},
        {"v_add_f32 v0, v0", "0x1.8p1", 0x40400000},
        {"v_add_f32 v0, v0", "inf", 0x7f800000},
        {"v_add_f32 v0, v0", "-inf", 0xff800000},
        {"v_add_f32 v0, v0", "nan", 0x7fc00000},
        {"v_add_f32 v0, v0", "bits(0x7fa00001)", 0x7fa00001},
        /* halfway above 1 + 2^-24 in f64 only: rounding twice would give 0x3f800000 */
        {"v_add_f32 v0, v0", "1.00000005960464477539062500001", 0x3f800001},
        {"v_add_f64 v[0:1], v[0:1]", "0.1", 0x3fb999999999999a},
        {"v_add_f64 v[0:1], v[0:1]", "1e308", 0x7fe1ccf385ebc8a0},
        {"v_add_f64 v[0:1], v[0:1]", "2", 0x4000000000000000},
        {"v_mov_b64 v[0:1]", "-1", 0xffffffffffffffff},
        {"v_mov_b64 v[0:1]", "18446744073709551615", 0xffffffffffffffff},
        {"s_add_u64 s[0:1], s[0:1]", "0x100000000", 0x100000000},
        {"m_mov m0", "-1", 0xffffffffffffffff},
        {"m_mov m0", "0", 0},
        {"v_mov_b32 v0", "2+3*4", 14},
        {"v_mov_b32 v0", "(2+3)*4", 20},
        {"v_mov_b32 v0", "1<<4+1", 32}, /* sums bind tighter than shifts, as in C */
        {"v_mov_b32 v0", "-7/2", 0xfffffffd},
        {"v_mov_b32 v0", "-(4-6)*+3", 6},
        {"v_mov_b32 v0", "-8>>1", 0xfffffffc},
        {"v_add_f32 v0, v0", "1.0/4", 0x3e800000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (literal_of(table[i].opcode, table[i].literal) != table[i].bits)
            fail_msg("%s, %s gives 0x%llx", table[i].opcode, table[i].literal,
                     (unsigned long long)literal_of(table[i].opcode, table[i].literal));
}

static void one_literal_may_stand_twice(void **state)
{
    (void)state;
    expect(K "v_sub_u32 v0, 7, 7" E, "v_sub_u32 v0, 7, 7\ns_end\n");
}

static void parameters_are_scalar_registers_in_order(void **state)
{
    (void)state;
    expect(K ".param n i32\n.param x f32[]\n.param s f64\n.param b u8[]\n.param m f32\n"
             "v_mov_b32 v0, n\nv_mov_b64 v[2:3], s\nv_mov_b32 v1, x.hi\nv_mov_b32 v1, b.lo\n"
             "global_load_b32 v1, [x + v0*4 + 8 - 4]\nv_mov_b32 v0, m" E,
           "v_mov_b32 v0, s0\nv_mov_b64 v[2:3], s[4:5]\nv_mov_b32 v1, s3\nv_mov_b32 v1, s6\n"
           "global_load_b32 v1, [s[2:3] + v0*4 + 4]\nv_mov_b32 v0, s8\ns_end\n");
}

static void registers_are_counted_or_declared(void **state)
{
    struct isa_program *p = mini_assemble(K ".param x f32[]\nv_mov_b64 v[6:7], 1\ns_mov_b32 s9, 1" E
                                            ".kernel j\n.vregs 32\n.sregs 10" E);

    (void)state;
    assert_int_equal(p->kernels[0].vregs, 8);
    assert_int_equal(p->kernels[0].sregs, 10);
    assert_int_equal(p->kernels[1].vregs, 32);
    assert_int_equal(p->kernels[1].sregs, 10);
    isa_program_free(p);
}

static void local_memory_has_named_pieces(void **state)
{
    struct isa_program *p =
        mini_assemble(K ".lds 4\n.local a 12\n.local b 4*16\n"
                        "local_load_b32 v0, [v1*4 + b + 8]\nlocal_load_b32 v0, [a]\n"
                        "v_mov_b32 v0, b" E);

    (void)state;
    assert_int_equal(p->insns[0].addr.disp, 24 + 8); /* a at 8, b at 8 + 12 up to a multiple of 8 */
    assert_int_equal(p->insns[1].addr.disp, 8);
    assert_int_equal(p->insns[2].imm, 24);
    assert_int_equal(p->kernels[0].lds_bytes, 24 + 64);
    isa_program_free(p);
}

static void special_values_are_scalar_sources(void **state)
{
    (void)state;
    expect(K "s_mul_u32 s0, %group_x, %threads_x\nv_add_u32 v0, v0, %width\nv_get_u32 v1, %tid_y" E,
           "s_mul_u32 s0, %group_x, %threads_x\nv_add_u32 v0, v0, %width\nv_get_u32 v1, "
           "%tid_y\ns_end\n");
}

static void macros_have_arguments_and_their_own_labels(void **state)
{
    (void)state;
    expect(".macro count reg, n\n s_mov_b32 \\reg, \\n ; \\n\nl\\@: s_sub_u32 \\reg, \\reg, 1\n"
           " s_branch_nz \\reg, l\\@\n.endmacro\n" K "count s4, 3*(1+1)\ncount s5, 7" E,
           "s_mov_b32 s4, 6\ns_sub_u32 s4, s4, 1\ns_branch_nz s4, pc 1\n"
           "s_mov_b32 s5, 7\ns_sub_u32 s5, s5, 1\ns_branch_nz s5, pc 4\ns_end\n");
    expect(".macro inner a\n v_mov_b32 \\a, 1\n.endmacro\n.macro outer r, addr\n inner v\\r\n"
           " global_load_b32 v0, \\addr\n print \"\\n%d\", v0\n.endmacro\n" K
           "outer 3, [s[4:5] + 8]" E,
           "v_mov_b32 v3, 1\nglobal_load_b32 v0, [s[4:5] + 8]\nprint \"\\n%d\", v0\ns_end\n");
}

static void rept_repeats_and_counts(void **state)
{
    (void)state;
    expect(K ".rept 2\n.rept 2\nv_mov_b32 v1, \\#\n.endrept\n.endrept\n.rept 0\nbad\n.endrept" E,
           "v_mov_b32 v1, 0\nv_mov_b32 v1, 0\nv_mov_b32 v1, 1\nv_mov_b32 v1, 1\ns_end\n");
}

static void funcs_are_inlined_with_names_and_labels_of_their_own(void **state)
{
    (void)state;
    expect(".func half(v64 d, v x, m c, s k) .uses v20-v21, s9, vcc\n"
           "again: v_mov_b32 d.lo, x\n v_mov_b32 d.hi, k\n v_mov_b32 v21, 1\n"
           " v_cmp_lt_u32 vcc, x, 1\n s_branch_any c, again\n ret\n.endfunc\n" K
           "call half, v[2:3], v7, m1, s4\nagain: call half, v[4:5], v6, m2, %wave\ns_jump "
           "again\n.endkernel\n",
           "v_mov_b32 v2, v7\nv_mov_b32 v3, s4\nv_mov_b32 v21, 1\nv_cmp_lt_u32 vcc, v7, 1\n"
           "s_branch_any m1, pc 0\n"
           "v_mov_b32 v4, v6\nv_mov_b32 v5, %wave\nv_mov_b32 v21, 1\nv_cmp_lt_u32 vcc, v6, 1\n"
           "s_branch_any m2, pc 5\ns_jump pc 5\n");
    expect(".func in(v a) .uses v30\n v_mov_b32 v30, a\n v_mov_b32 a, v30\n.endfunc\n"
           ".func out(v a, v b) .uses v30\n call in, b\n call in, a\n.endfunc\n" K
           "call out, v1, v2" E,
           "v_mov_b32 v30, v2\nv_mov_b32 v2, v30\nv_mov_b32 v30, v1\nv_mov_b32 v1, v30\ns_end\n");
}

static void kernels_have_forms(void **state)
{
    struct isa_program *p =
        mini_assemble(K ".form predicated\ns_nop" E K ".form goto" E ".kernel e\nm_mov exec, m0" E
                        ".kernel a" E ".kernel p\n.form predicated-all" E);

    (void)state;
    assert_int_equal(isa_find_kernel(p, "k", ISA_FORM_GOTO)->first, 2);
    assert_int_equal(isa_find_kernel(p, "k", ISA_FORM_PREDICATED)->first, 0);
    assert_int_equal(isa_find_kernel(p, "k", ISA_FORM_EXEC)->first, 0); /* none fits: the first */
    assert_int_equal(isa_find_kernel(p, "e", ISA_FORM_GOTO)->forms, ISA_FORM_EXEC);
    assert_int_equal(isa_find_kernel(p, "a", ISA_FORM_GOTO)->forms, ISA_FORM_ALL);
    assert_int_equal(isa_find_kernel(p, "p", ISA_FORM_ALL)->forms, ISA_FORM_PREDICATED_ALL);
    assert_null(isa_find_kernel(p, "q", ISA_FORM_ALL));
    isa_program_free(p);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[512];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    out = fopen(path, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static int make_dir(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = malloc(256);

    snprintf(dir, 256, "%s/hd_asm_XXXXXX", tmp && strlen(tmp) < 200 ? tmp : "/tmp");
    *state = mkdtemp(dir);
    return *state ? 0 : -1;
}

static int remove_dir(void **state)
{
    static const char *const files[] = {"a.hasm", "b.hasm", "c.hasm", "lib/l.hasm", "lib"};
    char path[300];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", (char *)*state, files[i]);
        remove(path);
    }
    rmdir(*state);
    free(*state);
    return 0;
}

static enum hd_status assemble_a(const char *dir, struct isa_program **p, struct hd_error *err)
{
    char path[300], lib[300];
    const char *const dirs[] = {lib};

    snprintf(path, sizeof path, "%s/a.hasm", dir);
    snprintf(lib, sizeof lib, "%s/lib", dir);
    return isa_assemble_file(path, dirs, 1, p, err);
}

static void includes_are_found_beside_the_file_and_in_the_library(void **state)
{
    struct isa_program *p;
    char path[300], place[300];

    snprintf(path, sizeof path, "%s/lib", (char *)*state);
    assert_int_equal(mkdir(path, 0777), 0);
    write_file(path, "l.hasm", ".once\n.macro one\n\n s_nop\n.endmacro\n");
    write_file(*state, "b.hasm", ".include \"l.hasm\"\n");
    write_file(*state, "a.hasm", ".include \"b.hasm\"\n.include \"l.hasm\"\n" K "one" E);
    assert_int_equal(assemble_a(*state, &p, NULL), HD_OK);
    assert_int_equal(p->ninsns, 2);
    isa_place(p, 0, place, sizeof place);
    snprintf(path, sizeof path, "%s/lib/l.hasm:4", (char *)*state);
    assert_string_equal(place, path);
    isa_place(p, 1, place, sizeof place);
    snprintf(path, sizeof path, "%s/a.hasm:5", (char *)*state);
    assert_string_equal(place, path);
    isa_place(p, 2, place, sizeof place);
    assert_string_equal(place, "?");
    assert_non_null(strstr(p->sources[p->lines[p->insns[1].line].file], "b.hasm"));
    isa_program_free(p);
}

static void includes_that_go_round_are_refused(void **state)
{
    struct isa_program *p;
    struct hd_error err;
    char place[300];

    write_file(*state, "a.hasm", "\n  .include \"b.hasm\"\n");
    write_file(*state, "b.hasm", ".include \"c.hasm\"\n");
    write_file(*state, "c.hasm", "\n\n .include \"a.hasm\"\n");
    assert_int_equal(assemble_a(*state, &p, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "asm-include-cycle");
    snprintf(place, sizeof place, "%s/c.hasm:3:2", (char *)*state);
    assert_string_equal(err.place, place);
}

static void a_mistake_in_an_include_has_its_place(void **state)
{
    struct isa_program *p;
    struct hd_error err;
    char place[300];

    write_file(*state, "a.hasm", K ".include \"b.hasm\"" E);
    write_file(*state, "b.hasm", "s_nop\n  s_nopp\n");
    assert_int_equal(assemble_a(*state, &p, &err), HD_BAD_INPUT);
    snprintf(place, sizeof place, "%s/b.hasm:2:3", (char *)*state);
    assert_string_equal(err.place, place);
}

static void runaway_expansion_is_refused(void **state)
{
    static const char text[] = K ".rept 16000000\n.rept 16000000\ns_nop\n.endrept\n.endrept" E;
    struct isa_program *p;
    struct hd_error err;

    (void)state;
    assert_int_equal(isa_assemble_text("f", text, strlen(text), NULL, 0, &p, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "asm-too-long");
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_the_bits_of_their_type),
        cmocka_unit_test(one_literal_may_stand_twice),
        cmocka_unit_test(parameters_are_scalar_registers_in_order),
        cmocka_unit_test(registers_are_counted_or_declared),
        cmocka_unit_test(local_memory_has_named_pieces),
        cmocka_unit_test(special_values_are_scalar_sources),
        cmocka_unit_test(macros_have_arguments_and_their_own_labels),
        cmocka_unit_test(rept_repeats_and_counts),
        cmocka_unit_test(funcs_are_inlined_with_names_and_labels_of_their_own),
        cmocka_unit_test(kernels_have_forms),
        WITH_DIR(includes_are_found_beside_the_file_and_in_the_library),
        WITH_DIR(includes_that_go_round_are_refused),
        WITH_DIR(a_mistake_in_an_include_has_its_place),
        cmocka_unit_test(runaway_expansion_is_refused),
    };

    return cmocka_run_group_tests_name("asm_language", tests, NULL, NULL);
}
