/* The probe: what it is told of a run, and that a run with it is the run without. */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    uint64_t count[HD_PROBE_WAVE_END + 1];
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
}

static struct sim_kernel_record run(struct seen *seen)
{
    const struct hd_probe probe = {seen, on_event};
    struct sim_kernel_record k;
    struct krig r;

    krig_open(&r, NULL);
    if (seen)
        sim_set_probe(r.m, &probe);
    k = *krig_run(&r, &(struct krig_launch){
                          .text = ".kernel k\n.param x f32[]\n"
                                  "    v_get_u32 v0, %gid\n"
                                  "    global_load_b32 v1, [x + v0*4]\n"
                                  "    v_add_f32 v1, v1, 1.0\n"
                                  "    global_store_b32 [x + v0*4], v1\n"
                                  "    s_end\n.endkernel\n",
                          .groups = 3,
                          .threads = 40, /* of 32 lanes: a whole wavefront and a part */
                          .nargs = 1,
                          .args = {KRIG_ARRAY(krig_array(&r, 4096))},
                      });
    krig_close(&r);
    return k;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_add_up_to_the_counters),
        cmocka_unit_test(test_a_run_does_not_notice),
    };

    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
