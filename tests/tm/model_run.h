/*
 * Random transactional programs, and a run of one on two machines at once: the first call that they answer differently ends it. A
 * wavefront's registers are one accumulator a lane, which data-dependent addresses and stored values come from.
 */
#ifndef HD_TESTS_TM_MODEL_RUN_H
#define HD_TESTS_TM_MODEL_RUN_H

#include "sim/base/rng.h"
#include "tests/tm/model.h"

#include <stddef.h>

#define RUN_OPS 48

enum run_op_kind { RUN_BEGIN, RUN_COMMIT, RUN_LOAD, RUN_STORE, RUN_ADD, RUN_BARRIER, RUN_END };

struct run_op {
    enum run_op_kind kind;
    bool dependent;     /* the accumulator moves the address */
    bool inner;         /* a commit of a nested transaction */
    bool late;          /* a commit that is under way when the wavefront is told to stop */
    uint8_t bytes;      /* 1, 2, 4 or 8 */
    uint64_t lanes;     /* that take part, of those awake */
    uint16_t where[64]; /* in units of bytes */
    uint8_t add;        /* to the accumulator, for the value that is stored */
};

struct run_program {
    struct model_options o;
    struct run_op op[MODEL_WAVES][RUN_OPS]; /* the last is RUN_END */
    uint64_t exec[MODEL_WAVES];
};

/* Calls of a machine, with the meaning that model.h gives them. */
struct run_machine {
    void *state;        /* a flat block of size bytes */
    size_t size, named; /* the first `named` of them tell states apart */
    void (*begin)(void *state, unsigned wave, uint64_t exec, struct model_out *out);
    void (*access)(void *state, unsigned wave, uint64_t lanes, struct model_ref *ref,
                   struct model_out *out);
    void (*plain)(void *state, unsigned wave, uint64_t lanes, struct model_ref *ref,
                  struct model_out *out);
    /* After a plain access was performed in memory; may be NULL. */
    void (*performed)(void *state, unsigned wave, uint64_t lanes, struct model_ref *ref);
    void (*commit)(void *state, unsigned wave, struct model_out *out);
    void (*stopped)(void *state, unsigned wave, struct model_out *out);
    void (*ended)(void *state, unsigned wave, struct model_out *out);
    uint8_t *(*memory)(void *state);
};

struct run_counts {
    uint64_t programs, calls;
    uint64_t entries, wavefront_entries, workgroup_entries; /* of transactions by wavefronts */
    uint64_t attempts, aborted, commits;                    /* of transactions by work-items */
    uint64_t self_aborts, waits, plain_waits;
};

/* As run_generate makes them: the larger, the more words and instructions. */
enum run_size { RUN_TINY, RUN_SMALL, RUN_FULL };

void run_generate(struct run_program *p, struct rng *r, const struct model_options *o,
                  enum run_size size);

/* Random options for a size, with the detector, the serialisation and who keeps the token as given. */
void run_options(struct model_options *o, struct rng *r, enum run_size size, unsigned detector,
                 unsigned serialise, bool hold_wave);

enum { RUN_READY, RUN_BLOCKED, RUN_AT_BARRIER, RUN_ENDED };

/* A wavefront between two calls. The last three tell only how it came here. */
struct run_wave {
    uint64_t acc[64], saved[64]; /* now, and at the start of the attempt */
    uint64_t exec, att, tcm, sel;
    uint32_t pc, begin, state;
    uint8_t live, stop, inside, unused;
    uint32_t reached, aborts, modes; /* aborts of its work-items; bits of 1 << enum model_mode */
};

/* A run between two calls; flat, so that a copy is a snapshot. */
struct run {
    const struct run_program *program;
    struct run_wave wave[MODEL_WAVES];
};

/* Whether a step of the wavefront is possible. */
bool run_can_step(const struct run *r, unsigned wave);

/* One instruction of one lane as if nobody else was there. */
void run_alone(const struct run_program *p, const struct run_op *op, unsigned lane, uint8_t *memory,
               uint64_t *acc);

void run_start(struct run *r, const struct run_program *p);

/*
 * Takes one step of a wavefront that is RUN_READY on machine a and, if b is not NULL, on b, and compares what they answer.
 * Returns false and says why if they differ.
 */
bool run_step(struct run *r, unsigned wave, const struct run_machine *a,
              const struct run_machine *b, struct run_counts *counts, char why[256]);

/* Runs to the end under a random schedule; false: they differ, or nobody can go on. */
bool run_all(const struct run_program *p, struct rng *random, const struct run_machine *a,
             const struct run_machine *b, struct run_counts *counts, char why[256]);

/* The model as a machine. */
struct run_machine run_model(struct model *m);

#endif
