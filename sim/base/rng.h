/*
 * Seeded random numbers: xoshiro256**, whose state is filled by splitmix64 (both by
 * D. Blackman and S. Vigna, prng.di.unimi.it). The sequence of a seed is part of what a run
 * promises: it never depends on the machine, and a change here changes results.
 */
#ifndef HD_SIM_BASE_RNG_H
#define HD_SIM_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4]; /* not all zero */
};

/* One step of splitmix64: advances *state and returns its next value. */
uint64_t rng_splitmix(uint64_t *state);

/* Every seed is good, 0 too. */
void rng_seed(struct rng *r, uint64_t seed);

/* A stream of its own for each pair: arrays filled with one seed in runs of two seeds differ. */
void rng_seed_pair(struct rng *r, uint64_t run_seed, uint64_t seed);

/* 64 random bits. */
uint64_t rng_next(struct rng *r);

/* Uniform in 0 .. bound - 1 without bias; bound > 0. Takes one value in nearly every case. */
uint64_t rng_below(struct rng *r, uint64_t bound);

/* Uniform in [0, 1): a multiple of 2^-53. */
double rng_unit(struct rng *r);

#endif
