/* How much of each part of the device a kernel used while it ran. */
#include "host/results/profile.h"

#include "sim/base/bits.h"

#include <math.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Operations a second if every SIMD unit issues nothing but fused multiply-adds, of `lanes` in `interval` cycles. */
static double flop_peak(const struct sim_config *c, uint32_t lanes, uint32_t interval)
{
    double cycles = (double)bits_ceil_div(c->wavefront_size, lanes) * interval;

    return 2.0 * c->wavefront_size / cycles * c->simds * c->compute_units * (double)c->core_hz;
}

void profile_rates_of(const struct sim_config *c, struct profile_kernel *k)
{
    const struct sim_counters *s = &k->sums;
    struct profile_rates *r = &k->rates;
    double seconds = (double)k->time_ps * 1e-12;
    double cycles = seconds * (double)c->core_hz * c->compute_units; /* of all compute units */
    double dram = (double)(s->dram_read_bytes + s->dram_write_bytes);
    double rows =
        ratio((double)s->dram_row_misses, seconds * c->dram_channels); /* a second, of a channel */
    double bytes;
    double l2_peak = (double)c->l2_slices * c->l2_bytes_per_cycle * (double)c->l2_hz;

    r->wave_ipc = ratio((double)s->wave_instr, cycles);
    r->issue = r->wave_ipc / sim_config_issue_slots(c);
    r->dram_gbps = ratio(dram, seconds) / 1e9;
    bytes = ratio(dram, seconds * (double)c->dram_rate);
    r->dram = fmax(bytes + rows * c->dram_row_miss * 1e-9, rows * c->dram_row_gap * 1e-12);
    r->dram_rows = r->dram - bytes;
    r->l2_gbps = ratio((double)s->l2_bytes, seconds) / 1e9;
    r->l2 = ratio((double)s->l2_bytes, seconds * l2_peak);
    r->gflops32 = ratio((double)s->flop32, seconds) / 1e9;
    r->f32 = ratio((double)s->flop32, seconds * flop_peak(c, c->rate_mul, 1));
    r->gflops64 = ratio((double)s->flop64, seconds) / 1e9;
    r->f64 = ratio((double)s->flop64, seconds * flop_peak(c, c->rate_f64, c->f64_interval));
    r->lds = ratio((double)s->local_passes, cycles);
    r->resident_waves = ratio((double)s->residency_cycles, cycles);
    r->lane_utilisation = ratio((double)s->lane_instr, (double)s->wave_instr * c->wavefront_size);
    r->l1_hit_rate = ratio((double)s->l1_hits, (double)s->l1_requests);
    r->l2_hit_rate = ratio((double)s->l2_hits, (double)(s->l2_hits + s->l2_misses));
}
