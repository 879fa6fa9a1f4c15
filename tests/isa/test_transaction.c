/* Transactions in programs: opcodes, directives, runs. */
#include "isa/asm.h"
#include "isa/encode.h"
#include "isa/dis.h"
#include "isa/verify.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define K ".kernel k\n"
#define E "\ns_end\n.endkernel\n"

static void choices_survive_text_and_images(void **state)
{
    struct isa_program *p, *image;
    struct text dis = {0}, again = {0}, bytes = {0};
    struct hd_error err;

    (void)state;
    p = mini_assemble(".kernel k\n.tm_detector dcd-sm\n.tm_serialise descending-multiple\n.lds 4\n"
                      "tx.begin\nlocal_load_b32 v0, [0]\ntx.commit" E);
    assert_string_equal(p->kernels[0].tm_detector, "dcd-sm");
    assert_string_equal(p->kernels[0].tm_serialise, "descending-multiple");
    assert_true(p->kernels[0].has_tx);
    isa_disassemble(p, &dis);
    assert_non_null(strstr(text_str(&dis), "\n.tm_detector dcd-sm\n"));
    assert_non_null(strstr(text_str(&dis), "\n.tm_serialise descending-multiple\n"));
    assert_non_null(strstr(text_str(&dis), "    tx.begin\n"));
    isa_image_write(p, &bytes);
    assert_int_equal(isa_image_read("i", bytes.at, bytes.len, &image, &err), HD_OK);
    isa_disassemble(image, &again);
    assert_string_equal(text_str(&again), text_str(&dis));
    text_free(&dis);
    text_free(&again);
    text_free(&bytes);
    isa_program_free(p);
    isa_program_free(image);
}

static void runs_stay_outside(void **state)
{
    static const unsigned want[] = {2, 1, 0, 1, 1, 0, 2, 1, 0};
    struct isa_program *p = mini_assemble(
        K "v_mov_b32 v0, 1\nv_mov_b32 v1, 1\ntx.begin\nv_mov_b32 v0, 1\nv_mov_b32 v1, 1\n"
          "tx.commit\nv_mov_b32 v0, 1\nv_mov_b32 v1, 1" E);

    (void)state;
    for (unsigned i = 0; i < p->ninsns; i++)
        assert_int_equal(p->insns[i].run, want[i]);
    isa_program_free(p);
}

/* The first certain finding must be this one: code, line, text, part of the hint. */
static void refused(const char *body, const char *code, unsigned line, const char *text,
                    const char *hint)
{
    char source[1024], place[32];
    struct isa_program *p;
    struct hd_error err = {0};

    snprintf(source, sizeof source, ".kernel k\n%s\ns_end\n.endkernel\n", body);
    snprintf(place, sizeof place, "t:%u", line);
    assert_int_equal(isa_assemble_text("t", source, strlen(source), NULL, 0, &p, &err),
                     HD_BAD_INPUT);
    assert_string_equal(err.code, code);
    assert_string_equal(err.message, text);
    assert_memory_equal(err.place, place, strlen(place));
    assert_non_null(strstr(err.hint, hint));
}

static void refuses_what_cannot_be_undone(void **state)
{
    (void)state;
    refused("tx.begin\ns_barrier\ntx.commit", "verify-tx-inside", 3,
            "s_barrier inside a transaction", "behind tx.commit");
    refused("tx.begin\n@m0 s_end\ntx.commit", "verify-tx-inside", 3, "s_end inside a transaction",
            "end behind tx.commit");
    refused("tx.begin\nv_mov_b32.nomask v0, 1\ntx.commit", "verify-tx-inside", 3,
            "v_mov_b32.nomask inside a transaction", "leave .nomask out");
}

static void refuses_transactions_without_an_end(void **state)
{
    (void)state;
    refused("tx.begin", "verify-tx-inside", 3, "s_end inside a transaction", "end behind");
    refused("tx.commit", "verify-tx-unbalanced", 2, "tx.commit without a tx.begin", "in front");
    refused("s_branch_z s0, a\ntx.begin\na: s_nop\ntx.commit", "verify-tx-branch", 2,
            "the target of s_branch_z leads into a transaction", "by tx.begin alone");
    refused("tx.begin\ns_branch_z s0, a\ntx.commit\na: s_nop", "verify-tx-branch", 3,
            "the target of s_branch_z leads out of a transaction", "until tx.commit");
    refused("a: s_nop\ntx.begin\ns_branch_z s0, a\ntx.commit", "verify-tx-branch", 4,
            "the target of s_branch_z leads out of a transaction", "until tx.commit");
    refused("tx.begin\n@m0 goto a\ntx.commit\na: join", "verify-tx-branch", 3,
            "the target of goto leads out of a transaction", "until tx.commit");
    refused(".rept 9\ntx.begin\n.endrept\n.rept 9\ntx.commit\n.endrept", "verify-tx-depth", 3,
            "more than 8 transactions in each other", "leave them out");
}

/* "verdict code pc" of the findings about transactions. */
static void remarks(const char *body, const char *want)
{
    char source[1024];
    struct isa_program *p;
    struct isa_findings all = {0};
    struct text got = {0};

    snprintf(source, sizeof source, ".kernel k\n%s\ns_end\n.endkernel\n", body);
    p = mini_assemble(source);
    isa_verify(p, &all);
    for (size_t i = 0; i < all.len; i++)
        if (strncmp(all.at[i].code, "verify-tx", 9) == 0)
            text_add(&got, "%d %s %u %s\n", (int)all.at[i].verdict, all.at[i].code, all.at[i].pc,
                     all.at[i].check);
    assert_string_equal(text_str(&got), want);
    text_free(&got);
    isa_findings_free(&all);
    isa_program_free(p);
}

static void remarks_what_acts_in_each_attempt(void **state)
{
    (void)state;
    remarks("tx.begin\ntx.begin\ns_nop\ntx.commit\ntx.commit", "");
    remarks("tx.begin\nprint \"%u\", v0\nassert m0, \"x\"\ntx.commit",
            "1 verify-tx-attempts 1 \n1 verify-tx-attempts 2 \n");
    remarks(".param x u32[]\ntx.begin\nglobal_store_b32 [x], v0\ntx.commit",
            "2 verify-tx-global 1 tx-global-store\n");
    /* of the lanes; of scalars alone; of one that is of the lanes; read inside only */
    remarks("tx.begin\ns_any s0, m0\ntx.commit\ns_mov_b32 s1, s0", "1 verify-tx-scalar 2 \n");
    remarks("tx.begin\ns_mov_b32 s0, 3\ntx.commit\ns_mov_b32 s1, s0", "");
    remarks("tx.begin\ns_any s0, m0\ns_add_u32 s2, s0, 1\ntx.commit\ns_mov_b32 s1, s2",
            "1 verify-tx-scalar 3 \n");
    remarks("tx.begin\ns_any s0, m0\ns_mov_b32 s1, s0\ntx.commit", "");
}

static void jips_stop_at_the_commit(void **state)
{
    struct isa_program *p =
        mini_assemble(".kernel k\n@m0 goto out\ntx.begin\n@m1 goto in\ns_nop\nin: join\ns_nop\n"
                      "tx.commit\nout: join\ns_end\n.endkernel\n");

    (void)state;
    assert_int_equal(p->insns[0].jip, 7);
    assert_int_equal(p->insns[2].jip, 4);
    assert_int_equal(p->insns[4].jip, 6); /* without a transaction it would be the join at 7 */
    isa_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_survive_text_and_images),
        cmocka_unit_test(runs_stay_outside),
        cmocka_unit_test(refuses_what_cannot_be_undone),
        cmocka_unit_test(refuses_transactions_without_an_end),
        cmocka_unit_test(remarks_what_acts_in_each_attempt),
        cmocka_unit_test(jips_stop_at_the_commit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
