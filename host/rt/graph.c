/* Making graphs by hand: nodes, and what each waits for. */
#include "host/rt/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- life ---------------------------------------------------------------------------------------- */

enum hd_status graph_given(const hd_runtime *rt, const hd_graph *g, struct hd_error *err)
{
    if (!g || g->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "graph", NULL, NULL,
                            g ? "the graph was made by another runtime"
                              : "expected a graph, given nil");
    if (g->freed)
        return hd_error_set(err, HD_BAD_INPUT, "graph-freed", NULL, NULL,
                            "the graph is used after it was freed");
    return HD_OK;
}

enum hd_status hd_graph_new(hd_runtime *rt, hd_graph **out, struct hd_error *err)
{
    hd_graph *g;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    g = calloc(1, sizeof *g);
    if (!g)
        return rt_no_memory(rt, err);
    g->rt = rt;
    list_insert(&rt->graphs, &g->all);
    *out = g;
    return HD_OK;
}

static void empty(hd_graph *g)
{
    for (size_t i = 0; i < g->items.len; i++)
        vec_free(&g->items.at[i].deps);
    vec_free(&g->items);
}

enum hd_status hd_graph_free(hd_runtime *rt, hd_graph *g, struct hd_error *err)
{
    enum hd_status status = graph_given(rt, g, err);

    if (status != HD_OK)
        return status;
    empty(g);
    g->freed = true;
    return HD_OK;
}

static void free_exec_lists(hd_graph_exec *x)
{
    vec_free(&x->nodes);
    vec_free(&x->waits);
    vec_free(&x->ends);
    vec_free(&x->edges);
    vec_free(&x->uids);
    vec_free(&x->branches);
}

void graphs_free(hd_runtime *rt)
{
    while (!list_empty(&rt->graphs)) {
        hd_graph *g = LIST_ITEM(rt->graphs.next, hd_graph, all);

        list_remove(&g->all);
        empty(g);
        free(g);
    }
    while (!list_empty(&rt->execs)) {
        hd_graph_exec *x = LIST_ITEM(rt->execs.next, hd_graph_exec, all);

        list_remove(&x->all);
        free_exec_lists(x);
        free(x);
    }
}

uint32_t hd_graph_size(const hd_graph *g)
{
    return (uint32_t)g->items.len;
}

/* ---- names --------------------------------------------------------------------------------------- */

void graph_node_name(const struct graph_node *n, uint32_t number, char *out)
{
    switch (n->kind) {
    case GRAPH_KERNEL:
        snprintf(out, GRAPH_NAME_MAX, "%.60s (node %" PRIu32 ")", n->bound.c.name, number);
        return;
    case GRAPH_COPY:
        snprintf(out, GRAPH_NAME_MAX, "the copy to %.50s (node %" PRIu32 ")", n->copy.to->name,
                 number);
        return;
    case GRAPH_EMPTY:
        break;
    }
    snprintf(out, GRAPH_NAME_MAX, "the empty node %" PRIu32, number);
}

void hd_graph_node_name(const hd_graph *g, uint32_t node, char *out, size_t size)
{
    char name[GRAPH_NAME_MAX] = "?";

    if (node < g->items.len)
        graph_node_name(&g->items.at[node].node, node, name);
    snprintf(out, size, "%s", name);
}

enum hd_status graph_node_check(const struct graph_node *n, uint32_t number, struct hd_error *err)
{
    char name[GRAPH_NAME_MAX];

    for (unsigned i = 0; i < n->bound.c.narrays; i++) {
        if (!n->bound.c.arrays[i]->freed)
            continue;
        graph_node_name(n, number, name);
        return hd_error_set(err, HD_BAD_INPUT, "graph-array-freed", NULL,
                            "free arrays after the last launch of the graphs that use them",
                            "%s uses the array %s, which was freed", name,
                            n->bound.c.arrays[i]->name);
    }
    return HD_OK;
}

/* ---- dependencies ---------------------------------------------------------------------------------- */

static enum hd_status node_given(const hd_graph *g, uint32_t node, struct hd_error *err)
{
    if (node < g->items.len)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "graph-node", NULL, NULL,
                        "the graph has %zu nodes, counted from 0, and no node %" PRIu32,
                        g->items.len, node);
}

/* Most that are there twice are seen by the mark; a search for the others would make wide nodes slow. */
static bool depend(hd_graph *g, struct graph_item *item, uint32_t number, uint32_t on)
{
    struct graph_item *first = &g->items.at[on];

    if (first->mark == number + 1)
        return true;
    first->mark = number + 1;
    return vec_push(&item->deps, on);
}

/* Each dependency once, in the order in which they were first stated. */
static void make_unique(hd_graph *g)
{
    for (uint32_t i = 0; i < g->items.len; i++)
        g->items.at[i].mark = 0;
    for (uint32_t i = 0; i < g->items.len; i++) {
        struct graph_item *item = &g->items.at[i];
        size_t kept = 0;

        for (size_t k = 0; k < item->deps.len; k++) {
            struct graph_item *first = &g->items.at[item->deps.at[k]];

            if (first->mark != i + 1)
                item->deps.at[kept++] = item->deps.at[k];
            first->mark = i + 1;
        }
        item->deps.len = kept;
    }
}

enum hd_status hd_graph_depend(hd_runtime *rt, hd_graph *g, uint32_t node, uint32_t on,
                               struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = graph_given(rt, g, err);
    if (status == HD_OK)
        status = node_given(g, node, err);
    if (status == HD_OK)
        status = node_given(g, on, err);
    if (status != HD_OK)
        return status;
    return depend(g, &g->items.at[node], node, on) ? HD_OK : rt_no_memory(rt, err);
}

/* ---- nodes --------------------------------------------------------------------------------------- */

enum hd_status graph_add(hd_graph *g, const struct graph_node *node, const uint32_t *deps,
                         size_t ndeps, uint32_t *number, struct hd_error *err)
{
    struct graph_item item = {.node = *node};
    enum hd_status status = HD_OK;
    bool kept = g->items.len < UINT32_MAX;

    for (size_t i = 0; i < ndeps && status == HD_OK; i++)
        status = node_given(g, deps[i], err);
    if (status != HD_OK)
        return status;
    for (size_t i = 0; i < ndeps && kept; i++)
        kept = depend(g, &item, (uint32_t)g->items.len, deps[i]);
    if (!kept || !vec_push(&g->items, item)) {
        vec_free(&item.deps);
        return rt_no_memory(g->rt, err);
    }
    if (number)
        *number = (uint32_t)g->items.len - 1;
    rt_charge(g->rt, g->rt->cost->graph_node);
    return HD_OK;
}

static enum hd_status no_stream(const hd_stream *s, struct hd_error *err)
{
    return s ? hd_error_set(err, HD_BAD_INPUT, "graph-stream", NULL,
                            "a graph is given its stream when it is launched",
                            "a node of a graph has no stream of its own")
             : HD_OK;
}

enum hd_status hd_graph_kernel(hd_runtime *rt, hd_graph *g, const struct hd_launch *l,
                               const uint32_t *deps, size_t ndeps, uint32_t *node,
                               struct hd_error *err)
{
    struct graph_node n = {.kind = GRAPH_KERNEL};
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = graph_given(rt, g, err);
    if (status == HD_OK)
        status = no_stream(l->stream, err);
    if (status == HD_OK)
        status = launch_bind(rt, l, &n.bound, err);
    return status == HD_OK ? graph_add(g, &n, deps, ndeps, node, err) : status;
}

enum hd_status hd_graph_copy(hd_runtime *rt, hd_graph *g, const struct hd_copy *copy,
                             const uint32_t *deps, size_t ndeps, uint32_t *node,
                             struct hd_error *err)
{
    struct graph_node n = {.kind = GRAPH_COPY, .copy = *copy};
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = graph_given(rt, g, err);
    if (status == HD_OK)
        status = no_stream(copy->stream, err);
    if (status == HD_OK)
        status = copy_bind(rt, copy, &n.bound.c, err);
    return status == HD_OK ? graph_add(g, &n, deps, ndeps, node, err) : status;
}

enum hd_status hd_graph_empty(hd_runtime *rt, hd_graph *g, const uint32_t *deps, size_t ndeps,
                              uint32_t *node, struct hd_error *err)
{
    const struct graph_node n = {.kind = GRAPH_EMPTY};
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = graph_given(rt, g, err);
    return status == HD_OK ? graph_add(g, &n, deps, ndeps, node, err) : status;
}

/* ---- instances ------------------------------------------------------------------------------------- */

static enum hd_status refuse_host_memory(const hd_graph *g, uint32_t copy, uint32_t kernel,
                                         const hd_array *host, struct hd_error *err)
{
    char name[GRAPH_NAME_MAX], user[GRAPH_NAME_MAX];

    graph_node_name(&g->items.at[copy].node, copy, name);
    graph_node_name(&g->items.at[kernel].node, kernel, user);
    return hd_error_set(err, HD_BAD_INPUT, "graph-copy-host", NULL,
                        "give the kernel a device array, or another managed one",
                        "array %s is host memory of %s and an argument of %s", host->name, name,
                        user);
}

/* copy_of[uid]: one more than the first copy whose host memory the array is, or 0. */
static enum hd_status check_kernels(const hd_graph *g, const uint32_t *copy_of, struct hd_error *err)
{
    for (uint32_t i = 0; i < g->items.len; i++) {
        const struct graph_node *n = &g->items.at[i].node;

        for (unsigned k = 0; k < n->bound.c.narrays && n->kind == GRAPH_KERNEL; k++) {
            const hd_array *a = n->bound.c.arrays[k];
            const uint32_t copy = copy_of[a->object.uid];

            if (copy)
                return refuse_host_memory(g, copy - 1, i, a, err);
        }
    }
    return HD_OK;
}

/* A copy's managed array is host memory, whose pages the launch brings to the host: no kernel of the graph may use them. */
static enum hd_status check_host_memory(const hd_graph *g, struct hd_error *err)
{
    uint32_t *copy_of = calloc(g->rt->arrays.len + 1, sizeof *copy_of);
    enum hd_status status;

    if (!copy_of)
        return rt_no_memory(g->rt, err);
    for (uint32_t i = (uint32_t)g->items.len; i-- > 0;) {
        const struct hd_copy *c = &g->items.at[i].node.copy;

        if (g->items.at[i].node.kind == GRAPH_COPY)
            copy_of[(c->to->kind == SIM_MANAGED ? c->to : c->from)->object.uid] = i + 1;
    }
    status = check_kernels(g, copy_of, err);
    free(copy_of);
    return status;
}

static enum hd_status check_nodes(const hd_graph *g, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    if (g->items.len == 0)
        return hd_error_set(err, HD_BAD_INPUT, "graph-empty", NULL, NULL, "the graph has no nodes");
    for (uint32_t i = 0; i < g->items.len && status == HD_OK; i++)
        status = graph_node_check(&g->items.at[i].node, i, err);
    return status == HD_OK ? check_host_memory(g, err) : status;
}

/* The streams of the branches; these calls are part of the instantiation's cost. */
static enum hd_status make_branches(hd_graph_exec *x, struct hd_error *err)
{
    const uint64_t before = x->rt->host_ps;
    enum hd_status status = HD_OK;

    for (size_t i = 1; i < x->branches.len && status == HD_OK; i++)
        status = stream_make(x->rt, false, &x->branches.at[i], err);
    x->rt->host_ps = before;
    return status;
}

static void free_branches(hd_graph_exec *x)
{
    for (size_t i = 1; i < x->branches.len; i++) {
        if (x->branches.at[i])
            stream_destroy(x->branches.at[i]);
    }
    x->branches.len = 0;
}

static enum hd_status make_plan(const hd_graph *g, const uint32_t *order, hd_graph_exec *x,
                                struct hd_error *err)
{
    hd_runtime *rt = g->rt;
    enum hd_status status;

    x->rt = rt;
    if (!graph_plan(g, order, x) || !graph_plan_edges(g, order, x))
        return rt_no_memory(rt, err);
    status = make_branches(x, err);
    if (status != HD_OK) {
        free_branches(x);
        return status;
    }
    rt_charge(rt, rt->cost->instantiate);
    for (size_t i = 0; i < x->nodes.len; i++)
        rt_charge(rt, rt->cost->instantiate_node);
    list_insert(&rt->execs, &x->all);
    return HD_OK;
}

static enum hd_status instantiate(hd_graph *g, hd_graph_exec **out, struct hd_error *err)
{
    uint32_t *order = calloc(g->items.len, sizeof *order);
    hd_graph_exec *x = calloc(1, sizeof *x);
    enum hd_status status;

    make_unique(g);
    status = order && x ? graph_order(g, order, err) : rt_no_memory(g->rt, err);

    if (status == HD_OK)
        status = make_plan(g, order, x, err);
    free(order);
    if (status == HD_OK) {
        *out = x;
        return HD_OK;
    }
    if (x)
        free_exec_lists(x);
    free(x);
    return status;
}

enum hd_status hd_graph_instantiate(hd_runtime *rt, hd_graph *g, hd_graph_exec **out,
                                    struct hd_error *err)
{
    enum hd_status status;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = graph_given(rt, g, err);
    if (status == HD_OK)
        status = check_nodes(g, err);
    return status == HD_OK ? instantiate(g, out, err) : status;
}

enum hd_status hd_graph_exec_free(hd_runtime *rt, hd_graph_exec *x, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = exec_given(rt, x, err);
    if (status == HD_OK)
        status = rt_catch_up(rt, err);
    if (status != HD_OK)
        return status;
    free_branches(x);
    free_exec_lists(x);
    x->freed = true;
    return HD_OK;
}
