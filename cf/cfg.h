/* The control-flow graph of a kernel: its blocks, and where lanes that part must meet. For the files of cf/. */
#ifndef HD_CF_CFG_H
#define HD_CF_CFG_H

#include "isa/flow.h"

#define CFG_NONE UINT32_MAX /* no way from there leads to the end */

struct cfg {
    struct isa_flow flow;
    uint32_t *pdom; /* by block: the nearest that every way to the end leads through; isa_flow_exit() or CFG_NONE */
};

/* False when memory is short; g can then be freed, too. */
bool cfg_build(struct cfg *g, const struct isa_program *program, const struct isa_kernel *kernel);
void cfg_free(struct cfg *g);

/* The nearest join that every lane which goes on from this block to its end comes to; ISA_NO_PC if there is none. */
uint32_t cfg_next_join(const struct cfg *g, uint32_t block);

/*
 * Adds to inside[] the blocks that lanes can be in from the beginning of `block` on and before pc `meet` (ISA_NO_PC: ever).
 * What inside[] has already must be complete in that sense.
 */
void cfg_reach(const struct cfg *g, uint32_t block, uint32_t meet, bool *inside);

#endif
