/* Rates of the device over the time that kernels were on it. */
#ifndef HD_HOST_RESULTS_METRICS_H
#define HD_HOST_RESULTS_METRICS_H

#include "host/results/overlap.h"
#include "sim/sim.h"

/* Rates are not finite (null in JSON) when no kernel took time. GB is 10^9 bytes. */
struct metrics {
    uint64_t kernels, transfers, h2d_bytes, d2h_bytes;
    struct busy busy;
    double ipc, wave_ipc, issue_utilisation, lane_utilisation;
    double dram_gbps, l2_gbps, gflops32, gflops64;
    double l1_hit_rate, l2_hit_rate;
    struct sim_counters sums;
    struct sim_um_totals um;
};

/* Fills in the rates from kernels, busy and sums. */
void metrics_rates(struct metrics *m, const struct sim_config *config);

#endif
