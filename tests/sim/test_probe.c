/* The probe: what it is told of a run, and that a run with it is the run without. */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    uint64_t count[HD_PROBE_L1_HIT + 1];
    uint64_t stalls[SIM_NUM_STALLS]; /* by reason */
    uint64_t sectors, lines, hits, passes, conflicts;
    uint64_t lanes, requested, filled, last_ps;
    uint32_t stores;
};

static unsigned bits(uint64_t mask)
{
    unsigned n = 0;

    for (; mask; mask &= mask - 1)
        n++;
    return n;
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct seen *s = user;

    s->count[e->kind]++;
    s->hits += e->kind == HD_PROBE_L1_HIT;
    if (e->kind == HD_PROBE_ISSUE)
        s->lanes += bits(e->lanes);
    if (e->kind == HD_PROBE_REQUEST && !e->store)
        s->requested += bits(e->sectors);
    if (e->kind == HD_PROBE_REQUEST)
        s->stores += e->store;
    if (e->kind == HD_PROBE_FILL)
        s->filled += bits(e->sectors);
    if (e->kind == HD_PROBE_WAVE_END)
        s->last_ps = e->time_ps;
    if (e->kind == HD_PROBE_STALL)
        s->stalls[e->reason] += e->cycles;
    if (e->kind == HD_PROBE_GLOBAL) {
        s->lines += e->nlines;
        s->sectors += e->nsectors;
    }
    if (e->kind == HD_PROBE_LOCAL) {
        s->passes += e->passes;
        s->conflicts += e->passes - e->least_passes;
    }
}

static struct sim_kernel_record run_text(const char *text, struct seen *seen, uint32_t wants)
{
    const struct hd_probe probe = {seen, on_event, wants};
    struct sim_kernel_record k;
    struct krig r;

    krig_open(&r, NULL);
    if (seen)
        sim_set_probe(r.m, &probe);
    k = *krig_run(&r, &(struct krig_launch){
                          .text = text,
                          .groups = 3,
                          .threads = 40, /* of 32 lanes: a whole wavefront and a part */
                          .nargs = 1,
                          .args = {KRIG_ARRAY(krig_array(&r, 4096))},
                      });
    krig_close(&r);
    return k;
}

static struct sim_kernel_record run(struct seen *seen)
{
    return run_text(".kernel k\n.param x f32[]\n"
                    "    v_get_u32 v0, %gid\n"
                    "    global_load_b32 v1, [x + v0*4]\n"
                    "    v_add_f32 v1, v1, 1.0\n"
                    "    global_store_b32 [x + v0*4], v1\n"
                    "    s_end\n.endkernel\n",
                    seen, HD_PROBE_WANT_ALL);
}

static void test_events_add_up_to_the_counters(void **state)
{
    struct seen s = {0};
    const struct sim_kernel_record k = run(&s);

    (void)state;
    assert_int_equal(s.count[HD_PROBE_WAVE_START], 6);
    assert_int_equal(s.count[HD_PROBE_WAVE_END], 6);
    assert_int_equal(s.count[HD_PROBE_ISSUE], 6 * 5);
    assert_int_equal(s.count[HD_PROBE_ISSUE], k.counters.wave_instr);
    assert_int_equal(s.lanes, 3 * 40 * 5);
    assert_int_equal(s.lanes, k.counters.lane_instr);
    assert_true(s.requested > 0);
    assert_int_equal(s.filled, s.requested);
    /* Lines of 32 words: those of items 0, 32, 40 and 64, 72, 80 and 96, 112, wavefront by wavefront. */
    assert_int_equal(s.stores, 8);
    assert_true(s.last_ps <= k.end_ps);
}

static void test_a_run_does_not_notice(void **state)
{
    struct seen s = {0};
    const struct sim_kernel_record with = run(&s), without = run(NULL);

    (void)state;
    assert_int_equal(with.start_ps, without.start_ps);
    assert_int_equal(with.end_ps, without.end_ps);
    assert_memory_equal(&with.counters, &without.counters, sizeof with.counters);
}

/* Every other word of local memory, so that 32 lanes meet in pairs in 32 banks; a barrier; two loads of one array. */
static const char mixed[] = ".kernel k\n.param x f32[]\n.lds 512\n"
                            "    v_get_u32 v0, %tid\n"
                            "    v_shl_b32 v1, v0, 1\n"
                            "    local_store_b32 [v1*4], v0\n"
                            "    s_barrier\n"
                            "    global_load_b32 v2, [x + v0*4]\n"
                            "    v_add_f32 v2, v2, 1.0\n"
                            "    global_load_b32 v3, [x + v0*4]\n"
                            "    global_load_b32 v4, [x + 2048]\n"
                            "    s_end\n.endkernel\n";

static void test_stalls_add_up_to_residency(void **state)
{
    struct seen s = {0};
    const struct sim_kernel_record k = run_text(mixed, &s, HD_PROBE_WANT_ALL);
    uint64_t sum = 0;

    (void)state;
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++) {
        assert_int_equal(s.stalls[i], k.counters.stall_cycles[i]);
        sum += s.stalls[i];
    }
    assert_int_equal(sum, k.counters.residency_cycles);
    assert_int_equal(s.stalls[SIM_STALL_ISSUED], 6 * 9);
    assert_true(s.stalls[SIM_STALL_BARRIER] > 0);
    /* The wavefronts end with a load under way. */
    assert_true(s.stalls[SIM_STALL_MEMORY] > 0);
}

static void test_accesses(void **state)
{
    struct seen s = {0};
    const struct sim_kernel_record k = run_text(mixed, &s, HD_PROBE_WANT_ALL);

    (void)state;
    /* By group: 128 and 32 bytes, twice, and a word for each of two wavefronts. */
    assert_int_equal(s.count[HD_PROBE_GLOBAL], 18);
    assert_int_equal(s.lines, 3 * (2 + 2 + 2));
    assert_int_equal(s.sectors, 3 * (5 + 5 + 2));
    assert_int_equal(s.hits, k.counters.l1_hits);
    assert_true(s.hits > 0);
    /* A whole wavefront takes two passes where one would do; 8 lanes take one. */
    assert_int_equal(s.count[HD_PROBE_LOCAL], 6);
    assert_int_equal(s.passes, 3 * (2 + 1));
    assert_int_equal(s.conflicts, 3);
    assert_int_equal(s.conflicts, k.counters.local_conflict_passes);
}

static void test_only_what_is_wanted(void **state)
{
    for (unsigned kind = 0; kind <= HD_PROBE_L1_HIT; kind++) {
        struct seen s = {0};

        (void)state;
        run_text(mixed, &s, HD_PROBE_WANT(kind));
        for (unsigned other = 0; other <= HD_PROBE_L1_HIT; other++)
            assert_int_equal(s.count[other] > 0, other == kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_add_up_to_the_counters),
        cmocka_unit_test(test_a_run_does_not_notice),
        cmocka_unit_test(test_stalls_add_up_to_residency),
        cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_only_what_is_wanted),
    };

    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
