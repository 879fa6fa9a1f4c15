#include "sim/device.h"
#include "sim/placement.h"

static struct cu *any_cu(struct device *d, struct kernel_run *run)
{
    return placement_next_cu(d, run);
}

static struct kernel_run *pick(struct device *d, struct cu **cu)
{
    return placement_take_turns(d, any_cu, cu);
}

const struct placement placement_round_robin = {pick, NULL};
