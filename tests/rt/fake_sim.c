#include "tests/rt/fake_sim.h"

#include "sim/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct fake_queue {
    VEC(size_t) cmds;
    size_t head;
    bool live, fresh;
};

struct fake_array {
    void *data;
    uint64_t bytes;
    int32_t attached;
    enum sim_advice advice;
    uint32_t in_flight;
    bool live, on_device;
};

struct fake_sights {
    VEC(struct fake_sight) list;
};

struct sim_machine {
    VEC(struct fake_cmd) log;
    VEC(struct fake_queue) queues;
    VEC(struct fake_array) arrays;
    VEC(uint64_t) waits;
    struct fake_sights *sights; /* apart, since asking does not change the machine */
    struct sim_sink sink;
    enum sim_mode mode;
    uint64_t now, link_free, link_rate, move_ps;
    size_t accesses, untimed, most_queues;
    unsigned cooled;
    bool fail, values, drops_waits;
};

/* ---- looking in ---------------------------------------------------------------------------------- */

size_t fake_count(const struct sim_machine *m)
{
    return m->log.len;
}

const struct fake_cmd *fake_cmd(const struct sim_machine *m, size_t i)
{
    return &m->log.at[i];
}

size_t fake_waits(const struct sim_machine *m)
{
    return m->waits.len;
}

uint64_t fake_wait(const struct sim_machine *m, size_t i)
{
    return m->waits.at[i];
}

size_t fake_seen(const struct sim_machine *m)
{
    return m->sights->list.len;
}

struct fake_sight fake_sight(const struct sim_machine *m, size_t i)
{
    return m->sights->list.at[i];
}

static void see(const struct sim_machine *m, uint64_t ticket)
{
    struct fake_sight s = {ticket, m->log.len};

    (void)vec_push(&m->sights->list, s);
}

int32_t fake_attached(const struct sim_machine *m, uint32_t array)
{
    return m->arrays.at[array].attached;
}

enum sim_advice fake_advice(const struct sim_machine *m, uint32_t array)
{
    return m->arrays.at[array].advice;
}

size_t fake_queues_in_use(const struct sim_machine *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->queues.len; i++)
        n += m->queues.at[i].live;
    return n;
}

size_t fake_accesses(const struct sim_machine *m)
{
    return m->accesses;
}

size_t fake_untimed(const struct sim_machine *m)
{
    return m->untimed;
}

unsigned fake_cooled(const struct sim_machine *m)
{
    return m->cooled;
}

enum sim_mode fake_mode(const struct sim_machine *m)
{
    return m->mode;
}

void fake_set_move(struct sim_machine *m, uint64_t ps)
{
    m->move_ps = ps;
}

void fake_set_link(struct sim_machine *m, uint64_t ps_per_byte)
{
    m->link_rate = ps_per_byte;
}

void fake_set_queues(struct sim_machine *m, size_t most)
{
    m->most_queues = most;
}

void fake_set_values(struct sim_machine *m)
{
    m->values = true;
}

void fake_drop_waits(struct sim_machine *m)
{
    m->drops_waits = true;
}

void fake_fail(struct sim_machine *m)
{
    m->fail = true;
}

/* ---- values -------------------------------------------------------------------------------------- */

uint64_t fake_mix(uint64_t digest, uint64_t with)
{
    digest = (digest ^ with) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

static void read_values(const struct sim_machine *m, struct fake_cmd *c)
{
    c->digest = fake_mix(0, c->tag);
    for (uint32_t i = 0; i < c->narrays; i++)
        c->digest = fake_mix(c->digest, *(uint64_t *)m->arrays.at[c->arrays[i]].data);
}

static void write_values(const struct sim_machine *m, const struct fake_cmd *c)
{
    for (uint32_t i = 0; i < c->narrays; i++) {
        if (c->writes[i])
            *(uint64_t *)m->arrays.at[c->arrays[i]].data = fake_mix(c->digest, i);
    }
}

/* ---- time ---------------------------------------------------------------------------------------- */

static bool moves_data(enum sim_cmd_kind kind)
{
    return kind == SIM_PREFETCH || kind == SIM_COPY_H2D || kind == SIM_COPY_D2H;
}

static bool is_done(const struct sim_machine *m, uint64_t ticket)
{
    return m->log.at[ticket - 1].done;
}

static void record(struct sim_machine *m, const struct fake_cmd *c)
{
    struct sim_kernel_record k = {.ticket = c->ticket,
                                  .tag = c->tag,
                                  .queue = c->queue,
                                  .program = c->launch.program,
                                  .kernel = c->launch.kernel,
                                  .queued_ps = c->queued_ps,
                                  .start_ps = c->start_ps,
                                  .end_ps = c->end_ps,
                                  .limit = "none"};
    struct sim_transfer_record t = {.ticket = c->ticket,
                                    .tag = c->tag,
                                    .queue = c->of_host ? 0 : c->queue,
                                    .array = c->array,
                                    .kind = c->of_host                ? SIM_T_FAULT
                                            : c->kind == SIM_PREFETCH ? SIM_T_PREFETCH
                                                                      : SIM_T_COPY,
                                    .to_device = c->kind != SIM_COPY_D2H,
                                    .bytes = c->bytes,
                                    .queued_ps = c->queued_ps,
                                    .start_ps = c->start_ps,
                                    .end_ps = c->end_ps};

    if (c->kind == SIM_KERNEL && m->sink.kernel)
        m->sink.kernel(m->sink.user, &k);
    if (moves_data(c->kind) && m->sink.transfer)
        m->sink.transfer(m->sink.user, &t);
}

static void start(struct sim_machine *m, struct fake_cmd *c)
{
    bool moves = moves_data(c->kind);

    c->started = true;
    if (m->values && c->kind == SIM_KERNEL)
        read_values(m, c);
    c->start_ps = m->now;
    if (moves && m->link_free > m->now)
        c->start_ps = m->link_free;
    c->end_ps = c->start_ps + (m->mode == SIM_VALUES ? 0 : c->duration_ps);
    if (moves)
        m->link_free = c->end_ps;
}

static void finish(struct sim_machine *m, struct fake_cmd *c)
{
    c->done = true;
    if (m->values && c->kind == SIM_KERNEL)
        write_values(m, c);
    for (uint32_t i = 0; i < c->narrays; i++) {
        m->arrays.at[c->arrays[i]].in_flight--;
        m->arrays.at[c->arrays[i]].on_device = !c->of_host;
    }
    record(m, c);
}

/* Starts what can start and ends what ends now; true if anything changed. */
static bool step_queue(struct sim_machine *m, struct fake_queue *q)
{
    bool changed = false;

    while (q->head < q->cmds.len) {
        struct fake_cmd *c = &m->log.at[q->cmds.at[q->head]];

        if (!c->started) {
            if (c->kind == SIM_WAIT && !is_done(m, c->awaited))
                return changed;
            start(m, c);
            changed = true;
        }
        if (c->end_ps > m->now)
            return changed;
        finish(m, c);
        q->head++;
        changed = true;
    }
    return changed;
}

static void settle(struct sim_machine *m)
{
    bool changed;

    do {
        changed = false;
        for (size_t i = 0; i < m->queues.len; i++)
            changed |= step_queue(m, &m->queues.at[i]);
    } while (changed);
}

static uint64_t next_end(const struct sim_machine *m)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < m->queues.len; i++) {
        const struct fake_queue *q = &m->queues.at[i];
        const struct fake_cmd *c = q->head < q->cmds.len ? &m->log.at[q->cmds.at[q->head]] : NULL;

        if (c && c->started && c->end_ps < next)
            next = c->end_ps;
    }
    return next;
}

static enum hd_status failure(struct sim_machine *m, struct hd_error *err)
{
    return m->fail ? hd_error_set(err, HD_SIM_FAILED, "fake", NULL, NULL, "the program failed")
                   : HD_OK;
}

static uint64_t fake_now(const struct sim_machine *m)
{
    return m->now;
}

static enum hd_status fake_run_until(struct sim_machine *m, uint64_t time_ps, struct hd_error *err)
{
    settle(m);
    for (uint64_t next = next_end(m); next <= time_ps; next = next_end(m)) {
        m->now = next;
        settle(m);
    }
    if (m->now < time_ps)
        m->now = time_ps;
    return failure(m, err);
}

static bool all_done(const struct sim_machine *m)
{
    for (size_t i = 0; i < m->queues.len; i++) {
        if (m->queues.at[i].head < m->queues.at[i].cmds.len)
            return false;
    }
    return true;
}

static enum hd_status fake_wait_for(struct sim_machine *m, uint64_t ticket, struct hd_error *err)
{
    (void)vec_push(&m->waits, ticket);
    see(m, ticket);
    settle(m);
    while (ticket ? !is_done(m, ticket) : !all_done(m)) {
        uint64_t next = next_end(m);

        if (next == UINT64_MAX)
            return hd_error_set(err, HD_SIM_FAILED, "deadlock", NULL, NULL, "nothing can run");
        m->now = next;
        settle(m);
    }
    return failure(m, err);
}

/* ---- commands ------------------------------------------------------------------------------------ */

static enum hd_status fake_queue_new(struct sim_machine *m, uint32_t *queue, struct hd_error *err)
{
    struct fake_queue fresh = {.live = true, .fresh = true};

    for (size_t i = 0; i < m->queues.len; i++) {
        struct fake_queue *q = &m->queues.at[i];

        if (!q->live && q->head == q->cmds.len) {
            q->live = q->fresh = true;
            *queue = (uint32_t)i;
            return HD_OK;
        }
    }
    if (m->most_queues && m->queues.len >= m->most_queues)
        return hd_error_set(err, HD_BAD_INPUT, "queues-many", NULL, NULL, "no queue is left");
    *queue = (uint32_t)m->queues.len;
    return vec_push(&m->queues, fresh) ? HD_OK : HD_BROKEN(err, "no memory");
}

static void fake_queue_free(struct sim_machine *m, uint32_t queue)
{
    m->queues.at[queue].live = false;
}

static void fill_kernel(struct sim_machine *m, struct fake_cmd *c, const struct sim_launch *l)
{
    c->launch = *l;
    c->duration_ps = (uint64_t)l->grid[0] * 1000;
    for (uint32_t i = 0; i < l->narrays && i < 8; i++) {
        c->writes[c->narrays] = l->writes[i];
        c->arrays[c->narrays++] = l->arrays[i];
        m->arrays.at[l->arrays[i]].in_flight++;
    }
}

static void fill_transfer(struct sim_machine *m, struct fake_cmd *c, uint32_t array, uint64_t bytes,
                          uint64_t duration_ps)
{
    c->array = c->arrays[c->narrays++] = array;
    c->bytes = bytes;
    c->duration_ps = duration_ps;
    m->arrays.at[array].in_flight++;
}

/* The command starts when the machine settles. 0 when memory is short. */
static uint64_t put(struct sim_machine *m, struct fake_cmd *c)
{
    c->ticket = m->log.len + 1;
    c->queued_ps = m->now;
    c->seen = m->sights->list.len;
    c->fresh = m->queues.at[c->queue].fresh;
    m->queues.at[c->queue].fresh = false;
    if (!vec_push(&m->log, *c) || !vec_push(&m->queues.at[c->queue].cmds, m->log.len - 1))
        return 0;
    return c->ticket;
}

static enum hd_status fake_submit(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                                  uint64_t *ticket, struct hd_error *err)
{
    struct fake_cmd c = {.kind = cmd->kind, .queue = queue, .tag = cmd->tag, .awaited = cmd->ticket};

    if (m->drops_waits && cmd->kind == SIM_WAIT)
        c.kind = SIM_MARK;
    if (cmd->kind == SIM_KERNEL && cmd->launch.block[0] > 1024)
        return hd_error_set(err, HD_BAD_INPUT, "launch-shape", NULL, NULL, "block of %u",
                            cmd->launch.block[0]);
    if (cmd->kind == SIM_KERNEL)
        fill_kernel(m, &c, &cmd->launch);
    else if (moves_data(cmd->kind))
        fill_transfer(m, &c, cmd->copy.array, cmd->copy.bytes, cmd->copy.bytes * m->link_rate);
    *ticket = put(m, &c);
    if (*ticket == 0)
        return HD_BROKEN(err, "no memory");
    settle(m);
    return HD_OK;
}

/* ---- arrays -------------------------------------------------------------------------------------- */

static enum hd_status fake_array_new(struct sim_machine *m, const struct sim_array_desc *desc,
                                     uint32_t *id, struct hd_error *err)
{
    struct fake_array a = {.bytes = desc->bytes, .attached = SIM_ATTACH_HOST, .live = true};
    size_t i = 0;

    a.data = calloc(1, desc->bytes);
    if (!a.data)
        return hd_error_set(err, HD_BAD_INPUT, "array-too-large", NULL, NULL, "no memory");
    while (i < m->arrays.len && m->arrays.at[i].live)
        i++;
    if (i == m->arrays.len && !vec_push(&m->arrays, a))
        return HD_BROKEN(err, "no memory");
    m->arrays.at[i] = a;
    *id = (uint32_t)i;
    return HD_OK;
}

static enum hd_status fake_array_free(struct sim_machine *m, uint32_t id, struct hd_error *err)
{
    if (m->arrays.at[id].in_flight)
        return hd_error_set(err, HD_BAD_INPUT, "array-in-flight", NULL, NULL, "array %u", id);
    free(m->arrays.at[id].data);
    m->arrays.at[id].data = NULL;
    m->arrays.at[id].live = false;
    return HD_OK;
}

static void *fake_array_data(struct sim_machine *m, uint32_t id)
{
    return m->arrays.at[id].data;
}

static uint64_t fake_array_address(const struct sim_machine *m, uint32_t id)
{
    (void)m;
    return UINT64_C(0x10000) * (id + 1);
}

static void fake_array_attach(struct sim_machine *m, uint32_t id, int32_t to)
{
    m->arrays.at[id].attached = to;
}

static void fake_array_advise(struct sim_machine *m, uint32_t id, enum sim_advice advice)
{
    m->arrays.at[id].advice = advice;
}

/* The move is a command of its own on a queue that nothing else uses. */
static uint64_t fake_host_access(struct sim_machine *m, const struct sim_host_access *access)
{
    struct fake_array *a = &m->arrays.at[access->array];
    struct fake_cmd c = {.kind = SIM_COPY_D2H, .of_host = true};
    bool moves = a->on_device && !access->untimed && m->move_ps > 0;

    m->accesses++;
    m->untimed += access->untimed;
    a->on_device = false;
    if (!moves || fake_queue_new(m, &c.queue, NULL) != HD_OK)
        return 0;
    fake_queue_free(m, c.queue);
    fill_transfer(m, &c, access->array, access->bytes, m->move_ps);
    return put(m, &c);
}

/* ---- life ---------------------------------------------------------------------------------------- */

static void fake_set_limits(struct sim_machine *m, const struct sim_limits *limits)
{
    (void)m, (void)limits;
}

static void fake_set_mode(struct sim_machine *m, enum sim_mode mode)
{
    m->mode = mode;
}

static void fake_set_sink(struct sim_machine *m, const struct sim_sink *sink)
{
    m->sink = *sink;
}

static void fake_um_totals(const struct sim_machine *m, struct sim_um_totals *out)
{
    (void)m;
    *out = (struct sim_um_totals){0};
}

static void fake_cool(struct sim_machine *m)
{
    m->cooled++;
}

static bool fake_done(const struct sim_machine *m, uint64_t ticket)
{
    if (!is_done(m, ticket))
        return false;
    see(m, ticket);
    return true;
}

struct sim_machine *fake_new(void)
{
    struct sim_machine *m = calloc(1, sizeof *m);
    uint32_t first;

    if (m)
        m->sights = calloc(1, sizeof *m->sights);
    if (m && (!m->sights || fake_queue_new(m, &first, NULL) != HD_OK)) {
        free(m->sights);
        free(m);
        return NULL;
    }
    return m;
}

static void fake_free(struct sim_machine *m)
{
    for (size_t i = 0; i < m->queues.len; i++)
        vec_free(&m->queues.at[i].cmds);
    for (size_t i = 0; i < m->arrays.len; i++)
        free(m->arrays.at[i].data);
    vec_free(&m->queues);
    vec_free(&m->arrays);
    vec_free(&m->log);
    vec_free(&m->waits);
    vec_free(&m->sights->list);
    free(m->sights);
    free(m);
}

const struct rt_machine_ops fake_machine = {
    .free = fake_free,
    .set_limits = fake_set_limits,
    .set_mode = fake_set_mode,
    .set_sink = fake_set_sink,
    .cool = fake_cool,
    .um_totals = fake_um_totals,
    .array_new = fake_array_new,
    .array_free = fake_array_free,
    .array_data = fake_array_data,
    .array_address = fake_array_address,
    .array_attach = fake_array_attach,
    .array_advise = fake_array_advise,
    .host_access = fake_host_access,
    .queue_new = fake_queue_new,
    .queue_free = fake_queue_free,
    .submit = fake_submit,
    .done = fake_done,
    .now = fake_now,
    .run_until = fake_run_until,
    .wait = fake_wait_for,
};
