/*
 * Divergent control flow on every unit: PB-01 to PB-04 and PB-07 to PB-09. Each kernel runs on all units
 * of its form, timed and for values alone.
 */
#include "cf/cf.h"
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct the_case {
    const char *name, *text;
    unsigned form;
    uint32_t threads, words;
    uint32_t (*want)(uint32_t i);
    uint64_t stores;       /* wavefront instructions, 0: not counted */
    const char *deadlocks; /* units on which it must fail, each with a blank behind it */
    const char *code;
};

/* True if the unit fails as the case says. */
static bool check_failure(struct krig *r, const struct the_case *c, const char *unit,
                          enum hd_status status)
{
    char word[32];

    snprintf(word, sizeof word, "%s ", unit);
    if (!c->deadlocks || !strstr(c->deadlocks, word)) {
        if (status != HD_OK)
            fail_msg("%s on %s: %s: %s (%s)", c->name, unit, r->err.code, r->err.message,
                     r->err.place);
        return false;
    }
    assert_int_equal(status, HD_SIM_FAILED);
    assert_string_equal(r->err.code, c->code);
    assert_non_null(strstr(r->err.place, "kernel k group 0 wavefront "));
    assert_non_null(strstr(r->err.place, "test.hasm:"));
    assert_non_null(strstr(r->err.message, "lanes 0x"));
    return true;
}

static void run_on(const struct the_case *c, const char *unit, enum sim_mode mode)
{
    struct krig r;
    const uint32_t *got;
    uint32_t out;
    enum hd_status status;

    krig_open(&r, "wavefront_size", "64", "divergence.unit", unit, "sim.progress_instructions",
              "2000", NULL);
    sim_set_mode(r.m, mode);
    out = krig_array(&r, c->words * 4);
    status = krig_try_run(
        &r, &(struct krig_launch){
                .text = c->text, .threads = c->threads, .nargs = 1, .args = {KRIG_ARRAY(out)}});
    if (!check_failure(&r, c, unit, status)) {
        got = sim_array_data(r.m, out);
        for (uint32_t i = 0; i < c->words; i++)
            if (got[i] != c->want(i))
                fail_msg("%s on %s: word %u is %u, not %u", c->name, unit, i, got[i], c->want(i));
        if (c->stores)
            assert_int_equal(r.kernels[0].counters.global_stores, c->stores);
    }
    krig_close(&r);
}

static void run(const struct the_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned ran = 0;

        for (size_t u = 0; cf_units[u]; u++) {
            if (!(cf_units[u]->forms & cases[i].form))
                continue;
            run_on(&cases[i], cf_units[u]->name, SIM_TIMED);
            run_on(&cases[i], cf_units[u]->name, SIM_VALUES);
            ran++;
        }
        assert_true(ran > 0);
    }
}

#define RUN(cases) run(cases, sizeof(cases) / sizeof *(cases))
#define BEGIN(form) ".kernel k\n.form " form "\n.param out u32[]\n v_get_u32 v0, %lane\n"
#define STORE(v) " global_store_b32 [out + v0*4], " v "\n"
#define END " s_end\n.endkernel\n"

/* ---- PB-01: a body that no lane is in any more ---- */

static uint32_t seven(uint32_t i)
{
    (void)i;
    return 7;
}

/* All lanes leave at once; the store through address 0 must not happen. */
static void test_pb01_body_after_all_have_left(void **state)
{
    static const struct the_case cases[] = {
        {"goto",
         BEGIN("goto") " v_mov_b32 v1, 1\n v_mov_b32 v4, 7\n v_mov_b64 v[2:3], 0\n"
                       "loop:\n v_cmp_ge_u32 m0, v1, 1\n @m0 goto exit\n"
                       " global_store_b32 [v[2:3]], v1\n v_sub_u32 v1, v1, 1\n s_jump loop\n"
                       "exit:\n join\n" STORE("v4") END,
         ISA_FORM_GOTO, 64, 64, seven, 1, NULL, NULL},
        {"exec",
         BEGIN("exec") " v_mov_b32 v1, 1\n v_mov_b32 v4, 7\n v_mov_b64 v[2:3], 0\n"
                       " m_mov s[4:5], exec\n"
                       "loop:\n v_cmp_ge_u32 m0, v1, 1\n m_andn exec, exec, m0\n"
                       " s_branch_none exec, exit\n"
                       " global_store_b32 [v[2:3]], v1\n v_sub_u32 v1, v1, 1\n s_jump loop\n"
                       "exit:\n m_mov exec, s[4:5]\n" STORE("v4") END,
         ISA_FORM_EXEC, 64, 64, seven, 1, NULL, NULL},
        /* Where no branch skips it the store issues, without effect: it is not even counted as a store. */
        {"exec without a skip",
         BEGIN("exec") " v_mov_b32 v1, 1\n v_mov_b32 v4, 7\n v_mov_b64 v[2:3], 0\n"
                       " m_mov s[4:5], exec\n"
                       "loop:\n v_cmp_ge_u32 m0, v1, 1\n m_andn exec, exec, m0\n"
                       " global_store_b32 [v[2:3]], v1\n v_sub_u32 v1, v1, 1\n"
                       " s_branch_any exec, loop\n m_mov exec, s[4:5]\n" STORE("v4") END,
         ISA_FORM_EXEC, 64, 64, seven, 1, NULL, NULL},
        {"predicated",
         BEGIN("predicated") " v_mov_b32 v1, 1\n v_mov_b32 v4, 7\n v_mov_b64 v[2:3], 0\n"
                             ".loop\n v_cmp_ge_u32 m0, v1, 1\n .break m0\n"
                             " global_store_b32 [v[2:3]], v1\n v_sub_u32 v1, v1, 1\n"
                             ".endloop\n" STORE("v4") END,
         ISA_FORM_PREDICATED, 64, 64, seven, 0, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

/* ---- PB-02: continue in a loop with different trip counts ---- */

static uint32_t sum_of_even(uint32_t i)
{
    return i / 2 * (i / 2 + 1);
}

static void test_pb02_continue(void **state)
{
    static const struct the_case cases[] = {
        {"goto",
         BEGIN("goto") " v_mov_b32 v1, 0\n v_mov_b32 v2, 0\n"
                       "head:\n v_and_b32 v3, v1, 1\n v_cmp_ne_u32 m0, v3, 0\n @m0 goto next\n"
                       " v_add_u32 v2, v2, v1\n"
                       "next:\n join\n v_add_u32 v1, v1, 1\n v_cmp_le_u32 m1, v1, v0\n"
                       " @m1 goto.b head\n join\n" STORE("v2") END,
         ISA_FORM_GOTO, 64, 64, sum_of_even, 1, NULL, NULL},
        {"exec",
         BEGIN("exec") " v_mov_b32 v1, 0\n v_mov_b32 v2, 0\n m_mov s[4:5], exec\n"
                       "head:\n m_mov s[6:7], exec\n"
                       " v_and_b32 v3, v1, 1\n v_cmp_ne_u32 m0, v3, 0\n m_andn exec, exec, m0\n"
                       " s_branch_none exec, next\n v_add_u32 v2, v2, v1\n"
                       "next:\n m_mov exec, s[6:7]\n v_add_u32 v1, v1, 1\n"
                       " v_cmp_le_u32 m1, v1, v0\n m_and exec, exec, m1\n"
                       " s_branch_any exec, head\n m_mov exec, s[4:5]\n" STORE("v2") END,
         ISA_FORM_EXEC, 64, 64, sum_of_even, 1, NULL, NULL},
        {"predicated",
         BEGIN("predicated") " v_mov_b32 v1, 0\n v_mov_b32 v2, 0\n v_mov_b32 v4, -1\n"
                             ".loop\n v_add_u32 v4, v4, 1\n v_cmp_gt_u32 m1, v4, v0\n .break m1\n"
                             " v_and_b32 v3, v4, 1\n v_cmp_ne_u32 m0, v3, 0\n .continue m0\n"
                             " v_add_u32 v2, v2, v4\n.endloop\n" STORE("v2") END,
         ISA_FORM_PREDICATED, 64, 64, sum_of_even, 0, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

/* ---- PB-03: lanes that are off outside ---- */

static uint32_t counted(uint32_t i)
{
    return i < 32 ? i + 1 : 5;
}

static uint32_t seven_ifs(uint32_t i)
{
    int32_t v = (int32_t)i - 32, acc = 0;

    for (int32_t k = 0; k < 7; k++)
        acc += v > k ? k + 1 : -(k + 1);
    return (uint32_t)acc;
}

static uint32_t seven_ifs_and_lanes(uint32_t i)
{
    return i == 64 ? 64 : seven_ifs(i);
}

/* A tail: the last wavefront has 8 lanes. */
static uint32_t seven_ifs_short(uint32_t i)
{
    return i == 64 ? 8 : i < 8 ? seven_ifs(i) : 0;
}

#define SEVEN_IFS                                                                                  \
    ".macro choose k\n v_cmp_gt_i32 m0, v1, \\k\n @!m0 goto else\\@\n"                             \
    " v_add_u32 v2, v2, \\k + 1\n goto end\\@\n"                                                   \
    "else\\@:\n join\n v_sub_u32 v2, v2, \\k + 1\nend\\@:\n join\n.endmacro\n" BEGIN(              \
        "goto") " v_sub_u32 v1, v0, 32\n v_mov_b32 v2, 0\n"                                        \
                " choose 0\n choose 1\n choose 2\n choose 3\n choose 4\n choose 5\n choose "       \
                "6\n" STORE("v2") " m_mov m1, -1\n s_popcount s8, m1\n v_mov_b32 v3, s8\n "        \
                                  "v_mov_b32 v4, 64\n"                                             \
                                  " global_store_b32 [out + v4*4], v3\n" END

static void test_pb03_lanes_off_outside(void **state)
{
    static const struct the_case cases[] = {
        {"goto",
         BEGIN("goto") " v_mov_b32 v1, 5\n v_cmp_ge_u32 m0, v0, 32\n @m0 goto out2\n"
                       " v_mov_b32 v1, 0\n"
                       "loop:\n v_add_u32 v1, v1, 1\n v_cmp_le_u32 m1, v1, v0\n @m1 goto.b loop\n"
                       " join\nout2:\n join\n" STORE("v1") END,
         ISA_FORM_GOTO, 64, 64, counted, 1, NULL, NULL},
        {"exec",
         BEGIN(
             "exec") " v_mov_b32 v1, 5\n v_cmp_lt_u32 m0, v0, 32\n m_mov s[4:5], exec\n"
                     " m_and exec, exec, m0\n v_mov_b32 v1, 0\n"
                     "loop:\n v_add_u32 v1, v1, 1\n v_cmp_le_u32 m1, v1, v0\n"
                     " m_and exec, exec, m1\n s_branch_any exec, loop\n m_mov exec, s[4:5]\n" STORE(
                         "v1") END,
         ISA_FORM_EXEC, 64, 64, counted, 1, NULL, NULL},
        {"predicated",
         BEGIN("predicated") " v_mov_b32 v1, 5\n v_cmp_lt_u32 m0, v0, 32\n"
                             ".if m0\n v_mov_b32 v1, 0\n"
                             ".loop\n v_add_u32 v1, v1, 1\n v_cmp_gt_u32 m1, v1, v0\n .break m1\n"
                             ".endloop\n.endif\n" STORE("v1") END,
         ISA_FORM_PREDICATED, 64, 64, counted, 0, NULL, NULL},
        {"seven ifs", SEVEN_IFS, ISA_FORM_GOTO, 64, 65, seven_ifs_and_lanes, 2, NULL, NULL},
        {"seven ifs, 8 lanes", SEVEN_IFS, ISA_FORM_GOTO, 8, 65, seven_ifs_short, 2, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

/* The back branch issues 32 times, and the outer goto once. */
static void test_pb03_trips(void **state)
{
    static const char text[] =
        BEGIN("goto") " v_cmp_ge_u32 m0, v0, 32\n @m0 goto out2\n v_mov_b32 v1, 0\n"
                      "loop:\n v_add_u32 v1, v1, 1\n v_cmp_le_u32 m1, v1, v0\n @m1 goto.b loop\n"
                      " join\nout2:\n join\n" STORE("v1") END;

    (void)state;
    for (size_t u = 0; cf_units[u]; u++) {
        const struct sim_counters *c;
        struct krig r;
        uint32_t out;

        if (!(cf_units[u]->forms & ISA_FORM_GOTO))
            continue;
        krig_open(&r, "wavefront_size", "64", "divergence.unit", cf_units[u]->name, NULL);
        out = krig_array(&r, 256);
        c = &krig_run(&r,
                      &(struct krig_launch){
                          .text = text, .threads = 64, .nargs = 1, .args = {KRIG_ARRAY(out)}})
                 ->counters;
        assert_int_equal(c->gotos, 33);
        assert_int_equal(c->divergent_branches, 32);
        assert_int_equal(c->branches, 0);
        krig_close(&r);
    }
}

/* ---- PB-04: locks between lanes of a wavefront ---- */

static uint32_t one_count(uint32_t i)
{
    (void)i;
    return 64;
}

static uint32_t four_counts(uint32_t i)
{
    (void)i;
    return 256;
}

#define LOCK_BEGIN BEGIN("goto") ".lds 8\n v_mov_b32 v1, 1\n v_mov_b32 v2, 0\n v_mov_b32 v5, 0\n"
#define COUNT " global_load_b32 v4, [out]\n v_add_u32 v4, v4, 1\n global_store_b32 [out], v4\n"

/* The lanes meet behind the loop, with the lock held. */
#define LOCK_A                                                                                     \
    LOCK_BEGIN "again:\n local_atomic_cmpswap_b32_rtn v3, [0], v1, v2\n v_cmp_ne_u32 m0, v3, 0\n"  \
               " @m0 goto.b again\n join\n" COUNT " local_store_b32 [0], v2\n" END
/* They meet when it is free again. */
#define LOCK_B                                                                                     \
    LOCK_BEGIN                                                                                     \
    "again:\n local_atomic_cmpswap_b32_rtn v3, [0], v1, v2\n v_cmp_ne_u32 m0, v3, 0\n"             \
    " @m0 goto skip\n" COUNT " v_mov_b32 v5, 1\n local_store_b32 [0], v2\nskip:\n join\n"          \
    " v_cmp_eq_u32 m1, v5, 0\n @m1 goto.b again\n join\n" END
/* One lane at a time. */
#define LOCK_C                                                                                     \
    LOCK_BEGIN " s_mov_b32 s8, 0\n"                                                                \
               "next:\n v_cmp_ne_u32 m1, v0, s8\n @m1 goto skip\n"                                 \
               "again:\n local_atomic_cmpswap_b32_rtn v3, [0], v1, v2\n v_cmp_ne_u32 m0, v3, 0\n"  \
               " @m0 goto.b again\n join\n" COUNT " local_store_b32 [0], v2\nskip:\n join\n"       \
               " s_add_u32 s8, s8, 1\n s_cmp_lt_u32 s9, s8, 64\n s_branch_nz s9, next\n" END

static void test_pb04_locks(void **state)
{
    static const struct the_case cases[] = {
        {"a", LOCK_A, ISA_FORM_GOTO, 64, 1, one_count, 0, "goto-join simt-stack min-pc ",
         "no-progress"},
        {"b", LOCK_B, ISA_FORM_GOTO, 64, 1, one_count, 0, NULL, NULL},
        {"b, 4 wavefronts", LOCK_B, ISA_FORM_GOTO, 256, 1, four_counts, 0, NULL, NULL},
        {"c", LOCK_C, ISA_FORM_GOTO, 64, 1, one_count, 0, NULL, NULL},
        {"c, 4 wavefronts", LOCK_C, ISA_FORM_GOTO, 256, 1, four_counts, 0, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

/* ---- PB-07 to PB-09: barriers ---- */

static uint32_t one_each(uint32_t i)
{
    (void)i;
    return 1;
}

static uint32_t mirrored(uint32_t i)
{
    return i < 128 ? 127 - i : 0;
}

/* The round in which an item leaves: the highest power of two that is not above it. */
static uint32_t round_of(uint32_t i)
{
    uint32_t live = 64;

    if (i == 0)
        return 777;
    while (i < live)
        live /= 2;
    return live;
}

static uint32_t sixteen(uint32_t i)
{
    (void)i;
    return 16;
}

#define TID " v_get_u32 v0, %tid\n v_get_u32 v1, %lane\n v_mov_b32 v2, 1\n"

static void test_pb07_barrier_in_divergent_code(void **state)
{
    static const struct the_case cases[] = {
        {"some lanes",
         BEGIN("goto") TID " v_cmp_ge_u32 m0, v1, 32\n @m0 goto behind\n s_barrier\n"
                           "behind:\n join\n" STORE("v2") END,
         ISA_FORM_GOTO, 128, 128, one_each, 0, "simt-stack barrier ", "barrier-deadlock"},
        {"both sides",
         BEGIN("goto") TID " v_cmp_ge_u32 m0, v1, 32\n @m0 goto other\n s_barrier\n goto behind\n"
                           "other:\n join\n s_barrier\n"
                           "behind:\n join\n" STORE("v2") END,
         ISA_FORM_GOTO, 128, 128, one_each, 0, "simt-stack ", "barrier-deadlock"},
        {"one wavefront",
         BEGIN("goto") TID STORE("v2") " s_branch_z %wave, meet\n s_end\n"
                                       "meet:\n s_barrier\n" END,
         ISA_FORM_GOTO, 128, 128, one_each, 0, NULL, NULL},
        {"both sides of exec",
         BEGIN("exec") TID " v_cmp_ge_u32 m0, v1, 32\n m_mov s[4:5], exec\n m_and exec, exec, m0\n"
                           " s_barrier\n m_andn exec, s[4:5], exec\n s_barrier\n"
                           " m_mov exec, s[4:5]\n" STORE("v2") END,
         ISA_FORM_EXEC, 128, 128, one_each, 0, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

static void test_pb08_items_that_are_gone(void **state)
{
    static const struct the_case cases[] = {
        {"wavefront",
         BEGIN("goto") ".lds 512\n" TID " s_cmp_eq_u32 s8, %wave, 2\n s_branch_z s8, work\n s_end\n"
                       "work:\n local_store_b32 [v0*4], v0\n s_barrier\n"
                       " v_sub_u32 v1, 127, v0\n local_load_b32 v2, [v1*4]\n" STORE("v2") END,
         ISA_FORM_GOTO, 192, 192, mirrored, 0, NULL, NULL},
        {"items",
         BEGIN("goto") TID " s_mov_b32 s8, 64\n"
                           "again:\n v_cmp_ge_u32 m0, v0, s8\n v_mov_b32 v1, s8\n"
                           " @m0 global_store_b32 [out + v0*4], v1\n @m0 s_end\n"
                           " s_barrier\n s_shr_b32 s8, s8, 1\n s_branch_nz s8, again\n"
                           " v_mov_b32 v1, 777\n" STORE("v1") END,
         ISA_FORM_GOTO, 128, 128, round_of, 0, NULL, NULL},
        {"items of exec",
         BEGIN("exec") TID " s_mov_b32 s8, 64\n"
                           "again:\n v_cmp_ge_u32 m0, v0, s8\n v_mov_b32 v1, s8\n"
                           " @m0 global_store_b32 [out + v0*4], v1\n @m0 s_end\n"
                           " s_barrier\n s_shr_b32 s8, s8, 1\n s_branch_nz s8, again\n"
                           " v_mov_b32 v1, 777\n" STORE("v1") END,
         ISA_FORM_EXEC, 128, 128, round_of, 0, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

/* Eight phases of two barriers with nothing between them, 16 wavefronts. */
static void test_pb09_barriers_back_to_back(void **state)
{
#define PHASES(form)                                                                               \
    BEGIN(form)                                                                                    \
    ".lds 32\n v_mov_b32 v1, 1\n v_cmp_eq_u32 m0, v0, 0\n"                                         \
    " .rept 8\n @m0 local_atomic_add_u32 [\\#*4], v1\n s_barrier\n s_barrier\n .endrept\n"         \
    " s_branch_nz %wave, behind\n v_cmp_lt_u32 m1, v0, 8\n"                                        \
    " @m1 local_load_b32 v3, [v0*4]\n @m1 global_store_b32 [out + v0*4], v3\n"                     \
    "behind:\n" END
    static const struct the_case cases[] = {
        {"goto", PHASES("goto"), ISA_FORM_GOTO, 1024, 8, sixteen, 0, NULL, NULL},
        {"exec", PHASES("exec"), ISA_FORM_EXEC, 1024, 8, sixteen, 0, NULL, NULL},
        {"predicated", PHASES("predicated"), ISA_FORM_PREDICATED, 1024, 8, sixteen, 0, NULL, NULL},
    };

    (void)state;
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb01_body_after_all_have_left),
        cmocka_unit_test(test_pb02_continue),
        cmocka_unit_test(test_pb03_lanes_off_outside),
        cmocka_unit_test(test_pb03_trips),
        cmocka_unit_test(test_pb04_locks),
        cmocka_unit_test(test_pb07_barrier_in_divergent_code),
        cmocka_unit_test(test_pb08_items_that_are_gone),
        cmocka_unit_test(test_pb09_barriers_back_to_back),
    };

    return cmocka_run_group_tests_name("cases_divergence", tests, NULL, NULL);
}
