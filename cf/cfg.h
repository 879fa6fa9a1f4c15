/* The control-flow graph of a kernel, read lane by lane: a goto is a branch to UIP. For the files of cf/. */
#ifndef HD_CF_CFG_H
#define HD_CF_CFG_H

#include "isa/isa.h"

/* Straight-line code; control leaves it at its end alone. A join begins a block, and a barrier ends one. */
struct cfg_block {
    uint32_t first, end; /* pcs */
    uint32_t nsucc, succ[2];
    uint32_t pdom; /* the nearest block that every way to the end leads through; cfg_exit() or CFG_NONE */
};

#define CFG_NONE UINT32_MAX /* no way from there leads to the end */

struct cfg {
    const struct isa_insn *insns; /* by pc */
    uint32_t first, end, nblocks;
    uint32_t *block_of; /* by pc - first */
    struct cfg_block *blocks;
};

/* The node that stands for the end of lanes. A predicated end is none: the other lanes go on. */
static inline uint32_t cfg_exit(const struct cfg *g)
{
    return g->nblocks;
}

static inline uint32_t cfg_block_at(const struct cfg *g, uint32_t pc)
{
    return g->block_of[pc - g->first];
}

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
