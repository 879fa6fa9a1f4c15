/*
 * From a graph to commands on queues: an order of the nodes, a branch for each, and the waits between branches. A node
 * goes on a branch whose last node it waits for anyway, directly if it can, so that nothing is ordered that the graph
 * leaves open; only past GRAPH_BRANCHES branches nodes share one.
 */
#include "host/rt/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- order, and cycles ------------------------------------------------------------------------------ */

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* A search from a node to what it waits for; its path is the list of open nodes. */
struct search {
    const hd_graph *graph;
    unsigned char *mark;
    uint32_t *next, *path; /* next dependency to look at, by node */
    size_t depth;
    uint32_t *order;
    size_t done;
};

enum { CYCLE_NAMES = 6 }; /* a message has room for these */

static enum hd_status cycle_error(const struct search *s, uint32_t again, struct hd_error *err)
{
    char text[(CYCLE_NAMES + 2) * (GRAPH_NAME_MAX + 32)], name[GRAPH_NAME_MAX];
    size_t first = s->depth - 1, at;

    while (s->path[first] != again)
        first--;
    graph_node_name(&s->graph->items.at[again].node, again, name);
    at = (size_t)snprintf(text, sizeof text, "%s", name);
    for (size_t i = first + 1; i <= s->depth; i++) {
        uint32_t node = i < s->depth ? s->path[i] : again;

        graph_node_name(&s->graph->items.at[node].node, node, name);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s waits for %s",
                               i > first + 1 ? ", which" : "", name);
        if (i - first == CYCLE_NAMES && i < s->depth) {
            snprintf(text + at, sizeof text - at, ", and so on");
            break;
        }
    }
    return hd_error_set(err, HD_BAD_INPUT, "graph-cycle", NULL,
                        "no node of a cycle could ever start: take one dependency away",
                        "the graph has a cycle of %zu node%s: %s", s->depth - first,
                        s->depth - first == 1 ? "" : "s", text);
}

static void open_node(struct search *s, uint32_t node)
{
    s->mark[node] = MARK_OPEN;
    s->path[s->depth++] = node;
}

/* Goes on from the last node of the path. */
static enum hd_status step(struct search *s, struct hd_error *err)
{
    const uint32_t node = s->path[s->depth - 1];
    const struct graph_item *item = &s->graph->items.at[node];
    uint32_t dep;

    if (s->next[node] == item->deps.len) {
        s->mark[node] = MARK_DONE;
        s->order[s->done++] = node;
        s->depth--;
        return HD_OK;
    }
    dep = item->deps.at[s->next[node]++];
    if (s->mark[dep] == MARK_OPEN)
        return cycle_error(s, dep, err);
    if (s->mark[dep] == MARK_NEW)
        open_node(s, dep);
    return HD_OK;
}

enum hd_status graph_order(const hd_graph *g, uint32_t *order, struct hd_error *err)
{
    const size_t n = g->items.len;
    struct search s = {.graph = g, .order = order};
    enum hd_status status = HD_OK;

    s.mark = calloc(n, sizeof *s.mark);
    s.next = calloc(n, sizeof *s.next);
    s.path = calloc(n, sizeof *s.path);
    if (!s.mark || !s.next || !s.path)
        status = rt_no_memory(g->rt, err);
    for (uint32_t i = 0; i < n && status == HD_OK; i++) {
        if (s.mark[i] == MARK_NEW)
            open_node(&s, i);
        while (s.depth > 0 && status == HD_OK)
            status = step(&s, err);
    }
    free(s.mark);
    free(s.next);
    free(s.path);
    return status;
}

/* ---- branches ---------------------------------------------------------------------------------------- */

struct plan {
    const hd_graph *graph;
    const uint32_t *order;
    hd_graph_exec *exec;
    uint32_t *place; /* of a node of the graph in the order */
    uint32_t *before; /* [node in order][branch]: how many of the branch's nodes come before its end, itself included */
    uint32_t *position;            /* of a node in its branch */
    uint32_t last[GRAPH_BRANCHES]; /* the last node of each branch */
    uint32_t length[GRAPH_BRANCHES];
    uint32_t times[GRAPH_BRANCHES]; /* of the node in hand: dependencies that have as much of the branch before them */
    uint32_t most; /* branches that there may be */
};

static uint32_t *before(const struct plan *p, uint32_t node)
{
    return p->before + (size_t)node * p->most;
}

static uint32_t nbranches(const struct plan *p)
{
    return (uint32_t)p->exec->branches.len;
}

static void add_before(struct plan *p, uint32_t node, uint32_t dep)
{
    uint32_t *mine = before(p, node), *times = p->times;
    const uint32_t *theirs = before(p, dep);
    const uint32_t n = nbranches(p);

    for (uint32_t b = 0; b < n; b++) {
        uint32_t so_far = theirs[b] > mine[b] ? 0 : times[b];

        mine[b] = theirs[b] > mine[b] ? theirs[b] : mine[b];
        times[b] = so_far + (theirs[b] == mine[b]);
    }
}

static bool whole_branch_before(const struct plan *p, uint32_t node, uint32_t branch)
{
    return before(p, node)[branch] == p->length[branch];
}

static uint32_t shortest_branch(const struct plan *p)
{
    uint32_t best = 0;

    for (uint32_t b = 1; b < nbranches(p); b++)
        best = p->length[b] < p->length[best] ? b : best;
    return best;
}

/* The number of a new branch is that of those there are. */
static uint32_t choose_branch(const struct plan *p, uint32_t node)
{
    const struct graph_item *item = &p->graph->items.at[p->order[node]];

    for (size_t i = 0; i < item->deps.len; i++) {
        uint32_t dep = p->place[item->deps.at[i]], branch = p->exec->nodes.at[dep].branch;

        if (p->last[branch] == dep)
            return branch;
    }
    for (uint32_t b = 0; b < nbranches(p); b++) {
        if (whole_branch_before(p, node, b))
            return b;
    }
    return nbranches(p) < p->most ? nbranches(p) : shortest_branch(p);
}

/*
 * Whether the wait for a dependency is needed: not on the same branch, and not behind another thing waited for. The
 * dependency itself is the last of position + 1 nodes of its branch, so that no other one may have as many before it.
 */
static bool needs_wait(const struct plan *p, uint32_t node, uint32_t dep, bool has_earlier,
                       uint32_t earlier)
{
    const uint32_t branch = p->exec->nodes.at[dep].branch, position = p->position[dep];

    if (branch == p->exec->nodes.at[node].branch ||
        (has_earlier && before(p, earlier)[branch] > position))
        return false;
    return before(p, node)[branch] == position + 1 && p->times[branch] == 1;
}

static bool add_waits(struct plan *p, uint32_t node, bool has_earlier, uint32_t earlier)
{
    struct exec_node *n = &p->exec->nodes.at[node];
    const struct graph_item *item = &p->graph->items.at[n->number];

    n->first_wait = (uint32_t)p->exec->waits.len;
    for (size_t i = 0; i < item->deps.len; i++) {
        uint32_t dep = p->place[item->deps.at[i]];

        if (!needs_wait(p, node, dep, has_earlier, earlier))
            continue;
        if (!vec_push(&p->exec->waits, dep))
            return false;
        n->nwaits++;
    }
    n->forked = n->branch > 0 && !has_earlier && item->deps.len == 0;
    return true;
}

static bool place_node(struct plan *p, uint32_t node)
{
    struct exec_node *n = &p->exec->nodes.at[node];
    const struct graph_item *item = &p->graph->items.at[p->order[node]];
    uint32_t b, earlier;
    bool has_earlier;

    memset(p->times, 0, sizeof p->times);
    for (size_t i = 0; i < item->deps.len; i++)
        add_before(p, node, p->place[item->deps.at[i]]);
    b = choose_branch(p, node);
    has_earlier = b < nbranches(p);
    if (!has_earlier && !vec_push(&p->exec->branches, NULL))
        return false;
    earlier = has_earlier ? p->last[b] : 0;
    n->branch = b;
    if (!add_waits(p, node, has_earlier, earlier))
        return false;
    p->position[node] = p->length[b]++;
    p->last[b] = node;
    before(p, node)[b] = p->length[b];
    return true;
}

/* The ends of branches that no other end comes after. */
static bool find_ends(struct plan *p)
{
    for (uint32_t b = 1; b < nbranches(p); b++) {
        bool covered = false;

        for (uint32_t other = 0; other < nbranches(p) && !covered; other++)
            covered = other != b && whole_branch_before(p, p->last[other], b);
        if (!covered && !vec_push(&p->exec->ends, p->last[b]))
            return false;
    }
    return true;
}

static bool copy_nodes(struct plan *p)
{
    const size_t n = p->graph->items.len;

    if (!vec_reserve(&p->exec->nodes, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct exec_node node = {.node = p->graph->items.at[p->order[i]].node,
                                 .number = p->order[i]};

        p->exec->nodes.at[p->exec->nodes.len++] = node;
        p->place[p->order[i]] = i;
    }
    return true;
}

bool graph_plan(const hd_graph *g, const uint32_t *order, hd_graph_exec *x)
{
    const size_t n = g->items.len;
    struct plan p = {.graph = g, .order = order, .exec = x};
    bool done;

    p.most = n < GRAPH_BRANCHES ? (uint32_t)n : GRAPH_BRANCHES;
    p.place = calloc(n, sizeof *p.place);
    p.position = calloc(n, sizeof *p.position);
    p.before = calloc(n, p.most * sizeof *p.before);
    done = p.place && p.position && p.before && copy_nodes(&p);
    for (uint32_t i = 0; i < n && done; i++)
        done = place_node(&p, i);
    done = done && find_ends(&p);
    free(p.place);
    free(p.position);
    free(p.before);
    return done;
}
