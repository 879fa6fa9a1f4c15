/* The units that run lanes in groups: which group runs when, where they meet, and who waits. */
#include "sim/base/bits.h"
#include "tests/cf/unit_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const units[] = {"simt-stack", "min-pc", "barrier"};
enum { UNITS = sizeof units / sizeof *units };

struct row {
    uint32_t pc;
    uint64_t exec;
};

static void expect_rows(const struct unit_rig *r, const struct row *rows, unsigned n)
{
    for (unsigned i = 0; i < n && i < r->issued; i++)
        if (r->trace[i].pc != rows[i].pc || r->trace[i].exec != rows[i].exec)
            fail_msg("%s: step %u is pc %u with 0x%llx, not pc %u with 0x%llx", r->unit->name, i,
                     r->trace[i].pc, (unsigned long long)r->trace[i].exec, rows[i].pc,
                     (unsigned long long)rows[i].exec);
    assert_int_equal(r->issued, n);
}

/* A kernel whose lanes start with v2 = their number; ends. */
static void run(struct unit_rig *r, const char *unit, const char *text, uint64_t live)
{
    unit_rig_open(r, unit, text, 8, live);
    for (unsigned lane = 0; lane < 8; lane++)
        *unit_rig_v(r, 2, lane) = lane;
    assert_int_equal(unit_rig_run(r), CF_ALL_ENDED);
}

#define ROWS(r, rows) expect_rows(r, rows, sizeof(rows) / sizeof *(rows))

/* ---- Listing 1 ---- */

static const char listing[] = ".kernel k\n.form goto\n"
                              " v_cmp_gt_i32.nomask m0, v2, -1\n" /* 0 */
                              " @!m0 goto bb2, bb2\n"             /* 1 */
                              " v_add_u32 v3, v2, 1\n"            /* 2 */
                              " @m0 goto bb4, bb2\n"              /* 3 */
                              "bb2:\n join bb4\n"                 /* 4 */
                              " v_sub_u32 v3, v2, 1\n"            /* 5 */
                              "bb4:\n join\n"                     /* 6 */
                              " s_end\n.endkernel\n";             /* 7 */

static void test_listing_1(void **state)
{
    static const int32_t values[3][8] = {
        {5, -1, 0, -7, 3, -2, 8, -4}, {5, 1, 0, 7, 3, 2, 8, 4}, {-5, -1, -9, -7, -3, -2, -8, -4}};
    /* No join of its own wakes anybody: the then-arm goes to bb4 at once, the else-arm comes from bb2. */
    static const struct row mixed[] = {{0, 0xff}, {1, 0xff}, {2, 0x55}, {3, 0x55},
                                       {4, 0xaa}, {5, 0xaa}, {6, 0xaa}, {7, 0xff}};
    static const struct row up[] = {{0, 0xff}, {1, 0xff}, {2, 0xff},
                                    {3, 0xff}, {6, 0xff}, {7, 0xff}};
    static const struct row down[] = {{0, 0xff}, {1, 0xff}, {4, 0xff},
                                      {5, 0xff}, {6, 0xff}, {7, 0xff}};

    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        for (unsigned i = 0; i < 3; i++) {
            struct unit_rig r;

            unit_rig_open(&r, units[u], listing, 8, 0xff);
            for (unsigned lane = 0; lane < 8; lane++)
                *unit_rig_v(&r, 2, lane) = (uint32_t)values[i][lane];
            assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
            for (unsigned lane = 0; lane < 8; lane++)
                assert_int_equal((int32_t)*unit_rig_v(&r, 3, lane),
                                 values[i][lane] + (values[i][lane] > -1 ? 1 : -1));
            if (i == 0)
                ROWS(&r, mixed);
            else if (i == 1)
                ROWS(&r, up);
            else
                ROWS(&r, down);
            assert_int_equal(r.divergent, i == 0);
            unit_rig_close(&r);
        }
    }
}

/* ---- loops ---- */

/* Lane L goes round L + 1 times; those that are done wait behind the loop. */
static void test_loop(void **state)
{
    static const char text[] = ".kernel k\n.form goto\n"
                               "again:\n v_add_u32 v3, v3, 1\n"
                               " v_cmp_le_u32 m0, v3, v2\n"
                               " @m0 goto.b again\n"
                               " join\n"
                               " v_add_u32 v4, v3, 1\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;

        run(&r, units[u], text, 0xff);
        for (unsigned lane = 0; lane < 8; lane++)
            assert_int_equal(*unit_rig_v(&r, 4, lane), lane + 2);
        for (unsigned trip = 0; trip < 8; trip++) {
            assert_int_equal(r.trace[3 * trip].pc, 0);
            assert_true(r.trace[3 * trip].exec == (0xffu << trip & 0xff));
        }
        /* Behind it all lanes are one group. */
        assert_int_equal(r.trace[25].pc, 4);
        assert_true(r.trace[25].exec == 0xff);
        assert_int_equal(r.issued, 27);
        /* The group in the loop and the one that waits, however often lanes leave: the state is that of two groups. */
        if (strcmp(units[u], "barrier") != 0)
            assert_int_equal(r.most_used, 24 + 2 * 16 - (strcmp(units[u], "min-pc") == 0 ? 8 : 0));
        unit_rig_close(&r);
    }
}

/*
 * Lanes leave from inside of an if to a place behind its end, as a continue does: 0 to 3 enter the if, 0 and 1 leave. What
 * post-dominates the first goto is `out` alone. Units that meet there run the code at `end` once for 2 and 3 and
 * once for 4 to 7; that of the lowest pc runs it once.
 */
static const char leaves[] = ".kernel k\n.form goto\n"
                             " v_cmp_ge_u32 m0, v2, 4\n" /* 0 */
                             " v_cmp_lt_u32 m1, v2, 2\n" /* 1 */
                             " @m0 goto end\n"           /* 2 */
                             " @m1 goto out\n"           /* 3 */
                             " v_add_u32 v3, v3, 1\n"    /* 4 */
                             "end:\n join\n"             /* 5 */
                             " v_add_u32 v3, v3, 10\n"   /* 6 */
                             "out:\n join\n"             /* 7 */
                             " v_add_u32 v3, v3, 100\n"  /* 8 */
                             " s_end\n.endkernel\n";     /* 9 */

static void test_unstructured(void **state)
{
    static const struct row stack[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0x0f}, {4, 0x0c},
                                       {5, 0x0c}, {6, 0x0c}, {7, 0x0c}, {5, 0xf0}, {6, 0xf0},
                                       {7, 0xf0}, {8, 0xff}, {9, 0xff}};
    static const struct row lowest[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0x0f}, {4, 0x0c},
                                        {5, 0x0c}, {6, 0xfc}, {7, 0xfc}, {8, 0xff}, {9, 0xff}};

    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;

        run(&r, units[u], leaves, 0xff);
        for (unsigned lane = 0; lane < 8; lane++)
            assert_int_equal(*unit_rig_v(&r, 3, lane), lane < 2 ? 100 : lane < 4 ? 111 : 110);
        if (strcmp(units[u], "min-pc") == 0)
            ROWS(&r, lowest);
        else
            ROWS(&r, stack);
        unit_rig_close(&r);
    }
}

/* Lane after lane leaves a chain of gotos, so that there are as many groups as lanes. */
static void test_as_many_groups_as_lanes(void **state)
{
    static char text[16384];
    size_t len = (size_t)snprintf(text, sizeof text, ".kernel k\n.form goto\n");

    (void)state;
    for (unsigned lane = 0; lane < 64; lane++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                " v_cmp_eq_u32 m0, v2, %u\n @m0 goto l%u\n v_add_u32 v3, v3, 1\n",
                                lane, lane);
    for (unsigned lane = 64; lane-- > 0;)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "l%u:\n join\n v_add_u32 v4, v4, 1\n", lane);
    snprintf(text + len, sizeof text - len, " s_end\n.endkernel\n");
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;

        unit_rig_open(&r, units[u], text, 64, UINT64_MAX);
        for (unsigned lane = 0; lane < 64; lane++)
            *unit_rig_v(&r, 2, lane) = lane;
        assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
        for (unsigned lane = 0; lane < 64; lane++) {
            assert_int_equal(*unit_rig_v(&r, 3, lane), lane);
            assert_int_equal(*unit_rig_v(&r, 4, lane), lane + 1);
        }
        assert_int_equal(r.divergent, 63);
        unit_rig_close(&r);
    }
}

/* ---- ends ---- */

/* Lanes that end are not waited for, wherever the others are. */
static void test_lanes_end_apart(void **state)
{
    static const char text[] = ".kernel k\n.form goto\n"
                               " v_cmp_ge_u32 m0, v2, 4\n v_cmp_eq_u32 m1, v2, 1\n"
                               " @m0 goto other\n @m1 s_end\n v_mov_b32 v3, 1\n goto behind\n"
                               "other:\n join\n s_end\n"
                               "behind:\n join\n v_add_u32 v3, v3, 1\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;

        run(&r, units[u], text, 0x7f);
        for (unsigned lane = 0; lane < 8; lane++)
            assert_int_equal(*unit_rig_v(&r, 3, lane), lane < 4 && lane != 1 ? 2 : 0);
        unit_rig_close(&r);
    }
}

/* ---- barriers ---- */

static void expect_wait(const struct cf_wait *w, enum cf_wait_kind kind, uint32_t at, uint64_t lanes)
{
    assert_int_equal(w->kind, kind);
    assert_int_equal(w->at, at);
    assert_true(w->lanes == lanes);
}

static const char both_sides[] = ".kernel k\n.form goto\n"
                                 " v_cmp_ge_u32 m0, v2, 4\n" /* 0 */
                                 " @m0 goto other\n"         /* 1 */
                                 " s_barrier\n"              /* 2 */
                                 " goto behind\n"            /* 3 */
                                 "other:\n join\n"           /* 4 */
                                 " s_barrier\n"              /* 5 */
                                 "behind:\n join\n"          /* 6 */
                                 " v_mov_b32 v3, 1\n"        /* 7 */
                                 " s_end\n.endkernel\n";

/* A wavefront arrives when each live lane has; the stack never lets the others come. */
static void test_barrier_on_both_sides(void **state)
{
    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;
        struct cf_wait sets[CF_MAX_WAITS];

        unit_rig_open(&r, units[u], both_sides, 8, 0x7f);
        for (unsigned lane = 0; lane < 8; lane++)
            *unit_rig_v(&r, 2, lane) = lane;
        if (strcmp(units[u], "simt-stack") == 0) {
            assert_int_equal(unit_rig_run(&r), CF_DEADLOCK);
            assert_int_equal(r.unit->waits(r.state, sets), 2);
            expect_wait(&sets[0], CF_WAIT_BARRIER, 2, 0x0f);
            expect_wait(&sets[1], CF_WAIT_TURN, 4, 0x70);
        } else {
            assert_int_equal(unit_rig_run(&r), CF_ALL_PARKED);
            assert_int_equal(r.unit->waits(r.state, sets), 2);
            expect_wait(&sets[0], CF_WAIT_BARRIER, 2, 0x0f);
            expect_wait(&sets[1], CF_WAIT_BARRIER, 5, 0x70);
            unit_rig_release(&r);
            assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
            assert_int_equal(*unit_rig_v(&r, 3, 0), 1);
            assert_int_equal(*unit_rig_v(&r, 3, 6), 1);
        }
        unit_rig_close(&r);
    }
}

/* On one side alone: under min-pc the others go on to their end, the other two units report it. */
static void test_barrier_on_one_side(void **state)
{
    static const char text[] = ".kernel k\n.form goto\n"
                               " v_cmp_ge_u32 m0, v2, 4\n @m0 goto behind\n s_barrier\n"
                               "behind:\n join\n v_add_u32 v3, v3, 1\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;
        struct cf_wait sets[CF_MAX_WAITS];

        unit_rig_open(&r, units[u], text, 8, 0xff);
        for (unsigned lane = 0; lane < 8; lane++)
            *unit_rig_v(&r, 2, lane) = lane;
        if (strcmp(units[u], "min-pc") == 0) {
            assert_int_equal(unit_rig_run(&r), CF_ALL_PARKED);
            assert_true(r.w.live == 0x0f);
            unit_rig_release(&r);
            assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
            for (unsigned lane = 0; lane < 8; lane++)
                assert_int_equal(*unit_rig_v(&r, 3, lane), 1);
        } else {
            assert_int_equal(unit_rig_run(&r), CF_DEADLOCK);
            assert_int_equal(r.unit->waits(r.state, sets), 2);
            for (unsigned i = 0; i < 2; i++)
                if (sets[i].kind == CF_WAIT_BARRIER)
                    expect_wait(&sets[i], CF_WAIT_BARRIER, 2, 0x0f);
                else
                    expect_wait(&sets[i], CF_WAIT_MEETING, 3, 0xf0);
        }
        unit_rig_close(&r);
    }
}

/* ---- spinning ---- */

/*
 * Lane 0 leaves a loop that waits for memory (which no load changes here). It runs on between the trips of the
 * others under barrier, and never again under the others.
 */
static const char spin[] = ".kernel k\n.form goto\n.lds 8\n"
                           " v_cmp_ne_u32 m0, v2, 0\n"                      /* 0 */
                           "again:\n local_atomic_or_b32_rtn v4, [0], v2\n" /* 1 */
                           " v_add_u32 v5, v5, 1\n"                         /* 2 */
                           " v_cmp_lt_u32 m1, v5, 100\n"                    /* 3 */
                           " m_and m1, m1, m0\n"                            /* 4 */
                           " @m1 goto.b again\n"                            /* 5 */
                           " join\n"                                        /* 6 */
                           " v_mov_b32 v3, 1\n"                             /* 7 */
                           " s_end\n.endkernel\n";

static void test_who_runs_beside_a_spinning_group(void **state)
{
    (void)state;
    for (unsigned u = 0; u < UNITS; u++) {
        struct unit_rig r;
        unsigned left = 0;

        run(&r, units[u], spin, 0xff);
        while (r.trace[left].pc != 7)
            left++;
        if (strcmp(units[u], "barrier") == 0) {
            /* One trip of all, then lane 0 alone. */
            assert_int_equal(left, 1 + 5 + 1);
            assert_true(r.trace[left].exec == 1);
        } else {
            assert_int_equal(left, 1 + 100 * 5 + 1);
            assert_true(r.trace[left].exec == 0xff);
        }
        unit_rig_close(&r);
    }
}

/* A group that spins is asked first, and lets the others run behind its first trip, if it reads memory. */
static void test_changes_between_trips(void **state)
{
    static const char *const reads[] = {" local_load_b32 v4, [0]\n", " s_nop\n"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct unit_rig r;
        unsigned other = 0;
        char text[512];

        snprintf(text, sizeof text,
                 ".kernel k\n.form goto\n.lds 8\n v_cmp_eq_u32 m0, v2, 0\n @m0 goto other\n"
                 "again:\n%s v_add_u32 v5, v5, 1\n v_cmp_lt_u32 m1, v5, 100\n @m1 goto.b again\n"
                 " join\n goto behind\nother:\n join\n v_mov_b32 v3, 1\nbehind:\n join\n"
                 " s_end\n.endkernel\n",
                 reads[i]);
        run(&r, "barrier", text, 0xff);
        while (r.trace[other].pc != 9)
            other++;
        assert_int_equal(other, 2 + (i ? 100 * 4 + 2 : 4) + 1);
        assert_true(r.trace[r.issued - 1].exec == 0xff);
        unit_rig_close(&r);
    }
}

/* Inside of an if he who left waits at its end, where he must wait anyhow. */
static void test_meeting_around_a_spin(void **state)
{
    static const char text[] =
        ".kernel k\n.form goto\n.lds 8\n"
        " v_cmp_eq_u32 m3, v2, 7\n v_cmp_ne_u32 m0, v2, 0\n @m3 goto behind\n"
        "again:\n local_atomic_or_b32_rtn v4, [0], v2\n v_add_u32 v5, v5, 1\n"
        " v_cmp_lt_u32 m1, v5, 100\n m_and m1, m1, m0\n @m1 goto.b again\n"
        " join\n v_mov_b32 v3, 1\n"
        "behind:\n join\n s_ballot s[2:3], m0\n s_end\n.endkernel\n";
    struct unit_rig r;

    (void)state;
    run(&r, "barrier", text, 0xff);
    /* What looks at all lanes is allowed there, and sees them all. */
    assert_true(r.trace[r.issued - 2].exec == 0xff);
    assert_int_equal(r.w.s[2], 0xfe);
    unit_rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listing_1),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_unstructured),
        cmocka_unit_test(test_as_many_groups_as_lanes),
        cmocka_unit_test(test_lanes_end_apart),
        cmocka_unit_test(test_barrier_on_both_sides),
        cmocka_unit_test(test_barrier_on_one_side),
        cmocka_unit_test(test_who_runs_beside_a_spinning_group),
        cmocka_unit_test(test_changes_between_trips),
        cmocka_unit_test(test_meeting_around_a_spin),
    };

    return cmocka_run_group_tests_name("group_units", tests, NULL, NULL);
}
