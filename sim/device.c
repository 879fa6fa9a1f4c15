/* Making the device: compute units, caches and channels as the configuration says. */
#include "sim/device.h"

#include "sim/placement.h"
#include "sim/wave_scheduler.h"

#include <stdlib.h>
#include <string.h>

static uint64_t cycles_ps(const struct clock_domain *clock, uint64_t cycles)
{
    return clock_edge(clock, cycles);
}

static void set_latencies(struct sim_machine *m)
{
    const struct sim_config *c = &m->config;
    struct device *d = m->device;
    const struct {
        enum isa_class cls;
        uint32_t latency, rate; /* rate 0: one instruction a cycle */
    } rows[] = {
        {ISA_C_ALU, c->lat_alu, c->rate_alu},
        {ISA_C_MUL, c->lat_mul, c->rate_mul},
        {ISA_C_CVT, c->lat_cvt, c->rate_cvt},
        {ISA_C_SFU, c->lat_sfu, c->rate_sfu},
        {ISA_C_F64, c->lat_f64, c->rate_f64},
        {ISA_C_SALU, c->lat_salu, 0},
        {ISA_C_XLANE, c->lat_xlane, c->rate_xlane},
        {ISA_C_BRANCH, c->lat_branch, 0},
        {ISA_C_LDS, c->lds_latency, 0},
        {ISA_C_MEM, c->l1_latency, 0},
        {ISA_C_SYNC, 1, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        d->latency[rows[i].cls] = rows[i].latency;
        d->busy[rows[i].cls] =
            rows[i].rate ? (uint32_t)bits_ceil_div(c->wavefront_size, rows[i].rate) : 1;
        d->pass_lanes[rows[i].cls] = rows[i].rate;
        d->pass_cycles[rows[i].cls] = 1;
    }
    d->busy[ISA_C_F64] *= c->f64_interval;
    d->pass_cycles[ISA_C_F64] = c->f64_interval;
    d->noc_ps = cycles_ps(&m->core, c->noc_latency);
    d->l2_latency_ps = cycles_ps(&m->l2clk, c->l2_latency);
    d->l2_atomic_ps = cycles_ps(&m->l2clk, c->l2_atomic_cycles);
    d->dram_latency_ps = c->dram_latency * PS_PER_NS;
    d->line_shift = bits_first(c->line_bytes);
    d->sector_shift = bits_first(c->sector_bytes);
    d->sectors_per_line = c->line_bytes / c->sector_bytes;
    d->l1_writes_back = c->l1_enabled && c->l1_write == L1_WRITE_BACK;
    d->l1_takes_stores = d->l1_writes_back || (c->l1_enabled && c->l1_allocate_on_store);
    d->l1_is_plain = !d->l1_writes_back && c->l1_allocate_on_load;
    d->simd_slots = c->wave_slots / c->simds;
    d->by_l1_sets = fastmod_make(c->l1_bytes / (c->l1_ways * c->line_bytes));
}

/* ---- compute units ---- */

static bool make_mshrs(struct cu *cu, uint32_t n)
{
    uint32_t places = 1;

    while (places < 2 * n)
        places *= 2;
    cu->mshr_mask = places - 1;
    cu->mshrs = malloc(n * sizeof *cu->mshrs);
    cu->mshr_index = malloc(places * sizeof *cu->mshr_index);
    if (!cu->mshrs || !cu->mshr_index)
        return false;
    memset(cu->mshr_index, 0xff, places * sizeof *cu->mshr_index);
    for (uint32_t i = 0; i < n; i++)
        cu->mshrs[i].next = i + 1 < n ? i + 1 : NONE32;
    cu->mshr_free = 0;
    cu->mshrs_left = n;
    return true;
}

static bool make_cu(struct sim_machine *m, struct cu *cu, uint32_t id)
{
    const struct sim_config *c = &m->config;
    struct device *d = m->device;

    cu->id = id;
    cu->due = CALENDAR_NEVER;
    cu->simds = d->simds + id * c->simds;
    cu->waves =
        aligned_alloc(64, bits_round_up((uint64_t)c->simds * d->simd_slots * sizeof *cu->waves, 64));
    cu->groups = calloc(c->group_slots, sizeof *cu->groups);
    cu->held = calloc(ACCESS_LINES_MAX, sizeof *cu->held);
    if (!cu->waves || !cu->groups || !cu->held)
        return false;
    room_init(c, cu);
    memset(cu->waves, 0, (size_t)c->simds * d->simd_slots * sizeof *cu->waves);
    for (uint32_t i = 0; i < c->simds; i++) {
        cu->simds[i].cu = cu;
        cu->simds[i].waves = cu->waves + i * d->simd_slots;
        cu->simds[i].due = cu->simds[i].far_from = CALENDAR_NEVER;
        cu->simds[i].of_unit[0] = UINT64_MAX;
        cu->simds[i].index = i;
        cu->simds[i].turns = d->scheduler->rotates ? c->simds : 1;
        issue_units(c, cu->simds[i].unit_of);
    }
    cu->fills = transit_new();
    cu->returns = c->l1_enabled ? NULL : returns_new();
    return cu->fills && (cu->returns || c->l1_enabled) &&
           vec_push(&cu->rounds, (struct l1_round){0}) && make_mshrs(cu, c->l1_mshrs) &&
           pool_init(&cu->ops, sizeof(struct load_op), 64) &&
           pool_init(&cu->waiters, sizeof(struct waiter), 256) &&
           cache_init(&cu->l1, d->by_l1_sets.divisor, c->l1_ways, d->sectors_per_line, false);
}

static void free_cu(struct sim_machine *m, struct cu *cu)
{
    for (uint32_t i = 0; cu->waves && i < m->config.simds * m->device->simd_slots; i++) {
        free(cu->waves[i].v);
        free(cu->waves[i].cf);
        free(cu->waves[i].tx);
    }
    for (uint32_t i = 0; cu->groups && i < m->config.group_slots; i++) {
        free(cu->groups[i].lds);
        free(cu->groups[i].tm);
        free(cu->groups[i].oracle);
    }
    free(cu->waves);
    free(cu->groups);
    free(cu->held);
    free(cu->mshrs);
    free(cu->returns);
    free(cu->mshr_index);
    transit_free(cu->fills);
    pool_free(&cu->ops);
    pool_free(&cu->waiters);
    vec_free(&cu->rounds);
    cache_free(&cu->l1);
}

/* ---- the rest ---- */

static void close_rows(const struct sim_config *c, struct device *d)
{
    for (size_t i = 0; d->rows && i < device_rows(c); i++)
        d->rows[i] = (struct dram_row){NO_ROW, 0};
}

static bool make_rows(const struct sim_config *c, struct device *d)
{
    d->row_span = (uint64_t)c->dram_row_bytes * c->dram_channels;
    d->row_miss_ps = c->dram_row_miss * PS_PER_NS;
    d->row_gap_ps = c->dram_row_gap;
    if (!d->row_span)
        return true;
    d->rows = calloc(device_rows(c), sizeof *d->rows);
    d->next_rows_ps = calloc(c->dram_channels, sizeof *d->next_rows_ps);
    close_rows(c, d);
    return d->rows && d->next_rows_ps;
}

static bool make_memory_system(struct sim_machine *m)
{
    const struct sim_config *c = &m->config;
    struct device *d = m->device;
    uint32_t sets = (uint32_t)(c->l2_bytes / ((uint64_t)c->l2_ways * c->line_bytes));

    d->slices = calloc(c->l2_slices, sizeof *d->slices);
    d->channels = calloc(c->dram_channels, sizeof *d->channels);
    if (!d->slices || !d->channels)
        return false;
    for (uint32_t i = 0; i < c->l2_slices; i++)
        rate_init(&d->slices[i], c->l2_bytes_per_cycle * c->l2_hz);
    for (uint32_t i = 0; i < c->dram_channels; i++)
        rate_init(&d->channels[i], c->dram_rate / c->dram_channels);
    for (uint32_t i = 0; i <= d->sectors_per_line; i++) {
        d->l2_steps[i] = rate_step_of(&d->slices[0], (uint64_t)i << d->sector_shift);
        d->dram_steps[i] = rate_step_of(&d->channels[0], (uint64_t)i << d->sector_shift);
    }
    if (!make_rows(c, d))
        return false;
    d->slice_fold = c->l2_hash == L2_HASH_XOR ? UINT32_MAX : 0;
    d->by_slices = fastmod_make(c->l2_slices);
    d->by_slice_sets = fastmod_make(sets / c->l2_slices);
    d->to_l2 = transit_new();
    return d->to_l2 && requests_init(&d->requests, 1024) &&
           cache_init(&d->l2, sets, c->l2_ways, d->sectors_per_line, true);
}

static bool make_parts(struct sim_machine *m)
{
    const struct sim_config *c = &m->config;
    struct device *d = m->device;

    d->scheduler = wave_schedulers[c->wave_scheduler];
    d->placement = placements[c->placement];
    d->ncus = c->compute_units;
    d->cleared_for = NONE32;
    d->places = (uint64_t)c->compute_units * c->group_slots;
    (void)placement_shares(c->shares, d->shares, &d->nshares); /* sim_config_check() has */
    d->cf = cf_units[c->divergence_unit];
    d->run_ahead = true;
    d->step = c->dual_issue ? simd_pair_step : simd_step;
    if (c->issue_width > 1 || c->one_scalar_unit || c->skip_idle_passes || d->scheduler->rotates)
        d->step = simd_wide_step;
    d->nruns = c->concurrent_kernels ? c->resident_kernels : 1;
    set_latencies(m);
    cu_set_lookahead(m);
    d->runs = calloc(d->nruns, sizeof *d->runs);
    d->cus = calloc(c->compute_units, sizeof *d->cus);
    d->simds = calloc((size_t)c->compute_units * c->simds, sizeof *d->simds);
    if (!d->runs || !d->cus || !d->simds || !calendar_init(&d->calendar, c->compute_units) ||
        !make_memory_system(m))
        return false;
    for (uint32_t i = 0; i < c->compute_units; i++)
        if (!make_cu(m, &d->cus[i], i))
            return false;
    return true;
}

enum hd_status device_new(struct sim_machine *m, struct hd_error *err)
{
    m->device = calloc(1, sizeof *m->device);
    if (m->device && make_parts(m))
        return HD_OK;
    return hd_no_memory(err, "a device of %u compute units", m->config.compute_units);
}

void device_free(struct sim_machine *m)
{
    struct device *d = m->device;

    if (!d)
        return;
    for (uint32_t i = 0; d->cus && i < m->config.compute_units; i++)
        free_cu(m, &d->cus[i]);
    for (uint32_t i = 0; d->runs && i < d->nruns; i++) {
        free(d->runs[i].array_at);
        free(d->runs[i].load_from);
        free(d->runs[i].plan);
        free(d->runs[i].tm);
    }
    free(d->cus);
    free(d->simds);
    free(d->runs);
    free(d->slices);
    free(d->channels);
    free(d->rows);
    free(d->next_rows_ps);
    transit_free(d->to_l2);
    vec_free(&d->waiting);
    requests_free(&d->requests);
    cache_free(&d->l2);
    calendar_free(&d->calendar);
    free(d);
    m->device = NULL;
}

void device_cool(struct sim_machine *m)
{
    cache_clear(&m->device->l2);
    close_rows(&m->config, m->device);
    for (uint32_t i = 0; i < m->config.compute_units; i++)
        cache_clear(&m->device->cus[i].l1);
}
