/* Bit masks of up to 64 lanes and small integer helpers. */
#ifndef HD_SIM_BASE_BITS_H
#define HD_SIM_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* In plain arithmetic: baseline x86-64 has no instruction for it, and the compiler would call a
 * function. */
static inline unsigned bits_count(uint64_t mask)
{
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(mask * UINT64_C(0x0101010101010101) >> 56);
}

/* The same, fastest for the four sectors that a line mostly has: their counts are in one word. */
static inline unsigned bits_count_few(uint32_t mask)
{
    return mask < 16 ? (unsigned)(UINT64_C(0x4332322132212110) >> 4 * mask) & 7 : bits_count(mask);
}

/* Index of the lowest set bit; mask must not be 0. */
static inline unsigned bits_first(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

/* Index of the highest set bit; mask must not be 0. */
static inline unsigned bits_last(uint64_t mask)
{
    return 63u - (unsigned)__builtin_clzll(mask);
}

/* The low n bits set, n from 0 to 64. */
static inline uint64_t bits_low(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/* n from 0 to 63. */
static inline uint64_t bits_rotate_right(uint64_t mask, unsigned n)
{
    return mask >> n | mask << (-n & 63);
}

static inline bool bits_is_power_of_two(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

/* Rounded up division; b > 0, and a + b - 1 must not overflow. */
static inline uint64_t bits_ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static inline uint64_t bits_round_up(uint64_t a, uint64_t granule)
{
    return bits_ceil_div(a, granule) * granule;
}

#endif
