/*
 * The states of a managed array's pages, whole ranges at once. A page is unpopulated (nobody has
 * touched it), on the host, or on the device; there it is dirty once the device has written it. The
 * host keeps its copy of a page that moves to the device, unmapped: until the page is dirty that
 * copy is good, and the way back moves nothing. A page that the device was first to touch is zero,
 * and also needs no moving until it is dirty.
 */
#ifndef HD_SIM_PAGES_H
#define HD_SIM_PAGES_H

#include "sim/memory.h"

/* Pages [first, end). */
struct page_range {
    uint64_t first, end;
};

/* What a change of state did, in pages. */
struct page_change {
    uint64_t changed; /* are now where they were not */
    uint64_t moved;   /* of these, pages whose bytes have to move */
};

/* The pages that hold bytes [offset, offset + bytes), cut at the array's end; none if bytes is 0. */
struct page_range pages_of(const struct memory *mem, const struct sim_array *a, uint64_t offset,
                           uint64_t bytes);
/* The pages that lie within these bytes; the last page of the array need not be full. */
struct page_range pages_within(const struct memory *mem, const struct sim_array *a, uint64_t offset,
                               uint64_t bytes);
struct page_range pages_all(const struct sim_array *a);

/* Pages of the range that are not on the device. */
uint64_t pages_missing(const struct sim_array *a, struct page_range r);

/* All pages of the range are on the device afterwards; those that were on the host move. */
struct page_change pages_to_device(struct sim_array *a, struct page_range r);
/*
 * All pages of the range are on the host afterwards; those that were dirty move. Counts only pages
 * that were on the device.
 */
struct page_change pages_to_host(struct sim_array *a, struct page_range r);
/* The first `count` pages on the device, in order of address, go to the host. */
struct page_change pages_evict(struct sim_array *a, uint64_t count);
/* The device has written all of its pages in the range. */
void pages_written(struct sim_array *a, struct page_range r);
/* The host has touched the pages of the range. */
void pages_populate(struct sim_array *a, struct page_range r);
/* The host will overwrite the pages of the range: what the device wrote is of no use. */
void pages_discard(struct sim_array *a, struct page_range r);

void pages_count(const struct sim_array *a, struct sim_residency *out);

#endif
