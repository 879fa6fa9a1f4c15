#include "tests/bench/schedule.h"

#include "host/rt/runtime.h"
#include "tests/bench/bench.h"
#include "tests/bench/still_machine.h"

#include <stdio.h>

const struct schedule_case schedule_cases[] = {
    {"chain", .limit = "65536"},
    {"readers", .limit = "32", .read_only = true},
    {"reads", .limit = "65536", .read_every = 10},
    {"streams", .limit = "65536", .own = true},
    {.name = NULL},
};

struct load {
    hd_runtime *rt;
    hd_kernel *writer, *kernel;
    hd_array *x, *y;
    VEC(hd_array *) own;
    hd_kernel *owner;
    const struct schedule_case *c;
    struct schedule_speed *out;
};

static enum hd_status make_own(struct load *l, uint32_t launches, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (uint32_t i = 0; l->c->own && i <= launches && status == HD_OK; i++) {
        hd_array *a;

        status = hd_array_new(l->rt, T_F32, 1, NULL, &a, err);
        if (status == HD_OK && !vec_push(&l->own, a))
            status = hd_no_memory(err, "arrays");
    }
    return status;
}

static enum hd_status set_up(struct load *l, struct hd_error *err)
{
    static const char file[] = "tests/bench/kernels.hasm";
    struct sim_machine *m = still_machine_new();
    struct hd_options o;
    enum hd_status status;
    hd_module *module;

    if (!m)
        return hd_no_memory(err, "a machine");
    hd_options_default(&o);
    if ((status = param_set(&rt_params, &o.host, "host.max_streams", l->c->limit, "bench", err)) ||
        (status = param_set(&rt_params, &o.host, "host.new_stream",
                            l->c->own ? "reuse" : "always-new", "bench", err)) ||
        (status = rt_new_on(&o, &still_machine, m, &l->rt, err)) ||
        (status = hd_module_load(l->rt, file, &module, err)) ||
        (status = hd_kernel_get(l->rt, module, "fma", "x: inout f32[], y: inout f32[], n: i32",
                                &l->writer, err)) ||
        (status = hd_kernel_get(l->rt, module, "fma", "x: in f32[], y: in f32[], n: i32",
                                &l->kernel, err)) ||
        (status = hd_kernel_get(l->rt, module, "fma", "x: inout f32[], y: in f32[], n: i32",
                                &l->owner, err)) ||
        (status = hd_array_new(l->rt, T_F32, 64, "x", &l->x, err)) ||
        (status = hd_array_new(l->rt, T_F32, 64, "y", &l->y, err)))
        return status;
    return HD_OK;
}

static void measure(const struct load *l)
{
    const struct dag *d = &l->rt->dag;
    uint64_t streams = l->rt->streams.automatic * sizeof(struct hd_stream);

    if (d->nlive > l->out->live)
        l->out->live = d->nlive;
    if (d->bytes + streams > l->out->live_bytes)
        l->out->live_bytes = d->bytes + streams;
}

static enum hd_status launch(const struct load *l, hd_kernel *kernel, hd_array *x,
                             struct hd_error *err)
{
    const struct hd_arg args[] = {
        {.kind = HD_ARG_ARRAY, .as.array = x},
        {.kind = HD_ARG_ARRAY, .as.array = l->y},
        {.kind = HD_ARG_INT, .as.i = 1},
    };
    const struct hd_launch launch = {
        .kernel = kernel, .grid = {1}, .block = {64}, .args = args, .nargs = 3};

    l->out->calls++;
    return hd_launch_kernel(l->rt, &launch, err);
}

static enum hd_status read_one(const struct load *l, hd_array *x, struct hd_error *err)
{
    void *data;

    l->out->calls++;
    return hd_array_access(l->rt, x, 0, 1, HD_READ, &data, err);
}

enum hd_status schedule_counted(const struct load *l, uint32_t launches, struct hd_error *err);

/* Not static, so that it has a name of its own. */
enum hd_status schedule_counted(const struct load *l, uint32_t launches, struct hd_error *err)
{
    hd_kernel *kernel = l->c->own ? l->owner : l->c->read_only ? l->kernel : l->writer;
    enum hd_status status = launch(l, l->writer, l->x, err);

    for (uint32_t i = 1; i <= launches && status == HD_OK; i++) {
        status = launch(l, kernel, l->c->own ? l->own.at[i] : l->x, err);
        measure(l);
        if (status == HD_OK && l->c->read_every && i % l->c->read_every == 0)
            status = read_one(l, l->x, err);
    }
    for (uint32_t i = launches; l->c->own && i > 0 && status == HD_OK; i--)
        status = read_one(l, l->own.at[i], err);
    return status;
}

enum hd_status schedule_run(const struct schedule_case *c, uint32_t launches,
                            struct schedule_speed *out, struct hd_error *err)
{
    struct load l = {.c = c, .out = out};
    enum hd_status status = set_up(&l, err);
    uint64_t start;

    if (status == HD_OK)
        status = make_own(&l, launches, err);
    start = bench_cpu_ns();
    if (status == HD_OK)
        status = schedule_counted(&l, launches, err);
    out->ns += bench_cpu_ns() - start;
    vec_free(&l.own);
    hd_runtime_free(l.rt);
    return status;
}

/* As many runs as make 100,000 launches. */
static enum hd_status print_row(const struct schedule_case *c, uint32_t launches,
                                struct hd_error *err)
{
    struct schedule_speed s = {0};
    enum hd_status status = HD_OK;

    for (uint32_t i = 0; i < 100000 / launches && status == HD_OK; i++)
        status = schedule_run(c, launches, &s, err);
    if (status == HD_OK)
        printf("%-8s %8u launches %12.0f calls/s %8llu live %6.0f bytes each\n", c->name, launches,
               (double)s.calls * 1e9 / (double)s.ns, (unsigned long long)s.live,
               (double)s.live_bytes / (double)s.live);
    return status;
}

enum hd_status schedule_print(struct hd_error *err)
{
    static const uint32_t launches[] = {1000, 10000, 100000};

    for (const struct schedule_case *c = schedule_cases; c->name; c++) {
        for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
            enum hd_status status = print_row(c, launches[i], err);

            if (status)
                return status;
        }
    }
    return HD_OK;
}
