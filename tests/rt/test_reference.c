/* Edges, streams, waits and syncs of random programs and of the benchmarks, against the rules by their letter (reference.h). */
#include "tests/rt/reference.h"

#include "sim/base/rng.h"
#include "tests/rt/benchmarks.h"
#include "tests/rt/rig.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

enum { PROGRAMS = 1000, STATEMENTS = 40 };

static const char *settings_of(const struct reference_rules *rules, char *out, size_t size)
{
    snprintf(out, size,
             "um.page_faults=on host.prefetch=off host.dependency=%s host.parent_stream=%s "
             "host.new_stream=%s host.max_streams=%u",
             rules->with_const ? "with-const" : "no-const",
             rules->disjoint ? "disjoint" : "same-as-parent", rules->reuse ? "reuse" : "always-new",
             rules->max_streams);
    return out;
}

static void compare(const struct reference_rules *rules, const char *program)
{
    struct text edges = {0}, schedule = {0};
    char settings[256];
    struct rig *r = rig_new(settings_of(rules, settings, sizeof settings));

    rig_run(r, program);
    reference_run(rules, program, &edges, &schedule);
    if (strcmp(text_str(&r->edge_text), text_str(&edges)) != 0 ||
        strcmp(text_str(&r->schedule), text_str(&schedule)) != 0)
        fail_msg("%s\n%s\n  edges    %s\n  not      %s\n  schedule %s\n  not      %s", settings,
                 program, text_str(&r->edge_text), text_str(&edges), text_str(&r->schedule),
                 text_str(&schedule));
    text_free(&edges);
    text_free(&schedule);
    rig_free(r);
}

static struct reference_rules rules_number(unsigned i)
{
    static const unsigned limits[] = {65536, 2, 3};

    return (struct reference_rules){i & 1, i >> 1 & 1, i >> 2 & 1, limits[i / 8 % 3]};
}

static void test_the_benchmarks(void **state)
{
    (void)state;
    for (size_t i = 0; i < nbenchmarks; i++) {
        for (unsigned k = 0; k < 24; k++) {
            struct reference_rules rules = rules_number(k);

            compare(&rules, benchmarks[i].program);
        }
    }
}

static void random_launch(struct rng *rng, unsigned number, struct text *out)
{
    uint64_t nargs = rng_below(rng, 5);

    text_add(out, "k%u", number);
    for (uint64_t i = 0; i < nargs; i++)
        text_add(out, " %c=%c", 'a' + (int)rng_below(rng, 5), rng_below(rng, 2) ? 'w' : 'r');
    text_add(out, "; ");
}

static void random_program(uint64_t seed, struct text *out)
{
    struct rng rng;

    rng_seed(&rng, seed);
    for (unsigned i = 0; i < STATEMENTS; i++) {
        uint64_t what = rng_below(&rng, 20);

        if (what < 15)
            random_launch(&rng, i, out);
        else if (what < 19)
            text_add(out, "%s %c; ", what < 17 ? "read" : "write", 'a' + (int)rng_below(&rng, 5));
        else
            text_add(out, "sync; ");
    }
}

static void test_random_programs(void **state)
{
    uint64_t first = test_seed(1), count = test_count(PROGRAMS);

    for (*rig_seed(state) = first; *rig_seed(state) < first + count; ++*rig_seed(state)) {
        struct reference_rules rules = rules_number((unsigned)(*rig_seed(state) % 24));
        struct text program = {0};

        random_program(*rig_seed(state), &program);
        compare(&rules, text_str(&program));
        text_free(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_benchmarks),
        cmocka_unit_test_setup_teardown(test_random_programs, rig_seed_setup, rig_seed_teardown),
    };

    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
