#include "isa/dataflow.h"

#include "isa/format.h"
#include "isa/load.h"

#include <stdlib.h>
#include <string.h>

enum { SET_WORDS = (ISA_SB_COUNT + 63) / 64 };

struct set {
    uint64_t w[SET_WORDS];
};

struct block {
    uint32_t first, end;
    struct set in, wrote;
    bool reached;
};

struct flow {
    const struct isa_insn *insns;
    uint32_t first, end, nblocks;
    uint32_t *block_of; /* of each pc from first on */
    struct block *blocks;
    uint32_t *work; /* stack of blocks to visit; each stands in it at most once */
    uint32_t nwork;
    bool *queued;
};

static bool has(const struct set *s, unsigned name)
{
    return s->w[name / 64] >> (name % 64) & 1;
}

static void insert(struct set *s, unsigned name)
{
    s->w[name / 64] |= UINT64_C(1) << (name % 64);
}

static bool is_target(const struct isa_insn *in)
{
    return isa_formats[in->format].extra & ISA_X_TARGET;
}

static bool ends_block(const struct isa_insn *in)
{
    return is_target(in) || !isa_goes_on(in);
}

static void find_blocks(struct flow *f)
{
    uint32_t n = f->end - f->first;

    /* first a flag for each leader, then the block's index */
    f->block_of[0] = 1;
    for (uint32_t pc = f->first; pc < f->end; pc++) {
        if (is_target(&f->insns[pc]))
            f->block_of[f->insns[pc].target - f->first] = 1;
        if (ends_block(&f->insns[pc]) && pc + 1 < f->end)
            f->block_of[pc + 1 - f->first] = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (f->block_of[i]) {
            if (f->nblocks)
                f->blocks[f->nblocks - 1].end = f->first + i;
            f->blocks[f->nblocks++].first = f->first + i;
        }
        f->block_of[i] = f->nblocks - 1;
    }
    f->blocks[f->nblocks - 1].end = f->end;
}

static void collect_writes(struct flow *f)
{
    for (uint32_t b = 0; b < f->nblocks; b++)
        for (uint32_t pc = f->blocks[b].first; pc < f->blocks[b].end; pc++)
            for (unsigned i = 0; i < f->insns[pc].nset; i++)
                insert(&f->blocks[b].wrote, f->insns[pc].set[i]);
}

static void queue(struct flow *f, uint32_t block)
{
    if (!f->queued[block])
        f->work[f->nwork++] = block;
    f->queued[block] = true;
}

/* Adds what the block passes on to a successor; visits that one again if it learned something. */
static void pass_on(struct flow *f, const struct block *from, uint32_t pc)
{
    uint32_t index;
    struct block *to;
    bool news;

    if (pc >= f->end)
        return;
    index = f->block_of[pc - f->first];
    to = &f->blocks[index];
    news = !to->reached;
    to->reached = true;
    for (unsigned i = 0; i < SET_WORDS; i++) {
        uint64_t merged = to->in.w[i] | from->in.w[i] | from->wrote.w[i];

        news |= merged != to->in.w[i];
        to->in.w[i] = merged;
    }
    if (news)
        queue(f, index);
}

static void solve(struct flow *f)
{
    f->blocks[0].reached = true;
    queue(f, 0);
    while (f->nwork) {
        uint32_t index = f->work[--f->nwork];
        const struct block *b = &f->blocks[index];
        const struct isa_insn *last = &f->insns[b->end - 1];

        f->queued[index] = false;
        if (is_target(last))
            pass_on(f, b, last->target);
        if (isa_goes_on(last))
            pass_on(f, b, b->end);
    }
}

static void report(struct flow *f, void (*found)(void *, uint32_t, unsigned), void *user)
{
    struct set told = {0};

    for (uint32_t b = 0; b < f->nblocks; b++) {
        struct set written = f->blocks[b].in;

        for (uint32_t pc = f->blocks[b].first; pc < f->blocks[b].end && f->blocks[b].reached; pc++) {
            const struct isa_insn *in = &f->insns[pc];
            uint16_t sources[ISA_SB_MAX_WAIT];
            unsigned count = isa_sources(in, sources);

            for (unsigned i = 0; i < count; i++) {
                unsigned name = sources[i];
                bool scalar = name >= ISA_SB_S && name < ISA_SB_M;

                if (scalar || name == ISA_SB_EXEC || has(&written, name) || has(&told, name))
                    continue;
                insert(&told, name);
                found(user, pc, name);
            }
            for (unsigned i = 0; i < in->nset; i++)
                insert(&written, in->set[i]);
        }
    }
}

bool isa_find_unwritten(const struct isa_program *program, const struct isa_kernel *kernel,
                        void (*found)(void *user, uint32_t pc, unsigned name), void *user)
{
    uint32_t n = kernel->end - kernel->first;
    struct flow f = {.insns = program->insns, .first = kernel->first, .end = kernel->end};
    bool good;

    f.block_of = calloc(n, sizeof *f.block_of);
    f.blocks = calloc(n, sizeof *f.blocks);
    f.work = calloc(n, sizeof *f.work);
    f.queued = calloc(n, sizeof *f.queued);
    good = f.block_of && f.blocks && f.work && f.queued;
    if (good) {
        find_blocks(&f);
        collect_writes(&f);
        solve(&f);
        report(&f, found, user);
    }
    free(f.block_of);
    free(f.blocks);
    free(f.work);
    free(f.queued);
    return good;
}
