#include "sim/sched/oldest.h"

#include "sim/device.h"
#include "sim/wave_scheduler.h"

uint32_t sched_oldest(const struct simd *s, uint64_t eligible)
{
    uint32_t i = 0;

    if ((eligible & (eligible - 1)) == 0)
        return bits_first(eligible);
    while (!(eligible >> s->order[i] & 1))
        i++;
    return s->order[i];
}

const struct wave_scheduler wave_scheduler_oldest = {.pick = sched_oldest};
