/*
 * Random host programs under every combination of scheduler, policies, streams, attachment and costs: each conflicting pair of
 * computations is ordered in time, and nothing is left behind.
 */
#include "sim/base/rng.h"
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATEMENTS = 40, PROGRAMS = 2000 };

static const char *pick(struct rng *rng, const char *const *names, size_t n)
{
    return names[rng_below(rng, n)];
}

#define PICK(rng, ...)                                                                             \
    pick((rng), (const char *const[]){__VA_ARGS__},                                                \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void random_settings(struct rng *rng, struct text *out)
{
    text_add(out, "host.scheduler=%s",
             PICK(rng, "serial-sync", "serial-async", "parallel-async", "parallel-async"));
    text_add(out, " host.dependency=%s", PICK(rng, "with-const", "no-const"));
    text_add(out, " host.new_stream=%s", PICK(rng, "always-new", "fifo", "reuse"));
    text_add(out, " host.parent_stream=%s", PICK(rng, "disjoint", "same-as-parent"));
    text_add(out, " host.max_streams=%s", PICK(rng, "1", "2", "3", "65536"));
    text_add(out, " um.page_faults=%s", PICK(rng, "on", "off"));
    text_add(out, " host.stream_attach=%s", PICK(rng, "on", "off"));
    text_add(out, " host.prefetch=%s", PICK(rng, "on", "off"));
    text_add(out, " host.default_stream=%s", PICK(rng, "legacy", "independent"));
    text_add(out, " host.profile=%s", PICK(rng, "native", "grcuda"));
}

static void random_launch(struct rng *rng, bool by_hand, unsigned number, struct text *out)
{
    uint64_t nargs = rng_below(rng, 5);

    text_add(out, "k%u", number);
    for (uint64_t i = 0; i < nargs; i++)
        text_add(out, " %s=%s", PICK(rng, "a", "b", "c", "d"), PICK(rng, "r", "w"));
    if (by_hand && rng_below(rng, 4) == 0)
        text_add(out, " on %s", PICK(rng, "s1", "s2", "default"));
    text_add(out, " @%u; ", (unsigned)rng_below(rng, 60) + 1);
}

/* Work by hand is ordered by the graph only where there is one. */
static void random_text(struct rng *rng, bool by_hand, struct text *out)
{
    for (unsigned i = 0; i < STATEMENTS; i++) {
        const char *array = PICK(rng, "a", "b", "c", "d");
        uint64_t what = rng_below(rng, 20);

        if (what < 13)
            random_launch(rng, by_hand, i, out);
        else if (what < 16)
            text_add(out, "read %s; ", array);
        else if (what < 18)
            text_add(out, "write %s; ", array);
        else if (what < 19)
            text_add(out, "free %s; ", array);
        else
            text_add(out, "%s; ", by_hand ? PICK(rng, "sync", "sync s1") : "sync");
    }
}

static void random_program(uint64_t seed)
{
    struct text settings = {0}, program = {0};
    struct rng rng;
    struct rig *r;
    bool concurrent;

    rng_seed(&rng, seed);
    random_settings(&rng, &settings);
    r = rig_new(text_str(&settings));
    fake_set_link(r->machine, rng_below(&rng, 3) * 50000);
    fake_set_move(r->machine, rng_below(&rng, 2) * 7000000);
    concurrent = r->rt->scheduler->concurrent;
    random_text(&rng, concurrent && rng_below(&rng, 2), &program);
    rig_run(r, text_str(&program));
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_check_order(r, text_str(&settings));
    assert_true(r->rt->streams.automatic <= r->rt->options.host.max_streams);
    assert_int_equal(r->rt->dag.nlive, 0);
    assert_int_equal(r->rt->dag.bytes, 0);
    assert_int_equal(r->rt->streams.nactive, 0);
    rig_free(r);
    text_free(&settings);
    text_free(&program);
}

static void test_random_programs_are_ordered(void **state)
{
    for (*rig_seed(state) = 1; *rig_seed(state) <= rig_count(PROGRAMS); ++*rig_seed(state))
        random_program(*rig_seed(state));
}

static void test_the_oracle_sees_a_race(void **state)
{
    struct hb_node nodes[3] = {
        {.start_ps = 0, .end_ps = 10, .naccesses = 1, .accesses = {{7, true}}},
        {.start_ps = 5, .end_ps = 20, .naccesses = 1, .accesses = {{8, true}}},
        {.start_ps = 9, .end_ps = 30, .naccesses = 2, .accesses = {{8, false}, {7, false}}},
    };
    size_t a, b;

    (void)state;
    assert_int_equal(hb_violations(nodes, 3, &a, &b), 2);
    nodes[2].start_ps = 10;
    assert_int_equal(hb_violations(nodes, 3, &a, &b), 1);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    nodes[1].accesses[0].write = false;
    assert_int_equal(hb_violations(nodes, 3, &a, &b), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_oracle_sees_a_race),
        cmocka_unit_test_setup_teardown(test_random_programs_are_ordered, rig_seed_setup,
                                        rig_seed_teardown),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
