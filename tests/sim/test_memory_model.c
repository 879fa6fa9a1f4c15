/*
 * The memory system against a plain model of it (memory_model.h), on random traffic: what issues is taken from the probe; each
 * request and each answer has to be where the model says, to the picosecond, and in its order. So have the counters, the
 * cycles in which wavefronts go on after loads and fences, and the ends of wavefronts and kernels.
 *
 * It guards against mistakes of one line in sim/, among them:
 * - replacement: first in, first out instead of least recently used, in L1 or L2; a fill that counts as a use; a line replaced
 *   that waits for data; sectors that a new line keeps from the old one; caches that stay warm;
 * - homes: another hash of slices, set or channel; a rate that is not shared by the channels;
 * - rows: opened a request late, never closed by sim_cool(), one for all channels or banks, of another size; the extra time added to
 *   the latency instead of the channel's, or counted from the arrival;
 * - write-backs: forgotten, of clean sectors too, late, or taking no time of the channel; stores or atomics that leave no dirt;
 * - MSHRs: no merging, one too few, a load too many or too few at one, answers with part of the sectors, a held load that wakes nobody or looks up too much in a
 *   cycle;
 * - stores in L1: dirt that is lost, stays, or leaves in another order, with other sectors or at another time; waits for less or more than
 *   what has left; sectors that are there before they are; lines brought in that are not to be; no use counted;
 * - latencies: left out, added twice, taken from the wrong clock, one cycle off, or summed from rounded periods; lost fractions
 *   of a picosecond; sectors used before they are there; absent sectors fetched only when others have come;
 * - order: channels told of requests ahead of others that arrive first; answers to a unit not in the order in which they were given;
 *   requests of one cycle in another order than by unit and by sending; units that run ahead too far;
 * - atomics: serial lanes not counted, or counted by line; the slice not held; own L1 not cleared;
 * - ends: a fence, a wavefront or a kernel that does not wait for loads or for the effect of stores.
 */
#include "sim/base/bits.h"
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/sim/memory_model.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARRAY_BYTES = 1 << 16, ACCESSES = 8, STEPS = 128, TEXT_BYTES = 8192, KERNELS = 3 };
enum {
    UNITS = 4,
    SIMDS = 2,
    WAVES = 64
}; /* compute units, SIMD units of each; wavefronts of a case */

/* ---- kernels ---- */

enum step_kind { STEP_PLAIN, STEP_ACCESS, STEP_USE, STEP_FENCE, STEP_END };

struct step {
    enum step_kind kind;
    unsigned access; /* that it is, or whose result it uses */
};

/* The element that a lane touches is ((gid * mul + add) ^ itself >> shift) & last. */
struct pattern {
    enum mem_kind kind;
    unsigned bytes; /* of an element */
    uint32_t mul, add, shift, last;
    const char *mask; /* "@m" or "@!m": only lanes whose element is below, or is not; NULL: all */
    uint32_t below;
};

struct kernel {
    char text[TEXT_BYTES];
    size_t len;
    struct step steps[STEPS];
    unsigned nsteps, naccesses;
    struct pattern patterns[ACCESSES];
    uint32_t groups, threads, queue;
    uint64_t ticket;
};

static uint32_t below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)rng_below(rng, bound);
}

static uint32_t between(struct rng *rng, uint32_t low, uint32_t high)
{
    return low + below(rng, high - low + 1);
}

#define ONE_OF(rng, table) ((table)[below((rng), sizeof(table) / sizeof *(table))])

/* An instruction, which is one line. */
static void emit(struct kernel *k, struct step step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void emit(struct kernel *k, struct step step, const char *format, ...)
{
    va_list args;

    assert_true(k->nsteps < STEPS);
    k->steps[k->nsteps++] = step;
    va_start(args, format);
    k->len += (size_t)vsnprintf(k->text + k->len, TEXT_BYTES - k->len, format, args);
    va_end(args);
    assert_true(k->len + 2 < TEXT_BYTES);
    k->text[k->len++] = '\n';
    k->text[k->len] = 0;
}

static struct pattern random_pattern(struct rng *rng)
{
    static const uint32_t muls[] = {0, 1, 1, 1, 2, 3, 7, 8, 32, 33, 0x9e3779b1};
    static const unsigned shifts[] = {31, 31, 31, 7, 13};
    static const char *const masks[] = {NULL, NULL, NULL, "@m", "@!m"};
    static const enum mem_kind kinds[] = {
        MEM_LOAD, MEM_LOAD, MEM_LOAD, MEM_LOAD, MEM_STORE, MEM_STORE, MEM_ATOMIC, MEM_ATOMIC_RETURN,
    };
    struct pattern p = {.kind = ONE_OF(rng, kinds)};
    unsigned elements_log2;

    p.bytes = p.kind >= MEM_ATOMIC ? 4u << below(rng, 2) : 1u << below(rng, 4);
    elements_log2 = between(rng, 0, below(rng, 2) ? 9 : 16 - bits_first(p.bytes));
    p.last = (UINT32_C(1) << elements_log2) - 1;
    p.mul = ONE_OF(rng, muls);
    p.add = below(rng, p.last + 1);
    p.shift = ONE_OF(rng, shifts);
    p.mask = ONE_OF(rng, masks);
    p.below = below(rng, p.last + 2);
    return p;
}

/* v0 is the work-item; the element of access i is in v(2 + i), its mask m(i), its result in v(20 + 2 i) and the next. */
static void emit_pattern(struct kernel *k, unsigned i)
{
    static const struct step plain = {STEP_PLAIN, 0};
    const struct pattern *p = &k->patterns[i];
    unsigned v = 2 + i;

    emit(k, plain, "v_mul_u32 v%u, v0, %" PRIu32, v, p->mul);
    emit(k, plain, "v_add_u32 v%u, v%u, %" PRIu32, v, v, p->add);
    emit(k, plain, "v_shr_b32 v1, v%u, %" PRIu32, v, p->shift);
    emit(k, plain, "v_xor_b32 v%u, v%u, v1", v, v);
    emit(k, plain, "v_and_b32 v%u, v%u, %" PRIu32, v, v, p->last);
    if (p->mask)
        emit(k, plain, "v_cmp_lt_u32 m%u, v%u, %" PRIu32, i, v, p->below);
}

static const char *pair(char out[16], unsigned first, bool wide)
{
    snprintf(out, 16, wide ? "v[%u:%u]" : "v%u", first, first + 1);
    return out;
}

static void emit_access(struct kernel *k, unsigned i)
{
    static const char *const loads[] = {"u8", "u16", "b32", "b64"};
    const struct pattern *p = &k->patterns[i];
    const struct step step = {STEP_ACCESS, i};
    unsigned size = bits_first(p->bytes);
    bool wide = p->bytes == 8;
    char mask[16] = "", result[16], value[16], address[32];

    if (p->mask)
        snprintf(mask, sizeof mask, "%s%u ", p->mask, i);
    snprintf(address, sizeof address, "[x + v%u*%u]", 2 + i, p->bytes);
    pair(result, 20 + 2 * i, wide);
    pair(value, 0, wide);
    if (p->kind == MEM_LOAD)
        emit(k, step, "%sglobal_load_%s %s, %s", mask, loads[size], result, address);
    else if (p->kind == MEM_STORE)
        emit(k, step, "%sglobal_store_b%u %s, %s", mask, 8 * p->bytes, address, value);
    else if (p->kind == MEM_ATOMIC)
        emit(k, step, "%sglobal_atomic_add_u%u %s, %s", mask, 8 * p->bytes, address, value);
    else
        emit(k, step, "%sglobal_atomic_add_u%u_rtn %s, %s, %s", mask, 8 * p->bytes, result, address,
             value);
}

static bool has_result(const struct pattern *p)
{
    return p->kind == MEM_LOAD || p->kind == MEM_ATOMIC_RETURN;
}

/* The accesses in order; between them uses of results, fences, and other instructions. */
static void emit_body(struct kernel *k, struct rng *rng)
{
    unsigned done = 0;

    while (done < k->naccesses) {
        uint32_t what = below(rng, 10);
        unsigned i = done ? below(rng, done) : 0;

        if (what < 6)
            emit_access(k, done++);
        else if (what < 8 && done && has_result(&k->patterns[i]))
            emit(k, (struct step){STEP_USE, i}, "v_add_u32 v40, v%u, v0", 20 + 2 * i);
        else if (what == 8)
            emit(k, (struct step){STEP_FENCE, 0}, "fence");
        else if (what == 9)
            emit(k, (struct step){STEP_PLAIN, 0}, "v_add_u32 v41, v0, v0");
    }
    emit(k, (struct step){STEP_USE, done - 1}, "v_add_u32 v40, v%u, v0", 20 + 2 * (done - 1));
    if (below(rng, 2))
        emit(k, (struct step){STEP_FENCE, 0}, "fence");
}

static void random_kernel(struct kernel *k, struct rng *rng, unsigned width)
{
    memset(k, 0, sizeof *k);
    k->len = (size_t)snprintf(k->text, TEXT_BYTES, ".kernel k\n.param x u32[]\n");
    k->naccesses = between(rng, 1, width > 16 ? 4 : ACCESSES);
    emit(k, (struct step){STEP_PLAIN, 0}, "v_get_u32 v0, %%gid");
    for (unsigned i = 0; i < k->naccesses; i++) {
        k->patterns[i] = random_pattern(rng);
        emit_pattern(k, i);
    }
    emit_body(k, rng);
    emit(k, (struct step){STEP_END, 0}, "s_end");
    snprintf(k->text + k->len, TEXT_BYTES - k->len, ".endkernel\n");
    k->threads = between(rng, 1, 2 * width);
    k->groups = between(rng, 1, width > 16 ? 3 : 6);
    k->queue = below(rng, 2);
}

/* ---- machines ---- */

static void random_clocks(struct sim_config *c, struct rng *rng)
{
    static const uint64_t core[] = {1000000000, 1189000000, 1329000000, 900000000, 2000000000};
    static const uint64_t l2[] = {1000000000, 900000000, 1189000000, 700000001};
    static const uint64_t dram[] = {4000000000,   32000000000,  80000000003,
                                    112000000000, 549000000000, 16777216001};

    c->core_hz = ONE_OF(rng, core);
    c->l2_hz = ONE_OF(rng, l2);
    c->dram_rate = ONE_OF(rng, dram);
    c->dram_latency = between(rng, 0, 300);
    if (below(rng, 10) == 0) /* answers come back after thousands, or tens of thousands, of cycles */
        c->dram_latency *= below(rng, 2) ? 15 : 200;
}

static void random_units(struct sim_config *c, struct rng *rng)
{
    static const uint32_t widths[] = {8, 8, 16, 16, 32, 64};

    c->compute_units = between(rng, 1, UNITS);
    c->wavefront_size = ONE_OF(rng, widths);
    c->simds = between(rng, 1, SIMDS);
    c->wave_scheduler = below(rng, 3);
    c->wave_slots = c->simds * between(rng, 2, 8);
    c->lat_alu = c->lat_mul = 1;
    c->rate_alu = c->rate_mul = 64;
    c->launch_latency = below(rng, 50);
}

static void random_l1(struct sim_config *c, struct rng *rng)
{
    static const uint32_t mshrs[] = {1, 2, 3, 4, 8, 64};
    static const uint32_t ports[] = {1, 1, 2, 3};
    static const uint32_t sets[] = {1, 2, 3, 4, 5, 16, 64};

    c->line_bytes = 32u << below(rng, 4);
    c->sector_bytes = c->line_bytes >> below(rng, 4);
    c->l1_enabled = below(rng, 4) != 0;
    c->l1_ways = between(rng, 1, 4);
    c->l1_bytes = c->l1_ways * c->line_bytes * ONE_OF(rng, sets);
    if (c->l1_bytes < 128)
        c->l1_bytes *= 4;
    c->l1_latency = between(rng, 1, 90);
    c->l1_lines_per_cycle = ONE_OF(rng, ports);
    c->l1_mshrs = ONE_OF(rng, mshrs);
    c->noc_latency = 1 + below(rng, 60);
}

static void random_l2(struct sim_config *c, struct rng *rng)
{
    static const uint32_t sets[] = {1, 2, 3, 4, 16, 64};

    c->dram_channels = between(rng, 1, 4);
    c->l2_slices = c->dram_channels << below(rng, 3);
    c->l2_ways = between(rng, 1, 4);
    c->l2_bytes = c->l2_slices * c->l2_ways * c->line_bytes * ONE_OF(rng, sets);
    while (c->l2_bytes < 1024)
        c->l2_bytes *= 2;
    c->l2_latency = between(rng, 1, 120);
    c->l2_bytes_per_cycle = 4u << below(rng, 5);
    c->l2_atomic_cycles = between(rng, 1, 12);
}

/* Settings that most machines leave alone. */
static void random_options(struct sim_config *c, struct rng *rng)
{
    if (below(rng, 3) == 0) {
        c->l1_write = L1_WRITE_BACK;
        c->l1_allocate_on_store = below(rng, 4) != 0;
    } else {
        c->l1_allocate_on_store = below(rng, 4) == 0;
    }
    c->l1_allocate_on_load = !c->l1_allocate_on_store || below(rng, 4) != 0;
    if (below(rng, 4) == 0)
        c->l1_mshr_loads = between(rng, 1, 6);
    if (below(rng, 4) == 0)
        c->l2_hash = L2_HASH_MODULO;
    if (below(rng, 3) == 0) {
        c->dram_row_bytes = c->line_bytes * between(rng, 1, 20);
        c->dram_banks = between(rng, 1, 5);
        c->dram_bank_rows = between(rng, 1, 4);
        c->dram_row_miss = below(rng, 2) ? below(rng, 60) : 0;
        c->dram_row_gap = below(rng, 2) ? below(rng, 60000) : 0;
    }
}

/* ---- what the probe sees ---- */

struct issue {
    struct hd_probe_event e;
    const struct kernel *kernel;
    const struct step *step; /* NULL: the start or the end of the wavefront */
    uint64_t cycle;
    size_t access; /* in the model, SIZE_MAX if it touches nothing */
};

struct watch {
    struct krig rig;
    struct kernel kernels[KERNELS];
    unsigned nkernels;
    uint64_t base;        /* address of the array */
    struct issue *issues; /* births and ends of wavefronts, and issues, in order */
    size_t nissues, room;
    struct mem_log requests, fills;
    struct mem_access *accesses;
    size_t naccesses;
    uint64_t cooled_ps[KERNELS]; /* when the caches were emptied */
    unsigned ncooled;
    uint64_t seed;
};

static void on_kernel(void *user, const struct sim_kernel_record *k)
{
    struct krig *r = user;

    r->kernels[r->nkernels++] = *k;
}

static void keep_issue(struct watch *w, const struct hd_probe_event *e)
{
    struct issue i = {.e = *e, .access = SIZE_MAX};

    i.cycle = mem_cycle_at(w->rig.config.core_hz, e->time_ps);
    for (unsigned k = 0; k < w->nkernels; k++)
        if (w->kernels[k].ticket == e->ticket)
            i.kernel = &w->kernels[k];
    assert_non_null(i.kernel);
    if (e->kind == HD_PROBE_ISSUE)
        i.step = &i.kernel->steps[e->pc];
    if (w->nissues == w->room) {
        w->room = w->room ? 2 * w->room : 1024;
        w->issues = realloc(w->issues, w->room * sizeof *w->issues);
        assert_non_null(w->issues);
    }
    w->issues[w->nissues++] = i;
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct watch *w = user;

    if (e->kind == HD_PROBE_REQUEST || e->kind == HD_PROBE_FILL)
        mem_log_add(e->kind == HD_PROBE_FILL ? &w->fills : &w->requests,
                    (struct mem_event){e->time_ps, e->line, e->sectors, e->cu, e->store});
    else
        keep_issue(w, e);
}

static void open_machine(struct watch *w, struct rng *rng)
{
    struct krig *r = &w->rig;

    param_defaults(&sim_params, &r->config);
    random_clocks(&r->config, rng);
    random_units(&r->config, rng);
    random_l1(&r->config, rng);
    random_l2(&r->config, rng);
    random_options(&r->config, rng);
    if (sim_new(&r->config, ISA_BUILD_AUTO, &r->m, &r->err))
        fail_msg("%s", r->err.message);
    sim_set_sink(r->m, &(struct sim_sink){.user = r, .kernel = on_kernel});
    sim_set_probe(r->m, &(struct hd_probe){
                            w, on_event,
                            HD_PROBE_WANT(HD_PROBE_WAVE_START) | HD_PROBE_WANT(HD_PROBE_ISSUE) |
                                HD_PROBE_WANT(HD_PROBE_WAVE_END) | HD_PROBE_WANT(HD_PROBE_REQUEST) |
                                HD_PROBE_WANT(HD_PROBE_FILL)});
}

static void finish(struct krig *r)
{
    if (sim_wait(r->m, 0, &r->err))
        fail_msg("%s", r->err.message);
}

static void cool_machine(struct watch *w)
{
    finish(&w->rig);
    sim_cool(w->rig.m);
    w->cooled_ps[w->ncooled++] = sim_now(w->rig.m);
}

static void run_kernels(struct watch *w, struct rng *rng)
{
    struct krig *r = &w->rig;
    uint32_t array = krig_array(r, ARRAY_BYTES), queue;

    w->base = sim_array_address(r->m, array);
    assert_int_equal(sim_queue_new(r->m, &queue, &r->err), HD_OK);
    for (w->nkernels = 0; w->nkernels < KERNELS;) {
        struct kernel *k = &w->kernels[w->nkernels++];

        random_kernel(k, rng, r->config.wavefront_size);
        if (w->nkernels > 1 && below(rng, 4) == 0)
            cool_machine(w);
        k->ticket = krig_submit(r, &(struct krig_launch){.text = k->text,
                                                         .groups = k->groups,
                                                         .threads = k->threads,
                                                         .queue = k->queue ? queue : 0,
                                                         .nargs = 1,
                                                         .args = {KRIG_ARRAY(array)}});
        if (below(rng, 2))
            break;
    }
    finish(r);
}

/* ---- from issues to accesses ---- */

static uint64_t lane_address(const struct watch *w, const struct issue *i, unsigned lane)
{
    const struct pattern *p = &i->kernel->patterns[i->step->access];
    uint32_t gid =
        (uint32_t)i->e.group * i->kernel->threads + i->e.wave * w->rig.config.wavefront_size + lane;
    uint32_t element = gid * p->mul + p->add;

    element = (element ^ element >> p->shift) & p->last;
    return w->base + (uint64_t)element * p->bytes;
}

static struct mem_line *line_of(struct mem_access *a, uint64_t line)
{
    for (unsigned i = 0; i < a->nlines; i++)
        if (a->lines[i].line == line)
            return &a->lines[i];
    a->lines[a->nlines] = (struct mem_line){.line = line};
    return &a->lines[a->nlines++];
}

static unsigned lanes_on(const struct watch *w, const struct issue *i, uint64_t address)
{
    unsigned n = 0;

    for (unsigned lane = 0; lane < w->rig.config.wavefront_size; lane++)
        n += (i->e.lanes >> lane & 1) && lane_address(w, i, lane) == address;
    return n;
}

static void add_lane(const struct watch *w, const struct issue *i, unsigned lane,
                     struct mem_access *a)
{
    const struct sim_config *c = &w->rig.config;
    uint64_t address = lane_address(w, i, lane);
    uint64_t line = address - address % c->line_bytes;
    struct mem_line *l = line_of(a, line);

    for (uint64_t byte = address; byte < address + i->kernel->patterns[i->step->access].bytes;
         byte++)
        l->sectors |= UINT32_C(1) << (byte - line) / c->sector_bytes;
    if (a->kind >= MEM_ATOMIC) {
        unsigned n = lanes_on(w, i, address);

        l->serial = n > l->serial ? n : l->serial;
    }
}

static bool writes_back(const struct watch *w)
{
    return w->rig.config.l1_enabled && w->rig.config.l1_write == L1_WRITE_BACK;
}

/* Whether an issue is an access in the model; a fence is one where it flushes L1. */
static bool is_access(const struct watch *w, const struct issue *i)
{
    if (!i->step)
        return false;
    return i->step->kind == STEP_FENCE ? writes_back(w) : i->step->kind == STEP_ACCESS && i->e.lanes;
}

static struct mem_access *new_access(struct watch *w, uint64_t cycle, unsigned cu, unsigned run,
                                     enum mem_kind kind)
{
    struct mem_access *a = &w->accesses[w->naccesses++];

    *a = (struct mem_access){.cycle = cycle, .cu = cu, .run = run, .kind = kind};
    return a;
}

static void add_access(struct watch *w, struct issue *i, unsigned *cooled)
{
    unsigned run = (unsigned)(i->kernel - w->kernels);
    bool fence = i->step->kind == STEP_FENCE;
    struct mem_access *a = new_access(
        w, i->cycle, i->e.cu, run, fence ? MEM_FLUSH : i->kernel->patterns[i->step->access].kind);

    i->access = w->naccesses - 1;
    for (; *cooled < w->ncooled && i->e.time_ps >= w->cooled_ps[*cooled]; ++*cooled)
        a->cold = true;
    for (unsigned lane = 0; !fence && lane < w->rig.config.wavefront_size; lane++)
        if (i->e.lanes >> lane & 1)
            add_lane(w, i, lane, a);
}

/* What is known of kernels while their issues are gone through. */
struct courses {
    unsigned units[KERNELS],
        ended[KERNELS]; /* that it has run on, a bit each; its wavefronts that have ended */
    unsigned over[KERNELS], nover, flushed; /* kernels in the order in which they ended */
    uint64_t cycle[KERNELS];                /* of that */
};

/*
 * A kernel whose last wavefront has ended flushes L1 of its units, after what else is done in that cycle. New wavefronts may
 * start and issue in it behind that.
 */
static void add_flushes(struct watch *w, struct courses *c, uint64_t before)
{
    for (; c->flushed < c->nover && c->cycle[c->flushed] < before; c->flushed++) {
        unsigned run = c->over[c->flushed];

        for (unsigned cu = 0; cu < w->rig.config.compute_units; cu++)
            if (writes_back(w) && c->units[run] >> cu & 1)
                new_access(w, c->cycle[c->flushed], cu, run, MEM_FLUSH);
    }
}

static unsigned waves_of(const struct watch *w, const struct kernel *k)
{
    uint32_t width = w->rig.config.wavefront_size;

    return k->groups * ((k->threads + width - 1) / width);
}

static void find_accesses(struct watch *w)
{
    struct courses c = {0};
    unsigned cooled = 0;

    w->accesses = calloc(w->nissues + KERNELS * UNITS + 1, sizeof *w->accesses);
    assert_non_null(w->accesses);
    for (size_t n = 0; n < w->nissues; n++) {
        struct issue *i = &w->issues[n];
        unsigned run = (unsigned)(i->kernel - w->kernels);

        add_flushes(w, &c, i->cycle + (i->e.kind == HD_PROBE_WAVE_START));
        c.units[run] |= 1u << i->e.cu;
        c.ended[run] += i->e.kind == HD_PROBE_WAVE_END;
        if (i->e.kind == HD_PROBE_WAVE_END && c.ended[run] == waves_of(w, i->kernel)) {
            c.over[c.nover] = run;
            c.cycle[c.nover++] = i->cycle;
        }
        if (is_access(w, i))
            add_access(w, i, &cooled);
    }
    add_flushes(w, &c, UINT64_MAX);
}

/* ---- comparing ---- */

static void fail_case(const struct watch *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fail_case(const struct watch *w, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail_msg("case %" PRIu64 " (HEDDLE_SEED=%" PRIu64 "): %s", w->seed, w->seed, text);
}

/* The events of a compute unit are in its order; between units only their times count. */
static void sort_by_unit(const struct watch *w, struct mem_log *log)
{
    struct mem_event *sorted = malloc((log->len + 1) * sizeof *sorted);
    size_t n = 0;

    assert_non_null(sorted);
    for (unsigned cu = 0; cu < w->rig.config.compute_units; cu++)
        for (size_t i = 0; i < log->len; i++)
            if (log->at[i].cu == cu)
                sorted[n++] = log->at[i];
    assert_int_equal(n, log->len);
    free(log->at);
    log->at = sorted;
}

static void compare_logs(const struct watch *w, const char *what, struct mem_log *is,
                         struct mem_log *want)
{
    sort_by_unit(w, is);
    sort_by_unit(w, want);
    for (size_t i = 0; i < is->len && i < want->len; i++) {
        const struct mem_event *a = &is->at[i], *b = &want->at[i];

        if (a->time_ps != b->time_ps || a->line != b->line || a->sectors != b->sectors ||
            a->cu != b->cu || a->store != b->store)
            fail_case(w,
                      "%s %zu: unit %u line %" PRIx64 " sectors %x at %" PRIu64
                      " ps, the model says unit %u line %" PRIx64 " sectors %x at %" PRIu64 " ps",
                      what, i, a->cu, a->line, a->sectors, a->time_ps, b->cu, b->line, b->sectors,
                      b->time_ps);
    }
    if (is->len != want->len)
        fail_case(w, "%zu %ss, the model says %zu", is->len, what, want->len);
}

static void compare_counters(const struct watch *w, const struct sim_counters *c,
                             const struct mem_counters *want)
{
    const struct {
        const char *name;
        uint64_t is, want;
    } rows[] = {
        {"l1_requests", c->l1_requests, want->l1_requests},
        {"l1_hits", c->l1_hits, want->l1_hits},
        {"sectors", c->sectors, want->sectors},
        {"l2_bytes", c->l2_bytes, want->l2_bytes},
        {"l2_hits", c->l2_hits, want->l2_hits},
        {"l2_misses", c->l2_misses, want->l2_misses},
        {"dram_read_bytes", c->dram_read_bytes, want->dram_read_bytes},
        {"dram_write_bytes", c->dram_write_bytes, want->dram_write_bytes},
        {"dram_row_misses", c->dram_row_misses, want->dram_row_misses},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is != rows[i].want)
            fail_case(w, "%s is %" PRIu64 ", the model says %" PRIu64, rows[i].name, rows[i].is,
                      rows[i].want);
}

/* The last wavefront's end or the last effect of a store, whichever is later. */
static void compare_end(const struct watch *w, const struct sim_kernel_record *k, unsigned run)
{
    uint64_t end_ps = 0;

    for (size_t i = 0; i < w->nissues; i++)
        if (w->issues[i].e.kind == HD_PROBE_WAVE_END && w->issues[i].kernel == &w->kernels[run] &&
            w->issues[i].e.time_ps > end_ps)
            end_ps = w->issues[i].e.time_ps;
    for (size_t i = 0; i < w->naccesses; i++)
        if (w->accesses[i].run == run && w->accesses[i].effect_ps > end_ps)
            end_ps = w->accesses[i].effect_ps;
    if (k->end_ps != end_ps)
        fail_case(w, "kernel %u ends at %" PRIu64 " ps, the model says %" PRIu64, run, k->end_ps,
                  end_ps);
}

static void compare_records(const struct watch *w, const struct mem_result *result)
{
    assert_int_equal(w->rig.nkernels, w->nkernels);
    for (unsigned i = 0; i < w->rig.nkernels; i++) {
        const struct sim_kernel_record *k = &w->rig.kernels[i];
        unsigned run = 0;

        while (w->kernels[run].ticket != k->ticket)
            run++;
        compare_counters(w, &k->counters, &result->counters[run]);
        compare_end(w, k, run);
    }
}

/* ---- without a probe, when compute units run ahead of each other ---- */

static void compare_ahead(const struct watch *w, const struct watch *ahead)
{
    assert_int_equal(ahead->rig.nkernels, w->rig.nkernels);
    for (unsigned i = 0; i < w->rig.nkernels; i++) {
        const struct sim_kernel_record *a = &w->rig.kernels[i], *b = &ahead->rig.kernels[i];

        if (a->ticket != b->ticket || a->start_ps != b->start_ps || a->end_ps != b->end_ps)
            fail_case(w,
                      "kernel %u from %" PRIu64 " to %" PRIu64 " ps, ahead from %" PRIu64
                      " to %" PRIu64 " ps",
                      i, a->start_ps, a->end_ps, b->start_ps, b->end_ps);
        if (memcmp(&a->counters, &b->counters, sizeof a->counters) != 0)
            fail_case(w, "the counters of kernel %u differ when compute units run ahead", i);
    }
}

static void run_ahead(const struct watch *w)
{
    struct watch *ahead = calloc(1, sizeof *ahead);
    struct rng rng;

    assert_non_null(ahead);
    rng_seed(&rng, w->seed);
    open_machine(ahead, &rng);
    sim_set_probe(ahead->rig.m, &(struct hd_probe){0});
    run_kernels(ahead, &rng);
    compare_ahead(w, ahead);
    krig_close(&ahead->rig);
    free(ahead);
}

/* ---- when wavefronts go on ---- */

/* What a wavefront has done so far. */
struct wave {
    struct hd_probe_event name; /* ticket, group and number of it */
    const struct issue *last, *accesses[STEPS];
    unsigned naccesses;
};

/* All that has issued so far. */
struct past {
    struct wave waves[WAVES];
    unsigned nwaves;
    const struct issue **issued[UNITS][SIMDS], **accesses[UNITS]; /* in order */
    size_t nissued[UNITS][SIMDS], naccesses[UNITS];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static const struct mem_access *access_of(const struct watch *w, const struct issue *i)
{
    return &w->accesses[i->access];
}

static struct wave *wave_of(struct past *past, const struct issue *i)
{
    unsigned n = 0;

    while (n < past->nwaves &&
           (past->waves[n].name.ticket != i->e.ticket || past->waves[n].name.group != i->e.group ||
            past->waves[n].name.wave != i->e.wave))
        n++;
    if (n == past->nwaves) {
        assert_true(n < WAVES);
        past->waves[past->nwaves++].name = i->e;
    }
    return &past->waves[n];
}

static bool simd_took(const struct past *past, const struct issue *i, uint64_t cycle)
{
    const struct issue **issued = past->issued[i->e.cu][i->e.simd];
    size_t n = past->nissued[i->e.cu][i->e.simd];

    while (n > 0 && issued[n - 1]->cycle > cycle)
        n--;
    return n > 0 && issued[n - 1]->cycle == cycle;
}

/*
 * The cycle until which an earlier access keeps the load-store unit at a cycle, 0 if none does. SIMD units of one cycle are
 * served in order of their number.
 */
static uint64_t unit_taken_until(const struct watch *w, const struct past *past,
                                 const struct issue *i, uint64_t cycle)
{
    const struct issue **accesses = past->accesses[i->e.cu];

    for (size_t n = past->naccesses[i->e.cu]; n-- > 0;) {
        const struct issue *o = accesses[n];

        if (access_of(w, o)->unit_free <= cycle)
            return 0;
        if (o->cycle < cycle || (o->cycle == cycle && o->e.simd < i->e.simd))
            return access_of(w, o)->unit_free;
    }
    return 0;
}

/* The cycle by which a fence knows that an access has taken effect. */
static uint64_t fenced_cycle(const struct sim_config *c, const struct mem_access *a)
{
    uint64_t noc_ps = mem_edge(c->core_hz, c->noc_latency);
    uint64_t known = a->effect_ps ? mem_cycle_at(c->core_hz, a->effect_ps + noc_ps) : 0;

    return later(a->fill_cycle, known);
}

/* The first cycle at which an instruction has what it waits for. */
static uint64_t ready_cycle(const struct watch *w, const struct wave *wave, const struct issue *i)
{
    const struct issue *last = wave->last;
    uint64_t ready = last->step ? last->cycle + 1 : last->cycle;

    for (unsigned n = 0; n < wave->naccesses; n++) {
        const struct issue *o = wave->accesses[n];

        if (i->step->kind == STEP_USE && i->step->access == o->step->access)
            ready = later(ready, access_of(w, o)->ready_cycle);
        if (last->step && last->step->kind == STEP_FENCE)
            ready = later(ready, fenced_cycle(&w->rig.config, access_of(w, o)));
    }
    return ready;
}

/* An instruction issues in the first cycle that has all it waits for, and that no other has taken. */
static void check_issue(const struct watch *w, const struct past *past, const struct wave *wave,
                        const struct issue *i)
{
    uint64_t ready = ready_cycle(w, wave, i);

    if (i->cycle < ready)
        fail_case(w, "pc %u issues at cycle %" PRIu64 ", but is ready at %" PRIu64, i->e.pc,
                  i->cycle, ready);
    if (i->access != SIZE_MAX && access_of(w, i)->unit_taken)
        fail_case(w, "pc %u issues at cycle %" PRIu64 " although the load-store unit is taken",
                  i->e.pc, i->cycle);
    for (uint64_t cycle = ready, until; cycle < i->cycle; cycle = until) {
        until = i->step->kind == STEP_ACCESS ? unit_taken_until(w, past, i, cycle) : 0;
        if (!until && simd_took(past, i, cycle))
            until = cycle + 1;
        if (!until)
            fail_case(w, "pc %u issues at cycle %" PRIu64 ", but could have issued at %" PRIu64,
                      i->e.pc, i->cycle, cycle);
    }
}

/* A wavefront is over when it has ended and its last answer has come. */
static void check_wave_end(const struct watch *w, const struct wave *wave, const struct issue *i)
{
    uint64_t cycle = wave->last->cycle;

    for (unsigned n = 0; n < wave->naccesses; n++)
        cycle = later(cycle, access_of(w, wave->accesses[n])->fill_cycle);
    if (i->cycle != cycle)
        fail_case(w, "a wavefront ends at cycle %" PRIu64 ", the model says %" PRIu64, i->cycle,
                  cycle);
}

static void remember(struct past *past, struct wave *wave, const struct issue *i)
{
    wave->last = i;
    if (i->step)
        past->issued[i->e.cu][i->e.simd][past->nissued[i->e.cu][i->e.simd]++] = i;
    if (i->access == SIZE_MAX)
        return;
    wave->accesses[wave->naccesses++] = i;
    if (i->step->kind == STEP_FENCE)
        return;
    past->accesses[i->e.cu][past->naccesses[i->e.cu]++] = i;
}

static void check_issues(const struct watch *w)
{
    enum { LISTS = UNITS * SIMDS + UNITS };
    struct past past = {0};
    const struct issue **lists = calloc(w->nissues * LISTS + 1, sizeof(const struct issue *));

    assert_non_null(lists);
    for (unsigned i = 0; i < UNITS * SIMDS; i++)
        past.issued[i / SIMDS][i % SIMDS] = lists + i * w->nissues;
    for (unsigned i = 0; i < UNITS; i++)
        past.accesses[i] = lists + (UNITS * SIMDS + i) * w->nissues;
    for (size_t n = 0; n < w->nissues; n++) {
        const struct issue *i = &w->issues[n];
        struct wave *wave = wave_of(&past, i);

        if (i->e.kind == HD_PROBE_WAVE_END)
            check_wave_end(w, wave, i);
        else if (i->step)
            check_issue(w, &past, wave, i);
        remember(&past, wave, i);
    }
    free(lists);
}

/* ---- the test ---- */

/* How often the cases met what is worth meeting. */
enum reach {
    FILLS,
    L1_HITS,
    L2_HITS,
    MERGED,
    HELD,
    EVICTED,
    RETRIED,
    PASSED,
    ROWS,
    KEPT,
    LEFT,
    FULL,
    NREACH
};

static const char *const reach_names[NREACH] = {
    "answers",
    "lines found in L1",
    "sectors found in L2",
    "sectors merged in an MSHR",
    "waits for an MSHR",
    "lines of L2 replaced",
    "retries in L2",
    "stores past a full set of L2",
    "rows of DRAM opened",
    "lines of stores kept in L1",
    "lines that left L1 dirty",
    "waits for an MSHR to take another load",
};

static void add_reach(size_t reach[NREACH], const struct mem_result *r)
{
    reach[FILLS] += r->fills.len;
    reach[MERGED] += r->merged;
    reach[HELD] += r->held;
    reach[EVICTED] += r->evicted;
    reach[RETRIED] += r->retries;
    reach[PASSED] += r->passed;
    reach[KEPT] += r->kept;
    reach[LEFT] += r->left;
    reach[FULL] += r->full;
    for (unsigned i = 0; i < MEM_RUNS; i++) {
        reach[L1_HITS] += r->counters[i].l1_hits;
        reach[L2_HITS] += r->counters[i].l2_hits;
        reach[ROWS] += r->counters[i].dram_row_misses;
    }
}

static void one_case(uint64_t seed, size_t reach[NREACH])
{
    struct watch *w = calloc(1, sizeof *w);
    struct mem_result result;
    struct rng rng;

    assert_non_null(w);
    w->seed = seed;
    rng_seed(&rng, seed);
    open_machine(w, &rng);
    run_kernels(w, &rng);
    find_accesses(w);
    mem_model_run(&w->rig.config, w->accesses, w->naccesses, &result);
    compare_logs(w, "request", &w->requests, &result.requests);
    compare_logs(w, "fill", &w->fills, &result.fills);
    check_issues(w);
    compare_records(w, &result);
    run_ahead(w);
    add_reach(reach, &result);
    krig_close(&w->rig);
    free(result.requests.at);
    free(result.fills.at);
    free(w->requests.at);
    free(w->fills.at);
    free(w->issues);
    free(w->accesses);
    free(w);
}

static void test_random_traffic(void **state)
{
    uint64_t count = test_count(4000), first = test_seed(1);
    size_t reach[NREACH] = {0};

    (void)state;
    printf("cases %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
    for (uint64_t i = 0; i < count; i++)
        one_case(first + i, reach);
    for (unsigned i = 0; i < NREACH; i++) {
        printf("%zu %s\n", reach[i], reach_names[i]);
        assert_true(reach[i] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traffic),
    };

    return cmocka_run_group_tests_name("memory_model", tests, NULL, NULL);
}
