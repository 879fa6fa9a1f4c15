/*
 * Divergence units: how a wavefront runs divergent control flow. A unit is a state machine with no
 * notion of time; it is the only home of EXEC and of the pc after a control instruction.
 */
#ifndef HD_CF_CF_H
#define HD_CF_CF_H

#include "isa/isa.h"
#include "sim/base/param.h"

/* What a control instruction did, for counters; costs beyond the instruction itself are in cycles. */
struct cf_cost {
    bool divergent;   /* lanes went different ways */
    uint32_t skipped; /* instructions jumped over forwards */
    uint32_t cycles;
};

enum cf_why { CF_ENDED, CF_AT_BARRIER, CF_RELEASED };

/*
 * One unit. State is a flat block of size() bytes, 8-byte aligned: a copy is a snapshot. The caller
 * keeps the pc between control instructions; step() is told by insn->pc where it stands.
 */
struct cf_unit_ops {
    const char *name, *doc;
    unsigned forms; /* enum isa_form that it runs */
    size_t (*size)(const struct isa_program *program, unsigned width);
    /* A wavefront starts at pc with these lanes alive. */
    void (*start)(void *state, uint32_t pc, uint64_t live);
    /* Where to go on, with which lanes. False: all have ended, or all are parked. */
    bool (*pick)(void *state, uint32_t *pc, uint64_t *lanes);
    /*
     * A control instruction (ISA_JUMP, ISA_BRANCH_*) with its active lanes, and those that take it:
     * one decision for the wavefront is all lanes or none. A jump is taken even where no lane is
     * active: pass all ones.
     */
    void (*step)(void *state, const struct isa_insn *insn, uint64_t active, uint64_t taken,
                 struct cf_cost *cost);
    uint64_t (*exec)(const void *state);
    /* Code writes EXEC; false: not in this form. */
    bool (*set_exec)(void *state, uint64_t exec);
    /* Lanes ended at a pc, wait at a barrier (pc is the barrier's), or are released from it. */
    void (*lanes)(void *state, uint32_t pc, uint64_t lanes, enum cf_why why);
};

/* In the order of `heddle list`; the value of divergence.unit is the index. Ends with NULL. */
extern const struct cf_unit_ops *const cf_units[];
/* The same list as names, for the parameter table. */
extern const struct param_choice cf_unit_choices[];

#endif
