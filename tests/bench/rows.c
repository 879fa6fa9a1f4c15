#include "tests/bench/bench.h"

/* 448 work-groups of 256 are all that 56 compute units hold; y has a place for each work-item. */
#define FULL .grid = {448, 1}, .block = {256, 1}
enum { ITEMS = 448 * 256 };

const struct bench_row bench_rows[] = {
    {"fma", FULL, .x = ITEMS, .y = ITEMS, .trips = 100, .floor = 20e6, .in_geomean = true},
    /* 56 trips move 24.5 MiB each way: in all 16 times the 3 MiB of L2 */
    {"streaming", FULL, .x = 56 * ITEMS, .y = 56 * ITEMS, .trips = 56, .floor = 8e6,
     .in_geomean = true},
    {"matmul", .grid = {24, 24}, .block = {16, 16}, .x = 384 * 384, .y = 384 * 384, .trips = 24,
     .floor = 9e6, .in_geomean = true},
    {"divergent", FULL, .x = ITEMS, .y = ITEMS, .trips = 200, .divergence = "goto-join",
     .floor = 9e6, .in_geomean = true},
    {"reduction", FULL, .x = ITEMS, .y = ITEMS, .trips = 100, .floor = 8e6, .in_geomean = true},
    /* 2^16 lines are 8 MiB, so that more than half of the accesses miss L2 */
    {"scattered", FULL, .x = 65536 * 32, .y = ITEMS, .trips = 16, .unit = BENCH_LINES, .floor = 30e6},
    {"atomics", FULL, .x = 1048576, .y = 1, .trips = 16, .unit = BENCH_LANE_OPS, .floor = 50e6},
};

const size_t bench_nrows = sizeof bench_rows / sizeof *bench_rows;
