/*
 * The event queue: a timing wheel for the near future, a heap for the far. Events come out in the
 * order (time, unit, sequence of scheduling), which is total. Compute units are not in here: their
 * cycles have a calendar of their own (sim/calendar.h), which is served after the events of
 * the same time.
 */
#ifndef HD_SIM_EVENT_H
#define HD_SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
    EV_QUEUE,       /* heads of queues may have become ready */
    EV_LAUNCH,      /* a: queue: the launch latency of its head kernel is over */
    EV_LINK,        /* a: engine: the transfer in service is over */
    EV_LINK_START,  /* a: engine: it takes the next transfer */
    EV_TICKET,      /* b: ticket: completes (a host fault's move, for example) */
    EV_KERNEL_DONE, /* a: kernel run */
    EV_FLUSH,       /* a: kernel run: its last work-group has ended */
    EV_DISPATCH,    /* the dispatcher may place a work-group */
    EV_L2,          /* a request that found no way of its L2 set free tries again */
    EV_DRAM,        /* a request arrives at a channel */
    EV_FILL,        /* an answer that is too late for sim/transit.h arrives at its compute unit */
    EV_FAULT,       /* the fault handler reads a batch, or has done its work for one */
    EV_REPLAY, /* a: the first of a list of requests that waited for a page: they arrive at L2 */
    EV_USES,   /* uses of pages count from here on, sim/demand.h */
    EV_NUM_KINDS
};

/* Units, in the order of service at one time. The index within a kind, below 2^16, is added. */
enum {
    UNIT_LINK = 0,
    UNIT_QUEUE = 1 << 16,
    UNIT_DRAM = 2 << 16,
    UNIT_L2 = 3 << 16,
    UNIT_CU = 4 << 16,
    UNIT_KERNEL = 5 << 16,
    UNIT_DISPATCH = 6 << 16,
    UNIT_FAULT = 7 << 16,
    UNIT_LINK_START = 8 << 16,
};

struct event {
    uint64_t time_ps;
    uint64_t seq : 56, kind : 8; /* seq is set by event_push; 56 bits outlast any run */
    uint32_t unit;
    uint32_t a;
    uint64_t b;
};

struct event_queue;

struct event_queue *event_queue_new(void); /* NULL when memory is short */
void event_queue_free(struct event_queue *q);
/* Another queue with the same events; NULL when memory is short. */
struct event_queue *event_queue_copy(const struct event_queue *q);
/*
 * The time must not be before that of the last event taken; it may be the same. unit is below 2^22.
 * False when memory is short, which can only happen while the number of pending events is at a new
 * high.
 */
bool event_push(struct event_queue *q, uint64_t time_ps, uint32_t unit, enum event_kind kind,
                uint32_t a, uint64_t b);
/* Time of the next event, SIM_NEVER if there is none. Cheap to ask again. */
uint64_t event_next_time(struct event_queue *q);
/* Takes the next event; false if there is none. */
bool event_pop(struct event_queue *q, struct event *out);

#endif
