#include "host/results/metrics.h"

#include <math.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

void metrics_rates(struct metrics *m, const struct sim_config *config)
{
    const struct sim_counters *s = &m->sums;
    double ns = (double)m->busy.kernel_ps / 1e3;
    double cycles = (double)m->busy.kernel_ps * ((double)config->core_hz / 1e12);
    double instr = (double)s->wave_instr;

    m->ipc = ratio(instr, cycles);
    m->wave_ipc = ratio(instr, cycles * config->compute_units);
    m->issue_utilisation =
        ratio(instr, cycles * config->compute_units * sim_config_issue_slots(config));
    m->lane_utilisation = ratio((double)s->lane_instr, instr * config->wavefront_size);
    /* A byte a nanosecond is 10^9 bytes a second. */
    m->dram_gbps = ratio((double)(s->dram_read_bytes + s->dram_write_bytes), ns);
    m->l2_gbps = ratio((double)s->l2_bytes, ns);
    m->gflops32 = ratio((double)s->flop32, ns);
    m->gflops64 = ratio((double)s->flop64, ns);
    m->l1_hit_rate = ratio((double)s->l1_hits, (double)s->l1_requests);
    m->l2_hit_rate = ratio((double)s->l2_hits, (double)(s->l2_hits + s->l2_misses));
}
