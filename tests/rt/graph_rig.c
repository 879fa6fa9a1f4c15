#include "tests/rt/graph_rig.h"

#include "host/rt/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t graph_rig_node(const struct graph_rig *gr, const char *name)
{
    for (size_t i = 0; i < gr->nnames; i++) {
        if (strcmp(gr->names[i], name) == 0)
            return (uint32_t)i;
    }
    fail_msg("no node %s", name);
    return 0;
}

static void add_argument(struct graph_rig *gr, struct hd_arg *args, unsigned n, char *modes,
                         char *word)
{
    char *mode = strchr(word, '=');

    assert_non_null(mode);
    *mode = '\0';
    modes[n] = mode[1];
    args[n] = (struct hd_arg){HD_ARG_ARRAY, {.array = rig_array(gr->r, word)}};
}

static void make_node(struct graph_rig *gr, char *text)
{
    struct hd_arg args[8];
    struct hd_launch l = {.grid = {1000000, 0, 0}, .block = {64, 0, 0}, .args = args};
    uint32_t deps[GRAPH_RIG_NODES], number;
    size_t ndeps = 0;
    char modes[9] = "", *save = NULL;
    const char *name = strtok_r(text, " ", &save);
    bool after = false, empty;
    struct hd_error err;

    if (!name)
        return;
    empty = *name == '-';
    for (char *w = strtok_r(NULL, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (*w == '<')
            after = true;
        else if (after)
            deps[ndeps++] = graph_rig_node(gr, w);
        else if (*w == '@')
            l.grid[0] = strtoull(w + 1, NULL, 10) * 1000;
        else
            add_argument(gr, args, l.nargs++, modes, w);
    }
    l.kernel = rig_kernel(gr->r, modes);
    if ((empty ? hd_graph_empty(gr->r->rt, gr->g, deps, ndeps, &number, &err)
               : hd_graph_kernel(gr->r->rt, gr->g, &l, deps, ndeps, &number, &err)) != HD_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(number, gr->nnames);
    snprintf(gr->names[gr->nnames++], RIG_NAME, "%s", name);
}

void graph_rig_make(struct graph_rig *gr, struct rig *r, const char *text)
{
    char *copy = malloc(strlen(text) + 1), *save = NULL;

    *gr = (struct graph_rig){.r = r};
    assert_non_null(copy);
    strcpy(copy, text);
    assert_int_equal(hd_graph_new(r->rt, &gr->g, NULL), HD_OK);
    for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save))
        make_node(gr, s);
    free(copy);
}

void graph_rig_instantiate(struct graph_rig *gr)
{
    struct hd_error err;

    if (hd_graph_instantiate(gr->r->rt, gr->g, &gr->x, &err) != HD_OK)
        fail_msg("%s", err.message);
}

/* The ids that the launch will give, in the order of the instance. */
static void add_statements(struct graph_rig *gr)
{
    uint64_t id = gr->r->rt->next_node;

    for (size_t i = 0; i < gr->x->nodes.len; i++) {
        const struct exec_node *n = &gr->x->nodes.at[i];
        const struct rt_computation *c = &n->node.bound.c;
        struct rig_stmt s = {.node = id, .kernel = true};

        if (n->node.kind != GRAPH_KERNEL)
            continue;
        id++;
        snprintf(s.name, sizeof s.name, "%s", gr->names[n->number]);
        for (unsigned k = 0; k < c->narrays; k++)
            s.hb.accesses[s.hb.naccesses++] =
                (struct hb_access){c->arrays[k]->object.uid, !c->read_only[k]};
        assert_true(vec_push(&gr->r->stmts, s));
    }
}

void graph_rig_launch(struct graph_rig *gr, hd_stream *s)
{
    struct hd_error err;

    if (!gr->r->rt->quiet)
        add_statements(gr);
    if (hd_graph_launch(gr->r->rt, gr->x, s, &err) != HD_OK)
        fail_msg("%s", err.message);
}

const struct rig_stmt *graph_rig_stmt(const struct rig *r, const char *name, unsigned n)
{
    for (size_t i = 0; i < r->stmts.len; i++) {
        if (strcmp(r->stmts.at[i].name, name) == 0 && n-- == 0)
            return &r->stmts.at[i];
    }
    fail_msg("no statement %s", name);
    return NULL;
}

void graph_rig_run(struct graph_rig *gr, struct rig *r, const char *text, hd_stream *s)
{
    graph_rig_make(gr, r, text);
    graph_rig_instantiate(gr);
    graph_rig_launch(gr, s);
}
