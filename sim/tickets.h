/* The pending tickets, in order. They take memory by their number, however many came and went. */
#ifndef HD_SIM_TICKETS_H
#define HD_SIM_TICKETS_H

#include "sim/base/vec.h"

#include <stdint.h>

struct tickets {
    VEC(uint64_t) pending; /* rising, from head on */
    size_t head;
    uint64_t last; /* the last one issued; the first is 1 */
};

/* A new pending ticket, 0 when memory is short. */
uint64_t tickets_issue(struct tickets *t);
/* The ticket, which must be pending, has completed. */
void tickets_complete(struct tickets *t, uint64_t ticket);
/* True for tickets that have completed, and for 0. */
bool tickets_done(const struct tickets *t, uint64_t ticket);
size_t tickets_pending(const struct tickets *t);
void tickets_free(struct tickets *t);
bool tickets_copy(struct tickets *to, const struct tickets *from); /* false when memory is short */

#endif
