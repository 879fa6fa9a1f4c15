/*
 * Random host programs for the fake machine, and what is wrong with a run of one: values that differ from those of calls one
 * after the other, and conflicting pairs that nothing orders.
 */
#ifndef HD_TESTS_RT_PROGRAMS_H
#define HD_TESTS_RT_PROGRAMS_H

#include "host/rt/runtime.h"
#include "sim/base/text.h"

enum { PROGRAM_ARRAYS = 5, PROGRAM_ARGS = 4, PROGRAM_MAX = 40 };

enum stmt_kind { STMT_LAUNCH, STMT_READ, STMT_WRITE, STMT_FREE, STMT_SYNC, STMT_WORK };

struct stmt {
    enum stmt_kind kind;
    uint8_t nargs,
        stream; /* 0: the scheduler's choice; 1, 2: the program's own; 3: the default stream */
    uint8_t arrays[PROGRAM_ARGS];
    bool writes[PROGRAM_ARGS];
    uint32_t us;
};

struct program {
    size_t n;
    struct stmt at[PROGRAM_MAX];
    uint64_t link_ps, move_ps; /* of the fake */
    uint32_t profile;
};

/* A choice for each option of the scheduler. */
struct combination {
    uint32_t scheduler, dependency, new_stream, parent_stream, max_streams, default_stream;
    bool prefetch, attach, faults;
};

/* Some programs also use streams of their own; under serial-async the order of these is not the scheduler's, but for host accesses. */
void program_random(uint64_t seed, size_t n, struct program *out);
void program_describe(const struct program *p, struct text *out);

/* All of them, by number. */
size_t combinations(void);
struct combination combination(size_t number);
void combination_describe(const struct combination *c, struct text *out);

/* Runs it. What is wrong goes to `wrong`, which stays empty if all is well. */
void program_run(const struct program *p, const struct combination *c, bool drop_waits,
                 struct text *wrong);
/* Leaves out statements for as long as something is wrong. */
void program_shrink(struct program *p, const struct combination *c, bool drop_waits);

#endif
