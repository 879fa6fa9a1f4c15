/*
 * Queues of commands: what the host has submitted, in order, and which of it has completed.
 *
 * A command starts when it becomes the head of its queue and completes before the next one starts,
 * at the same time if nothing takes time between them. Heads that wait for something are looked at
 * in the order in which they began to wait. A kernel goes through these stages:
 *
 *   room      its arrays are claimed, or it waits until device memory can be made free (sim/um.h)
 *   host      moves to the host that are in its way end
 *   migrate   its host pages move to the device, and those that others are moving arrive
 *   launch    launch.latency_ns
 *   turn      with sim.concurrent_kernels off, all queues' kernels before it end
 *   run       the dispatcher has it
 *
 * With um.page_faults it begins at `launch`. The values of an explicit copy move when it
 * completes. In SIM_VALUES mode a command has completed when sim_submit() returns.
 */
#ifndef HD_SIM_QUEUE_H
#define HD_SIM_QUEUE_H

#include "sim/base/text.h"
#include "sim/event.h"
#include "sim/sim.h"

struct sim_machine;
struct queues; /* all queues and pending tickets */

/* With queue 0. NULL when memory is short. */
struct queues *queues_new(void);
void queues_free(struct queues *q);
/* No ticket is pending. */
bool queues_idle(const struct queues *q);
uint64_t queues_last_ticket(const struct queues *q);
/* A pending ticket that is no command's. The machine fails when memory is short. */
uint64_t queues_new_ticket(struct sim_machine *m);

/* Events EV_QUEUE, EV_LAUNCH, EV_TICKET. */
void queue_event(struct sim_machine *m, const struct event *e);

/* The core cycle at which the next kernel will have been launched, UINT64_MAX if none is being. */
uint64_t queue_next_launch(const struct sim_machine *m);

/*
 * The dispatcher says that the kernel of this ticket has had its last effect, now. record has its
 * times and counters.
 */
void queue_kernel_done(struct sim_machine *m, uint64_t ticket, struct sim_kernel_record *record);
/* The link says that a transfer is over, now; move is as it was given to link_submit(). */
void queue_transfer_done(struct sim_machine *m, const struct sim_transfer_record *record,
                         uint64_t move);

/* For the message of a deadlock: a line for the head of each queue, and what it waits for. */
void queue_describe_waits(const struct sim_machine *m, struct text *out);

#endif
