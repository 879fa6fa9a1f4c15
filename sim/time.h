/*
 * Time: picoseconds, clock domains, and rates. Edge k of a domain of f Hz is
 * floor(k * 10^12 / f) ps, computed exactly and never as a sum of rounded periods.
 */
#ifndef HD_SIM_TIME_H
#define HD_SIM_TIME_H

#include <stdint.h>

#define PS_PER_SECOND UINT64_C(1000000000000)
#define PS_PER_NS UINT64_C(1000)
#define SIM_NEVER UINT64_MAX

/* Division by a number that does not change. */
struct divisor {
    uint64_t by, reciprocal; /* floor(2^64 / by), where by is more than 1 */
};

/* num / den ps a cycle, reduced; num fits 40 bits. */
struct clock_domain {
    struct divisor num, den;
};

struct clock_domain clock_make(uint64_t hz);
/* Time of edge `cycle`. */
uint64_t clock_edge(const struct clock_domain *d, uint64_t cycle);
/* The first edge at or after the time. */
uint64_t clock_cycle_at(const struct clock_domain *d, uint64_t time_ps);

/*
 * A server that passes bytes at a fixed rate, first come first served. free_ps is when it is free
 * again; the fraction of a picosecond that is left over is kept in rest.
 */
struct rate_server {
    uint64_t bytes_per_second;
    uint64_t free_ps, rest;
};

void rate_init(struct rate_server *s, uint64_t bytes_per_second);
/*
 * Serves bytes for a request that arrives at time_ps; returns when the last byte has passed.
 * *start_ps may be NULL.
 */
uint64_t rate_serve(struct rate_server *s, uint64_t time_ps, uint64_t bytes, uint64_t *start_ps);

/* What a number of bytes adds to a server of a fixed rate, found once. */
struct rate_step {
    uint64_t whole_ps, rest;
};

struct rate_step rate_step_of(const struct rate_server *s, uint64_t bytes);
/* The same as rate_serve for the bytes of the step, which is of a server of the same rate. */
static inline uint64_t rate_serve_step(struct rate_server *s, uint64_t time_ps,
                                       const struct rate_step *step, uint64_t *start_ps)
{
    if (s->free_ps < time_ps) {
        s->free_ps = time_ps;
        s->rest = 0;
    }
    *start_ps = s->free_ps;
    s->free_ps += step->whole_ps;
    s->rest += step->rest;
    if (s->rest >= s->bytes_per_second) {
        s->rest -= s->bytes_per_second;
        s->free_ps++;
    }
    return s->free_ps;
}

/* The server does something else for `ps`, from time_ps on or when it is free. */
static inline void rate_hold(struct rate_server *s, uint64_t time_ps, uint64_t ps)
{
    if (s->free_ps < time_ps) {
        s->free_ps = time_ps;
        s->rest = 0;
    }
    s->free_ps += ps;
}

#endif
