/*
 * Graphs by hand on the fake machine. A graph is nodes separated by ';':
 *
 *     a x=r y=w @5 < b c     kernel a of 5 us that waits for b and c; "-" alone is an empty node
 */
#ifndef HD_TESTS_RT_GRAPH_RIG_H
#define HD_TESTS_RT_GRAPH_RIG_H

#include "tests/rt/rig.h"

enum { GRAPH_RIG_NODES = 64 };

struct graph_rig {
    struct rig *r;
    hd_graph *g;
    hd_graph_exec *x;
    char names[GRAPH_RIG_NODES][RIG_NAME];
    size_t nnames;
};

/* Makes the graph, without an instance. */
void graph_rig_make(struct graph_rig *gr, struct rig *r, const char *text);
void graph_rig_instantiate(struct graph_rig *gr);
/* The number of a node. */
uint32_t graph_rig_node(const struct graph_rig *gr, const char *name);
/* Launches it, on the default stream if s is NULL; each kernel is a statement of the rig. */
void graph_rig_launch(struct graph_rig *gr, hd_stream *s);
/* The statement of the n-th kernel of that name, from 0. */
const struct rig_stmt *graph_rig_stmt(const struct rig *r, const char *name, unsigned n);
/* Makes, instantiates and launches. */
void graph_rig_run(struct graph_rig *gr, struct rig *r, const char *text, hd_stream *s);

#endif
