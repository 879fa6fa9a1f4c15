/*
 * Random kernels under random settings of the issue stage. What does not change a machine may change neither times nor
 * counters: computing values ahead or not, running compute units ahead or not, and the general issue stage where the plain one
 * would do. And whatever the settings are, values are the same, and each wavefront's cycles add up.
 */
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 4096, WAVES = 1024, UNITS = 16, ROTATING = 3 };

static unsigned below(struct rng *g, unsigned n)
{
    return (unsigned)rng_below(g, n);
}

/* ---- kernels ---- */

/* Items store to words of their own, so that values do not depend on the order of wavefronts. Parameters are in s0 to s3. */
static const char *const lines[] = {
    "v_add_u32 v%d, v%d, v%d",
    "@m%m v_add_u32 v%d, v%d, v%d",
    "@!m%m v_mul_u32 v%d, v%d, 3",
    "v_fma_f32 v%d, v%d, v%d, v%d",
    "@m%m v_sqrt_f32 v%d, v%d",
    "v_cvt_f32_u32 v%d, v%d",
    "@m%m v_cvt_u32_f32 v%d, v%d",
    "v_add_f64 v[14:15], v[12:13], v[14:15]",
    "@m%m v_add_f64 v[12:13], v[14:15], v[12:13]",
    "v_shuffle_xor_b32 v%d, v%d, 5",
    "s_add_u32 s2%d, s2%d, s2%d",
    "s_mul_u32 s2%d, s2%d, 5",
    "v_add_u32 v%d, v%d, s2%d",
    "v_cmp_lt_u32 m%m, v%d, v%d",
    "@m%m v_cmp_ge_u32 m%m, v%d, v%d",
    "m_xor m%m, m%m, m%m",
    "v_readfirst_b32 s2%d, v%d",
    "s_ballot s[28:29], m%m",
    "s_nop",
    "fence",
    "local_store_b32 [v10*4], v%d",
    "@m%m local_store_b32 [v10*4], v%d",
    "local_load_b32 v%d, [v10*4]",
    "global_load_b32 v%d, [x + v11*4]",
    "@m%m global_load_b32 v%d, [x + v11*4]",
    "global_store_b32 [x + v11*4], v%d",
    "@m%m global_store_b32 [x + v11*4], v%d",
    "global_load_b32 v%d, [y + v10*4]",
};

/* A line with random registers; returns its length. */
static size_t a_line(char *out, const char *line, struct rng *g)
{
    size_t len = 0;

    for (const char *p = line; *p; p++) {
        if (p[0] == '%' && (p[1] == 'd' || p[1] == 'm')) {
            out[len++] = (char)('0' + below(g, p[1] == 'd' ? 8 : 3));
            p++;
        } else {
            out[len++] = *p;
        }
    }
    out[len++] = '\n';
    return len;
}

static const char *a_kernel(struct rng *g)
{
    static char text[8192];
    unsigned blocks = 1 + below(g, 3);
    size_t len = (size_t)snprintf(text, sizeof text,
                                  ".kernel k\n.param x u32[]\n.param y u32[]\n.lds 1024\n"
                                  "v_get_u32 v10, %%tid\nv_get_u32 v11, %%gid\n"
                                  "v_add_u32 v0, v10, 1\nv_mov_b32 v1, v11\n"
                                  "v_cmp_lt_u32 m0, v10, %u\n",
                                  below(g, 70));

    for (unsigned b = 0; b < blocks; b++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "s_mov_b32 s30, %u\nloop%u:\n",
                                1 + below(g, 3), b);
        for (unsigned i = 0, n = 1 + below(g, 20); i < n; i++)
            len += a_line(text + len, lines[below(g, sizeof lines / sizeof *lines)], g);
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "s_sub_u32 s30, s30, 1\ns_branch_nz s30, loop%u\n", b);
        if (below(g, 2))
            len += (size_t)snprintf(text + len, sizeof text - len, "s_barrier\n");
    }
    /* The end alone, or one that may issue beside what is ahead of it. */
    snprintf(text + len, sizeof text - len,
             "global_store_b32 [x + v11*4], v0\n%ss_end\n.endkernel\n",
             below(g, 2) ? "" : "v_add_u32 v1, v1, v1\ns_add_u32 s20, s20, s20\n");
    return text;
}

/* ---- machines ---- */

/* A wavefront a cycle, or a pair of its instructions, and no more. */
static void take_plain(struct sim_config *c)
{
    c->wave_scheduler %= ROTATING;
    c->issue_width = 1;
    c->skip_idle_passes = c->one_scalar_unit = false;
}

static void a_machine(struct sim_config *c, struct rng *g)
{
    static const uint32_t widths[] = {8, 16, 32, 64};
    uint32_t *const latencies[] = {&c->lat_alu,   &c->lat_mul,    &c->lat_cvt,
                                   &c->lat_sfu,   &c->lat_f64,    &c->lat_salu,
                                   &c->lat_xlane, &c->lat_branch, &c->lat_barrier};
    uint32_t *const rates[] = {&c->rate_alu, &c->rate_mul, &c->rate_cvt,
                               &c->rate_sfu, &c->rate_f64, &c->rate_xlane};

    param_defaults(&sim_params, c);
    c->compute_units = 1 + below(g, 4);
    c->wavefront_size = widths[below(g, 4)];
    c->simds = 1u << below(g, 3);
    c->wave_scheduler = below(g, ROTATING + 1);
    c->issue_width = 1 + below(g, 8);
    c->dual_issue = below(g, 2);
    c->one_vector_unit = below(g, 2);
    c->one_scalar_unit = below(g, 2);
    c->skip_idle_passes = below(g, 2);
    if (below(g, 3) == 0) /* what has a stage of its own, with pairs and without */
        take_plain(c);
    c->l1_mshrs = 1 + below(g, 8);
    c->l2_slices = 4;
    c->dram_channels = 1u << below(g, 3);
    c->launch_latency = 1000 + below(g, 8);
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++)
        *latencies[i] = 1 + below(g, 12);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        *rates[i] = 1u << below(g, 7);
}

struct result {
    struct sim_kernel_record k;
    uint32_t values[WORDS];
};

/* ---- wavefronts, as a probe sees them ---- */

struct watched {
    uint64_t start[WAVES], end[WAVES], last[WAVES];
    uint64_t cycles, issued, instructions, residency; /* sums */
    uint32_t waves_per_group;
    const struct sim_config *c;
    uint64_t busy[UNITS]; /* last cycle of each SIMD unit, and the wavefronts that issued in it */
    uint32_t waves[UNITS];
};

/* A SIMD unit issues no more in a cycle than it may, and only in its turn. */
static void check_unit(struct watched *w, const struct hd_probe_event *e, uint64_t cycle,
                       bool second)
{
    size_t unit = e->cu * w->c->simds + e->simd;

    assert_true(unit < UNITS);
    if (w->busy[unit] != cycle)
        w->waves[unit] = 0;
    w->busy[unit] = cycle;
    w->waves[unit] += !second;
    assert_true(w->waves[unit] <= w->c->issue_width);
    if (w->c->wave_scheduler == ROTATING)
        assert_int_equal(cycle % w->c->simds, e->simd);
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct watched *w = user;
    size_t i = (size_t)(e->group * w->waves_per_group + e->wave);
    uint64_t cycle = e->time_ps / 1000;

    assert_true(i < WAVES);
    if (e->kind == HD_PROBE_WAVE_START) {
        w->start[i] = cycle;
        w->last[i] = UINT64_MAX;
    } else if (e->kind == HD_PROBE_ISSUE) {
        check_unit(w, e, cycle, w->last[i] == cycle);
        w->instructions++;
        w->issued += w->last[i] != cycle;
        w->last[i] = cycle;
    } else if (e->kind == HD_PROBE_WAVE_END) {
        /* To the cycle of s_end, or to that of its last load. */
        w->residency += (cycle > w->last[i] + 1 ? cycle : w->last[i] + 1) - w->start[i];
    }
}

static struct result run(const struct sim_config *c, const char *text, uint32_t threads,
                         bool no_run_ahead, struct watched *w)
{
    static struct result out;
    const struct hd_probe probe = {
        .wants = HD_PROBE_WANT(HD_PROBE_WAVE_START) | HD_PROBE_WANT(HD_PROBE_ISSUE) |
                 HD_PROBE_WANT(HD_PROBE_WAVE_END),
        .fn = on_event,
        .user = w,
    };
    struct krig r;
    uint32_t x, y;

    krig_open_config(&r, c);
    if (no_run_ahead)
        sim_set_limits(r.m, &(struct sim_limits){.no_run_ahead = true});
    if (w)
        sim_set_probe(r.m, &probe);
    x = krig_array(&r, sizeof out.values);
    y = krig_array(&r, sizeof out.values);
    out.k = *krig_run(&r, &(struct krig_launch){.text = text,
                                                .groups = 12,
                                                .threads = threads,
                                                .nargs = 2,
                                                .args = {KRIG_ARRAY(x), KRIG_ARRAY(y)}});
    memcpy(out.values, sim_array_data(r.m, x), sizeof out.values);
    krig_close(&r);
    return out;
}

static void same(uint64_t seed, const char *what, const struct result *a, const struct result *b)
{
    if (a->k.start_ps != b->k.start_ps || a->k.end_ps != b->k.end_ps ||
        memcmp(&a->k.counters, &b->k.counters, sizeof a->k.counters))
        fail_msg("seed %" PRIu64 ": %s changes times or counters: %" PRIu64 " ps, %" PRIu64 " ps",
                 seed, what, a->k.end_ps - a->k.start_ps, b->k.end_ps - b->k.start_ps);
    assert_memory_equal(a->values, b->values, sizeof a->values);
}

static void one_case(uint64_t seed)
{
    struct sim_config c, plain;
    static struct result settings, probed, values, general;
    static struct watched w;
    struct rng g;
    uint64_t sum = 0;
    const char *text;
    uint32_t threads;

    rng_seed(&g, seed);
    a_machine(&c, &g);
    text = a_kernel(&g);
    threads = 1 + below(&g, 100);
    settings = run(&c, text, threads, false, NULL);
    probed = run(&c, text, threads, true, NULL);
    same(seed, "running ahead", &settings, &probed);

    memset(&w, 0, sizeof w);
    w.c = &c;
    w.waves_per_group = (threads + c.wavefront_size - 1) / c.wavefront_size;
    probed = run(&c, text, threads, false, &w);
    same(seed, "a probe", &settings, &probed);
    for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
        sum += settings.k.counters.stall_cycles[i];
    assert_int_equal(sum, w.residency);
    assert_int_equal(settings.k.counters.stall_cycles[SIM_STALL_ISSUED], w.issued);
    assert_int_equal(settings.k.counters.wave_instr, w.instructions);
    if (!c.dual_issue)
        assert_int_equal(w.issued, w.instructions);

    /* One SIMD unit shares its scalar unit with none, which only makes the general stage serve it. */
    plain = c;
    plain.simds = 1;
    take_plain(&plain);
    values = run(&plain, text, threads, false, NULL);
    plain.one_scalar_unit = true;
    general = run(&plain, text, threads, false, NULL);
    same(seed, "the general stage", &values, &general);
    assert_memory_equal(values.values, settings.values, sizeof values.values);
}

static void test_settings(void **state)
{
    uint64_t seed = test_seed(20261130), count = test_count(120);

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < count; i++)
        one_case(seed + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings)};

    return cmocka_run_group_tests_name("issue_random", tests, NULL, NULL);
}
