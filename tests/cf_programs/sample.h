/* Samples of random programs, for the tests of this folder. */
#ifndef HD_TESTS_CF_PROGRAMS_SAMPLE_H
#define HD_TESTS_CF_PROGRAMS_SAMPLE_H

#include "tests/cf_programs/run.h"

/*
 * The program of a seed, with what it must leave; false if it takes too long, which some seeds do. Programs of a
 * sample have consecutive seeds.
 */
bool sample_program(uint64_t seed, struct cfp_program *p, struct cfp_expected *expected);

/* True if the machine has the unit of the way. */
bool sample_has(const struct cfp_way *way);

/* Runs `count` programs in every way, each at some of the widths. Prints a failing one, made small, and fails the test. */
void sample_run(uint64_t seed, uint64_t count, unsigned widths);

/* A smaller program than that of a run with this outcome, of which the same is true; why: what it then says. */
void sample_shrink(struct cfp_rig *rig, const struct cfp_run *run, enum cfp_outcome outcome,
                   struct cfp_program *small, char why[256]);

/* Prints the share of programs that reach each production, and fails the test below a floor. */
void sample_productions(uint64_t seed, uint64_t count);

#endif
