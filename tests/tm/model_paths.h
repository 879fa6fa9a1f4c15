/*
 * Every schedule of a small program: states are named by their hash, so that ways that meet go on as one. And what the same program can
 * lead to if each transaction of a work-item, and each of its accesses outside, is one step.
 */
#ifndef HD_TESTS_TM_MODEL_PATHS_H
#define HD_TESTS_TM_MODEL_PATHS_H

#include "tests/tm/model_run.h"

#include <stddef.h>

/* How a run ends: the hash of memory and of all accumulators of lanes that took part. */
struct paths_ends {
    uint64_t *end;
    size_t count, room;
};

struct paths {
    uint64_t states, steps;
    struct paths_ends ends;
    bool count_aborts;                  /* in: ways with different numbers of aborts stay apart */
    unsigned most_aborts, least_aborts; /* of work-items, over the ways that end */
    unsigned modes;                     /* bits of 1 << enum model_mode: reached on some way */
    char why[256];
};

/*
 * Runs p from machine's present state on every schedule, and leaves the state as it was. Returns false with paths->why if some way gets
 * stuck, or broken says that something is wrong (it may be NULL).
 */
bool paths_explore(struct paths *paths, const struct run_program *p,
                   const struct run_machine *machine, bool (*broken)(void *state, char why[256]));

/* The ends of p with work-items one step at a time, each step a whole transaction, from this memory. */
void paths_serial(struct paths_ends *ends, const struct run_program *p, const uint8_t *memory);

bool paths_has(const struct paths_ends *ends, uint64_t end);
void paths_add(struct paths_ends *ends, uint64_t end);
void paths_free(struct paths *paths);

#endif
