/* The only list of what heddle explain makes faster, and how. */
#include "host/cli/explain.h"

#include "host/config/config.h"
#include "sim/limits.h"

#include <inttypes.h>
#include <string.h>

/* What happens to a parameter: twice as fast, then infinitely fast. "Most" and "least" are the ends of its range. */
enum change_kind {
    CHANGE_NONE,
    CHANGE_RATE,  /* doubled, most */
    CHANGE_COST,  /* halved and rounded down, least */
    CHANGE_MOST,  /* as it is, most */
    CHANGE_LEAST, /* as it is, least */
    CHANGE_UNITS, /* compute units: doubled, one for each work-group of all kernels; most are what the machine has room for */
};

struct change {
    enum change_kind kind;
    const char *key;
};

typedef bool used_rule(const struct record_iteration *whole);

static bool always(const struct record_iteration *whole)
{
    (void)whole;
    return true;
}

static bool has_kernels(const struct record_iteration *whole)
{
    return whole->metrics.kernels > 0;
}

static bool has_transfers(const struct record_iteration *whole)
{
    return whole->metrics.transfers > 0;
}

static bool has_faults(const struct record_iteration *whole)
{
    return whole->moves[SIM_T_FAULT] > 0;
}

static bool has_dram(const struct record_iteration *whole)
{
    const struct sim_counters *s = &whole->metrics.sums;

    return s->dram_read_bytes > 0 || s->dram_write_bytes > 0;
}

static bool has_l2(const struct record_iteration *whole)
{
    return whole->metrics.sums.sectors > 0 || whole->metrics.sums.l2_bytes > 0;
}

static bool has_fp32(const struct record_iteration *whole)
{
    const uint64_t *n = whole->metrics.sums.class_instr;

    return n[ISA_C_ALU] + n[ISA_C_MUL] + n[ISA_C_CVT] + n[ISA_C_SFU] + n[ISA_C_XLANE] > 0;
}

static bool has_fp64(const struct record_iteration *whole)
{
    return whole->metrics.sums.class_instr[ISA_C_F64] > 0;
}

static bool has_near(const struct record_iteration *whole)
{
    return whole->metrics.sums.local_accesses > 0 || whole->metrics.sums.l1_requests > 0;
}

static const struct ideal {
    const char *name, *doc, *advice;
    used_rule *used;
    struct change changes[EXPLAIN_CHANGES_MAX];
} ideals[] = {
    {"link",
     "both directions of the link between host and device",
     "Move fewer bytes: keep arrays on the device, or use smaller types.",
     has_transfers,
     {{CHANGE_RATE, "link.h2d_bytes_per_second"},
      {CHANGE_RATE, "link.d2h_bytes_per_second"},
      {CHANGE_RATE, "link.pageable_bytes_per_second"},
      {CHANGE_COST, "link.latency_ns"},
      {CHANGE_COST, "um.chunk_gap_ns"}}},
    {"fault handler",
     "what a page fault costs beside the move of the pages",
     "Have arrays on the device before kernels touch them: host.prefetch, or prefetches by hand.",
     has_faults,
     {{CHANGE_COST, "um.fault_latency_ns"},
      {CHANGE_COST, "um.fault_batch_ns"},
      {CHANGE_COST, "um.fault_block_ns"},
      {CHANGE_COST, "um.fault_page_ns"},
      {CHANGE_COST, "um.host_fault_ns"}}},
    {"dram",
     "device memory behind L2",
     "Use each value that comes from memory more often: tiles in local memory, fused kernels; or "
     "use smaller types.",
     has_dram,
     {{CHANGE_RATE, "dram.bytes_per_second"},
      {CHANGE_COST, "dram.latency_ns"},
      {CHANGE_COST, "dram.row_miss_ns"},
      {CHANGE_COST, "dram.row_gap_ps"}}},
    {"l2",
     "the L2 slices and the way to them; their size stays",
     "Let neighbouring lanes access neighbouring words, so that fewer sectors pass, and keep "
     "atomics off one address.",
     has_l2,
     {{CHANGE_RATE, "clock.l2_hz"},
      {CHANGE_MOST, "l2.bytes_per_cycle"},
      {CHANGE_LEAST, "l2.latency_cycles"},
      {CHANGE_LEAST, "l2.atomic_cycles"},
      {CHANGE_COST, "noc.latency_cycles"}}},
    {"l1 and local memory",
     "access to what is in a compute unit; sizes and banks stay",
     "Have neighbouring lanes share cache lines, keep values in registers, and lanes on different "
     "banks.",
     has_near,
     {{CHANGE_COST, "l1.latency_cycles"},
      {CHANGE_RATE, "l1.lines_per_cycle"},
      {CHANGE_COST, "lds.latency_cycles"},
      {CHANGE_RATE, "lds.lanes_per_pass"}}},
    {"fp32",
     "vector arithmetic but that of f64: f32, integers, conversions, special functions, moves "
     "between lanes; a unit takes at least a cycle for an instruction",
     "Do less arithmetic, or have more independent instructions and wavefronts to hide its "
     "latency.",
     has_fp32,
     {{CHANGE_RATE, "lanes_per_cycle.alu"},
      {CHANGE_RATE, "lanes_per_cycle.mul"},
      {CHANGE_RATE, "lanes_per_cycle.cvt"},
      {CHANGE_RATE, "lanes_per_cycle.sfu"},
      {CHANGE_RATE, "lanes_per_cycle.xlane"},
      {CHANGE_COST, "latency.alu"},
      {CHANGE_COST, "latency.mul"},
      {CHANGE_COST, "latency.cvt"},
      {CHANGE_COST, "latency.sfu"},
      {CHANGE_COST, "latency.xlane"}}},
    {"fp64",
     "f64 arithmetic; a unit takes at least a cycle for an instruction",
     "Use f32 where it is exact enough, or a device with more f64 units.",
     has_fp64,
     {{CHANGE_RATE, "lanes_per_cycle.f64"},
      {CHANGE_LEAST, "lanes_per_cycle.f64_interval"},
      {CHANGE_COST, "latency.f64"}}},
    {"issue",
     "wavefronts that a SIMD unit issues from in a cycle, to one function unit each; scalar "
     "operations, branches and barriers",
     "Have more wavefronts or independent instructions, and fewer branches, barriers and scalar "
     "operations.",
     has_kernels,
     {{CHANGE_RATE, "cu.issue_width"},
      {CHANGE_COST, "latency.salu"},
      {CHANGE_COST, "latency.branch"},
      {CHANGE_COST, "latency.barrier"}}},
    {"launch cost",
     "what calls cost the host, the device's front end, and placing work-groups",
     "Launch fewer and longer kernels, or launch a graph.",
     always,
     {{CHANGE_COST, "host.cost_percent"},
      {CHANGE_COST, "launch.latency_ns"},
      {CHANGE_COST, "launch.cycles_per_workgroup"}}},
    {"compute units",
     "more of them, each with its L1 and local memory, under the same placement; infinitely many: "
     "one for each work-group of the region's kernels, and at most 1024",
     "The kernels have work for a larger device; heddle profile shows what they do with this one.",
     has_kernels,
     {{CHANGE_UNITS, "compute_units"}}},
};

enum { NIDEALS = sizeof ideals / sizeof *ideals };
_Static_assert((int)NIDEALS <= (int)EXPLAIN_IDEALS_MAX, "room for every ideal");

/* ---- values ----------------------------------------------------------------------------------------------- */

static uint64_t value_of(const struct param *row, const void *object)
{
    const char *at = (const char *)object + row->offset;
    uint64_t wide;
    uint32_t narrow;

    if (row->kind == PARAM_KIND_U64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* As far as the machine has room for them. */
static uint64_t more_units(const struct session *s, bool infinite)
{
    const struct sim_config *c = &s->options.gpu;
    uint64_t most = at_most(CUS_MAX, at_most(L1_BYTES_MAX / c->l1_bytes, MSHRS_MAX / c->l1_mshrs));
    uint64_t wanted = UINT64_C(2) * c->compute_units;

    if (infinite)
        wanted = at_least(wanted, s->result.chosen.metrics.sums.groups);
    return at_least(at_most(wanted, most), c->compute_units);
}

static uint64_t changed(const struct change *c, const struct param *row, uint64_t value,
                        bool infinite, const struct session *s)
{
    switch (c->kind) {
    case CHANGE_RATE:
        return infinite || value > row->max / 2 ? row->max : 2 * value;
    case CHANGE_COST:
        return infinite ? row->min : at_least(value / 2, row->min);
    case CHANGE_MOST:
        return infinite ? row->max : value;
    case CHANGE_LEAST:
        return infinite ? row->min : value;
    case CHANGE_UNITS:
        return more_units(s, infinite);
    case CHANGE_NONE:
        break;
    }
    return value;
}

static void add_change(struct explain_run *run, const struct change *c, const struct session *s,
                       bool infinite)
{
    const struct param *row;
    const void *object;
    uint64_t value, to;

    for (size_t i = 0; (row = hd_config_row(i, &s->options, &object)) != NULL; i++)
        if (strcmp(row->path, c->key) == 0)
            break;
    if (!row)
        return;
    value = value_of(row, object);
    to = changed(c, row, value, infinite, s);
    if (to != value)
        snprintf(run->changes[run->nchanges++], EXPLAIN_CHANGE_CHARS, "%s=%" PRIu64, c->key, to);
}

void explain_ideals(struct explain *e, const struct session *s)
{
    for (size_t i = 0; i < NIDEALS; i++) {
        struct explain_ideal *out = &e->ideals[e->nideals++];

        *out = (struct explain_ideal){.resource = ideals[i].name,
                                      .doc = ideals[i].doc,
                                      .advice = ideals[i].advice,
                                      .used = ideals[i].used(&s->record->script)};
        for (const struct change *c = ideals[i].changes; c->kind != CHANGE_NONE; c++) {
            add_change(&out->twice, c, s, false);
            add_change(&out->infinite, c, s, true);
        }
    }
}
