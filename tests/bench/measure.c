#include "host/config/config.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <time.h>

enum { RUNS = 3 };

uint64_t bench_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct bench {
    const struct bench_row *row;
    hd_runtime *rt;
    hd_kernel *kernel;
    hd_array *x, *y;
    bool counted;
};

static enum hd_status set_up(struct bench *b, struct hd_error *err)
{
    hd_module *module;
    enum hd_status status;

    if ((status = hd_module_load(b->rt, "tests/bench/kernels.hasm", &module, err)) ||
        (status = hd_kernel_get(b->rt, module, b->row->name,
                                "x: inout f32[], y: inout f32[], n: i32", &b->kernel, err)) ||
        (status = hd_array_new(b->rt, T_F32, b->row->x, "x", &b->x, err)) ||
        (status = hd_array_new(b->rt, T_F32, b->row->y, "y", &b->y, err)))
        return status;
    return HD_OK;
}

static enum hd_status launch(struct bench *b, uint32_t trips, struct hd_error *err)
{
    const struct hd_arg args[] = {
        {.kind = HD_ARG_ARRAY, .as.array = b->x},
        {.kind = HD_ARG_ARRAY, .as.array = b->y},
        {.kind = HD_ARG_INT, .as.i = trips},
    };
    const struct hd_launch l = {
        .kernel = b->kernel,
        .grid = {b->row->grid[0], b->row->grid[1], 1},
        .block = {b->row->block[0], b->row->block[1], 1},
        .args = args,
        .nargs = 3,
    };
    enum hd_status status = hd_launch_kernel(b->rt, &l, err);

    return status ? status : hd_finish(b->rt, err);
}

static uint64_t units_of(const struct bench_row *row, const struct sim_counters *c, uint32_t width)
{
    switch (row->unit) {
    case BENCH_WAVE_INSTR:
        return c->wave_instr;
    case BENCH_LINES: /* each lane of a load has a line of its own */
        return c->global_loads * width;
    case BENCH_LANE_OPS:
        return c->global_atomics * width;
    }
    return 0;
}

/* The first run moves the arrays to the device and is not measured. */
static enum hd_status run(struct bench *b, uint32_t width, struct bench_speed *out,
                          struct hd_error *err)
{
    enum hd_status status = launch(b, b->row->trips, err);

    out->ns = UINT64_MAX;
    for (int i = 0; i < RUNS && !status; i++) {
        struct sim_counters before, after;
        uint64_t start = bench_cpu_ns(), ns;

        sim_totals(hd_machine(b->rt), &before);
        status = launch(b, b->row->trips, err);
        ns = bench_cpu_ns() - start;
        sim_totals(hd_machine(b->rt), &after);
        out->wave_instr = after.wave_instr - before.wave_instr;
        out->units = units_of(b->row, &after, width) - units_of(b->row, &before, width);
        if (ns < out->ns)
            out->ns = ns;
    }
    return status;
}

static enum hd_status set_divergence(const struct bench_row *row, struct hd_options *o,
                                     struct hd_error *err)
{
    char setting[64];

    if (!row->divergence)
        return HD_OK;
    snprintf(setting, sizeof setting, "divergence.unit=%s", row->divergence);
    return hd_config_set(o, setting, err);
}

/* The preset bench has wavefronts of 64 lanes; narrower ones get more slots, for the same number of work-items. */
static enum hd_status configure(const struct bench_row *row, struct hd_options *o, uint32_t width,
                                struct hd_error *err)
{
    enum hd_status status = hd_config_load("configs/bench.json", o, err);

    o->gpu.wave_slots *= o->gpu.wavefront_size / width;
    o->gpu.wavefront_size = width;
    return status ? status : set_divergence(row, o, err);
}

enum hd_status bench_measure(const struct bench_row *row, uint32_t width, bool timed,
                             struct bench_speed *out, struct hd_error *err)
{
    struct bench b = {.row = row};
    struct hd_options options;
    enum hd_status status;

    hd_options_default(&options);
    options.timing = timed;
    if ((status = configure(row, &options, width, err)) ||
        (status = hd_runtime_new(&options, &b.rt, err)))
        return status;
    if (!(status = set_up(&b, err)))
        status = run(&b, width, out, err);
    hd_runtime_free(b.rt);
    return status;
}

/* Not inlined, and with something to do behind the launch, so that it can be found by its name. */
enum hd_status bench_counted(struct bench *b, struct hd_error *err);

__attribute__((noinline)) enum hd_status bench_counted(struct bench *b, struct hd_error *err)
{
    enum hd_status status = launch(b, b->row->trips / 8, err);

    b->counted = true;
    return status;
}

enum hd_status bench_count(const struct bench_row *row, const char *config, char **settings,
                           size_t nsettings, struct hd_error *err)
{
    struct bench b = {.row = row};
    struct hd_options options;
    enum hd_status status;

    hd_options_default(&options);
    status = hd_config_load(config, &options, err);
    if (!status)
        status = set_divergence(row, &options, err);
    for (size_t i = 0; i < nsettings && !status; i++)
        status = hd_config_set(&options, settings[i], err);
    if (status || (status = hd_runtime_new(&options, &b.rt, err)))
        return status;
    if (!(status = set_up(&b, err)))
        status = bench_counted(&b, err);
    hd_runtime_free(b.rt);
    return status;
}
