/*
 * Which queues see an array on a device without page faults: a list of arrays for each queue, and one of
 * those that all queues see. A list knows which of its arrays are settled, which is wholly on the device
 * and not on the move; a launch looks at the others only, however many there are. What is settled is held
 * and used with its list as a whole. An array that comes to a list counts as last used when the list was.
 */
#ifndef HD_SIM_ATTACH_H
#define HD_SIM_ATTACH_H

#include "sim/memory.h"

#define ATTACH_NONE UINT32_MAX

/* A queue, SIM_ATTACH_GLOBAL or SIM_ATTACH_HOST. False when memory is short. */
bool attach_set(struct memory *mem, uint32_t id, int32_t to);
/* Nobody sees any more what was attached to the queue. */
void attach_end_queue(struct memory *mem, uint32_t queue);
/* To be called when pages of an array have come or gone, or one of its moves has begun or ended. */
void attach_settle(struct memory *mem, struct sim_array *a);

/*
 * Puts the ids of managed arrays that a launch in the queue can see into mem->visible, each once, in
 * ascending order: its arguments, and what is attached to the queue or globally and is not settled. *pages
 * is of all that it can see. False when memory is short.
 */
bool attach_find_visible(struct memory *mem, uint32_t queue, const struct sim_launch *launch,
                         uint64_t *pages);
/* Holds what is attached to the queue or globally, so that it is not evicted, or lets it go. */
void attach_hold(struct memory *mem, uint32_t queue, bool hold);
/* Its use by a launch in the queue, by memory.use_clock. */
void attach_use(struct memory *mem, uint32_t queue, uint64_t use);

/* Whether an array is held with its list, and when it was last used, by itself or with its list. */
bool attach_held(const struct memory *mem, const struct sim_array *a);
uint64_t attach_last_use(const struct memory *mem, const struct sim_array *a);

#endif
