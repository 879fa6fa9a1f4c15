/*
 * Page faults of wavefronts. A line whose page is not on the device goes into the fault buffer instead
 * of L1 and L2; its load, store or atomic waits, as for any line, and other wavefronts go on. One
 * handler serves all compute units and kernels of the device, batch after batch:
 *
 *   wake      um.fault_latency_ns after a fault that finds the handler idle
 *   read      takes up to um.fault_batch entries from the front of the buffer
 *   serve     um.fault_batch_ns, and um.fault_block_ns for each 2 MiB of an array with a page of the
 *             batch; then room is made, and the pages, with those that um.prefetch_tree adds, come
 *   map       um.fault_page_ns for each of them
 *   move      as one transfer for each run of pages within 2 MiB, behind what must leave for them
 *   replay    what waits for the pages goes on to L2; the next batch is read, if anything has come
 *
 * A page on its way, by a batch or a prefetch, is waited for and asks no handler.
 */
#ifndef HD_SIM_UM_FAULT_H
#define HD_SIM_UM_FAULT_H

#include "sim/event.h"
#include "sim/sim.h"

struct sim_machine;
struct sim_array;
struct kernel_run;
struct um_faults;

struct um_faults *um_faults_new(void); /* NULL when memory is short */
void um_faults_free(struct um_faults *f);
/* Makes it equal to another one; false when memory is short. */
bool um_faults_copy(struct um_faults *to, const struct um_faults *from);

/* Whether a wavefront may access the line now; if so, the access is noted in the state of its page. */
bool um_line_passes(struct sim_machine *m, uint64_t line, bool write);
/* The request for a line that may not pass waits, from a core cycle on, until its page is there. */
void um_line_waits(struct sim_machine *m, uint32_t request, bool write, uint64_t cycle);

/* Event EV_FAULT. */
void um_fault_event(struct sim_machine *m, const struct event *e);
/* A page has come to the device by a prefetch; um_fault_arrived() is to follow. */
void um_page_arrived(struct sim_machine *m, uint32_t array, uint64_t page);
/* All pages of a transfer have come to the device, by a batch or else by a prefetch. */
void um_fault_arrived(struct sim_machine *m, bool by_batch);
/* A move to the host is over. */
void um_fault_left(struct sim_machine *m);

/* SIM_VALUES: bytes [first, last] of an array are touched, and their pages come at once. */
void um_touch(struct sim_machine *m, struct sim_array *a, uint64_t first, uint64_t last, bool write);

#endif
