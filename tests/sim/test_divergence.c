/*
 * Divergent code on one compute unit: closed forms of its cycles, its counters, and the faults of programs that lose
 * lanes.
 */
#include "cf/cf.h"
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ALU = 5, BRANCH = 11 }; /* latencies */

static struct sim_counters run(const char *unit, const char *text, uint32_t threads,
                               uint64_t *cycles)
{
    const struct sim_kernel_record *k;
    struct sim_counters c;
    struct krig r;

    krig_open(&r, "divergence.unit", unit, "latency.alu", "5", "latency.salu", "5",
              "latency.branch", "11", NULL);
    k = krig_run(&r, &(struct krig_launch){.text = text, .threads = threads});
    *cycles = krig_cycles(k);
    c = k->counters;
    krig_close(&r);
    return c;
}

/*
 * if-else. The compare waits for the lane, the goto for the compare; behind each of the two gotos and two joins the
 * next instruction waits for the branch; one add in each arm:
 *   2 ALU + 4 BRANCH + 2
 * With all lanes in the then-arm its goto leads to the first join, which hops; with all in the else-arm the first goto does.
 * Groups need no hop: the goto behind the then-arm leads to the end.
 */
static void test_if_else(void **state)
{
    static const struct {
        const char *unit, *bound;
        uint64_t cycles, instructions, hops, divergent, skipped, gotos, joins;
    } rows[] = {
        {"goto-join", "16", 2 * ALU + 4 * BRANCH + 2, 9, 0, 1, 0, 2, 2},
        {"goto-join", "32", 2 * ALU + 4 * BRANCH + 1, 8, 1, 0, 1, 2, 2},
        {"goto-join", "0", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 1, 2},
        {"simt-stack", "16", 2 * ALU + 4 * BRANCH + 2, 9, 0, 1, 2, 2, 2},
        {"simt-stack", "32", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 2, 1},
        {"simt-stack", "0", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 1, 2},
        {"min-pc", "16", 2 * ALU + 4 * BRANCH + 2, 9, 0, 1, 2, 2, 2},
        {"min-pc", "32", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 2, 1},
        {"min-pc", "0", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 1, 2},
        {"barrier", "16", 2 * ALU + 4 * BRANCH + 2, 9, 0, 1, 2, 2, 2},
        {"barrier", "32", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 2, 1},
        {"barrier", "0", 2 * ALU + 3 * BRANCH + 1, 7, 0, 0, 2, 1, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_counters c;
        char text[512];
        uint64_t cycles;

        snprintf(text, sizeof text,
                 ".kernel k\n.form goto\n v_get_u32 v0, %%lane\n v_cmp_lt_u32 m0, v0, %s\n"
                 " @!m0 goto other\n v_add_u32 v1, v0, 1\n goto behind\n"
                 "other:\n join\n v_sub_u32 v1, v0, 1\nbehind:\n join\n s_end\n.endkernel\n",
                 rows[i].bound);
        c = run(rows[i].unit, text, 32, &cycles);
        assert_int_equal(cycles, rows[i].cycles);
        assert_int_equal(c.wave_instr, rows[i].instructions);
        assert_int_equal(c.hops, rows[i].hops);
        assert_int_equal(c.divergent_branches, rows[i].divergent);
        assert_int_equal(c.skipped_instr, rows[i].skipped);
        assert_int_equal(c.gotos, rows[i].gotos);
        assert_int_equal(c.joins, rows[i].joins);
    }
}

/*
 * An arm of seven masked moves. Its branch costs the same whether it is taken or not; under predication it never is, and
 * the moves issue.
 */
static void test_predication(void **state)
{
    static const struct {
        const char *unit, *bound;
        uint64_t moves;
    } rows[] = {{"any-branch", "1", 7},
                {"any-branch", "0", 0},
                {"predication", "1", 7},
                {"predication", "0", 7}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_counters c;
        char text[512];
        uint64_t cycles;

        snprintf(text, sizeof text,
                 ".kernel k\n.form predicated\n v_get_u32 v0, %%lane\n v_cmp_lt_u32 m0, v0, %s\n"
                 " s_branch_none m0, behind\n.rept 7\n @m0 v_mov_b32 v\\#, 1\n.endrept\n"
                 "behind:\n s_end\n.endkernel\n",
                 rows[i].bound);
        c = run(rows[i].unit, text, 32, &cycles);
        assert_int_equal(cycles, 2 * ALU + BRANCH + rows[i].moves);
        assert_int_equal(c.wave_instr, 4 + rows[i].moves);
        assert_int_equal(c.skipped_instr, 7 - rows[i].moves);
        assert_int_equal(c.branches_taken, rows[i].moves == 0);
    }
}

/*
 * Lane L goes round L + 1 times, so the wavefront as often as it has lanes, n: each trip is an add, a compare that waits for
 * it, and the branch that waits for that. In front of it lane and counter, behind it one join:
 *   ALU + n (2 ALU + BRANCH) + BRANCH, less where the first add does not wait for the lane
 */
static void test_loop(void **state)
{
    static const char text[] =
        ".kernel k\n.form goto\n v_get_u32 v0, %lane\n v_mov_b32 v1, 0\n"
        "again:\n v_add_u32 v1, v1, 1\n v_cmp_le_u32 m0, v1, v0\n @m0 goto.b again\n"
        " join\n s_end\n.endkernel\n";

    (void)state;
    for (size_t u = 0; cf_units[u]; u++) {
        if (!(cf_units[u]->forms & ISA_FORM_GOTO))
            continue;
        for (uint32_t n = 1; n <= 32; n += 31) {
            uint64_t cycles;
            struct sim_counters c = run(cf_units[u]->name, text, n, &cycles);

            /* v_mov issues in cycle 1 and its result is there in cycle 1 + ALU. */
            assert_int_equal(cycles, 1 + ALU + n * (2 * ALU + BRANCH) + BRANCH);
            assert_int_equal(c.wave_instr, 2 + 3 * n + 2);
            /* Of lanes: n in front of it and at the end, in trip k those that are left; the join sees none awake, or the
             * last. */
            assert_in_range(c.lane_instr, 3 * n + 3 * n * (n + 1) / 2,
                            3 * n + 3 * n * (n + 1) / 2 + n);
            assert_int_equal(c.divergent_branches, n - 1);
        }
    }
}

/* The same in exec form: and, branch. The branch waits for EXEC. */
static void test_exec_loop(void **state)
{
    static const char text[] =
        ".kernel k\n.form exec\n v_get_u32 v0, %lane\n v_mov_b32 v1, 0\n"
        "again:\n v_add_u32 v1, v1, 1\n v_cmp_le_u32 m0, v1, v0\n m_and exec, exec, m0\n"
        " s_branch_any exec, again\n m_mov exec, -1\n s_end\n.endkernel\n";
    uint64_t cycles;
    struct sim_counters c = run("exec-mask", text, 32, &cycles);

    (void)state;
    /* s_end is masked, and so waits for EXEC. */
    assert_int_equal(cycles, 1 + ALU + 32 * (3 * ALU + BRANCH) + ALU);
    assert_int_equal(c.wave_instr, 2 + 4 * 32 + 2);
    assert_int_equal(c.branches, 32);
    assert_int_equal(c.branches_taken, 31);
    assert_int_equal(c.gotos, 0);
}

/* ---- lanes that are lost ---- */

static void expect_fault(const char *unit, const char *body, const char *code, const char *lane,
                         const char *const *words)
{
    for (int values = 0; values < 2; values++) {
        struct krig r;
        char text[1024];

        snprintf(text, sizeof text,
                 ".kernel k\n.form %s\n v_get_u32 v0, %%lane\n v_cmp_lt_u32 m0, v0, 30\n%s"
                 ".endkernel\n",
                 strcmp(unit, "exec-mask") == 0 ? "exec" : "goto", body);
        krig_open(&r, "divergence.unit", unit, NULL);
        sim_set_mode(r.m, values ? SIM_VALUES : SIM_TIMED);
        assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text, .threads = 32}),
                         HD_SIM_FAILED);
        assert_string_equal(r.err.code, code);
        if (!strstr(r.err.place, lane))
            fail_msg("%s is not in %s", lane, r.err.place);
        for (unsigned i = 0; words[i]; i++)
            if (!strstr(r.err.message, words[i]))
                fail_msg("%s is not in: %s", words[i], r.err.message);
        krig_close(&r);
    }
}

/* Lines: the body begins on line 5. */
static void test_lost_lanes(void **state)
{
    (void)state;
    expect_fault("goto-join", " @!m0 goto on\n s_end\non:\n join\n s_end\n", "asleep-at-end",
                 "lane 30 pc 3 ",
                 (const char *[]){"lanes 0xc0000000 sleep", "join at test.hasm:8",
                                  "goto at test.hasm:5", NULL});
    expect_fault("goto-join", " @m0 goto on\n s_jump behind\non:\n join\n s_nop\nbehind:\n s_end\n",
                 "missed-join", "lane 0 pc 3 ",
                 (const char *[]){"lanes 0x3fffffff sleep", "join at test.hasm:8",
                                  "goto at test.hasm:5", NULL});
    /* The goto takes all lanes, and the join in front of the jump does not lead on. */
    expect_fault(
        "goto-join",
        "again:\n v_cmp_lt_u32 m0, v0, 32\n @m0 goto out, mid\nmid:\n join -\n s_jump again\n"
        "out:\n join\n s_end\n",
        "empty-loop", "lane 0 pc 5 ",
        (const char *[]){"lanes 0xffffffff sleep", "join at test.hasm:12", "goto at test.hasm:7",
                         NULL});
    expect_fault("exec-mask", " m_and exec, exec, m0\n s_end\n", "off-at-end", "lane 30 pc 3 ",
                 (const char *[]){"lanes 0xc0000000 are off", NULL});
}

/* Below the run time, which chooses the kernel by its form. */
static void test_forms_that_a_unit_does_not_run(void **state)
{
    static const char *const forms[] = {"predicated", "predicated-all", "goto", "exec"};

    (void)state;
    for (size_t u = 0; cf_units[u]; u++) {
        for (unsigned i = 0; i < 4; i++) {
            bool runs = cf_units[u]->forms >> i & 1;
            struct krig r;
            char text[128];

            snprintf(text, sizeof text, ".kernel k\n.form %s\n s_end\n.endkernel\n", forms[i]);
            krig_open(&r, "divergence.unit", cf_units[u]->name, NULL);
            assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text}),
                             runs ? HD_OK : HD_BAD_INPUT);
            if (!runs) {
                assert_string_equal(r.err.code, "launch-form");
                assert_non_null(strstr(r.err.message, cf_units[u]->name));
            }
            krig_close(&r);
        }
    }
}

/* Lanes may end where others sleep, if a predicate says so: these go on. */
static void test_some_lanes_end(void **state)
{
    static const char text[] =
        ".kernel k\n.form goto\n v_get_u32 v0, %lane\n v_cmp_lt_u32 m0, v0, 30\n"
        " @!m0 goto on\n @m0 s_end\non:\n join\n s_nop\n s_end\n.endkernel\n";

    (void)state;
    for (size_t u = 0; cf_units[u]; u++) {
        uint64_t cycles;

        if (cf_units[u]->forms & ISA_FORM_GOTO)
            assert_int_equal(run(cf_units[u]->name, text, 32, &cycles).wave_instr, 7);
    }
}

/* Groups that wait for what nobody does: found on every unit, whichever of them runs. */
static void test_nobody_makes_progress(void **state)
{
    static const char text[] =
        ".kernel k\n.form goto\n.lds 8\n v_get_u32 v0, %lane\n v_cmp_lt_u32 m0, v0, 16\n"
        " @m0 goto other\n"
        "a:\n local_load_b32 v3, [0]\n v_cmp_eq_u32 m1, v3, 0\n @m1 goto.b a\n join\n goto end\n"
        "other:\n join\n"
        "b:\n local_load_b32 v3, [4]\n v_cmp_eq_u32 m1, v3, 0\n @m1 goto.b b\n join\n"
        "end:\n join\n s_end\n.endkernel\n";

    (void)state;
    for (size_t u = 0; cf_units[u]; u++) {
        for (int values = 0; values < 2 && (cf_units[u]->forms & ISA_FORM_GOTO); values++) {
            struct krig r;

            krig_open(&r, "divergence.unit", cf_units[u]->name, "sim.progress_instructions", "1000",
                      NULL);
            sim_set_mode(r.m, values ? SIM_VALUES : SIM_TIMED);
            assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text, .threads = 32}),
                             HD_SIM_FAILED);
            assert_string_equal(r.err.code, "no-progress");
            assert_non_null(strstr(r.err.message, "lanes 0xffff0000"));
            assert_non_null(strstr(r.err.message, "lanes 0xffff "));
            assert_non_null(strstr(sim_fault_dump(r.m), "lanes 0xffff "));
            krig_close(&r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if_else),
        cmocka_unit_test(test_predication),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_exec_loop),
        cmocka_unit_test(test_lost_lanes),
        cmocka_unit_test(test_forms_that_a_unit_does_not_run),
        cmocka_unit_test(test_some_lanes_end),
        cmocka_unit_test(test_nobody_makes_progress),
    };

    return cmocka_run_group_tests_name("divergence", tests, NULL, NULL);
}
