/*
 * Unified memory: which pages have to be where before a launch, a prefetch or a host access goes
 * on, and what must make room for them. A device without page faults (um.page_faults off) moves
 * ahead of each launch all host pages of the arrays that the launch can see: its arguments, and
 * what is attached to its queue or globally. With page faults the pages come as wavefronts touch
 * them: that is a third caller of the moves here, beside launches and host accesses.
 *
 * States change when a move is decided, which is when the launch or prefetch claims its arrays; the
 * bytes follow on the link. An array is pinned from the claim to the end of the command that
 * claimed it. When a claim needs room, pages of arrays that are not pinned are evicted: the array
 * whose last use (by launch or prefetch) is longest ago first, its pages in order of address. What
 * was written by a kernel counts as dirty from the end of that kernel on, and as a whole array.
 */
#ifndef HD_SIM_UM_H
#define HD_SIM_UM_H

#include "sim/event.h"
#include "sim/memory.h"
#include "sim/pages.h"

struct sim_machine;

/* What one launch or prefetch needs of one array. */
struct um_claim {
    uint32_t array;
    uint64_t move_bytes;     /* that have to come from the host */
    struct page_range pages; /* with page faults: those that do */
};

struct um_claims {
    VEC(struct um_claim) list;
    bool holds_attached; /* and what is attached to the queue, or globally */
    uint32_t queue;
};

enum um_outcome {
    UM_CLAIMED,
    UM_NO_ROOM, /* not until something that runs has ended */
    UM_FAILED,  /* m->fault says why */
};

/*
 * HD_BAD_INPUT if the arrays that a launch in this queue can see are together larger than the
 * device's memory.
 */
enum hd_status um_check_launch(struct sim_machine *m, uint32_t queue,
                               const struct sim_launch *launch, struct hd_error *err);

/*
 * Claims the arrays of a launch, all or none. In SIM_VALUES mode that is all; else
 * um_waits_for_host() must be false before um_move_in() is called, and the launch may start when
 * um_waits_for_device() is false. Then, or in the end, um_release().
 */
enum um_outcome um_claim_launch(struct sim_machine *m, uint32_t queue,
                                const struct sim_launch *launch, struct um_claims *claims);
/*
 * The same for the pages of a prefetch. A prefetch is a hint: with UM_NO_ROOM nothing is moved and
 * the command is over.
 */
enum um_outcome um_claim_prefetch(struct sim_machine *m, const struct sim_copy *range,
                                  struct um_claims *claims);

/* Pages of the claimed arrays, or pages that make room, are still on their way to the host. */
bool um_waits_for_host(const struct sim_machine *m, const struct um_claims *claims);
/* Queues the moves. The record is what they have in common: ticket, tag, queue, kind. */
void um_move_in(struct sim_machine *m, const struct um_claims *claims,
                const struct sim_transfer_record *common);
/* With page faults: queues one move of runs of pages, of one array, that demand_come() has said to move. */
void um_send_pages(struct sim_machine *m, const struct um_claim *runs, size_t n,
                   const struct sim_transfer_record *common);
/* Pages of the claimed arrays are still on their way to the device, for whomever. */
bool um_waits_for_device(const struct sim_machine *m, const struct um_claims *claims);
void um_release(struct sim_machine *m, struct um_claims *claims);

/* A kernel that may write the array has ended. */
void um_written(struct sim_machine *m, uint32_t array);

/*
 * Makes room for a SIM_DEVICE array (sim/um_room.c). HD_BAD_INPUT if it does not fit beside the others of its kind,
 * or what is in use.
 */
enum hd_status um_make_room(struct sim_machine *m, const char *name, uint64_t bytes,
                            struct hd_error *err);

/*
 * A transfer, not a SIM_T_COPY, is over; `move` is which move of pages to the device it was, or 0.
 * Returns the ticket that this completes, or 0.
 */
uint64_t um_move_done(struct sim_machine *m, const struct sim_transfer_record *r, uint64_t move);
/*
 * The fault of a host access has been served: its pages may move. Returns the ticket that this
 * completes, or 0.
 */
uint64_t um_host_fault_served(struct sim_machine *m, uint64_t ticket);
/* Pages of an array have come to the device: host accesses that waited for that go on. */
void um_host_retry(struct sim_machine *m, uint32_t array);

#endif
