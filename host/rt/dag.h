/*
 * The graph of computations: which of them must wait for which, found from the arrays that each
 * is given. The algorithm is that of GrCUDA's dependency sets; host/rt/README.md states it.
 *
 * A vertex is live from its append until it is known to have finished. It has an active argument list: the
 * arguments through which later computations may still depend on it. The vertices with a list that is not empty are the frontier.
 * Each array keeps its active uses, so that an append costs its arguments and parents, whatever the size of the frontier.
 */
#ifndef HD_HOST_RT_DAG_H
#define HD_HOST_RT_DAG_H

#include "host/heddle.h"
#include "host/rt/list.h"
#include "sim/base/vec.h"

enum { DAG_MAX_ARGS = ISA_MAX_PARAMS };

/* An array as the graph sees it: its active uses in frontier order, the writable and the read-only ones. */
struct dag_object {
    struct list uses[2]; /* of struct dag_use; [1]: read-only */
    uint32_t uid;
};

/* What a computation is given. One array may be given more than once. */
struct dag_arg {
    struct dag_object *object;
    bool read_only;
};

/* An active argument. */
struct dag_use {
    struct list link; /* in object->uses */
    struct dag_vertex *vertex;
    struct dag_object *object;
    bool read_only, active;
};

struct dag_vertex {
    uint64_t seq;    /* order of the appends */
    uint64_t node;   /* id in the record */
    uint64_t ticket; /* of the command whose completion is its end; 0 until it is submitted */
    struct hd_stream *stream;
    struct list in_stream; /* in the stream's active set */
    struct list in_frontier;
    /* nedges parents in frontier order, then those that are reached through another parent. */
    struct dag_vertex **parents;
    struct dag_vertex *work; /* next in a walk's worklist */
    uint64_t roots;   /* the vertices without parents that it descends from, by number modulo 64 */
    uint64_t visited; /* number of the last search that came here */
    uint64_t candidate; /* number of the search in which it is a candidate parent */
    uint32_t refs;      /* its children that have not finished, and 1 until it has */
    uint32_t nuses, nactive, nedges, nparents;
    bool finished;
    bool covered;   /* the search found that another candidate descends from it */
    bool inherited; /* a child has taken its stream */
    struct dag_use uses[];
};

struct dag_edge {
    struct dag_vertex *from;
    enum hd_edge_kind kind;    /* of the first array */
    uint32_t first_uid, nuids; /* in dag.edge_uids: the arrays that make it */
};

/* A live use that conflicts with a new computation. */
struct dag_hit {
    struct dag_use *use;
    bool keep; /* it stays active */
    enum hd_edge_kind kind;
};

/* A vertex with such uses. */
struct dag_candidate {
    struct dag_vertex *vertex;
    uint32_t first_hit, nhits;
};

struct dag {
    const struct dependency_policy *policy;
    void (*finished)(void *user,
                     struct dag_vertex *v); /* called once for each vertex, before it is freed */
    void *user;
    struct list frontier;
    size_t nfrontier, nlive;
    size_t bytes;   /* memory of vertices */
    uint64_t steps; /* uses and vertices looked at: the work done, for tests */
    uint64_t next_seq, next_root, search;
    VEC(struct dag_hit) hits;
    VEC(struct dag_candidate) candidates;
    /* The edges of the last append. */
    VEC(struct dag_edge) edges;
    VEC(uint32_t) edge_uids;
};

/*
 * Which computations depend on each other. To add one: a file policy_dependency_NAME.c with one such struct, and a
 * row in host/rt/registry.c.
 */
struct dependency_policy {
    /* Turns arguments into the active list a vertex starts with, in place; returns its length. */
    unsigned (*active)(struct dag_arg *args, unsigned nargs);
    /*
     * The first of args[from..nargs) that concerns the object of args[from] and conflicts with a live use of it
     * that is read-only or not; or -1.
     */
    int (*conflict)(const struct dag_arg *args, unsigned nargs, unsigned from, bool live_read_only);
    /* Whether a live use stays active after a conflict with the new argument. */
    bool (*keeps)(const struct dag_arg *newer);
    /* Marks the candidates that no edge is needed from as covered; NULL: each gets an edge. */
    void (*reduce)(struct dag *d);
};

void dag_init(struct dag *d, const struct dependency_policy *policy,
              void (*finished)(void *user, struct dag_vertex *v), void *user);
/* Frees the scratch memory; the vertices must have finished. */
void dag_free(struct dag *d);

void dag_object_init(struct dag_object *o, uint32_t uid);

/*
 * Adds a computation after all others, with at most DAG_MAX_ARGS arguments, and fills d->edges. NULL when memory
 * is short: nothing has changed then.
 */
struct dag_vertex *dag_append(struct dag *d, const struct dag_arg *args, unsigned nargs);

/* The vertex has finished, and so have all its ancestors. It is freed, unless a live child still names it. */
void dag_finish(struct dag *d, struct dag_vertex *v);

/* dag_reduce.c: marks a candidate as covered if another candidate descends from it. */
void dag_reduce(struct dag *d);

#endif
