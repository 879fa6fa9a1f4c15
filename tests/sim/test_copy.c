/*
 * A machine that is copied in the middle of a run, and its copy: both do what one that was never
 * copied does, to the picosecond, whatever the point. It guards against a block that is shared, a
 * pointer that stays in the old machine, and a part that is forgotten.
 */
#include "sim/base/bits.h"
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 4096, COUNTERS = 64, LAUNCHES = 4 };

/* Loads, local memory, barriers, divergence by masks, stores, a fence and atomics. */
static const char mixed[] = ".kernel mixed\n"
                            ".param x u32[]\n"
                            ".param sums u32[]\n"
                            ".local room 1024\n"
                            "    v_get_u32 v0, %gid\n"
                            "    v_get_u32 v1, %tid\n"
                            "    v_and_b32 v2, v0, 4095\n"
                            "    s_mov_b32 s8, 6\n"
                            "again:\n"
                            "    v_mul_u32 v2, v2, 0x9e3779b1\n"
                            "    v_add_u32 v2, v2, 12345\n"
                            "    v_shr_b32 v3, v2, 20\n"
                            "    global_load_b32 v4, [x + v3*4]\n"
                            "    v_and_b32 v5, v1, 255\n"
                            "    local_store_b32 [v5*4 + room], v4\n"
                            "    s_barrier\n"
                            "    v_xor_b32 v5, v5, 1\n"
                            "    local_load_b32 v6, [v5*4 + room]\n"
                            "    v_add_u32 v7, v7, v6\n"
                            "    v_and_b32 v8, v4, 63\n"
                            "    v_cmp_lt_u32 m0, v8, 40\n"
                            "    @m0 global_atomic_add_u32 [sums + v8*4], v6\n"
                            "    s_barrier\n"
                            "    s_sub_u32 s8, s8, 1\n"
                            "    s_branch_nz s8, again\n"
                            "    v_and_b32 v9, v0, 4095\n"
                            "    global_store_b32 [x + v9*4], v7\n"
                            "    fence\n"
                            "    global_atomic_add_u32_rtn v10, [sums], v7\n"
                            "    s_end\n"
                            ".endkernel\n";

struct side {
    struct krig rig;
    uint32_t x, sums;
};

static uint32_t pick(struct rng *rng, const uint32_t *from, unsigned n)
{
    return from[rng_next(rng) % n];
}

#define ONE_OF(rng, ...)                                                                           \
    pick(rng, (const uint32_t[]){__VA_ARGS__},                                                     \
         sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void random_config(struct sim_config *c, struct rng *rng)
{
    param_defaults(&sim_params, c);
    c->compute_units = ONE_OF(rng, 1, 2, 3, 5);
    c->simds = ONE_OF(rng, 1, 2, 4);
    c->wavefront_size = ONE_OF(rng, 8, 16, 32, 64);
    c->wave_slots = c->simds * ONE_OF(rng, 32, 48, 64);
    c->wave_scheduler = ONE_OF(rng, 0, 1, 2);
    c->l1_mshrs = ONE_OF(rng, 2, 8, 64);
    c->l2_slices = ONE_OF(rng, 4, 8);
    c->dram_channels = 4;
    c->dram_row_bytes = ONE_OF(rng, 0, 1024);
    c->dram_row_miss = 30;
    c->dram_row_gap = 40000;
    c->dram_bank_rows = 3;
    c->l1_write = ONE_OF(rng, L1_WRITE_THROUGH, L1_WRITE_BACK);
    c->l1_allocate_on_store = ONE_OF(rng, false, true);
    c->resident_kernels = ONE_OF(rng, 1, 2, 8);
    c->launch_latency = ONE_OF(rng, 0, 200, 3000);
}

static void submit(struct side *s, unsigned number, uint32_t queue)
{
    krig_submit(&s->rig, &(struct krig_launch){.text = mixed,
                                               .groups = 3 + number,
                                               .threads = 96 + 32 * number,
                                               .queue = queue,
                                               .nargs = 2,
                                               .args = {KRIG_ARRAY(s->x), KRIG_ARRAY(s->sums)}});
}

static void start(struct side *s, uint64_t seed)
{
    struct sim_config config;
    struct rng rng;
    uint32_t queue, *x;

    rng_seed(&rng, seed);
    random_config(&config, &rng);
    krig_open_config(&s->rig, &config);
    s->x = krig_array(&s->rig, WORDS * sizeof *x);
    s->sums = krig_array(&s->rig, COUNTERS * sizeof *x);
    x = sim_array_data(s->rig.m, s->x);
    for (unsigned i = 0; i < WORDS; i++)
        x[i] = (uint32_t)rng_next(&rng);
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    for (unsigned i = 0; i < LAUNCHES; i++)
        submit(s, i, i % 2 ? queue : 0);
}

static void finish(struct sim_machine *m)
{
    struct hd_error err;

    if (sim_wait(m, 0, &err))
        fail_msg("%s", err.message);
}

static void on_kernel(void *user, const struct sim_kernel_record *k)
{
    struct krig *r = user;

    r->kernels[r->nkernels++] = *k;
}

static void require_same(uint64_t seed, const struct krig *a, const struct sim_machine *am,
                         const struct krig *b, const struct sim_machine *bm)
{
    struct sim_counters ta, tb;

    if (sim_now(am) != sim_now(bm) || a->nkernels != b->nkernels)
        fail_msg("HEDDLE_SEED=%" PRIu64 ": ends at %" PRIu64 " and %" PRIu64 " ps", seed,
                 sim_now(am), sim_now(bm));
    for (unsigned i = 0; i < a->nkernels; i++)
        if (a->kernels[i].ticket != b->kernels[i].ticket ||
            a->kernels[i].start_ps != b->kernels[i].start_ps ||
            a->kernels[i].end_ps != b->kernels[i].end_ps ||
            memcmp(&a->kernels[i].counters, &b->kernels[i].counters, sizeof ta) != 0)
            fail_msg("HEDDLE_SEED=%" PRIu64 ": kernel %u differs", seed, i);
    sim_totals(am, &ta);
    sim_totals(bm, &tb);
    assert_memory_equal(&ta, &tb, sizeof ta);
}

static void require_same_values(uint64_t seed, const struct side *s, struct sim_machine *am,
                                struct sim_machine *bm)
{
    if (memcmp(sim_array_data(am, s->x), sim_array_data(bm, s->x), WORDS * 4) != 0 ||
        memcmp(sim_array_data(am, s->sums), sim_array_data(bm, s->sums), COUNTERS * 4) != 0)
        fail_msg("HEDDLE_SEED=%" PRIu64 ": the values differ", seed);
}

/* Copies at a part of the way, goes on with the copy first or last. */
static void copy_at(uint64_t seed, const struct side *whole, uint64_t at_ps, bool copy_first)
{
    struct side *s = calloc(1, sizeof *s);
    struct krig *of_copy = calloc(1, sizeof *of_copy);
    struct sim_machine *copy;

    assert_true(s && of_copy);
    start(s, seed);
    assert_int_equal(sim_run_until(s->rig.m, at_ps, &s->rig.err), HD_OK);
    *of_copy = s->rig;
    assert_int_equal(sim_copy(s->rig.m, &copy, &s->rig.err), HD_OK);
    sim_set_sink(copy, &(struct sim_sink){.user = of_copy, .kernel = on_kernel});
    finish(copy_first ? copy : s->rig.m);
    finish(copy_first ? s->rig.m : copy);
    require_same(seed, &whole->rig, whole->rig.m, &s->rig, s->rig.m);
    require_same(seed, &whole->rig, whole->rig.m, of_copy, copy);
    require_same_values(seed, whole, whole->rig.m, s->rig.m);
    require_same_values(seed, whole, whole->rig.m, copy);
    sim_free(copy);
    krig_close(&s->rig);
    free(of_copy);
    free(s);
}

static void test_both_finish_alike(void **state)
{
    uint64_t count = test_count(40), first = test_seed(1);

    (void)state;
    printf("cases %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct side *whole = calloc(1, sizeof *whole);
        uint64_t end_ps;

        assert_non_null(whole);
        start(whole, seed);
        finish(whole->rig.m);
        end_ps = sim_now(whole->rig.m);
        for (unsigned part = 0; part < 8; part++)
            copy_at(seed, whole, end_ps * part / 8 + seed % 997, part % 2 == 0);
        krig_close(&whole->rig);
        free(whole);
    }
}

/* The original may be gone when the copy goes on. */
static void test_outlives_the_original(void **state)
{
    struct side s;
    struct sim_machine *copy;
    uint64_t end_ps;

    (void)state;
    start(&s, 7);
    finish(s.rig.m);
    end_ps = sim_now(s.rig.m);
    krig_close(&s.rig);
    start(&s, 7);
    assert_int_equal(sim_run_until(s.rig.m, end_ps / 2, &s.rig.err), HD_OK);
    assert_int_equal(sim_copy(s.rig.m, &copy, &s.rig.err), HD_OK);
    sim_free(s.rig.m);
    finish(copy);
    assert_int_equal(sim_now(copy), end_ps);
    sim_free(copy);
    for (unsigned i = 0; i < s.rig.nprograms; i++)
        isa_program_free(s.rig.programs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_finish_alike),
        cmocka_unit_test(test_outlives_the_original),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
