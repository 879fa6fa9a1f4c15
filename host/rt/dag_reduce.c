/*
 * The transitive filter: a candidate parent needs no edge if another candidate descends from it, since
 * waiting for that one waits for both.
 *
 * Candidates are in order of their appends, so ancestors have smaller numbers: the search goes from the candidates
 * to their parents and no further back than the oldest candidate. Parents include the ones that an earlier filter
 * took the edge from, which are ancestors too; that makes the common case, a candidate that the others use as well, one step.
 * A branch is left when no chain that it comes from is one of a sought candidate's. Finished vertices are
 * left as well: their ancestors have finished, and no candidate has.
 */
#include "host/rt/dag.h"

struct search {
    struct dag *dag;
    struct dag_vertex *work;
    uint64_t oldest;  /* seq of the first candidate */
    uint64_t chains;  /* of the candidates that can be covered */
    size_t uncovered; /* of those */
};

static void visit(struct search *s, struct dag_vertex *v)
{
    uint64_t number = s->dag->search;

    s->dag->steps++;
    if (v->finished || v->seq < s->oldest || v->visited == number)
        return;
    v->visited = number;
    if (v->candidate == number) { /* its own parents are searched from it */
        v->covered = true;
        s->uncovered--;
    } else if (v->chains & s->chains) {
        v->work = s->work;
        s->work = v;
    }
}

static void visit_parents(struct search *s, const struct dag_vertex *v)
{
    for (uint32_t i = 0; i < v->nparents; i++)
        visit(s, v->parents[i]);
}

void dag_reduce(struct dag *d)
{
    size_t n = d->candidates.len;
    struct search s = {.dag = d};

    if (n < 2)
        return;
    d->search++;
    s.oldest = d->candidates.at[0].vertex->seq;
    s.uncovered = n - 1; /* the last can have no descendant among them */
    for (size_t i = 0; i < n; i++) {
        struct dag_vertex *v = d->candidates.at[i].vertex;

        v->candidate = d->search;
        if (i + 1 < n)
            s.chains |= UINT64_C(1) << (v->chain % 64);
    }
    for (size_t i = n; i-- > 1 && s.uncovered;) {
        visit_parents(&s, d->candidates.at[i].vertex);
        while (s.work && s.uncovered) {
            struct dag_vertex *v = s.work;

            s.work = v->work;
            visit_parents(&s, v);
        }
    }
}
