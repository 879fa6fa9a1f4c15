/* State and steps of the units that keep a wavefront together: one pc for all lanes. For the files of cf/ only. */
#ifndef HD_CF_ONE_PC_H
#define HD_CF_ONE_PC_H

#include "cf/cf.h"

struct one_pc {
    uint64_t live;
    uint64_t exec;
    uint32_t pc;
    uint32_t parked;     /* at the barrier at pc */
    uint64_t at_barrier; /* lanes that were active there */
};

size_t one_pc_size(const struct isa_program *program, unsigned width);
size_t one_pc_used(const void *state);
/* Starts with EXEC all ones. */
void one_pc_start(void *state, uint32_t pc, uint64_t live);
enum cf_next one_pc_pick(void *state, uint32_t *pc, uint64_t *lanes);
/* The branch is taken by all lanes, or by none. */
void one_pc_branch(struct one_pc *s, const struct isa_insn *insn, bool taken, struct cf_cost *cost);
/* A unit's step in which every branch that is taken jumps. */
void one_pc_step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost);
uint64_t one_pc_exec(const void *state);
/* For forms that do not write EXEC. */
bool one_pc_keep_exec(void *state, uint64_t value);
void one_pc_lanes(void *state, uint32_t pc, uint64_t lanes, enum cf_why why);
unsigned one_pc_waits(const void *state, struct cf_wait out[CF_MAX_WAITS]);

/* Instructions between one and the place that it jumps to forwards. */
static inline uint32_t cf_skipped(const struct isa_insn *insn, uint32_t to)
{
    return to > insn->pc + 1 ? to - (insn->pc + 1) : 0;
}

#endif
