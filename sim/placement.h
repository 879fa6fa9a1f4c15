/*
 * Placement policies: which kernel's work-group is placed next. To add one: one file in
 * sim/placement/ with one struct of functions, and one row in sim/placement.c.
 */
#ifndef HD_SIM_PLACEMENT_H
#define HD_SIM_PLACEMENT_H

#include "sim/base/param.h"

#include <stdbool.h>
#include <stdint.h>

struct device;
struct kernel_run;
struct cu;

struct placement {
    /*
     * The run whose next work-group goes to *cu, or NULL if none can be placed now. Runs with
     * work-groups left are those with placed < groups.
     */
    struct kernel_run *(*pick)(struct device *d, struct cu **cu);
    /* A kernel has become resident or has ended; may be NULL. */
    void (*residents)(struct device *d);
};

/* In the order of `heddle list`; the value of launch.placement is the index. Ends with NULL. */
extern const struct placement *const placements[];
/* The same list as names, for the parameter table. */
extern const struct param_choice placement_choices[];

/* That compute unit if it has room for a work-group of the run and is not being cleared for another run, else NULL. */
struct cu *placement_try_cu(struct device *d, uint32_t id, const struct kernel_run *run);
/* The next compute unit, in turn, that has room for a work-group of the run; NULL if none has. */
struct cu *placement_next_cu(struct device *d, const struct kernel_run *run);
/* The resident run with work-groups left that comes first in order after `order`; NULL if there is none. */
struct kernel_run *placement_next_run(struct device *d, uint64_t after_order);
/*
 * The next run in turn, after the one served last, for which find() has a compute unit. A run that is passed over too often
 * because its work-groups are large has the first of its compute units cleared for it.
 */
struct kernel_run *placement_take_turns(struct device *d,
                                        struct cu *(*find)(struct device *d, struct kernel_run *run),
                                        struct cu **cu);

enum { SHARES_MAX = 16, SHARE_MAX = 1000 };

/* Reads launch.shares, numbers of 1 to SHARE_MAX with colons between; false if it is none. */
bool placement_shares(const char *text, uint32_t weights[SHARES_MAX], uint32_t *count);

#endif
