/*
 * What stores and loads leave in L1, on kernels of one lane whose time follows by arithmetic. A cycle is 1 ns. A store that goes on to
 * L2 in cycle c has taken effect at c + noc + 1 (its sector in the slice) + l2, and a fence knows it noc later.
 *
 * It guards against: dirty sectors that never leave, that leave twice, or one by one; a fence or a kernel's end that does not wait for
 * them, or not for those that left before; an atomic that overtakes them; stores that wait where they are done in L1; lines brought in
 * by what may not, or not by what should; sectors that loads find in L1 while they are on their way.
 */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NOC = 20, L2 = 40, HIT = 30, DRAM = 100, SEND = NOC + 1 + L2 };

/* One set of one line, and DRAM that passes a sector in a cycle. */
#define MACHINE                                                                                    \
    "noc.latency_cycles", "20", "l2.latency_cycles", "40", "l2.bytes_per_cycle", "32",             \
        "l1.latency_cycles", "30", "latency.alu", "1", "dram.latency_ns", "100", "l2.slices", "1", \
        "dram.channels", "1", "dram.bytes_per_second", "32000000000", "l1.bytes", "128",           \
        "l1.ways", "1"

enum policy { PASS, PASS_ALLOCATE, BACK, BACK_ALLOCATE, STORES_ONLY, NPOLICIES };

static const char *const settings[NPOLICIES][3] = {
    [PASS] = {"write-through", "off", "on"},     [PASS_ALLOCATE] = {"write-through", "on", "on"},
    [BACK] = {"write-back", "off", "on"},        [BACK_ALLOCATE] = {"write-back", "on", "on"},
    [STORES_ONLY] = {"write-back", "on", "off"},
};

struct row {
    enum policy policy;
    const char *body;
    unsigned cycles, sectors, requests, hits;
};

#define LOAD " global_load_b32 v1, [x]\n"
#define USE " v_add_u32 v1, v1, v1\n"
#define STORE " global_store_b32 [x], v0\n"
#define STORE_NEXT " global_store_b32 [x + 32], v0\n" /* the next sector */
#define STORE_FAR                                                                                  \
    " global_store_b32 [x + 128], v0\n" /* the next line, which has the same place in L1 */
#define FENCE " fence\n"

/* A load that misses everywhere, to its data; the issue of what uses it is in that cycle. */
#define MISS (NOC + 1 + L2 + 1 + DRAM + NOC)

static const struct row rows[] = {
    /* A store is done in L2, or in L1, which sends it when the kernel ends, in cycle 1. */
    {PASS, STORE, SEND, 1, 0, 0},
    {PASS_ALLOCATE, STORE, SEND, 1, 0, 0},
    {BACK, STORE, SEND, 1, 0, 0},
    {BACK_ALLOCATE, STORE, 1 + SEND, 1, 0, 0},
    /* Of many only what is left at the end. */
    {PASS, STORE STORE STORE STORE, 3 + SEND, 4, 0, 0},
    {BACK_ALLOCATE, STORE STORE STORE STORE, 4 + SEND, 1, 0, 0},
    {BACK_ALLOCATE, STORE STORE_NEXT STORE, 3 + NOC + 2 + L2, 2, 0, 0},
    /* A line that makes room leaves when the next store comes. */
    {BACK_ALLOCATE, STORE STORE_FAR, 2 + SEND, 2, 0, 0},
    {BACK_ALLOCATE, STORE STORE_FAR STORE STORE_FAR, 4 + SEND, 4, 0, 0},
    /* A fence in cycle 1 sends it then, and waits until it is known; nothing is left for the next, or for the end. */
    {PASS, STORE FENCE, SEND + NOC, 1, 0, 0},
    {BACK_ALLOCATE, STORE FENCE, 1 + SEND + NOC, 1, 0, 0},
    {BACK_ALLOCATE, STORE FENCE FENCE, 1 + SEND + NOC + 1, 1, 0, 0},
    {BACK_ALLOCATE, FENCE, 1, 0, 0, 0},
    /* It also waits for what a store in cycle 1 has sent: the fence in cycle 2 sends the other line a cycle later. */
    {BACK_ALLOCATE, STORE STORE_FAR FENCE, 2 + SEND + NOC, 2, 0, 0},
    /* A line that a load in cycle 1 replaces at MISS + 1, when that is back; the wavefront ends then. */
    {BACK_ALLOCATE, STORE " global_load_b32 v1, [x + 128]\n", 1 + MISS + SEND, 2, 1, 0},
    {STORES_ONLY, STORE " global_load_b32 v1, [x + 128]\n", 1 + MISS + SEND, 2, 1, 0},
    {STORES_ONLY, " global_load_b32 v1, [x + 128]\n" USE STORE FENCE, MISS + 2 + SEND + NOC, 2, 1, 0},
    /* What is stored is found by loads, where it brings its line in. */
    {PASS, STORE LOAD, 1 + MISS - DRAM - 1, 2, 1, 0},
    {PASS_ALLOCATE, STORE LOAD USE, SEND, 1, 1, 1},
    {BACK_ALLOCATE, STORE LOAD USE, 1 + HIT + 1 + SEND, 1, 1, 1},
    {STORES_ONLY, STORE LOAD USE, 1 + HIT + 1 + SEND, 1, 1, 1},
    /* What is loaded stays for the next load, where loads bring lines in. */
    {PASS, LOAD USE LOAD USE, MISS + 1 + HIT + 1, 1, 2, 1},
    {STORES_ONLY, LOAD USE LOAD, MISS + 1 + MISS - DRAM - 1, 2, 2, 0},
    /* Without a line to be had a store goes on, and stays where a load has brought it. */
    {BACK, LOAD USE STORE, MISS + 2 + SEND, 2, 1, 0},
    {BACK, LOAD USE STORE STORE_FAR, MISS + 3 + SEND, 3, 1, 0},
    /* A sector on its way is not there when it is stored, and another one is. */
    {BACK_ALLOCATE, LOAD STORE " global_load_b32 v2, [x]\n", MISS + SEND, 2, 2, 0},
    {BACK_ALLOCATE, LOAD STORE_NEXT " global_load_b32 v2, [x + 32]\n v_add_u32 v2, v2, v2\n",
     MISS + SEND, 2, 2, 1},
    /* An atomic in cycle 1 sends the store to another sector ahead of itself; its own sectors are not in L1 then. */
    {BACK_ALLOCATE, STORE " global_atomic_add_u32 [x + 32], v0\n", 1 + NOC + 2 + L2 + DRAM + 1, 2,
     0, 0},
    {BACK_ALLOCATE, STORE " global_atomic_add_u32 [x], v0\n" LOAD, 2 + MISS - DRAM - 1 + 1, 3, 1, 0},
};

static void each_policy_takes_its_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const *s = settings[rows[i].policy];
        const struct sim_kernel_record *k;
        char text[512];
        struct krig r;

        snprintf(text, sizeof text, ".kernel k\n.param x u32[]\n%s s_end\n.endkernel\n",
                 rows[i].body);
        krig_open(&r, MACHINE, "l1.write", s[0], "l1.allocate_on_store", s[1],
                  "l1.allocate_on_load", s[2], NULL);
        k = krig_run(&r, &(struct krig_launch){
                             .text = text, .nargs = 1, .args = {KRIG_ARRAY(krig_array(&r, 4096))}});
        if (krig_cycles(k) != rows[i].cycles || k->counters.sectors != rows[i].sectors ||
            k->counters.l1_requests != rows[i].requests || k->counters.l1_hits != rows[i].hits)
            fail_msg("row %zu: %u cycles, %u sectors, %u of %u hits; want %u, %u, %u of %u", i,
                     (unsigned)krig_cycles(k), (unsigned)k->counters.sectors,
                     (unsigned)k->counters.l1_hits, (unsigned)k->counters.l1_requests,
                     rows[i].cycles, rows[i].sectors, rows[i].hits, rows[i].requests);
        krig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_takes_its_time),
    };

    return cmocka_run_group_tests_name("l1_policies", tests, NULL, NULL);
}
