/* The objects that isa/lanes.c becomes, one for each width and build. */
#ifndef HD_ISA_LANES_BUILDS_H
#define HD_ISA_LANES_BUILDS_H

#include "isa/lanes.h"

extern const struct isa_lanes isa_lanes_w1_baseline, isa_lanes_w8_baseline, isa_lanes_w16_baseline,
    isa_lanes_w32_baseline, isa_lanes_w64_baseline;
extern const struct isa_lanes isa_lanes_w1_avx2, isa_lanes_w8_avx2, isa_lanes_w16_avx2,
    isa_lanes_w32_avx2, isa_lanes_w64_avx2;

#endif
