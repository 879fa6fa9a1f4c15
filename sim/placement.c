#include "sim/placement.h"

#include "sim/device.h"

#define LIST(_)                                                                                    \
    _(in_order, "in-order", "all work-groups of a kernel before those of the next")                \
    _(round_robin, "round-robin", "one work-group of each resident kernel in turn")

#define ROW(id, name, doc) extern const struct placement placement_##id;
LIST(ROW)
#undef ROW

const struct placement *const placements[] = {
#define ROW(id, name, doc) &placement_##id,
    LIST(ROW)
#undef ROW
        NULL,
};

const struct param_choice placement_choices[] = {
#define ROW(id, name, doc) {name, doc},
    LIST(ROW)
#undef ROW
        {NULL, NULL},
};

struct cu *placement_next_cu(struct device *d, uint32_t compute_units, const struct kernel_run *run)
{
    for (uint32_t i = 0; i < compute_units; i++) {
        uint32_t id = (d->next_cu + i) % compute_units;

        if (group_fits(&d->cus[id], run)) {
            d->next_cu = (id + 1) % compute_units;
            return &d->cus[id];
        }
    }
    return NULL;
}

struct kernel_run *placement_next_run(struct device *d, uint64_t after_order)
{
    struct kernel_run *best = NULL;

    for (uint32_t i = 0; i < d->nruns; i++) {
        struct kernel_run *run = &d->runs[i];

        if (run->used && run->placed < run->groups && run->order > after_order &&
            (!best || run->order < best->order))
            best = run;
    }
    return best;
}
