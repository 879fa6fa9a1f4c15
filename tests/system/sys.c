#include "tests/system/sys.h"

#include "host/config/config.h"
#include "sim/base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void require(enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        fail_msg("%s: %s (%s)", err->code, err->message, err->place);
}

/* ---- options ---- */

void sys_set(struct hd_options *o, const char *setting)
{
    struct hd_error err;

    require(hd_config_set(o, setting, &err), &err);
}

struct hd_options sys_options(const char *preset, const char *settings)
{
    struct hd_options o;
    struct hd_error err;
    char one[128];
    int used;

    hd_options_default(&o);
    require(hd_config_load(preset, &o, &err), &err);
    for (; sscanf(settings, " %127s%n", one, &used) == 1; settings += used)
        sys_set(&o, one);
    return o;
}

/* ---- the record ---- */

static void on_kernel(void *user, const struct hd_kernel_row *row)
{
    struct sys *s = user;

    assert_true(vec_push(&s->kernels, *row));
}

static void on_transfer(void *user, const struct hd_transfer_row *row)
{
    struct sys *s = user;

    assert_true(vec_push(&s->transfers, *row));
}

static void on_edge(void *user, const struct hd_edge_row *row)
{
    struct sys *s = user;
    const struct sys_edge edge = {row->from, row->to};

    assert_true(vec_push(&s->edges, edge));
}

static void on_region(void *user, const struct hd_region_row *row)
{
    struct sys *s = user;

    assert_true(vec_push(&s->regions, *row));
}

static void on_check(void *user, const struct hd_check *check)
{
    struct sys *s = user;

    assert_true(vec_push(&s->checks, *check));
}

void sys_open(struct sys *s, const struct hd_options *o, const char *module)
{
    const struct hd_recorder recorder = {.user = s,
                                         .kernel = on_kernel,
                                         .transfer = on_transfer,
                                         .edge = on_edge,
                                         .region = on_region,
                                         .check = on_check};
    struct hd_error err;

    memset(s, 0, sizeof *s);
    require(hd_runtime_new(o, &s->rt, &err), &err);
    hd_set_recorder(s->rt, &recorder);
    if (module)
        require(hd_module_load(s->rt, module, &s->module, &err), &err);
}

void sys_forget(struct sys *s)
{
    s->kernels.len = s->transfers.len = s->edges.len = s->regions.len = s->checks.len = 0;
}

void sys_close(struct sys *s)
{
    hd_runtime_free(s->rt);
    vec_free(&s->kernels);
    vec_free(&s->transfers);
    vec_free(&s->edges);
    vec_free(&s->regions);
    vec_free(&s->checks);
}

/* ---- calls ---- */

hd_array *sys_array(struct sys *s, enum isa_type type, uint64_t count, const char *name)
{
    struct hd_error err;
    hd_array *a;

    require(hd_array_new(s->rt, type, count, name, &a, &err), &err);
    return a;
}

hd_kernel *sys_kernel(struct sys *s, const char *name, const char *signature)
{
    struct hd_error err;
    hd_kernel *k;

    require(hd_kernel_get(s->rt, s->module, name, signature, &k, &err), &err);
    return k;
}

void *sys_access(struct sys *s, hd_array *a, uint64_t first, uint64_t count, enum hd_access how)
{
    struct hd_error err;
    void *data;

    require(hd_array_access(s->rt, a, first, count, how, &data, &err), &err);
    return data;
}

void sys_launch(struct sys *s, hd_kernel *k, uint64_t blocks, uint64_t threads,
                const struct hd_arg *args, unsigned nargs)
{
    const struct hd_launch l = {
        .kernel = k, .grid = {blocks}, .block = {threads}, .args = args, .nargs = nargs};
    struct hd_error err;

    require(hd_launch_kernel(s->rt, &l, &err), &err);
}

void sys_finish(struct sys *s)
{
    struct hd_error err;

    require(hd_finish(s->rt, &err), &err);
}

/* ---- what was recorded ---- */

const struct hd_kernel_row *sys_kernel_of(const struct sys *s, uint64_t node)
{
    for (size_t i = 0; i < s->kernels.len; i++)
        if (s->kernels.at[i].node == node)
            return &s->kernels.at[i];
    return NULL;
}

uint64_t sys_time(const struct hd_kernel_row *k)
{
    return k->r.end_ps - k->r.start_ps;
}

uint64_t sys_pages(const struct sim_config *c, uint64_t bytes)
{
    return bits_round_up(bytes, c->um_page_bytes);
}

uint64_t sys_transfer_time(const struct sim_config *c, bool to_device, uint64_t bytes)
{
    uint64_t rate = to_device ? c->link_h2d_rate : c->link_d2h_rate;
    uint64_t gaps = bits_ceil_div(bytes, c->um_chunk_bytes) - 1;

    return c->link_latency * UINT64_C(1000) + gaps * c->um_chunk_gap * 1000 +
           (uint64_t)((long double)bytes * 1e12L / (long double)rate);
}

static void check_kernel(const struct sim_config *c, const struct sim_kernel_record *k)
{
    uint64_t stalls = 0, classes = 0, issues;
    uint64_t cycles =
        (uint64_t)((long double)(k->end_ps - k->start_ps) * (long double)c->core_hz / 1e12L) + 2;

    for (unsigned i = 0; i < SIM_NUM_STALLS; i++)
        stalls += k->counters.stall_cycles[i];
    for (unsigned i = 0; i < ISA_NUM_CLASSES; i++)
        classes += k->counters.class_instr[i];
    assert_int_equal(stalls, k->counters.residency_cycles);
    assert_int_equal(classes, k->counters.wave_instr);
    issues = k->counters.wave_instr + k->counters.tx_idle_issues;
    /* The two of a dual issue are one cycle. */
    if (c->dual_issue)
        assert_true(k->counters.stall_cycles[SIM_STALL_ISSUED] <= issues);
    else
        assert_int_equal(k->counters.stall_cycles[SIM_STALL_ISSUED], issues);
    assert_true(k->counters.lane_instr <= k->counters.wave_instr * c->wavefront_size);
    assert_int_equal(k->counters.groups, (uint64_t)k->grid[0] * k->grid[1] * k->grid[2]);
    assert_int_equal(k->counters.waves, k->counters.groups * k->waves_per_group);
    assert_true(k->counters.residency_cycles <= cycles * k->counters.waves);
    assert_true(k->counters.residency_cycles <=
                cycles * k->groups_per_cu * k->waves_per_group * (uint64_t)c->compute_units);
    assert_true(k->queued_ps <= k->start_ps && k->start_ps <= k->end_ps);
}

void sys_check_conservation(const struct sys *s)
{
    const struct sim_config *c = &hd_runtime_options(s->rt)->gpu;

    for (size_t i = 0; i < s->kernels.len; i++)
        check_kernel(c, &s->kernels.at[i].r);
    for (size_t i = 0; i < s->edges.len; i++) {
        const struct hd_kernel_row *from = sys_kernel_of(s, s->edges.at[i].from);
        const struct hd_kernel_row *to = sys_kernel_of(s, s->edges.at[i].to);

        assert_true(s->edges.at[i].from < s->edges.at[i].to);
        if (from && to)
            assert_true(from->r.end_ps <= to->r.start_ps);
    }
    for (size_t i = 0; i < s->transfers.len; i++) {
        const struct sim_transfer_record *t = &s->transfers.at[i].r;

        assert_true(t->queued_ps <= t->start_ps);
        assert_true(t->bytes % c->um_page_bytes == 0 && t->bytes > 0);
        assert_int_equal(t->end_ps - t->start_ps, sys_transfer_time(c, t->to_device, t->bytes));
    }
}
