/*
 * Random transactional programs under random schedules: tm/ against the model, call by call, with the oracle beside it. Programs have
 * 1 to 4 wavefronts, tiny memories where nearly everything aliases and full-size ones, accesses of 1 to 8 bytes, addresses
 * that depend on loaded values, lanes that sit out, and accesses outside transactions.
 */
#include "tests/soak.h"
#include "tests/tm/model_rig.h"
#include "tests/tm/model_run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 32 }; /* detectors, serialisations, who keeps the token */

static void fill(uint8_t *memory, struct rng *r, unsigned words)
{
    for (unsigned i = 0; i < 4 * words; i++)
        memory[i] = (uint8_t)rng_next(r);
}

static void add_oracle(struct tm_oracle_counts *sum, const struct tm_oracle_counts *c)
{
    sum->commits += c->commits;
    sum->true_conflicts += c->true_conflicts;
    sum->false_conflicts += c->false_conflicts;
    sum->read_read += c->read_read;
    sum->races += c->races;
    sum->unlogged += c->unlogged;
}

/* One program of a cell; everything of it follows from the seed. */
static void run_one(uint64_t seed, enum run_size size, unsigned cell, struct run_counts *counts,
                    struct tm_oracle_counts *seen)
{
    static struct run_program p;
    static struct model m;
    struct run_machine expected = run_model(&m), machine;
    struct model_options o;
    struct rng r;
    char why[256];
    void *rig;

    rng_seed_pair(&r, seed, cell);
    run_options(&o, &r, size, cell % 4, cell / 4 % 4, cell / 16 % 2);
    run_generate(&p, &r, &o, size);
    model_start(&m, &o);
    fill(m.memory, &r, o.words);
    rig = calloc(1, rig_size(&o));
    assert_non_null(rig);
    rig_init(rig, &o, m.memory);
    if (size == RUN_TINY && rng_below(&r, 4) == 0)
        rig_look_deep(rig);
    machine = rig_machine(rig);
    if (!run_all(&p, &r, &machine, &expected, counts, why) || !rig_finish(rig, why)) {
        char oracle[256];

        fail_msg("seed %" PRIu64 " size %d cell %u: %s", seed, (int)size, cell,
                 rig_broken(rig, oracle) ? oracle : why);
    }
    struct tm_oracle_counts c = rig_counts(rig);

    if (o.strong && c.races)
        fail_msg("seed %" PRIu64 " size %d cell %u: races", seed, (int)size, cell);
    add_oracle(seen, &c);
    free(rig);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Programs of a size; shares that the issue of this test is about are printed, and must be reached. */
static void run_size(enum run_size size, uint64_t programs)
{
    uint64_t seed = test_seed(1),
             soaked = test_count(1) > 1 ? 3 : 1; /* ten million in `make soak` */
    struct run_counts c = {0};
    struct tm_oracle_counts seen = {0};

    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < soaked * test_count(programs); i++)
        for (unsigned cell = 0; cell < CELLS; cell++)
            run_one(seed + i, size, cell, &c, &seen);
    print_message("%" PRIu64 " programs, %" PRIu64 " calls; %" PRIu64 " attempts of work-items, "
                  "%.1f %% abort; %" PRIu64 " commits; %" PRIu64 " self-aborts of wavefronts\n",
                  c.programs, c.calls, c.attempts, percent(c.aborted, c.attempts), c.commits,
                  c.self_aborts);
    print_message("%" PRIu64
                  " entries, %.1f %% reach wavefront, %.1f %% work-group serialisation\n",
                  c.entries, percent(c.wavefront_entries, c.entries),
                  percent(c.workgroup_entries, c.entries));
    print_message("conflicts: %" PRIu64 " true, %" PRIu64 " false, %" PRIu64 " read-read; %" PRIu64
                  " races\n",
                  seen.true_conflicts, seen.false_conflicts, seen.read_read, seen.races);
    assert_true(percent(c.aborted, c.attempts) >= 30);
    assert_true(percent(c.wavefront_entries, c.entries) >= 1);
    assert_true(percent(c.workgroup_entries, c.entries) >= 1);
    assert_int_equal(seen.commits, c.commits);
    assert_true(seen.races > 0 || size == RUN_FULL);
    assert_int_equal(seen.unlogged, 0);
}

static void test_tiny(void **state)
{
    (void)state;
    run_size(RUN_TINY, 12);
}

static void test_small(void **state)
{
    (void)state;
    run_size(RUN_SMALL, 4);
}

static void test_full(void **state)
{
    (void)state;
    run_size(RUN_FULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
