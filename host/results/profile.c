/* Collects a profile from the probe. */
#include "host/results/profile.h"

#include "sim/base/bits.h"
#include "sim/limits.h"

#include <string.h>

struct profile *profile_new(const struct sim_config *config)
{
    struct profile *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->config = *config;
    p->issued =
        calloc((size_t)config->compute_units * SIMDS_MAX * SIMD_SLOTS_MAX, sizeof *p->issued);
    if (p->issued)
        return p;
    free(p);
    return NULL;
}

static void kernel_free(struct profile_kernel *k)
{
    free(k->insns);
    vec_free(&k->lines);
    free(k);
}

static void file_free(struct profile_file *f)
{
    free(f->name);
    free(f->text);
    free(f->lines);
    free(f);
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->kernels.len; i++)
        kernel_free(p->kernels.at[i]);
    for (size_t i = 0; i < p->files.len; i++)
        file_free(p->files.at[i]);
    for (size_t i = 0; i < p->texts.len; i++)
        free(p->texts.at[i]);
    vec_free(&p->files);
    vec_free(&p->kernels);
    vec_free(&p->texts);
    free(p->issued);
    free(p);
}

uint64_t profile_cycles(const struct profile_counts *c)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
        sum += c->stalls[i];
    return sum;
}

/* All members are of one type. */
void profile_add(struct profile_counts *to, const struct profile_counts *from)
{
    uint64_t *a = (uint64_t *)to;
    const uint64_t *b = (const uint64_t *)from;

    for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
        a[i] += b[i];
}

/* ---- kernels --------------------------------------------------------------------------------- */

static struct profile_kernel *kernel_new(struct profile *p, const struct isa_program *program,
                                         const struct isa_kernel *kernel)
{
    struct profile_kernel *k = calloc(1, sizeof *k);

    if (k)
        k->insns = calloc(kernel->end - kernel->first, sizeof *k->insns);
    if (!k || !k->insns || !vec_push(&p->kernels, k)) {
        if (k)
            kernel_free(k);
        p->failed = true;
        return NULL;
    }
    k->program = program;
    k->kernel = kernel;
    return k;
}

/* NULL when memory is short. */
static struct profile_kernel *kernel_of(struct profile *p, const struct isa_program *program,
                                        const struct isa_kernel *kernel)
{
    if (p->last && p->last->kernel == kernel)
        return p->last;
    for (size_t i = 0; i < p->kernels.len; i++)
        if (p->kernels.at[i]->kernel == kernel)
            return p->last = p->kernels.at[i];
    return p->last = kernel_new(p, program, kernel);
}

/* What an advisor of transactions has to know of the first launch. */
static void note_transactions(const struct profile *p, struct profile_kernel *k,
                              const struct sim_kernel_record *r)
{
    struct sim_launch l = {.program = r->program, .kernel = r->kernel, .dynamic_lds = r->dynamic_lds};

    memcpy(l.grid, r->grid, sizeof l.grid);
    memcpy(l.block, r->block, sizeof l.block);
    k->has_tx = true;
    k->tx = sim_tx_known(&p->config, &l);
    for (uint32_t i = 0; i < TM_NUM_DETECTORS; i++)
        k->tx_needs[i] = sim_tx_needs(&p->config, &l, i);
}

void profile_launch(struct profile *p, const struct sim_kernel_record *r)
{
    struct profile_kernel *k = kernel_of(p, r->program, r->kernel);

    if (!k)
        return;
    if (k->launches++ == 0) {
        memcpy(k->grid, r->grid, sizeof k->grid);
        memcpy(k->block, r->block, sizeof k->block);
        k->limit = r->limit;
        if (r->kernel->has_tx)
            note_transactions(p, k, r);
        k->waves_per_group = r->waves_per_group;
        k->waves_per_cu = r->groups_per_cu * r->waves_per_group;
    }
    k->shapes_differ |= memcmp(k->grid, r->grid, sizeof k->grid) != 0 ||
                        memcmp(k->block, r->block, sizeof k->block) != 0;
    k->unfinished -= k->unfinished > 0;
    k->time_ps += r->end_ps - r->start_ps;
    sim_counters_add(&k->sums, &r->counters);
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t *issued_at(struct profile *p, const struct hd_probe_event *e)
{
    return &p->issued[((size_t)e->cu * SIMDS_MAX + e->simd) * SIMD_SLOTS_MAX + e->slot];
}

/* A wavefront at a barrier or fence has issued it already, and waits there. */
static uint32_t pc_of_stall(struct profile *p, const struct hd_probe_event *e)
{
    uint32_t last = *issued_at(p, e);
    uint8_t format = last ? e->program->insns[last - 1].format : (uint8_t)ISA_NUM_FORMATS;

    if ((e->reason == SIM_STALL_BARRIER && format == ISA_BARRIER) ||
        (e->reason == SIM_STALL_MEMORY && format == ISA_FENCE))
        return last - 1;
    return e->pc;
}

/* The distance of neighbouring active lanes, if it is the same for all of at least two. */
static bool distance_of(const struct hd_probe_event *e, int64_t *distance)
{
    uint64_t rest = e->lanes & (e->lanes - 1);
    unsigned before = bits_first(e->lanes);
    bool known = false;

    for (; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        int64_t step = (int64_t)(e->address[lane] - e->address[before]);

        if (lane != before + 1 || (known && step != *distance))
            return false;
        *distance = step;
        known = true;
        before = lane;
    }
    return known;
}

/* Boyer and Moore's vote: what is left is the distance of most accesses, if most have one. */
static void vote(struct profile_distance *d, const struct hd_probe_event *e)
{
    int64_t distance = 0;
    bool known = distance_of(e, &distance);

    if (known && (d->weight == 0 || d->bytes == distance)) {
        d->bytes = distance;
        d->weight++;
    } else if (d->weight > 0) {
        d->weight--;
    }
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void count_global(const struct profile *p, struct profile_insn *n,
                         const struct hd_probe_event *e)
{
    uint64_t bytes = (uint64_t)bits_count(e->lanes) * e->bytes;
    uint64_t least = bits_ceil_div(bytes, p->config.sector_bytes);

    n->counts.requests++;
    n->counts.lines += e->nlines;
    n->counts.sectors += e->nsectors;
    n->counts.least_sectors += smaller(least, e->nsectors);
    if (e->program->insns[e->pc].format == ISA_GLOAD)
        n->counts.lookups += e->nlines;
    n->bytes = e->bytes;
    vote(&n->distance, e);
}

static void count_local(struct profile_insn *n, const struct hd_probe_event *e)
{
    n->counts.local_accesses++;
    n->counts.passes += e->passes;
    n->counts.least_passes += e->least_passes;
    n->bytes = e->bytes;
    vote(&n->distance, e);
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct profile *p = user;
    struct profile_kernel *k = kernel_of(p, e->program, e->kernel);
    struct profile_insn *n = k ? &k->insns[e->pc - k->kernel->first] : NULL;

    if (!k)
        return;
    switch (e->kind) {
    case HD_PROBE_WAVE_START:
        *issued_at(p, e) = 0;
        k->unfinished += e->group == 0 && e->wave == 0;
        break;
    case HD_PROBE_ISSUE:
        n->counts.issues++;
        n->counts.lanes += bits_count(e->lanes);
        *issued_at(p, e) = e->pc + 1;
        break;
    case HD_PROBE_STALL:
        k->insns[pc_of_stall(p, e) - k->kernel->first].counts.stalls[e->reason] += e->cycles;
        break;
    case HD_PROBE_GLOBAL:
        count_global(p, n, e);
        break;
    case HD_PROBE_LOCAL:
        count_local(n, e);
        break;
    case HD_PROBE_L1_HIT:
        n->counts.hits++;
        break;
    case HD_PROBE_REQUEST:
    case HD_PROBE_FILL:
    case HD_PROBE_WAVE_END:
    case HD_PROBE_TX_BEGIN:
    case HD_PROBE_TX_CONFLICT:
    case HD_PROBE_TX_COMMIT:
    case HD_PROBE_TX_RETRY:
        break;
    }
}

struct hd_probe profile_probe(struct profile *p)
{
    return (struct hd_probe){
        .user = p,
        .fn = on_event,
        .wants = HD_PROBE_WANT(HD_PROBE_WAVE_START) | HD_PROBE_WANT(HD_PROBE_ISSUE) |
                 HD_PROBE_WANT(HD_PROBE_STALL) | HD_PROBE_WANT(HD_PROBE_GLOBAL) |
                 HD_PROBE_WANT(HD_PROBE_LOCAL) | HD_PROBE_WANT(HD_PROBE_L1_HIT),
    };
}
