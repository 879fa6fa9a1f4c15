/*
 * How often a random test goes round: `make soak` multiplies the counts. A random test prints its seed, and takes one from
 * HEDDLE_SEED to repeat a failure.
 */
#ifndef HD_TESTS_SOAK_H
#define HD_TESTS_SOAK_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t test_number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static inline uint64_t test_count(uint64_t count)
{
    return count * test_number("HEDDLE_SOAK", 1);
}

static inline uint64_t test_seed(uint64_t otherwise)
{
    return test_number("HEDDLE_SEED", otherwise);
}

#endif
