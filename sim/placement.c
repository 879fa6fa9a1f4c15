#include "sim/placement.h"

#include "sim/device.h"

#define LIST(_)                                                                                    \
    _(in_order, "in-order", "all work-groups of a kernel before those of the next")                \
    _(round_robin, "round-robin", "one work-group of each resident kernel in turn")                \
    _(spatial, "spatial", "each resident kernel on compute units of its own")

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

struct cu *placement_next_cu(struct device *d, const struct kernel_run *run)
{
    for (uint32_t i = 0; i < d->ncus; i++) {
        uint32_t id = (d->next_cu + i) % d->ncus;

        if (group_fits(&d->cus[id], run)) {
            d->next_cu = (id + 1) % d->ncus;
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

struct kernel_run *placement_take_turns(struct device *d,
                                        struct cu *(*find)(struct device *d, struct kernel_run *run),
                                        struct cu **cu)
{
    struct kernel_run *run = placement_next_run(d, d->last_order);

    for (uint32_t i = 0; i <= d->nruns; i++) {
        if (!run)
            run = placement_next_run(d, 0);
        if (!run)
            return NULL;
        *cu = find(d, run);
        if (*cu) {
            d->last_order = run->order;
            return run;
        }
        run = placement_next_run(d, run->order);
    }
    return NULL;
}

bool placement_shares(const char *text, uint32_t weights[SHARES_MAX], uint32_t *count)
{
    *count = 0;
    while (*text) {
        uint32_t n = 0, digits = 0;

        for (; *text >= '0' && *text <= '9' && n <= SHARE_MAX; text++, digits++)
            n = 10 * n + (uint32_t)(*text - '0');
        if (!digits || n < 1 || n > SHARE_MAX || *count == SHARES_MAX)
            return false;
        weights[(*count)++] = n;
        if (*text == ':' && text[1])
            text++;
        else if (*text)
            return false;
    }
    return true;
}
