/*
 * Room on the device. Without page faults an array goes that no command which has started can see: the
 * one whose last use, by a launch or prefetch, is longest ago, its pages in order of address. With
 * page faults the page goes that was used longest ago. A use is its arrival; while arrays are together
 * larger than the device each access is one, too (sim/demand.h).
 */
#ifndef HD_SIM_UM_ROOM_H
#define HD_SIM_UM_ROOM_H

#include "sim/memory.h"
#include "sim/pages.h"

struct sim_machine;

/* Frees `bytes` of device memory, or, when that is not possible now, nothing. For arrays that the host moves as a whole. */
bool um_room_of_arrays(struct sim_machine *m, uint64_t bytes);

/* With page faults: makes room for as many of the pages as it can, and returns for how many there is. */
uint64_t um_room_of_pages(struct sim_machine *m, uint64_t pages);
/* The same for all of them or none, without taking any page of a range of an array. */
bool um_room_for_range(struct sim_machine *m, uint64_t pages, uint32_t array,
                       const struct page_range *range);
/* Room for pages without an eviction. */
uint64_t um_free_pages(const struct sim_machine *m);

#endif
