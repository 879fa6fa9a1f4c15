/* Mistakes put in on purpose are caught by the random programs. */
#include "tests/cf_programs/mutants.h"
#include "tests/cf_programs/sample.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_MUTANTS = 64, MOST_PROGRAMS = 100, MOST_INSTRUCTIONS = 100000 };

/* The first program that the mutant runs otherwise than the reference, from 1 on; 0: none. */
static unsigned first_caught(struct cfp_rig *rig, const struct mutant *m,
                             struct cfp_expected *expected, char why[256])
{
    struct cfp_program p;

    for (unsigned i = 0; i < MOST_PROGRAMS; i++) {
        struct cfp_run run = {&p,         expected,         m->way, cfp_widths[i % CFP_WIDTHS],
                              m->rewrite, MOST_INSTRUCTIONS};
        enum cfp_outcome outcome;

        if (!sample_program(1 + i, &p, expected))
            continue;
        outcome = cfp_run(rig, &run, why);
        if (outcome == CFP_DIFFERS || outcome == CFP_FAULT)
            return i + 1;
    }
    return 0;
}

static void test_mutants_are_caught(void **state)
{
    static struct mutant list[MOST_MUTANTS];
    struct cfp_rig *rig = cfp_rig_new();
    struct cfp_expected *expected = malloc(sizeof *expected);
    unsigned n = mutants_list(list, MOST_MUTANTS), alive = 0;

    (void)state;
    assert_true(rig && expected && n > 0 && n < MOST_MUTANTS);
    for (unsigned i = 0; i < n; i++) {
        char why[256] = "";
        unsigned caught = first_caught(rig, &list[i], expected, why);

        print_message("%-62s %4u  %s\n", list[i].what, caught, caught ? why : "NOT CAUGHT");
        alive += caught == 0;
    }
    free(expected);
    cfp_rig_free(rig);
    assert_int_equal(alive, 0);
}

static unsigned count_nodes(const struct cfp_program *p, int16_t i)
{
    unsigned n = 0;

    for (; i != CFP_NONE; i = p->node[i].next)
        n += 1 + count_nodes(p, p->node[i].body) + count_nodes(p, p->node[i].orelse);
    return n;
}

/* What shows that a branch back must be taken if any lane wants to is one loop. */
static void test_failing_programs_become_small(void **state)
{
    static const char mutant[] = "goto-join: back only if all lanes agree";
    struct cfp_rig *rig = cfp_rig_new();
    struct cfp_expected *expected = malloc(sizeof *expected);
    struct cfp_program p, small;
    struct cfp_run run = {&p, expected, {mutant, CFP_GOTO}, 32, NULL, MOST_INSTRUCTIONS};
    unsigned failing = 0;
    char why[256];

    (void)state;
    assert_true(rig && expected);
    for (unsigned seed = 1; failing < 5; seed++) {
        enum cfp_outcome outcome;

        if (!sample_program(seed, &p, expected))
            continue;
        outcome = cfp_run(rig, &run, why);
        if (outcome == CFP_SAME)
            continue;
        failing++;
        assert_true(count_nodes(&p, p.first) > 3);
        sample_shrink(rig, &run, outcome, &small, why);
        assert_true(cfp_has(&small, CFP_DO));
        assert_true(count_nodes(&small, small.first) <= 3);
    }
    free(expected);
    cfp_rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutants_are_caught),
        cmocka_unit_test(test_failing_programs_become_small),
    };

    mutants_make();
    return cmocka_run_group_tests_name("mutants", tests, NULL, NULL);
}
