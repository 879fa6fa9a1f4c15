/* The unit goto-join: who sleeps where after each step, hops, and the mistakes that it finds. */
#include "sim/base/bits.h"
#include "tests/cf/unit_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Listing 1 of the paper on vector control flow, with the JIPs that its figure implies. */
static const char listing[] = ".kernel k\n.form goto\n"
                              " v_cmp_gt_i32.nomask m0, v2, -1\n" /* 0 */
                              " @!m0 goto bb2, bb2\n"             /* 1 */
                              " v_add_u32 v3, v2, 1\n"            /* 2 */
                              " @m0 goto bb4, bb2\n"              /* 3 */
                              "bb2:\n join bb4\n"                 /* 4 */
                              " v_sub_u32 v3, v2, 1\n"            /* 5 */
                              "bb4:\n join\n"                     /* 6 */
                              " s_end\n.endkernel\n";             /* 7 */

struct row {
    uint32_t pc;
    uint64_t exec;
};

static void run_listing(const int32_t *values, uint64_t live, const struct row *rows, unsigned n,
                        unsigned divergent, unsigned hops)
{
    struct unit_rig r;

    unit_rig_open(&r, "goto-join", listing, 8, live);
    for (unsigned lane = 0; lane < 8; lane++)
        *unit_rig_v(&r, 2, lane) = (uint32_t)values[lane];
    assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
    assert_int_equal(r.issued, n);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(r.trace[i].pc, rows[i].pc);
        assert_true(r.trace[i].exec == rows[i].exec);
    }
    for (unsigned lane = 0; lane < 8; lane++)
        assert_int_equal((int32_t)*unit_rig_v(&r, 3, lane),
                         live >> lane & 1 ? values[lane] + (values[lane] > -1 ? 1 : -1) : 0);
    assert_int_equal(r.divergent, divergent);
    assert_int_equal(r.hops, hops);
    unit_rig_close(&r);
}

static void test_listing_1(void **state)
{
    static const int32_t mixed[] = {5, -1, 0, -7, 3, -2, 8, -4}, up[] = {5, 1, 0, 7, 3, 2, 8, 4},
                         down[] = {-5, -1, -9, -7, -3, -2, -8, -4};
    /* EXEC before each instruction; lane 0 is bit 0. Figure 1 crosses out 0, 0, 4, 4, 8, 4, 4 lanes. */
    static const struct row both[] = {{0, 0xff}, {1, 0xff}, {2, 0x55}, {3, 0x55},
                                      {4, 0},    {5, 0xaa}, {6, 0xaa}, {7, 0xff}};
    static const struct row then_only[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0xff},
                                           {4, 0},    {6, 0},    {7, 0xff}};
    static const struct row else_only[] = {{0, 0xff}, {1, 0xff}, {4, 0},
                                           {5, 0xff}, {6, 0xff}, {7, 0xff}};
    static const struct row tail[] = {{0, 0x1f}, {1, 0x1f}, {2, 0x15}, {3, 0x15},
                                      {4, 0},    {5, 0x0a}, {6, 0x0a}, {7, 0x1f}};
    static const struct row tail_then[] = {{0, 0x55}, {1, 0x55}, {2, 0x55}, {3, 0x55},
                                           {4, 0},    {6, 0},    {7, 0x55}};

    (void)state;
    run_listing(mixed, 0xff, both, 8, 1, 0);
    run_listing(up, 0xff, then_only, 7, 0, 1);
    run_listing(down, 0xff, else_only, 6, 0, 0);
    run_listing(mixed, 0x1f, tail, 8, 1, 0);
    run_listing(mixed, 0x55, tail_then, 7, 0, 1);
}

/* ---- steps by hand ---- */

struct wave {
    const struct cf_unit_ops *unit;
    uint64_t room[200];
    uint32_t pc;
    uint64_t awake;
    struct cf_cost cost;
};

static struct wave start(uint64_t live)
{
    struct wave w = {.unit = unit_find("goto-join"), .awake = live};

    assert_true(w.unit->size(NULL, 64) <= sizeof w.room);
    w.unit->start(w.room, 0, live);
    return w;
}

/* Steps with all lanes that are awake; afterwards w->pc and w->awake are the unit's. */
static void step(struct wave *w, enum isa_format format, uint32_t pc, uint32_t target, uint32_t jip,
                 uint64_t taken)
{
    struct isa_insn in = {.format = (uint8_t)format, .pc = pc, .target = target, .jip = jip};

    w->unit->step(w->room, NULL, &in, w->awake, taken, &w->cost);
    assert_int_equal(w->unit->pick(w->room, &w->pc, &w->awake), CF_GO);
    assert_true(w->awake == w->unit->exec(w->room));
}

static void expect(const struct wave *w, uint32_t pc, uint64_t awake)
{
    assert_int_equal(w->cost.trouble, CF_NO_TROUBLE);
    assert_int_equal(w->pc, pc);
    assert_true(w->awake == awake);
}

/* Forward: jumps to JIP only when no lane is left, and then to JIP, not to UIP. */
static void test_forward_goto(void **state)
{
    struct wave w = start(0xff);

    (void)state;
    step(&w, ISA_GOTO, 10, 40, 20, 0);
    expect(&w, 11, 0xff);
    step(&w, ISA_GOTO, 11, 20, 20, 0x0f);
    expect(&w, 12, 0xf0);
    assert_true(w.cost.divergent);
    assert_int_equal(w.cost.skipped, 0);
    step(&w, ISA_GOTO, 12, 40, 20, 0xf0);
    expect(&w, 20, 0);
    assert_false(w.cost.divergent);
    assert_int_equal(w.cost.skipped, 7);
    step(&w, ISA_JOIN, 20, 0, 30, 0);
    expect(&w, 21, 0x0f);
    step(&w, ISA_GOTO, 21, 40, 30, 0x0f);
    expect(&w, 30, 0);
    /* No lane sleeps at 30: it hops. */
    step(&w, ISA_JOIN, 30, 0, 40, 0);
    expect(&w, 40, 0);
    assert_true(w.cost.hop);
    assert_int_equal(w.cost.skipped, 9);
    step(&w, ISA_JOIN, 40, 0, ISA_NO_PC, 0);
    expect(&w, 41, 0xff);
    assert_false(w.cost.hop);
}

/* Backward: goes round if any lane wants to, and the others sleep right behind. */
static void test_backward_goto(void **state)
{
    struct wave w = start(0x7);

    (void)state;
    step(&w, ISA_GOTO_BACK, 9, 5, 10, 0x5);
    expect(&w, 5, 0x5);
    assert_true(w.cost.divergent);
    step(&w, ISA_GOTO_BACK, 9, 5, 10, 0x5);
    expect(&w, 5, 0x5);
    assert_false(w.cost.divergent);
    step(&w, ISA_GOTO_BACK, 9, 5, 10, 0x1);
    expect(&w, 5, 0x1);
    step(&w, ISA_GOTO_BACK, 9, 5, 10, 0);
    expect(&w, 10, 0);
    step(&w, ISA_JOIN, 10, 0, ISA_NO_PC, 0);
    expect(&w, 11, 0x7);
}

/* Who sleeps where, since which goto; the nearest join first. */
static void test_waits(void **state)
{
    struct wave w = start(0xff);
    struct cf_wait sets[CF_MAX_WAITS];

    (void)state;
    step(&w, ISA_GOTO, 1, 50, 20, 0x01);
    step(&w, ISA_GOTO, 2, 20, 20, 0x02);
    step(&w, ISA_GOTO, 3, 50, 20, 0x04);
    step(&w, ISA_GOTO, 4, 30, 20, 0x08);
    /* The same goto again, as in a loop. */
    step(&w, ISA_GOTO, 1, 50, 20, 0x10);
    assert_int_equal(w.unit->waits(w.room, sets), 4);
    assert_int_equal(sets[0].at, 20);
    assert_int_equal(sets[0].from, 2);
    assert_true(sets[0].lanes == 0x02);
    assert_int_equal(sets[1].at, 30);
    for (unsigned i = 2; i < 4; i++) {
        assert_int_equal(sets[i].kind, CF_WAIT_ASLEEP);
        assert_int_equal(sets[i].at, 50);
        assert_true(sets[i].lanes == (sets[i].from == 1 ? 0x11u : 0x04u));
    }
    assert_true(w.awake == 0xe0);
    /* Lanes that end are no longer waited for, awake or asleep. */
    w.unit->lanes(w.room, 5, 0x2a, CF_ENDED);
    assert_int_equal(w.unit->waits(w.room, sets), 2);
    assert_int_equal(w.unit->pick(w.room, &w.pc, &w.awake), CF_GO);
    assert_int_equal(w.pc, 6);
    assert_true(w.awake == 0xc0);
}

/* Every lane may sleep by itself. */
static void test_as_many_sets_as_lanes(void **state)
{
    struct wave w = start(UINT64_MAX);
    struct cf_wait sets[CF_MAX_WAITS];

    (void)state;
    for (uint32_t lane = 0; lane < 64; lane++)
        step(&w, ISA_GOTO, lane, 100 + lane * 37 % 64, 100, UINT64_C(1) << lane);
    expect(&w, 100, 0);
    assert_int_equal(w.unit->waits(w.room, sets), 64);
    for (unsigned i = 1; i < 64; i++)
        assert_true(sets[i].at > sets[i - 1].at);
    for (uint32_t i = 0; i < 64; i++)
        step(&w, ISA_JOIN, 100 + i, 0, 101 + i, 0);
    expect(&w, 164, UINT64_MAX);
}

static void expect_trouble(const struct wave *w, enum cf_trouble trouble, uint32_t at,
                           uint32_t from, uint64_t lanes)
{
    assert_int_equal(w->cost.trouble, trouble);
    assert_int_equal(w->cost.who.at, at);
    assert_int_equal(w->cost.who.from, from);
    assert_true(w->cost.who.lanes == lanes);
}

/* Control must not pass a join at which lanes sleep: by a branch, a JIP, or a hop. */
static void test_missed_join(void **state)
{
    struct wave w = start(0xff), saved;

    (void)state;
    step(&w, ISA_GOTO, 3, 20, 20, 0x0c);
    saved = w;
    step(&w, ISA_JUMP, 5, 20, 0, UINT64_MAX);
    expect(&w, 20, 0xf3);
    w = saved;
    step(&w, ISA_JUMP, 5, 21, 0, UINT64_MAX);
    expect_trouble(&w, CF_MISSED_JOIN, 20, 3, 0x0c);
    w = saved;
    step(&w, ISA_BRANCH_S, 5, 21, 0, 0);
    expect(&w, 6, 0xf3);
    w = saved;
    step(&w, ISA_GOTO, 6, 40, 30, 0xf3);
    expect_trouble(&w, CF_MISSED_JOIN, 20, 3, 0x0c);
    w = saved;
    step(&w, ISA_GOTO, 6, 40, 10, 0xf3);
    expect(&w, 10, 0);
    step(&w, ISA_JOIN, 10, 0, 40, 0);
    expect_trouble(&w, CF_MISSED_JOIN, 20, 3, 0x0c);
}

/* Backwards with no lane awake would never end. */
static void test_empty_loop(void **state)
{
    struct wave w = start(0x3);

    (void)state;
    step(&w, ISA_GOTO, 3, 20, 10, 0x3);
    expect(&w, 10, 0);
    step(&w, ISA_JUMP, 12, 5, 0, UINT64_MAX);
    expect_trouble(&w, CF_EMPTY_LOOP, 20, 3, 0x3);
    /* Forwards it is harmless. */
    w.cost.trouble = CF_NO_TROUBLE;
    step(&w, ISA_JUMP, 12, 15, 0, UINT64_MAX);
    expect(&w, 15, 0);
}

/* Lanes may be awake and all off, as those are that a transaction has aborted. */
static void test_loop_of_lanes_that_are_off(void **state)
{
    const struct isa_insn in = {.format = ISA_JUMP, .pc = 12, .target = 5};
    struct wave w = start(0x3);

    (void)state;
    w.unit->step(w.room, NULL, &in, 0, UINT64_MAX, &w.cost);
    assert_int_equal(w.unit->pick(w.room, &w.pc, &w.awake), CF_GO);
    expect(&w, 5, 0x3);
}

static void test_barrier(void **state)
{
    struct wave w = start(0x3);
    struct cf_wait sets[CF_MAX_WAITS];

    (void)state;
    step(&w, ISA_GOTO, 3, 20, 10, 0x1);
    w.unit->lanes(w.room, 7, 0x2, CF_AT_BARRIER);
    assert_int_equal(w.unit->pick(w.room, &w.pc, &w.awake), CF_ALL_PARKED);
    assert_int_equal(w.unit->waits(w.room, sets), 2);
    assert_int_equal(sets[0].kind, CF_WAIT_BARRIER);
    assert_int_equal(sets[0].at, 7);
    assert_true(sets[0].lanes == 0x2);
    w.unit->lanes(w.room, 7, 0x3, CF_RELEASED);
    assert_int_equal(w.unit->pick(w.room, &w.pc, &w.awake), CF_GO);
    expect(&w, 8, 0x2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listing_1),
        cmocka_unit_test(test_forward_goto),
        cmocka_unit_test(test_backward_goto),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_as_many_sets_as_lanes),
        cmocka_unit_test(test_missed_join),
        cmocka_unit_test(test_empty_loop),
        cmocka_unit_test(test_loop_of_lanes_that_are_off),
        cmocka_unit_test(test_barrier),
    };

    return cmocka_run_group_tests_name("goto_join", tests, NULL, NULL);
}
