#include "sim/placement.h"

/* A later kernel gets what is left when all work-groups of the earlier ones are placed. */
static struct kernel_run *pick(struct device *d, struct cu **cu)
{
    struct kernel_run *run = placement_next_run(d, 0);

    if (!run)
        return NULL;
    *cu = placement_next_cu(d, run);
    return *cu ? run : NULL;
}

const struct placement placement_in_order = {pick, NULL};
