#include "sim/queue.h"
#include "sim/attach.h"
#include "sim/command.h"
#include "sim/machine.h"
#include "sim/queue_state.h"
#include "sim/um.h"

#include <inttypes.h>

enum { QUEUES_MAX = 1 << 16 }; /* units of events have room for these */

static const char *const stage_waits[] = {
    [STAGE_NEW] = "has not been looked at",
    [STAGE_ROOM] = "waits for device memory that running kernels use",
    [STAGE_HOST] = "waits for pages on their way to the host",
    [STAGE_MIGRATE] = "waits for pages on their way to the device",
    [STAGE_LAUNCH] = "is being launched",
    [STAGE_TURN] = "waits for the running kernel to end (sim.concurrent_kernels)",
    [STAGE_RUN] = "runs, or waits for a place among the resident kernels",
    [STAGE_LINK] = "waits for the copy engine",
};

/* How far a head has come. */
enum progress {
    PROGRESS_DONE,
    PROGRESS_WAITS, /* look again */
    PROGRESS_BUSY,  /* an event will tell */
};

static struct queue *queue_at(struct sim_machine *m, uint32_t id)
{
    return &m->queues->list.at[id];
}

/* ---- making and freeing ---------------------------------------------------------------- */

/* A queue is in each list at most once: with this room, adding there cannot fail. */
static bool add_queue(struct queues *qs)
{
    size_t count = qs->list.len + 1;

    return vec_reserve(&qs->waiting, count) && vec_reserve(&qs->free_ids, count) &&
           vec_reserve(&qs->launches, 2 * count) &&
           vec_push(&qs->list, ((struct queue){.live = true}));
}

struct queues *queues_new(void)
{
    struct queues *qs = calloc(1, sizeof *qs);

    if (qs && !add_queue(qs)) {
        queues_free(qs);
        return NULL;
    }
    return qs;
}

static void free_commands(struct queue *q)
{
    while (q->head) {
        struct command *next = q->head->next;

        free(q->head);
        q->head = next;
    }
}

void queues_free(struct queues *qs)
{
    if (!qs)
        return;
    for (size_t i = 0; i < qs->list.len; i++) {
        free_commands(&qs->list.at[i]);
        vec_free(&qs->list.at[i].claims.list);
    }
    vec_free(&qs->list);
    vec_free(&qs->free_ids);
    vec_free(&qs->waiting);
    vec_free(&qs->launches);
    tickets_free(&qs->tickets);
    free(qs);
}

/* The smallest free number, so that queues that take the place of others come in the order in which they are made. */
static uint32_t take_free_id(struct queues *qs)
{
    size_t least = 0;
    uint32_t id;

    for (size_t i = 1; i < qs->free_ids.len; i++)
        if (qs->free_ids.at[i] < qs->free_ids.at[least])
            least = i;
    id = qs->free_ids.at[least];
    qs->free_ids.at[least] = qs->free_ids.at[--qs->free_ids.len];
    return id;
}

enum hd_status sim_queue_new(struct sim_machine *m, uint32_t *queue, struct hd_error *err)
{
    struct queues *qs = m->queues;

    if (qs->free_ids.len > 0) {
        *queue = take_free_id(qs);
        qs->list.at[*queue].live = true;
        return HD_OK;
    }
    if (qs->list.len == QUEUES_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "queues-many", NULL,
                            "free streams, or use them again",
                            "the device has %d queues, all of them in use", QUEUES_MAX);
    if (!add_queue(qs))
        return hd_no_memory(err, "one more queue");
    *queue = (uint32_t)qs->list.len - 1;
    return HD_OK;
}

/* Nobody sees what was attached to the queue: the next one of this number is another. */
static void release_queue(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);

    attach_end_queue(&m->memory, id);
    q->live = q->closing = false;
    m->queues->free_ids.at[m->queues->free_ids.len++] = id;
}

static bool open_queue(const struct sim_machine *m, uint32_t id)
{
    return id < m->queues->list.len && m->queues->list.at[id].live &&
           !m->queues->list.at[id].closing;
}

void sim_queue_free(struct sim_machine *m, uint32_t queue)
{
    if (queue == 0 || !open_queue(m, queue))
        return;
    queue_at(m, queue)->closing = true;
    if (!queue_at(m, queue)->head)
        release_queue(m, queue);
}

/* ---- completion ------------------------------------------------------------------------ */

static void serve_soon(struct sim_machine *m)
{
    if (m->queues->waiting.len == 0 || m->queues->serve_due)
        return;
    m->queues->serve_due = true;
    machine_schedule(m, m->now_ps, UNIT_QUEUE, EV_QUEUE, 0, 0);
}

static void start_waiting(struct sim_machine *m, uint32_t id)
{
    m->queues->waiting.at[m->queues->waiting.len++] = id;
    serve_soon(m);
}

static void complete_head(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);
    struct command *c = q->head;

    q->head = c->next;
    q->stage = STAGE_NEW;
    tickets_complete(&m->queues->tickets, c->ticket);
    m->queues->again = true;
    command_release_arrays(m, c);
    free(c);
    if (!q->head && q->closing)
        release_queue(m, id);
}

/* The same from an event, when the next command is not being looked at already. */
static void complete_head_and_go_on(struct sim_machine *m, uint32_t id)
{
    complete_head(m, id);
    if (queue_at(m, id)->head)
        start_waiting(m, id);
    else
        serve_soon(m);
}

static void complete_ticket(struct sim_machine *m, uint64_t ticket)
{
    tickets_complete(&m->queues->tickets, ticket);
    serve_soon(m);
}

void queue_kernel_done(struct sim_machine *m, uint64_t ticket, struct sim_kernel_record *record)
{
    struct queue *q = queue_at(m, record->queue);
    const struct sim_launch *l = &q->head->cmd.launch;

    if (q->stage != STAGE_RUN || q->head->ticket != ticket) {
        machine_fail(m, HD_INTERNAL, "internal", NULL, NULL,
                     "kernel %" PRIu64 " ended but did not run", ticket);
        return;
    }
    for (uint32_t i = 0; i < l->narrays && !m->config.um_page_faults; i++)
        if (l->writes[i])
            um_written(m, l->arrays[i]);
    um_release(m, &q->claims);
    m->queues->running--;
    if (m->sink.kernel)
        m->sink.kernel(m->sink.user, record);
    complete_head_and_go_on(m, record->queue);
}

static void copy_values(struct sim_machine *m, const struct sim_cmd *cmd)
{
    uint8_t *device = m->memory.arrays.at[cmd->copy.array].data + cmd->copy.offset;

    if (cmd->copy.bytes == 0)
        return;
    if (cmd->kind == SIM_COPY_H2D)
        memcpy(device, cmd->copy.host, cmd->copy.bytes);
    else
        memcpy(cmd->copy.host, device, cmd->copy.bytes);
}

void queue_transfer_done(struct sim_machine *m, const struct sim_transfer_record *record,
                         uint64_t move)
{
    uint64_t ticket = 0;

    if (record->kind == SIM_T_COPY)
        copy_values(m, &queue_at(m, record->queue)->head->cmd);
    else
        ticket = um_move_done(m, record, move);
    if (m->sink.transfer)
        m->sink.transfer(m->sink.user, record);
    if (record->kind == SIM_T_COPY)
        complete_head_and_go_on(m, record->queue);
    else if (ticket)
        complete_ticket(m, ticket);
    else
        serve_soon(m);
}

/* ---- progress of heads ----------------------------------------------------------------- */

static enum progress step_mark(struct sim_machine *m, uint32_t id)
{
    (void)m;
    (void)id;
    return PROGRESS_DONE;
}

static enum progress step_wait(struct sim_machine *m, uint32_t id)
{
    return sim_done(m, queue_at(m, id)->head->cmd.ticket) ? PROGRESS_DONE : PROGRESS_WAITS;
}

static enum progress step_copy(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);
    const struct command *c = q->head;
    struct sim_transfer_record r = {.ticket = c->ticket,
                                    .tag = c->cmd.tag,
                                    .queue = id,
                                    .array = c->cmd.copy.array,
                                    .kind = SIM_T_COPY,
                                    .to_device = c->cmd.kind == SIM_COPY_H2D,
                                    .bytes = c->cmd.copy.bytes,
                                    .queued_ps = c->queued_ps};

    if (m->mode == SIM_VALUES) {
        copy_values(m, &c->cmd);
        return PROGRESS_DONE;
    }
    q->stage = STAGE_LINK;
    link_submit(m, &r, c->cmd.copy.pinned, 0);
    return PROGRESS_BUSY;
}

/* From the claim to the arrival of the pages. */
static enum progress bring_pages(struct sim_machine *m, uint32_t id, enum sim_transfer_kind kind)
{
    struct queue *q = queue_at(m, id);
    struct sim_transfer_record r = {
        .ticket = q->head->ticket, .tag = q->head->cmd.tag, .queue = id, .kind = kind};

    if (q->stage == STAGE_HOST) {
        if (um_waits_for_host(m, &q->claims))
            return PROGRESS_WAITS;
        um_move_in(m, &q->claims, &r);
        q->stage = STAGE_MIGRATE;
    }
    return um_waits_for_device(m, &q->claims) ? PROGRESS_WAITS : PROGRESS_DONE;
}

/* Without page faults the launch moves what it needs, and there is nothing for a prefetch to do. */
static enum progress step_prefetch(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);
    enum progress p;

    if (!m->config.um_page_faults)
        return PROGRESS_DONE;
    if (q->stage == STAGE_NEW) {
        enum um_outcome got = um_claim_prefetch(m, &q->head->cmd.copy, &q->claims);

        if (got != UM_CLAIMED)
            return got == UM_NO_ROOM ? PROGRESS_DONE : PROGRESS_BUSY;
        q->stage = STAGE_HOST;
    }
    p = bring_pages(m, id, SIM_T_PREFETCH);
    if (p == PROGRESS_DONE)
        um_release(m, &q->claims);
    return p;
}

static enum progress claim_arrays(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);
    enum um_outcome got = UM_NO_ROOM;

    if (!m->queues->room_taken)
        got = um_claim_launch(m, id, &q->head->cmd.launch, &q->claims);
    if (got == UM_FAILED)
        return PROGRESS_BUSY;
    m->queues->room_taken |= got == UM_NO_ROOM;
    q->stage = got == UM_NO_ROOM ? STAGE_ROOM : STAGE_HOST;
    return got == UM_NO_ROOM ? PROGRESS_WAITS : PROGRESS_DONE;
}

static enum progress run_kernel(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);
    const struct command *c = q->head;

    if (!m->config.concurrent_kernels && m->queues->running > 0)
        return PROGRESS_WAITS;
    q->stage = STAGE_RUN;
    m->queues->running++;
    dispatch_kernel(m, c->ticket, c->cmd.tag, id, c->queued_ps, &c->cmd.launch);
    return PROGRESS_BUSY;
}

/* At least half of the room is in front when there is none behind. */
static void add_launch(struct queues *qs, uint64_t cycle)
{
    if (qs->launches.len == qs->launches.cap) {
        qs->launches.len -= qs->first_launch;
        memmove(qs->launches.at, qs->launches.at + qs->first_launch,
                qs->launches.len * sizeof *qs->launches.at);
        qs->first_launch = 0;
    }
    qs->launches.at[qs->launches.len++] = cycle;
}

uint64_t queue_next_launch(const struct sim_machine *m)
{
    const struct queues *qs = m->queues;

    return qs->first_launch < qs->launches.len ? qs->launches.at[qs->first_launch] : UINT64_MAX;
}

static void start_launch(struct sim_machine *m, uint32_t id)
{
    uint64_t at_ps = m->now_ps + m->config.launch_latency * PS_PER_NS;

    queue_at(m, id)->stage = STAGE_LAUNCH;
    add_launch(m->queues, clock_cycle_at(&m->core, at_ps));
    machine_schedule(m, at_ps, UNIT_QUEUE + id, EV_LAUNCH, id, 0);
}

static enum progress step_kernel(struct sim_machine *m, uint32_t id)
{
    struct queue *q = queue_at(m, id);
    enum progress p = PROGRESS_DONE;

    if (q->stage == STAGE_TURN)
        return run_kernel(m, id);
    if (!m->config.um_page_faults) {
        if (q->stage == STAGE_NEW || q->stage == STAGE_ROOM)
            p = claim_arrays(m, id);
        if (p == PROGRESS_DONE)
            p = bring_pages(m, id, SIM_T_MIGRATE);
    }
    if (p != PROGRESS_DONE)
        return p;
    if (m->mode == SIM_VALUES)
        return run_kernel(m, id);
    start_launch(m, id);
    return PROGRESS_BUSY;
}

static enum progress (*const steps[])(struct sim_machine *m, uint32_t id) = {
    [SIM_KERNEL] = step_kernel, [SIM_PREFETCH] = step_prefetch, [SIM_COPY_H2D] = step_copy,
    [SIM_COPY_D2H] = step_copy, [SIM_WAIT] = step_wait,         [SIM_MARK] = step_mark,
};

/* Takes the commands of a queue as far as they go. True if its head wants to be looked at again. */
static bool go_on(struct sim_machine *m, uint32_t id)
{
    enum progress p = PROGRESS_DONE;

    while (queue_at(m, id)->head && p == PROGRESS_DONE) {
        p = steps[queue_at(m, id)->head->cmd.kind](m, id);
        if (p == PROGRESS_DONE)
            complete_head(m, id);
    }
    return p == PROGRESS_WAITS;
}

static void serve_waiting(struct sim_machine *m)
{
    struct queues *qs = m->queues;

    do {
        size_t kept = 0;

        qs->again = qs->room_taken = false;
        for (size_t i = 0; i < qs->waiting.len; i++) {
            uint32_t id = qs->waiting.at[i];

            if (go_on(m, id))
                qs->waiting.at[kept++] = id;
        }
        qs->waiting.len = kept;
    } while (qs->again && m->fault.status == HD_OK);
}

void queue_event(struct sim_machine *m, const struct event *e)
{
    uint64_t ticket;

    switch (e->kind) {
    case EV_QUEUE:
        m->queues->serve_due = false;
        serve_waiting(m);
        break;
    case EV_LAUNCH:
        queue_at(m, e->a)->stage = STAGE_TURN;
        m->queues->first_launch++;
        start_waiting(m, e->a);
        break;
    case EV_TICKET:
        ticket = um_host_fault_served(m, e->b);
        if (ticket)
            complete_ticket(m, ticket);
        break;
    }
}

/* ---- submission ------------------------------------------------------------------------ */

bool queues_idle(const struct queues *qs)
{
    return tickets_pending(&qs->tickets) == 0;
}

uint64_t queues_last_ticket(const struct queues *qs)
{
    return qs->tickets.last;
}

uint64_t queues_new_ticket(struct sim_machine *m)
{
    uint64_t ticket = tickets_issue(&m->queues->tickets);

    if (!ticket)
        machine_out_of_memory(m);
    return ticket;
}

bool sim_done(const struct sim_machine *m, uint64_t ticket)
{
    return tickets_done(&m->queues->tickets, ticket);
}

static void append(struct queue *q, struct command *c)
{
    if (q->head)
        q->tail->next = c;
    else
        q->head = c;
    q->tail = c;
}

/* The queue was empty: the command is started at once, in SIM_VALUES mode to its end. */
static void start(struct sim_machine *m, uint32_t queue)
{
    if (m->mode == SIM_TIMED)
        start_waiting(m, queue);
    else if (go_on(m, queue))
        machine_fail(m, HD_INTERNAL, "internal", NULL, NULL, "a command waits outside time");
}

static enum hd_status report_fault(const struct sim_machine *m, struct hd_error *err)
{
    if (m->fault.status && err)
        *err = m->fault;
    return m->fault.status;
}

enum hd_status sim_submit(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                          uint64_t *ticket, struct hd_error *err)
{
    struct command *c;
    enum hd_status status;

    if (m->fault.status)
        return report_fault(m, err);
    if (!open_queue(m, queue))
        return hd_error_set(err, HD_BAD_INPUT, "queue-unknown", NULL, NULL,
                            "queue %" PRIu32 " does not exist", queue);
    status = command_check(m, queue, cmd, err);
    if (status)
        return status;
    c = command_new(cmd);
    if (!c) {
        machine_out_of_memory(m);
        return report_fault(m, err);
    }
    c->ticket = *ticket = queues_new_ticket(m);
    c->queued_ps = m->now_ps;
    command_hold_arrays(m, c);
    append(queue_at(m, queue), c);
    if (queue_at(m, queue)->head == c)
        start(m, queue);
    return report_fault(m, err);
}

/* ---- messages -------------------------------------------------------------------------- */

static void describe_command(const struct command *c, uint32_t queue, struct text *out)
{
    text_add(out, "%s", command_names[c->cmd.kind]);
    if (c->cmd.kind == SIM_KERNEL)
        text_add(out, " %s", c->cmd.launch.kernel->name);
    text_add(out, " (ticket %" PRIu64 ") of queue %" PRIu32, c->ticket, queue);
}

static void describe_ticket(const struct queues *qs, uint64_t ticket, struct text *out)
{
    for (size_t i = 0; i < qs->list.len; i++)
        for (const struct command *c = qs->list.at[i].head; c; c = c->next)
            if (c->ticket == ticket) {
                describe_command(c, (uint32_t)i, out);
                return;
            }
    text_add(out, "ticket %" PRIu64, ticket);
}

void queue_describe_waits(const struct sim_machine *m, struct text *out)
{
    for (size_t i = 0; i < m->queues->list.len; i++) {
        const struct queue *q = &m->queues->list.at[i];

        if (!q->head)
            continue;
        text_add(out, "%s", out->len ? "\n" : "");
        describe_command(q->head, (uint32_t)i, out);
        if (q->head->cmd.kind == SIM_WAIT) {
            text_add(out, " waits for ");
            describe_ticket(m->queues, q->head->cmd.ticket, out);
        } else {
            text_add(out, " %s", stage_waits[q->stage]);
        }
    }
}
