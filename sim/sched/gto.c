#include "sim/device.h"
#include "sim/sched/oldest.h"
#include "sim/wave_scheduler.h"

static uint32_t pick(const struct simd *s, uint64_t eligible)
{
    if (eligible >> s->last & 1)
        return s->last;
    return sched_oldest(s, eligible);
}

const struct wave_scheduler wave_scheduler_gto = {.pick = pick, .keeps_first = true};
