/*
 * Random host programs under every combination of scheduler, dependency, streams, prefetch, attachment, faults and limits: the same
 * bytes as calls one after the other, and an order for each conflicting pair that no chance of times gave. A failure is shrunk.
 */
#include "tests/rt/programs.h"
#include "tests/rt/rig.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>

enum { PROGRAMS = 100, WHOLE = 2, STATEMENTS = 30 };

static void fail_small(uint64_t seed, struct program p, const struct combination *c)
{
    struct text wrong = {0}, program = {0}, settings = {0};

    program_shrink(&p, c, false);
    program_run(&p, c, false, &wrong);
    program_describe(&p, &program);
    combination_describe(c, &settings);
    fail_msg("HEDDLE_SEED=%" PRIu64 ": %s\n  %s\n  %s", seed, text_str(&wrong), text_str(&program),
             text_str(&settings));
}

static void check(uint64_t seed, const struct program *p, size_t number)
{
    struct combination c = combination(number);
    struct text wrong = {0};

    program_run(p, &c, false, &wrong);
    if (wrong.len)
        fail_small(seed, *p, &c);
    text_free(&wrong);
}

/*
 * In a soak every program runs under every combination. Otherwise the first few do, and the others share the
 * combinations among them.
 */
static void test_every_combination(void **state)
{
    uint64_t first = test_seed(1), count = test_count(PROGRAMS);
    bool soak = count > PROGRAMS;

    for (*rig_seed(state) = first; *rig_seed(state) < first + count; ++*rig_seed(state)) {
        uint64_t seed = *rig_seed(state);
        bool whole = soak || seed < first + WHOLE;
        struct program p;

        program_random(seed, STATEMENTS, &p);
        for (size_t i = whole ? 0 : seed % PROGRAMS; i < combinations(); i += whole ? 1 : PROGRAMS)
            check(seed, &p, i);
    }
}

/* Without the waits between streams something must be seen to be wrong, and a few statements show it. */
static void test_dropped_waits_are_seen(void **state)
{
    struct combination c = combination(0);
    unsigned seen = 0;

    (void)state;
    c.scheduler = 2;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct text wrong = {0}, again = {0};
        struct program p;

        program_random(seed, STATEMENTS, &p);
        program_run(&p, &c, true, &wrong);
        if (wrong.len) {
            seen++;
            program_shrink(&p, &c, true);
            program_run(&p, &c, true, &again);
            assert_true(again.len > 0);
            assert_true(p.n <= 6);
        }
        text_free(&wrong);
        text_free(&again);
    }
    assert_true(seen > 20);
}

static void test_combinations_are_all_there(void **state)
{
    struct text first = {0}, last = {0};
    struct combination c;

    (void)state;
    /* scheduler, dependency, new and parent stream, default stream, limits, and three switches. */
    assert_int_equal(combinations(), 3 * 2 * 3 * 2 * 2 * 4 * 8);
    c = combination(0);
    combination_describe(&c, &first);
    c = combination(combinations() - 1);
    combination_describe(&c, &last);
    assert_string_equal(
        text_str(&first),
        "host.scheduler=serial-sync host.dependency=with-const host.new_stream=always-new "
        "host.parent_stream=disjoint host.default_stream=legacy host.max_streams=65536 "
        "host.prefetch=off host.stream_attach=off um.page_faults=off");
    assert_string_equal(
        text_str(&last),
        "host.scheduler=parallel-async host.dependency=no-const host.new_stream=reuse "
        "host.parent_stream=same-as-parent host.default_stream=independent "
        "host.max_streams=3 host.prefetch=on host.stream_attach=on um.page_faults=on");
    text_free(&first);
    text_free(&last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combinations_are_all_there),
        cmocka_unit_test(test_dropped_waits_are_seen),
        cmocka_unit_test_setup_teardown(test_every_combination, rig_seed_setup, rig_seed_teardown),
    };

    return cmocka_run_group_tests_name("combinations", tests, NULL, NULL);
}
