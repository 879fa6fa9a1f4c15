#include "tests/bench/still_machine.h"

#include "sim/base/vec.h"

#include <stdlib.h>

struct sim_machine {
    VEC(uint32_t) free_queues;
    VEC(void *) data; /* of arrays, by id */
    uint64_t tickets; /* given out */
    uint64_t reached; /* up to this one all are done */
    uint64_t now_ps;
    uint32_t queues;
};

struct sim_machine *still_machine_new(void)
{
    struct sim_machine *m = calloc(1, sizeof *m);

    if (m)
        m->queues = 1;
    return m;
}

static void free_machine(struct sim_machine *m)
{
    for (size_t i = 0; i < m->data.len; i++)
        free(m->data.at[i]);
    vec_free(&m->data);
    vec_free(&m->free_queues);
    free(m);
}

static void set_limits(struct sim_machine *m, const struct sim_limits *limits)
{
    (void)m, (void)limits;
}

static void set_mode(struct sim_machine *m, enum sim_mode mode)
{
    (void)m, (void)mode;
}

static void set_sink(struct sim_machine *m, const struct sim_sink *sink)
{
    (void)m, (void)sink;
}

static void cool(struct sim_machine *m)
{
    (void)m;
}

/* ---- arrays ------------------------------------------------------------------------------------ */

static enum hd_status array_new(struct sim_machine *m, const struct sim_array_desc *desc,
                                uint32_t *id, struct hd_error *err)
{
    void *data = calloc(1, desc->bytes);

    if (!data || !vec_push(&m->data, data)) {
        free(data);
        return hd_no_memory(err, "an array");
    }
    *id = (uint32_t)m->data.len - 1;
    return HD_OK;
}

static enum hd_status array_free(struct sim_machine *m, uint32_t id, struct hd_error *err)
{
    (void)m, (void)id, (void)err;
    return HD_OK;
}

static void *array_data(struct sim_machine *m, uint32_t id)
{
    return m->data.at[id];
}

static uint64_t array_address(const struct sim_machine *m, uint32_t id)
{
    (void)m;
    return UINT64_C(0x10000) * (id + 1);
}

static void array_attach(struct sim_machine *m, uint32_t id, int32_t queue_or_attach)
{
    (void)m, (void)id, (void)queue_or_attach;
}

static uint64_t host_access(struct sim_machine *m, const struct sim_host_access *access)
{
    (void)m, (void)access;
    return 0;
}

/* ---- commands and time ------------------------------------------------------------------------- */

static enum hd_status queue_new(struct sim_machine *m, uint32_t *queue, struct hd_error *err)
{
    (void)err;
    *queue = m->free_queues.len ? m->free_queues.at[--m->free_queues.len] : m->queues++;
    return HD_OK;
}

static void queue_free(struct sim_machine *m, uint32_t queue)
{
    (void)vec_push(&m->free_queues, queue);
}

static enum hd_status submit(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                             uint64_t *ticket, struct hd_error *err)
{
    (void)queue, (void)cmd, (void)err;
    *ticket = ++m->tickets;
    return HD_OK;
}

static bool done(const struct sim_machine *m, uint64_t ticket)
{
    return ticket <= m->reached;
}

static uint64_t now(const struct sim_machine *m)
{
    return m->now_ps;
}

static enum hd_status run_until(struct sim_machine *m, uint64_t time_ps, struct hd_error *err)
{
    (void)err;
    m->now_ps = time_ps;
    return HD_OK;
}

static enum hd_status wait_for(struct sim_machine *m, uint64_t ticket, struct hd_error *err)
{
    (void)ticket, (void)err;
    m->reached = m->tickets;
    return HD_OK;
}

const struct rt_machine_ops still_machine = {
    .free = free_machine,
    .set_limits = set_limits,
    .set_mode = set_mode,
    .set_sink = set_sink,
    .cool = cool,
    .array_new = array_new,
    .array_free = array_free,
    .array_data = array_data,
    .array_address = array_address,
    .array_attach = array_attach,
    .host_access = host_access,
    .queue_new = queue_new,
    .queue_free = queue_free,
    .submit = submit,
    .done = done,
    .now = now,
    .run_until = run_until,
    .wait = wait_for,
};
