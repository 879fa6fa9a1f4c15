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
    uint64_t launch_cycle; /* core cycle at which a head in STAGE_LAUNCH has been launched, or UINT64_MAX */
    bool live, closing;
    struct um_claims claims; /* of the head */
};

struct queues {
    VEC(struct queue) list; /* by number */
    VEC(uint32_t) free_ids;
    /* queues whose head is looked at when anything has happened, first come first */
    VEC(uint32_t) waiting;
    struct tickets tickets;
    uint32_t running;     /* kernels that the dispatcher has */
    bool serve_due;       /* an EV_QUEUE is under way */
    bool again;           /* something completed while heads were looked at */
    bool room_taken;      /* an earlier head waits for room: later ones may not take it */
    uint64_t next_launch; /* the least launch_cycle of all */
};

#endif
