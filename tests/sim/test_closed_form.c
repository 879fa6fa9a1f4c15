/*
 * Micro-kernels whose cycle count follows from the configuration by arithmetic. A kernel of one
 * wavefront starts at the cycle of its work-group; its last instruction, s_end, takes one issue
 * cycle, in which the kernel ends.
 */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 50 };

/* Kernel text: `head`, then n times `line` (with %d replaced by the number), then the end. */
static const char *repeat(char *out, size_t size, const char *head, const char *line, int n)
{
    size_t len = (size_t)snprintf(out, size, ".kernel k\n%s\n", head);

    for (int i = 0; i < n; i++) {
        char text[256];

        snprintf(text, sizeof text, line, i % 8, i % 8);
        len += (size_t)snprintf(out + len, size - len, "    %s\n", text);
        assert_true(len < size);
    }
    snprintf(out + len, size - len, "    s_end\n.endkernel\n");
    return out;
}

static uint64_t cycles_of(struct krig *r, const char *text, uint32_t threads)
{
    return krig_cycles(krig_run(r, &(struct krig_launch){.text = text, .threads = threads}));
}

struct chain {
    const char *line;
    const char *key;
    unsigned latency;
};

/* n dependent instructions of a class take n times its latency, and the end waits for none of them. */
static void test_dependent_chain(void **state)
{
    static const struct chain rows[] = {
        {"v_add_u32 v0, v0, v0", "latency.alu", 7},
        {"v_fma_f32 v0, v0, v0, v0", "latency.mul", 9},
        {"v_cvt_f32_i32 v0, v0", "latency.cvt", 11},
        {"v_sqrt_f32 v0, v0", "latency.sfu", 23},
        {"v_add_f64 v[0:1], v[0:1], v[0:1]", "latency.f64", 13},
        {"s_add_u32 s0, s0, s0", "latency.salu", 5},
        {"v_shuffle_xor_b32 v0, v0, 1", "latency.xlane", 17},
    };
    static char text[16384];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char latency[16];
        struct krig r;

        snprintf(latency, sizeof latency, "%u", rows[i].latency);
        krig_open(&r, rows[i].key, latency, NULL);
        /* The last of the chain issues after n - 1 latencies, s_end in the cycle after it. */
        assert_int_equal(cycles_of(&r, repeat(text, sizeof text, "", rows[i].line, N), 32),
                         (N - 1) * rows[i].latency + 1);
        krig_close(&r);
    }
}

struct rate {
    const char *line;
    const char *key;
};

/* n independent instructions take n times width / (lanes per cycle), in one wavefront and in several. */
static void test_independent_throughput(void **state)
{
    static const struct rate rows[] = {
        {"v_add_u32 v%d, v9, v9", "lanes_per_cycle.alu"},
        {"v_fma_f32 v%d, v9, v9, v9", "lanes_per_cycle.mul"},
        {"v_cvt_f32_i32 v%d, v9", "lanes_per_cycle.cvt"},
        {"v_sqrt_f32 v%d, v9", "lanes_per_cycle.sfu"},
        {"v_shuffle_xor_b32 v%d, v9, 1", "lanes_per_cycle.xlane"},
    };
    static char text[16384];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned lanes = 4; lanes <= 32; lanes *= 2) {
            char value[16];
            struct krig r;
            unsigned busy = 32 / lanes;

            snprintf(value, sizeof value, "%u", lanes);
            krig_open(&r, rows[i].key, value, "latency.alu", "4", "latency.mul", "4", "latency.cvt",
                      "4", "latency.sfu", "4", "latency.xlane", "4", NULL);
            repeat(text, sizeof text, "", rows[i].line, N);
            assert_int_equal(cycles_of(&r, text, 32), (N - 1) * busy + 1);
            /* Four wavefronts share the unit: four times the instructions, and four s_end if each
             * needs its own cycle. */
            assert_in_range(cycles_of(&r, text, 128), (4 * N - 1) * busy + 1,
                            (4 * N - 1) * busy + 4);
            krig_close(&r);
        }
    }
}

/* f64 arithmetic of less than a lane a cycle: `lanes` in `interval` cycles. */
static void test_f64_interval(void **state)
{
    static const struct {
        const char *lanes, *interval;
        unsigned busy;
    } rows[] = {{"16", "1", 2}, {"16", "3", 6}, {"1", "1", 32}, {"1", "2", 64}, {"4", "4", 32}};
    static char text[16384];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct krig r;

        krig_open(&r, "lanes_per_cycle.f64", rows[i].lanes, "lanes_per_cycle.f64_interval",
                  rows[i].interval, "latency.f64", "2", NULL);
        repeat(text, sizeof text, "", "v_add_f64 v[0:1], v[8:9], v[8:9]", N);
        assert_int_equal(cycles_of(&r, text, 32), (N - 1) * rows[i].busy + 1);
        krig_close(&r);
    }
}

/* PB-22: a wavefront of 64 lanes takes a 16-lane unit for four cycles; the slope is exact. */
static void test_pb22_issue_slope(void **state)
{
    static char text[32768];
    struct krig r;
    uint64_t first;

    (void)state;
    krig_open(&r, "wavefront_size", "64", "lanes_per_cycle.alu", "16", NULL);
    first = cycles_of(&r, repeat(text, sizeof text, "", "v_add_u32 v%d, v9, v9", 100), 64);
    assert_int_equal(
        cycles_of(&r, repeat(text, sizeof text, "", "v_add_u32 v%d, v9, v9", 200), 64) - first, 400);
    krig_close(&r);
}

/* ---- local memory ---- */

struct pattern {
    const char *index;           /* code that leaves the byte address in v1 from the lane in v0 */
    unsigned passes64, passes32; /* 64 lanes served together, and in halves */
};

/* PB-23: passes, and conflicts as passes beyond the least. */
static void test_pb23_local_passes(void **state)
{
    static const struct pattern rows[] = {
        {"v_mov_b32 v1, 0", 1, 2},
        {"v_shl_b32 v1, v0, 2", 2, 2},
        {"v_shl_b32 v1, v0, 3", 4, 4},
        {"v_shl_b32 v1, v0, 4", 8, 8},
        {"v_shl_b32 v1, v0, 6", 32, 32},
        {"v_shl_b32 v1, v0, 7", 64, 64},
        {"v_mul_u32 v1, v0, 132", 2, 2},
        {"v_and_b32 v1, v0, 1\n v_shl_b32 v1, v1, 7", 2, 4},
        {"v_shr_b32 v1, v0, 2\n v_shl_b32 v1, v1, 2", 1, 2},
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned halves = 0; halves < 2; halves++) {
            struct krig r;
            const struct sim_kernel_record *k;
            unsigned passes = halves ? rows[i].passes32 : rows[i].passes64;

            krig_open(&r, "wavefront_size", "64", "lds.lanes_per_pass", halves ? "32" : "64", NULL);
            snprintf(text, sizeof text,
                     ".kernel k\n.lds 16384\n v_get_u32 v0, %%lane\n %s\n local_load_b32 v2, "
                     "[v1]\n s_end\n.endkernel\n",
                     rows[i].index);
            k = krig_run(&r, &(struct krig_launch){.text = text, .threads = 64});
            assert_int_equal(k->counters.local_accesses, 1);
            assert_int_equal(k->counters.local_passes, passes);
            assert_int_equal(k->counters.local_conflict_passes, passes - (halves ? 2 : 1));
            krig_close(&r);
        }
    }
}

static unsigned gcd(unsigned a, unsigned b)
{
    return b ? gcd(b, a % b) : a;
}

/* A stride of s words over 32 banks meets a bank gcd(s, 32) times; a dependent use sees latency + passes - 1. */
static void test_local_stride(void **state)
{
    char text[1024];

    (void)state;
    for (unsigned stride = 1; stride <= 32; stride++) {
        struct krig r;
        unsigned passes = gcd(stride, 32);

        krig_open(&r, "lds.latency_cycles", "20", "latency.alu", "4", NULL);
        snprintf(text, sizeof text,
                 ".kernel k\n.lds 4096\n v_get_u32 v0, %%lane\n v_mul_u32 v1, v0, %u\n "
                 "local_load_b32 v2, [v1*4]\n"
                 " v_add_u32 v3, v2, v2\n s_end\n.endkernel\n",
                 stride);
        /* v_get at 0, v_mul at 4, the load one multiply latency later, the use of v2 after the
         * load; then s_end. */
        assert_int_equal(cycles_of(&r, text, 32), 4 + r.config.lat_mul + 20 + passes - 1 + 1);
        krig_close(&r);
    }
}

/* ---- global memory ---- */

/* Each load gives the address of the next: the time of one is the latency of the level that it comes from. */
static uint64_t chase(struct krig *r, uint32_t array, unsigned loads)
{
    static char text[65536];

    repeat(text, sizeof text, ".param x u32[]\n v_mov_b32 v0, 0", "global_load_b32 v0, [x + v0*4]",
           (int)loads);
    return krig_cycles(
        krig_run(r, &(struct krig_launch){
                        .text = text, .threads = 1, .nargs = 1, .args = {KRIG_ARRAY(array)}}));
}

static void fill_chase(struct krig *r, uint32_t array, uint32_t elements, uint32_t step)
{
    uint32_t *x = sim_array_data(r->m, array);

    for (uint32_t i = 0; i < elements; i++)
        x[i] = (i + step) % elements;
}

static void test_pointer_chase(void **state)
{
    struct krig r;
    uint32_t array;
    uint64_t l1, l2, dram;
    uint64_t way, sector;

    (void)state;
    krig_open(&r, "l1.bytes", "4096", "l1.ways", "4", "l1.latency_cycles", "30",
              "noc.latency_cycles", "20", "l2.latency_cycles", "40", "l2.bytes_per_cycle", "32",
              "dram.latency_ns", "100", "dram.channels", "1", "dram.bytes_per_second",
              "32000000000", NULL);
    /* 32-byte sectors: a cycle at L2's port, a cycle at the channel; to L2 and back takes 20 each
     * way and 40 there. */
    sector = 1;
    way = 20 + sector + 40 + 20;
    array = krig_array(&r, 256 * 1024);

    fill_chase(&r, array, 65536, 32);
    dram = chase(&r, array, 200) - chase(&r, array, 100);
    sim_cool(r.m);
    dram = chase(&r, array, 200);
    sim_cool(r.m);
    dram -= chase(&r, array, 100);
    assert_int_equal(dram, 100 * (way + sector + 100));

    /* 256 lines are 32 KiB: past L1, within L2, which the first round has filled. */
    fill_chase(&r, array, 256 * 32, 32);
    chase(&r, array, 300);
    l2 = chase(&r, array, 400) - chase(&r, array, 300);
    assert_int_equal(l2, 100 * way);

    fill_chase(&r, array, 8, 1);
    chase(&r, array, 10);
    l1 = chase(&r, array, 200) - chase(&r, array, 100);
    assert_int_equal(l1, 100 * 30);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dependent_chain),   cmocka_unit_test(test_independent_throughput),
        cmocka_unit_test(test_f64_interval),      cmocka_unit_test(test_pb22_issue_slope),
        cmocka_unit_test(test_pb23_local_passes), cmocka_unit_test(test_local_stride),
        cmocka_unit_test(test_pointer_chase),
    };

    return cmocka_run_group_tests_name("closed_form", tests, NULL, NULL);
}
