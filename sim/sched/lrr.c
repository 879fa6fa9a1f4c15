#include "sim/device.h"
#include "sim/wave_scheduler.h"

static uint32_t pick(const struct simd *s, uint64_t eligible)
{
    uint64_t later = eligible & ~bits_low(s->last + 1);

    return bits_first(later ? later : eligible);
}

const struct wave_scheduler wave_scheduler_lrr = {.pick = pick};
