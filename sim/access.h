/* An access to global memory, for the files that take it apart. */
#ifndef HD_SIM_ACCESS_H
#define HD_SIM_ACCESS_H

#include "sim/device.h"

/* The access in hand. */
struct access {
    const struct isa_insn *in;
    uint64_t active;
    unsigned width, bytes; /* lanes; bytes a lane */
    enum isa_pattern pattern;
    uint64_t first, stride;  /* uniform and affine: address of lane 0, bytes between lanes */
    uint64_t low, high;      /* least and greatest address of an active lane */
    uint64_t bits;           /* that one of them may have set */
    struct sim_array *array; /* that all active lanes are in */
    uint64_t address[ISA_MAX_WIDTH]; /* general: of the active lanes at least */
};

static inline uint64_t lane_address(const struct access *x, unsigned lane)
{
    return x->pattern == ISA_GENERAL ? x->address[lane] : x->first + lane * x->stride;
}

/* The same in registers, for loops over lanes: a list of addresses, or NULL. */
struct lane_addresses {
    const uint64_t *list;
    uint64_t first, stride;
};

/* `general` is known to the compiler. */
static inline struct lane_addresses lane_addresses(const struct access *x, bool general)
{
    return (struct lane_addresses){general ? x->address : NULL, x->first, x->stride};
}

static inline uint64_t address_of(struct lane_addresses a, unsigned lane)
{
    return a.list ? a.list[lane] : a.first + lane * a.stride;
}

/*
 * Puts the lines of an access that has an active lane into d->lines, in order of the first lane that touches each. Returns
 * how many they are.
 */
uint32_t access_lines(struct device *d, const struct access *x);

#endif
