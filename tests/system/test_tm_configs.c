/*
 * Transactions of workloads/tm under every detector and serialisation: the checks pass on every device and wavefront
 * size, timed and for values only, the oracle finds nothing, each section commits once, and the cycles add up.
 */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* The number of sections, all groups together, stands beside. */
static const struct program {
    const char *name, *arguments;
    uint64_t sections;
} programs[] = {
    {"bank", "items=40 rounds=2 accounts=20", 160},
    {"colouring", "items=40 vertices=100 degree=5", 240},
    {"colouring", "items=40 vertices=40 degree=4 graph=ring", 80},
    {"counter", "items=40 rounds=2 counters=3", 160},
    {"disjoint", "items=40 rounds=2 words=3", 160},
    {"hash", "items=40 rounds=2 buckets=10", 160},
    {"kmeans", "items=40 rounds=2 clusters=3 features=5", 160},
    {"list", "items=40 rounds=2 length=5 reads=30", 160},
    {"lookup", "items=40 entries=32 rounds=1", 80},
    {"lookup", "items=40 rounds=2 entries=4 reads=50", 160},
    {"synthetic", "items=40 reads=5 writes=7 hot=4 cold=60 length=2", 80},
    {"vacation", "items=40 rounds=2 relations=6 customers=5 places=4", 160},
};

static const char *const detectors[] = {"prw-sig", "swo-sig", "dcd", "dcd-sm"};
static const char *const serialisations[] = {"ascending-single", "descending-single",
                                             "ascending-multiple", "descending-multiple"};
static const char *const devices[] = {
    "hd7970", "p100", "xe-lp", "tiny", "gtx960", "bench", "gtx1660s",
};

static void check_counters(const struct sim_counters *c, uint64_t sections)
{
    uint64_t cycles = 0;

    for (unsigned i = 0; i < SIM_NUM_TX_CYCLES; i++)
        cycles += c->tx_cycles[i];
    assert_int_equal(cycles, c->tx_residency_cycles);
    assert_int_equal(c->tx_commits, sections);
    assert_int_equal(c->tx_races, 0);
}

static void check_one(const struct program *p, const char *settings, const char *device, bool timing)
{
    struct hd_options o = sys_options(device, settings);
    char path[64], arguments[128];
    struct sys s;

    o.timing = timing;
    o.limits.check_tm = true;
    snprintf(path, sizeof path, "workloads/tm/%s.lua", p->name);
    snprintf(arguments, sizeof arguments, "variant=tx groups=2 %s", p->arguments);
    workload_run(&s, &o, path, arguments);
    workload_require_passed(&s, path);
    if (timing) {
        assert_int_equal(s.kernels.len, 1);
        check_counters(&s.kernels.at[0].r.counters, p->sections);
        sys_check_conservation(&s);
    }
    sys_close(&s);
}

static void test_transactions_are_exclusive_everywhere(void **state)
{
    unsigned turn = 0;

    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        for (unsigned config = 0; config < 16; config++, turn++) {
            char settings[256];

            snprintf(settings, sizeof settings,
                     "tm.detector=%s tm.serialise=%s wavefront_size=%u cu.wavefront_slots=64 "
                     "cu.wavefront_vector_register_words=0",
                     detectors[config / 4], serialisations[config % 4],
                     8u << (config / 4 + config + i) % 4);
            check_one(&programs[i], settings, devices[turn % 7], turn % 3 > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transactions_are_exclusive_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
