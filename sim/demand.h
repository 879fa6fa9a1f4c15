/*
 * The states of pages on a device with page faults, a page at a time. A page comes to the device in
 * two steps: demand_come() when its move is decided, from when on it takes room there, and
 * demand_arrive() when its bytes are there, from when on wavefronts may use it and it may be evicted.
 * A page that nobody has touched yet has no bytes to move and takes both at once.
 */
#ifndef HD_SIM_DEMAND_H
#define HD_SIM_DEMAND_H

#include "sim/base/bits.h"
#include "sim/event.h"
#include "sim/memory.h"

struct sim_machine;

static inline bool page_bit(const uint64_t *bitmap, uint64_t page)
{
    return bitmap[page / 64] >> page % 64 & 1;
}

static inline bool page_on_device(const struct sim_array *a, uint64_t page)
{
    return page_bit(a->on_device, page);
}

/* On its way to the device. */
static inline bool page_coming(const struct sim_array *a, uint64_t page)
{
    return page_bit(a->arriving, page);
}

/* A wavefront may use it. A page that the host may read too is not for writing. */
static inline bool page_usable(const struct sim_array *a, uint64_t page, bool write)
{
    return page_on_device(a, page) && !page_coming(a, page) && !(write && page_bit(a->both, page));
}

/* Of a new array of a device with page faults, and of one that is freed. */
void demand_new(struct memory *mem, struct sim_array *a);
void demand_forget(struct memory *mem, struct sim_array *a);

/*
 * The page, which is not on the device, comes; true if its bytes have to move, then demand_arrive() is
 * to follow. A read-mostly array keeps it on the host, too, until the device writes to it.
 */
bool demand_come(struct sim_machine *m, struct sim_array *a, uint64_t page);
void demand_arrive(struct sim_machine *m, struct sim_array *a, uint64_t page);
/* The page, which has arrived, leaves; true if it was dirty, so that its bytes have to move. */
bool demand_leave(struct memory *mem, struct sim_array *a, uint64_t page);
/* The device writes to a page that has arrived: the host's copy is no good any more. */
void demand_write(struct memory *mem, struct sim_array *a, uint64_t page);
/* The device has used a page. */
static inline void demand_use(struct memory *mem, const struct sim_array *a, uint64_t page)
{
    if (mem->counts_uses && a->frame[page] != FRAME_NONE)
        frames_use(&mem->frames, a->frame[page]);
}
/* The host has got a copy of a page that has arrived; true if it was dirty. */
bool demand_share(struct memory *mem, struct sim_array *a, uint64_t page);

/*
 * An array was made. If all are together larger than the device now, each use of a page counts for the
 * order of evictions, from when no compute unit can be ahead of this call any more, and until a kernel is
 * launched that finds that they are not.
 */
void demand_array_made(struct sim_machine *m);
void demand_uses_event(struct sim_machine *m, const struct event *e); /* EV_USES */
void demand_launched(struct sim_machine *m);
/* Loads from the array stay in step with other compute units until demand_let_ahead(). */
void demand_keep_in_step(struct sim_array *a);
void demand_let_ahead(struct sim_array *a);

#endif
