/* Graphs that the program makes itself: nodes with stated dependencies, and what is made of them to be launched. */
#ifndef HD_HOST_RT_GRAPH_H
#define HD_HOST_RT_GRAPH_H

#include "host/rt/runtime.h"

enum graph_node_kind { GRAPH_KERNEL, GRAPH_COPY, GRAPH_EMPTY };

struct graph_node {
    enum graph_node_kind kind;
    struct rt_bound bound; /* of a copy only the computation */
    struct hd_copy copy;
};

/* A node and what it waits for; a node may be there twice until the graph is instantiated. */
struct graph_item {
    struct graph_node node;
    VEC(uint32_t) deps;
    uint32_t mark; /* one more than the last node that was told to wait for it */
};

struct hd_graph {
    struct list all;
    hd_runtime *rt;
    VEC(struct graph_item) items;
    bool freed; /* kept so that a late use is found */
};

/*
 * A branch is a queue of its own for nodes that wait for each other anyway; branch 0 is the stream of the launch. More than
 * GRAPH_BRANCHES kernels are not resident at once on the parts modelled here (CUDA C++ Programming Guide, compute
 * capabilities: 128 resident grids for 6.0 and 7.5, 32 for 5.2).
 */
enum { GRAPH_BRANCHES = 128 };

struct exec_node {
    struct graph_node node;
    uint32_t number;             /* in the graph */
    uint32_t branch;             /* its queue */
    bool forked;                 /* first of its branch, and waits for no node */
    uint32_t first_wait, nwaits; /* in exec.waits */
    uint32_t first_edge, nedges; /* in exec.edges */
    /* of the last launch */
    uint64_t ticket, id;
    struct dag_vertex *vertex;
};

/* From a kernel of the graph to a later one, for the record. */
struct exec_edge {
    uint32_t from;
    enum hd_edge_kind kind;
    uint32_t first_uid, nuids; /* in exec.uids */
};

/* Nodes are numbered in an order in which each comes after what it waits for. */
struct hd_graph_exec {
    struct list all;
    hd_runtime *rt;
    VEC(struct exec_node) nodes;
    VEC(uint32_t) waits; /* nodes of other branches */
    VEC(uint32_t) ends;  /* nodes that the end of the graph waits for beside branch 0 */
    VEC(struct exec_edge) edges;
    VEC(uint32_t) uids;
    VEC(hd_stream *) branches; /* the first one is NULL */
    hd_stream *last_stream;    /* of the last launch, or NULL */
    uint64_t last_ticket;      /* of its end */
    bool freed;
};

/* "square (node 3)", into out. */
enum { GRAPH_NAME_MAX = 96 };
void graph_node_name(const struct graph_node *n, uint32_t number, char *out);
/* HD_BAD_INPUT for NULL, a freed graph or another runtime's. */
enum hd_status graph_given(const hd_runtime *rt, const hd_graph *g, struct hd_error *err);
enum hd_status exec_given(const hd_runtime *rt, const hd_graph_exec *x, struct hd_error *err);
/* A new node, whose number goes to *number; pays for it. */
enum hd_status graph_add(hd_graph *g, const struct graph_node *node, const uint32_t *deps,
                         size_t ndeps, uint32_t *number, struct hd_error *err);
/* HD_BAD_INPUT if an array that the node uses was freed. */
enum hd_status graph_node_check(const struct graph_node *n, uint32_t number, struct hd_error *err);

/* Fills order[] with the graph's nodes so that each comes after what it waits for; a cycle is HD_BAD_INPUT. */
enum hd_status graph_order(const hd_graph *g, uint32_t *order, struct hd_error *err);
/* Fills all of x but its streams from a graph and an order; false when memory is short. */
bool graph_plan(const hd_graph *g, const uint32_t *order, hd_graph_exec *x);
/* The edges of the plan between kernels; false when memory is short. */
bool graph_plan_edges(const hd_graph *g, const uint32_t *order, hd_graph_exec *x);

/* Frees all graphs of a runtime. */
void graphs_free(hd_runtime *rt);

#endif
