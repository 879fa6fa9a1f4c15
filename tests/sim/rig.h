/*
 * A machine of queues, link and memory alone, for tests. Its dispatcher is here: a kernel takes the
 * time that is its first argument, in picoseconds, and 0 is for ever. So that this dispatcher is
 * the one that queues call, they are compiled into the test, with its names. Rates are whole bytes
 * a nanosecond, so that times are easy to write down.
 */
#ifndef HD_TESTS_SIM_RIG_H
#define HD_TESTS_SIM_RIG_H

#define occupancy_check rig_occupancy_check
#define dispatch_kernel rig_dispatch_kernel

#include "sim/command.c"
#include "sim/queue.c"
#include "sim/um_fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
    RIG_LOG_MAX = 256,
    NS = 1000, /* ps */
    PAGE = 4096,
    LATENCY = 1500 * NS,
    LAUNCH = 3000 * NS,
    HOST_FAULT = 6000 * NS,
    GAP = 1300 * NS,
    CHUNK = 16 * PAGE,
    H2D = 8, /* bytes a ns */
    D2H = 4,
    PAGEABLE = 2,
};

struct rig {
    struct sim_machine m;
    struct sim_transfer_record transfers[RIG_LOG_MAX];
    struct sim_kernel_record kernels[RIG_LOG_MAX];
    size_t ntransfers, nkernels;
    struct isa_kernel kernel;
};

static inline struct sim_config rig_config(void)
{
    return (struct sim_config){
        .dram_bytes = 1 << 20,
        .um_page_bytes = PAGE,
        .um_chunk_bytes = CHUNK,
        .um_chunk_gap = GAP / NS,
        .um_host_fault = HOST_FAULT / NS,
        .link_h2d_rate = H2D * UINT64_C(1000000000),
        .link_d2h_rate = D2H * UINT64_C(1000000000),
        .link_pageable_rate = PAGEABLE * UINT64_C(1000000000),
        .link_latency = LATENCY / NS,
        .link_duplex = true,
        .copy_engines = 2,
        .launch_latency = LAUNCH / NS,
        .concurrent_kernels = true,
    };
}

static inline void rig_log_transfer(void *user, const struct sim_transfer_record *r)
{
    struct rig *rig = user;

    rig->transfers[rig->ntransfers++ % RIG_LOG_MAX] = *r;
}

static inline void rig_log_kernel(void *user, const struct sim_kernel_record *r)
{
    struct rig *rig = user;

    rig->kernels[rig->nkernels++ % RIG_LOG_MAX] = *r;
}

static inline struct rig *rig_open(const struct sim_config *c)
{
    struct rig *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->m.config = *c;
    r->m.core = clock_make(1000000000);
    r->m.events = event_queue_new();
    r->m.queues = queues_new();
    r->m.link = link_new(c);
    memory_init(&r->m.memory, c->um_page_bytes, c->um_page_faults);
    r->m.faults = um_faults_new();
    r->m.sink = (struct sim_sink){.user = r, .transfer = rig_log_transfer, .kernel = rig_log_kernel};
    r->kernel = (struct isa_kernel){.name = "k", .nparams = 1};
    return r;
}

static inline void rig_close(struct rig *r)
{
    event_queue_free(r->m.events);
    queues_free(r->m.queues);
    link_free(r->m.link);
    um_faults_free(r->m.faults);
    memory_free(&r->m.memory);
    free(r);
}

/* ---- the dispatcher -------------------------------------------------------------------- */

static inline void rig_end_kernel(struct sim_machine *m, uint32_t queue, uint64_t ticket,
                                  uint64_t start_ps)
{
    struct sim_kernel_record k = {
        .ticket = ticket, .queue = queue, .start_ps = start_ps, .end_ps = m->now_ps};

    queue_kernel_done(m, ticket, &k);
}

enum hd_status occupancy_check(const struct sim_config *c, const struct sim_launch *l,
                               struct occupancy *out, struct hd_error *err)
{
    (void)c;
    (void)out;
    if (l->block[0] == 0)
        return hd_error_set(err, HD_BAD_INPUT, "launch-empty", NULL, NULL, "no work-items");
    return HD_OK;
}

void dispatch_kernel(struct sim_machine *m, uint64_t ticket, uint64_t tag, uint32_t queue,
                     uint64_t queued_ps, const struct sim_launch *launch)
{
    struct rig *r = m->sink.user;

    (void)tag;
    (void)queued_ps;
    if (m->mode == SIM_VALUES)
        rig_end_kernel(m, queue, ticket, m->now_ps);
    else if (launch->args[0] > 0) {
        r->kernels[RIG_LOG_MAX - 1 - queue].start_ps = m->now_ps;
        machine_schedule(m, m->now_ps + launch->args[0], UNIT_KERNEL, EV_KERNEL_DONE, queue, ticket);
    }
}

/* ---- the main loop --------------------------------------------------------------------- */

static inline void rig_handle(struct rig *r, const struct event *e)
{
    r->m.now_ps = e->time_ps;
    if (e->kind == EV_LINK || e->kind == EV_LINK_START)
        link_event(&r->m, e);
    else if (e->kind == EV_KERNEL_DONE)
        rig_end_kernel(&r->m, e->a, e->b, r->kernels[RIG_LOG_MAX - 1 - e->a].start_ps);
    else
        queue_event(&r->m, e);
}

/* Runs until the ticket is done, with ticket 0 until nothing happens any more; returns the time. */
static inline uint64_t rig_run(struct rig *r, uint64_t ticket)
{
    struct event e;

    while (r->m.fault.status == HD_OK && (ticket == 0 || !sim_done(&r->m, ticket)) &&
           event_pop(r->m.events, &e))
        rig_handle(r, &e);
    assert_true(sim_done(&r->m, ticket));
    return r->m.now_ps;
}

static inline void rig_run_until(struct rig *r, uint64_t time_ps)
{
    struct event e;

    while (event_next_time(r->m.events) <= time_ps && event_pop(r->m.events, &e))
        rig_handle(r, &e);
    r->m.now_ps = time_ps;
}

/* ---- short forms ----------------------------------------------------------------------- */

static inline uint32_t rig_array(struct rig *r, const char *name, enum sim_array_kind kind,
                                 uint64_t bytes)
{
    struct sim_array_desc d = {.name = name, .bytes = bytes, .elem_bytes = 4, .kind = kind};
    uint32_t id;

    assert_int_equal(sim_array_new(&r->m, &d, &id, NULL), HD_OK);
    return id;
}

static inline uint32_t rig_queue(struct rig *r)
{
    uint32_t id;

    assert_int_equal(sim_queue_new(&r->m, &id, NULL), HD_OK);
    return id;
}

static inline uint64_t rig_submit(struct rig *r, uint32_t queue, const struct sim_cmd *cmd)
{
    uint64_t ticket = 0;
    struct hd_error err = {0};

    if (sim_submit(&r->m, queue, cmd, &ticket, &err))
        fail_msg("%s: %s", err.code, err.message);
    return ticket;
}

static inline uint64_t rig_copy(struct rig *r, uint32_t queue, enum sim_cmd_kind kind,
                                uint32_t array, void *host, uint64_t bytes)
{
    return rig_submit(
        r, queue,
        &(struct sim_cmd){.kind = kind,
                          .copy = {.array = array, .bytes = bytes, .host = host, .pinned = true}});
}

static inline uint64_t rig_mark(struct rig *r, uint32_t queue)
{
    return rig_submit(r, queue, &(struct sim_cmd){.kind = SIM_MARK});
}

static inline uint64_t rig_wait_for(struct rig *r, uint32_t queue, uint64_t ticket)
{
    return rig_submit(r, queue, &(struct sim_cmd){.kind = SIM_WAIT, .ticket = ticket});
}

/* A kernel of that time, which may write the first `nwrites` of its arrays. */
static inline struct sim_cmd rig_kernel(const struct rig *r, const uint64_t *time_ps,
                                        const uint32_t *arrays, uint32_t narrays, uint32_t nwrites)
{
    static const bool writes[][3] = {{false}, {true}, {true, true}, {true, true, true}};

    return (struct sim_cmd){.kind = SIM_KERNEL,
                            .launch = {.kernel = &r->kernel,
                                       .grid = {1, 1, 1},
                                       .block = {1, 1, 1},
                                       .args = time_ps,
                                       .arrays = arrays,
                                       .writes = writes[nwrites],
                                       .narrays = narrays}};
}

static inline uint64_t rig_launch(struct rig *r, uint32_t queue, uint64_t time_ps,
                                  const uint32_t *arrays, uint32_t narrays, uint32_t nwrites)
{
    struct sim_cmd cmd = rig_kernel(r, &time_ps, arrays, narrays, nwrites);

    return rig_submit(r, queue, &cmd);
}

/* The host touches all of an array, and goes on when it may. */
static inline void rig_host(struct rig *r, uint32_t array, uint64_t bytes, bool write)
{
    struct sim_host_access h = {.array = array, .bytes = bytes, .write = write};
    uint64_t ticket = sim_host_access(&r->m, &h);

    if (ticket)
        rig_run(r, ticket);
}

static inline struct sim_residency rig_residency(const struct rig *r, uint32_t array)
{
    struct sim_residency s;

    sim_array_residency(&r->m, array, &s);
    return s;
}

#endif
