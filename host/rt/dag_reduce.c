/*
 * The transitive filter: a candidate parent needs no edge if another candidate descends from it, since
 * waiting for that one waits for both.
 *
 * The search goes from the candidates back to their parents, level by level. Parents include the ones that an earlier
 * filter took the edge from, which are ancestors too; that makes the common case, a candidate that the others use as
 * well, one step. Candidates are in order of their appends and ancestors have smaller numbers: nothing older than the oldest
 * candidate still sought is looked at. A descendant has its ancestors' roots: a vertex without those that all sought
 * candidates have, or without any that one has, leads to none. Finished vertices are left as well: their
 * ancestors have finished, and no candidate has.
 */
#include "host/rt/dag.h"

struct search {
    struct dag *dag;
    struct dag_vertex *first, *last; /* worklist */
    size_t sought; /* candidates that may yet be covered: all but the last, less the covered ones */
    size_t oldest; /* index of the first of those */
    uint64_t common; /* roots that all of those have, or fewer */
    uint64_t any;    /* roots that one of those has, or more */
    size_t counted;  /* how many there were when the roots were gathered */
};

static void gather_roots(struct search *s)
{
    const struct dag *d = s->dag;

    s->common = ~UINT64_C(0);
    s->any = 0;
    s->counted = s->sought;
    for (size_t i = s->oldest; i + 1 < d->candidates.len; i++) {
        const struct dag_vertex *v = d->candidates.at[i].vertex;

        if (v->covered)
            continue;
        s->common &= v->roots;
        s->any |= v->roots;
    }
}

static void cover(struct search *s, struct dag_vertex *v)
{
    v->covered = true;
    if (--s->sought == 0)
        return;
    while (s->dag->candidates.at[s->oldest].vertex->covered)
        s->oldest++;
    if (s->sought <= s->counted / 2) /* at most as much work as there are candidates, in all */
        gather_roots(s);
}

static bool may_lead_on(const struct search *s, const struct dag_vertex *v)
{
    return v->seq > s->dag->candidates.at[s->oldest].vertex->seq && (v->roots & s->any) &&
           !(s->common & ~v->roots);
}

static void push(struct search *s, struct dag_vertex *v)
{
    v->work = NULL;
    if (s->first)
        s->last->work = v;
    else
        s->first = v;
    s->last = v;
}

static void visit(struct search *s, struct dag_vertex *v)
{
    uint64_t number = s->dag->search;

    s->dag->steps++;
    if (v->finished || v->visited == number)
        return;
    v->visited = number;
    if (v->candidate == number) /* its own parents are visited from it */
        cover(s, v);
    else if (may_lead_on(s, v))
        push(s, v);
}

static void visit_parents(struct search *s, const struct dag_vertex *v)
{
    for (uint32_t i = 0; i < v->nparents && s->sought; i++)
        visit(s, v->parents[i]);
}

void dag_reduce(struct dag *d)
{
    size_t n = d->candidates.len;
    struct search s = {.dag = d, .sought = n - 1};

    if (n < 2)
        return;
    d->search++;
    for (size_t i = 0; i < n; i++)
        d->candidates.at[i].vertex->candidate = d->search;
    gather_roots(&s);
    for (size_t i = n; i-- > 1;)
        visit_parents(&s, d->candidates.at[i].vertex);
    while (s.first && s.sought) {
        struct dag_vertex *v = s.first;

        s.first = v->work;
        if (may_lead_on(&s, v))
            visit_parents(&s, v);
    }
}
