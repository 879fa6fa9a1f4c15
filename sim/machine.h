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

struct sim_machine {
    struct sim_config config;
    struct sim_limits limits;
    struct sim_sink sink;
    enum sim_mode mode;
    uint64_t now_ps;
    struct clock_domain core, l2clk;
    const struct isa_lanes *lanes;
    struct event_queue *events;
    struct memory memory;
    struct queues *queues;
    struct link *link;
    struct device *device;
    struct sim_counters totals;
    struct hd_error fault; /* status is not HD_OK: the machine is poisoned */
    struct text dump;
};

/*
 * Ends the run: the first failure is kept and returned by the running call. Parts call it and return; the main loop
 * looks at m->fault after each event.
 */
#define machine_fail(m, ...)                                                                       \
    ((m)->fault.status == HD_OK ? (void)hd_error_set(&(m)->fault, __VA_ARGS__) : (void)0)

#endif
