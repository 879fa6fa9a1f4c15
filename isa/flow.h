/* The blocks of a kernel and where control goes from them, read lane by lane: a goto is a branch to UIP. */
#ifndef HD_ISA_FLOW_H
#define HD_ISA_FLOW_H

#include "isa/isa.h"

/* Straight-line code; control leaves it at its end alone. A join begins a block, and a barrier ends one. */
struct isa_block {
    uint32_t first, end; /* pcs */
    uint32_t nsucc, succ[2];
};

struct isa_flow {
    const struct isa_insn *insns; /* by pc; the program's */
    uint32_t first, end, nblocks;
    uint32_t *block_of; /* by pc - first */
    struct isa_block *blocks;
};

/* The node that stands for the end of lanes. A predicated end is none: the other lanes go on. */
static inline uint32_t isa_flow_exit(const struct isa_flow *f)
{
    return f->nblocks;
}

static inline uint32_t isa_block_at(const struct isa_flow *f, uint32_t pc)
{
    return f->block_of[pc - f->first];
}

/*
 * Finds the blocks of a kernel of at least one instruction, whose targets are in it. False when memory is short; f can
 * then be freed, too.
 */
bool isa_flow_build(struct isa_flow *f, const struct isa_program *program,
                    const struct isa_kernel *kernel);
void isa_flow_free(struct isa_flow *f);

#endif
