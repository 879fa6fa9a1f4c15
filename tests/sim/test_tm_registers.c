/*
 * What a retry gives back, and what it leaves: every item raises one word, so that all but one start again.
 * Each register is read in the transaction, then written: an attempt that finds what the one before wrote computes another result.
 */
#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { ITEMS = 64 };

static const char registers[] = ".kernel k\n"
                                ".param out u32[]\n"
                                ".local c 4\n"
                                "    v_get_u32 v0, %tid\n"
                                "    v_mov_b32 v6, 0\n"
                                "    v_mov_b32 v10, 3\n"
                                "    v_mov_b32 v11, 0\n"
                                "    v_mov_b32 v12, 1\n"
                                "    s_mov_b32 s8, 5\n"
                                "    v_cmp_lt_u32 vcc, v0, 16\n"
                                "    v_cmp_gt_u32 m5, v0, v0\n"
                                "    v_cmp_gt_u32 m3, v0, v0\n"
                                "    tx.begin\n"
                                "    local_load_b32 v1, [c]\n"
                                "    v_add_u32 v1, v1, 1\n"
                                /* 1 if m5 is clear, as it was */
                                "    v_select_b32 v7, v11, v12, m5\n"
                                "    v_cmp_eq_u32 m5, v0, v0\n"
                                /* stays set for lanes that commit early */
                                "    v_cmp_eq_u32 m3, v0, v0\n"
                                "    s_add_u32 s8, s8, 1\n"
                                "    v_mov_b32 v8, s8\n"
                                "    v_select_b32 v9, v12, v11, vcc\n"
                                "    v_cmp_gt_u32 vcc, v0, v0\n"
                                "    v_add_u32 v10, v10, 4\n"
                                "    local_store_b32 [c], v1\n"
                                "    tx.commit\n"
                                "    @m3 v_mov_b32 v6, 1\n"
                                "    v_shl_b32 v7, v7, 4\n"
                                "    v_shl_b32 v8, v8, 8\n"
                                "    v_shl_b32 v9, v9, 16\n"
                                "    v_shl_b32 v10, v10, 20\n"
                                "    v_or_b32 v6, v6, v7\n"
                                "    v_or_b32 v6, v6, v8\n"
                                "    v_or_b32 v6, v6, v9\n"
                                "    v_or_b32 v6, v6, v10\n"
                                "    global_store_b32 [out + v0*4], v6\n"
                                "    s_end\n"
                                ".endkernel\n";

static void run(const char *detector, const char *serialise, const char *dual,
                const char *checkpoint)
{
    struct krig r;
    uint32_t out;

    krig_open(&r, "tm.detector", detector, "tm.serialise", serialise, "cu.dual_issue", dual,
              "cu.issue_width", dual[1] == 'n' ? "2" : "1", "tm.checkpoint_cycles", checkpoint,
              "wavefront_size", "16", NULL);
    sim_set_limits(r.m, &(struct sim_limits){.check_tm = true});
    out = krig_array(&r, ITEMS * 4);
    tm_rig_check_counters(&krig_run(&r, &(struct krig_launch){.text = registers,
                                                              .threads = ITEMS,
                                                              .nargs = 1,
                                                              .args = {KRIG_ARRAY(out)}})
                               ->counters);
    for (unsigned i = 0; i < ITEMS; i++)
        assert_int_equal(((uint32_t *)sim_array_data(r.m, out))[i],
                         1 | 1 << 4 | 6 << 8 | (i < 16) << 16 | 7 << 20);
    krig_close(&r);
}

static void test_restored(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        run(tm_rig_detectors[i % 4], tm_rig_serials[i / 4], "off", "0");
        run(tm_rig_detectors[i % 4], tm_rig_serials[i / 4], "on", i % 2 ? "0" : "3");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
