#include "sim/time.h"

#include <stddef.h>

static struct divisor divisor_make(uint64_t by)
{
    return (struct divisor){by, by > 1 ? (uint64_t)(((unsigned __int128)1 << 64) / by) : 0};
}

/* The reciprocal is too small by less than 1, so that the first quotient is right or one too small. */
static inline uint64_t divide(uint64_t n, const struct divisor *d)
{
    uint64_t quotient = (uint64_t)((unsigned __int128)n * d->reciprocal >> 64);

    if (d->by == 1)
        return n;
    return n - quotient * d->by >= d->by ? quotient + 1 : quotient;
}

/* floor((a * b + round) / c), or SIM_NEVER when that is past 64 bits. Nearly every product fits 64 bits. */
static uint64_t scale_down(uint64_t a, uint64_t b, const struct divisor *c, uint64_t round)
{
    uint64_t product;
    unsigned __int128 wide;

    if (!__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, round, &product))
        return divide(product, c);
    wide = ((unsigned __int128)a * b + round) / c->by;
    return wide > SIM_NEVER ? SIM_NEVER : (uint64_t)wide;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

struct clock_domain clock_make(uint64_t hz)
{
    uint64_t g = gcd(PS_PER_SECOND, hz);

    return (struct clock_domain){divisor_make(PS_PER_SECOND / g), divisor_make(hz / g)};
}

uint64_t clock_edge(const struct clock_domain *d, uint64_t cycle)
{
    return scale_down(cycle, d->num.by, &d->den, 0);
}

uint64_t clock_cycle_at(const struct clock_domain *d, uint64_t time_ps)
{
    /* floor(k * num / den) >= t exactly if k >= t * den / num, because t is whole. */
    return scale_down(time_ps, d->den.by, &d->num, d->num.by - 1);
}

void rate_init(struct rate_server *s, uint64_t bytes_per_second)
{
    *s = (struct rate_server){.bytes_per_second = bytes_per_second};
}

/* Advances the server by bytes / rate; the part of a picosecond that is left stays in rest. */
static void pass_bytes(struct rate_server *s, uint64_t bytes)
{
    uint64_t work;
    unsigned __int128 wide;

    if (!__builtin_mul_overflow(bytes, PS_PER_SECOND, &work) &&
        !__builtin_add_overflow(work, s->rest, &work)) {
        s->free_ps += work / s->bytes_per_second;
        s->rest = work % s->bytes_per_second;
        return;
    }
    wide = (unsigned __int128)bytes * PS_PER_SECOND + s->rest;
    s->free_ps += (uint64_t)(wide / s->bytes_per_second);
    s->rest = (uint64_t)(wide % s->bytes_per_second);
}

uint64_t rate_serve(struct rate_server *s, uint64_t time_ps, uint64_t bytes, uint64_t *start_ps)
{
    /* A server that stood idle starts on a whole picosecond. */
    if (time_ps > s->free_ps) {
        s->free_ps = time_ps;
        s->rest = 0;
    }
    if (start_ps)
        *start_ps = s->free_ps;
    pass_bytes(s, bytes);
    return s->free_ps;
}

struct rate_step rate_step_of(const struct rate_server *s, uint64_t bytes)
{
    struct rate_server fresh;

    rate_init(&fresh, s->bytes_per_second);
    pass_bytes(&fresh, bytes);
    return (struct rate_step){.whole_ps = fresh.free_ps, .rest = fresh.rest};
}
