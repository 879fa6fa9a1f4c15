#include "host/results/ideal.h"

#include "host/results/json_writer.h"

#include <stdlib.h>
#include <string.h>

static int by_node(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->queued_ps > y->queued_ps) - (x->queued_ps < y->queued_ps);
}

static int by_id(const void *a, const void *b)
{
    const struct span_node *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int by_to(const void *a, const void *b)
{
    const struct span_edge *x = a, *y = b;

    return (x->to > y->to) - (x->to < y->to);
}

static void *sorted_copy(const void *from, size_t n, size_t size,
                         int (*order)(const void *, const void *))
{
    void *copy = calloc(n + 1, size);

    if (copy && n) {
        memcpy(copy, from, n * size);
        qsort(copy, n, size, order);
    }
    return copy;
}

/* The time of each node that is a kernel, in the order given; returns how many there are, 0 if one began before the one before it had ended. */
static size_t measure(const struct timeline *t, const struct span_node *nodes,
                      const struct span *spans, uint64_t *times)
{
    uint64_t from_ps = t->begin_ps, kernel_end_ps = 0;
    bool host_between = false;
    size_t i, s = 0, n = 0;

    for (i = 0; i < t->nnodes; i++) {
        uint64_t queued_ps = UINT64_MAX, end_ps = 0;

        while (s < t->nspans && spans[s].node < nodes[i].id)
            s++;
        for (; s < t->nspans && spans[s].node == nodes[i].id; s++) {
            queued_ps = spans[s].queued_ps < queued_ps ? spans[s].queued_ps : queued_ps;
            if (spans[s].kind == SPAN_KERNEL && n > 0 && spans[s].start_ps < kernel_end_ps)
                return 0;
            end_ps = spans[s].kind == SPAN_KERNEL ? spans[s].end_ps : end_ps;
        }
        host_between |= nodes[i].host;
        if (nodes[i].host || end_ps == 0)
            continue;
        /* The call begins when the one before has returned, unless the host had other work. */
        if (n > 0 && host_between)
            from_ps = queued_ps;
        times[n++] = end_ps > from_ps ? end_ps - from_ps : 0;
        from_ps = kernel_end_ps = end_ps;
        host_between = false;
    }
    return n;
}

bool element_times(const struct timeline *serial, uint64_t **times, size_t *n)
{
    struct span_node *nodes = sorted_copy(serial->nodes, serial->nnodes, sizeof *nodes, by_id);
    struct span *spans = sorted_copy(serial->spans, serial->nspans, sizeof *spans, by_node);

    *times = calloc(serial->nnodes + 1, sizeof **times);
    if (nodes && spans && *times)
        *n = measure(serial, nodes, spans, *times);
    else {
        free(*times);
        *times = NULL;
    }
    free(nodes);
    free(spans);
    return *times != NULL;
}

static size_t place_of(const struct span_node *nodes, size_t n, uint64_t id)
{
    struct span_node key = {.id = id};
    const struct span_node *found = bsearch(&key, nodes, n, sizeof *nodes, by_id);

    return found ? (size_t)(found - nodes) : n;
}

/* done[i]: when node i has ended; edges are by `to`, so that parents come first. */
static uint64_t longest(const struct timeline *t, const struct span_node *nodes,
                        const struct span_edge *edges, const uint64_t *times, uint64_t *done)
{
    uint64_t after_host = 0, last = 0;
    size_t i, e = 0, kernel = 0;

    for (i = 0; i < t->nnodes; i++) {
        done[i] = after_host;
        while (e < t->nedges && edges[e].to < nodes[i].id)
            e++;
        for (; e < t->nedges && edges[e].to == nodes[i].id; e++) {
            size_t parent = place_of(nodes, t->nnodes, edges[e].from);

            if (parent < i && done[parent] > done[i])
                done[i] = done[parent];
        }
        if (nodes[i].host)
            after_host = done[i];
        else
            done[i] += times[kernel++];
        last = done[i] > last ? done[i] : last;
    }
    return last;
}

uint64_t contention_free(const struct timeline *t, const uint64_t *times, size_t n)
{
    struct span_node *nodes = sorted_copy(t->nodes, t->nnodes, sizeof *nodes, by_id);
    struct span_edge *edges = sorted_copy(t->edges, t->nedges, sizeof *edges, by_to);
    uint64_t *done = calloc(t->nnodes + 1, sizeof *done);
    uint64_t result = JSON_NO_TIME;
    size_t i, kernels = 0;

    for (i = 0; i < t->nnodes; i++)
        kernels += !t->nodes[i].host;
    if (nodes && edges && done && kernels == n)
        result = longest(t, nodes, edges, times, done);
    free(nodes);
    free(edges);
    free(done);
    return result;
}
