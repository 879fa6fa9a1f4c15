#include "sim/device.h"
#include "sim/placement.h"

/* The queue that a kernel came from decides its weight; queue 0 and the first one made take the first. */
static uint32_t weight_of(const struct device *d, const struct kernel_run *run)
{
    uint32_t place = run->queue ? run->queue - 1 : 0;

    return d->nshares ? d->shares[place % d->nshares] : 1;
}

/* The resident kernel that comes after `last` in order of queue and age; NULL: the first. */
static struct kernel_run *after(struct device *d, const struct kernel_run *last)
{
    struct kernel_run *best = NULL;

    for (uint32_t i = 0; i < d->nruns; i++) {
        struct kernel_run *run = &d->runs[i];

        if (!run->used || (last && (run->queue < last->queue ||
                                    (run->queue == last->queue && run->order <= last->order))))
            continue;
        if (!best || run->queue < best->queue ||
            (run->queue == best->queue && run->order < best->order))
            best = run;
    }
    return best;
}

/*
 * Kernel i of n gets the compute units from floor(units * W(i) / W(n)) on, W(i) being the weights of those
 * before it, moved so far that each has one. Past one kernel a unit, kernel i shares unit i mod units.
 */
static void divide(struct device *d)
{
    const uint32_t units = d->ncus;
    uint64_t all = 0, before = 0;
    uint32_t n = 0, i = 0, at = 0;

    for (struct kernel_run *run = after(d, NULL); run; run = after(d, run), n++)
        all += weight_of(d, run);
    for (struct kernel_run *run = after(d, NULL); run; run = after(d, run), i++) {
        uint64_t end;

        before += weight_of(d, run);
        end = units * before / all;
        if (end < at + 1)
            end = at + 1;
        if (end + (n - 1 - i) > units)
            end = units - (n - 1 - i);
        run->first_cu = n > units ? i % units : at;
        run->count_cus = n > units ? 1 : (uint32_t)end - at;
        run->next_cu = 0;
        at = (uint32_t)end;
    }
}

static struct cu *own_cu(struct device *d, struct kernel_run *run)
{
    for (uint32_t i = 0; i < run->count_cus; i++) {
        uint32_t place = (run->next_cu + i) % run->count_cus;
        struct cu *cu = placement_try_cu(d, run->first_cu + place, run);

        if (cu) {
            run->next_cu = (place + 1) % run->count_cus;
            return cu;
        }
    }
    return NULL;
}

static struct kernel_run *pick(struct device *d, struct cu **cu)
{
    return placement_take_turns(d, own_cu, cu);
}

const struct placement placement_spatial = {pick, divide};
