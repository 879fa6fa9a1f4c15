#include "sim/device.h"
#include "sim/sched/oldest.h"
#include "sim/wave_scheduler.h"

uint32_t sched_oldest(const struct simd *s, uint64_t eligible)
{
    uint32_t best = bits_first(eligible);

    for (uint64_t rest = eligible & (eligible - 1); rest; rest &= rest - 1) {
        uint32_t slot = bits_first(rest);

        if (s->age[slot] < s->age[best])
            best = slot;
    }
    return best;
}

const struct wave_scheduler wave_scheduler_oldest = {sched_oldest};
