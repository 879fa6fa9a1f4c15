#include "isa/lanes_builds.h"

static const struct {
    unsigned width;
    const struct isa_lanes *baseline, *avx2;
} choices[] = {
    {1, &isa_lanes_w1_baseline, &isa_lanes_w1_avx2},
    {8, &isa_lanes_w8_baseline, &isa_lanes_w8_avx2},
    {16, &isa_lanes_w16_baseline, &isa_lanes_w16_avx2},
    {32, &isa_lanes_w32_baseline, &isa_lanes_w32_avx2},
    {64, &isa_lanes_w64_baseline, &isa_lanes_w64_avx2},
};

const struct isa_lanes *isa_lanes_get(unsigned width, enum isa_build build)
{
    bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");

    if (build == ISA_BUILD_AVX2 && !has_avx2)
        return NULL;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (choices[i].width == width)
            return build == ISA_BUILD_BASELINE || !has_avx2 ? choices[i].baseline : choices[i].avx2;
    }
    return NULL;
}
