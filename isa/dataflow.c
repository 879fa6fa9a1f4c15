#include "isa/dataflow.h"

#include "isa/flow.h"
#include "isa/load.h"

#include <stdlib.h>
#include <string.h>

enum { SET_WORDS = (ISA_SB_COUNT + 63) / 64 };

struct set {
    uint64_t w[SET_WORDS];
};

/* Of a block: what is written on some way to it, and in it. */
struct facts {
    struct set in, wrote;
    bool reached;
};

struct dataflow {
    struct isa_flow flow;
    struct facts *facts;
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

static void collect_writes(struct dataflow *f)
{
    for (uint32_t b = 0; b < f->flow.nblocks; b++)
        for (uint32_t pc = f->flow.blocks[b].first; pc < f->flow.blocks[b].end; pc++)
            for (unsigned i = 0; i < f->flow.insns[pc].nset; i++)
                insert(&f->facts[b].wrote, f->flow.insns[pc].set[i]);
}

static void queue(struct dataflow *f, uint32_t block)
{
    if (!f->queued[block])
        f->work[f->nwork++] = block;
    f->queued[block] = true;
}

/* Adds what a block passes on to a successor; visits that one again if it learned something. */
static void pass_on(struct dataflow *f, const struct facts *from, uint32_t block)
{
    struct facts *to = &f->facts[block];
    bool news = !to->reached;

    to->reached = true;
    for (unsigned i = 0; i < SET_WORDS; i++) {
        uint64_t merged = to->in.w[i] | from->in.w[i] | from->wrote.w[i];

        news |= merged != to->in.w[i];
        to->in.w[i] = merged;
    }
    if (news)
        queue(f, block);
}

static void solve(struct dataflow *f)
{
    f->facts[0].reached = true;
    queue(f, 0);
    while (f->nwork) {
        uint32_t block = f->work[--f->nwork];
        const struct isa_block *b = &f->flow.blocks[block];

        f->queued[block] = false;
        for (uint32_t i = 0; i < b->nsucc; i++)
            if (b->succ[i] != isa_flow_exit(&f->flow))
                pass_on(f, &f->facts[block], b->succ[i]);
    }
}

/* One instruction that reads: names that no way here has written. */
static void report_reads(const struct isa_insn *in, const struct set *written, struct set *told,
                         void (*found)(void *, uint32_t, unsigned), void *user)
{
    uint16_t sources[ISA_SB_MAX_WAIT];
    unsigned count = isa_sources(in, sources);

    for (unsigned i = 0; i < count; i++) {
        unsigned name = sources[i];
        bool scalar = name >= ISA_SB_S && name < ISA_SB_M;

        if (scalar || name == ISA_SB_EXEC || has(written, name) || has(told, name))
            continue;
        insert(told, name);
        found(user, in->pc, name);
    }
}

static void report(const struct dataflow *f, void (*found)(void *, uint32_t, unsigned), void *user)
{
    struct set told = {0};

    for (uint32_t b = 0; b < f->flow.nblocks; b++) {
        const struct isa_block *k = &f->flow.blocks[b];
        struct set written = f->facts[b].in;

        for (uint32_t pc = k->first; pc < k->end && f->facts[b].reached; pc++) {
            const struct isa_insn *in = &f->flow.insns[pc];

            report_reads(in, &written, &told, found, user);
            for (unsigned i = 0; i < in->nset; i++)
                insert(&written, in->set[i]);
        }
    }
}

bool isa_find_unwritten(const struct isa_program *program, const struct isa_kernel *kernel,
                        void (*found)(void *user, uint32_t pc, unsigned name), void *user)
{
    struct dataflow f = {0};
    bool good = isa_flow_build(&f.flow, program, kernel);

    f.facts = calloc(f.flow.nblocks, sizeof *f.facts);
    f.work = calloc(f.flow.nblocks, sizeof *f.work);
    f.queued = calloc(f.flow.nblocks, sizeof *f.queued);
    good = good && f.facts && f.work && f.queued;
    if (good) {
        collect_writes(&f);
        solve(&f);
        report(&f, found, user);
    }
    isa_flow_free(&f.flow);
    free(f.facts);
    free(f.work);
    free(f.queued);
    return good;
}
