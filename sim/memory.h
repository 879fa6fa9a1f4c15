/* Arrays in the device's address space, where their values are, and the state of their pages. */
#ifndef HD_SIM_MEMORY_H
#define HD_SIM_MEMORY_H

#include "sim/sim.h"
#include "sim/base/vec.h"

struct sim_array {
    uint64_t base, bytes; /* device addresses [base, base + bytes) */
    uint8_t *data;
    char name[64];
    uint32_t elem_bytes;
    enum sim_array_kind kind;
    bool live;          /* false: freed; its addresses are never given out again, so that a late use is found */
    int32_t attached;   /* queue, SIM_ATTACH_GLOBAL or SIM_ATTACH_HOST */
    uint32_t in_flight; /* pending commands that use it */
    uint64_t npages;
    uint64_t *populated, *on_device, *dirty; /* a bit a page; populated and not on the device: on the host */
};

struct memory {
    VEC(struct sim_array) arrays;  /* by id; a freed id's slot is used again */
    VEC(struct sim_array) retired; /* freed arrays, for messages: addresses only */
    VEC(uint32_t) by_address;      /* ids of live arrays in order of base */
    uint64_t next_address;         /* arrays are page-aligned with at least a page between them */
    uint64_t device_bytes;         /* populated on the device */
    uint32_t page_bytes;
};

/* The live array that holds the address, or NULL. */
struct sim_array *memory_find(struct memory *mem, uint64_t address);
/* For messages: describes an address that no live array holds: the freed array, or the nearest one. */
void memory_describe(const struct memory *mem, uint64_t address, char *out, size_t size);

#endif
