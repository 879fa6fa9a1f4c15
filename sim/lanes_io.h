/* One lane's part of a vector register operand, and a word of memory as a register holds it. */
#ifndef HD_SIM_LANES_IO_H
#define HD_SIM_LANES_IO_H

#include "isa/wave.h"

#include <string.h>

static inline uint64_t lane_read(const struct isa_wave *r, struct isa_operand o, unsigned width,
                                 unsigned lane)
{
    const uint32_t *v = r->v + (size_t)o.index * width;

    return o.words == 2 ? v[lane] | (uint64_t)v[width + lane] << 32 : v[lane];
}

static inline void lane_write(struct isa_wave *r, struct isa_operand o, unsigned width,
                              unsigned lane, uint64_t value)
{
    uint32_t *v = r->v + (size_t)o.index * width;

    v[lane] = (uint32_t)value;
    if (o.words == 2)
        v[width + lane] = (uint32_t)(value >> 32);
}

/* The word of that type at p, little-endian; shorter ones are extended to 32 bits, T_I8 and T_I16
 * by their sign. */
static inline uint64_t memory_read(const uint8_t *p, enum isa_type type)
{
    uint64_t u = 0;
    int32_t extended;

    memcpy(&u, p, isa_type_bytes(type));
    if (type != T_I8 && type != T_I16)
        return u;
    extended = type == T_I8 ? (int8_t)u : (int16_t)u;
    return (uint32_t)extended;
}

#endif
