/* Steps of isa_load that fill the derived fields of decoded instructions. */
#ifndef HD_ISA_LOAD_H
#define HD_ISA_LOAD_H

#include "isa/isa.h"

/*
 * Fills wait[] and set[]. with_exec: masked instructions wait for EXEC, which a kernel
 * needs only if its code writes EXEC.
 */
void isa_fill_scoreboard(struct isa_insn *in, bool with_exec);

/* The scoreboard names that the instruction reads: sources, address, predicate; returns how many. */
unsigned isa_sources(const struct isa_insn *in, uint16_t out[ISA_SB_MAX_WAIT]);

/* True if the instruction may be computed ahead with its neighbours. */
bool isa_in_run(const struct isa_insn *in);

/* Fills run of the instructions [first, end). starts[pc] is true where a branch leads. */
void isa_fill_runs(struct isa_insn *insns, uint32_t first, uint32_t end, const bool *starts);

#endif
