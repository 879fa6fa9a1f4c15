#include "sim/device.h"

#include <stdlib.h>

struct returns *returns_new(void)
{
    return calloc(1, sizeof(struct returns));
}

/* Takes n places from one on, which do not go round. */
static uint32_t take_places(uint32_t *at, uint32_t n)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += at[i];
        at[i] = 0;
    }
    return sum;
}

uint32_t returns_take(struct returns *r, uint64_t cycle)
{
    uint32_t start = (uint32_t)(r->from % TRANSIT_CYCLES), sum = r->free, n, first;

    r->free = 0;
    if (cycle < r->from)
        return sum;
    n = cycle - r->from < TRANSIT_CYCLES ? (uint32_t)(cycle - r->from) + 1 : TRANSIT_CYCLES;
    first = n < TRANSIT_CYCLES - start ? n : TRANSIT_CYCLES - start;
    r->from = cycle + 1;
    sum += take_places(r->at + start, first);
    return sum + take_places(r->at, n - first);
}

void returns_tell(struct sim_machine *m, struct cu *cu, uint64_t now)
{
    struct device *d = m->device;

    for (uint64_t cycle = now + 1; cycle < now + TRANSIT_CYCLES; cycle++) {
        uint32_t place = cycle % TRANSIT_CYCLES, n = cu->returns->at[place], i;

        if (!n)
            continue;
        i = request_new(m);
        if (i == REQUEST_NONE)
            return;
        cu->returns->at[place] = 0;
        *request_at(d, i) =
            (struct request){.life = n, .owner = NONE32, .cu = (uint16_t)cu->id, .kind = REQ_PAST};
        transit_put(cu->fills, d->calendar.now, &d->requests, i, cycle);
    }
}
