/* The benchmark of the simulator: fixed kernels, timed and values only. */
#ifndef HD_TESTS_BENCH_BENCH_H
#define HD_TESTS_BENCH_BENCH_H

#include "sim/base/error.h"
#include "sim/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a row's speed is counted in. */
enum bench_unit { BENCH_WAVE_INSTR, BENCH_LINES, BENCH_LANE_OPS };

struct bench_row {
    const char *name; /* of the row and its kernel in tests/bench/kernels.hasm */
    uint32_t grid[2], block[2];
    uint64_t x, y;          /* elements of the arrays */
    uint32_t trips;         /* n */
    const char *divergence; /* divergence.unit; NULL: that of the preset */
    enum bench_unit unit;
    double floor; /* units a second, timed, width 64, on the machine of BENCH_REFERENCE */
    bool in_geomean;
};

extern const struct bench_row bench_rows[];
extern const size_t bench_nrows;

/* host_ref_per_s of the machine that the floors hold for (tests/bench/README.md). */
#define BENCH_REFERENCE 140e6
#define BENCH_FLOOR_TIMED 10e6 /* geometric means, wavefront instructions a second */
#define BENCH_FLOOR_VALUES 25e6

/* One measurement: the fastest of some runs. */
struct bench_speed {
    uint64_t wave_instr, units, ns;
};

enum hd_status bench_measure(const struct bench_row *row, uint32_t width, bool timed,
                             struct bench_speed *out, struct hd_error *err);

/*
 * Runs a row once, timed, with an eighth of its trips, inside bench_counted(), which a tool that
 * counts instructions looks for. Settings are of the form KEY=VALUE, over a preset or file.
 */
enum hd_status bench_count(const struct bench_row *row, const char *config, char **settings,
                           size_t nsettings, struct hd_error *err);

/* 64-lane multiply-adds a second of the bare lane function, to compare machines by. */
double bench_host_reference(void);

/* Time that this process has had on a processor: other work on the machine counts less than with wall time. */
uint64_t bench_cpu_ns(void);

struct bench_result {
    const struct bench_row *row;
    uint32_t width;
    struct bench_speed timed, values;
};

/* The table for the terminal, and the same as JSON. */
void bench_table(const struct bench_result *results, size_t count, double host_ref,
                 struct text *out);
void bench_json(const struct bench_result *results, size_t count, double host_ref, struct text *out);

#endif
