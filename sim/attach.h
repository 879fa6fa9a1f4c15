/*
 * Which queues see an array on a device without page faults: a list of arrays for each queue and one
 * of those that all queues see, so that a launch looks at no other.
 */
#ifndef HD_SIM_ATTACH_H
#define HD_SIM_ATTACH_H

#include "sim/memory.h"

#define ATTACH_NONE UINT32_MAX

/* A queue, SIM_ATTACH_GLOBAL or SIM_ATTACH_HOST. False when memory is short. */
bool attach_set(struct memory *mem, uint32_t id, int32_t to);
/* Nobody sees any more what was attached to the queue. */
void attach_end_queue(struct memory *mem, uint32_t queue);
/*
 * Puts the ids of the managed arrays that a launch in the queue can see into mem->visible: its
 * arguments, and what is attached to the queue or globally, each once, in ascending order. False when
 * memory is short.
 */
bool attach_find_visible(struct memory *mem, uint32_t queue, const struct sim_launch *launch);

#endif
