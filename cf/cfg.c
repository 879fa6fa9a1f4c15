#include "cf/cfg.h"

#include "isa/format.h"

#include <stdlib.h>

static bool has_target(const struct isa_insn *in)
{
    return isa_formats[in->format].extra & ISA_X_TARGET;
}

/* ---- blocks ---- */

static bool ends_block(const struct isa_insn *in)
{
    return has_target(in) || in->format == ISA_BARRIER || !isa_goes_on(in);
}

static void find_blocks(struct cfg *g)
{
    uint32_t n = g->end - g->first;

    /* first a flag for each leader, then the block's index */
    g->block_of[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_insn *in = &g->insns[g->first + i];

        if (in->format == ISA_JOIN)
            g->block_of[i] = 1;
        if (has_target(in))
            g->block_of[in->target - g->first] = 1;
        if (ends_block(in) && i + 1 < n)
            g->block_of[i + 1] = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (g->block_of[i])
            g->blocks[g->nblocks++].first = g->first + i;
        g->block_of[i] = g->nblocks - 1;
        g->blocks[g->nblocks - 1].end = g->first + i + 1;
    }
}

static void find_successors(struct cfg *g)
{
    for (uint32_t b = 0; b < g->nblocks; b++) {
        struct cfg_block *k = &g->blocks[b];
        const struct isa_insn *last = &g->insns[k->end - 1];

        if (isa_goes_on(last))
            k->succ[k->nsucc++] = k->end < g->end ? cfg_block_at(g, k->end) : cfg_exit(g);
        if (has_target(last))
            k->succ[k->nsucc++] = cfg_block_at(g, last->target);
        if (!k->nsucc)
            k->succ[k->nsucc++] = cfg_exit(g);
    }
}

/* ---- post-dominators (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm, 2001) ---- */

struct order {
    uint32_t *start,
        *preds;       /* blocks that lead to node i: preds[start[i]] to preds[start[i + 1] - 1] */
    uint32_t *number; /* of nodes, in postorder of the reversed graph; CFG_NONE: not reached */
    uint32_t *nodes;  /* by number */
    uint32_t *stack, *at;
    uint32_t n;
};

static void find_predecessors(const struct cfg *g, struct order *o)
{
    for (uint32_t b = 0; b < g->nblocks; b++)
        for (uint32_t i = 0; i < g->blocks[b].nsucc; i++)
            o->start[g->blocks[b].succ[i] + 1]++;
    for (uint32_t i = 0; i <= g->nblocks; i++)
        o->start[i + 1] += o->start[i];
    for (uint32_t i = 0; i <= g->nblocks; i++)
        o->at[i] = o->start[i];
    for (uint32_t b = 0; b < g->nblocks; b++)
        for (uint32_t i = 0; i < g->blocks[b].nsucc; i++)
            o->preds[o->at[g->blocks[b].succ[i]]++] = b;
}

static void number_nodes(const struct cfg *g, struct order *o)
{
    enum { OPEN = CFG_NONE - 1 };
    uint32_t depth = 0;

    for (uint32_t i = 0; i <= g->nblocks; i++) {
        o->number[i] = CFG_NONE;
        o->at[i] = o->start[i];
    }
    o->stack[depth++] = cfg_exit(g);
    o->number[cfg_exit(g)] = OPEN;
    while (depth) {
        uint32_t node = o->stack[depth - 1];

        if (o->at[node] < o->start[node + 1]) {
            uint32_t next = o->preds[o->at[node]++];

            if (o->number[next] == CFG_NONE) {
                o->number[next] = OPEN;
                o->stack[depth++] = next;
            }
            continue;
        }
        o->number[node] = o->n;
        o->nodes[o->n++] = node;
        depth--;
    }
}

static uint32_t pdom_of(const struct cfg *g, uint32_t node)
{
    return node == cfg_exit(g) ? node : g->blocks[node].pdom;
}

static uint32_t common(const struct cfg *g, const struct order *o, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (o->number[a] < o->number[b])
            a = pdom_of(g, a);
        while (o->number[b] < o->number[a])
            b = pdom_of(g, b);
    }
    return a;
}

static bool improve(struct cfg *g, const struct order *o, uint32_t node)
{
    struct cfg_block *k = &g->blocks[node];
    uint32_t found = CFG_NONE;

    for (uint32_t i = 0; i < k->nsucc; i++) {
        uint32_t s = k->succ[i];

        if (o->number[s] == CFG_NONE || pdom_of(g, s) == CFG_NONE)
            continue;
        found = found == CFG_NONE ? s : common(g, o, s, found);
    }
    if (found == k->pdom)
        return false;
    k->pdom = found;
    return true;
}

static void find_post_dominators(struct cfg *g, const struct order *o)
{
    bool news = true;

    for (uint32_t b = 0; b < g->nblocks; b++)
        g->blocks[b].pdom = CFG_NONE;
    while (news) {
        news = false;
        /* the exit has the last number */
        for (uint32_t i = o->n - 1; i-- > 0;)
            news |= improve(g, o, o->nodes[i]);
    }
}

static bool post_dominators(struct cfg *g)
{
    size_t n = g->nblocks + 2u;
    struct order o = {
        .start = calloc(n, sizeof(uint32_t)),
        .preds = calloc(2 * n, sizeof(uint32_t)),
        .number = calloc(n, sizeof(uint32_t)),
        .nodes = calloc(n, sizeof(uint32_t)),
        .stack = calloc(n, sizeof(uint32_t)),
        .at = calloc(n, sizeof(uint32_t)),
    };
    bool good = o.start && o.preds && o.number && o.nodes && o.stack && o.at;

    if (good) {
        find_predecessors(g, &o);
        number_nodes(g, &o);
        find_post_dominators(g, &o);
    }
    free(o.start);
    free(o.preds);
    free(o.number);
    free(o.nodes);
    free(o.stack);
    free(o.at);
    return good;
}

/* ---- the whole ---- */

bool cfg_build(struct cfg *g, const struct isa_program *program, const struct isa_kernel *kernel)
{
    uint32_t n = kernel->end - kernel->first;

    *g = (struct cfg){.insns = program->insns, .first = kernel->first, .end = kernel->end};
    g->block_of = calloc(n, sizeof *g->block_of);
    g->blocks = calloc(n, sizeof *g->blocks);
    if (!g->block_of || !g->blocks)
        return false;
    find_blocks(g);
    find_successors(g);
    return post_dominators(g);
}

void cfg_free(struct cfg *g)
{
    free(g->block_of);
    free(g->blocks);
}

uint32_t cfg_next_join(const struct cfg *g, uint32_t block)
{
    uint32_t at = g->blocks[block].pdom;

    while (at != CFG_NONE && at != cfg_exit(g)) {
        uint32_t pc = g->blocks[at].first;

        if (g->insns[pc].format == ISA_JOIN)
            return pc;
        at = g->blocks[at].pdom;
    }
    return ISA_NO_PC;
}

static void enter(const struct cfg *g, uint32_t block, uint32_t meet, bool *inside)
{
    if (block == cfg_exit(g) || inside[block] || g->blocks[block].first == meet)
        return;
    inside[block] = true;
}

void cfg_reach(const struct cfg *g, uint32_t block, uint32_t meet, bool *inside)
{
    bool news = true;

    enter(g, block, meet, inside);
    /* Forwards all of it is found in one round; loops take another. */
    while (news) {
        news = false;
        for (uint32_t b = 0; b < g->nblocks; b++)
            for (uint32_t i = 0; inside[b] && i < g->blocks[b].nsucc; i++) {
                uint32_t s = g->blocks[b].succ[i];
                bool was = s == cfg_exit(g) || inside[s];

                enter(g, s, meet, inside);
                news |= !was && inside[s] && s <= b;
            }
    }
}
