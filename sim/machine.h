/* The parts of a machine, for the files of sim/ only. */
#ifndef HD_SIM_MACHINE_H
#define HD_SIM_MACHINE_H

#include "sim/base/text.h"
#include "sim/dispatch.h"
#include "sim/event.h"
#include "sim/link.h"
#include "sim/memory.h"
#include "sim/queue.h"
#include "sim/sim.h"
#include "sim/time.h"

struct device; /* compute units, caches, DRAM, dispatcher: sim/device.h */

/* The time of a cycle of the core clock. */
struct machine_edge {
    uint64_t cycle, ps;
};

struct sim_machine {
    struct sim_config config;
    struct sim_limits limits;
    struct sim_sink sink;
    struct hd_probe probe;
    enum sim_mode mode;
    uint64_t now_ps;
    uint64_t until_ps; /* the loop serves nothing later */
    struct machine_edge l2_edge,
        cus_edge;    /* asked for last, of what was sent to L2 and of the calendar */
    uint64_t served; /* times at which something was done: idle time adds none */
    bool waiting;    /* the host waits, so that it can do nothing before something else ends */
    struct clock_domain core, l2clk;
    enum isa_build lanes_build; /* as it was asked for */
    const struct isa_lanes *lanes;
    struct event_queue *events;
    struct memory memory;
    struct queues *queues;
    struct link *link;
    struct um_faults *faults; /* of wavefronts: sim/um_fault.h */
    struct device *device;
    struct sim_counters totals;
    struct hd_error fault; /* status is not HD_OK: the machine is poisoned */
    struct text dump;
};

/*
 * Ends the run: the first failure is kept and returned by the running call. Parts call it and
 * return; the main loop looks at m->fault after each event.
 */
#define machine_fail(m, ...)                                                                       \
    ((m)->fault.status == HD_OK ? (void)hd_error_set(&(m)->fault, __VA_ARGS__) : (void)0)

void machine_out_of_memory(struct sim_machine *m);

/* Schedules an event; the run ends when there is no memory for it. */
static inline void machine_schedule(struct sim_machine *m, uint64_t time_ps, uint32_t unit,
                                    enum event_kind kind, uint32_t a, uint64_t b)
{
    if (!event_push(m->events, time_ps, unit, kind, a, b))
        machine_out_of_memory(m);
}

/* True if the run has failed, was stopped, or is past a limit. */
bool machine_stopped(struct sim_machine *m);

#endif
