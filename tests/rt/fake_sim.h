/*
 * A machine for tests of the scheduler: queues, tickets and arrays as in sim/sim.h, and kernels that take as many
 * nanoseconds as their grid has work-groups in x, any number at once. Transfers share one link.
 * It keeps a log of all commands and of what the host waited for.
 */
#ifndef HD_TESTS_RT_FAKE_SIM_H
#define HD_TESTS_RT_FAKE_SIM_H

#include "host/rt/machine.h"

struct fake_cmd {
    enum sim_cmd_kind kind;
    uint32_t queue, array;         /* array: of transfers */
    uint64_t ticket, awaited, tag; /* awaited: SIM_WAIT */
    uint64_t bytes, duration_ps;
    uint64_t queued_ps, start_ps, end_ps;
    struct sim_launch launch;    /* lists are not kept, except: */
    uint32_t arrays[8], narrays; /* the first of a kernel */
    bool writes[8];
    uint64_t digest;             /* of what a kernel read as it started */
    size_t seen;                 /* of fake_seen(), when it was submitted */
    bool fresh;                  /* the first of its queue since that was made */
    bool of_host, started, done; /* of_host: a move for an access of the host */
};

extern const struct rt_machine_ops fake_machine;

struct sim_machine *fake_new(void);
/* Commands in order of submission; ticket t is number t - 1. */
size_t fake_count(const struct sim_machine *m);
const struct fake_cmd *fake_cmd(const struct sim_machine *m, size_t i);
/* Tickets that the host waited for, 0 for everything. */
size_t fake_waits(const struct sim_machine *m);
uint64_t fake_wait(const struct sim_machine *m, size_t i);
/*
 * What the host has learned to be done, in the order in which it did: by waiting and by asking. The last of the
 * commands that there were then, and the ticket, 0 for all of those.
 */
struct fake_sight {
    uint64_t ticket, last;
};
size_t fake_seen(const struct sim_machine *m);
struct fake_sight fake_sight(const struct sim_machine *m, size_t i);
int32_t fake_attached(const struct sim_machine *m, uint32_t array);
enum sim_advice fake_advice(const struct sim_machine *m, uint32_t array);
size_t fake_queues_in_use(const struct sim_machine *m);
/* Accesses of the host, and how many said that they were untimed. */
size_t fake_accesses(const struct sim_machine *m);
size_t fake_untimed(const struct sim_machine *m);
unsigned fake_cooled(const struct sim_machine *m);
enum sim_mode fake_mode(const struct sim_machine *m);

/* Time of the move of an array that a kernel has used, when the host accesses it; 0 at first. */
void fake_set_move(struct sim_machine *m, uint64_t ps);
/* Time of a byte on the link; 0 at first. */
void fake_set_link(struct sim_machine *m, uint64_t ps_per_byte);
/* The most queues that there may be; 0, as at first: any number. */
void fake_set_queues(struct sim_machine *m, size_t most);
/*
 * Kernels have values: the first 8 bytes of each array that one may write become a mixture of its tag and of the first
 * 8 bytes of all its arrays. It reads as it starts and writes as it ends.
 */
void fake_set_values(struct sim_machine *m);
uint64_t fake_mix(uint64_t digest, uint64_t with);
/* From now on waits of queues for tickets are dropped, as a broken scheduler would leave them out. */
void fake_drop_waits(struct sim_machine *m);
/* The next run fails as a simulated program does. */
void fake_fail(struct sim_machine *m);

#endif
