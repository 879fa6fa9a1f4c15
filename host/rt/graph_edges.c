/* The edges of a graph by hand as they are recorded: between kernels, with the arrays that explain them. */
#include "host/rt/graph.h"

#include <stdlib.h>

/* For each node the kernels that it waits for, those behind copies and empty nodes too. */
typedef VEC(uint32_t) node_list;

static bool add_once(node_list *list, uint32_t node)
{
    for (size_t i = 0; i < list->len; i++) {
        if (list->at[i] == node)
            return true;
    }
    return vec_push(list, node);
}

static bool find_kernels(const hd_graph *g, const hd_graph_exec *x, const uint32_t *place,
                         uint32_t node, node_list *lists)
{
    const struct graph_item *item = &g->items.at[x->nodes.at[node].number];
    bool done = true;

    for (size_t i = 0; i < item->deps.len && done; i++) {
        const uint32_t dep = place[item->deps.at[i]];

        if (x->nodes.at[dep].node.kind == GRAPH_KERNEL)
            done = add_once(&lists[node], dep);
        for (size_t k = 0; k < lists[dep].len && done; k++) {
            if (x->nodes.at[dep].node.kind != GRAPH_KERNEL)
                done = add_once(&lists[node], lists[dep].at[k]);
        }
    }
    return done;
}

/* What the kernel may do with its argument's array: read-only only if no other argument writes it. */
static bool writes(const struct rt_computation *c, const hd_array *a)
{
    for (unsigned i = 0; i < c->narrays; i++) {
        if (c->arrays[i] == a && !c->read_only[i])
            return true;
    }
    return false;
}

static bool has(const struct rt_computation *c, const hd_array *a, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (c->arrays[i] == a)
            return true;
    }
    return false;
}

static enum hd_edge_kind kind_of(bool old_writes, bool new_writes)
{
    if (!new_writes)
        return HD_EDGE_RAW;
    return old_writes ? HD_EDGE_WAW : HD_EDGE_WAR;
}

static bool add_edge(hd_graph_exec *x, uint32_t from, uint32_t to)
{
    const struct rt_computation *old = &x->nodes.at[from].node.bound.c;
    const struct rt_computation *newer = &x->nodes.at[to].node.bound.c;
    struct exec_edge e = {.from = from, .kind = HD_EDGE_ORDER, .first_uid = (uint32_t)x->uids.len};

    for (unsigned i = 0; i < newer->narrays; i++) {
        const hd_array *a = newer->arrays[i];
        const bool old_writes = writes(old, a), new_writes = writes(newer, a);

        if (has(newer, a, i) || !has(old, a, old->narrays) || !(old_writes || new_writes))
            continue;
        if (e.nuids++ == 0)
            e.kind = kind_of(old_writes, new_writes);
        if (!vec_push(&x->uids, a->object.uid))
            return false;
    }
    x->nodes.at[to].nedges++;
    return vec_push(&x->edges, e);
}

static bool add_edges(hd_graph_exec *x, uint32_t node, const node_list *kernels)
{
    struct exec_node *n = &x->nodes.at[node];
    bool done = true;

    n->first_edge = (uint32_t)x->edges.len;
    for (size_t i = 0; i < kernels->len && done && n->node.kind == GRAPH_KERNEL; i++)
        done = add_edge(x, kernels->at[i], node);
    return done;
}

bool graph_plan_edges(const hd_graph *g, const uint32_t *order, hd_graph_exec *x)
{
    const size_t n = g->items.len;
    node_list *lists = calloc(n, sizeof *lists);
    uint32_t *place = calloc(n, sizeof *place);
    bool done = lists && place;

    for (uint32_t i = 0; i < n && done; i++)
        place[order[i]] = i;
    for (uint32_t i = 0; i < n && done; i++)
        done = find_kernels(g, x, place, i, lists) && add_edges(x, i, &lists[i]);
    for (size_t i = 0; lists && i < n; i++)
        vec_free(&lists[i]);
    free(lists);
    free(place);
    return done;
}
