/* Registers that are read before any write. */
#ifndef HD_ISA_DATAFLOW_H
#define HD_ISA_DATAFLOW_H

#include "isa/isa.h"

/*
 * Calls found(user, pc, scoreboard name) for each vector or mask register of the kernel that is
 * read at a pc which no path from the start reaches with a write to it behind itself; the first
 * such pc of each register. False when memory is short.
 */
bool isa_find_unwritten(const struct isa_program *program, const struct isa_kernel *kernel,
                        void (*found)(void *user, uint32_t pc, unsigned name), void *user);

#endif
