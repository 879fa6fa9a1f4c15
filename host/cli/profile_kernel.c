/* The summary of a kernel in a profile. */
#include "host/cli/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of the device that is used for more of its peak bounds the kernel. */
static const double BOUND = 0.6;
static const double FEW_LANES = 0.5;    /* of a wavefront */
static const double WORTH_A_WORD = 0.1; /* of the time, for the opening of rows to be named */

/* What a wavefront waits for, in words. */
static const char *const waits[SIM_NUM_STALLS] = {
    [SIM_STALL_SCOREBOARD] = "results of earlier instructions",
    [SIM_STALL_BARRIER] = "the rest of the work-group at barriers",
    [SIM_STALL_LDS] = "local memory",
    [SIM_STALL_MEMORY] = "global memory",
    [SIM_STALL_MSHR] = "room for more lines on their way to L1",
    [SIM_STALL_ISSUE] = "an issue port or function unit that others use",
    [SIM_STALL_TX] = "transactions",
    [SIM_STALL_FETCH] = "instructions",
};

/* ---- lines of numbers ------------------------------------------------------------------------------- */

static void add_shape(struct text *t, const uint32_t *v)
{
    text_add(t, "%" PRIu32, v[0]);
    if (v[1] > 1 || v[2] > 1)
        text_add(t, " x %" PRIu32, v[1]);
    if (v[2] > 1)
        text_add(t, " x %" PRIu32, v[2]);
}

static void print_launches(const struct profile_kernel *k)
{
    struct text t = {0};

    text_add(&t, "%" PRIu64, k->launches);
    if (k->unfinished)
        text_add(&t, ", and %" PRIu64 " that had not ended when the run did", k->unfinished);
    if (k->launches) {
        text_add(&t, ", grid ");
        add_shape(&t, k->grid);
        text_add(&t, ", block ");
        add_shape(&t, k->block);
        text_add(&t, " (%" PRIu32 " wavefront%s)%s", k->waves_per_group,
                 k->waves_per_group == 1 ? "" : "s",
                 k->shapes_differ ? " in the first; others differ" : "");
    }
    profile_paragraph("  launches   ", 13, text_str(&t));
    text_free(&t);
}

static void print_occupancy(const struct profile *p, const struct profile_kernel *k)
{
    struct text t = {0};
    char percent[16];

    cli_format_percent(k->occupancy, percent, sizeof percent);
    text_add(&t,
             "at most %" PRIu32 " of %" PRIu32 " wavefronts a compute unit (%s), bounded by %s; "
             "%.3g resident on average",
             k->waves_per_cu, p->config.wave_slots, percent, k->limit, k->rates.resident_waves);
    profile_paragraph("  occupancy  ", 13, text_str(&t));
    text_free(&t);
}

static void print_issue(const struct profile *p, const struct profile_kernel *k)
{
    struct text t = {0};
    char lanes[16];

    cli_format_percent(k->rates.lane_utilisation, lanes, sizeof lanes);
    text_add(&t,
             "%.3g wavefront instructions a cycle and compute unit, of %" PRIu32
             "; %s of the lanes active",
             k->rates.wave_ipc, sim_config_issue_slots(&p->config), lanes);
    profile_paragraph("  issue      ", 13, text_str(&t));
    text_free(&t);
}

static void add_use(struct text *t, const char *name, double use)
{
    char percent[16];

    if (!isfinite(use) || use <= 0)
        return;
    cli_format_percent(use, percent, sizeof percent);
    text_add(t, "%s%s %s", t->len ? ", " : "", name, percent);
}

static void add_rate(struct text *t, double rate, const char *unit)
{
    if (isfinite(rate) && rate > 0)
        text_add(t, "%s%.4g %s", t->len ? ", " : "", rate, unit);
}

static void print_use(const struct profile_kernel *k)
{
    const struct profile_rates *r = &k->rates;
    struct text use = {0}, rates = {0};

    add_use(&use, "issue", r->issue);
    add_use(&use, "f32", r->f32);
    add_use(&use, "f64", r->f64);
    add_use(&use, "local memory", r->lds);
    add_use(&use, "L2", r->l2);
    add_use(&use, "DRAM", r->dram);
    add_rate(&rates, r->gflops32, "Gflop/s f32");
    add_rate(&rates, r->gflops64, "Gflop/s f64");
    add_rate(&rates, r->l2_gbps, "GB/s to and from L2");
    add_rate(&rates, r->dram_gbps, "GB/s to and from DRAM");
    profile_paragraph("  of peak    ", 13, use.len ? use.at : "-");
    if (rates.len)
        profile_paragraph("  rates      ", 13, rates.at);
    text_free(&use);
    text_free(&rates);
}

static void add_accesses(struct text *t, uint64_t sum, uint64_t least, uint64_t n, const char *one,
                         const char *what)
{
    char percent[16];

    if (!n)
        return;
    cli_format_percent(profile_share(least, sum), percent, sizeof percent);
    text_add(t, "%s%.3g %s %s", t->len ? ", " : "", (double)sum / (double)n, one, what);
    if (least < sum)
        text_add(t, " where %.3g would do (%s)", (double)least / (double)n, percent);
}

static void print_accesses(const struct profile_kernel *k)
{
    const struct profile_counts *c = &k->counts;
    struct text t = {0};

    add_accesses(&t, c->sectors, c->least_sectors, c->requests, "sectors", "a global access");
    add_accesses(&t, c->passes, c->least_passes, c->local_accesses, "passes", "a local one");
    if (t.len)
        profile_paragraph("  accesses   ", 13, t.at);
    text_free(&t);
}

static void add_hits(struct text *t, double rate, const char *cache, const char *what)
{
    char percent[16];

    if (!isfinite(rate))
        return;
    cli_format_percent(rate, percent, sizeof percent);
    text_add(t, "%s%s holds %s of the %s", t->len ? ", " : "", cache, percent, what);
}

static void print_caches(const struct profile_kernel *k)
{
    struct text t = {0};

    add_hits(&t, k->rates.l1_hit_rate, "L1", "lines that are loaded");
    add_hits(&t, k->rates.l2_hit_rate, "L2", "sectors that are asked of it");
    if (t.len)
        profile_paragraph("  caches     ", 13, t.at);
    text_free(&t);
}

/* The reasons from the one that takes the most cycles on. */
static void order_stalls(const uint64_t *stalls, unsigned *order)
{
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++) {
        unsigned at = i;

        for (; at > 0 && stalls[order[at - 1]] < stalls[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void print_stalls(const struct profile_kernel *k)
{
    unsigned order[SIM_NUM_STALLS];
    struct text t = {0};

    order_stalls(k->counts.stalls, order);
    for (unsigned i = 0; i < SIM_NUM_STALLS && k->counts.stalls[order[i]]; i++) {
        char percent[16];

        cli_format_percent(profile_share(k->counts.stalls[order[i]], k->cycles), percent,
                           sizeof percent);
        text_add(&t, "%s%s %s", i ? ", " : "", result_stall_name(order[i]), percent);
    }
    profile_paragraph("  cycles     ", 13, text_str(&t));
    text_free(&t);
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

static void add_place(struct text *t, const struct profile_kernel *k, const struct profile_line *l)
{
    if (strcmp(l->file, k->file) != 0)
        text_add(t, "%s:%" PRIu32, l->file, l->line);
    else
        text_add(t, "line %" PRIu32, l->line);
}

/* What wavefronts wait for most, and the line at which they do. */
static void add_main_wait(struct text *t, const struct profile_kernel *k)
{
    const struct profile_line *at = NULL;
    unsigned order[SIM_NUM_STALLS], main;
    char percent[16];

    order_stalls(k->counts.stalls, order);
    main = order[0] == SIM_STALL_ISSUED ? order[1] : order[0];
    if (!k->counts.stalls[main])
        return;
    for (size_t i = 0; i < k->lines.len; i++)
        if (!at || k->lines.at[i].counts.stalls[main] > at->counts.stalls[main])
            at = &k->lines.at[i];
    cli_format_percent(profile_share(k->counts.stalls[main], k->cycles), percent, sizeof percent);
    text_add(t, "Wavefronts wait for %s in %s of their cycles, most of all at ", waits[main],
             percent);
    add_place(t, k, at);
    text_add(t, ". ");
}

static uint64_t groups_of(const struct profile_kernel *k)
{
    return (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
}

/* Nothing is near its peak: what would let more run beside each other. */
static void add_latency(struct text *t, const struct profile *p, const struct profile_kernel *k)
{
    uint64_t room = (uint64_t)(k->waves_per_cu / k->waves_per_group) * p->config.compute_units;

    if (groups_of(k) < room)
        text_add(t,
                 "The grid has %" PRIu64 " work-group%s and the device room for %" PRIu64
                 " at once: a larger grid, or another kernel beside it, would fill it.",
                 groups_of(k), groups_of(k) == 1 ? "" : "s", room);
    else if (k->occupancy < 1)
        text_add(t, "More resident wavefronts would hide it; %s allow no more than %" PRIu32 ".",
                 k->limit, k->waves_per_cu);
    else
        text_add(
            t, "Compute units are full of wavefronts, so what helps is independent work between an "
               "instruction and the use of its result.");
}

/* Instructions of which few lanes do anything are what takes the issue slots. */
static void add_lanes(struct text *t, const struct profile_kernel *k, bool by_instructions)
{
    char percent[16];

    if (!by_instructions || !(k->rates.lane_utilisation < FEW_LANES))
        return;
    cli_format_percent(k->rates.lane_utilisation, percent, sizeof percent);
    text_add(t, " Only %s of the lanes are active.", percent);
}

static void add_rows(struct text *t, const struct profile_kernel *k, bool by_dram)
{
    char percent[16];

    if (!by_dram || !(k->rates.dram_rows >= WORTH_A_WORD))
        return;
    cli_format_percent(k->rates.dram_rows, percent, sizeof percent);
    text_add(t, " Its channels pass nothing for %s of the time, while they open rows.", percent);
}

/* Parts that may bound a kernel; those before LDS are for instructions. */
enum part { ISSUE, F32, F64, LDS, L2, DRAM, NPARTS };

static void print_verdict(const struct profile *p, const struct profile_kernel *k)
{
    const struct {
        const char *name;
        double use;
    } parts[NPARTS] = {
        [ISSUE] = {"the issue of instructions", k->rates.issue},
        [F32] = {"f32 arithmetic", k->rates.f32},
        [F64] = {"f64 arithmetic", k->rates.f64},
        [LDS] = {"local memory", k->rates.lds},
        [L2] = {"L2 bandwidth", k->rates.l2},
        [DRAM] = {"DRAM bandwidth", k->rates.dram},
    };
    struct text t = {0};
    char percent[16];
    enum part top = ISSUE;

    for (enum part i = F32; i < NPARTS; i++)
        if (parts[i].use > parts[top].use)
            top = i;
    add_main_wait(&t, k);
    cli_format_percent(parts[top].use, percent, sizeof percent);
    if (parts[top].use >= BOUND) {
        text_add(&t, "Bound by %s, of which %s is in use.", parts[top].name, percent);
        add_lanes(&t, k, top < LDS);
        add_rows(&t, k, top == DRAM);
    } else if (k->launches) {
        text_add(&t, "Bound by latency: the most used part is %s, with %s. ", parts[top].name,
                 percent);
        add_latency(&t, p, k);
    }
    profile_paragraph("  ", 2, text_str(&t));
    text_free(&t);
}

void profile_print_kernel(const struct profile *p, const struct profile_kernel *k,
                          uint64_t all_time_ps)
{
    char time[32], percent[16];

    cli_format_time(k->time_ps, time, sizeof time);
    cli_format_percent(profile_share(k->time_ps, all_time_ps), percent, sizeof percent);
    printf("%s%s%s (%s:%" PRIu32 "): %s, %s of the time of all kernels\n", profile_colour("\033[1m"),
           k->name, profile_colour("\033[0m"), k->file, k->line, time, percent);
    print_launches(k);
    if (k->launches) {
        print_occupancy(p, k);
        print_issue(p, k);
        print_use(k);
        print_caches(k);
        print_accesses(k);
    }
    print_stalls(k);
    print_verdict(p, k);
}
