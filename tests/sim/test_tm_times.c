/*
 * Transactions on the machine, to the cycle. With T(body) the cycle in which s_end issues behind
 * tx.begin, body, tx.commit: an empty body takes 1 (begin) + 1 (commit, clear of signatures or nothing,
 * at least a cycle). An access issues a cycle behind tx.begin, the next when the banks of the one before
 * are free, and tx.commit when the last has its answer, lds.latency_cycles behind its banks. Bank cycles
 * of a pass: signatures 1 (prw-sig), the accesses of its busiest bank, broadcast 1.
 */
#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t cycles_of(const char *detector, const char *width, const char *pipelined,
                          uint32_t threads, const char *body)
{
    char text[1024];
    struct krig r;
    uint64_t cycles;

    snprintf(text, sizeof text,
             ".kernel k\n.local c 1024\n    tx.begin\n%s    tx.commit\n    s_end\n.endkernel\n",
             body);
    krig_open(&r, "tm.detector", detector, "wavefront_size", width, "lds.latency_cycles", "2",
              "tm.pass_pipelined", pipelined, NULL);
    sim_set_limits(r.m, &(struct sim_limits){.check_tm = true});
    cycles = krig_cycles(krig_run(&r, &(struct krig_launch){.text = text, .threads = threads}));
    krig_close(&r);
    return cycles;
}

#define LOAD "    local_load_b32 v0, [c]\n"
#define STORE "    local_store_b32 [c], v0\n"

/* What a body adds to an empty one. */
static void test_one_lane(void **state)
{
    static const struct {
        const char *detector, *body;
        uint64_t cycles,
            owned; /* owned: owner records that the commit clears, beside the signatures */
    } rows[] = {
        {"prw-sig", LOAD, 5, 0},                /* 1 + data + 1 + latency */
        {"prw-sig", STORE, 8, 1},               /* 1 + old, backup, owner, data + 1 + latency */
        {"prw-sig", STORE STORE, 6 + 4 + 2, 1}, /* again: 1 + owner, data + 1 */
        {"swo-sig", LOAD, 5, 0},
        {"swo-sig", STORE, 8, 1},
        {"dcd", LOAD, 6, 1},                /* owner, owner, data + 1 + latency */
        {"dcd", STORE, 8, 1},               /* owner, old, backup, owner, data + 1 + latency */
        {"dcd", STORE STORE, 6 + 3 + 2, 1}, /* again: owner, data + 1 */
        {"dcd-sm", LOAD, 6, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t empty = cycles_of(rows[i].detector, "64", "off", 1, "");
        uint64_t full = cycles_of(rows[i].detector, "64", "off", 1, rows[i].body);
        bool signatures = rows[i].detector[0] != 'd';

        assert_int_equal(full - empty, rows[i].cycles + (signatures ? rows[i].owned : 0));
    }
}

static void test_passes(void **state)
{
    static const char each[] = "    v_get_u32 v1, %lane\n    local_load_b32 v0, [v1*4 + c]\n";
    static const char none[] = "    v_get_u32 v1, %lane\n";
    uint64_t empty = cycles_of("prw-sig", "64", "off", 64, none);

    (void)state;
    /* Two passes of 32 lanes: 5 each, or 3 + 3 + 2; the load waits 6 for its address, the commit of `none` for nothing. */
    assert_int_equal(cycles_of("prw-sig", "64", "off", 64, each) - empty, 10 + 5);
    assert_int_equal(cycles_of("prw-sig", "64", "on", 64, each) - empty, 8 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lane),
        cmocka_unit_test(test_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
