/* What sim/um_fault.c, for those who wait, and sim/um_handler.c, for the handler that serves them, share. */
#ifndef HD_SIM_UM_HANDLER_H
#define HD_SIM_UM_HANDLER_H

#include "sim/fault_buffer.h"
#include "sim/prefetch_tree.h"
#include "sim/um_fault.h"

enum { BLOCK_BYTES = 2 << 20 };

enum phase {
    PHASE_IDLE,
    PHASE_WAKE,
    PHASE_SERVE,
    PHASE_MAP,    /* its pages are chosen */
    PHASE_ROOM,   /* waits until a page that comes can be evicted, or one has left */
    PHASE_LEAVE,  /* waits for pages on their way to the host */
    PHASE_ARRIVE, /* waits for its transfers */
};

/* The pages of one block of an array that are in the batch in hand. */
struct fault_block {
    uint32_t array, run; /* the resident kernel of the first of them */
    uint64_t first;      /* page of the array */
    struct block_pages faults, moving;
};

/* A record and what it is sorted by. */
struct batch_key {
    uint64_t key;
    uint32_t record;
};

struct um_faults {
    struct fault_buffer buffer;
    enum phase phase;
    uint64_t since_ps;   /* that the batch is in hand */
    VEC(uint32_t) batch; /* records, in order of pages */
    VEC(struct fault_block) blocks;
    VEC(struct batch_key) keys; /* scratch */
    uint64_t pages;             /* that come with the batch */
    uint32_t transfers;         /* of the batch, under way */
};

/* Something is in the buffer from a core cycle on: an idle handler wakes. */
void um_handler_wake(struct sim_machine *m, uint64_t cycle);

/* What waits for the page of a record goes on, whatever becomes of the page from here on. */
void um_replay(struct sim_machine *m, uint32_t record);
/* The same of all records whose page is there. No batch is in hand. */
void um_replay_ready(struct sim_machine *m);
/* The same of those that um_page_arrived() has noted, in the order in which they were made. */
void um_replay_arrived(struct sim_machine *m);
/* Sorts f->keys by their keys, which differ. */
void um_sort_keys(struct um_faults *f);
/* The record waits for its page, or asks for it again. */
void um_forget_entries(struct fault_page *p);

#endif
