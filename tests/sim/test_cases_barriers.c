/*
 * Barriers and the wavefronts that never reach them: PB-07, PB-08, PB-09. A wavefront arrives if
 * any of its lanes is active.
 */
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/*
 * Runs the kernel once timed and once for values, and compares the words that it leaves with
 * want().
 */
static void run_both(const char *text, uint32_t threads, uint32_t words, uint32_t (*want)(uint32_t))
{
    for (unsigned values = 0; values < 2; values++) {
        struct krig r;
        uint32_t out;
        const uint32_t *got;

        krig_open(&r, "wavefront_size", "64", NULL);
        if (values)
            sim_set_mode(r.m, SIM_VALUES);
        out = krig_array(&r, words * 4);
        krig_run(&r, &(struct krig_launch){
                         .text = text, .threads = threads, .nargs = 1, .args = {KRIG_ARRAY(out)}});
        got = sim_array_data(r.m, out);
        for (uint32_t i = 0; i < words; i++)
            if (got[i] != want(i))
                fail_msg("%s: word %u is %u, not %u", values ? "values" : "timed", i, got[i],
                         want(i));
        krig_close(&r);
    }
}

static uint32_t one_each(uint32_t i)
{
    (void)i;
    return 1;
}

/* Half of the lanes of both wavefronts come to a barrier. */
static void test_pb07_barrier_for_some_lanes(void **state)
{
    (void)state;
    run_both(".kernel k\n.param out u32[]\n"
             " v_get_u32 v0, %lane\n v_get_u32 v1, %tid\n v_mov_b32 v2, 1\n"
             " v_cmp_lt_u32 m0, v0, 32\n s_branch_none m0, behind\n"
             " @m0 s_barrier\n"
             "behind:\n global_store_b32 [out + v1*4], v2\n s_end\n.endkernel\n",
             128, 128, one_each);
}

/*
 * Barriers on both sides of a branch: wavefronts on different sides meet, for what counts is
 * arrival and not the instruction.
 */
static void test_pb07_barrier_on_both_sides(void **state)
{
    (void)state;
    run_both(".kernel k\n.param out u32[]\n"
             " v_get_u32 v1, %tid\n v_mov_b32 v2, 1\n"
             " s_branch_nz %wave, other\n s_barrier\n s_jump behind\n"
             "other:\n s_barrier\n"
             "behind:\n global_store_b32 [out + v1*4], v2\n s_end\n.endkernel\n",
             128, 128, one_each);
    /* Lanes of one wavefront on both sides: it arrives twice, and so does the other. */
    run_both(".kernel k\n.param out u32[]\n"
             " v_get_u32 v0, %lane\n v_get_u32 v1, %tid\n v_mov_b32 v2, 1\n"
             " v_cmp_lt_u32 m0, v0, 32\n"
             " @m0 s_barrier\n @!m0 s_barrier\n"
             " global_store_b32 [out + v1*4], v2\n s_end\n.endkernel\n",
             128, 128, one_each);
}

/*
 * Only wavefront 0 comes to a barrier; the other ends, before it or after it, and is waited for no
 * more.
 */
static void test_pb07_barrier_in_one_wavefront(void **state)
{
    static const char *const delays[] = {"", " s_nop\n"};
    char text[1024];

    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        snprintf(text, sizeof text,
                 ".kernel k\n.param out u32[]\n"
                 " v_get_u32 v1, %%tid\n v_mov_b32 v2, 1\n global_store_b32 [out + v1*4], v2\n"
                 " s_branch_z %%wave, meet\n .rept 200\n%s .endrept\n s_end\n"
                 "meet:\n .rept 50\n%s .endrept\n s_barrier\n s_end\n.endkernel\n",
                 delays[late], delays[1 - late]);
        run_both(text, 128, 128, one_each);
    }
}

static uint32_t mirrored(uint32_t i)
{
    return i < 128 ? 127 - i : 0;
}

/* It ends at once, or after the others have come, or with a load still under way. */
static void test_pb08_finished_wavefront(void **state)
{
    static const char *const wait[] = {"", " .rept 300\n s_nop\n .endrept\n",
                                       " global_load_b32 v1, [out]\n"};
    char text[1024];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        snprintf(
            text, sizeof text,
            ".kernel k\n.param out u32[]\n.lds 512\n"
            " v_get_u32 v0, %%gid\n s_cmp_eq_u32 s8, %%wave, 2\n s_branch_z s8, work\n%s s_end\n"
            "work:\n local_store_b32 [v0*4], v0\n s_barrier\n"
            " v_sub_u32 v1, 127, v0\n local_load_b32 v2, [v1*4]\n global_store_b32 [out + v0*4], "
            "v2\n s_end\n.endkernel\n",
            wait[i]);
        run_both(text, 192, 192, mirrored);
    }
}

/* The round in which an item leaves: the highest power of two that is not above it. */
static uint32_t round_of(uint32_t i)
{
    uint32_t live = 64;

    if (i == 0)
        return 777;
    while (i < live)
        live /= 2;
    return live;
}

static void test_pb08_items_leave_each_round(void **state)
{
    (void)state;
    run_both(".kernel k\n.param out u32[]\n"
             " v_get_u32 v0, %tid\n s_mov_b32 s8, 64\n"
             "again:\n v_cmp_ge_u32 m0, v0, s8\n v_mov_b32 v1, s8\n"
             " @m0 global_store_b32 [out + v0*4], v1\n @m0 s_end\n"
             " s_barrier\n s_shr_b32 s8, s8, 1\n s_branch_nz s8, again\n"
             " v_mov_b32 v1, 777\n global_store_b32 [out + v0*4], v1\n s_end\n.endkernel\n",
             128, 128, round_of);
}

static void test_pb09_barriers_back_to_back(void **state)
{
    static const char *const units[] = {"1", "2", "3", "4"};
    static const char text[] =
        ".kernel k\n.param out u32[]\n.lds 32\n"
        " v_get_u32 v0, %lane\n v_mov_b32 v1, 1\n v_cmp_eq_u32 m0, v0, 0\n"
        " .rept 8\n @m0 local_atomic_add_u32 [\\#*4], v1\n s_barrier\n s_barrier\n .endrept\n"
        " s_branch_nz %wave, behind\n"
        " s_mul_u32 s8, %group, 8\n v_add_u32 v2, v0, s8\n v_cmp_lt_u32 m1, v0, 8\n"
        " @m1 local_load_b32 v3, [v0*4]\n @m1 global_store_b32 [out + v2*4], v3\n"
        "behind:\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct krig r;
        const struct sim_kernel_record *k;
        const uint32_t *got;
        uint32_t out;

        krig_open(&r, "wavefront_size", "64", "compute_units", units[i], "cu.wavefront_slots", "48",
                  NULL);
        out = krig_array(&r, 512 * 4);
        k = krig_run(
            &r,
            &(struct krig_launch){
                .text = text, .groups = 64, .threads = 1024, .nargs = 1, .args = {KRIG_ARRAY(out)}});
        assert_int_equal(k->counters.barriers, 64 * 16 * 16);
        got = sim_array_data(r.m, out);
        for (unsigned word = 0; word < 512; word++)
            assert_int_equal(got[word], 16);
        krig_close(&r);
    }
}

/* ---- every wavefront leaves when it likes ---- */

enum { PHASES = 6, GROUPS = 5, WAVES_MAX = 16 };

struct crowd {
    unsigned waves, tail;       /* items of the last wavefront */
    unsigned leaves[WAVES_MAX]; /* phase in which a wavefront ends, PHASES: at the end */
    unsigned before[WAVES_MAX],
        after[WAVES_MAX]; /* instructions ahead of the barrier, and of the end */
    bool half[WAVES_MAX]; /* only some of its lanes come to the barriers */
};

static void a_crowd(struct rng *g, struct crowd *c, unsigned width)
{
    c->waves = 1 + (unsigned)rng_below(g, WAVES_MAX);
    c->tail = 1 + (unsigned)rng_below(g, width);
    for (unsigned w = 0; w < c->waves; w++) {
        c->leaves[w] = (unsigned)rng_below(g, PHASES + 3);
        c->before[w] = (unsigned)rng_below(g, 4) * (unsigned)rng_below(g, 60);
        c->after[w] = (unsigned)rng_below(g, 3) * (unsigned)rng_below(g, 90);
        c->half[w] = rng_below(g, 3) == 0;
    }
}

/*
 * In each phase every wavefront that is there adds one to the phase's word of local memory, comes to a barrier, stores the word
 * that it reads behind it, and comes to another. One that leaves ends ahead of the first, without adding.
 */
static const char *crowd_kernel(const struct crowd *c)
{
    static char text[65536];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  ".kernel k\n.param out u32[]\n.lds %u\n v_get_u32 v0, %%lane\n"
                                  " v_cmp_eq_u32 m0, v0, 0\n v_mov_b32 v1, 1\n"
                                  " s_mul_u32 s9, %%group, %u\n s_add_u32 s9, s9, %%wave\n"
                                  " s_mul_u32 s9, s9, %u\n v_mov_b32 v3, s9\n",
                                  PHASES * 4, WAVES_MAX, PHASES);

    for (unsigned w = 0; w < c->waves; w++) {
        const char *pred = c->half[w] ? "@m0 " : "";

        len += (size_t)snprintf(text + len, sizeof text - len,
                                " s_cmp_eq_u32 s8, %%wave, %u\n s_branch_z s8, not%u\n", w, w);
        for (unsigned p = 0; p < PHASES && p < c->leaves[w]; p++)
            len += (size_t)snprintf(
                text + len, sizeof text - len,
                " .rept %u\n s_nop\n .endrept\n @m0 local_atomic_add_u32 [%u], v1\n %ss_barrier\n"
                " local_load_b32 v2, [%u]\n @m0 global_store_b32 [out + v3*4 + %u], v2\n"
                " %ss_barrier\n",
                c->before[w], p * 4, pred, p * 4, p * 4, pred);
        len += (size_t)snprintf(text + len, sizeof text - len,
                                " .rept %u\n s_nop\n .endrept\n s_end\nnot%u:\n", c->after[w], w);
    }
    snprintf(text + len, sizeof text - len, " s_end\n.endkernel\n");
    return text;
}

static void check_crowd(const struct crowd *c, const uint32_t *out, uint64_t seed, const char *mode)
{
    for (unsigned i = 0; i < GROUPS * WAVES_MAX * PHASES; i++) {
        unsigned phase = i % PHASES, wave = i / PHASES % WAVES_MAX, there = 0;
        bool stores = wave < c->waves && phase < c->leaves[wave];

        for (unsigned w = 0; w < c->waves; w++)
            there += phase < c->leaves[w];
        if (out[i] != (stores ? there : 0))
            fail_msg("seed %" PRIu64 ", %s: phase %u of wavefront %u read %u, not %u", seed, mode,
                     phase, wave, out[i], stores ? there : 0);
    }
}

/* PB-07 to PB-09: a barrier opens when all that have not ended have come, whoever ends, whenever. */
static void test_pb08_random_exits(void **state)
{
    static const char *const schedulers[] = {"lrr", "gto", "oldest", "rotating"};
    uint64_t seed = test_seed(20261130), count = test_count(60);

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < count; i++) {
        struct crowd c;
        struct rng g;

        rng_seed(&g, seed + i);
        a_crowd(&g, &c, 32);
        for (unsigned values = 0; values < 2; values++) {
            struct krig r;
            uint32_t out;

            krig_open(&r, "compute_units", i % 2 ? "2" : "1", "cu.simds", i % 3 ? "2" : "4",
                      "cu.scheduler", schedulers[i % 4], "cu.issue_width", i % 5 ? "1" : "3",
                      "cu.dual_issue", i % 7 ? "off" : "on", "latency.barrier", i % 2 ? "1" : "9",
                      NULL);
            if (values)
                sim_set_mode(r.m, SIM_VALUES);
            out = krig_array(&r, GROUPS * WAVES_MAX * PHASES * 4);
            krig_run(&r, &(struct krig_launch){.text = crowd_kernel(&c),
                                               .groups = GROUPS,
                                               .threads = (c.waves - 1) * 32 + c.tail,
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(out)}});
            check_crowd(&c, sim_array_data(r.m, out), seed + i, values ? "values" : "timed");
            krig_close(&r);
        }
    }
}

/* The last to arrive opens the barrier, and all go on latency.barrier cycles after it. */
static void test_barrier_latency(void **state)
{
    struct krig r;

    (void)state;
    krig_open(&r, "latency.barrier", "25", NULL);
    /* One wavefront: it arrives in cycle 0, ends in cycle 25. */
    assert_int_equal(
        krig_cycles(krig_run(
            &r, &(struct krig_launch){.text = ".kernel k\n s_barrier\n s_end\n.endkernel\n",
                                      .threads = 32})),
        25);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb07_barrier_for_some_lanes),
        cmocka_unit_test(test_pb07_barrier_on_both_sides),
        cmocka_unit_test(test_pb07_barrier_in_one_wavefront),
        cmocka_unit_test(test_pb08_finished_wavefront),
        cmocka_unit_test(test_pb08_items_leave_each_round),
        cmocka_unit_test(test_pb09_barriers_back_to_back),
        cmocka_unit_test(test_pb08_random_exits),
        cmocka_unit_test(test_barrier_latency),
    };

    return cmocka_run_group_tests_name("cases_barriers", tests, NULL, NULL);
}
