/*
 * Two kernels share a device: whatever their needs, at each moment what is resident of both keeps every limit of every
 * compute unit and SIMD unit; neither starves; every work-group runs once; and the cycles that the counters call residency
 * are those between the starts and the ends that the probe saw. Sums are kept here from the kernels' needs, not from the
 * machine's.
 */
#include "sim/base/bits.h"
#include "sim/base/rng.h"
#include "sim/placement.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { UNITS = 5, SIMDS = 4, GROUPS = 40, WAVES = 8, LANES = 32 };

struct need {
    unsigned threads, regs, sregs, local, groups, turns;
    unsigned waves, wave_regs, wave_sregs, group_local; /* as allocated */
};

/* What is resident on a compute unit, and of it on each SIMD unit. */
struct used {
    unsigned groups, barriers, local;
    unsigned waves[SIMDS], regs[SIMDS], sregs[SIMDS];
};

struct share {
    uint64_t seed;
    struct sim_config c;
    struct need kernel[2];
    uint64_t ticket[2];
    struct used used[UNITS];
    unsigned live[2][GROUPS], simd_of[2][GROUPS][WAVES], cu_of[2][GROUPS];
    unsigned started[2][GROUPS];
    uint64_t cycles[2], wave_start[2][GROUPS][WAVES];
    uint64_t first_end[2], first_start[2];
    unsigned resident[2], together; /* work-groups now; most of the lesser of the two at once */
};

static void wrong(const struct share *s, const char *what)
{
    fail_msg("HEDDLE_SEED=%" PRIu64 ": %s", s->seed, what);
}

static void check_limits(const struct share *s, unsigned cu)
{
    const struct used *u = &s->used[cu];
    const struct sim_config *c = &s->c;

    if (u->groups > c->group_slots)
        wrong(s, "more work-groups than slots");
    if (c->barrier_slots && u->barriers > c->barrier_slots)
        wrong(s, "more work-groups of several wavefronts than barriers");
    if (u->local > c->lds_bytes)
        wrong(s, "more local memory than there is");
    for (unsigned i = 0; i < c->simds; i++) {
        if (u->waves[i] > c->wave_slots / c->simds)
            wrong(s, "more wavefronts than slots of a SIMD unit");
        if (u->regs[i] > c->vreg_words / c->simds)
            wrong(s, "more vector registers than a SIMD unit has");
        if (c->sreg_words && u->sregs[i] > c->sreg_words / c->simds)
            wrong(s, "more scalar registers than a SIMD unit has");
    }
}

static void add_wave(struct share *s, unsigned k, unsigned cu, unsigned simd, int sign)
{
    s->used[cu].waves[simd] += (unsigned)sign;
    s->used[cu].regs[simd] += (unsigned)sign * s->kernel[k].wave_regs;
    s->used[cu].sregs[simd] += (unsigned)sign * s->kernel[k].wave_sregs;
}

static void add_group(struct share *s, unsigned k, unsigned cu, int sign)
{
    s->used[cu].groups += (unsigned)sign;
    s->used[cu].barriers += s->kernel[k].waves > 1 ? (unsigned)sign : 0;
    s->used[cu].local += (unsigned)sign * s->kernel[k].group_local;
    s->resident[k] += (unsigned)sign;
}

static void on_start(struct share *s, unsigned k, const struct hd_probe_event *e)
{
    unsigned group = (unsigned)e->group;

    if (e->wave == 0) {
        if (s->started[k][group]++)
            wrong(s, "a work-group runs twice");
        if (!s->first_start[k])
            s->first_start[k] = e->time_ps;
        s->live[k][group] = s->kernel[k].waves;
        s->cu_of[k][group] = e->cu;
        add_group(s, k, e->cu, 1);
    }
    if (s->cu_of[k][group] != e->cu)
        wrong(s, "a work-group on two compute units");
    if (s->c.group_on_one_simd && e->wave && s->simd_of[k][group][0] != e->simd)
        wrong(s, "a work-group on two SIMD units");
    s->simd_of[k][group][e->wave] = e->simd;
    s->wave_start[k][group][e->wave] = e->time_ps;
    add_wave(s, k, e->cu, e->simd, 1);
    check_limits(s, e->cu);
    if (s->resident[0] && s->resident[1]) {
        unsigned lesser = s->resident[0] < s->resident[1] ? s->resident[0] : s->resident[1];

        s->together = lesser > s->together ? lesser : s->together;
    }
}

static void on_end(struct share *s, unsigned k, const struct hd_probe_event *e)
{
    unsigned group = (unsigned)e->group;

    /* The cycle in which it ends is its last. */
    s->cycles[k] += (e->time_ps - s->wave_start[k][group][e->wave]) / 1000 + 1;
    if (--s->live[k][group])
        return; /* its slots and registers stay taken until the last has ended */
    for (unsigned w = 0; w < s->kernel[k].waves; w++)
        add_wave(s, k, e->cu, s->simd_of[k][group][w], -1);
    add_group(s, k, e->cu, -1);
    if (!s->first_end[k])
        s->first_end[k] = e->time_ps;
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct share *s = user;
    unsigned k = e->ticket == s->ticket[1];

    if (e->kind == HD_PROBE_WAVE_START)
        on_start(s, k, e);
    else
        on_end(s, k, e);
}

/* ---- a random case ---- */

static unsigned between(struct rng *rng, unsigned low, unsigned high)
{
    return low + (unsigned)rng_below(rng, high - low + 1);
}

static void random_config(struct rng *rng, struct sim_config *c)
{
    param_defaults(&sim_params, c);
    c->compute_units = between(rng, 1, UNITS);
    c->simds = 1u << between(rng, 0, 2);
    c->wavefront_size = LANES;
    c->core_hz = c->l2_hz = 1000000000;
    c->wave_slots = c->simds * between(rng, 2, 12);
    c->group_slots = between(rng, 1, 12);
    c->barrier_slots = between(rng, 0, 2) ? 0 : between(rng, 1, 6);
    c->group_on_one_simd = between(rng, 0, 3) == 0;
    c->vreg_granule = 1u << between(rng, 5, 8);
    c->vreg_words = c->simds * c->vreg_granule * between(rng, c->wave_slots / c->simds, 80);
    c->sreg_granule = 8;
    c->sreg_words =
        between(rng, 0, 1) ? 0 : c->simds * 8 * between(rng, c->wave_slots / c->simds, 40);
    c->lds_granule = 256;
    c->lds_power_of_two = between(rng, 0, 3) == 0;
    c->lds_bytes = 256 * between(rng, 4, 64);
    c->lds_group_max = c->lds_power_of_two ? 1u << bits_last(c->lds_bytes) : c->lds_bytes;
    c->placement = between(rng, 0, 2);
    c->cycles_per_group = between(rng, 1, 4);
    c->launch_latency = 100;
    if (between(rng, 0, 1))
        snprintf(c->shares, sizeof c->shares, "%u:%u", between(rng, 1, 5), between(rng, 1, 5));
}

static unsigned up(unsigned n, unsigned unit)
{
    return (n + unit - 1) / unit * unit;
}

static void random_need(struct rng *rng, const struct sim_config *c, struct need *n)
{
    n->waves = between(rng, 1, between(rng, 1, WAVES));
    n->threads = LANES * (n->waves - 1) + between(rng, 1, LANES);
    n->regs = between(rng, 1, between(rng, 4, 100));
    n->sregs = between(rng, 9, 60);
    n->local = between(rng, 0, 1) ? 0 : between(rng, 1, 4000);
    n->groups = between(rng, 1, GROUPS);
    n->turns = between(rng, 10, 120);
    n->wave_regs = up(n->regs * LANES, c->vreg_granule);
    n->wave_sregs = c->sreg_words ? up(n->sregs, 8) : 0;
    n->group_local = up(n->local, 256);
    while (c->lds_power_of_two && n->group_local & (n->group_local - 1))
        n->group_local += 256;
}

static bool submit(struct share *s, struct krig *r, unsigned k)
{
    const struct need *n = &s->kernel[k];
    struct sim_cmd cmd = {.kind = SIM_KERNEL};
    char text[256];
    uint32_t queue;

    snprintf(text, sizeof text,
             ".kernel k\n.vregs %u\n.sregs %u\n.lds %u\n s_mov_b32 s8, %u\nagain:\n s_sub_u32 s8, "
             "s8, 1\n s_branch_nz s8, again\n s_end\n.endkernel\n",
             n->regs, n->sregs, n->local, n->turns);
    cmd.launch.kernel = krig_assemble(r, text, &cmd.launch.program);
    cmd.launch.grid[0] = n->groups;
    cmd.launch.block[0] = n->threads;
    for (unsigned i = 1; i < 3; i++)
        cmd.launch.grid[i] = cmd.launch.block[i] = 1;
    assert_int_equal(sim_queue_new(r->m, &queue, &r->err), HD_OK);
    return sim_submit(r->m, queue, &cmd, &s->ticket[k], &r->err) == HD_OK;
}

static const struct sim_counters *counters(const struct krig *r, uint64_t ticket)
{
    for (unsigned i = 0; i < r->nkernels; i++)
        if (r->kernels[i].ticket == ticket)
            return &r->kernels[i].counters;
    return NULL;
}

static void check_end(const struct share *s, const struct krig *r)
{
    for (unsigned k = 0; k < 2; k++) {
        const struct sim_counters *c = counters(r, s->ticket[k]);
        uint64_t stalls = 0;

        if (!c || c->groups != s->kernel[k].groups ||
            c->waves != (uint64_t)s->kernel[k].groups * s->kernel[k].waves)
            wrong(s, "a kernel did not run all its work-groups");
        for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
            stalls += c->stall_cycles[i];
        if (stalls != c->residency_cycles || stalls != s->cycles[k])
            wrong(s, "the cycles of a kernel's wavefronts do not add up");
        for (unsigned g = 0; g < s->kernel[k].groups; g++)
            if (s->started[k][g] != 1)
                wrong(s, "a work-group did not run");
    }
    for (unsigned cu = 0; cu < UNITS; cu++)
        for (size_t i = 0; i < sizeof s->used[cu]; i++)
            if (((const unsigned char *)&s->used[cu])[i])
                wrong(s, "something stays taken");
}

/*
 * On parts of the device neither kernel waits for the other to place all its work-groups: where each has more than the
 * device holds, both are there at once.
 */
static void check_starvation(const struct share *s, const struct krig *r, bool *shared)
{
    bool crowded = s->c.compute_units > 1;

    *shared = s->together > 0;
    for (unsigned i = 0; i < r->nkernels; i++) {
        unsigned k = r->kernels[i].ticket == s->ticket[1];

        crowded =
            crowded && s->kernel[k].groups > 2 * r->kernels[i].groups_per_cu * s->c.compute_units;
    }
    if (crowded && strcmp(placement_choices[s->c.placement].name, "spatial") == 0 && !s->together)
        wrong(s, "parts of the device, and yet one after the other");
}

/* Returns whether both kernels could be launched; *shared whether they were resident together. */
static bool one_case(uint64_t seed, bool *shared)
{
    static struct share s;
    struct hd_error err;
    struct rng rng;
    struct krig r;
    bool ran;

    memset(&s, 0, sizeof s);
    s.seed = seed;
    rng_seed(&rng, seed);
    random_config(&rng, &s.c);
    if (sim_config_check(&s.c, &err) != HD_OK)
        fail_msg("HEDDLE_SEED=%" PRIu64 ": %s", seed, err.message);
    krig_open_config(&r, &s.c);
    sim_set_probe(r.m, &(struct hd_probe){.user = &s,
                                          .fn = on_event,
                                          .wants = HD_PROBE_WANT(HD_PROBE_WAVE_START) |
                                                   HD_PROBE_WANT(HD_PROBE_WAVE_END)});
    for (unsigned k = 0; k < 2; k++)
        random_need(&rng, &s.c, &s.kernel[k]);
    ran = submit(&s, &r, 0) && submit(&s, &r, 1);
    if (ran) {
        if (sim_wait(r.m, 0, &r.err) != HD_OK)
            wrong(&s, r.err.message);
        check_end(&s, &r);
        check_starvation(&s, &r, shared);
    }
    krig_close(&r);
    return ran;
}

static void test_two_kernels(void **state)
{
    uint64_t first = test_seed(1), count = test_count(1500), ran = 0, together = 0;

    (void)state;
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
    for (uint64_t i = 0; i < count; i++) {
        bool shared = false;

        ran += one_case(first + i, &shared);
        together += shared;
    }
    printf("%" PRIu64 " ran, %" PRIu64 " of them together\n", ran, together);
    assert_true(ran * 3 > count);
    assert_true(together * 4 > ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_kernels)};

    return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
