#include "sim/device.h"
#include "sim/placement.h"

static struct kernel_run *pick(struct device *d, uint32_t compute_units, struct cu **cu)
{
    struct kernel_run *run = placement_next_run(d, d->last_order);

    for (uint32_t i = 0; i <= d->nruns; i++) {
        if (!run)
            run = placement_next_run(d, 0);
        if (!run)
            return NULL;
        *cu = placement_next_cu(d, compute_units, run);
        if (*cu) {
            d->last_order = run->order;
            return run;
        }
        run = placement_next_run(d, run->order);
    }
    return NULL;
}

const struct placement placement_round_robin = {pick};
