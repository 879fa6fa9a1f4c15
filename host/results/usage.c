#include "host/results/usage.h"

#include "sim/base/bits.h"

#include <math.h>

const char *const part_names[USAGE_PARTS + 1] = {
    [PART_DRAM] = "dram",        [PART_L2] = "l2",       [PART_L1] = "l1",
    [PART_FP32] = "fp32",        [PART_FP64] = "fp64",   [PART_SPECIAL] = "special",
    [PART_LDS] = "local memory", [PART_ISSUE] = "issue", [PART_NONE] = "latency",
};

/* Cycles of a function unit for all instructions of a class: a wavefront passes in lots of `lanes`. */
static double class_cycles(const struct sim_config *config, const struct sim_counters *c,
                           enum isa_class class, uint32_t lanes, uint32_t interval)
{
    return (double)(c->class_instr[class] * bits_ceil_div(config->wavefront_size, lanes) * interval);
}

/* Of the arithmetic units of all SIMD units together, which are one where cu.one_vector_unit says so. */
static void unit_cycles(const struct sim_config *g, const struct sim_counters *c,
                        double cycles[USAGE_PARTS])
{
    cycles[PART_FP32] = class_cycles(g, c, ISA_C_ALU, g->rate_alu, 1) +
                        class_cycles(g, c, ISA_C_MUL, g->rate_mul, 1);
    cycles[PART_FP64] = class_cycles(g, c, ISA_C_F64, g->rate_f64, g->f64_interval);
    cycles[PART_SPECIAL] = class_cycles(g, c, ISA_C_CVT, g->rate_cvt, 1) +
                           class_cycles(g, c, ISA_C_SFU, g->rate_sfu, 1);
    if (g->one_vector_unit)
        cycles[PART_FP32] += cycles[PART_FP64] + cycles[PART_SPECIAL] +
                             class_cycles(g, c, ISA_C_XLANE, g->rate_xlane, 1);
}

void usage_needs(const struct sim_config *g, const struct sim_counters *c,
                 double needs_ps[USAGE_PARTS])
{
    const double cycle_ps = 1e12 / (double)g->core_hz / g->compute_units; /* of all compute units */
    const double l2_ps = 1e12 / (double)g->l2_hz / g->l2_slices / g->l2_bytes_per_cycle;
    const double rows = (double)c->dram_row_misses / g->dram_channels; /* opened in a channel */
    const double dram = (double)(c->dram_read_bytes + c->dram_write_bytes);

    unit_cycles(g, c, needs_ps);
    needs_ps[PART_FP32] *= cycle_ps / g->simds;
    needs_ps[PART_FP64] *= cycle_ps / g->simds;
    needs_ps[PART_SPECIAL] *= cycle_ps / g->simds;
    needs_ps[PART_DRAM] = fmax(dram / (double)g->dram_rate * 1e12 + rows * 1e3 * g->dram_row_miss,
                               rows * g->dram_row_gap);
    needs_ps[PART_L2] = (double)c->l2_bytes * l2_ps;
    needs_ps[PART_L1] = (double)c->l1_requests * cycle_ps / g->l1_lines_per_cycle;
    needs_ps[PART_LDS] = (double)c->local_passes * cycle_ps;
    needs_ps[PART_ISSUE] = (double)c->wave_instr * cycle_ps / sim_config_issue_slots(g);
}

enum usage_part usage_most(const double needs_ps[USAGE_PARTS])
{
    unsigned most = 0;

    for (unsigned i = 1; i < USAGE_PARTS; i++)
        if (needs_ps[i] > needs_ps[most])
            most = i;
    return (enum usage_part)most;
}

unsigned usage_bound(enum usage_part part, uint64_t need_ps, uint64_t ps)
{
    return need_ps > 0 && (double)need_ps >= PART_BOUNDS * (double)ps ? part : PART_NONE;
}
