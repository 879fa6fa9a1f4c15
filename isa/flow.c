#include "isa/flow.h"

#include "isa/format.h"

#include <stdlib.h>

static bool has_target(const struct isa_insn *in)
{
    return isa_formats[in->format].extra & ISA_X_TARGET;
}

static bool ends_block(const struct isa_insn *in)
{
    return has_target(in) || in->format == ISA_BARRIER || !isa_goes_on(in);
}

static void find_blocks(struct isa_flow *f)
{
    uint32_t n = f->end - f->first;

    /* first a flag for each leader, then the block's index */
    f->block_of[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_insn *in = &f->insns[f->first + i];

        if (in->format == ISA_JOIN)
            f->block_of[i] = 1;
        if (has_target(in))
            f->block_of[in->target - f->first] = 1;
        if (ends_block(in) && i + 1 < n)
            f->block_of[i + 1] = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (f->block_of[i])
            f->blocks[f->nblocks++].first = f->first + i;
        f->block_of[i] = f->nblocks - 1;
        f->blocks[f->nblocks - 1].end = f->first + i + 1;
    }
}

static void find_successors(struct isa_flow *f)
{
    for (uint32_t b = 0; b < f->nblocks; b++) {
        struct isa_block *k = &f->blocks[b];
        const struct isa_insn *last = &f->insns[k->end - 1];

        if (isa_goes_on(last))
            k->succ[k->nsucc++] = k->end < f->end ? isa_block_at(f, k->end) : isa_flow_exit(f);
        if (has_target(last))
            k->succ[k->nsucc++] = isa_block_at(f, last->target);
        if (!k->nsucc)
            k->succ[k->nsucc++] = isa_flow_exit(f);
    }
}

bool isa_flow_build(struct isa_flow *f, const struct isa_program *program,
                    const struct isa_kernel *kernel)
{
    uint32_t n = kernel->end - kernel->first;

    *f = (struct isa_flow){.insns = program->insns, .first = kernel->first, .end = kernel->end};
    f->block_of = calloc(n, sizeof *f->block_of);
    f->blocks = calloc(n, sizeof *f->blocks);
    if (!f->block_of || !f->blocks)
        return false;
    find_blocks(f);
    find_successors(f);
    return true;
}

void isa_flow_free(struct isa_flow *f)
{
    free(f->block_of);
    free(f->blocks);
}
