/*
 * One wavefront that runs a kernel under a divergence unit, without a machine: registers and control
 * flow alone, no memory. Every helper fails the test on an error.
 */
#ifndef HD_TESTS_CF_UNIT_RIG_H
#define HD_TESTS_CF_UNIT_RIG_H

#include "cf/cf.h"
#include "isa/wave.h"

enum { UNIT_RIG_TRACE = 4096, UNIT_RIG_VREGS = 16 };

struct unit_rig {
    const struct cf_unit_ops *unit;
    const struct isa_lanes *lanes;
    struct isa_program *program;
    const struct isa_kernel *kernel;
    struct cf_plan *plan;
    struct isa_wave w;
    _Alignas(32) uint32_t v[UNIT_RIG_VREGS * ISA_MAX_WIDTH];
    void *state;
    uint32_t pc;
    struct {
        uint32_t pc; /* from the kernel's first instruction on */
        uint64_t exec;
    } trace[UNIT_RIG_TRACE]; /* issued, with EXEC as it was before */
    unsigned issued, limit;  /* instructions; only the first UNIT_RIG_TRACE are kept */
    /* Runs tx.begin and tx.commit; it may change registers, state and pc, which is behind the instruction. */
    void (*border)(struct unit_rig *r, const struct isa_insn *in);
    /* Called before each instruction, if it is set. */
    void (*before)(struct unit_rig *r);
    void *user;
    struct cf_cost cost; /* of the last control instruction */
    unsigned hops, divergent, skipped;
    size_t most_used; /* bytes of state */
};

const struct cf_unit_ops *unit_find(const char *name);

/* A wavefront at the start of the text's first kernel. Registers are zero. */
void unit_rig_open(struct unit_rig *r, const char *unit, const char *text, unsigned width,
                   uint64_t live);
void unit_rig_close(struct unit_rig *r);
/* The word of a vector register. */
uint32_t *unit_rig_v(struct unit_rig *r, unsigned reg, unsigned lane);
/*
 * Runs until all lanes have ended, or parked, or wait for each other, or until the unit reports trouble (CF_GO, and
 * r->cost.trouble is set). Goes on after a release if called again.
 */
enum cf_next unit_rig_run(struct unit_rig *r);
/* Releases all lanes that wait at a barrier. */
void unit_rig_release(struct unit_rig *r);

#endif
