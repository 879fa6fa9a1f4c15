/* Transactions in programs: opcodes, directives, runs. */
#include "isa/asm.h"
#include "isa/encode.h"
#include "isa/dis.h"
#include "isa/verify.h"
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

/* The first certain finding must be this one. */
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
    assert_string_equal(err.place, place);
    assert_string_equal(err.hint, hint);
}

static void test_pb06_refuses_what_cannot_be_undone(void **state)
{
    (void)state;
    refused("tx.begin\ns_barrier\ntx.commit", "verify-tx-inside", 3,
            "s_barrier inside a transaction",
            "wait in front of tx.begin or behind tx.commit: others may wait for this one");
    refused("tx.begin\n@m0 s_end\ntx.commit", "verify-tx-inside", 3, "s_end inside a transaction",
            "end behind tx.commit");
    refused("tx.begin\ns_end\ntx.commit", "verify-tx-inside", 3, "s_end inside a transaction",
            "end behind tx.commit");
    refused("tx.begin\nv_mov_b32.nomask v0, 1\ntx.commit", "verify-tx-inside", 3,
            "v_mov_b32.nomask inside a transaction",
            "leave .nomask out: it would act on lanes that are done, once an attempt");
    refused("tx.begin\ntx.begin\ntx.commit\ns_barrier\ntx.commit", "verify-tx-inside", 5,
            "s_barrier inside a transaction",
            "wait in front of tx.begin or behind tx.commit: others may wait for this one");
}

static void test_pb06_refuses_transactions_without_an_end(void **state)
{
    static const char no_begin[] = "write tx.begin in front, further up in the text",
                      no_commit[] =
                          "write tx.commit behind what belongs to it, further down in the text";

    (void)state;
    refused("tx.begin", "verify-tx-unbalanced", 2, "tx.begin without a tx.commit", no_commit);
    refused("tx.begin\na: s_jump a", "verify-tx-unbalanced", 2, "tx.begin without a tx.commit",
            no_commit);
    refused("tx.begin\ntx.begin\ntx.commit", "verify-tx-unbalanced", 2,
            "tx.begin without a tx.commit", no_commit);
    refused("tx.commit", "verify-tx-unbalanced", 2, "tx.commit without a tx.begin", no_begin);
    refused("tx.begin\ntx.commit\ntx.commit", "verify-tx-unbalanced", 4,
            "tx.commit without a tx.begin", no_begin);
    /* the way of the run is balanced, the text is not */
    refused("s_jump b\na: tx.commit\ns_end\nb: tx.begin\ns_jump a", "verify-tx-unbalanced", 3,
            "tx.commit without a tx.begin", no_begin);
    refused(".rept 9\ntx.begin\n.endrept\n.rept 9\ntx.commit\n.endrept", "verify-tx-depth", 3,
            "more than 8 transactions in each other",
            "inner transactions are part of the outermost: leave them out");
}

static void leads(const char *body, unsigned line, const char *text)
{
    refused(body, "verify-tx-branch", line, text,
            "stay inside until tx.commit, and come in by tx.begin alone");
}

static void test_pb06_refuses_ways_across_a_border(void **state)
{
    (void)state;
    leads("s_branch_z s0, a\ntx.begin\na: s_nop\ntx.commit", 2,
          "the target of s_branch_z leads into a transaction");
    leads("tx.begin\ns_branch_z s0, a\ntx.commit\na: s_nop", 3,
          "the target of s_branch_z leads out of a transaction");
    leads("a: s_nop\ntx.begin\ns_branch_z s0, a\ntx.commit", 4,
          "the target of s_branch_z leads out of a transaction");
    leads("a: tx.begin\ns_branch_z s0, a\ntx.commit", 3,
          "the target of s_branch_z leads out of a transaction");
    leads("tx.begin\ntx.begin\ns_jump a\ntx.commit\na: tx.commit", 4,
          "the target of s_jump leads out of a transaction");
    leads("tx.begin\ns_jump a\ntx.commit\ntx.begin\na: tx.commit", 3,
          "the target of s_jump leads out of a transaction into another");
    /* begun on one side of a branch, ended on the other */
    leads("s_branch_none m0, a\ntx.begin\ns_jump b\na: tx.commit\nb: s_nop", 2,
          "the target of s_branch_none leads into a transaction");
    leads("tx.begin\n@m0 goto a\ntx.commit\na: join", 3,
          "the target of goto leads out of a transaction");
    leads("@m0 goto a\ntx.begin\na: join\ntx.commit", 2,
          "the target of goto leads into a transaction");
    leads("tx.begin\na: join b\ntx.commit\nb: join", 3,
          "the JIP of join leads out of a transaction");
}

static void ways_inside_are_allowed(void **state)
{
    (void)state;
    isa_program_free(
        mini_assemble(K "s_branch_z s0, b\ntx.begin\na: s_branch_z s0, c\ntx.begin\ntx.commit\n"
                        "s_branch_nz s1, a\nc: tx.commit\nb: tx.begin\ntx.commit" E));
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
    remarks("tx.begin\nv_cmp_lt_u32 vcc, v0, 5\ntx.commit\n@vcc v_mov_b32 v0, 1",
            "1 verify-tx-scalar 2 \n");
}

static void remarks_scalars_that_hang_on_branches(void **state)
{
    (void)state;
    /* skipped where no lane is in m0; not skipped; skipped by a scalar that is of the lanes, and by one that is not */
    remarks("tx.begin\ns_branch_none m0, a\ns_mov_b32 s0, 3\na: tx.commit\ns_mov_b32 s1, s0",
            "1 verify-tx-scalar 3 \n");
    remarks("tx.begin\ns_branch_none m0, a\ns_nop\na: s_mov_b32 s0, 3\ntx.commit\n"
            "s_mov_b32 s1, s0",
            "");
    remarks("tx.begin\ns_any s2, m0\ns_branch_z s2, a\ns_mov_b32 s0, 3\na: tx.commit\n"
            "s_mov_b32 s1, s0",
            "1 verify-tx-scalar 4 \n");
    remarks("tx.begin\ns_branch_z s2, a\ns_mov_b32 s0, 3\na: tx.commit\ns_mov_b32 s1, s0", "");
    /* the number of rounds is of the lanes; so is what a later round takes from an earlier one */
    remarks("tx.begin\na: s_add_u32 s0, s0, 1\ns_branch_any m0, a\ntx.commit\ns_mov_b32 s1, s0",
            "1 verify-tx-scalar 3 \n");
    remarks("tx.begin\na: s_mov_b32 s0, s2\ns_any s2, m0\ns_sub_u32 s3, s3, 1\n"
            "s_branch_nz s3, a\ntx.commit\ns_mov_b32 s1, s0",
            "1 verify-tx-scalar 5 \n");
    /* each transaction is looked at by itself */
    remarks("tx.begin\ns_any s0, m0\ntx.commit\ntx.begin\ns_mov_b32 s0, 3\ntx.commit\n"
            "s_mov_b32 s1, s0",
            "");
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

/* ---- values with lanes out of the transaction, one lane at a time ---- */

static struct isa_wave random_wave(struct rng *r, uint32_t *v)
{
    uint64_t att = rng_next(r);
    struct isa_wave w = {.v = v, .live = rng_next(r) | rng_next(r), .tcm = att & rng_next(r)};

    w.live |= att;
    w.tx = att & ~w.tcm;
    w.exec = w.tcm | (att & rng_next(r));
    for (unsigned i = 0; i <= ISA_MASKS; i++)
        w.m[i] = rng_next(r);
    return w;
}

static bool bit(uint64_t mask, unsigned lane)
{
    return mask >> lane & 1;
}

/* What each lane has to find in EXEC, m0 and vcc behind `exec = m1 & ~m2`, `@m3 m0 = m1 ^ m2`, `vcc = v0 < 5`. */
static void expect_lane(const struct isa_wave *was, const struct isa_wave *now, const uint32_t *v,
                        unsigned lane)
{
    bool out = bit(was->tcm, lane), att = bit(was->tx, lane) || out;
    bool wants = bit(was->m[1], lane) && !bit(was->m[2], lane);
    bool awake = att && (out || wants), active = awake && !out;
    bool writes = active && bit(was->m[3], lane);

    assert_int_equal(bit(now->exec, lane), awake);
    assert_int_equal(bit(now->s[0] | (uint64_t)now->s[1] << 32, lane), active);
    assert_int_equal(bit(now->m[0], lane),
                     writes ? bit(was->m[1], lane) != bit(was->m[2], lane) : bit(was->m[0], lane));
    /* without an active lane a comparison has no effect */
    assert_int_equal(bit(now->m[ISA_VCC], lane),
                     now->exec & now->tx ? active && v[lane] < 5 : bit(was->m[ISA_VCC], lane));
    assert_int_equal(v[ISA_MAX_WIDTH + lane], active ? 7 : 3);
}

static void lanes_out_of_a_transaction_are_inert(void **state)
{
    struct isa_program *p = mini_assemble(
        K ".form exec\nm_andn exec, m1, m2\nm_mov s[0:1], exec\n@m3 m_xor m0, m1, m2\n"
          "v_cmp_lt_u32 vcc, v0, 5\nv_mov_b32 v1, 7\ns_any s2, m1\ns_all s3, m1\n"
          "s_popcount s4, m1" E);
    _Alignas(64) uint32_t v[2 * ISA_MAX_WIDTH];
    uint64_t seed = test_seed(11);
    struct rng r;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(&r, seed);
    for (uint64_t round = 0; round < test_count(2000); round++) {
        struct isa_wave w = random_wave(&r, v), was = w;
        uint64_t active;

        for (unsigned i = 0; i < ISA_MAX_WIDTH; i++) {
            v[i] = (uint32_t)rng_below(&r, 10);
            v[ISA_MAX_WIDTH + i] = 3;
        }
        for (uint32_t i = 0; i + 1 < p->ninsns; i++)
            isa_exec(&w, &p->insns[i], 1, isa_lanes_get(ISA_MAX_WIDTH, ISA_BUILD_AUTO));
        for (unsigned lane = 0; lane < ISA_MAX_WIDTH; lane++)
            expect_lane(&was, &w, v, lane);
        active = w.exec & w.tx & w.live;
        assert_int_equal(w.s[2], (was.m[1] & active) != 0);
        assert_int_equal(w.s[3], (~was.m[1] & active) == 0);
        assert_int_equal(w.s[4], __builtin_popcountll(was.m[1] & active));
    }
    isa_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_survive_text_and_images),
        cmocka_unit_test(runs_stay_outside),
        cmocka_unit_test(test_pb06_refuses_what_cannot_be_undone),
        cmocka_unit_test(test_pb06_refuses_transactions_without_an_end),
        cmocka_unit_test(test_pb06_refuses_ways_across_a_border),
        cmocka_unit_test(ways_inside_are_allowed),
        cmocka_unit_test(remarks_what_acts_in_each_attempt),
        cmocka_unit_test(remarks_scalars_that_hang_on_branches),
        cmocka_unit_test(lanes_out_of_a_transaction_are_inert),
        cmocka_unit_test(jips_stop_at_the_commit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
