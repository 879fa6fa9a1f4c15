/* Counters that can be counted by hand: PB-21 and PB-22. */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void check_identities(const struct sim_kernel_record *k, uint64_t sector_bytes)
{
    const struct sim_counters *c = &k->counters;
    uint64_t classes = 0, stalls = 0;

    for (unsigned i = 0; i < ISA_NUM_CLASSES; i++)
        classes += c->class_instr[i];
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
        stalls += c->stall_cycles[i];
    assert_int_equal(classes, c->wave_instr);
    assert_int_equal(stalls, c->residency_cycles);
    assert_int_equal(c->stall_cycles[SIM_STALL_ISSUED], c->wave_instr);
    /* Stores are no look-ups: a sector that is written needs not be there. */
    assert_true(c->l2_hits + c->l2_misses <= c->sectors);
    assert_int_equal(c->l2_bytes, c->sectors * sector_bytes);
}

struct transfer_case {
    const char *sector;
    unsigned threads, stride, offset; /* bytes */
    unsigned sectors;
};

/* PB-21: requests are whole sectors, at least one, and one more when they straddle a border. */
static void test_pb21_sectors(void **state)
{
    static const struct transfer_case rows[] = {
        {"64", 1, 4, 0, 1},  {"128", 1, 4, 0, 1},  {"64", 64, 4, 0, 4},    {"128", 64, 4, 0, 2},
        {"64", 64, 4, 4, 5}, {"128", 64, 4, 4, 3}, {"64", 64, 256, 0, 64}, {"128", 64, 256, 0, 64},
        {"32", 64, 4, 0, 8}, {"32", 64, 4, 28, 9}, {"32", 64, 0, 0, 1},    {"32", 64, 16, 0, 32},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_kernel_record *k;
        char text[256];
        struct krig r;

        krig_open(&r, "wavefront_size", "64", "l1.sector_bytes", rows[i].sector, NULL);
        snprintf(text, sizeof text,
                 ".kernel k\n.param x u32[]\n v_get_u32 v0, %%gid\n v_mul_u32 v0, v0, %u\n "
                 "global_load_b32 v1, [x + v0 + %u]\n s_end\n"
                 ".endkernel\n",
                 rows[i].stride, rows[i].offset);
        k = krig_run(&r, &(struct krig_launch){.text = text,
                                               .threads = rows[i].threads,
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(krig_array(&r, 64 * 256))}});
        assert_int_equal(k->counters.sectors, rows[i].sectors);
        assert_int_equal(k->counters.l2_misses, rows[i].sectors);
        assert_int_equal(k->counters.dram_read_bytes,
                         rows[i].sectors * (unsigned)r.config.sector_bytes);
        assert_int_equal(k->counters.dram_write_bytes, 0);
        check_identities(k, r.config.sector_bytes);
        krig_close(&r);
    }
}

/* 20 instructions; the three of an empty mask act on no lane, and ask for no sector. */
static const char counted[] =
    ".kernel counted\n.param x u32[]\n.param y u32[]\n"
    " v_get_u32 v0, %gid\n .rept 10\n v_add_u32 v3, v3, v0\n .endrept\n v_shl_b32 v1, v0, 7\n"
    " global_load_b32 v2, [x + v1]\n global_store_b32 [y + v0*4], v2\n"
    " v_cmp_gt_u32 m0, v0, 999\n s_branch_any m0, never\n"
    " @m0 v_add_u32 v3, v3, v0\n @m0 v_mul_u32 v3, v3, v0\n @m0 global_store_b32 [y + v1*8], v2\n"
    " s_end\n"
    "never:\n s_end\n.endkernel\n";

static void test_pb21_counts_by_hand(void **state)
{
    static const struct {
        unsigned groups, threads, waves, load_sectors, store_sectors;
    } rows[] = {
        {1, 64, 1, 64, 8},
        /*
         * Wavefronts of 64 and 36 items: they store 8 and 4.5 sectors, and the second work-group
         * starts in the middle of one.
         */
        {3, 100, 6, 300, (8 + 5) + (9 + 5) + (8 + 5)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_counters *c;
        struct krig r;
        unsigned items = rows[i].groups * rows[i].threads;

        krig_open(&r, "wavefront_size", "64", NULL);
        krig_run(&r, &(struct krig_launch){.text = counted,
                                           .groups = rows[i].groups,
                                           .threads = rows[i].threads,
                                           .nargs = 2,
                                           .args = {KRIG_ARRAY(krig_array(&r, 300 * 128)),
                                                    KRIG_ARRAY(krig_array(&r, 300 * 4))}});
        c = &r.kernels[0].counters;
        assert_int_equal(c->groups, rows[i].groups);
        assert_int_equal(c->waves, rows[i].waves);
        assert_int_equal(c->wave_instr, 20 * rows[i].waves);
        assert_int_equal(c->lane_instr, 17 * items);
        assert_int_equal(c->class_instr[ISA_C_ALU], 14 * rows[i].waves);
        assert_int_equal(c->class_instr[ISA_C_MUL], rows[i].waves);
        assert_int_equal(c->class_instr[ISA_C_MEM], 3 * rows[i].waves);
        assert_int_equal(c->class_instr[ISA_C_BRANCH], rows[i].waves);
        assert_int_equal(c->class_instr[ISA_C_SYNC], rows[i].waves);
        assert_int_equal(c->branches, rows[i].waves);
        assert_int_equal(c->branches_taken, 0);
        assert_int_equal(c->sectors, rows[i].load_sectors + rows[i].store_sectors);
        assert_int_equal(c->l2_hits + c->l2_misses, rows[i].load_sectors);
        check_identities(&r.kernels[0], r.config.sector_bytes);
        krig_close(&r);
    }
}

/* Flops: add and multiply count one a lane, multiply-add two; inactive lanes none. */
static void test_flops(void **state)
{
    static const char text[] =
        ".kernel k\n v_get_u32 v0, %lane\n v_cmp_lt_u32 m0, v0, 5\n"
        " v_add_f32 v1, v2, v3\n v_fma_f32 v1, v2, v3, v4\n @m0 v_mul_f32 v1, v2, v3\n"
        " v_add_f64 v[2:3], v[4:5], v[6:7]\n @m0 v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]\n "
        "v_max_f32 v1, v2, v3\n s_end\n.endkernel\n";
    struct krig r;

    (void)state;
    krig_open(&r, NULL);
    krig_run(&r, &(struct krig_launch){.text = text, .threads = 20});
    assert_int_equal(r.kernels[0].counters.flop32, 20 + 2 * 20 + 5);
    assert_int_equal(r.kernels[0].counters.flop64, 20 + 2 * 5);
    krig_close(&r);
}

static const char thousand[] = ".kernel k\n .rept 125\n v_add_u32 v0, v9, v9\n v_add_u32 v1, v9, "
                               "v9\n v_add_u32 v2, v9, v9\n v_add_u32 v3, v9, v9\n"
                               " v_add_u32 v4, v9, v9\n v_add_u32 v5, v9, v9\n v_add_u32 v6, v9, "
                               "v9\n v_add_u32 v7, v9, v9\n .endrept\n s_end\n.endkernel\n";

/*
 * PB-22: a compute unit issues at most one instruction a cycle and SIMD unit, and reaches that when
 * each has a wavefront.
 */
static void test_pb22_ipc(void **state)
{
    static const char *const counts[] = {"1", "2", "4"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned waves = 1; waves <= 16; waves++) {
            unsigned simds = 1u << i, busy = waves < simds ? waves : simds;
            const struct sim_kernel_record *k;
            struct krig r;
            uint64_t cycles;

            krig_open(&r, "cu.simds", counts[i], "latency.alu", "8", NULL);
            k = krig_run(&r, &(struct krig_launch){.text = thousand, .threads = 32 * waves});
            cycles = krig_cycles(k);
            assert_int_equal(k->counters.wave_instr, 1001 * waves);
            assert_int_equal(k->counters.lane_instr, 32 * 1001 * waves);
            /* The fullest SIMD unit has the longest work; an end may share a cycle with nothing. */
            assert_in_range(cycles, 1000 * ((waves + simds - 1) / simds),
                            1002 * ((waves + simds - 1) / simds));
            assert_true(k->counters.wave_instr <= busy * (cycles + 1));
            if (waves % simds == 0)
                assert_true((double)k->counters.wave_instr >= 0.95 * simds * (double)cycles);
            check_identities(k, r.config.sector_bytes);
            krig_close(&r);
        }
    }
}

/*
 * PB-22: wavefronts of 250 rounds of one instruction for each of four units, on one SIMD unit. No more issue in a cycle than
 * the width, with enough of them it is reached to 95 %, and four times the width takes a quarter of the time.
 */
static void test_pb22_issue_width(void **state)
{
    static const char text[] =
        ".kernel k\n .rept 250\n v_add_u32 v0, v9, v9\n s_add_u32 s0, s9, s9\n"
        " v_sqrt_f32 v1, v9\n v_shuffle_xor_b32 v2, v9, 1\n .endrept\n"
        " s_end\n.endkernel\n";
    static const char *const widths[] = {"1", "2", "4"};
    uint64_t cycles[3];

    (void)state;
    for (unsigned waves = 1; waves <= 16; waves++) {
        for (unsigned i = 0; i < 3; i++) {
            const struct sim_kernel_record *k;
            unsigned width = 1u << i, least = (1001 * waves + width - 1) / width;
            struct krig r;

            krig_open(&r, "cu.issue_width", widths[i], "latency.alu", "4", "latency.salu", "4",
                      "latency.sfu", "4", "latency.xlane", "4", "lanes_per_cycle.alu", "32",
                      "lanes_per_cycle.sfu", "32", "lanes_per_cycle.xlane", "32", NULL);
            k = krig_run(&r, &(struct krig_launch){.text = text, .threads = 32 * waves});
            cycles[i] = krig_cycles(k) + 1; /* with that of the last s_end */
            assert_int_equal(k->counters.wave_instr, 1001 * waves);
            assert_int_equal(k->counters.lane_instr, 32 * 1001 * waves);
            assert_true(cycles[i] >= least);
            if (waves >= 2 * width)
                assert_true((double)least >= 0.95 * (double)cycles[i]);
            check_identities(k, r.config.sector_bytes);
            krig_close(&r);
        }
        if (waves >= 8)
            assert_in_range(4 * cycles[2], cycles[0], cycles[0] + cycles[0] / 20);
    }
}

/* PB-22: wavefronts of 64 lanes on one unit of 16 take four cycles an instruction, each, one alone or four together. */
static void test_pb22_one_unit(void **state)
{
    (void)state;
    for (unsigned waves = 1; waves <= 4; waves++) {
        struct krig r;

        krig_open(&r, "wavefront_size", "64", "lanes_per_cycle.alu", "16", "latency.alu", "8", NULL);
        assert_in_range(krig_cycles(krig_run(
                            &r, &(struct krig_launch){.text = thousand, .threads = 64 * waves})),
                        4 * (1000 * waves - 1) + 1, 4 * (1000 * waves - 1) + waves);
        krig_close(&r);
    }
}

/* Eight compute units do eight times the work in the time of one, and the totals are the sum. */
static void test_pb22_compute_units(void **state)
{
    struct krig r;
    struct sim_counters totals;
    uint64_t one;

    (void)state;
    krig_open(&r, "compute_units", "8", "cu.simds", "2", NULL);
    one = krig_cycles(
        krig_run(&r, &(struct krig_launch){.text = thousand, .groups = 1, .threads = 256}));
    /* Work-groups are placed a cycle apart. */
    assert_int_equal(krig_cycles(krig_run(
                         &r, &(struct krig_launch){.text = thousand, .groups = 8, .threads = 256})),
                     one + 7);
    assert_int_equal(r.kernels[1].counters.wave_instr, 8 * r.kernels[0].counters.wave_instr);
    sim_totals(r.m, &totals);
    assert_int_equal(totals.wave_instr, 9 * r.kernels[0].counters.wave_instr);
    assert_int_equal(totals.residency_cycles, r.kernels[0].counters.residency_cycles +
                                                  r.kernels[1].counters.residency_cycles);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb21_sectors),
        cmocka_unit_test(test_pb21_counts_by_hand),
        cmocka_unit_test(test_flops),
        cmocka_unit_test(test_pb22_ipc),
        cmocka_unit_test(test_pb22_issue_width),
        cmocka_unit_test(test_pb22_one_unit),
        cmocka_unit_test(test_pb22_compute_units),
    };

    return cmocka_run_group_tests_name("cases_counters", tests, NULL, NULL);
}
