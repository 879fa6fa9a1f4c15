/* The dispatcher: places the work-groups of many kernels on compute units. */
#ifndef HD_SIM_DISPATCH_H
#define HD_SIM_DISPATCH_H

#include "sim/event.h"
#include "sim/occupancy.h"
#include "sim/sim.h"

struct sim_machine;

/*
 * A kernel whose launch latency is over joins the resident kernels, or waits for one of their
 * places. launch stays valid until queue_kernel_done(). In SIM_VALUES mode the kernel is run to its
 * end before the call returns, and queue_kernel_done() has been called.
 */
void dispatch_kernel(struct sim_machine *m, uint64_t ticket, uint64_t tag, uint32_t queue,
                     uint64_t queued_ps, const struct sim_launch *launch);

/* Events EV_DISPATCH, EV_KERNEL_DONE. */
void dispatch_event(struct sim_machine *m, const struct event *e);

#endif
