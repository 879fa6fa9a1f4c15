/* Division of 32-bit numbers by a divisor that does not change, by multiplication with its reciprocal. */
#ifndef HD_SIM_BASE_FASTMOD_H
#define HD_SIM_BASE_FASTMOD_H

#include <stdint.h>

struct fastmod {
    uint64_t reciprocal; /* floor((2^64 - 1) / divisor) */
    uint32_t divisor;
};

/* divisor is at least 1. */
static inline struct fastmod fastmod_make(uint32_t divisor)
{
    return (struct fastmod){UINT64_MAX / divisor, divisor};
}

/*
 * Exact for every n: (n + 1) / divisor is above the quotient by 1 / divisor to 1. The reciprocal is less than 2^64 /
 * divisor by something above 0 and at most 1, so that the product lacks something above 0 and at most (n + 1) / 2^64,
 * which is less than 1 / divisor.
 */
static inline uint32_t fastmod_quotient(const struct fastmod *f, uint32_t n)
{
    return (uint32_t)((unsigned __int128)f->reciprocal * (n + UINT64_C(1)) >> 64);
}

static inline uint32_t fastmod_rest(const struct fastmod *f, uint32_t n)
{
    return n - fastmod_quotient(f, n) * f->divisor;
}

#endif
