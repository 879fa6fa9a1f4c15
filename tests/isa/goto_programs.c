#include "tests/isa/goto_programs.h"

#include <stdbool.h>

enum { MAX_DEPTH = 4, MAX_LABELS = 2 * MAX_DEPTH + 2, FIRST_COUNTER = 8 };

struct gen {
    struct rng *r;
    struct text *out;
    unsigned next_label, depth;
    unsigned labels[MAX_LABELS]; /* of the joins that stand further down */
    unsigned nlabels;
};

static uint64_t pick(struct gen *g, uint64_t n)
{
    return rng_below(g->r, n);
}

static unsigned open_label(struct gen *g)
{
    g->labels[g->nlabels++] = g->next_label;
    return g->next_label++;
}

static void close_label(struct gen *g)
{
    text_add(g->out, "J%u: join\n", g->labels[--g->nlabels]);
}

/* m0: none, few, half, most or all of the lanes. */
static void condition(struct gen *g)
{
    static const unsigned chances[] = {0, 20, 128, 236, 256};

    text_add(g->out,
             "v_mul_u32 v1, v1, 1664525\nv_add_u32 v1, v1, 1013904223\nv_shr_b32 v3, v1, 24\n"
             "v_cmp_lt_u32 m0, v3, %u\n",
             chances[pick(g, 5)]);
}

static void effect(struct gen *g)
{
    text_add(g->out, "v_mul_u32 v2, v2, 31\nv_add_u32 v2, v2, %u\n", (unsigned)pick(g, 1000));
}

static void body(struct gen *g);

/* To any join further down: a break, a continue, a return, the other arm of an if, ... */
static void leave(struct gen *g)
{
    if (pick(g, 4))
        condition(g);
    else
        text_add(g->out, "v_cmp_lt_u32 m0, v1, v1\n");
    text_add(g->out, "%sgoto J%u\n",
             pick(g, 8) == 0 ? ""
             : pick(g, 2)    ? "@m0 "
                             : "@!m0 ",
             g->labels[pick(g, g->nlabels)]);
}

static void if_region(struct gen *g, bool has_else)
{
    unsigned end = has_else ? open_label(g) : 0, skip = open_label(g);

    condition(g);
    text_add(g->out, "@!m0 goto J%u\n", skip);
    body(g);
    if (has_else)
        text_add(g->out, "goto J%u\n", end);
    close_label(g);
    if (!has_else)
        return;
    body(g);
    close_label(g);
}

/* m0 is the lanes that go round again: at most thrice. */
static void again(struct gen *g)
{
    condition(g);
    text_add(g->out, "v_add_u32 v%u, v%u, 1\nv_cmp_lt_u32 m1, v%u, 3\nm_and m0, m0, m1\n",
             FIRST_COUNTER + g->depth, FIRST_COUNTER + g->depth, FIRST_COUNTER + g->depth);
}

static void do_loop(struct gen *g)
{
    unsigned out = open_label(g), head = g->next_label++;

    text_add(g->out, "v_mov_b32 v%u, 0\nH%u:\n", FIRST_COUNTER + g->depth, head);
    open_label(g);
    body(g);
    close_label(g);
    again(g);
    text_add(g->out, "@m0 goto.b H%u\n", head);
    close_label(g);
    (void)out;
}

static void while_loop(struct gen *g)
{
    unsigned out = open_label(g), head = g->next_label++;

    text_add(g->out, "v_mov_b32 v%u, 0\nH%u:\n", FIRST_COUNTER + g->depth, head);
    again(g);
    text_add(g->out, "@!m0 goto J%u\n", out);
    open_label(g);
    body(g);
    close_label(g);
    text_add(g->out, "s_jump H%u\n", head);
    close_label(g);
}

static void scalar_loop(struct gen *g)
{
    unsigned head = g->next_label++, s = FIRST_COUNTER + g->depth;

    open_label(g);
    text_add(g->out, "s_mov_b32 s%u, %u\nH%u:\n", s, 1 + (unsigned)pick(g, 3), head);
    open_label(g);
    body(g);
    close_label(g);
    text_add(g->out, "s_sub_u32 s%u, s%u, 1\ns_branch_nz s%u, H%u\n", s, s, s, head);
    close_label(g);
}

static void statement(struct gen *g)
{
    unsigned what = (unsigned)pick(g, g->depth < MAX_DEPTH ? 10 : 4);

    g->depth++;
    if (what < 3)
        effect(g);
    else if (what == 3)
        leave(g);
    else if (what < 7)
        if_region(g, what == 6);
    else if (what == 7)
        do_loop(g);
    else if (what == 8)
        while_loop(g);
    else
        scalar_loop(g);
    g->depth--;
}

static void body(struct gen *g)
{
    effect(g);
    for (uint64_t n = pick(g, 5); n > 0; n--)
        statement(g);
}

void goto_program(struct rng *r, struct text *out)
{
    struct gen g = {.r = r, .out = out};

    text_add(out, ".kernel k\n.param first u32\nv_get_u32 v1, %%lane\nv_add_u32 v1, v1, first\n"
                  "v_mul_u32 v1, v1, 0x9e3779b1\nv_mov_b32 v2, 0\n");
    open_label(&g);
    body(&g);
    body(&g);
    close_label(&g);
    text_add(out, "s_end\n.endkernel\n");
}
