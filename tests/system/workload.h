/*
 * Programs of workloads/ under test: run from their Lua source with rows kept, their checks, the schedule that was made of
 * them, and mistakes put into their kernels.
 */
#ifndef HD_TESTS_SYSTEM_WORKLOAD_H
#define HD_TESTS_SYSTEM_WORKLOAD_H

#include "tests/system/sys.h"

/* Opens s and runs a program with "NAME=VALUE" arguments separated by blanks, at most 12; s stays open. */
enum hd_status workload_try(struct sys *s, const struct hd_options *options, const char *path,
                            const char *arguments, struct hd_error *err);
/* The same, and fails the test on an error. */
void workload_run(struct sys *s, const struct hd_options *options, const char *path,
                  const char *arguments);

/* Whether there were checks, and all passed. */
bool workload_passed(const struct sys *s);
/* Fails the test with the name of the first check that did not pass. */
void workload_require_passed(const struct sys *s, const char *what);

/* Runs a program and requires that its checks pass and, timed, that work, bytes and time are conserved. */
void workload_check(const char *path, const char *preset, const char *settings,
                    const char *arguments, bool timing);
/*
 * A published benchmark with one of the shapes after the other: on every preset of the paper and on tiny, at every
 * wavefront size, in every variant, with both signatures, timed and for values only.
 */
void workload_check_everywhere(const char *path, const char *const *shapes, unsigned nshapes);

struct workload_schedule {
    unsigned kernels, streams; /* streams that have kernels */
    unsigned edges;            /* from kernel to kernel */
    unsigned waits;            /* of them, those between streams: what a stream waits for */
};
struct workload_schedule workload_schedule_of(const struct sys *s);

/* The i-th kernel in the order of the calls. */
const struct hd_kernel_row *workload_kernel(const struct sys *s, unsigned i);
/* Fails the test if the second of two kernels, counted so, starts before the first ends. */
void workload_require_order(const struct sys *s, const unsigned (*pairs)[2], unsigned npairs);

struct workload_mistake {
    const char *program, *kernels; /* files of one folder, without suffix */
    const char *arguments;
    const char *old, *new; /* text in the kernels; the first such */
};
/*
 * Fails the test if the program of workloads/dag, or of another folder, passes with the mistake, or ends with an error that is
 * not the simulation's.
 */
void workload_find_mistake(const struct workload_mistake *m);
void workload_find_mistake_in(const char *folder, const struct workload_mistake *m);

#endif
