/* The unit any-branch: one pc, EXEC all ones, scalar branches, barriers and ended lanes. */
#include "tests/cf/unit_rig.h"
#include "sim/base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* What a unit keeps is its own; this is room for it. */
struct room {
    uint64_t words[8];
};

struct wave {
    const struct cf_unit_ops *unit;
    struct room state;
    uint32_t pc;
    uint64_t lanes;
};

static struct wave start(uint32_t pc, unsigned lanes)
{
    struct wave w = {.unit = unit_find("any-branch")};

    assert_non_null(w.unit);
    assert_true(w.unit->size(NULL, 64) <= sizeof w.state);
    w.unit->start(&w.state, pc, bits_low(lanes));
    return w;
}

static enum cf_next pick(struct wave *w)
{
    return w->unit->pick(&w->state, &w->pc, &w->lanes);
}

static struct cf_cost branch(struct wave *w, uint32_t pc, uint32_t target, uint64_t taken)
{
    struct isa_insn insn = {.format = ISA_BRANCH_M, .pc = pc, .target = target};
    struct cf_cost cost = {.divergent = true, .skipped = 99};

    w->unit->step(&w->state, NULL, &insn, w->lanes, taken, &cost);
    return cost;
}

static void test_starts_at_the_kernel(void **state)
{
    struct wave w = start(7, 40);

    (void)state;
    assert_int_equal(pick(&w), CF_GO);
    assert_int_equal(w.pc, 7);
    assert_true(w.lanes == bits_low(40));
}

static void test_branch_goes_one_way_for_all(void **state)
{
    static const struct {
        uint32_t pc, target;
        uint64_t taken;
        uint32_t next, skipped;
    } rows[] = {
        {10, 20, 0, 11, 0},          /* not taken */
        {10, 20, UINT64_MAX, 20, 9}, /* forwards: 11 to 19 are skipped */
        {10, 20, 1, 20, 9},          /* one lane is enough */
        {10, 11, UINT64_MAX, 11, 0}, /* to the next instruction */
        {10, 3, UINT64_MAX, 3, 0},   /* backwards skips nothing */
        {10, 10, UINT64_MAX, 10, 0}, /* to itself */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wave w = start(rows[i].pc, 64);
        struct cf_cost cost = branch(&w, rows[i].pc, rows[i].target, rows[i].taken);

        assert_int_equal(pick(&w), CF_GO);
        assert_int_equal(w.pc, rows[i].next);
        assert_true(w.lanes == UINT64_MAX);
        assert_int_equal(cost.skipped, rows[i].skipped);
        assert_false(cost.divergent);
    }
}

static void test_exec_is_all_ones_and_not_writable(void **state)
{
    struct wave w = start(0, 8);

    (void)state;
    assert_true(w.unit->exec(&w.state) == UINT64_MAX);
    assert_false(w.unit->set_exec(&w.state, 1));
    assert_true(w.unit->exec(&w.state) == UINT64_MAX);
    assert_int_equal(w.unit->forms, ISA_FORM_PREDICATED);
}

static void test_lanes_end_one_after_another(void **state)
{
    struct wave w = start(0, 8);

    (void)state;
    w.unit->lanes(&w.state, 5, 0x0f, CF_ENDED);
    assert_int_equal(pick(&w), CF_GO);
    assert_int_equal(w.pc, 6);
    assert_true(w.lanes == 0xf0);
    w.unit->lanes(&w.state, 9, 0xf0, CF_ENDED);
    assert_int_equal(pick(&w), CF_ALL_ENDED);
}

static void test_barrier_parks_and_releases(void **state)
{
    struct wave w = start(0, 64);
    struct cf_wait sets[CF_MAX_WAITS];

    (void)state;
    w.unit->lanes(&w.state, 4, 0xff, CF_AT_BARRIER);
    assert_int_equal(pick(&w), CF_ALL_PARKED);
    assert_int_equal(w.unit->waits(&w.state, sets), 1);
    assert_int_equal(sets[0].kind, CF_WAIT_BARRIER);
    assert_int_equal(sets[0].at, 4);
    assert_true(sets[0].lanes == 0xff);
    w.unit->lanes(&w.state, 4, UINT64_MAX, CF_RELEASED);
    assert_int_equal(pick(&w), CF_GO);
    assert_int_equal(w.pc, 5);
    assert_true(w.lanes == UINT64_MAX);
}

static void test_a_copy_is_a_snapshot(void **state)
{
    struct wave w = start(0, 64);
    struct wave saved;

    (void)state;
    branch(&w, 3, 30, UINT64_MAX);
    saved = w;
    branch(&w, 30, 2, UINT64_MAX);
    w.unit->lanes(&w.state, 2, UINT64_MAX, CF_ENDED);
    assert_int_equal(pick(&w), CF_ALL_ENDED);
    assert_int_equal(pick(&saved), CF_GO);
    assert_int_equal(saved.pc, 30);
}

static void test_every_unit_is_complete(void **state)
{
    (void)state;
    assert_non_null(cf_units[0]);
    for (size_t i = 0; cf_units[i]; i++) {
        const struct cf_unit_ops *u = cf_units[i];

        assert_true(u->name[0] && u->doc[0] && u->forms);
        assert_true(u->size && u->used && u->start && u->pick && u->step && u->exec);
        assert_true(u->set_exec && u->lanes && u->waits);
        assert_ptr_equal(unit_find(u->name), u);
        assert_string_equal(cf_unit_choices[i].name, u->name);
        assert_string_equal(cf_unit_choices[i].doc, u->doc);
        assert_null(cf_unit_choices[i + 1].name ? NULL : cf_units[i + 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_at_the_kernel),
        cmocka_unit_test(test_branch_goes_one_way_for_all),
        cmocka_unit_test(test_exec_is_all_ones_and_not_writable),
        cmocka_unit_test(test_lanes_end_one_after_another),
        cmocka_unit_test(test_barrier_parks_and_releases),
        cmocka_unit_test(test_a_copy_is_a_snapshot),
        cmocka_unit_test(test_every_unit_is_complete),
    };

    return cmocka_run_group_tests_name("any_branch", tests, NULL, NULL);
}
