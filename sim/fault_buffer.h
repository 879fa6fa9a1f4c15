/*
 * Accesses that wait for pages, and the buffer that the handler reads. A page that is waited for has a
 * record with the requests that are to go on when it is there. Each compute unit that touches it, and
 * that nobody has asked for yet, puts one entry into the buffer; further accesses of the unit to the
 * page add none, as a small TLB of the unit's own would merge them.
 */
#ifndef HD_SIM_FAULT_BUFFER_H
#define HD_SIM_FAULT_BUFFER_H

#include "sim/base/pool.h"
#include "sim/base/vec.h"
#include "sim/limits.h"

#define FAULT_NONE UINT32_MAX

struct fault_page {
    uint32_t hash_next; /* of a free record: the pool's */
    uint32_t array, page;
    uint32_t older, newer;      /* records in the order in which they were made */
    uint32_t first, last;       /* requests that wait, linked by .next */
    uint32_t run;               /* resident kernel that touched it first */
    uint64_t serial;            /* 0: free */
    uint64_t cus[CUS_MAX / 64]; /* compute units with an entry */
    bool write;                 /* one of the requests writes */
    bool taken;                 /* in the batch in hand */
    bool served;                /* and that has brought the page */
};

/* Of a record that is gone, or of its page in hand, it says nothing any more. */
struct fault_entry {
    uint64_t serial;
    uint32_t record, run;
};

enum { FAULT_BUCKETS = 1024 };

struct fault_buffer {
    struct pool pages; /* struct fault_page */
    uint32_t buckets[FAULT_BUCKETS];
    uint32_t oldest, newest;
    VEC(struct fault_entry) entries; /* from `head` on, first come first */
    size_t head;
    uint64_t serial;
};

bool fault_buffer_init(struct fault_buffer *b); /* false when memory is short */
void fault_buffer_free(struct fault_buffer *b);
/* Makes it equal to another one; false when memory is short. */
bool fault_buffer_copy(struct fault_buffer *to, const struct fault_buffer *from);

static inline struct fault_page *fault_page_at(const struct fault_buffer *b, uint32_t record)
{
    return pool_at(&b->pages, record);
}

/* The record of a page, FAULT_NONE if nobody waits for it. */
uint32_t fault_buffer_find(const struct fault_buffer *b, uint32_t array, uint32_t page);
/* A record for a page that has none; FAULT_NONE when memory is short. */
uint32_t fault_buffer_add(struct fault_buffer *b, uint32_t array, uint32_t page, uint32_t run);
/* Nobody waits any more; what waited must have been taken from the record. */
void fault_buffer_remove(struct fault_buffer *b, uint32_t record);

/* An entry of a compute unit. True if there is a new one; *memory is false when there was none left. */
bool fault_buffer_enter(struct fault_buffer *b, uint32_t record, uint32_t cu, uint32_t run,
                        bool *memory);
/* Takes the oldest entry that still says something; false if there is none. */
bool fault_buffer_take(struct fault_buffer *b, struct fault_entry *out);

#endif
