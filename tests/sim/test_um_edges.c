/* Page faults at the edges of their rules: exact thresholds, the last free page, who owns what leaves. */
#include "sim/prefetch_tree.h"
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { PAGE = 65536, WORDS = PAGE / 4 };

static void open_rig(struct krig *r, const char *tree, uint64_t device_pages)
{
    char bytes[24];

    snprintf(bytes, sizeof bytes, "%" PRIu64, device_pages * PAGE);
    krig_open(r, "um.page_faults", "on", "um.prefetch_tree", tree, "um.page_bytes", "65536",
              "um.prefetch_leaf_bytes", "65536", "dram.bytes", bytes, NULL);
}

/* An array of whole pages that the host has written. */
static uint32_t host_array(struct krig *r, uint64_t pages)
{
    uint32_t id = krig_array(r, pages * PAGE);
    uint64_t ticket = sim_host_access(
        r->m, &(struct sim_host_access){.array = id, .bytes = pages * PAGE, .write = true});

    if (ticket)
        assert_int_equal(sim_wait(r->m, ticket, &r->err), HD_OK);
    return id;
}

static struct sim_residency residency(const struct krig *r, uint32_t array)
{
    struct sim_residency out;

    sim_array_residency(r->m, array, &out);
    return out;
}

/* One lane loads x[word], or stores to it. */
static void touch(struct krig *r, uint32_t x, uint32_t word, bool store)
{
    krig_run(r, &(struct krig_launch){.text = store ? ".kernel k\n.param x u32[]\n.param at u32\n"
                                                      "v_mov_b32 v0, at\n"
                                                      "global_store_b32 [x + v0*4], v0\n"
                                                      "s_end\n.endkernel\n"
                                                    : ".kernel k\n.param x u32[]\n.param at u32\n"
                                                      "v_mov_b32 v0, at\n"
                                                      "global_load_b32 v1, [x + v0*4]\n"
                                                      "s_end\n.endkernel\n",
                                      .nargs = 2,
                                      .args = {KRIG_ARRAY(x), KRIG_VALUE(word)}});
}

/* A subtree comes when more than the percentage of it is there; exactly so much is not more. */
static void a_tree_needs_more_than_its_percentage(void **state)
{
    (void)state;
    for (uint32_t percent = 49; percent <= 50; percent++) {
        struct block_pages there = {{0}}, wanted = {{1}};

        prefetch_tree_grow(&wanted, &there, 2, 1, percent);
        assert_int_equal(wanted.bits[0], percent < 50 ? 3 : 1);
    }
}

/* Three of four pages are there, so that the fault on the second leaf brings all that fit: to the last page, and no eviction. */
static void the_tree_fills_the_device(void **state)
{
    (void)state;
    for (uint64_t pages = 3; pages <= 4; pages++) {
        struct sim_um_totals t;
        struct krig r;
        uint32_t x;

        open_rig(&r, "on", pages);
        x = host_array(&r, 4);
        touch(&r, x, 0, false);
        touch(&r, x, WORDS, false);
        assert_int_equal(residency(&r, x).device, 2);
        touch(&r, x, 2 * WORDS, false);
        assert_int_equal(residency(&r, x).device, pages);
        sim_um_totals(r.m, &t);
        assert_int_equal(t.evictions, 0);
        krig_close(&r);
    }
}

/* A store and then a load wait for one page: it is dirty when it has come, whichever asked last. */
static void a_load_behind_a_store_leaves_the_page_dirty(void **state)
{
    static const char text[] = ".kernel k\n"
                               ".param x u32[]\n"
                               "    v_get_u32 v0, %lane\n"
                               "    global_store_b32 [x + v0*4], v0\n"
                               "    global_load_b32 v1, [x + v0*4 + 2048]\n"
                               "    s_end\n"
                               ".endkernel\n";
    struct krig r;
    uint32_t x;

    (void)state;
    open_rig(&r, "off", 16);
    x = host_array(&r, 1);
    krig_run(
        &r, &(struct krig_launch){.text = text, .threads = 32, .nargs = 1, .args = {KRIG_ARRAY(x)}});
    assert_int_equal(r.kernels[0].counters.page_faults, 1);
    assert_int_equal(residency(&r, x).dirty, 1);
    krig_close(&r);
}

/* A batch with pages of two blocks, of 32 pages each: they all come. */
static void a_batch_of_two_blocks_of_large_pages(void **state)
{
    static const char text[] = ".kernel k\n"
                               ".param x u32[]\n"
                               ".param stride u32\n"
                               "    v_get_u32 v0, %lane\n"
                               "    v_mul_u32 v0, v0, stride\n"
                               "    global_load_b32 v1, [x + v0*4]\n"
                               "    s_end\n"
                               ".endkernel\n";
    struct krig r;
    uint32_t x;

    (void)state;
    open_rig(&r, "off", 64);
    x = host_array(&r, 64);
    krig_run(&r, &(struct krig_launch){.text = text,
                                       .threads = 32,
                                       .nargs = 2,
                                       .args = {KRIG_ARRAY(x), KRIG_VALUE(2 * WORDS)}});
    assert_int_equal(r.kernels[0].counters.page_faults, 32);
    assert_int_equal(r.kernels[0].counters.fault_batches, 1);
    assert_int_equal(r.kernels[0].counters.fault_bytes, 32 * PAGE);
    assert_int_equal(residency(&r, x).device, 32);
    krig_close(&r);
}

/* A dirty page that the host took comes back clean, and a store makes it dirty again. */
static void a_page_that_comes_back_is_clean(void **state)
{
    struct krig r;
    uint64_t ticket;
    uint32_t x;

    (void)state;
    open_rig(&r, "off", 4);
    x = host_array(&r, 2);
    touch(&r, x, 0, true);
    touch(&r, x, WORDS, true);
    assert_int_equal(residency(&r, x).dirty, 2);
    ticket = sim_host_access(r.m, &(struct sim_host_access){.array = x, .bytes = 4});
    assert_int_equal(sim_wait(r.m, ticket, &r.err), HD_OK);
    assert_int_equal(residency(&r, x).dirty, 1);
    touch(&r, x, 0, false);
    assert_int_equal(residency(&r, x).device, 2);
    assert_int_equal(residency(&r, x).dirty, 1);
    touch(&r, x, 0, true);
    assert_int_equal(residency(&r, x).dirty, 2);
    krig_close(&r);
}

/* Page 0 of one array and page 1 of another leave together: each goes home as its own array's. */
static void pages_of_two_arrays_leave_apart(void **state)
{
    struct krig r;
    uint32_t x, y, z, evicted = 0;

    (void)state;
    open_rig(&r, "off", 2);
    x = host_array(&r, 2);
    y = host_array(&r, 2);
    z = host_array(&r, 2);
    touch(&r, x, 0, true);
    touch(&r, y, WORDS, true);
    krig_run(&r, &(struct krig_launch){.text = ".kernel k\n.param x u32[]\n"
                                               "v_get_u32 v0, %lane\nv_mul_u32 v0, v0, 16384\n"
                                               "global_load_b32 v1, [x + v0*4]\n"
                                               "s_end\n.endkernel\n",
                                       .threads = 2,
                                       .nargs = 1,
                                       .args = {KRIG_ARRAY(z)}});
    assert_int_equal(residency(&r, z).device, 2);
    for (unsigned i = 0; i < r.ntransfers; i++) {
        if (r.transfers[i].kind != SIM_T_EVICT)
            continue;
        assert_int_equal(r.transfers[i].array, evicted == 0 ? x : y);
        assert_int_equal(r.transfers[i].bytes, PAGE);
        evicted++;
    }
    assert_int_equal(evicted, 2);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_needs_more_than_its_percentage),
        cmocka_unit_test(the_tree_fills_the_device),
        cmocka_unit_test(a_load_behind_a_store_leaves_the_page_dirty),
        cmocka_unit_test(a_batch_of_two_blocks_of_large_pages),
        cmocka_unit_test(a_page_that_comes_back_is_clean),
        cmocka_unit_test(pages_of_two_arrays_leave_apart),
    };

    return cmocka_run_group_tests_name("um_edges", tests, NULL, NULL);
}
