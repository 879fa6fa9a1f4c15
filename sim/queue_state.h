/* What sim/queue.c keeps, for it and for sim/copy.c. */
#ifndef HD_SIM_QUEUE_STATE_H
#define HD_SIM_QUEUE_STATE_H

#include "sim/command.h"
#include "sim/tickets.h"
#include "sim/um.h"

/* How far the head of a queue has come; see sim/queue.h. */
enum stage {
    STAGE_NEW,
    STAGE_ROOM,
    STAGE_HOST,
    STAGE_MIGRATE,
    STAGE_LAUNCH,
    STAGE_TURN,
    STAGE_RUN,
    STAGE_LINK,
};

struct queue {
    struct command *head, *tail;
    enum stage stage; /* of the head */
    bool live, closing;
    struct um_claims claims; /* of the head */
};

struct queues {
    VEC(struct queue) list; /* by number */
    VEC(uint32_t) free_ids;
    /* queues whose head is looked at when anything has happened, first come first */
    VEC(uint32_t) waiting;
    struct tickets tickets;
    uint32_t running; /* kernels that the dispatcher has */
    bool serve_due;   /* an EV_QUEUE is under way */
    bool again;       /* something completed while heads were looked at */
    bool room_taken;  /* an earlier head waits for room: later ones may not take it */
    /* Core cycles at which the heads in STAGE_LAUNCH will have been launched: [first_launch, len), in their order, since each
       takes as long. */
    VEC(uint64_t) launches;
    size_t first_launch;
};

#endif
