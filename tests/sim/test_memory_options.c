/*
 * What the memory system can be set to beside its defaults, on kernels whose time follows by arithmetic: rows of DRAM, the
 * hash of slices, and latencies of thousands of cycles. A cycle is 1 ns. A wavefront that ends waits for its loads, so that a kernel ends when its last load is back.
 *
 * It guards against: rows that are not closed by sim_cool(), that span one channel's bytes instead of all channels', or whose
 * extra time is added to the latency instead of the channel's; openings of rows that hold the channel, or do not keep their distance; one row for all banks; a hash that is always, or never, folded; late
 * answers that are overtaken.
 */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Latencies in cycles; a slice passes a sector in one. */
enum { NOC = 20, L2 = 40, DRAM = 100, LINE = 128, LINES = 16, MISS = 50, HIT = 30 };

#define LATENCIES                                                                                  \
    "noc.latency_cycles", "20", "l2.latency_cycles", "40", "l2.bytes_per_cycle", "32",             \
        "dram.latency_ns", "100", "latency.alu", "1"

/* ---- rows ---- */

/* One lane loads a word of each of some lines, in an order; `first` and `count` choose among them. */
static const char *load_lines(const unsigned *order, unsigned first, unsigned count)
{
    static char text[2048];
    size_t len = (size_t)snprintf(text, sizeof text, ".kernel k\n.param x u32[]\n");

    for (unsigned i = first; i < first + count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, " global_load_b32 v%u, [x + %u]\n",
                                i, order[i] * LINE);
    snprintf(text + len, sizeof text - len, " s_end\n.endkernel\n");
    return text;
}

static const unsigned in_order[LINES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const unsigned in_turn[LINES] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
static const unsigned three[LINES] = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13, 14, 15};

/*
 * One channel that passes a sector of 32 bytes in 32 ns. All requests are there before it has passed the first, so it is busy from
 * the first's arrival on: until noc + slice + L2 + (rows opened) * miss + lines * 32.
 */
static void rows_take_their_time(void **state)
{
    static const struct {
        const char *row_bytes, *banks;
        const unsigned *order;
        unsigned opened;
    } rows[] = {
        {"0", "1", in_order, 0},    {"512", "1", in_order, 4},  {"1024", "1", in_order, 2},
        {"2048", "1", in_order, 1}, {"128", "1", in_order, 16}, {"1024", "1", in_turn, 16},
        {"1024", "2", in_turn, 2},  {"512", "2", in_turn, 16}, /* rows 0 and 2, then 1 and 3 */
        {"512", "4", in_turn, 4},   {"512", "1", three, 13},    {"512", "2", three, 10},
        {"512", "4", three, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_kernel_record *k;
        struct krig r;

        krig_open(&r, LATENCIES, "l2.slices", "1", "dram.channels", "1", "dram.bytes_per_second",
                  "1000000000", "dram.row_miss_ns", "50", "dram.row_bytes", rows[i].row_bytes,
                  "dram.banks", rows[i].banks, NULL);
        k = krig_run(&r, &(struct krig_launch){.text = load_lines(rows[i].order, 0, LINES),
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(krig_array(&r, LINES * LINE))}});
        assert_int_equal(k->counters.dram_row_misses, rows[i].opened);
        assert_int_equal(krig_cycles(k),
                         NOC + 1 + L2 + rows[i].opened * MISS + LINES * 32 + DRAM + NOC);
        krig_close(&r);
    }
}

/*
 * The same requests, of which those that open a row start to pass at least GAP after the one before that did. Lines take LINE_NS to
 * pass, in which rows are opened: a gap that is no longer costs nothing, and a longer one sets the pace. All requests are there
 * when the first is.
 */
static void rows_open_beside_what_passes(void **state)
{
    static const struct {
        const char *rate, *row_bytes, *gap_ps;
        const unsigned *order;
        unsigned opened, ns; /* all lines have passed after ns */
    } rows[] = {
        {"1000000000", "128", "32000", in_order, 16, 16 * 32},
        {"1000000000", "128", "50000", in_order, 16, 15 * 50 + 32},
        {"1000000000", "1024", "50000", in_order, 2, 16 * 32},
        {"1000000000", "1024", "50000", in_turn, 16, 15 * 50 + 32},
        {"8000000000", "512", "100000", in_order, 4, 3 * 100 + 4 * 4},
        {"8000000000", "512", "100000", in_turn, 16, 15 * 100 + 4},
        {"8000000000", "512", "0", in_turn, 16, 16 * 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_kernel_record *k;
        struct krig r;

        krig_open(&r, LATENCIES, "l2.slices", "1", "dram.channels", "1", "dram.bytes_per_second",
                  rows[i].rate, "dram.row_gap_ps", rows[i].gap_ps, "dram.row_bytes",
                  rows[i].row_bytes, NULL);
        k = krig_run(&r, &(struct krig_launch){.text = load_lines(rows[i].order, 0, LINES),
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(krig_array(&r, LINES * LINE))}});
        assert_int_equal(k->counters.dram_row_misses, rows[i].opened);
        assert_int_equal(krig_cycles(k), NOC + 1 + L2 + rows[i].ns + DRAM + NOC);
        krig_close(&r);
    }
}

/*
 * Lines of two rows of one bank in turn, each sent a nanosecond after the one before and 4 ns long. A row waits for GAP after the
 * one before was opened; the other one is open until then, so that lines which arrive before join it and open nothing.
 */
static void requests_join_rows_that_wait(void **state)
{
    static const struct {
        const char *bank_rows, *gap_ps;
        unsigned opened, ns;
    } rows[] = {
        {"1", "100000", 16, 15 * 100 + 4},
        {"2", "100000", 2, 100 + 15 * 4},
        {"1", "10000", 16, 15 * 10 + 4},
        {"2", "10000", 3, 10 + 15 * 4}, /* the 11th line is late */
        {"4", "10000", 3, 10 + 15 * 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_kernel_record *k;
        struct krig r;

        krig_open(&r, LATENCIES, "l2.slices", "1", "dram.channels", "1", "dram.bytes_per_second",
                  "8000000000", "dram.row_gap_ps", rows[i].gap_ps, "dram.row_bytes", "1024",
                  "dram.bank_rows", rows[i].bank_rows, NULL);
        k = krig_run(&r, &(struct krig_launch){.text = load_lines(in_turn, 0, LINES),
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(krig_array(&r, LINES * LINE))}});
        assert_int_equal(k->counters.dram_row_misses, rows[i].opened);
        assert_int_equal(krig_cycles(k), NOC + 1 + L2 + rows[i].ns + DRAM + NOC);
        krig_close(&r);
    }
}

/* Each of two channels has half of what the rows of both span: 16 lines in turn, 4 of a channel in a row. */
static void each_channel_has_rows(void **state)
{
    const struct sim_kernel_record *k;
    struct krig r;

    (void)state;
    krig_open(&r, LATENCIES, "l2.slices", "2", "dram.channels", "2", "l2.hash", "modulo",
              "dram.bytes_per_second", "2000000000", "dram.row_miss_ns", "50", "dram.row_bytes",
              "512", NULL);
    k = krig_run(&r, &(struct krig_launch){.text = load_lines(in_order, 0, LINES),
                                           .nargs = 1,
                                           .args = {KRIG_ARRAY(krig_array(&r, LINES * LINE))}});
    assert_int_equal(k->counters.dram_row_misses, 4);
    /* The second channel's first line is sent a cycle after that of the first. */
    assert_int_equal(krig_cycles(k), 1 + NOC + 1 + L2 + 2 * MISS + LINES / 2 * 32 + DRAM + NOC);
    krig_close(&r);
}

/* A row stays open from kernel to kernel, but not when the machine is cooled. */
static void rows_stay_open_until_the_machine_is_cold(void **state)
{
    struct krig r;
    uint32_t x;

    (void)state;
    krig_open(&r, LATENCIES, "dram.row_bytes", "2048", "l2.slices", "1", "dram.channels", "1",
              "dram.row_miss_ns", "50", NULL);
    x = krig_array(&r, LINES * LINE);
    for (unsigned i = 0; i < 4; i++) {
        bool cold = i == 0 || i == 2;
        struct krig_launch l = {
            .text = load_lines(in_order, i, 1), .nargs = 1, .args = {KRIG_ARRAY(x)}};

        if (i == 2)
            sim_cool(r.m);
        assert_int_equal(krig_run(&r, &l)->counters.dram_row_misses, cold);
    }
    krig_close(&r);
}

/* ---- the hash of slices ---- */

/*
 * Eight lanes load from lines that are 256 apart, from L2, in which a slice takes 8 cycles for a sector. With modulo they are in one
 * slice and follow each other; with xor each has a slice of its own, and the last is sent 7 cycles after the first.
 */
static void strides_fall_on_one_slice_or_on_all(void **state)
{
    static const char text[] = ".kernel k\n.param x u32[]\n v_get_u32 v0, %lane\n"
                               " v_shl_b32 v0, v0, 15\n global_load_b32 v1, [x + v0*1]\n"
                               " s_end\n.endkernel\n";
    static const struct {
        const char *hash;
        unsigned cycles;
    } rows[] = {{"modulo", 8 * 8}, {"xor", 7 + 8}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct krig_launch l = {.text = text, .threads = 8, .nargs = 1};
        struct krig r;

        krig_open(&r, LATENCIES, "l2.bytes_per_cycle", "4", "l1.enabled", "off", "l2.hash",
                  rows[i].hash, NULL);
        l.args[0].is_array = true;
        l.args[0].value = krig_array(&r, 8 << 15);
        krig_run(&r, &l);
        assert_int_equal(krig_cycles(krig_run(&r, &l)), 2 + NOC + rows[i].cycles + L2 + NOC);
        krig_close(&r);
    }
}

/* ---- MSHRs ---- */

/*
 * Six wavefronts, each on a SIMD unit of its own, load one word in cycles that follow each other. The first so many wait for the line together; the next holds the
 * unit until it is there and hits then, as do those behind it, a cycle each. The last wavefront ends a hit later than its look-up.
 */
static void an_mshr_takes_so_many_loads(void **state)
{
    enum { WAVES = 6, MISS_CYCLES = NOC + 1 + L2 + 1 + DRAM + NOC };
    static const char *const limits[] = {"0", "1", "2", "5", "6", "7"};
    static const char text[] = ".kernel k\n.param x u32[]\n global_load_b32 v1, [x]\n"
                               " v_add_u32 v1, v1, v1\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct sim_kernel_record *k;
        unsigned limit = (unsigned)(limits[i][0] - '0');
        unsigned hits = limit && limit < WAVES ? WAVES - limit : 0;
        struct krig r;

        krig_open(&r, LATENCIES, "l2.slices", "1", "dram.channels", "1", "cu.simds", "8",
                  "cu.wavefront_slots", "64", "l1.latency_cycles", "30", "dram.bytes_per_second",
                  "32000000000", "l1.mshr_loads", limits[i], NULL);
        k = krig_run(&r, &(struct krig_launch){.text = text,
                                               .threads = WAVES * 32,
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(krig_array(&r, 128))}});
        assert_int_equal(k->counters.sectors, 1);
        assert_int_equal(k->counters.l1_requests, WAVES);
        assert_int_equal(k->counters.l1_hits, hits);
        assert_int_equal(krig_cycles(k), hits ? MISS_CYCLES + hits - 1 + HIT + 1 : MISS_CYCLES + 1);
        krig_close(&r);
    }
}

/*
 * The same loads without L1: each asks L2 for the sector, which fetches it once and answers all when it comes. From L2 the second
 * launch gets an answer for each, a cycle behind the other.
 */
static void without_l1_each_load_asks_for_itself(void **state)
{
    enum { WAVES = 6 };
    static const char text[] = ".kernel k\n.param x u32[]\n global_load_b32 v1, [x]\n"
                               " v_add_u32 v1, v1, v1\n s_end\n.endkernel\n";
    static const unsigned cycles[] = {NOC + 1 + L2 + 1 + DRAM + NOC + 1,
                                      NOC + WAVES - 1 + 1 + L2 + NOC + 1};
    struct krig_launch l = {.text = text, .threads = WAVES * 32, .nargs = 1};
    struct krig r;

    (void)state;
    krig_open(&r, LATENCIES, "l2.slices", "1", "dram.channels", "1", "cu.simds", "8",
              "cu.wavefront_slots", "64", "l1.enabled", "off", "dram.bytes_per_second",
              "32000000000", NULL);
    l.args[0].is_array = true;
    l.args[0].value = krig_array(&r, 128);
    for (unsigned i = 0; i < 2; i++) {
        const struct sim_kernel_record *k = krig_run(&r, &l);

        assert_int_equal(k->counters.sectors, WAVES);
        assert_int_equal(k->counters.l1_hits, 0);
        assert_int_equal(k->counters.dram_read_bytes, i ? 0 : 32);
        assert_int_equal(krig_cycles(k), cycles[i]);
    }
    krig_close(&r);
}

/* ---- answers ---- */

struct fills {
    uint64_t time_ps[4];
    uint32_t sectors[4];
    unsigned n;
};

static void on_fill(void *user, const struct hd_probe_event *e)
{
    struct fills *f = user;

    assert_true(f->n < 4);
    f->time_ps[f->n] = e->time_ps;
    f->sectors[f->n++] = e->sectors;
}

/*
 * An atomic on two sectors, and 1000 cycles later one on the first of them. Both are answered when the data of the first comes, which
 * is thousands of cycles later, and in order.
 */
static void late_answers_keep_their_order(void **state)
{
    static const char text[] =
        ".kernel k\n.param x u32[]\n v_get_u32 v0, %lane\n"
        " v_shl_b32 v0, v0, 5\n global_atomic_add_u32_rtn v1, [x + v0*1], v0\n"
        " v_mul_u32 v3, v3, v3\n v_add_u32 v3, v3, v3\n"
        " global_atomic_add_u32_rtn v4, [x + v3*4], v0\n s_end\n.endkernel\n";
    static const struct {
        const char *dram_ns;
        unsigned dram;
    } rows[] = {{"2500", 2500}, {"4500", 4500}, {"9000", 9000}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fills f = {0};
        struct krig r;
        uint64_t start_ps;

        krig_open(&r, LATENCIES, "l2.slices", "1", "dram.channels", "1", "latency.mul", "999",
                  "dram.bytes_per_second", "32000000000", "dram.latency_ns", rows[i].dram_ns, NULL);
        sim_set_probe(r.m, &(struct hd_probe){&f, on_fill, HD_PROBE_WANT(HD_PROBE_FILL)});
        start_ps = krig_run(&r, &(struct krig_launch){.text = text,
                                                      .threads = 2,
                                                      .nargs = 1,
                                                      .args = {KRIG_ARRAY(krig_array(&r, 128))}})
                       ->start_ps;
        assert_int_equal(f.n, 2);
        assert_int_equal(f.sectors[0], 3);
        assert_int_equal(f.sectors[1], 1);
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(f.time_ps[k] - start_ps,
                             (2 + NOC + 2 + L2 + 2 + rows[i].dram + NOC) * 1000);
        krig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_take_their_time),
        cmocka_unit_test(rows_open_beside_what_passes),
        cmocka_unit_test(requests_join_rows_that_wait),
        cmocka_unit_test(each_channel_has_rows),
        cmocka_unit_test(rows_stay_open_until_the_machine_is_cold),
        cmocka_unit_test(strides_fall_on_one_slice_or_on_all),
        cmocka_unit_test(an_mshr_takes_so_many_loads),
        cmocka_unit_test(without_l1_each_load_asks_for_itself),
        cmocka_unit_test(late_answers_keep_their_order),
    };

    return cmocka_run_group_tests_name("memory_options", tests, NULL, NULL);
}
