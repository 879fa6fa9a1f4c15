/*
 * Lane functions: the value of each opcode for a whole wavefront at once. They are
 * compiled for widths 8, 16, 32 and 64 (and 1, the scalar unit), for all lanes and
 * for some, and twice: baseline x86-64, and AVX2 with FMA. The bits are the same.
 *
 * A source or destination is `width` words, low words first: word i is lane i's, and a
 * 64-bit operand has its high words at [width + i]. Sources may be the destination.
 */
#ifndef HD_ISA_LANES_H
#define HD_ISA_LANES_H

#include "isa/isa.h"

/* All lanes of d. Unused sources are NULL. */
typedef void isa_full_fn(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c);
/* Lanes of d where spread is all ones; the others keep their value. */
typedef void isa_some_fn(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                         const uint32_t *spread);
/* Bit i is lane i's comparison; bits past the width are 0. */
typedef uint64_t isa_cmp_fn(const uint32_t *a, const uint32_t *b);

struct isa_lane_row {
    isa_full_fn *full;
    isa_some_fn *some;
    isa_cmp_fn *cmp;
};

/* How a set of lane addresses looks. */
enum isa_pattern {
    ISA_UNIFORM, /* all the same */
    ISA_AFFINE,  /* first + lane * stride, stride > 0 */
    ISA_GENERAL,
};

/* Least and greatest of some words, and the bits that any of them has set. */
struct isa_span {
    uint32_t low, high, bits;
};

struct isa_lanes {
    unsigned width;
    const char *build;               /* "baseline" or "avx2" */
    const struct isa_lane_row *rows; /* [ISA_NUM_OPS]; empty rows for formats without lane functions */
    void (*spread)(uint32_t *out, uint64_t mask);     /* mask to one word a lane */
    void (*broadcast)(uint32_t *out, uint32_t value); /* value in all lanes */
    /* Classifies all `width` words as an index vector; *stride is set for affine ones. */
    enum isa_pattern (*classify)(const uint32_t *index, uint32_t *stride);
    /* Of the lanes where spread is all ones; there must be one. */
    struct isa_span (*span)(const uint32_t *index, const uint32_t *spread);
    /* base + (index << shift) of all lanes. */
    void (*addresses)(uint64_t *out, const uint32_t *index, uint64_t base, unsigned shift);
    /*
     * The words at byte offsets from base. kinds is what gather_kinds() says of the offsets: for
     * each 8 lanes an enum isa_pattern, where ISA_AFFINE is one word behind the other.
     */
    void (*gather)(uint32_t *d, const uint8_t *base, const uint32_t *offset, const uint8_t *kinds);
    void (*gather_kinds)(uint8_t *kinds, const uint32_t *offset);
    /* True if a - first is distance in each lane. */
    bool (*at_distances)(const uint32_t *a, uint32_t first, const uint32_t *distance);
};

enum isa_build { ISA_BUILD_AUTO, ISA_BUILD_BASELINE, ISA_BUILD_AVX2 };

/*
 * The lanes for a width of 1, 8, 16, 32 or 64. ISA_BUILD_AUTO takes AVX2 where the
 * processor has it; NULL for another width, or if the processor lacks the build asked for.
 */
const struct isa_lanes *isa_lanes_get(unsigned width, enum isa_build build);

#endif
