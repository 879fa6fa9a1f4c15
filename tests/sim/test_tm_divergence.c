/*
 * Divergent code inside transactions, in each form, and transactions inside divergent code: loops whose
 * lanes leave at different times, and what a retry gives back of masks and EXEC. Each item raises a word
 * of local memory by its own number modulo 8, one at a time.
 */
#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { ITEMS = 200, WORDS = 4 };

/* Word item % 4 is raised in a loop of item % 8 rounds; items without a round store nothing. */
#define HEAD(form)                                                                                 \
    ".kernel d\n.form " form "\n.param out u32[]\n.local room 16\n"                                \
    "    v_get_u32 v0, %tid\n    v_and_b32 v1, v0, 3\n    v_and_b32 v2, v0, 7\n"
#define RAISE(pred)                                                                                \
    "    " pred "local_load_b32 v3, [v1*4 + room]\n"                                               \
    "    " pred "v_add_u32 v3, v3, 1\n"                                                            \
    "    " pred "local_store_b32 [v1*4 + room], v3\n"                                              \
    "    " pred "v_sub_u32 v2, v2, 1\n"
#define TAIL                                                                                       \
    "    s_barrier\n"                                                                              \
    "    v_cmp_lt_u32 m0, v0, 4\n"                                                                 \
    "    @m0 local_load_b32 v3, [v0*4 + room]\n"                                                   \
    "    @m0 global_store_b32 [out + v0*4], v3\n"                                                  \
    "    s_end\n.endkernel\n"

static const char predicated[] =
    HEAD("predicated") "    tx.begin\n"
                       "    v_cmp_ne_u32 m1, v2, 0\n"
                       "head:\n"
                       "    s_branch_none m1, done\n" RAISE("@m1 ") "    v_cmp_ne_u32 m2, v2, 0\n"
                                                                    "    m_and m1, m1, m2\n"
                                                                    "    s_branch_any m1, head\n"
                                                                    "done:\n"
                                                                    "    tx.commit\n" TAIL;

static const char exec_form[] =
    HEAD("exec") "    tx.begin\n"
                 "    m_mov s[8:9], exec\n"
                 "    v_cmp_ne_u32 vcc, v2, 0\n"
                 "    m_and exec, exec, vcc\n"
                 "head:\n"
                 "    s_branch_none exec, done\n" RAISE("") "    v_cmp_ne_u32 vcc, v2, 0\n"
                                                            "    m_and exec, exec, vcc\n"
                                                            "    s_jump head\n"
                                                            "done:\n"
                                                            "    m_mov exec, s[8:9]\n"
                                                            "    tx.commit\n" TAIL;

static const char goto_form[] = HEAD("goto") "    tx.begin\n"
                                             "    v_cmp_eq_u32 m1, v2, 0\n"
                                             "    @m1 goto done\n"
                                             "head:\n" RAISE("") "    v_cmp_ne_u32 m1, v2, 0\n"
                                                                 "    @m1 goto.b head\n"
                                                                 "    join\n"
                                                                 "done:\n"
                                                                 "    join\n"
                                                                 "    tx.commit\n" TAIL;

/* The transaction is inside the branch: lanes that did not take it sleep through it. */
static const char goto_around[] =
    HEAD("goto") "    v_cmp_eq_u32 m1, v2, 0\n"
                 "    @m1 goto done\n"
                 "head:\n"
                 "    tx.begin\n" RAISE("") "    tx.commit\n"
                                            "    v_cmp_ne_u32 m1, v2, 0\n"
                                            "    @m1 goto.b head\n"
                                            "    join\n"
                                            "done:\n"
                                            "    join\n" TAIL;

static const char exec_around[] =
    HEAD("exec") "    m_mov s[8:9], exec\n"
                 "    v_cmp_ne_u32 vcc, v2, 0\n"
                 "    m_and exec, exec, vcc\n"
                 "head:\n"
                 "    s_branch_none exec, done\n"
                 "    tx.begin\n" RAISE("") "    tx.commit\n"
                                            "    v_cmp_ne_u32 vcc, v2, 0\n"
                                            "    m_and exec, exec, vcc\n"
                                            "    s_jump head\n"
                                            "done:\n"
                                            "    m_mov exec, s[8:9]\n" TAIL;

/* An inner transaction is part of the outer one. */
static const char nested[] = HEAD("predicated") "    tx.begin\n"
                                                "    tx.begin\n"
                                                "    local_load_b32 v3, [v1*4 + room]\n"
                                                "    tx.commit\n"
                                                "    v_add_u32 v3, v3, v2\n"
                                                "    local_store_b32 [v1*4 + room], v3\n"
                                                "    tx.commit\n" TAIL;

static void run(const char *text, const char *unit, unsigned setting)
{
    struct krig r;
    uint32_t out, want[WORDS] = {0};
    const uint32_t *got;

    krig_open(&r, "divergence.unit", unit, "tm.detector", tm_rig_detectors[setting % 4],
              "tm.serialise", tm_rig_serials[setting / 4 % 4], "tm.early_exit",
              setting % 3 ? "off" : "on", NULL);
    sim_set_limits(r.m, &(struct sim_limits){.check_tm = true});
    out = krig_array(&r, sizeof want);
    tm_rig_check_counters(&krig_run(&r, &(struct krig_launch){.text = text,
                                                              .threads = ITEMS,
                                                              .nargs = 1,
                                                              .args = {KRIG_ARRAY(out)}})
                               ->counters);
    for (unsigned i = 0; i < ITEMS; i++)
        want[i % 4] += i % 8;
    got = sim_array_data(r.m, out);
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(got[i], want[i]);
    krig_close(&r);
}

static void test_forms(void **state)
{
    static const struct {
        const char *text, *unit;
    } rows[] = {
        {predicated, "predication"}, {predicated, "any-branch"}, {exec_form, "exec-mask"},
        {goto_form, "goto-join"},    {exec_around, "exec-mask"}, {goto_around, "goto-join"},
        {nested, "any-branch"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned setting = 0; setting < 16; setting++)
            run(rows[i].text, rows[i].unit, setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
