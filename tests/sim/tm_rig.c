#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

const char *const tm_rig_detectors[] = {"prw-sig", "swo-sig", "dcd", "dcd-sm", NULL};
const char *const tm_rig_serials[] = {"ascending-single", "descending-single", "ascending-multiple",
                                      "descending-multiple", NULL};
const char *const tm_rig_units[] = {"predication", "any-branch", "exec-mask", "goto-join", NULL};

void tm_rig_check_counters(const struct sim_counters *c)
{
    uint64_t cycles = 0, transactions = 0, stalls = 0;

    for (unsigned i = 0; i < SIM_NUM_TX_CYCLES; i++)
        cycles += c->tx_cycles[i];
    for (unsigned i = 0; i < SIM_TX_ATTEMPT_BINS; i++)
        transactions += c->tx_attempts[i];
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
        stalls += c->stall_cycles[i];
    assert_int_equal(cycles, c->tx_residency_cycles);
    assert_int_equal(transactions, c->tx_transactions);
    assert_int_equal(stalls, c->residency_cycles);
    assert_true(c->tx_residency_cycles <= c->residency_cycles);
    assert_true(c->tx_begins >= c->tx_transactions);
    assert_int_equal(c->tx_aborts,
                     c->tx_true_conflicts + c->tx_false_conflicts + c->tx_read_read_conflicts);
}
