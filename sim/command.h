/* Commands as they stand in queues. */
#ifndef HD_SIM_COMMAND_H
#define HD_SIM_COMMAND_H

#include "sim/sim.h"

struct sim_machine;

struct command {
    struct command *next; /* in its queue */
    struct sim_cmd cmd;   /* the lists of a launch are in this block, too */
    uint64_t ticket, queued_ps;
};

extern const char *const command_names[];

/* HD_BAD_INPUT if the command cannot be run: what it names does not exist, or is too large. */
enum hd_status command_check(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                             struct hd_error *err);
/* A copy; NULL when memory is short. */
struct command *command_new(const struct sim_cmd *cmd);

/* From submission to completion: the arrays of the command may not be freed. */
void command_hold_arrays(struct sim_machine *m, const struct command *c);
void command_release_arrays(struct sim_machine *m, const struct command *c);

#endif
