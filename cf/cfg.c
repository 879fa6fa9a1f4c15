#include "cf/cfg.h"

#include <stdlib.h>

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
    for (uint32_t b = 0; b < g->flow.nblocks; b++)
        for (uint32_t i = 0; i < g->flow.blocks[b].nsucc; i++)
            o->start[g->flow.blocks[b].succ[i] + 1]++;
    for (uint32_t i = 0; i <= g->flow.nblocks; i++)
        o->start[i + 1] += o->start[i];
    for (uint32_t i = 0; i <= g->flow.nblocks; i++)
        o->at[i] = o->start[i];
    for (uint32_t b = 0; b < g->flow.nblocks; b++)
        for (uint32_t i = 0; i < g->flow.blocks[b].nsucc; i++)
            o->preds[o->at[g->flow.blocks[b].succ[i]]++] = b;
}

static void number_nodes(const struct cfg *g, struct order *o)
{
    enum { OPEN = CFG_NONE - 1 };
    uint32_t depth = 0;

    for (uint32_t i = 0; i <= g->flow.nblocks; i++) {
        o->number[i] = CFG_NONE;
        o->at[i] = o->start[i];
    }
    o->stack[depth++] = isa_flow_exit(&g->flow);
    o->number[isa_flow_exit(&g->flow)] = OPEN;
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
    return node == isa_flow_exit(&g->flow) ? node : g->pdom[node];
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
    const struct isa_block *k = &g->flow.blocks[node];
    uint32_t found = CFG_NONE;

    for (uint32_t i = 0; i < k->nsucc; i++) {
        uint32_t s = k->succ[i];

        if (o->number[s] == CFG_NONE || pdom_of(g, s) == CFG_NONE)
            continue;
        found = found == CFG_NONE ? s : common(g, o, s, found);
    }
    if (found == g->pdom[node])
        return false;
    g->pdom[node] = found;
    return true;
}

static void find_post_dominators(struct cfg *g, const struct order *o)
{
    bool news = true;

    for (uint32_t b = 0; b < g->flow.nblocks; b++)
        g->pdom[b] = CFG_NONE;
    while (news) {
        news = false;
        /* the exit has the last number */
        for (uint32_t i = o->n - 1; i-- > 0;)
            news |= improve(g, o, o->nodes[i]);
    }
}

static bool post_dominators(struct cfg *g)
{
    size_t n = g->flow.nblocks + 2u;
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
    *g = (struct cfg){0};
    if (!isa_flow_build(&g->flow, program, kernel))
        return false;
    g->pdom = malloc(g->flow.nblocks * sizeof *g->pdom);
    return g->pdom && post_dominators(g);
}

void cfg_free(struct cfg *g)
{
    isa_flow_free(&g->flow);
    free(g->pdom);
}

uint32_t cfg_next_join(const struct cfg *g, uint32_t block)
{
    uint32_t at = g->pdom[block];

    while (at != CFG_NONE && at != isa_flow_exit(&g->flow)) {
        uint32_t pc = g->flow.blocks[at].first;

        if (g->flow.insns[pc].format == ISA_JOIN)
            return pc;
        at = g->pdom[at];
    }
    return ISA_NO_PC;
}

static void enter(const struct cfg *g, uint32_t block, uint32_t meet, bool *inside)
{
    if (block == isa_flow_exit(&g->flow) || inside[block] || g->flow.blocks[block].first == meet)
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
        for (uint32_t b = 0; b < g->flow.nblocks; b++)
            for (uint32_t i = 0; inside[b] && i < g->flow.blocks[b].nsucc; i++) {
                uint32_t s = g->flow.blocks[b].succ[i];
                bool was = s == isa_flow_exit(&g->flow) || inside[s];

                enter(g, s, meet, inside);
                news |= !was && inside[s] && s <= b;
            }
    }
}
