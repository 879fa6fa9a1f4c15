/* The MSHRs of a compute unit with L1, by line. Part of sim/lsu.c. */
#ifndef HD_SIM_MSHR_H
#define HD_SIM_MSHR_H

#include "sim/device.h"

static inline uint32_t mshr_hash(const struct cu *cu, uint64_t line)
{
    return (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 40) & cu->mshr_mask;
}

static inline uint32_t mshr_find(const struct cu *cu, uint64_t line)
{
    uint32_t i = cu->mshr_index[mshr_hash(cu, line)];

    while (i != NONE32 && cu->mshrs[i].line != line)
        i = cu->mshrs[i].next;
    return i;
}

/* For a line that has none; NONE32 if none is free. */
static inline uint32_t mshr_new(struct cu *cu, uint64_t line)
{
    uint32_t i = cu->mshr_free;
    uint32_t *head;

    if (i == NONE32)
        return NONE32;
    head = &cu->mshr_index[mshr_hash(cu, line)];
    cu->mshr_free = cu->mshrs[i].next;
    cu->mshrs[i] = (struct mshr){.line = line, .next = *head, .first.next = NONE32};
    *head = i;
    return i;
}

static inline void mshr_release(struct cu *cu, uint32_t i)
{
    uint32_t *link = &cu->mshr_index[mshr_hash(cu, cu->mshrs[i].line)];

    while (*link != i)
        link = &cu->mshrs[*link].next;
    *link = cu->mshrs[i].next;
    cu->mshrs[i].next = cu->mshr_free;
    cu->mshr_free = i;
}

#endif
