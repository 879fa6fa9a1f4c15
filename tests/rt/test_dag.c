/*
 * The dependency graph: the published examples, and random programs against a reference that follows the
 * algorithm's text line by line: it scans the whole frontier and searches descendants along child edges.
 */
#include "host/rt/policies.h"
#include "sim/base/rng.h"
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- examples ------------------------------------------------------------------------------------ */

struct example {
    const char *settings, *program, *edges, *frontier;
};

static void check_example(const struct example *e)
{
    struct rig *r = rig_new(e->settings);
    struct text frontier = {0};

    rig_run(r, e->program);
    rig_frontier(r, &frontier);
    assert_string_equal(text_str(&r->edge_text), e->edges);
    assert_string_equal(text_str(&frontier), e->frontier);
    text_free(&frontier);
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_check_order(r, e->program);
    rig_free(r);
}

static void test_examples_with_const(void **state)
{
    static const struct example examples[] = {
        /* The mock tests of the public implementation. */
        {"", "v0 1=r; v1 1=r; v2 1=w 2=w; v3 2=w", "v0->v2[1] v1->v2[1] v2->v3[2]", "v2 v3"},
        {"", "v0 1=w; v1 1=r; v2 1=r", "v0->v1[1] v0->v2[1]", "v0 v1 v2"},
        {"", "v0 1=w; v1 1=r; v2 1=r; v3 1=w", "v0->v1[1] v0->v2[1] v1->v3[1] v2->v3[1]", "v3"},
        {"", "v0 1=r 2=w; v1 1=w; v2 2=r; v3 1=r 3=w; v4 1=r 4=w; v5 4=w",
         "v0->v1[1] v0->v2[2] v1->v3[1] v1->v4[1] v4->v5[4]", "v0 v1 v2 v3 v4 v5"},
        {"", "v0 1=r 2=w; v1 1=w; v2 2=r; v3 1=r 3=w; v4 1=r 4=w; v5 4=w; v6 1=w 3=w 4=w",
         "v0->v1[1] v0->v2[2] v1->v3[1] v1->v4[1] v4->v5[4] v3->v6[1+3] v5->v6[4]", "v0 v2 v6"},
        /* Writers follow each other; what is finished has no edge. */
        {"", "v0 1=w; v1 1=w; v2 1=w", "v0->v1[1] v1->v2[1]", "v2"},
        {"", "v0 1=w; read 1; v1 1=w", "v0->read 1[1]", "v1"},
        /* Children of different arguments are siblings. */
        {"", "v0 x=w y=w; v1 x=w; v2 y=w", "v0->v1[x] v0->v2[y]", "v1 v2"},
        /* No array, no part in the graph. */
        {"", "v0; v1 1=w; v2", "", "v1"},
        /* An array given twice: the first conflicting argument decides whether the parent's stays. */
        {"", "a x=w; n x=r x=w; z x=r", "a->n[x] n->z[x]", "a n z"},
        {"", "a x=w; n x=w x=r; z x=r", "a->n[x] n->z[x]", "n z"},
        {"", "n x=r x=w; z x=r", "n->z[x]", "n z"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        check_example(&examples[i]);
}

static void test_examples_no_const(void **state)
{
    static const struct example examples[] = {
        {"host.dependency=no-const", "v0 1=r; v1 1=r; v2 1=r", "v0->v1[1] v1->v2[1]", "v2"},
        /* Edges that another path makes needless stay. */
        {"host.dependency=no-const", "a x=w y=w; b x=w; c x=w y=w", "a->b[x] a->c[y] b->c[x]", "c"},
        {"host.dependency=no-const", "a x=r x=w; b x=r", "a->b[x]", "b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        check_example(&examples[i]);
}

static void test_edge_kinds(void **state)
{
    struct rig *r = rig_new("");

    (void)state;
    rig_run(r, "a x=w; b x=r; c x=w; d x=w");
    assert_string_equal(text_str(&r->edge_text), "a->b[x] b->c[x] c->d[x]");
    assert_string_equal(text_str(&r->edge_kinds), "raw war waw");
    rig_free(r);
    r = rig_new("host.dependency=no-const");
    rig_run(r, "a x=w; b x=r; c x=r; d x=w");
    assert_string_equal(text_str(&r->edge_kinds), "waw waw waw");
    rig_free(r);
}

/* ---- the reference --------------------------------------------------------------------------------- */

enum { MAX_V = 48, MAX_A = 4, ARRAYS = 5 };

struct ref_arg {
    int array;
    bool read_only, active;
};

struct ref_vertex {
    struct ref_arg args[MAX_A];
    int nargs;
    bool finished, child[MAX_V];
};

struct reference {
    struct ref_vertex v[MAX_V];
    int n;
    bool with_const;
    unsigned deps[MAX_V]; /* of the last append: arrays by vertex, a bit each */
};

static bool ref_active(const struct ref_vertex *v)
{
    for (int i = 0; i < v->nargs; i++) {
        if (v->args[i].active)
            return true;
    }
    return false;
}

static void ref_meet(struct reference *ref, int old, const struct ref_vertex *new_v)
{
    struct ref_vertex *v = &ref->v[old];

    for (int i = 0; i < v->nargs; i++) {
        struct ref_arg *a = &v->args[i];

        for (int j = 0; a->active && j < new_v->nargs; j++) {
            const struct ref_arg *b = &new_v->args[j];

            if (b->array != a->array || (ref->with_const && a->read_only && b->read_only))
                continue;
            ref->deps[old] |= 1u << a->array;
            a->active = ref->with_const && b->read_only;
            break;
        }
    }
}

static bool ref_descends(const struct reference *ref, int from, bool *seen)
{
    for (int c = from + 1; c < ref->n; c++) {
        if (!ref->v[from].child[c] || seen[c])
            continue;
        seen[c] = true;
        if (ref->deps[c] || ref_descends(ref, c, seen))
            return true;
    }
    return false;
}

/* The graph's new vertex; afterwards deps[] has its parents only. */
static void ref_append(struct reference *ref, const struct ref_vertex *new_v)
{
    unsigned kept[MAX_V] = {0};

    memset(ref->deps, 0, sizeof ref->deps);
    for (int i = 0; i < ref->n; i++) {
        if (!ref->v[i].finished && ref_active(&ref->v[i]))
            ref_meet(ref, i, new_v);
    }
    for (int i = 0; i < ref->n; i++) {
        bool seen[MAX_V] = {false};

        if (ref->deps[i] && !(ref->with_const && ref_descends(ref, i, seen)))
            kept[i] = ref->deps[i];
    }
    memcpy(ref->deps, kept, sizeof kept);
    ref->v[ref->n] = *new_v;
    for (int i = 0; i < ref->n; i++)
        ref->v[i].child[ref->n] = kept[i] != 0;
    ref->n++;
}

static void ref_finish(struct reference *ref, int v)
{
    ref->v[v].finished = true;
    for (int p = 0; p < v; p++) {
        if (ref->v[p].child[v] && !ref->v[p].finished)
            ref_finish(ref, p);
    }
}

/* ---- both, on the same random program ---------------------------------------------------------------- */

struct world {
    struct reference ref;
    struct dag dag;
    struct dag_object objects[ARRAYS];
    struct dag_vertex *vertex[MAX_V]; /* NULL once finished */
};

static void on_finished(void *user, struct dag_vertex *v)
{
    struct world *w = user;

    assert_ptr_equal(w->vertex[v->node], v);
    w->vertex[v->node] = NULL;
}

static void check_frontier(struct world *w)
{
    struct list *l = w->dag.frontier.next;

    for (int i = 0; i < w->ref.n; i++) {
        if (w->ref.v[i].finished || !ref_active(&w->ref.v[i]))
            continue;
        assert_ptr_not_equal(l, &w->dag.frontier);
        assert_int_equal(LIST_ITEM(l, struct dag_vertex, in_frontier)->node, i);
        l = l->next;
    }
    assert_ptr_equal(l, &w->dag.frontier);
}

static void check_edges(struct world *w)
{
    size_t e = 0;

    for (int i = 0; i < w->ref.n - 1; i++) {
        unsigned arrays = 0;

        if (!w->ref.deps[i])
            continue;
        assert_true(e < w->dag.edges.len);
        assert_int_equal(w->dag.edges.at[e].from->node, i);
        for (uint32_t k = 0; k < w->dag.edges.at[e].nuids; k++)
            arrays |= 1u << w->dag.edge_uids.at[w->dag.edges.at[e].first_uid + k];
        assert_int_equal(arrays, w->ref.deps[i]);
        e++;
    }
    assert_int_equal(e, w->dag.edges.len);
}

static void random_append(struct world *w, struct rng *rng)
{
    struct ref_vertex v = {.nargs = (int)rng_below(rng, MAX_A + 1)};
    struct dag_arg args[MAX_A];
    int n = w->ref.n;

    for (int i = 0; i < v.nargs; i++) {
        v.args[i].array = (int)rng_below(rng, ARRAYS);
        v.args[i].read_only = rng_below(rng, 2) == 0;
        v.args[i].active = true;
        args[i] = (struct dag_arg){&w->objects[v.args[i].array], v.args[i].read_only};
    }
    w->vertex[n] = dag_append(&w->dag, args, (unsigned)v.nargs);
    assert_non_null(w->vertex[n]);
    w->vertex[n]->node = (uint64_t)n;
    ref_append(&w->ref, &v);
    check_edges(w);
}

static void random_finish(struct world *w, struct rng *rng)
{
    int v = (int)rng_below(rng, (uint64_t)w->ref.n);

    if (!w->vertex[v])
        return;
    dag_finish(&w->dag, w->vertex[v]);
    ref_finish(&w->ref, v);
    for (int i = 0; i < w->ref.n; i++)
        assert_int_equal(w->vertex[i] == NULL, w->ref.v[i].finished);
}

static void random_program(uint64_t seed, bool with_const)
{
    struct world *w = calloc(1, sizeof *w);
    struct rng rng;

    assert_non_null(w);
    rng_seed(&rng, seed);
    w->ref.with_const = with_const;
    dag_init(&w->dag, with_const ? &dependency_with_const : &dependency_no_const, on_finished, w);
    for (uint32_t i = 0; i < ARRAYS; i++)
        dag_object_init(&w->objects[i], i);
    while (w->ref.n < MAX_V) {
        random_append(w, &rng);
        if (rng_below(&rng, 6) == 0)
            random_finish(w, &rng);
        check_frontier(w);
    }
    for (int i = 0; i < MAX_V; i++) {
        if (w->vertex[i])
            dag_finish(&w->dag, w->vertex[i]);
    }
    assert_int_equal(w->dag.nlive, 0);
    assert_int_equal(w->dag.bytes, 0);
    assert_int_equal(w->dag.nfrontier, 0);
    dag_free(&w->dag);
    free(w);
}

static void test_random_programs_agree_with_the_reference(void **state)
{
    for (*rig_seed(state) = 1; *rig_seed(state) <= rig_count(3000); ++*rig_seed(state)) {
        random_program(*rig_seed(state), true);
        random_program(*rig_seed(state), false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_with_const),
        cmocka_unit_test(test_examples_no_const),
        cmocka_unit_test(test_edge_kinds),
        cmocka_unit_test_setup_teardown(test_random_programs_agree_with_the_reference,
                                        rig_seed_setup, rig_seed_teardown),
    };

    return cmocka_run_group_tests_name("dag", tests, NULL, NULL);
}
