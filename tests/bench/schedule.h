/* The speed of the scheduler alone: many tiny computations on a machine that does nothing (still_machine.h). */
#ifndef HD_TESTS_BENCH_SCHEDULE_H
#define HD_TESTS_BENCH_SCHEDULE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct schedule_case {
    const char *name, *limit; /* limit: host.max_streams */
    bool read_only;           /* the kernels only read */
    uint32_t read_every;      /* a host read after so many launches; 0: none */
    bool own; /* each launch has an array and a stream of its own; the host reads them back, the last first */
};

/* Ends with a NULL name. */
extern const struct schedule_case schedule_cases[];

struct schedule_speed {
    uint64_t calls;            /* launches and reads */
    uint64_t ns;               /* processor time of all of them */
    uint64_t live, live_bytes; /* most vertices at a time; of these, with their streams */
};

/* The case with so many launches, inside schedule_counted(), which a tool that counts instructions looks for. */
enum hd_status schedule_run(const struct schedule_case *c, uint32_t launches,
                            struct schedule_speed *out, struct hd_error *err);

/* The table of all cases at 1,000, 10,000 and 100,000 launches. */
enum hd_status schedule_print(struct hd_error *err);

#endif
