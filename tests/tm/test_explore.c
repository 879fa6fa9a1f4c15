/*
 * The small model: 2 wavefronts of 2 lanes, 2 words in 2 banks. Every program of at most three accesses on every schedule, and larger ones
 * at random; states that meet are one. They end as the whole transactions do in some order.
 */
#include "tests/soak.h"
#include "tests/tm/model_paths.h"
#include "tests/tm/model_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * An access: load or store, and of each lane A, B or none: 2 * 8 that touch something. With a third word in A's bank, which shares its
 * filter bit, aliasing would need 8 rows more; the words here are A, B, and A's alias, 8 rows on.
 */
enum { WORDS = 20, PLACES = 4, KINDS = 2, ACCESSES = KINDS * (PLACES * PLACES - 1) };

static const uint16_t place[PLACES] = {0, 0, 1, 16}; /* the first is none */

static void access_of(struct run_op *op, unsigned number)
{
    unsigned lanes = 1 + number / KINDS;

    memset(op, 0, sizeof *op);
    op->kind = number % KINDS ? RUN_STORE : RUN_LOAD;
    op->bytes = 4;
    for (unsigned lane = 0; lane < 2; lane++, lanes /= PLACES) {
        op->where[lane] = place[lanes % PLACES];
        op->lanes |= (uint64_t)(lanes % PLACES != 0) << lane;
    }
}

static void wave_of(struct run_program *p, unsigned wave, unsigned n, const unsigned *numbers)
{
    p->exec[wave] = 3;
    p->op[wave][0].kind = RUN_BEGIN;
    for (unsigned i = 0; i < n; i++) {
        access_of(&p->op[wave][1 + i], numbers[i]);
        p->op[wave][1 + i].add = (uint8_t)(1 + i + 8 * wave);
    }
    p->op[wave][1 + n].kind = RUN_COMMIT;
    p->op[wave][2 + n].kind = RUN_END;
}

static uint64_t explore(const struct run_program *p)
{
    static const uint8_t memory[4 * MODEL_WORDS];
    struct paths paths = {0};
    struct paths_ends serial = {0};
    struct run_machine machine;
    void *rig = calloc(1, rig_size(&p->o));
    bool fine;

    rig_init(rig, &p->o, memory);
    machine = rig_machine(rig);
    fine = paths_explore(&paths, p, &machine, rig_broken);
    paths_serial(&serial, p, memory);
    for (size_t i = 0; i < paths.ends.count && fine; i++)
        if (!paths_has(&serial, paths.ends.end[i])) {
            fine = false;
            snprintf(paths.why, sizeof paths.why, "ends as no order does");
        }
    if (!fine) {
        print_message("detector %d multiple %d descending %d\n", (int)p->o.detector, p->o.multiple,
                      p->o.descending);
        for (unsigned v = 0; v < 2; v++)
            for (unsigned i = 0; p->op[v][i].kind != RUN_END; i++)
                print_message("wavefront %u: %d lanes %" PRIx64 " at %u %u\n", v,
                              (int)p->op[v][i].kind, p->op[v][i].lanes, p->op[v][i].where[0],
                              p->op[v][i].where[1]);
        fail_msg("%s", paths.why);
    }
    paths_free(&paths);
    free(serial.end);
    free(rig);
    return paths.states;
}

static void options_of(struct model_options *o, unsigned cell)
{
    *o = (struct model_options){.detector = (enum model_detector)(cell % 4),
                                .multiple = cell / 8 % 2,
                                .descending = cell / 4 % 2,
                                .hold_wave = cell / 16 % 2,
                                .waves = 2,
                                .width = 8,
                                .lanes_per_pass = 8,
                                .banks = 2,
                                .words = WORDS,
                                .hash_k = 1,
                                .strong = true};
}

/* Program `number` of those with n accesses, `first` of them of wavefront 0. */
static void program_of(struct run_program *p, uint64_t number, unsigned n, unsigned first)
{
    unsigned numbers[8];

    for (unsigned i = 0; i < n; i++, number /= ACCESSES)
        numbers[i] = (unsigned)(number % ACCESSES);
    wave_of(p, 0, first, numbers);
    wave_of(p, 1, n - first, numbers + first);
}

/* All of up to two accesses, and of those with three every `step`th, each in one of the 32 cells in turn; `make soak` takes all. */
static void test_all_small_programs(void **state)
{
    const uint64_t all = UINT64_C(1) * ACCESSES * ACCESSES * ACCESSES;
    uint64_t states = 0, programs = 0, soak = test_count(1), step = soak < 32 ? 331 / soak : 1;

    (void)state;
    for (unsigned n = 1; n <= 3; n++)
        for (unsigned first = 0; 2 * first <= n; first++) {
            uint64_t number = n == 3 ? test_seed(1) % step : 0;
            uint64_t most = n == 1 ? ACCESSES : n == 2 ? ACCESSES * ACCESSES : all;

            for (; number < most; number += n == 3 ? step : 1)
                for (unsigned cell = 0; cell < 32; cell++) {
                    struct run_program p = {0};

                    if (soak < 32 && (number / (n == 3 ? step : 1) + cell) % 32)
                        continue;
                    options_of(&p.o, cell);
                    program_of(&p, number, n, first);
                    states += explore(&p);
                    programs++;
                }
        }
    print_message("%" PRIu64 " programs, %" PRIu64 " states\n", programs, states);
}

/* Up to three accesses in each wavefront. */
static void test_some_larger_programs(void **state)
{
    uint64_t seed = test_seed(1), states = 0, programs = test_count(60);
    struct rng r;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    rng_seed(&r, seed);
    for (uint64_t i = 0; i < programs; i++) {
        struct run_program p = {0};
        unsigned first = 1 + (unsigned)rng_below(&r, 3), second = 1 + (unsigned)rng_below(&r, 3);

        options_of(&p.o, (unsigned)i);
        p.o.hash_k = 1 + (unsigned)rng_below(&r, 2);
        p.o.owner_on_read = rng_below(&r, 2);
        p.o.mcm_match = rng_below(&r, 2);
        p.o.early_exit = rng_below(&r, 2);
        program_of(&p, rng_next(&r), first + second, first);
        states += explore(&p);
    }
    print_message("%" PRIu64 " programs, %" PRIu64 " states\n", programs, states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small_programs),
        cmocka_unit_test(test_some_larger_programs),
    };

    return cmocka_run_group_tests_name("explore", tests, NULL, NULL);
}
