/* Arrays in the device's address space, where their values are, and the state of their pages. */
#ifndef HD_SIM_MEMORY_H
#define HD_SIM_MEMORY_H

#include "sim/frames.h"
#include "sim/sim.h"
#include "sim/base/vec.h"

struct sim_array {
    uint64_t base, bytes; /* device addresses [base, base + bytes) */
    uint8_t *data;
    void *block; /* what data was allocated as */
    char name[64];
    uint32_t elem_bytes;
    enum sim_array_kind kind;
    bool live; /* false: freed; its addresses are never used again, so that a late use is found */
    int32_t attached; /* queue, SIM_ATTACH_GLOBAL or SIM_ATTACH_HOST; see sim/attach.h */
    uint32_t attach_next, attach_last; /* of the same list, ATTACH_NONE at the ends */
    bool settled;                      /* wholly on the device, and none of it on the move */
    uint64_t seen;      /* memory.see_clock when it was last in a list of visible arrays */
    uint32_t in_flight; /* pending commands that use it */
    uint64_t npages;
    /* SIM_MANAGED, a bit a page; populated and not on the device: on the host */
    uint64_t *populated, *on_device, *dirty;
    uint64_t *arriving; /* on_device, but the bytes are still on their way */
    uint64_t *both;     /* on_device, and the host's copy may be read too */
    bool read_mostly;
    /* with page faults: */
    uint32_t *frame;       /* of each page that has arrived, see sim/frames.h */
    uint64_t absent;       /* pages that a wavefront cannot use */
    uint64_t clean;        /* pages that it can use, and that are not dirty */
    uint8_t watch;         /* WATCH_LOADS, WATCH_STORES */
    uint64_t device_pages; /* set bits of on_device; all pages of a SIM_DEVICE array */
    uint64_t last_use;     /* memory.use_clock of the last launch or prefetch that could see it */
    uint32_t pinned;       /* started launches and prefetches that it must stay on the device for */
    uint32_t inbound;      /* moves of its pages to the device, under way or about to be */
    uint32_t outbound;     /* the same to the host */
    uint32_t in_step; /* reasons for which loads from it may not go ahead: stores and atomics of resident
                         kernels that may be to it, copies from the host, pages that may fault */
};

/* Accesses of a kernel that have to look at the pages they touch. */
enum { WATCH_LOADS = 1, WATCH_STORES = 2 };

/* A freed array, for messages. */
struct memory_retired {
    uint64_t base, bytes;
    char name[64];
};

/* An array that was on the device, and when it had last been used. */
struct array_use {
    uint64_t last_use;
    uint32_t array;
};

/*
 * The order in which arrays may be evicted, as it was at `clock` (sim/um_room.c). A use since then sets an
 * array behind all that is left of it.
 */
struct use_order {
    VEC(struct array_use) list; /* from `head` on, first used first */
    size_t head;
    uint64_t clock;
};

/* The arrays of an attachment; see sim/attach.h. */
struct attach_list {
    uint32_t first[2]; /* by whether they are settled */
    uint32_t held;     /* by launches that have claimed what they see */
    uint64_t pages, last_use;
};

/* A host access to pages on the device, until it may go on. */
struct host_fault {
    struct sim_host_access access;
    uint64_t ticket, queued_ps;
    uint64_t bytes; /* that move to the host after the fault itself */
    bool waits;     /* for pages on their way to the device */
};

/* Pages [first, end) of an array on their way to the device. */
struct page_move {
    uint32_t array;
    uint64_t first, end;
    uint64_t transfer; /* counts from 1 */
};

enum { MEMORY_RETIRED_MAX = 1024 };

struct memory {
    VEC(struct sim_array) arrays;       /* by id; a freed id's slot is used again */
    VEC(struct memory_retired) retired; /* a ring of the last MEMORY_RETIRED_MAX */
    uint64_t nretired;
    VEC(uint32_t) by_address; /* ids of live arrays in order of base */
    VEC(uint32_t) free_ids;
    VEC(struct host_fault) host_faults;
    VEC(struct page_move) moves; /* of transfers to the device, in the order of being sent */
    uint64_t transfers;          /* to the device, of pages */
    struct frames frames;
    uint64_t next_address;   /* arrays are page-aligned with at least a page between them */
    uint64_t bytes;          /* of the values of live arrays */
    uint64_t max_bytes;      /* 0: no limit */
    uint64_t device_bytes;   /* of pages on the device, SIM_DEVICE arrays included */
    uint64_t explicit_bytes; /* of SIM_DEVICE arrays, which are never evicted */
    uint64_t use_clock;
    struct use_order order;
    VEC(struct attach_list) attached; /* globally, then by queue */
    VEC(uint32_t) visible;            /* what a launch can see, while it is looked at */
    uint64_t see_clock;
    uint32_t evictions; /* under way */
    uint32_t page_bytes;
    bool demand;      /* um.page_faults: pages come as wavefronts touch them */
    bool uses_due;    /* counts_uses is to become true, at EV_USES */
    bool counts_uses; /* arrays are larger than the device, so that each use of a page counts */
    uint64_t managed_pages; /* of live arrays */
    struct sim_um_totals totals;
};

/* page_bytes is a power of two. demand: um.page_faults. */
void memory_init(struct memory *mem, uint32_t page_bytes, bool demand);
void memory_free(struct memory *mem);
/* Makes a memory that was just made equal to another one, values too; false when memory is short. */
bool memory_copy(struct memory *to, const struct memory *from);

/*
 * Makes an array with all its pages unpopulated (SIM_DEVICE arrays have no page states), and its
 * values zero. HD_BAD_INPUT when the description is wrong or the host has not that much memory,
 * HD_SIM_FAILED past max_bytes.
 */
enum hd_status memory_add(struct memory *mem, const struct sim_array_desc *desc, uint32_t *id,
                          struct hd_error *err);
/* Frees the values. The id is free again when the array is not pinned and none of its pages move. */
void memory_remove(struct memory *mem, uint32_t id);
/* To be called when a pin or a move has ended, of an array that may have been freed. */
void memory_release_id(struct memory *mem, uint32_t id);

/* The array of that id, or NULL if there is none or it was freed. */
struct sim_array *memory_array(struct memory *mem, uint32_t id);
/* The live array that holds the address, or NULL. */
struct sim_array *memory_find(struct memory *mem, uint64_t address);
/* For messages: what an address that no live array holds is in, or next to. */
void memory_describe(const struct memory *mem, uint64_t address, char *out, size_t size);

#endif
