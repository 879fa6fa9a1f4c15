#include "sim/command.h"

#include "cf/cf.h"
#include "sim/machine.h"
#include "sim/um.h"

#include <inttypes.h>

const char *const command_names[] = {
    [SIM_KERNEL] = "kernel",
    [SIM_PREFETCH] = "prefetch",
    [SIM_COPY_H2D] = "copy to the device",
    [SIM_COPY_D2H] = "copy to the host",
    [SIM_WAIT] = "wait",
    [SIM_MARK] = "mark",
};

/* ---- checks ---------------------------------------------------------------------------- */

static enum hd_status check_array(struct sim_machine *m, uint32_t id, struct hd_error *err)
{
    if (memory_array(&m->memory, id))
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "array-unknown", NULL, NULL,
                        "array %" PRIu32 " does not exist, or was freed", id);
}

/* What the divergence unit refuses. */
static enum hd_status check_control_flow(const struct sim_machine *m, const struct sim_launch *l,
                                         struct hd_error *err)
{
    struct cf_plan *plan;
    enum hd_status status =
        cf_prepare(cf_units[m->config.divergence_unit], l->program, l->kernel, &plan, err);

    free(plan);
    return status;
}

static enum hd_status check_launch(struct sim_machine *m, uint32_t queue,
                                   const struct sim_launch *l, struct hd_error *err)
{
    struct occupancy occupancy;
    enum hd_status status = occupancy_check(&m->config, l, &occupancy, err);

    if (!status)
        status = check_control_flow(m, l, err);
    for (uint32_t i = 0; !status && i < l->narrays; i++)
        status = check_array(m, l->arrays[i], err);
    return status ? status : um_check_launch(m, queue, l, err);
}

static enum hd_status check_range(struct sim_machine *m, const struct sim_copy *c,
                                  enum sim_array_kind kind, struct hd_error *err)
{
    const struct sim_array *a;
    enum hd_status status = check_array(m, c->array, err);

    if (status)
        return status;
    a = memory_array(&m->memory, c->array);
    if (a->kind != kind)
        return hd_error_set(err, HD_BAD_INPUT, "array-kind", NULL,
                            "copies are for device arrays, prefetches for managed ones",
                            "array %s is %s", a->name,
                            a->kind == SIM_MANAGED ? "managed" : "a device array");
    if (c->offset > a->bytes || c->bytes > a->bytes - c->offset)
        return hd_error_set(err, HD_BAD_INPUT, "array-range", NULL, NULL,
                            "bytes %" PRIu64 " to %" PRIu64
                            " are not in array %s, which has %" PRIu64 " bytes",
                            c->offset, c->offset + c->bytes, a->name, a->bytes);
    return HD_OK;
}

enum hd_status command_check(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                             struct hd_error *err)
{
    switch (cmd->kind) {
    case SIM_KERNEL:
        return check_launch(m, queue, &cmd->launch, err);
    case SIM_PREFETCH:
        return check_range(m, &cmd->copy, SIM_MANAGED, err);
    case SIM_COPY_H2D:
    case SIM_COPY_D2H:
        return check_range(m, &cmd->copy, SIM_DEVICE, err);
    case SIM_WAIT:
        if (cmd->ticket > queues_last_ticket(m->queues))
            return hd_error_set(err, HD_BAD_INPUT, "ticket-unknown", NULL, NULL,
                                "ticket %" PRIu64 " was never given out", cmd->ticket);
        return HD_OK;
    case SIM_MARK:
        return HD_OK;
    }
    return HD_BROKEN(err, "command of kind %d", (int)cmd->kind);
}

/* ---- copies and holds ------------------------------------------------------------------ */

struct command *command_new(const struct sim_cmd *cmd)
{
    bool kernel = cmd->kind == SIM_KERNEL;
    size_t nargs = kernel ? cmd->launch.kernel->nparams : 0,
           narrays = kernel ? cmd->launch.narrays : 0;
    size_t args = nargs * sizeof *cmd->launch.args, arrays = narrays * sizeof *cmd->launch.arrays;
    struct command *c = malloc(sizeof *c + args + arrays + narrays * sizeof *cmd->launch.writes);
    char *lists = (char *)(c + 1);

    if (!c)
        return NULL;
    *c = (struct command){.cmd = *cmd};
    if (!kernel)
        return c;
    c->cmd.launch.args = nargs ? memcpy(lists, cmd->launch.args, args) : NULL;
    c->cmd.launch.arrays = narrays ? memcpy(lists + args, cmd->launch.arrays, arrays) : NULL;
    c->cmd.launch.writes = narrays ? memcpy(lists + args + arrays, cmd->launch.writes,
                                            narrays * sizeof *cmd->launch.writes)
                                   : NULL;
    return c;
}

/* The arrays that a command names. */
static const uint32_t *arrays_of(const struct command *c, uint32_t *count)
{
    bool copies = c->cmd.kind != SIM_WAIT && c->cmd.kind != SIM_MARK;

    *count = c->cmd.kind == SIM_KERNEL ? c->cmd.launch.narrays : copies;
    return c->cmd.kind == SIM_KERNEL ? c->cmd.launch.arrays : &c->cmd.copy.array;
}

void command_hold_arrays(struct sim_machine *m, const struct command *c)
{
    uint32_t count;
    const uint32_t *ids = arrays_of(c, &count);

    for (uint32_t i = 0; i < count; i++)
        m->memory.arrays.at[ids[i]].in_flight++;
    if (c->cmd.kind == SIM_COPY_H2D)
        m->memory.arrays.at[ids[0]].in_step++;
}

void command_release_arrays(struct sim_machine *m, const struct command *c)
{
    uint32_t count;
    const uint32_t *ids = arrays_of(c, &count);

    for (uint32_t i = 0; i < count; i++)
        m->memory.arrays.at[ids[i]].in_flight--;
    if (c->cmd.kind == SIM_COPY_H2D)
        m->memory.arrays.at[ids[0]].in_step--;
}
