/* The machine as a whole: making it, and the loop that moves time on. */
#include "sim/machine.h"

#include "sim/demand.h"
#include "sim/device.h"
#include "sim/l1.h"
#include "sim/um_fault.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static enum hd_status make_parts(struct sim_machine *m, struct hd_error *err)
{
    m->events = event_queue_new();
    m->queues = queues_new();
    m->link = link_new(&m->config);
    m->faults = um_faults_new();
    if (!m->events || !m->queues || !m->link || !m->faults)
        return hd_no_memory(err, "a machine");
    memory_init(&m->memory, m->config.um_page_bytes, m->config.um_page_faults);
    return device_new(m, err);
}

enum hd_status sim_new(const struct sim_config *config, enum isa_build lanes,
                       struct sim_machine **out, struct hd_error *err)
{
    struct sim_machine *m;
    enum hd_status status = sim_config_check(config, err);

    *out = NULL;
    if (status != HD_OK)
        return status;
    m = calloc(1, sizeof *m);
    if (!m)
        return hd_no_memory(err, "a machine");
    m->config = *config;
    m->core = clock_make(config->core_hz);
    m->l2clk = clock_make(config->l2_hz);
    m->lanes_build = lanes;
    m->lanes = isa_lanes_get(config->wavefront_size, lanes);
    status = m->lanes ? make_parts(m, err)
                      : hd_error_set(err, HD_BAD_INPUT, "lanes-unavailable", NULL,
                                     "use the baseline lanes", "this processor has no AVX2 and FMA");
    if (status != HD_OK) {
        sim_free(m);
        return status;
    }
    *out = m;
    return HD_OK;
}

void sim_free(struct sim_machine *m)
{
    if (!m)
        return;
    device_free(m);
    um_faults_free(m->faults);
    link_free(m->link);
    queues_free(m->queues);
    event_queue_free(m->events);
    memory_free(&m->memory);
    text_free(&m->dump);
    free(m);
}

/* A limit on instructions has to be met exactly, and a probe wants the lanes of each instruction as it issues. */
static void set_run_ahead(struct sim_machine *m)
{
    m->device->run_ahead =
        m->limits.max_instructions == 0 && !m->limits.no_run_ahead && !m->probe.fn;
    cu_set_lookahead(m);
}

void sim_set_limits(struct sim_machine *m, const struct sim_limits *limits)
{
    m->limits = *limits;
    m->memory.max_bytes = limits->max_array_bytes;
    set_run_ahead(m);
}

void sim_set_probe(struct sim_machine *m, const struct hd_probe *probe)
{
    m->probe = *probe;
    set_run_ahead(m);
}

void sim_set_sink(struct sim_machine *m, const struct sim_sink *sink)
{
    m->sink = *sink;
}

/* What may be done only when nothing is pending. */
static bool needs_idle(struct sim_machine *m, const char *what)
{
    if (!sim_idle(m))
        machine_fail(m, HD_INTERNAL, "internal", NULL, NULL, "%s while commands are pending", what);
    return sim_idle(m);
}

void sim_set_mode(struct sim_machine *m, enum sim_mode mode)
{
    if (needs_idle(m, "sim_set_mode"))
        m->mode = mode;
}

bool sim_idle(const struct sim_machine *m)
{
    return queues_idle(m->queues);
}

uint64_t sim_now(const struct sim_machine *m)
{
    return m->now_ps;
}

void sim_cool(struct sim_machine *m)
{
    if (needs_idle(m, "sim_cool"))
        device_cool(m);
}

void sim_totals(const struct sim_machine *m, struct sim_counters *out)
{
    *out = m->totals;
}

const char *sim_fault_dump(const struct sim_machine *m)
{
    return text_str(&m->dump);
}

void machine_out_of_memory(struct sim_machine *m)
{
    machine_fail(m, HD_SIM_FAILED, "memory", NULL, NULL, "the simulator ran out of host memory");
}

/* ---- the loop ---- */

bool machine_stopped(struct sim_machine *m)
{
    const struct sim_limits *l = &m->limits;

    if (l->stop && *l->stop)
        machine_fail(m, HD_STOPPED, "stopped", NULL, NULL, "the run was stopped");
    else if (l->max_instructions && m->device->instructions >= l->max_instructions)
        machine_fail(m, HD_SIM_FAILED, "max-instructions", NULL, "raise --max-instr",
                     "the run reached its limit of %llu wavefront instructions",
                     (unsigned long long)l->max_instructions);
    else if (l->max_time_ps && m->now_ps > l->max_time_ps)
        machine_fail(m, HD_SIM_FAILED, "max-time", NULL, "raise --max-cycles",
                     "the run reached its limit of %llu core cycles, %llu ns of simulated time",
                     (unsigned long long)clock_cycle_at(&m->core, l->max_time_ps),
                     (unsigned long long)(l->max_time_ps / PS_PER_NS));
    return m->fault.status != HD_OK;
}

typedef void event_fn(struct sim_machine *m, const struct event *e);

static event_fn *const handlers[EV_NUM_KINDS] = {
    [EV_QUEUE] = queue_event,
    [EV_LAUNCH] = queue_event,
    [EV_TICKET] = queue_event,
    [EV_LINK] = link_event,
    [EV_LINK_START] = link_event,
    [EV_KERNEL_DONE] = dispatch_event,
    [EV_FLUSH] = l1_event,
    [EV_DISPATCH] = dispatch_event,
    [EV_L2] = l2_event,
    [EV_DRAM] = dram_event,
    [EV_FILL] = fill_event,
    [EV_FAULT] = um_fault_event,
    [EV_REPLAY] = l2_replay_event,
    [EV_USES] = demand_uses_event,
};

static void serve_event(struct sim_machine *m)
{
    struct event e;

    if (!event_pop(m->events, &e))
        return;
    calendar_pass(&m->device->calendar, clock_cycle_at(&m->core, e.time_ps));
    handlers[e.kind](m, &e);
}

enum { ISSUE_BATCH = 64 };

/* No compute unit makes another due in the same cycle, so those that are can be taken together. */
static void serve_cus(struct sim_machine *m)
{
    struct device *d = m->device;
    uint64_t cycle = d->calendar.next;
    uint32_t units[ISSUE_BATCH], n;

    while ((n = calendar_take(&d->calendar, cycle, units, ISSUE_BATCH)) > 0) {
        for (uint32_t i = 0; i < n && m->fault.status == HD_OK; i++)
            cu_run(m, &d->cus[units[i]], cycle);
    }
}

/* A cycle of the core clock as a time; the cycle may be "never". It is mostly the one that was asked for last. */
static uint64_t edge_or_never(const struct sim_machine *m, struct machine_edge *last, uint64_t cycle)
{
    if (last->cycle != cycle) {
        last->cycle = cycle;
        last->ps = cycle == UINT64_MAX ? SIM_NEVER : clock_edge(&m->core, cycle);
    }
    return last->ps;
}

static uint64_t l2_time(struct sim_machine *m)
{
    uint64_t edge_ps = edge_or_never(m, &m->l2_edge, m->device->to_l2->next);

    return edge_ps == SIM_NEVER ? SIM_NEVER : edge_ps + m->device->noc_ps;
}

static uint64_t cus_time(struct sim_machine *m)
{
    return edge_or_never(m, &m->cus_edge, m->device->calendar.next);
}

/* Whether the loop has to look, before it comes to that time, if the run is to go on. */
static inline bool is_late(const struct sim_machine *m, uint64_t time_ps)
{
    return time_ps > m->until_ps || (m->limits.max_time_ps && time_ps > m->limits.max_time_ps);
}

/* Requests arrive at L2, cycle after cycle, as long as nothing else is next. */
static void serve_l2(struct sim_machine *m)
{
    uint64_t next_ps;

    for (;;) {
        l2_arrivals(m);
        next_ps = l2_time(m);
        if (next_ps >= event_next_time(m->events) || next_ps > cus_time(m) || is_late(m, next_ps) ||
            m->fault.status != HD_OK)
            return;
        m->now_ps = next_ps;
        m->served++;
    }
}

/* Serves what is next and is not later than m->until_ps; false if there is nothing. At one time the
 * order is that of the rows. */
static bool serve_next(struct sim_machine *m)
{
    const struct {
        uint64_t time_ps;
        void (*serve)(struct sim_machine *m);
    } sources[] = {
        {event_next_time(m->events), serve_event},
        {l2_time(m), serve_l2},
        {cus_time(m), serve_cus},
    };
    unsigned best = 0;

    for (unsigned i = 1; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].time_ps < sources[best].time_ps)
            best = i;
    if (sources[best].time_ps == SIM_NEVER || sources[best].time_ps > m->until_ps)
        return false;
    m->now_ps = sources[best].time_ps;
    m->served++;
    sources[best].serve(m);
    return true;
}

static enum hd_status failure(const struct sim_machine *m, struct hd_error *err)
{
    if (m->fault.status != HD_OK && err)
        *err = m->fault;
    return m->fault.status;
}

enum hd_status sim_run_until(struct sim_machine *m, uint64_t time_ps, struct hd_error *err)
{
    m->until_ps = time_ps;
    while (!machine_stopped(m) && serve_next(m))
        continue;
    if (m->fault.status == HD_OK && m->now_ps < time_ps)
        m->now_ps = time_ps;
    return failure(m, err);
}

static void fail_waiting(struct sim_machine *m)
{
    struct text who = {0};

    queue_describe_waits(m, &who);
    machine_fail(m, HD_SIM_FAILED, "deadlock", NULL, NULL,
                 "deadlock: nothing can happen any more; %s", text_str(&who));
    text_free(&who);
}

enum hd_status sim_wait(struct sim_machine *m, uint64_t ticket, struct hd_error *err)
{
    m->waiting = true;
    m->until_ps = SIM_NEVER;
    while (!machine_stopped(m) && !(ticket ? sim_done(m, ticket) : sim_idle(m)))
        if (!serve_next(m))
            fail_waiting(m);
    m->waiting = false;
    return failure(m, err);
}
