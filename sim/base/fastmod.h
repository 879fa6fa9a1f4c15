/* Division of 32-bit numbers by a divisor that does not change, by multiplication with its reciprocal. */
#ifndef HD_SIM_BASE_FASTMOD_H
#define HD_SIM_BASE_FASTMOD_H

#include <stdint.h>

struct fastmod {
    uint64_t reciprocal; /* ceil(2^64 / divisor); 0 for the divisor 1 */
    uint32_t divisor;
};

/* divisor is at least 1. */
static inline struct fastmod fastmod_make(uint32_t divisor)
{
    return (struct fastmod){UINT64_MAX / divisor + 1, divisor};
}

/* Exact for every n: the reciprocal is too large by less than 1, and n < 2^32 keeps the error below
 * 1 / divisor. */
static inline uint32_t fastmod_quotient(const struct fastmod *f, uint32_t n)
{
    if (!f->reciprocal)
        return n;
    return (uint32_t)((unsigned __int128)f->reciprocal * n >> 64);
}

static inline uint32_t fastmod_rest(const struct fastmod *f, uint32_t n)
{
    return n - fastmod_quotient(f, n) * f->divisor;
}

#endif
