#include "sim/base/rng.h"

static uint64_t rotate_left(uint64_t x, unsigned n)
{
    return (x << n) | (x >> (64 - n));
}

uint64_t rng_splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
    /* splitmix64 is a bijection of its counter, so four values in a row are never all zero. */
    for (unsigned i = 0; i < 4; i++)
        r->s[i] = rng_splitmix(&seed);
}

void rng_seed_pair(struct rng *r, uint64_t run_seed, uint64_t seed)
{
    rng_seed(r, rng_splitmix(&run_seed) ^ seed);
}

uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s;
    const uint64_t value = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return value;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
    /* The values under 2^64 mod bound would favour small remainders: they are drawn again. */
    const uint64_t reject = (0 - bound) % bound;
    uint64_t value;

    do
        value = rng_next(r);
    while (value < reject);
    return value % bound;
}

double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
