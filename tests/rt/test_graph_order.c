/*
 * Random sets of kernels with stated dependencies, as a graph, by capture and by events, under every scheduler and rule of the default
 * stream, launched again and again beside library functions, other work and accesses of the host: each conflicting pair is ordered in time.
 */
#include "host/rt/graph.h"
#include "sim/base/rng.h"
#include "tests/rt/graph_rig.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 1500, KERNELS = 12, ARRAYS = 5, STREAMS = 3 };

struct kernel {
    char modes[4];
    unsigned array[3];
    uint64_t us;
};

struct program {
    struct rig *r;
    struct rng rng;
    struct kernel kernels[KERNELS];
    unsigned n;
    hd_stream *streams[STREAMS];
};

static bool conflicts(const struct kernel *a, const struct kernel *b)
{
    for (size_t i = 0; a->modes[i]; i++) {
        for (size_t k = 0; b->modes[k]; k++) {
            if (a->array[i] == b->array[k] && (a->modes[i] == 'w' || b->modes[k] == 'w'))
                return true;
        }
    }
    return false;
}

static void must(enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        fail_msg("%s", err->message);
}

static hd_array *array_number(const struct program *p, unsigned i)
{
    char name[8];

    snprintf(name, sizeof name, "a%u", i);
    return rig_array(p->r, name);
}

static struct hd_launch launch_of(const struct program *p, unsigned i, struct hd_arg args[3])
{
    const struct kernel *k = &p->kernels[i];
    struct hd_launch l = {.kernel = rig_kernel(p->r, k->modes),
                          .grid = {k->us * 1000, 0, 0},
                          .block = {64, 0, 0},
                          .args = args,
                          .nargs = (unsigned)strlen(k->modes)};

    for (unsigned a = 0; a < l.nargs; a++)
        args[a] = (struct hd_arg){HD_ARG_ARRAY, {.array = array_number(p, k->array[a])}};
    return l;
}

/* A statement for the oracle, whose times come with the record of its node. */
static void expect(const struct program *p, unsigned i, uint64_t node)
{
    const struct kernel *k = &p->kernels[i];
    struct rig_stmt s = {.node = node, .kernel = true};

    snprintf(s.name, sizeof s.name, "k%u", i);
    for (size_t a = 0; k->modes[a]; a++)
        s.hb.accesses[s.hb.naccesses++] =
            (struct hb_access){array_number(p, k->array[a])->object.uid, k->modes[a] == 'w'};
    assert_true(vec_push(&p->r->stmts, s));
}

/* ---- the ways ------------------------------------------------------------------------------------- */

static void by_events(struct program *p, bool captured)
{
    hd_event *done[KERNELS], *start;
    struct hd_arg args[3];
    struct hd_error err;

    must(hd_event_record(p->r->rt, p->streams[0], &start, &err), &err);
    for (unsigned s = 1; s < STREAMS; s++)
        must(hd_event_wait(p->r->rt, p->streams[s], start, &err), &err);
    for (unsigned i = 0; i < p->n; i++) {
        struct hd_launch l = launch_of(p, i, args);

        l.stream = p->streams[rng_below(&p->rng, STREAMS)];
        for (unsigned k = 0; k < i; k++) {
            if (conflicts(&p->kernels[k], &p->kernels[i]))
                must(hd_event_wait(p->r->rt, l.stream, done[k], &err), &err);
        }
        if (!captured)
            expect(p, i, p->r->rt->next_node);
        must(hd_launch_kernel(p->r->rt, &l, &err), &err);
        must(hd_event_record(p->r->rt, l.stream, &done[i], &err), &err);
    }
    for (unsigned i = 0; i < p->n; i++)
        must(hd_event_wait(p->r->rt, p->streams[0], done[i], &err), &err);
}

/* Some dependencies more than needed, and an empty node now and then. */
static hd_graph *by_hand(struct program *p)
{
    uint32_t deps[KERNELS + 1], nodes[KERNELS];
    struct hd_arg args[3];
    struct hd_error err;
    hd_graph *g;

    must(hd_graph_new(p->r->rt, &g, &err), &err);
    for (unsigned i = 0; i < p->n; i++) {
        struct hd_launch l = launch_of(p, i, args);
        size_t n = 0;

        for (unsigned k = 0; k < i; k++) {
            if (conflicts(&p->kernels[k], &p->kernels[i]) || rng_below(&p->rng, 16) == 0)
                deps[n++] = nodes[k];
        }
        if (rng_below(&p->rng, 4) == 0) {
            must(hd_graph_empty(p->r->rt, g, deps, n, &deps[0], &err), &err);
            n = 1;
        }
        must(hd_graph_kernel(p->r->rt, g, &l, deps, n, &nodes[i], &err), &err);
    }
    return g;
}

static hd_graph *by_capture(struct program *p)
{
    struct hd_error err;
    hd_graph *g;

    must(hd_capture_begin(p->r->rt, p->streams[0], &err), &err);
    by_events(p, true);
    must(hd_capture_end(p->r->rt, &g, &err), &err);
    return g;
}

static unsigned kernel_of_node(const struct program *p, const struct graph_node *n)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct kernel *k = &p->kernels[i];
        bool same =
            strlen(k->modes) == n->bound.c.narrays && n->bound.c.cmd.launch.grid[0] == k->us * 1000;

        for (unsigned a = 0; same && a < n->bound.c.narrays; a++)
            same = n->bound.c.arrays[a] == array_number(p, k->array[a]) &&
                   n->bound.c.read_only[a] == (k->modes[a] == 'r');
        if (same)
            return i;
    }
    fail_msg("a node that is no kernel of the program");
    return 0;
}

/* The oracle goes by the order of the calls, which for a graph is any order of its plan. */
static void launch_graph(struct program *p, hd_graph_exec *x, hd_stream *s)
{
    uint64_t node = p->r->rt->next_node;
    struct hd_error err;

    for (size_t i = 0; i < x->nodes.len; i++) {
        if (x->nodes.at[i].node.kind == GRAPH_KERNEL)
            expect(p, kernel_of_node(p, &x->nodes.at[i].node), node++);
    }
    must(hd_graph_launch(p->r->rt, x, s, &err), &err);
}

/* ---- programs ---------------------------------------------------------------------------------------- */

static void settings(struct rng *rng, struct text *out)
{
    static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};
    static const char *const on_off[] = {"on", "off"};

    text_add(out, "host.scheduler=%s", schedulers[rng_below(rng, 3)]);
    text_add(out, " host.default_stream=%s", rng_below(rng, 2) ? "legacy" : "independent");
    text_add(out, " host.dependency=%s", rng_below(rng, 2) ? "with-const" : "no-const");
    text_add(out, " um.page_faults=%s", on_off[rng_below(rng, 2)]);
    text_add(out, " host.stream_attach=%s", on_off[rng_below(rng, 2)]);
}

static void make_kernels(struct program *p)
{
    p->n = 1 + (unsigned)rng_below(&p->rng, KERNELS);
    for (unsigned i = 0; i < p->n; i++) {
        struct kernel *k = &p->kernels[i];
        uint64_t nargs = 1 + rng_below(&p->rng, 3);

        memset(k, 0, sizeof *k);
        for (uint64_t a = 0; a < nargs; a++) {
            k->modes[a] = rng_below(&p->rng, 3) ? 'r' : 'w';
            k->array[a] = (unsigned)rng_below(&p->rng, ARRAYS);
        }
        k->us = 1 + rng_below(&p->rng, 60);
    }
}

static void access_something(struct program *p)
{
    char text[32];

    snprintf(text, sizeof text, "%s a%u", rng_below(&p->rng, 2) ? "read" : "write",
             (unsigned)rng_below(&p->rng, ARRAYS));
    rig_run(p->r, text);
}

/* Launches by hand on other streams are ordered with the graph only where the scheduler has a graph. */
static void launch_something(struct program *p)
{
    char text[64];

    snprintf(text, sizeof text, "other a%u=r a%u=w @%u", (unsigned)rng_below(&p->rng, ARRAYS),
             (unsigned)rng_below(&p->rng, ARRAYS), 1 + (unsigned)rng_below(&p->rng, 50));
    rig_run(p->r, text);
}

/* A library function of two kernels, which reads one array and writes another. */
static void call_library(struct program *p, hd_library *lib)
{
    const unsigned x = (unsigned)rng_below(&p->rng, ARRAYS),
                   y = (unsigned)rng_below(&p->rng, ARRAYS);
    const struct hd_arg args[] = {{HD_ARG_ARRAY, {.array = array_number(p, x)}},
                                  {HD_ARG_ARRAY, {.array = array_number(p, y)}}};
    struct hd_error err;
    hd_stream *s;
    char text[96];

    snprintf(text, sizeof text, "in1 a%u=r a%u=w @%u; in2 a%u=w @%u", x, y,
             1 + (unsigned)rng_below(&p->rng, 50), y, 1 + (unsigned)rng_below(&p->rng, 50));
    must(hd_library_begin(p->r->rt, lib, args, 2, &s, &err), &err);
    rig_run(p->r, text);
    must(hd_library_end(p->r->rt, &err), &err);
}

static hd_library *library(const struct program *p, bool stream)
{
    const struct hd_library_desc desc = {"lib", "x: in f32[], y: inout f32[]", stream, NULL, 0};
    struct hd_error err;
    hd_library *lib;

    must(hd_library_new(p->r->rt, &desc, &lib, &err), &err);
    return lib;
}

static void random_program(uint64_t seed)
{
    struct program p = {0};
    struct text options = {0};
    hd_graph_exec *graph, *captured;
    hd_library *with_stream, *without;
    struct hd_error err;
    bool concurrent;

    rng_seed(&p.rng, seed);
    settings(&p.rng, &options);
    p.r = rig_new(text_str(&options));
    concurrent = p.r->rt->scheduler->concurrent;
    for (unsigned s = 0; s < STREAMS; s++)
        must(hd_stream_new(p.r->rt, &p.streams[s], &err), &err);
    make_kernels(&p);
    must(hd_graph_instantiate(p.r->rt, by_hand(&p), &graph, &err), &err);
    must(hd_graph_instantiate(p.r->rt, by_capture(&p), &captured, &err), &err);
    with_stream = library(&p, true);
    without = library(&p, false);
    for (unsigned i = 0; i < 12; i++) {
        hd_stream *s = concurrent ? p.streams[rng_below(&p.rng, STREAMS)] : p.streams[0];

        switch (rng_below(&p.rng, 7)) {
        case 0:
            launch_graph(&p, graph, s);
            break;
        case 1:
            launch_graph(&p, captured, s);
            break;
        case 2:
            by_events(&p, false);
            break;
        case 3:
            access_something(&p);
            break;
        case 4:
            call_library(&p, without);
            break;
        case 5:
            call_library(&p, concurrent ? with_stream : without);
            break;
        default:
            if (concurrent)
                launch_something(&p);
        }
    }
    must(hd_finish(p.r->rt, &err), &err);
    rig_check_order(p.r, text_str(&options));
    assert_int_equal(p.r->rt->dag.nlive, 0);
    assert_int_equal(p.r->rt->streams.nactive, 0);
    rig_free(p.r);
    text_free(&options);
}

static void test_random_graphs_are_ordered(void **state)
{
    const uint64_t first = test_seed(1);

    for (uint64_t i = 0; i < test_count(PROGRAMS); i++)
        random_program(*rig_seed(state) = first + i);
}

/* ---- waits ---------------------------------------------------------------------------------------- */

enum { WIDE_NODES = 40 };

struct wide {
    struct rig *r;
    hd_graph *g;
    uint32_t n;
    bool after[WIDE_NODES][WIDE_NODES]; /* by what the graph states */
};

static void add_node(struct wide *w, struct rng *rng, unsigned chance)
{
    uint32_t deps[WIDE_NODES], number, ndeps = 0;

    for (uint32_t i = 0; i < w->n; i++)
        if (rng_below(rng, 100) < chance) {
            deps[ndeps++] = i;
            w->after[w->n][i] = true;
            for (uint32_t k = 0; k < i; k++)
                w->after[w->n][k] |= w->after[i][k];
        }
    assert_int_equal(hd_graph_empty(w->r->rt, w->g, deps, ndeps, &number, NULL), HD_OK);
    assert_int_equal(number, w->n++);
}

static bool waits_for(const hd_graph_exec *x, const struct exec_node *n, uint32_t number)
{
    for (uint32_t i = 0; i < n->nwaits; i++)
        if (x->nodes.at[x->waits.at[n->first_wait + i]].number == number)
            return true;
    return false;
}

/* Whether something else that the node comes after, on its branch or as a dependency, comes after `dep`, too. */
static bool implied(const struct wide *w, const hd_graph_exec *x, uint32_t node, uint32_t dep)
{
    const struct exec_node *n = &x->nodes.at[node];
    const struct graph_item *item = &w->g->items.at[n->number];

    for (uint32_t i = 0; i < node; i++)
        if (x->nodes.at[i].branch == n->branch &&
            (x->nodes.at[i].number == dep || w->after[x->nodes.at[i].number][dep]))
            return true;
    for (size_t i = 0; i < item->deps.len; i++)
        if (w->after[item->deps.at[i]][dep])
            return true;
    return false;
}

/* Chance in percent that a node waits for an earlier one. */
static void check_waits(uint64_t seed, unsigned chance)
{
    struct wide *w = calloc(1, sizeof *w);
    struct rng rng;
    hd_graph_exec *x;

    assert_non_null(w);
    rng_seed(&rng, seed);
    w->r = rig_new("");
    assert_int_equal(hd_graph_new(w->r->rt, &w->g, NULL), HD_OK);
    while (w->n < WIDE_NODES)
        add_node(w, &rng, chance);
    assert_int_equal(hd_graph_instantiate(w->r->rt, w->g, &x, NULL), HD_OK);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct exec_node *n = &x->nodes.at[i];
        const struct graph_item *item = &w->g->items.at[n->number];

        for (size_t k = 0; k < item->deps.len; k++)
            assert_int_equal(waits_for(x, n, item->deps.at[k]), !implied(w, x, i, item->deps.at[k]));
    }
    rig_free(w->r);
    free(w);
}

static void test_no_wait_is_implied_by_another(void **state)
{
    const uint64_t first = test_seed(1);

    for (uint64_t i = 0; i < test_count(100); i++) {
        *rig_seed(state) = first + i;
        check_waits(first + i, 1 + (unsigned)i % 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_wait_is_implied_by_another, rig_seed_setup,
                                        rig_seed_teardown),
        cmocka_unit_test_setup_teardown(test_random_graphs_are_ordered, rig_seed_setup,
                                        rig_seed_teardown),
    };

    return cmocka_run_group_tests_name("graph order", tests, NULL, NULL);
}
