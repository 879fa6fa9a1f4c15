/* A machine under test: configured key by key, fed with kernels in assembly text. Every helper fails the test on an error. */
#ifndef HD_TESTS_SIM_RIG_H
#define HD_TESTS_SIM_RIG_H

#include "isa/asm.h"
#include "sim/sim.h"

enum { RIG_PROGRAMS = 16, RIG_RECORDS = 256 };

struct rig {
    struct sim_config config;
    struct sim_machine *m;
    struct isa_program *programs[RIG_PROGRAMS];
    unsigned nprograms;
    struct sim_kernel_record kernels[RIG_RECORDS]; /* in order of completion */
    unsigned nkernels;
    struct sim_transfer_record transfers[RIG_RECORDS];
    unsigned ntransfers;
    char printed[4096];
    struct hd_error err; /* of the last rig_try_run */
};

/*
 * Settings are "key value" pairs ended by NULL, over those that tests find easy to count with: 1 compute unit, 1 SIMD unit, width 32,
 * clocks of 1 GHz (so a cycle is 1 ns).
 */
void rig_open(struct rig *r, ...) __attribute__((sentinel));
void rig_close(struct rig *r);

/* A managed array; its values are zero. */
uint32_t rig_array(struct rig *r, uint64_t bytes);
uint32_t rig_array_named(struct rig *r, const char *name, uint64_t bytes);

/* The first kernel of the text. */
const struct isa_kernel *rig_assemble(struct rig *r, const char *text, const struct isa_program **program);

struct rig_launch {
    const char *text;
    uint32_t groups, threads; /* 0 means 1 */
    uint32_t grid[3], block[3]; /* instead, if grid[0] is not 0 */
    uint32_t dynamic_lds;
    uint32_t queue;
    unsigned nargs;
    struct { bool is_array; uint64_t value; } args[8]; /* array: its id */
};

#define RIG_ARRAY(id) {true, (id)}
#define RIG_VALUE(v) {false, (v)}

/* Submits a launch; returns its ticket. */
uint64_t rig_submit(struct rig *r, const struct rig_launch *l);
/* Submits, runs to the end; the record of it. */
const struct sim_kernel_record *rig_run(struct rig *r, const struct rig_launch *l);
/* The same where a failure is expected: the status, with r->err. */
enum hd_status rig_try_run(struct rig *r, const struct rig_launch *l);

/* Core cycles from the first work-group to the end of a kernel, at the rig's 1 GHz. */
uint64_t rig_cycles(const struct sim_kernel_record *k);

#endif
