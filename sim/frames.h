/*
 * The pages that are on the device, in the order of their last use: the oldest is evicted first. Each
 * has a frame, which the array names by its number. Pages on their way have none, so that they stay.
 */
#ifndef HD_SIM_FRAMES_H
#define HD_SIM_FRAMES_H

#include "sim/base/vec.h"

#include <stdint.h>

#define FRAME_NONE UINT32_MAX

struct frame {
    uint32_t array, page;
    uint32_t older, newer; /* FRAME_NONE at the ends */
};

struct frames {
    VEC(struct frame) at;
    uint32_t free; /* linked by .newer */
    uint32_t oldest, newest;
    uint32_t count;
};

void frames_init(struct frames *f);
void frames_free(struct frames *f);
/* A frame for a page that was used just now; FRAME_NONE when memory is short. */
uint32_t frames_add(struct frames *f, uint32_t array, uint32_t page);
void frames_remove(struct frames *f, uint32_t frame);
/* The page of the frame is used. */
void frames_use(struct frames *f, uint32_t frame);

#endif
