/* A machine under test: configured key by key, fed with kernels in assembly text. Every helper
 * fails the test on an error. */
#ifndef HD_TESTS_SIM_KRIG_H
#define HD_TESTS_SIM_KRIG_H

#include "isa/asm.h"
#include "sim/sim.h"

enum { KRIG_PROGRAMS = 16, KRIG_RECORDS = 256 };

struct krig {
    struct sim_config config;
    struct sim_machine *m;
    struct isa_program *programs[KRIG_PROGRAMS];
    unsigned nprograms;
    struct sim_kernel_record kernels[KRIG_RECORDS]; /* in order of completion */
    unsigned nkernels;
    struct sim_transfer_record transfers[KRIG_RECORDS];
    unsigned ntransfers;
    char printed[4096];
    struct hd_error err; /* of the last krig_try_run */
};

/*
 * Settings are "key value" pairs ended by NULL, over those that tests find easy to count with: 1
 * compute unit, 1 SIMD unit, width 32, clocks of 1 GHz (so a cycle is 1 ns).
 */
void krig_open(struct krig *r, ...) __attribute__((sentinel));
/* The same on a whole configuration. */
void krig_open_config(struct krig *r, const struct sim_config *c);
void krig_close(struct krig *r);

/* A managed array; its values are zero. */
uint32_t krig_array(struct krig *r, uint64_t bytes);
uint32_t krig_array_named(struct krig *r, const char *name, uint64_t bytes);

/* The first kernel of the text. */
const struct isa_kernel *krig_assemble(struct krig *r, const char *text,
                                       const struct isa_program **program);

struct krig_launch {
    const char *text;
    uint32_t groups, threads;   /* 0 means 1 */
    uint32_t grid[3], block[3]; /* instead, if grid[0] is not 0 */
    uint32_t dynamic_lds;
    uint32_t queue;
    unsigned nargs;
    struct {
        bool is_array;
        uint64_t value;
        bool read_only;
    } args[8]; /* array: its id */
};

#define KRIG_ARRAY(id)                                                                             \
    {                                                                                              \
        true, (id), false                                                                          \
    }
#define KRIG_CONST(id)                                                                             \
    {                                                                                              \
        true, (id), true                                                                           \
    }
#define KRIG_VALUE(v)                                                                              \
    {                                                                                              \
        false, (v), false                                                                          \
    }

/* Submits a launch; returns its ticket. */
uint64_t krig_submit(struct krig *r, const struct krig_launch *l);
/* Submits, runs to the end; the record of it. */
const struct sim_kernel_record *krig_run(struct krig *r, const struct krig_launch *l);
/* The same where a failure is expected: the status, with r->err. */
enum hd_status krig_try_run(struct krig *r, const struct krig_launch *l);

/* Core cycles from the first work-group to the end of a kernel, at the rig's 1 GHz. */
uint64_t krig_cycles(const struct sim_kernel_record *k);

#endif
