/* Requests for sectors of one line, on their way to an L2 slice or DRAM channel, and back. */
#ifndef HD_SIM_REQUEST_H
#define HD_SIM_REQUEST_H

#include "sim/base/bits.h"

#define REQUEST_NONE UINT32_MAX

/*
 * REQ_PAST: a line of a load without L1, which takes an MSHR for itself. REQ_REPLAY: one of a load that has waited
 * for its page, past L1 and its MSHRs.
 */
enum request_kind {
    REQ_LOAD,
    REQ_PAST,
    REQ_REPLAY,
    REQ_STORE,
    REQ_ATOMIC,
    REQ_ATOMIC_RETURN,
    REQ_WRITEBACK
};

/* As large as a cache line of the host. */
struct request {
    uint64_t line; /* address of the line's first byte */
    struct kernel_run *run;
    struct wavefront *wave; /* stores and atomics; NULL: a store of sectors that leave L1 */
    uint64_t at_ps;         /* in L2: when the sectors that it has are ready */
    uint32_t sectors;
    union {
        uint32_t place; /* on arrival at L2: where the line may be; any place, or else the line is looked for */
        uint32_t missing; /* in L2: sectors that are on their way from DRAM */
    };
    uint32_t next;  /* in transit, or of those that wait for the same L2 line */
    uint32_t life;  /* of the wavefront; a line past L1: MSHRs that are free when it comes */
    uint32_t owner; /* load: MSHR; one past L1, if it is of interest to it, or replayed, returning atomic: load_op; write-back: the store that waits for it;
                       what leaves L1: its round */
    uint32_t set;   /* of L2 */
    uint16_t cu;
    uint16_t serial; /* atomics: most lanes on one address */
    uint8_t slice;   /* of L2 */
    uint8_t kind;    /* enum request_kind */
};

static inline bool request_reads(const struct request *r)
{
    return r->kind <= REQ_REPLAY;
}

/* A pool of requests, which are named by index, so that it may move when it grows. */
struct requests {
    struct request *at;
    uint32_t count, free; /* requests made; first free one, linked by .next, or REQUEST_NONE */
};

bool requests_init(struct requests *p, uint32_t count); /* false when memory is short */
void requests_free(struct requests *p);
bool requests_grow(struct requests *p); /* twice as many; false when memory is short */
/* Makes the pool equal to another one; false when memory is short. */
bool requests_copy(struct requests *to, const struct requests *from);

/* A request with old contents; REQUEST_NONE when memory is short. Pointers into the pool may be stale
 * after this. */
static inline uint32_t requests_take(struct requests *p)
{
    uint32_t index;

    if (p->free == REQUEST_NONE && !requests_grow(p))
        return REQUEST_NONE;
    index = p->free;
    p->free = p->at[index].next;
    return index;
}

static inline void requests_give(struct requests *p, uint32_t index)
{
    p->at[index].next = p->free;
    p->free = index;
}

#endif
