#include "host/rt/dag.h"

#include <stdlib.h>
#include <string.h>

void dag_init(struct dag *d, const struct dependency_policy *policy,
              void (*finished)(void *user, struct dag_vertex *v), void *user)
{
    memset(d, 0, sizeof *d);
    d->policy = policy;
    d->finished = finished;
    d->user = user;
    list_init(&d->frontier);
}

void dag_free(struct dag *d)
{
    vec_free(&d->hits);
    vec_free(&d->candidates);
    vec_free(&d->edges);
    vec_free(&d->edge_uids);
}

void dag_object_init(struct dag_object *o, uint32_t uid)
{
    list_init(&o->uses[0]);
    list_init(&o->uses[1]);
    o->uid = uid;
}

/* ---- active uses and the frontier -------------------------------------------------------------- */

static void deactivate(struct dag *d, struct dag_use *u)
{
    struct dag_vertex *v = u->vertex;

    list_remove(&u->link);
    u->active = false;
    if (--v->nactive == 0) {
        list_remove(&v->in_frontier);
        d->nfrontier--;
    }
}

static void activate(struct dag *d, struct dag_vertex *v, const struct dag_arg *args)
{
    for (unsigned i = 0; i < v->nuses; i++) {
        struct dag_use *u = &v->uses[i];

        u->vertex = v;
        u->object = args[i].object;
        u->read_only = args[i].read_only;
        u->active = true;
        list_insert(&u->object->uses[u->read_only], &u->link);
    }
    v->nactive = v->nuses;
    if (v->nactive) {
        list_insert(&d->frontier, &v->in_frontier);
        d->nfrontier++;
    }
}

/* ---- conflicts --------------------------------------------------------------------------------- */

static bool seen_before(const struct dag_arg *args, unsigned i)
{
    for (unsigned j = 0; j < i; j++) {
        if (args[j].object == args[i].object)
            return true;
    }
    return false;
}

static enum hd_edge_kind edge_kind(bool old_read_only, bool new_read_only)
{
    if (new_read_only)
        return HD_EDGE_RAW;
    return old_read_only ? HD_EDGE_WAR : HD_EDGE_WAW;
}

static bool collect_from(struct dag *d, struct list *uses, const struct dag_arg *newer)
{
    bool keep = d->policy->keeps(newer);

    for (struct list *l = uses->next; l != uses; l = l->next) {
        struct dag_use *u = LIST_ITEM(l, struct dag_use, link);
        struct dag_hit hit = {u, keep, edge_kind(u->read_only, newer->read_only)};

        d->steps++;
        if (!vec_push(&d->hits, hit))
            return false;
    }
    return true;
}

static int by_vertex_then_argument(const void *a, const void *b)
{
    const struct dag_use *x = ((const struct dag_hit *)a)->use;
    const struct dag_use *y = ((const struct dag_hit *)b)->use;

    if (x->vertex != y->vertex)
        return x->vertex->seq < y->vertex->seq ? -1 : 1;
    return (x > y) - (x < y);
}

/* All live uses that conflict with the new arguments, in frontier order. */
static bool collect_hits(struct dag *d, const struct dag_arg *args, unsigned nargs)
{
    d->hits.len = 0;
    for (unsigned i = 0; i < nargs; i++) {
        if (seen_before(args, i))
            continue;
        for (unsigned read_only = 0; read_only < 2; read_only++) {
            int j = d->policy->conflict(args, nargs, i, read_only);

            if (j >= 0 && !collect_from(d, &args[i].object->uses[read_only], &args[j]))
                return false;
        }
    }
    if (d->hits.len > 1)
        qsort(d->hits.at, d->hits.len, sizeof d->hits.at[0], by_vertex_then_argument);
    return true;
}

static bool group_candidates(struct dag *d)
{
    struct dag_vertex *last = NULL;

    d->candidates.len = 0;
    for (size_t i = 0; i < d->hits.len; i++) {
        struct dag_vertex *v = d->hits.at[i].use->vertex;
        struct dag_candidate c = {v, (uint32_t)i, 0};

        if (v != last && !vec_push(&d->candidates, c))
            return false;
        d->candidates.at[d->candidates.len - 1].nhits++;
        v->covered = false;
        last = v;
    }
    return true;
}

/* ---- append ------------------------------------------------------------------------------------ */

static size_t vertex_bytes(const struct dag_vertex *v)
{
    return sizeof *v + v->nuses * sizeof v->uses[0] + v->nparents * sizeof v->parents[0];
}

static struct dag_vertex *vertex_new(struct dag *d, unsigned nuses)
{
    struct dag_vertex sizes = {.nuses = nuses, .nparents = (uint32_t)d->candidates.len};
    struct dag_vertex *v = malloc(vertex_bytes(&sizes));

    if (!v)
        return NULL;
    *v = sizes;
    v->seq = d->next_seq++;
    v->refs = 1;
    v->parents = (struct dag_vertex **)(void *)(v->uses + nuses);
    list_init(&v->in_stream);
    list_init(&v->in_frontier);
    d->nlive++;
    d->bytes += vertex_bytes(v);
    return v;
}

/* An array that was given twice makes two hits and is named once. */
static void add_edge(struct dag *d, const struct dag_candidate *c)
{
    const struct dag_hit *hits = &d->hits.at[c->first_hit];
    struct dag_edge *edge = &d->edges.at[d->edges.len++];

    *edge = (struct dag_edge){c->vertex, hits[0].kind, (uint32_t)d->edge_uids.len, 0};
    for (uint32_t i = 0; i < c->nhits; i++) {
        uint32_t uid = hits[i].use->object->uid, j = 0;

        while (j < edge->nuids && d->edge_uids.at[edge->first_uid + j] != uid)
            j++;
        d->edge_uids.at[edge->first_uid + j] = uid;
        edge->nuids = j < edge->nuids ? edge->nuids : j + 1;
        d->edge_uids.len = edge->first_uid + edge->nuids;
    }
}

static void find_roots(struct dag *d, struct dag_vertex *v)
{
    if (v->nparents == 0)
        v->roots = UINT64_C(1) << (d->next_root++ % 64);
    for (uint32_t i = 0; i < v->nparents; i++)
        v->roots |= v->parents[i]->roots;
}

static void connect(struct dag *d, struct dag_vertex *v)
{
    uint32_t covered = v->nparents;

    d->edges.len = d->edge_uids.len = 0;
    for (size_t i = 0; i < d->candidates.len; i++) {
        const struct dag_candidate *c = &d->candidates.at[i];

        c->vertex->refs++;
        if (c->vertex->covered) {
            v->parents[--covered] = c->vertex;
            continue;
        }
        v->parents[v->nedges++] = c->vertex;
        add_edge(d, c);
    }
    find_roots(d, v);
}

struct dag_vertex *dag_append(struct dag *d, const struct dag_arg *args, unsigned nargs)
{
    struct dag_arg active[DAG_MAX_ARGS];
    struct dag_vertex *v;
    unsigned nactive;

    if (nargs)
        memcpy(active, args, nargs * sizeof args[0]);
    nactive = d->policy->active(active, nargs);
    if (!collect_hits(d, active, nactive) || !group_candidates(d) ||
        !vec_reserve(&d->edges, d->candidates.len) || !vec_reserve(&d->edge_uids, d->hits.len))
        return NULL;
    if (d->policy->reduce)
        d->policy->reduce(d);
    v = vertex_new(d, nactive);
    if (!v)
        return NULL;
    connect(d, v);
    for (size_t i = 0; i < d->hits.len; i++) {
        if (!d->hits.at[i].keep)
            deactivate(d, d->hits.at[i].use);
    }
    activate(d, v, active);
    return v;
}

/* ---- finish ------------------------------------------------------------------------------------ */

static void release(struct dag *d, struct dag_vertex *v)
{
    if (--v->refs > 0)
        return;
    d->nlive--;
    d->bytes -= vertex_bytes(v);
    free(v);
}

/* Marks the vertex and adds it to the worklist. */
static void push_finished(struct dag_vertex **work, struct dag_vertex *v)
{
    v->finished = true;
    v->work = *work;
    *work = v;
}

void dag_finish(struct dag *d, struct dag_vertex *v)
{
    struct dag_vertex *work = NULL;

    push_finished(&work, v);
    while (work) {
        v = work;
        work = v->work;
        for (uint32_t i = 0; i < v->nuses; i++) {
            if (v->uses[i].active)
                deactivate(d, &v->uses[i]);
        }
        d->finished(d->user, v);
        for (uint32_t i = 0; i < v->nedges; i++) {
            if (!v->parents[i]->finished)
                push_finished(&work, v->parents[i]);
        }
        for (uint32_t i = 0; i < v->nparents; i++)
            release(d, v->parents[i]);
        release(d, v);
    }
}
