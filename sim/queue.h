/* Queues of commands: what the host has submitted, in order, and which of it has completed. */
#ifndef HD_SIM_QUEUE_H
#define HD_SIM_QUEUE_H

#include "sim/event.h"
#include "sim/sim.h"

struct sim_machine;
struct queues; /* all queues and pending tickets */

struct queues *queues_new(void);
void queues_free(struct queues *q);

/* Events EV_QUEUE, EV_LAUNCH, EV_TICKET. */
void queue_event(struct sim_machine *m, const struct event *e);

/* The dispatcher says that the kernel of this ticket has had its last effect, now. record has its times and counters. */
void queue_kernel_done(struct sim_machine *m, uint64_t ticket, struct sim_kernel_record *record);

#endif
