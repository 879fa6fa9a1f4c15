/*
 * Page faults of kernels: what is counted against exact figures (PB-33), and times that follow from the
 * parameters by arithmetic. Clocks are 1 GHz, so that a cycle is 1 ns, and the link passes 8 bytes a ns.
 */
#include "sim/prefetch_tree.h"
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NS = 1000, PAGE = 4096, LINK = 1500, WAKE = 5000, BATCH = 30000, BLOCK = 20000 };

/* What the sink sees. */
struct seen {
    struct sim_transfer_record transfers[64]; /* the first */
    uint64_t count[5][2], bytes[5][2];        /* by kind and whether to the device */
    unsigned ntransfers, nkernels;
    struct sim_kernel_record kernels[16];
    struct krig rig;
};

static void on_transfer(void *user, const struct sim_transfer_record *t)
{
    struct seen *s = user;

    if (s->ntransfers < 64)
        s->transfers[s->ntransfers] = *t;
    s->ntransfers++;
    s->count[t->kind][t->to_device]++;
    s->bytes[t->kind][t->to_device] += t->bytes;
}

static void on_kernel(void *user, const struct sim_kernel_record *k)
{
    struct seen *s = user;

    s->kernels[s->nkernels++] = *k;
}

static struct seen *open_rig(const char *tree, const char *key, const char *value)
{
    struct seen *s = calloc(1, sizeof *s);

    assert_non_null(s);
    krig_open(&s->rig, "compute_units", "2", "um.page_faults", "on", "um.prefetch_tree", tree,
              "um.page_bytes", "4096", "um.fault_latency_ns", "5000", "um.fault_batch_ns", "30000",
              "um.fault_block_ns", "20000", "um.fault_page_ns", "0", "um.host_fault_ns", "6000",
              "link.latency_ns", "1500", "link.h2d_bytes_per_second", "8000000000",
              "link.d2h_bytes_per_second", "8000000000", key, value, NULL);
    sim_set_sink(s->rig.m,
                 &(struct sim_sink){.user = s, .transfer = on_transfer, .kernel = on_kernel});
    return s;
}

static void close_rig(struct seen *s)
{
    krig_close(&s->rig);
    free(s);
}

static struct sim_residency residency(const struct seen *s, uint32_t array)
{
    struct sim_residency r;

    sim_array_residency(s->rig.m, array, &r);
    return r;
}

static struct sim_um_totals totals(const struct seen *s)
{
    struct sim_um_totals t;

    sim_um_totals(s->rig.m, &t);
    return t;
}

/* The host touches all of an array, and waits as long as that takes. */
static void host(struct seen *s, uint32_t array, uint64_t bytes, bool write)
{
    uint64_t ticket = sim_host_access(
        s->rig.m, &(struct sim_host_access){.array = array, .bytes = bytes, .write = write});

    if (ticket && sim_wait(s->rig.m, ticket, &s->rig.err))
        fail_msg("%s", s->rig.err.message);
}

static void finish(struct seen *s)
{
    if (sim_wait(s->rig.m, 0, &s->rig.err))
        fail_msg("%s", s->rig.err.message);
}

/* An array that the host has written: word i is i. */
static uint32_t host_array(struct seen *s, uint64_t bytes)
{
    uint32_t id = krig_array(&s->rig, bytes);
    uint32_t *data = sim_array_data(s->rig.m, id);

    for (uint32_t i = 0; i < bytes / 4; i++)
        data[i] = i;
    host(s, id, bytes, true);
    return id;
}

static uint64_t prefetch(struct seen *s, uint32_t queue, uint32_t array, uint64_t bytes)
{
    struct sim_cmd cmd = {.kind = SIM_PREFETCH, .copy = {.array = array, .bytes = bytes}};
    uint64_t ticket;

    assert_int_equal(sim_submit(s->rig.m, queue, &cmd, &ticket, &s->rig.err), HD_OK);
    return ticket;
}

static uint64_t move_ns(uint64_t pages)
{
    return LINK + pages * PAGE / 8;
}

/* ---- PB-33 ----------------------------------------------------------------------------- */

/* One wavefront passes twice over all words in order. */
static const char sum_twice[] = ".kernel k\n"
                                ".param x u32[]\n"
                                ".param n u32\n"
                                ".param out u32[]\n"
                                "    s_mov_b32 s10, 2\n"
                                "pass:\n"
                                "    v_get_u32 v0, %lane\n"
                                "    s_mov_b32 s11, n\n"
                                "next:\n"
                                "    global_load_b32 v1, [x + v0*4]\n"
                                "    v_add_u32 v2, v2, v1\n"
                                "    v_add_u32 v0, v0, 32\n"
                                "    s_sub_u32 s11, s11, 32\n"
                                "    s_branch_nz s11, next\n"
                                "    s_sub_u32 s10, s10, 1\n"
                                "    s_branch_nz s10, pass\n"
                                "    v_get_u32 v0, %lane\n"
                                "    global_store_b32 [out + v0*4], v2\n"
                                "    s_end\n"
                                ".endkernel\n";

static const char write_twice[] = ".kernel k\n"
                                  ".param x u32[]\n"
                                  ".param n u32\n"
                                  "    s_mov_b32 s10, 2\n"
                                  "pass:\n"
                                  "    v_get_u32 v0, %lane\n"
                                  "    s_mov_b32 s11, n\n"
                                  "next:\n"
                                  "    global_store_b32 [x + v0*4], v0\n"
                                  "    fence\n"
                                  "    v_add_u32 v0, v0, 32\n"
                                  "    s_sub_u32 s11, s11, 32\n"
                                  "    s_branch_nz s11, next\n"
                                  "    s_sub_u32 s10, s10, 1\n"
                                  "    s_branch_nz s10, pass\n"
                                  "    s_end\n"
                                  ".endkernel\n";

static void submit_sum(struct seen *s, uint32_t x, uint32_t words, uint32_t out)
{
    krig_submit(&s->rig,
                &(struct krig_launch){.text = sum_twice,
                                      .threads = 32,
                                      .nargs = 3,
                                      .args = {KRIG_ARRAY(x), KRIG_VALUE(words), KRIG_ARRAY(out)}});
}

/* Each lane has every 32nd word, twice. */
static void assert_sums(struct seen *s, uint32_t out, uint32_t words)
{
    const uint32_t *sums = sim_array_data(s->rig.m, out);

    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t want = 0;

        for (uint32_t i = lane; i < words; i += 32)
            want += 2 * i;
        assert_int_equal(sums[lane], want);
    }
}

enum { DEVICE_PAGES = 256, LARGE = 384, WORDS = LARGE * PAGE / 4 };

static void an_array_larger_than_the_device_thrashes(void **state)
{
    (void)state;
    for (unsigned prefetched = 0; prefetched < 2; prefetched++) {
        struct seen *s = open_rig("off", "dram.bytes", "1048576");
        uint32_t x = host_array(s, LARGE * PAGE), out = krig_array(&s->rig, 128);
        const struct sim_counters *c = &s->kernels[0].counters;

        if (prefetched)
            prefetch(s, 0, x, LARGE * PAGE);
        submit_sum(s, x, WORDS, out);
        while (!sim_idle(s->rig.m)) {
            assert_int_equal(
                sim_run_until(s->rig.m, sim_now(s->rig.m) + 9 * 1000 * NS, &s->rig.err), HD_OK);
            assert_true(residency(s, x).device <= DEVICE_PAGES);
        }
        assert_sums(s, out, WORDS);
        /* The last fault is of the page of the sums. */
        assert_int_equal(c->page_faults, 2 * LARGE + 1);
        assert_int_equal(s->bytes[SIM_T_FAULT][true], 2 * LARGE * PAGE);
        assert_int_equal(totals(s).evictions, 2 * LARGE + 1 - DEVICE_PAGES);
        assert_int_equal(totals(s).write_backs, 0);
        assert_int_equal(s->count[SIM_T_EVICT][false], 0);
        /* What came is there or has left. */
        assert_int_equal(s->bytes[SIM_T_FAULT][true] / PAGE + 1,
                         totals(s).evictions + residency(s, x).device + residency(s, out).device);
        close_rig(s);
    }
}

static void a_written_array_larger_than_the_device_is_written_back(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "1048576");
    uint32_t x = host_array(s, LARGE * PAGE);

    (void)state;
    krig_submit(&s->rig, &(struct krig_launch){.text = write_twice,
                                               .threads = 32,
                                               .nargs = 2,
                                               .args = {KRIG_ARRAY(x), KRIG_VALUE(WORDS)}});
    finish(s);
    assert_int_equal(s->kernels[0].counters.page_faults, 2 * LARGE);
    assert_int_equal(totals(s).write_backs, 2 * LARGE - DEVICE_PAGES);
    assert_int_equal(s->count[SIM_T_EVICT][false], 2 * LARGE - DEVICE_PAGES);
    assert_int_equal(s->bytes[SIM_T_EVICT][false], (2 * LARGE - DEVICE_PAGES) * PAGE);
    assert_int_equal(residency(s, x).device, DEVICE_PAGES);
    assert_int_equal(residency(s, x).dirty, DEVICE_PAGES);
    host(s, x, LARGE * PAGE, false);
    assert_int_equal(s->bytes[SIM_T_FAULT][false], DEVICE_PAGES * PAGE);
    close_rig(s);
}

static void an_array_that_fits_faults_once_a_page(void **state)
{
    enum { SMALL = 100 };

    (void)state;
    for (unsigned prefetched = 0; prefetched < 2; prefetched++) {
        struct seen *s = open_rig("off", "dram.bytes", "1048576");
        uint32_t x = host_array(s, SMALL * PAGE), out = krig_array(&s->rig, 128);

        if (prefetched)
            prefetch(s, 0, x, SMALL * PAGE);
        submit_sum(s, x, SMALL * PAGE / 4, out);
        finish(s);
        assert_sums(s, out, SMALL * PAGE / 4);
        assert_int_equal(s->kernels[0].counters.page_faults, (prefetched ? 0 : SMALL) + 1);
        /* The second launch finds all of it. */
        submit_sum(s, x, SMALL * PAGE / 4, out);
        finish(s);
        assert_int_equal(s->kernels[1].counters.page_faults, 0);
        close_rig(s);
    }
}

static void an_odd_number_of_bytes_is_whole_pages(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "1048576");
    uint32_t x = host_array(s, 5000);

    (void)state;
    prefetch(s, 0, x, 5000);
    finish(s);
    assert_int_equal(s->ntransfers, 1);
    assert_int_equal(s->bytes[SIM_T_PREFETCH][true], 2 * PAGE);
    assert_int_equal(residency(s, x).device, 2);
    assert_int_equal(((uint32_t *)sim_array_data(s->rig.m, x))[1249], 1249);
    close_rig(s);
}

/* Page 0 ahead of each other page in turn. */
static const char hot_page[] = ".kernel k\n"
                               ".param x u32[]\n"
                               ".param n u32\n"
                               "    s_mov_b32 s11, n\n"
                               "    v_mov_b32 v0, 0\n"
                               "next:\n"
                               "    v_add_u32 v0, v0, 1024\n"
                               "    global_load_b32 v1, [x]\n"
                               "    v_add_u32 v2, v2, v1\n"
                               "    global_load_b32 v1, [x + v0*4]\n"
                               "    v_add_u32 v2, v2, v1\n"
                               "    s_sub_u32 s11, s11, 1\n"
                               "    s_branch_nz s11, next\n"
                               "    s_end\n"
                               ".endkernel\n";

/* A page that is used again and again stays, however long ago it came. */
static void the_page_used_longest_ago_goes(void **state)
{
    enum { PAGES = 64 };
    struct seen *s = open_rig("off", "dram.bytes", "65536"); /* 16 pages */
    uint32_t x = host_array(s, PAGES * PAGE);

    (void)state;
    krig_submit(&s->rig, &(struct krig_launch){.text = hot_page,
                                               .threads = 1,
                                               .nargs = 2,
                                               .args = {KRIG_ARRAY(x), KRIG_VALUE(PAGES - 1)}});
    finish(s);
    assert_int_equal(s->kernels[0].counters.page_faults, PAGES);
    assert_int_equal(totals(s).evictions, PAGES - 16);
    close_rig(s);
}

/* ---- times ----------------------------------------------------------------------------- */

/* Each lane loads the word at lane * stride. */
static const char strided[] = ".kernel k\n"
                              ".param x u32[]\n"
                              ".param stride u32\n"
                              "    v_get_u32 v0, %lane\n"
                              "    v_mul_u32 v0, v0, stride\n"
                              "    global_load_b32 v1, [x + v0*4]\n"
                              "    v_add_u32 v2, v1, v1\n"
                              "    s_end\n"
                              ".endkernel\n";

static uint64_t submit_strided(struct seen *s, uint32_t queue, uint32_t x, uint32_t words)
{
    return krig_submit(&s->rig, &(struct krig_launch){.text = strided,
                                                      .threads = 32,
                                                      .queue = queue,
                                                      .nargs = 2,
                                                      .args = {KRIG_ARRAY(x), KRIG_VALUE(words)}});
}

static uint64_t duration(const struct seen *s, unsigned kernel)
{
    return s->kernels[kernel].end_ps - s->kernels[kernel].start_ps;
}

/* A fault delays the load by the wait for the handler, its work, and the move. */
static void one_fault(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "1048576");
    uint32_t x = host_array(s, PAGE);
    uint64_t fault_ns = WAKE + BATCH + BLOCK + move_ns(1);

    (void)state;
    submit_strided(s, 0, x, 1);
    finish(s);
    sim_cool(s->rig.m);
    submit_strided(s, 0, x, 1);
    finish(s);
    assert_int_equal(duration(s, 0), duration(s, 1) + fault_ns * NS);
    assert_int_equal(s->ntransfers, 1);
    assert_int_equal(s->transfers[0].kind, SIM_T_FAULT);
    assert_true(s->transfers[0].to_device);
    assert_int_equal(s->transfers[0].array, x);
    assert_int_equal(s->transfers[0].ticket, s->kernels[0].ticket);
    assert_int_equal(totals(s).handler_busy_ps, (fault_ns - WAKE) * NS);
    assert_int_equal(s->kernels[0].counters.fault_batches, 1);
    assert_int_equal(s->kernels[0].counters.fault_bytes, PAGE);
    close_rig(s);
}

static const char store_word[] = ".kernel k\n"
                                 ".param x u32[]\n"
                                 "    v_mov_b32 v1, 9\n"
                                 "    global_store_b32 [x], v1\n"
                                 "    s_end\n"
                                 ".endkernel\n";

static const char add_word[] = ".kernel k\n"
                               ".param x u32[]\n"
                               "    v_mov_b32 v1, 9\n"
                               "    global_atomic_add_u32 [x], v1\n"
                               "    s_end\n"
                               ".endkernel\n";

static const char add_word_and_use[] = ".kernel k\n"
                                       ".param x u32[]\n"
                                       "    v_mov_b32 v1, 9\n"
                                       "    global_atomic_add_u32_rtn v2, [x], v1\n"
                                       "    v_add_u32 v2, v2, v1\n"
                                       "    s_end\n"
                                       ".endkernel\n";

static void submit_one(struct seen *s, const char *text, uint32_t x)
{
    krig_submit(&s->rig, &(struct krig_launch){
                             .text = text, .threads = 1, .nargs = 1, .args = {KRIG_ARRAY(x)}});
    finish(s);
}

/* The same of a store and of atomics, whose effect the end of the kernel waits for. */
static void stores_and_atomics_wait(void **state)
{
    static const char *const texts[] = {store_word, add_word, add_word_and_use};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct seen *s = open_rig("off", "dram.bytes", "1048576");
        uint32_t x = host_array(s, PAGE);

        submit_one(s, texts[i], x);
        assert_int_equal(residency(s, x).dirty, 1);
        sim_cool(s->rig.m);
        assert_int_equal(sim_run_until(s->rig.m, 100000 * NS, &s->rig.err), HD_OK); /* a whole ns */
        submit_one(s, texts[i], x);
        assert_int_equal(duration(s, 0), duration(s, 1) + (WAKE + BATCH + BLOCK + move_ns(1)) * NS);
        close_rig(s);
    }
}

/* The first touch of a page allocates it: there is no move. */
static void a_first_touch_moves_nothing(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "1048576");
    uint32_t x = krig_array(&s->rig, PAGE);

    (void)state;
    submit_strided(s, 0, x, 1);
    finish(s);
    sim_cool(s->rig.m);
    submit_strided(s, 0, x, 1);
    finish(s);
    assert_int_equal(duration(s, 0), duration(s, 1) + (WAKE + BATCH + BLOCK) * NS);
    assert_int_equal(s->ntransfers, 0);
    assert_int_equal(residency(s, x).device, 1);
    close_rig(s);
}

/* 32 pages behind each other are one batch and one move; with batches of 16, two. */
static void pages_of_a_batch_move_together(void **state)
{
    (void)state;
    for (unsigned batches = 1; batches <= 2; batches++) {
        struct seen *s = open_rig("off", "um.fault_batch", batches == 1 ? "32" : "16");
        uint32_t x = host_array(s, 32 * PAGE);
        const struct sim_transfer_record *t = s->transfers;
        uint64_t pages = 32 / batches;

        submit_strided(s, 0, x, PAGE / 4);
        finish(s);
        assert_int_equal(s->ntransfers, batches);
        assert_int_equal(t[0].bytes, pages * PAGE);
        assert_int_equal(t[0].end_ps - t[0].start_ps, move_ns(pages) * NS);
        /* v_get and v_mul are 6 cycles each; the first line is looked up when the load issues. */
        assert_int_equal(t[0].start_ps - s->kernels[0].start_ps, (12 + WAKE + BATCH + BLOCK) * NS);
        if (batches == 2)
            assert_int_equal(t[1].start_ps, t[0].end_ps + (BATCH + BLOCK) * NS);
        assert_int_equal(s->kernels[0].counters.page_faults, 32);
        assert_int_equal(s->kernels[0].counters.fault_batches, batches);
        assert_int_equal(totals(s).handler_busy_ps, batches * (BATCH + BLOCK + move_ns(pages)) * NS);
        close_rig(s);
    }
}

/* Each page of a batch takes its time, those that the tree adds, too. */
static void each_page_has_its_cost(void **state)
{
    enum { PAGE_COST = 100 };

    (void)state;
    for (unsigned tree = 0; tree < 2; tree++) {
        struct seen *s = open_rig(tree ? "on" : "off", "um.fault_page_ns", "100");
        uint32_t x = host_array(s, 60 * PAGE);
        uint64_t pages = tree ? 60 : 32; /* a page a lane is more than half of the array */

        submit_strided(s, 0, x, PAGE / 4);
        finish(s);
        assert_int_equal(s->bytes[SIM_T_FAULT][true], pages * PAGE);
        assert_int_equal(s->transfers[0].start_ps - s->kernels[0].start_ps,
                         (12 + WAKE + BATCH + BLOCK + pages * PAGE_COST) * NS);
        close_rig(s);
    }
}

/* A buffer of fewer entries than a batch bounds what is read at once. */
static void the_buffer_bounds_a_batch(void **state)
{
    struct seen *s = open_rig("off", "um.fault_buffer", "8");
    uint32_t x = host_array(s, 32 * PAGE);

    (void)state;
    submit_strided(s, 0, x, PAGE / 4);
    finish(s);
    assert_int_equal(totals(s).fault_batches, 4);
    assert_int_equal(totals(s).page_faults, 32);
    close_rig(s);
}

/* A page in each of four blocks of 2 MiB: the handler goes to all of them, and each moves by itself. */
static void each_block_has_its_cost(void **state)
{
    struct seen *s = open_rig("off", "um.fault_batch", "256");
    uint32_t x = host_array(s, 8 << 20);

    (void)state;
    submit_strided(s, 0, x, (8 << 20) / 32 / 4);
    finish(s);
    assert_int_equal(s->count[SIM_T_FAULT][true], 32);
    assert_int_equal(s->transfers[0].start_ps - s->kernels[0].start_ps,
                     (12 + WAKE + BATCH + 4 * BLOCK) * NS);
    close_rig(s);
}

/* Two kernels that fault at once on pages of their own, a page a batch: the second waits for the first. */
static void kernels_share_one_handler(void **state)
{
    struct seen *s = open_rig("off", "um.fault_batch", "1");
    uint32_t x = host_array(s, PAGE), y = host_array(s, PAGE), queue;
    uint64_t service_ns = BATCH + BLOCK + move_ns(1);

    (void)state;
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    submit_strided(s, 0, x, 1);
    submit_strided(s, queue, y, 1);
    finish(s);
    assert_int_equal(s->transfers[0].array, x);
    assert_int_equal(s->transfers[1].array, y);
    assert_int_equal(s->transfers[1].end_ps - s->transfers[0].end_ps, service_ns * NS);
    assert_int_equal(s->kernels[1].end_ps - s->kernels[0].end_ps, service_ns * NS);
    assert_int_equal(totals(s).handler_busy_ps, 2 * service_ns * NS);
    close_rig(s);
}

/* PB-33. Two kernels on two compute units touch one page: one move, which ends both waits. */
static void kernels_share_one_migration(void **state)
{
    struct seen *s = open_rig("off", "um.fault_batch", "256");
    uint32_t x = host_array(s, PAGE), queue;

    (void)state;
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    submit_strided(s, 0, x, 1);
    submit_strided(s, queue, x, 1);
    finish(s);
    assert_int_equal(s->ntransfers, 1);
    assert_int_equal(totals(s).page_faults, 1);
    assert_int_equal(totals(s).fault_duplicates, 1);
    assert_int_equal(totals(s).fault_batches, 1);
    assert_int_equal(s->kernels[0].counters.fault_batches, 1);
    assert_int_equal(s->kernels[1].counters.fault_batches, 1);
    close_rig(s);
}

/* A page that a prefetch is bringing is waited for; no handler is asked. */
static void a_prefetch_on_its_way_is_waited_for(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "16777216");
    uint32_t x = host_array(s, 256 * PAGE), queue;

    (void)state;
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    prefetch(s, queue, x, 256 * PAGE);
    submit_strided(s, 0, x, 1);
    finish(s);
    sim_cool(s->rig.m);
    submit_strided(s, 0, x, 1);
    finish(s);
    assert_int_equal(s->ntransfers, 1);
    assert_int_equal(s->transfers[0].end_ps, move_ns(256) * NS);
    assert_int_equal(s->kernels[0].counters.page_faults, 0);
    assert_int_equal(totals(s).fault_batches, 0);
    /* It issues its load in cycle 12, and goes on when the pages have come. */
    assert_int_equal(s->kernels[0].end_ps - s->transfers[0].end_ps, duration(s, 1) - 12 * NS);
    close_rig(s);
}

/* A prefetch may take pages from the buffer that the handler has not read yet; it goes on with the others. */
static void a_prefetch_helps_the_handler(void **state)
{
    struct seen *s = open_rig("off", "um.fault_batch", "1");
    uint32_t x = host_array(s, 32 * PAGE), queue;

    (void)state;
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    submit_strided(s, 0, x, PAGE / 4);
    assert_int_equal(sim_run_until(s->rig.m, 4500 * NS, &s->rig.err), HD_OK);
    prefetch(s, queue, x, 3 * PAGE);
    finish(s);
    assert_int_equal(s->bytes[SIM_T_PREFETCH][true], 3 * PAGE);
    assert_int_equal(s->bytes[SIM_T_FAULT][true], 29 * PAGE);
    assert_int_equal(totals(s).fault_batches, 29);
    close_rig(s);
}

/* One that takes a page of the batch in hand: what waits goes on when it has come, and no sooner. */
static void a_prefetch_overtakes_the_handler(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "16777216");
    uint32_t x = host_array(s, 256 * PAGE), queue;

    (void)state;
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    submit_strided(s, 0, x, 1);
    assert_int_equal(sim_run_until(s->rig.m, 10000 * NS, &s->rig.err), HD_OK);
    prefetch(s, queue, x, 256 * PAGE);
    finish(s);
    assert_int_equal(s->ntransfers, 1);
    assert_int_equal(s->transfers[0].end_ps, (10000 + move_ns(256)) * NS);
    assert_true(s->kernels[0].end_ps > s->transfers[0].end_ps);
    assert_int_equal(totals(s).fault_batches, 1);
    close_rig(s);
}

/* ---- the host beside a kernel ------------------------------------------------------------ */

/* Loads one word again and again, with a fence in between, so that it looks at the page each time. */
static const char again[] = ".kernel k\n"
                            ".param x u32[]\n"
                            ".param n u32\n"
                            "    s_mov_b32 s10, n\n"
                            "next:\n"
                            "    global_load_b32 v1, [x]\n"
                            "    v_add_u32 v2, v1, v1\n"
                            "    s_sub_u32 s10, s10, 1\n"
                            "    s_branch_nz s10, next\n"
                            "    s_end\n"
                            ".endkernel\n";

static void submit_again(struct seen *s, uint32_t x, uint32_t times)
{
    krig_submit(&s->rig, &(struct krig_launch){.text = again,
                                               .threads = 32,
                                               .nargs = 2,
                                               .args = {KRIG_ARRAY(x), KRIG_VALUE(times)}});
}

/* A host read takes the page when its fault has been served; the kernel faults on it again. */
static void the_host_takes_pages_from_a_kernel(void **state)
{
    struct seen *s = open_rig("off", "l1.enabled", "off");
    uint32_t x = host_array(s, PAGE);
    uint64_t at_ps = (1000 + WAKE + BATCH + BLOCK + 5000) * NS, ticket;

    (void)state;
    submit_again(s, x, 100);
    assert_int_equal(sim_run_until(s->rig.m, at_ps, &s->rig.err), HD_OK);
    assert_int_equal(residency(s, x).device, 1);
    ticket = sim_host_access(s->rig.m, &(struct sim_host_access){.array = x, .bytes = 4});
    assert_int_equal(residency(s, x).device, 1);
    assert_int_equal(sim_wait(s->rig.m, ticket, &s->rig.err), HD_OK);
    assert_int_equal(sim_now(s->rig.m), at_ps + 6000 * NS);
    assert_int_equal(residency(s, x).host, 1);
    finish(s);
    assert_int_equal(s->kernels[0].counters.page_faults, 2);
    assert_int_equal(s->bytes[SIM_T_FAULT][true], 2 * PAGE);
    assert_int_equal(s->bytes[SIM_T_FAULT][false], 0);
    close_rig(s);
}

/* A page on its way to the device is there before the host has it. */
static void the_host_waits_for_pages_on_their_way(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "16777216");
    uint32_t x = host_array(s, 256 * PAGE);

    (void)state;
    prefetch(s, 0, x, 256 * PAGE);
    assert_int_equal(sim_run_until(s->rig.m, 2000 * NS, &s->rig.err), HD_OK);
    host(s, x, 4, true);
    assert_int_equal(sim_now(s->rig.m), move_ns(256) * NS);
    assert_int_equal(residency(s, x).host, 1);
    assert_int_equal(residency(s, x).device, 255);
    close_rig(s);
}

/*
 * When the host takes a page, its compute unit has not yet gone on with it, also where it runs ahead:
 * returns when the page comes for the second time.
 */
static uint64_t back_beside_host(uint64_t at_ps, bool no_run_ahead)
{
    struct seen *s = open_rig("off", "um.host_fault_ns", "10");
    uint32_t x = host_array(s, PAGE), queue;
    uint64_t back_ps;

    sim_set_limits(s->rig.m, &(struct sim_limits){.no_run_ahead = no_run_ahead});
    assert_int_equal(sim_queue_new(s->rig.m, &queue, &s->rig.err), HD_OK);
    submit_again(s, x, 200);
    assert_int_equal(sim_run_until(s->rig.m, at_ps, &s->rig.err), HD_OK);
    sim_host_access(s->rig.m, &(struct sim_host_access){.array = x, .bytes = 4});
    finish(s);
    assert_int_equal(s->ntransfers, 2);
    back_ps = s->transfers[1].start_ps;
    close_rig(s);
    return back_ps;
}

static void a_host_access_is_in_step(void **state)
{
    uint64_t first_ps = (1000 + WAKE + BATCH + BLOCK + move_ns(1) + 2000) * NS;

    (void)state;
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(back_beside_host(first_ps + 37 * NS * i, false),
                         back_beside_host(first_ps + 37 * NS * i, true));
}

/* A prefetch that has no room beside what it is for does nothing. */
static void a_prefetch_takes_no_page_of_its_own(void **state)
{
    struct seen *s = open_rig("off", "dram.bytes", "131072"); /* 32 pages */
    uint32_t x = host_array(s, 40 * PAGE), y = host_array(s, 8 * PAGE);

    (void)state;
    submit_strided(s, 0, y, 1); /* from here on uses count */
    prefetch(s, 0, y, 8 * PAGE);
    prefetch(s, 0, x, 20 * PAGE);
    finish(s);
    prefetch(s, 0, x, 40 * PAGE);
    finish(s);
    assert_int_equal(residency(s, x).device, 20);
    /* One that has takes the place of others. */
    prefetch(s, 0, x, 30 * PAGE);
    finish(s);
    assert_int_equal(residency(s, x).device, 30);
    assert_int_equal(residency(s, y).device, 2);
    close_rig(s);
}

/* The same of an array that is mostly read: the page stays where the kernel reads it. */
static void a_read_mostly_page_is_on_both_sides(void **state)
{
    struct seen *s = open_rig("off", "l1.enabled", "off");
    uint32_t x = host_array(s, PAGE);

    (void)state;
    sim_array_advise(s->rig.m, x, SIM_ADVISE_READ_MOSTLY);
    submit_strided(s, 0, x, 1);
    finish(s);
    assert_int_equal(residency(s, x).both, 1);
    assert_int_equal(residency(s, x).device, 0);
    /* Both read it for nothing. */
    assert_int_equal(sim_host_access(s->rig.m, &(struct sim_host_access){.array = x, .bytes = 4}),
                     0);
    submit_strided(s, 0, x, 1);
    finish(s);
    assert_int_equal(s->kernels[1].counters.page_faults, 0);
    /* The host writes: the device has lost its copy, and nothing moves. */
    host(s, x, 4, true);
    assert_int_equal(residency(s, x).host, 1);
    assert_int_equal(s->ntransfers, 1);
    close_rig(s);
}

/* A kernel's write to a page on both sides faults, moves nothing, and leaves it to the device, dirty. */
static void a_write_takes_the_other_copy_away(void **state)
{
    struct seen *s = open_rig("off", "l1.enabled", "off");
    uint32_t x = host_array(s, PAGE);

    (void)state;
    sim_array_advise(s->rig.m, x, SIM_ADVISE_READ_MOSTLY);
    submit_strided(s, 0, x, 1);
    finish(s);
    submit_one(s, store_word, x);
    assert_int_equal(s->kernels[1].counters.page_faults, 1);
    assert_int_equal(s->ntransfers, 1);
    assert_int_equal(residency(s, x).device, 1);
    assert_int_equal(residency(s, x).dirty, 1);
    /* The host reads: it gets a copy, and the device keeps its own, clean. */
    host(s, x, 4, false);
    assert_int_equal(s->ntransfers, 2);
    assert_int_equal(s->bytes[SIM_T_FAULT][false], PAGE);
    assert_int_equal(residency(s, x).both, 1);
    assert_int_equal(residency(s, x).dirty, 0);
    submit_one(s, store_word, x);
    assert_int_equal(s->kernels[2].counters.page_faults, 1);
    assert_int_equal(residency(s, x).dirty, 1);
    close_rig(s);
}

/* Only pages that were written are dirty, from when they are. */
static void stores_make_their_pages_dirty(void **state)
{
    struct seen *s = open_rig("off", "l1.enabled", "off");
    uint32_t x = host_array(s, 40 * PAGE);

    (void)state;
    submit_strided(s, 0, x, PAGE / 4);
    finish(s);
    assert_int_equal(residency(s, x).device, 32);
    assert_int_equal(residency(s, x).dirty, 0);
    submit_one(s, store_word, x);
    assert_int_equal(residency(s, x).dirty, 1);
    host(s, x, 40 * PAGE, false);
    assert_int_equal(s->bytes[SIM_T_FAULT][false], PAGE);
    close_rig(s);
}

/* ---- values only --------------------------------------------------------------------------- */

/* Without time pages come and become dirty as with it; with one page a batch also those of the tree. */
static void values_mode_leaves_the_same_pages(void **state)
{
    (void)state;
    for (unsigned tree = 0; tree < 2; tree++) {
        struct sim_residency after[2][2];

        for (unsigned values = 0; values < 2; values++) {
            struct seen *s = open_rig(tree ? "on" : "off", "dram.bytes", "1048576");
            uint32_t x = host_array(s, 200 * PAGE), y = host_array(s, 150 * PAGE);

            if (values)
                sim_set_mode(s->rig.m, SIM_VALUES);
            submit_strided(s, 0, x, PAGE / 4 * 3);
            finish(s);
            krig_submit(&s->rig,
                        &(struct krig_launch){.text = write_twice,
                                              .threads = 32,
                                              .nargs = 2,
                                              .args = {KRIG_ARRAY(y), KRIG_VALUE(100 * PAGE / 4)}});
            finish(s);
            after[values][0] = residency(s, x);
            after[values][1] = residency(s, y);
            assert_true(!values || s->ntransfers == 0);
            close_rig(s);
        }
        assert_memory_equal(after[0], after[1], sizeof after[0]);
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* 4 KiB bring 64 KiB; half of a subtree does not bring it, more than 51 % does; the array's end bounds it. */
static void the_tree_grows(void **state)
{
    static const struct {
        uint32_t pages, there, fault, end; /* pages [0, there) are there; then [there, end) come */
    } cases[] = {
        {512, 0, 0, 16},      {512, 16, 16, 32},    {512, 64, 64, 128},
        {512, 128, 130, 256}, {512, 256, 256, 512}, {512, 240, 240, 256},
        {20, 16, 16, 20},     {40, 16, 39, 40},     {512, 0, 511, 512},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct block_pages there = {{0}}, wanted = {{0}};

        for (uint32_t p = 0; p < cases[i].there; p++)
            there.bits[p / 64] |= UINT64_C(1) << p % 64;
        wanted.bits[cases[i].fault / 64] |= UINT64_C(1) << cases[i].fault % 64;
        prefetch_tree_grow(&wanted, &there, cases[i].pages, 16, 51);
        for (uint32_t p = 0; p < 512; p++) {
            bool in = p < cases[i].end && p >= cases[i].there;

            if (cases[i].fault == 511)
                in = p >= 496;
            if ((wanted.bits[p / 64] >> p % 64 & 1) != in)
                fail_msg("case %zu: page %" PRIu32 " %s", i, p, in ? "stays" : "comes");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_larger_than_the_device_thrashes),
        cmocka_unit_test(a_written_array_larger_than_the_device_is_written_back),
        cmocka_unit_test(an_array_that_fits_faults_once_a_page),
        cmocka_unit_test(an_odd_number_of_bytes_is_whole_pages),
        cmocka_unit_test(the_page_used_longest_ago_goes),
        cmocka_unit_test(one_fault),
        cmocka_unit_test(stores_and_atomics_wait),
        cmocka_unit_test(a_first_touch_moves_nothing),
        cmocka_unit_test(pages_of_a_batch_move_together),
        cmocka_unit_test(each_page_has_its_cost),
        cmocka_unit_test(the_buffer_bounds_a_batch),
        cmocka_unit_test(each_block_has_its_cost),
        cmocka_unit_test(kernels_share_one_handler),
        cmocka_unit_test(kernels_share_one_migration),
        cmocka_unit_test(a_prefetch_on_its_way_is_waited_for),
        cmocka_unit_test(a_prefetch_helps_the_handler),
        cmocka_unit_test(a_prefetch_overtakes_the_handler),
        cmocka_unit_test(the_host_takes_pages_from_a_kernel),
        cmocka_unit_test(the_host_waits_for_pages_on_their_way),
        cmocka_unit_test(a_host_access_is_in_step),
        cmocka_unit_test(a_prefetch_takes_no_page_of_its_own),
        cmocka_unit_test(a_read_mostly_page_is_on_both_sides),
        cmocka_unit_test(a_write_takes_the_other_copy_away),
        cmocka_unit_test(stores_make_their_pages_dirty),
        cmocka_unit_test(values_mode_leaves_the_same_pages),
        cmocka_unit_test(the_tree_grows),
    };

    return cmocka_run_group_tests_name("um_fault", tests, NULL, NULL);
}
