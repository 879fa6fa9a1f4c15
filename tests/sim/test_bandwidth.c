/*
 * What bounds the throughput of memory: the rate of DRAM, the rate of L2, and atomics that follow each other. The expected times
 * are bytes over rate; what a kernel needs besides is its first latency and its launch, for which 3 % are allowed.
 */
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* The numbers of configs/p100.json that matter here. */
#define P100                                                                                       \
    "compute_units", "56", "cu.simds", "2", "cu.scheduler", "gto", "cu.wavefront_slots", "64",     \
        "clock.core_hz", "1329000000", "clock.l2_hz", "1329000000", "l1.bytes", "24576",           \
        "l1.ways", "6", "l1.mshrs", "256", "noc.latency_cycles", "56", "l2.bytes", "3145728",      \
        "l2.slices", "24", "l2.latency_cycles", "120", "l2.bytes_per_cycle", "32",                 \
        "dram.channels", "24", "dram.bytes_per_second", "549000000000", "dram.latency_ns", "103",  \
        "launch.cycles_per_workgroup", "3"

#define DRAM_RATE UINT64_C(549000000000)
#define L2_RATE (UINT64_C(24) * 32 * 1329000000)

static uint64_t ps_of(uint64_t bytes, uint64_t rate)
{
    return (uint64_t)((double)bytes / (double)rate * 1e12);
}

/* At most 3 % slower than the rate allows, and never faster. */
static void check_bound(const char *what, uint64_t time_ps, uint64_t bound_ps)
{
    if (time_ps < bound_ps || time_ps > bound_ps + bound_ps * 3 / 100)
        fail_msg("%s takes %" PRIu64 " ps, the bound is %" PRIu64 " ps", what, time_ps, bound_ps);
}

/*
 * Each work-item goes so many rounds: it loads 8 bytes, may store them in another array, and goes on by `step` elements, within
 * as many as the mask says.
 */
static const char load_text[] =
    ".kernel load\n.param x u64[]\n.param rounds u32\n.param step u32\n.param mask u32\n"
    " v_get_u32 v0, %gid\n s_mov_b32 s16, rounds\n"
    "again:\n"
    " global_load_b64 v[2:3], [x + v0*8]\n"
    " v_add_u32 v0, v0, step\n v_and_b32 v0, v0, mask\n"
    " s_sub_u32 s16, s16, 1\n s_branch_nz s16, again\n s_end\n.endkernel\n";

static const char copy_text[] =
    ".kernel copy\n.param x u64[]\n.param rounds u32\n.param step u32\n.param mask u32\n"
    ".param y u64[]\n"
    " v_get_u32 v0, %gid\n s_mov_b32 s16, rounds\n"
    "again:\n"
    " global_load_b64 v[2:3], [x + v0*8]\n global_store_b64 [y + v0*8], v[2:3]\n"
    " v_add_u32 v0, v0, step\n v_and_b32 v0, v0, mask\n"
    " s_sub_u32 s16, s16, 1\n s_branch_nz s16, again\n s_end\n.endkernel\n";

static const char store_text[] =
    ".kernel store\n.param x u64[]\n.param rounds u32\n.param step u32\n.param mask u32\n"
    " v_get_u32 v0, %gid\n v_mov_b64 v[2:3], 7\n s_mov_b32 s16, rounds\n"
    "again:\n"
    " global_store_b64 [x + v0*8], v[2:3]\n"
    " v_add_u32 v0, v0, step\n v_and_b32 v0, v0, mask\n"
    " s_sub_u32 s16, s16, 1\n s_branch_nz s16, again\n s_end\n.endkernel\n";

enum { GROUPS = 112, THREADS = 512, ITEMS = GROUPS * THREADS, ROUNDS = 40 };

#define STREAM_BYTES (UINT64_C(8) * ITEMS * ROUNDS)

static struct krig_launch stream(const char *text, uint32_t x)
{
    return (struct krig_launch){
        .text = text,
        .groups = GROUPS,
        .threads = THREADS,
        .nargs = 4,
        .args = {KRIG_ARRAY(x), KRIG_VALUE(ROUNDS), KRIG_VALUE(ITEMS), KRIG_VALUE(UINT32_MAX)}};
}

static uint64_t time_of(const struct sim_kernel_record *k)
{
    return k->end_ps - k->start_ps;
}

static uint64_t dram_bytes(const struct sim_kernel_record *k)
{
    return k->counters.dram_read_bytes + k->counters.dram_write_bytes;
}

static void loads_take_the_rate_of_dram(void **state)
{
    const struct sim_kernel_record *k;
    struct krig_launch l;
    struct krig r;

    (void)state;
    krig_open(&r, P100, NULL);
    l = stream(load_text, krig_array(&r, STREAM_BYTES));
    k = krig_run(&r, &l);
    assert_int_equal(dram_bytes(k), STREAM_BYTES);
    check_bound("loading", time_of(k), ps_of(STREAM_BYTES, DRAM_RATE));
    krig_close(&r);
}

/* What is written goes to DRAM as well, but for what stays in L2. */
static void a_copy_shares_the_rate_of_dram(void **state)
{
    const struct sim_kernel_record *k;
    struct krig_launch l;
    struct krig r;

    (void)state;
    krig_open(&r, P100, NULL);
    l = stream(copy_text, krig_array(&r, STREAM_BYTES));
    l.args[4].is_array = true;
    l.args[4].value = krig_array(&r, STREAM_BYTES);
    l.nargs = 5;
    k = krig_run(&r, &l);
    assert_int_equal(k->counters.dram_read_bytes, STREAM_BYTES);
    assert_in_range(k->counters.dram_write_bytes, STREAM_BYTES - 3145728, STREAM_BYTES);
    check_bound("copying", time_of(k), ps_of(dram_bytes(k), DRAM_RATE));
    krig_close(&r);
}

/*
 * From the time on when L2 is full, a store waits for what has to leave. What is left in L2 at the end has not gone to DRAM.
 */
static void stores_take_the_rate_of_dram(void **state)
{
    enum { L2_BYTES = 3145728, TIMES = 3 };
    const struct sim_kernel_record *k;
    struct krig_launch l;
    struct krig r;

    (void)state;
    krig_open(&r, P100, NULL);
    l = stream(store_text, krig_array(&r, TIMES * STREAM_BYTES));
    l.args[1].value = TIMES * ROUNDS;
    k = krig_run(&r, &l);
    assert_int_equal(k->counters.dram_read_bytes, 0);
    assert_in_range(k->counters.dram_write_bytes, TIMES * STREAM_BYTES - L2_BYTES,
                    TIMES * STREAM_BYTES);
    check_bound("storing", time_of(k), ps_of(k->counters.dram_write_bytes, DRAM_RATE));
    krig_close(&r);
}

/* 2 MiB stay in L2, and L1 is off. */
static void loads_from_l2_take_its_rate(void **state)
{
    enum { BYTES = 1 << 21 };
    const struct sim_kernel_record *k;
    struct krig_launch l;
    struct krig r;

    (void)state;
    krig_open(&r, P100, "l1.enabled", "off", NULL);
    l = stream(load_text, krig_array(&r, BYTES));
    l.args[3].value = BYTES / 8 - 1;
    krig_run(&r, &l);
    k = krig_run(&r, &l);
    assert_int_equal(dram_bytes(k), 0);
    assert_int_equal(k->counters.l2_bytes, STREAM_BYTES);
    check_bound("loading from L2", time_of(k), ps_of(STREAM_BYTES, L2_RATE));
    krig_close(&r);
}

/*
 * When each of two streams of one size, on queues of their own, has ended, counted from the start of the first; a compute unit
 * holds `slots` work-groups, of which a stream needs two.
 */
static void two_streams(const char *slots, uint64_t ends_ps[2])
{
    struct krig_launch l;
    struct krig r;

    krig_open(&r, P100, "cu.workgroup_slots", slots, NULL);
    for (unsigned i = 0; i < 2; i++) {
        l = stream(load_text, krig_array(&r, STREAM_BYTES));
        assert_int_equal(sim_queue_new(r.m, &l.queue, &r.err), HD_OK);
        krig_submit(&r, &l);
    }
    assert_int_equal(sim_wait(r.m, 0, &r.err), HD_OK);
    for (unsigned i = 0; i < 2; i++)
        ends_ps[i] = r.kernels[i].end_ps - r.kernels[0].start_ps;
    krig_close(&r);
}

static void two_streams_share_or_take_turns(void **state)
{
    const uint64_t one_ps = ps_of(STREAM_BYTES, DRAM_RATE),
                   both_ps = ps_of(2 * STREAM_BYTES, DRAM_RATE);
    uint64_t ends_ps[2];

    (void)state;
    two_streams("4", ends_ps);
    assert_in_range(ends_ps[0], both_ps - both_ps * 3 / 100, both_ps + both_ps * 3 / 100);
    check_bound("the second of two streams at once", ends_ps[1], both_ps);
    two_streams("2", ends_ps);
    check_bound("the first of two streams in turn", ends_ps[0], one_ps);
    check_bound("the second of two streams in turn", ends_ps[1], both_ps);
}

/* ---- atomics ---- */

/*
 * Every lane of the work-group adds to one word. The first wavefront's atomic issues in cycle 1; the others come while it is
 * served, and all is done when each lane has held the word in its turn.
 */
static void atomics_on_one_word_follow_each_other(void **state)
{
    static const char text[] = ".kernel add\n.param x u32[]\n v_mov_b32 v0, 1\n"
                               " global_atomic_add_u32 [x], v0\n s_end\n.endkernel\n";
    enum { NOC = 20, LATENCY = 40, LAUNCHES = 2 };

    (void)state;
    for (uint32_t lanes = 32; lanes <= 1024; lanes *= 2) {
        for (uint32_t cycles = 1; cycles <= 16; cycles *= 4) {
            struct krig_launch l = {.text = text, .threads = lanes, .nargs = 1};
            const struct sim_kernel_record *k = NULL;
            const uint32_t *x;
            char hold[16];
            struct krig r;

            snprintf(hold, sizeof hold, "%" PRIu32, cycles);
            krig_open(&r, "cu.scheduler", "gto", "latency.alu", "1", "noc.latency_cycles", "20",
                      "l2.latency_cycles", "40", "l2.atomic_cycles", hold, NULL);
            l.args[0].is_array = true;
            l.args[0].value = krig_array(&r, 4);
            for (unsigned i = 0; i < LAUNCHES; i++) /* the second finds the word in L2 */
                k = krig_run(&r, &l);
            assert_int_equal(krig_cycles(k), 1 + NOC + lanes * cycles + LATENCY);
            x = sim_array_data(r.m, (uint32_t)l.args[0].value);
            assert_int_equal(*x, LAUNCHES * lanes);
            krig_close(&r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_take_the_rate_of_dram),
        cmocka_unit_test(a_copy_shares_the_rate_of_dram),
        cmocka_unit_test(stores_take_the_rate_of_dram),
        cmocka_unit_test(loads_from_l2_take_its_rate),
        cmocka_unit_test(two_streams_share_or_take_turns),
        cmocka_unit_test(atomics_on_one_word_follow_each_other),
    };

    return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}
