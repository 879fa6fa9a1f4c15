/*
 * One counter in local memory that all work-items of a work-group raise by one in a transaction. Its
 * end is the number of items, whatever finds the conflicts and whoever goes first.
 */
#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { ITEMS = 256 };

static const char counter[] = ".kernel counter\n"
                              ".param out u32[]\n"
                              ".local count 4\n"
                              "    v_mov_b32 v3, 1\n"
                              "    tx.begin\n"
                              "    local_load_b32 v0, [count]\n"
                              "    v_add_u32 v0, v0, v3\n"
                              "    v_add_u32 v3, v3, 7\n" /* only a checkpoint gives the 1 back */
                              "    local_store_b32 [count], v0\n"
                              "    tx.commit\n"
                              "    s_barrier\n"
                              "    local_load_b32 v1, [count]\n"
                              "    v_get_u32 v2, %tid\n"
                              "    v_cmp_eq_u32 m0, v2, 0\n"
                              "    @m0 global_store_b32 [out], v1\n"
                              "    s_end\n"
                              ".endkernel\n";

struct machine {
    const char *detector, *serialise, *unit, *width;
};

static void run(const struct machine *s, enum sim_mode mode)
{
    struct krig r;
    uint32_t out;
    const struct sim_kernel_record *k;

    krig_open(&r, "tm.detector", s->detector, "tm.serialise", s->serialise, "divergence.unit",
              s->unit, "wavefront_size", s->width, NULL);
    sim_set_mode(r.m, mode);
    sim_set_limits(r.m, &(struct sim_limits){.check_tm = true});
    out = krig_array(&r, 4);
    k = krig_run(&r, &(struct krig_launch){
                         .text = counter, .threads = ITEMS, .nargs = 1, .args = {KRIG_ARRAY(out)}});
    assert_int_equal(*(uint32_t *)sim_array_data(r.m, out), ITEMS);
    assert_int_equal(k->counters.tx_commits, ITEMS);
    tm_rig_check_counters(&k->counters);
    krig_close(&r);
}

/* Each detector and serialisation with each unit, and with each width, of which the units take turns. */
static void test_all_machines(void **state)
{
    static const char *const widths[] = {"8", "16", "32", "64"};

    (void)state;
    for (unsigned i = 0; i < 4 * 4 * 4; i++) {
        unsigned d = i / 16, s = i / 4 % 4, k = i % 4;
        const struct machine units = {tm_rig_detectors[d], tm_rig_serials[s], tm_rig_units[k], "64"};
        const struct machine wide = {tm_rig_detectors[d], tm_rig_serials[s],
                                     tm_rig_units[(d + s + k) % 4], widths[k]};

        run(&units, SIM_TIMED);
        run(&wide, (d + s + k) % 2 ? SIM_TIMED : SIM_VALUES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
