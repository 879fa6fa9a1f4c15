/* Graphs by hand: order, time, cost, records and mistakes. The machine is the fake one; times are sums in nanoseconds. */
#include "host/rt/graph.h"
#include "tests/rt/graph_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define NS UINT64_C(1000) /* ps */
#define US (1000 * NS)

static const char *const schedulers[] = {
    "host.scheduler=serial-sync", "host.scheduler=serial-async", "host.scheduler=parallel-async"};

/* Diamond: b and c run side by side between a and d. */
#define DIAMOND "a x=w @10; b x=r y=w @20 < a; c x=r z=w @30 < a; d y=r z=r o=w @5 < b c"

static hd_stream *new_stream(struct rig *r)
{
    hd_stream *s;

    assert_int_equal(hd_stream_new(r->rt, &s, NULL), HD_OK);
    return s;
}

static void finish(struct rig *r)
{
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
}

static uint64_t start_of(const struct rig *r, const char *name, unsigned n)
{
    return graph_rig_stmt(r, name, n)->hb.start_ps;
}

static uint64_t end_of(const struct rig *r, const char *name, unsigned n)
{
    return graph_rig_stmt(r, name, n)->hb.end_ps;
}

/* ---- order -------------------------------------------------------------------------------------- */

static void test_independent_branches_run_side_by_side(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = rig_new(schedulers[i]);
        struct graph_rig gr;
        uint64_t t;

        graph_rig_run(&gr, r, DIAMOND, NULL);
        finish(r);
        t = start_of(r, "a", 0);
        assert_int_equal(start_of(r, "b", 0), t + 10 * US);
        assert_int_equal(start_of(r, "c", 0), t + 10 * US);
        assert_int_equal(start_of(r, "d", 0), t + 40 * US);
        assert_int_equal(end_of(r, "d", 0), t + 45 * US);
        rig_check_order(r, schedulers[i]);
        rig_free(r);
    }
}

static void test_a_graph_is_a_stretch_of_its_stream(void **state)
{
    static const char *const defaults[] = {
        "host.scheduler=serial-async host.default_stream=legacy",
        "host.scheduler=serial-async host.default_stream=independent"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig *r = rig_new(defaults[i]);
        struct graph_rig gr;

        rig_run(r, "first p=w @1000 on s1");
        graph_rig_run(&gr, r, DIAMOND "; e q=w @500", r->streams[0].stream);
        rig_run(r, "last u=w @1 on s1; other v=w @1 on s2");
        finish(r);
        assert_int_equal(start_of(r, "a", 0), end_of(r, "first", 0));
        assert_int_equal(start_of(r, "e", 0), end_of(r, "first", 0));
        assert_int_equal(start_of(r, "last", 0), end_of(r, "e", 0)); /* the longest branch */
        assert_true(end_of(r, "other", 0) < end_of(r, "first", 0));
        rig_free(r);
    }
}

static void test_the_rule_of_the_default_stream(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async host.default_stream=legacy");
    struct graph_rig gr;

    (void)state;
    rig_run(r, "before p=w @1000 on s1");
    graph_rig_run(&gr, r, DIAMOND, NULL); /* on the default stream: after all that is there */
    rig_run(r, "after p=w @1 on s1");
    finish(r);
    assert_int_equal(start_of(r, "a", 0), end_of(r, "before", 0));
    assert_int_equal(start_of(r, "c", 0), start_of(r, "b", 0)); /* the rule is not between branches */
    assert_int_equal(start_of(r, "after", 0), end_of(r, "d", 0));
    rig_free(r);
}

static void test_a_launch_waits_for_the_last_one(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async host.default_stream=independent");
    hd_stream *s = new_stream(r), *t = new_stream(r);
    struct graph_rig gr;

    (void)state;
    graph_rig_run(&gr, r, "a x=w @1000; b y=w @400", s);
    graph_rig_launch(&gr, s);
    graph_rig_launch(&gr, t);
    finish(r);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(start_of(r, "a", i), end_of(r, "a", i - 1));
        assert_int_equal(start_of(r, "b", i), end_of(r, "a", i - 1));
    }
    rig_check_order(r, "relaunch");
    rig_free(r);
}

static void test_host_accesses_wait_for_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (unsigned by_hand = 0; by_hand < 2; by_hand++) {
            struct rig *r = rig_new(schedulers[i]);
            struct graph_rig gr;

            graph_rig_run(&gr, r, DIAMOND, by_hand ? new_stream(r) : NULL);
            rig_run(r, "read y; write x; free z");
            finish(r);
            rig_check_order(r, schedulers[i]);
            assert_true(rig_stmt(r, "read y")->hb.start_ps >= end_of(r, "d", 0)); /* the whole graph */
            rig_free(r);
        }
    }
}

static void test_the_graph_of_computations_orders_it(void **state)
{
    struct rig *r = rig_new("host.default_stream=independent um.page_faults=on host.prefetch=on");
    struct graph_rig gr;

    (void)state;
    rig_run(r, "pre x=w @1000; free_of_it p=w @3000");
    graph_rig_run(&gr, r, DIAMOND, new_stream(r));
    rig_run(r, "post y=w o=r @1; read q");
    finish(r);
    assert_int_equal(start_of(r, "a", 0), end_of(r, "pre", 0));
    assert_int_equal(start_of(r, "post", 0), end_of(r, "d", 0));
    assert_true(end_of(r, "post", 0) < end_of(r, "free_of_it", 0));
    assert_string_equal(text_str(&r->edge_text),
                        "pre->a[x] a->b[x] a->c[x] b->d[y] c->d[z] d->post[y+o]");
    assert_string_equal(text_str(&r->edge_kinds), "waw raw raw raw raw war");
    assert_int_equal(r->transfers.len, 2); /* of pre and free_of_it alone */
    rig_free(r);
}

static void test_no_prefetch(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=on");
    struct graph_rig gr;

    (void)state;
    graph_rig_run(&gr, r, DIAMOND, NULL);
    finish(r);
    assert_int_equal(r->transfers.len, 0);
    rig_free(r);
}

/* ---- the plan ------------------------------------------------------------------------------------- */

static size_t count_waits(const struct graph_rig *gr)
{
    return gr->x->waits.len + gr->x->ends.len;
}

static void test_no_needless_queue_or_wait(void **state)
{
    static const struct {
        const char *graph;
        size_t branches, waits;
    } cases[] = {
        {"a; b < a; c < b", 1, 0},
        {"a; b < a a a", 1, 0},      /* named twice */
        {"a; b < a; c < a b", 1, 0}, /* through b */
        {DIAMOND, 2, 2},             /* c waits for a, d for c */
        {"a; b; c < a b", 2, 1},     /* a join */
        {"a; b; c", 3, 2},           /* their ends */
        {"a; b < a; c < a; d < b c; e < d; f < d; g < e f", 2, 4},
        {"a; b < a; c; d < c a; e < d b", 2, 3}, /* and its end */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig *r = rig_new("host.scheduler=serial-async");
        struct graph_rig gr;

        graph_rig_run(&gr, r, cases[i].graph, NULL);
        if (gr.x->branches.len != cases[i].branches || count_waits(&gr) != cases[i].waits)
            fail_msg("%s: %zu branches, %zu waits", cases[i].graph, gr.x->branches.len,
                     count_waits(&gr));
        finish(r);
        rig_free(r);
    }
}

static void test_wider_than_the_branches(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    struct hd_arg arg = {HD_ARG_ARRAY, {.array = rig_array(r, "x")}};
    struct hd_launch l = {.kernel = rig_kernel(r, "r"),
                          .grid = {1000, 0, 0},
                          .block = {1, 0, 0},
                          .args = &arg,
                          .nargs = 1};
    hd_graph_exec *x;
    hd_graph *g;

    (void)state;
    assert_int_equal(hd_graph_new(r->rt, &g, NULL), HD_OK);
    for (unsigned i = 0; i < 3 * GRAPH_BRANCHES; i++)
        assert_int_equal(hd_graph_kernel(r->rt, g, &l, NULL, 0, NULL, NULL), HD_OK);
    assert_int_equal(hd_graph_instantiate(r->rt, g, &x, NULL), HD_OK);
    assert_int_equal(x->branches.len, GRAPH_BRANCHES);
    assert_int_equal(hd_graph_launch(r->rt, x, NULL, NULL), HD_OK);
    finish(r);
    assert_int_equal(r->rows.len, 3 * GRAPH_BRANCHES);
    assert_int_equal(r->rows.at[r->rows.len - 1].r.end_ps - r->rows.at[0].r.start_ps, 3 * US);
    rig_free(r);
}

static void test_frozen_at_the_instantiation(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    struct graph_rig gr;
    uint32_t late;

    (void)state;
    graph_rig_make(&gr, r, "a x=w; b y=w");
    graph_rig_instantiate(&gr);
    assert_int_equal(hd_graph_empty(r->rt, gr.g, NULL, 0, &late, NULL), HD_OK);
    assert_int_equal(hd_graph_depend(r->rt, gr.g, 0, 1, NULL), HD_OK);
    assert_int_equal(hd_graph_free(r->rt, gr.g, NULL), HD_OK);
    graph_rig_launch(&gr, NULL);
    finish(r);
    assert_int_equal(start_of(r, "a", 0), start_of(r, "b", 0));
    rig_free(r);
}

/* ---- cost ----------------------------------------------------------------------------------------- */

static void test_what_it_costs(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    struct graph_rig gr;
    uint64_t t;

    (void)state;
    graph_rig_make(&gr, r, DIAMOND);
    assert_int_equal(hd_host_time(r->rt), 4 * 2000 * NS);
    graph_rig_instantiate(&gr);
    assert_int_equal(hd_host_time(r->rt), (4 * 2000 + 200000 + 4 * 8000) * NS);
    t = hd_host_time(r->rt);
    graph_rig_launch(&gr, NULL);
    assert_int_equal(hd_host_time(r->rt) - t, (2000 + 4 * 200) * NS);
    finish(r);
    assert_int_equal(start_of(r, "a", 0), t + (2000 + 4 * 200) * NS);
    rig_free(r);
}

/* "Getting started with CUDA Graphs": 400 us for a graph of 20 kernels, once; a launch of it 10 us beside its kernels. */
static void test_the_source_of_the_costs(void **state)
{
    const struct rt_profile *p = &profile_native;

    (void)state;
    assert_int_equal(20 * p->graph_node + p->instantiate + 20 * p->instantiate_node, 400000);
    assert_int_equal(p->graph_launch + 20 * p->graph_launch_node + 3000 + p->stream_sync, 10000);
}

static void test_untimed_in_a_reset(void **state)
{
    struct rig *r = rig_new("");
    struct graph_rig gr;

    (void)state;
    assert_int_equal(hd_reset_begin(r->rt, NULL), HD_OK);
    graph_rig_run(&gr, r, DIAMOND, NULL);
    assert_int_equal(hd_reset_end(r->rt, NULL), HD_OK);
    assert_int_equal(hd_host_time(r->rt), 0);
    assert_int_equal(r->rows.len + r->nodes.len + r->edges.len, 0);
    rig_free(r);
}

/* ---- records -------------------------------------------------------------------------------------- */

/* What a stated dependency is called follows from the array that both kernels use. */
static void test_kinds_of_edges(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    struct graph_rig gr;

    (void)state;
    graph_rig_run(&gr, r, "a x=r; b x=w < a; c x=w < b; d x=r < c; e x=r < d", NULL);
    finish(r);
    assert_string_equal(text_str(&r->edge_text), "a->b[x] b->c[x] c->d[x] d->e[]");
    assert_string_equal(text_str(&r->edge_kinds), "war waw raw order");
    rig_free(r);
}

/* The same dependency twice counts once, also if another node was told of it in between. */
static void test_a_dependency_counts_once(void **state)
{
    static const uint32_t on[] = {0, 1, 0};
    struct rig *r = rig_new("");
    hd_graph_exec *x;
    hd_graph *g;

    (void)state;
    assert_int_equal(hd_graph_new(r->rt, &g, NULL), HD_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(hd_graph_empty(r->rt, g, NULL, 0, NULL, NULL), HD_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(hd_graph_empty(r->rt, g, on, 3, NULL, NULL), HD_OK);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(hd_graph_depend(r->rt, g, 2 + i % 2, i / 3, NULL), HD_OK);
    assert_int_equal(hd_graph_instantiate(r->rt, g, &x, NULL), HD_OK);
    for (unsigned i = 2; i < 4; i++) {
        assert_int_equal(g->items.at[i].deps.len, 2);
        assert_int_equal(g->items.at[i].deps.at[0], 0);
        assert_int_equal(g->items.at[i].deps.at[1], 1);
    }
    rig_free(r);
}

static void test_edges_of_the_record(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    struct graph_rig gr;

    (void)state;
    graph_rig_run(&gr, r, "a x=w y=r; b x=r x=w y=w < a; - < a b; c p=w < -; d x=r < - c", NULL);
    finish(r);
    assert_string_equal(text_str(&r->edge_text), "a->b[x+y] a->c[] b->c[] a->d[x] b->d[x] c->d[]");
    assert_string_equal(text_str(&r->edge_kinds), "waw order order raw raw order");
    assert_int_equal(r->nodes.len, 4);
    assert_int_equal(r->rows.len, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(r->rows.at[i].node, r->nodes.at[i].id);
        assert_int_equal(r->rows.at[i].stream, r->nodes.at[i].stream);
    }
    rig_free(r);
}

/* ---- copies --------------------------------------------------------------------------------------- */

static void test_copies(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    hd_array *in = rig_array(r, "in"), *out = rig_array(r, "out"), *d;
    struct hd_copy up = {.from = in, .count = RIG_ELEMENTS}, down = {.to = out, .count = 4};
    struct hd_launch l = {.kernel = rig_kernel(r, "w"), .grid = {5000, 0, 0}, .block = {1, 0, 0}};
    struct hd_arg arg = {.kind = HD_ARG_ARRAY};
    struct graph_rig gr;
    uint32_t copy, kernel;
    struct hd_error err;

    (void)state;
    fake_set_link(r->machine, 1000);
    assert_int_equal(hd_array_new_device(r->rt, T_F32, RIG_ELEMENTS, "d", &d, NULL), HD_OK);
    up.to = down.from = arg.as.array = d;
    l.args = &arg;
    l.nargs = 1;
    graph_rig_make(&gr, r, "");
    assert_int_equal(hd_graph_copy(r->rt, gr.g, &up, NULL, 0, &copy, NULL), HD_OK);
    assert_int_equal(hd_graph_kernel(r->rt, gr.g, &l, &copy, 1, &kernel, NULL), HD_OK);
    assert_int_equal(hd_graph_copy(r->rt, gr.g, &down, &kernel, 1, NULL, NULL), HD_OK);
    graph_rig_instantiate(&gr);
    rig_run(r, "k in=w @500 on s1");
    assert_int_equal(hd_graph_launch(r->rt, gr.x, NULL, NULL), HD_OK);
    assert_true(hd_host_time(r->rt) >= end_of(r, "k", 0)); /* host memory: the host waits for it */
    assert_true(end_of(r, "k", 0) > 0);
    rig_run(r, "read out");
    assert_int_equal(r->transfers.len, 2);
    assert_int_equal(r->transfers.at[0].r.bytes, 64);
    assert_int_equal(r->transfers.at[1].r.bytes, 16);
    assert_int_equal(r->rows.at[1].r.start_ps, r->transfers.at[0].r.end_ps);
    assert_int_equal(r->transfers.at[1].r.start_ps, r->rows.at[1].r.end_ps);
    assert_true(hd_host_time(r->rt) >= r->transfers.at[1].r.end_ps);
    arg.as.array = out;
    assert_int_equal(hd_graph_kernel(r->rt, gr.g, &l, NULL, 0, NULL, NULL), HD_OK);
    assert_int_equal(hd_graph_instantiate(r->rt, gr.g, &gr.x, &err), HD_BAD_INPUT);
    assert_string_equal(err.message, "array out is host memory of the copy to out (node 2) and an "
                                     "argument of k1 (node 3)");
    rig_free(r);
}

/* ---- mistakes ------------------------------------------------------------------------------------- */

static void expect_cycle(const char *graph, uint32_t node, uint32_t on, const char *message)
{
    struct rig *r = rig_new("");
    struct graph_rig gr;
    struct hd_error err;

    graph_rig_make(&gr, r, graph);
    assert_int_equal(hd_graph_depend(r->rt, gr.g, node, on, NULL), HD_OK);
    assert_int_equal(hd_graph_instantiate(r->rt, gr.g, &gr.x, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "graph-cycle");
    assert_string_equal(err.message, message);
    assert_null(gr.x);
    rig_run(r, "after x=w; read x"); /* the program may go on */
    rig_free(r);
}

static void test_a_cycle_names_its_nodes(void **state)
{
    (void)state;
    expect_cycle("a x=w; b x=w y=w < a; - < b; d < a", 0, 2,
                 "the graph has a cycle of 3 nodes: k1 (node 0) waits for the empty node 2, which "
                 "waits for k2 (node 1), which waits for k1 (node 0)");
    expect_cycle("a; b x=w < a", 1, 1,
                 "the graph has a cycle of 1 node: k1 (node 1) waits for k1 (node 1)");
    expect_cycle("a; b < a; c < b; d < c; e < d; f < e; g < f; h < g", 0, 7,
                 "the graph has a cycle of 8 nodes: k0 (node 0) waits for k0 (node 7), which waits "
                 "for k0 (node 6), which waits for k0 (node 5), which waits for k0 (node 4), which "
                 "waits for k0 (node 3), which waits for k0 (node 2), and so on");
}

static void test_freed_arrays(void **state)
{
    struct rig *r = rig_new("host.scheduler=serial-async");
    struct graph_rig gr;
    struct hd_error err;

    (void)state;
    graph_rig_run(&gr, r, DIAMOND, new_stream(r));
    rig_run(r, "free z"); /* waits for the graph that runs */
    assert_true(hd_host_time(r->rt) >= end_of(r, "d", 0));
    assert_true(end_of(r, "d", 0) > 0);
    assert_int_equal(hd_graph_launch(r->rt, gr.x, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "graph-array-freed");
    assert_string_equal(err.message, "k2 (node 2) uses the array z, which was freed");
    assert_int_equal(hd_graph_instantiate(r->rt, gr.g, &gr.x, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "graph-array-freed");
    assert_int_equal(r->rows.len, 4); /* nothing ran, and the program may go on */
    rig_run(r, "after x=w; read x");
    rig_free(r);
}

static void test_freed_and_wrong_handles(void **state)
{
    struct rig *r = rig_new("");
    struct graph_rig gr;
    struct hd_error err;
    hd_graph_exec *x;
    uint32_t node, bad = 7;

    (void)state;
    graph_rig_run(&gr, r, DIAMOND, NULL);
    assert_int_equal(hd_graph_empty(r->rt, gr.g, &bad, 1, &node, &err), HD_BAD_INPUT);
    assert_string_equal(err.message, "the graph has 4 nodes, counted from 0, and no node 7");
    assert_int_equal(hd_graph_depend(r->rt, gr.g, 0, 4, &err), HD_BAD_INPUT);
    assert_int_equal(hd_graph_size(gr.g), 4);
    assert_int_equal(hd_graph_free(r->rt, gr.g, NULL), HD_OK);
    assert_int_equal(hd_graph_instantiate(r->rt, gr.g, &x, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "graph-freed");
    assert_int_equal(hd_graph_free(r->rt, gr.g, &err), HD_BAD_INPUT);
    assert_int_equal(fake_queues_in_use(r->machine), 2); /* the default stream and a branch */
    assert_int_equal(hd_graph_exec_free(r->rt, gr.x, NULL), HD_OK); /* in flight */
    assert_int_equal(fake_queues_in_use(r->machine), 1);
    assert_int_equal(hd_graph_launch(r->rt, gr.x, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "graph-instance-freed");
    finish(r);
    assert_int_equal(r->rows.len, 4);
    assert_int_equal(hd_graph_launch(r->rt, NULL, NULL, &err), HD_BAD_INPUT);
    assert_int_equal(hd_graph_new(r->rt, &gr.g, NULL), HD_OK);
    assert_int_equal(hd_graph_instantiate(r->rt, gr.g, &x, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "graph-empty");
    rig_free(r);
}

static void test_a_freed_stream(void **state)
{
    struct rig *r = rig_new("");
    hd_stream *s = new_stream(r);
    struct graph_rig gr;
    struct hd_error err;

    (void)state;
    graph_rig_make(&gr, r, DIAMOND);
    graph_rig_instantiate(&gr);
    assert_int_equal(hd_stream_free(r->rt, s, NULL), HD_OK);
    assert_int_equal(hd_graph_launch(r->rt, gr.x, s, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "stream-freed");
    rig_free(r);
}

/* The machine refuses b; the rest runs as the graph says. */
static void test_a_refused_node(void **state)
{
    struct rig *r = rig_new("");
    struct hd_launch l = {.kernel = rig_kernel(r, ""), .grid = {1000, 0, 0}, .block = {2000, 0, 0}};
    struct graph_rig gr;
    struct hd_error err;
    uint32_t deps[] = {0, 1};

    (void)state;
    graph_rig_make(&gr, r, "a x=w @10");
    assert_int_equal(hd_graph_kernel(r->rt, gr.g, &l, deps, 1, NULL, NULL), HD_OK);
    l.block[0] = 1;
    assert_int_equal(hd_graph_kernel(r->rt, gr.g, &l, deps, 2, NULL, NULL), HD_OK);
    graph_rig_instantiate(&gr);
    assert_int_equal(hd_graph_launch(r->rt, gr.x, NULL, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "launch-shape");
    rig_run(r, "read x");
    finish(r);
    assert_int_equal(r->rows.len, 2);
    assert_int_equal(r->rows.at[1].r.start_ps, r->rows.at[0].r.end_ps);
    assert_int_equal(r->rt->dag.nlive, 0);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_branches_run_side_by_side),
        cmocka_unit_test(test_a_graph_is_a_stretch_of_its_stream),
        cmocka_unit_test(test_the_rule_of_the_default_stream),
        cmocka_unit_test(test_a_launch_waits_for_the_last_one),
        cmocka_unit_test(test_host_accesses_wait_for_it),
        cmocka_unit_test(test_the_graph_of_computations_orders_it),
        cmocka_unit_test(test_no_prefetch),
        cmocka_unit_test(test_no_needless_queue_or_wait),
        cmocka_unit_test(test_wider_than_the_branches),
        cmocka_unit_test(test_frozen_at_the_instantiation),
        cmocka_unit_test(test_what_it_costs),
        cmocka_unit_test(test_the_source_of_the_costs),
        cmocka_unit_test(test_untimed_in_a_reset),
        cmocka_unit_test(test_kinds_of_edges),
        cmocka_unit_test(test_a_dependency_counts_once),
        cmocka_unit_test(test_edges_of_the_record),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_a_cycle_names_its_nodes),
        cmocka_unit_test(test_freed_arrays),
        cmocka_unit_test(test_freed_and_wrong_handles),
        cmocka_unit_test(test_a_freed_stream),
        cmocka_unit_test(test_a_refused_node),
    };

    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
