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

struct cu *placement_try_cu(struct device *d, uint32_t id, const struct kernel_run *run)
{
    const struct kernel_run *other = d->cleared_for == NONE32 ? run : &d->runs[d->cleared_for];

    if (other != run && other->first_cu == id)
        return NULL;
    return group_fits(&d->cus[id], run) ? &d->cus[id] : NULL;
}

struct cu *placement_next_cu(struct device *d, const struct kernel_run *run)
{
    for (uint32_t i = 0; i < d->ncus; i++) {
        uint32_t id = (d->next_cu + i) % d->ncus;
        struct cu *cu = placement_try_cu(d, id, run);

        if (cu) {
            d->next_cu = (id + 1) % d->ncus;
            return cu;
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

/* The next run in turn after an order, round the end. */
static struct kernel_run *next_in_turn(struct device *d, uint64_t order)
{
    struct kernel_run *run = placement_next_run(d, order);

    return run ? run : placement_next_run(d, 0);
}

/*
 * The runs from `first` to `placed` had their turn and found no room. One that has seen more work-groups of others go by
 * than the device has places gets a compute unit cleared: others place nothing there until it does.
 */
static void passed_over(struct device *d, struct kernel_run *first, const struct kernel_run *placed)
{
    for (struct kernel_run *run = first; run != placed; run = next_in_turn(d, run->order)) {
        run->passed++;
        if (run->passed > d->places && d->cleared_for == NONE32)
            d->cleared_for = (uint32_t)(run - d->runs);
    }
}

struct kernel_run *placement_take_turns(struct device *d,
                                        struct cu *(*find)(struct device *d, struct kernel_run *run),
                                        struct cu **cu)
{
    struct kernel_run *first = next_in_turn(d, d->last_order), *run = first;

    while (run) {
        *cu = find(d, run);
        if (*cu) {
            d->last_order = run->order;
            run->passed = 0;
            if (d->cleared_for == (uint32_t)(run - d->runs))
                d->cleared_for = NONE32;
            passed_over(d, first, run);
            return run;
        }
        run = next_in_turn(d, run->order);
        if (run == first)
            break;
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
