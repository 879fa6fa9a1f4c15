#include "tests/cf_programs/sample.h"

#include "cf/cf.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

bool sample_program(uint64_t seed, struct cfp_program *p, struct cfp_expected *expected)
{
    cfp_generate(p, seed);
    return cfp_reference(p, &expected->memory, &expected->effects, &expected->coverage);
}

bool sample_has(const struct cfp_way *way)
{
    for (size_t i = 0; cf_units[i]; i++)
        if (strcmp(cf_units[i]->name, way->unit) == 0)
            return true;
    return false;
}

/* ---- programs that fail ---- */

struct failing {
    struct cfp_rig *rig;
    struct cfp_run run;
    struct cfp_expected expected;
    enum cfp_outcome outcome;
    char why[256];
};

static bool fails(void *user, const struct cfp_program *p)
{
    struct failing *f = user;
    struct cfp_run run = f->run;

    if (!cfp_reference(p, &f->expected.memory, &f->expected.effects, &f->expected.coverage))
        return false;
    run.program = p;
    run.expected = &f->expected;
    return cfp_run(f->rig, &run, f->why) == f->outcome;
}

void sample_shrink(struct cfp_rig *rig, const struct cfp_run *run, enum cfp_outcome outcome,
                   struct cfp_program *small, char why[256])
{
    struct failing *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->rig = rig;
    f->run = *run;
    f->outcome = outcome;
    *small = *run->program;
    cfp_shrink(small, fails, f);
    assert_true(fails(f, small));
    memcpy(why, f->why, sizeof f->why);
    free(f);
}

static void report(struct cfp_rig *rig, const struct cfp_run *run, enum cfp_outcome outcome)
{
    struct cfp_text *text = calloc(1, sizeof *text);
    struct cfp_program small;
    char why[256];

    assert_non_null(text);
    sample_shrink(rig, run, outcome, &small, why);
    cfp_emit(&small, run->way.emitter, text);
    text_add(&text->text, "\n");
    cfp_print(&small, &text->text);
    fprintf(stderr, "%s\nunit %s, form %s, width %u; HEDDLE_SEED=%" PRIu64 " runs it whole\n%s\n",
            text_str(&text->text), run->way.unit, cfp_emitter_names[run->way.emitter], run->width,
            small.seed, why);
    text_free(&text->text);
    free(text);
    fail();
}

static void run_everywhere(struct cfp_rig *rig, const struct cfp_program *p,
                           const struct cfp_expected *expected, unsigned first, unsigned widths)
{
    for (unsigned w = 0; w < widths; w++) {
        for (unsigned i = 0; i < cfp_nways; i++) {
            struct cfp_run run = {p,    expected, cfp_ways[i], cfp_widths[(first + w) % CFP_WIDTHS],
                                  NULL, 0};
            enum cfp_outcome outcome;
            char why[256];

            if (!sample_has(&cfp_ways[i]))
                continue;
            outcome = cfp_run(rig, &run, why);
            /* Lanes that part may share a scalar that the unit could not keep for each. */
            if (outcome == CFP_REFUSED && strncmp(why, "unit-scalars", 12) == 0)
                continue;
            if (outcome != CFP_SAME)
                report(rig, &run, outcome);
        }
    }
}

void sample_run(uint64_t seed, uint64_t count, unsigned widths)
{
    struct cfp_rig *rig = cfp_rig_new();
    struct cfp_expected *expected = malloc(sizeof *expected);
    struct cfp_program p;
    uint64_t ran = 0;

    assert_true(rig && expected);
    for (uint64_t i = 0; i < count; i++) {
        if (!sample_program(seed + i, &p, expected))
            continue;
        run_everywhere(rig, &p, expected, (unsigned)(i % CFP_WIDTHS), widths);
        ran++;
    }
    print_message("HEDDLE_SEED=%" PRIu64 ": %" PRIu64 " programs, %" PRIu64 " too long\n", seed,
                  ran, count - ran);
    assert_true(ran * 10 >= count * 8);
    free(expected);
    cfp_rig_free(rig);
}

/* ---- productions ---- */

typedef bool reached_fn(const struct cfp_program *p, const struct cfp_coverage *c, int argument);

static bool executed(const struct cfp_program *p, const struct cfp_coverage *c, int kind)
{
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].kind == kind && c->executed[i])
            return true;
    return false;
}

static bool has_else(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)unused;
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].orelse != CFP_NONE && !p->node[i].by_group && c->executed[i] > c->held[i])
            return true;
    return false;
}

/* Some lanes go one way and some the other. */
static bool divergent(const struct cfp_program *p, const struct cfp_coverage *c, int kind)
{
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].kind == kind && c->held[i] && c->held[i] < c->executed[i])
            return true;
    return false;
}

/* 0: no lane takes the arm; 1: all do. */
static bool uniform(const struct cfp_program *p, const struct cfp_coverage *c, int all)
{
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].kind == CFP_IF && !p->node[i].by_group && c->executed[i] > 1 &&
            c->held[i] == (all ? c->executed[i] : 0))
            return true;
    return false;
}

static bool by_lane(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)unused;
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].by_lane && c->executed[i] > 1)
            return true;
    return false;
}

static bool by_group(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)unused;
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].by_group && c->executed[i])
            return true;
    return false;
}

static bool plain_leave(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)unused;
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].kind >= CFP_BREAK && !p->node[i].has_cond && c->executed[i])
            return true;
    return false;
}

static bool dead_code(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)c;
    (void)unused;
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].kind >= CFP_BREAK && !p->node[i].has_cond && p->node[i].next != CFP_NONE)
            return true;
    return false;
}

static bool deep(const struct cfp_program *p, const struct cfp_coverage *c, int depth)
{
    (void)c;
    return cfp_depth(p) >= (unsigned)depth;
}

static unsigned executed_depth(const struct cfp_program *p, const struct cfp_coverage *c, int16_t i)
{
    unsigned most = 0;

    for (; i != CFP_NONE; i = p->node[i].next) {
        const struct cfp_node *n = &p->node[i];
        unsigned body = executed_depth(p, c, n->body), other = executed_depth(p, c, n->orelse);
        unsigned depth =
            (n->kind >= CFP_IF && n->kind <= CFP_REPEAT) + (body > other ? body : other);

        if (c->executed[i] && depth > most)
            most = depth;
    }
    return most;
}

static bool reached_depth(const struct cfp_program *p, const struct cfp_coverage *c, int depth)
{
    return executed_depth(p, c, p->first) >= (unsigned)depth;
}

static bool in_local(const struct cfp_program *p, const struct cfp_coverage *c, int kind)
{
    for (int i = 0; i < p->nnodes; i++)
        if (p->node[i].kind == kind && p->node[i].local && c->executed[i])
            return true;
    return false;
}

static bool nan_compared(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)p;
    (void)unused;
    return c->nan_compared;
}

/* At width 64 or at 8. */
static bool tail(const struct cfp_program *p, const struct cfp_coverage *c, int width)
{
    (void)c;
    return p->threads % (unsigned)width != 0;
}

static bool several_groups(const struct cfp_program *p, const struct cfp_coverage *c, int unused)
{
    (void)c;
    (void)unused;
    return p->groups > 1;
}

static const struct {
    const char *name;
    reached_fn *reached;
    int argument;
    unsigned floor; /* programs of 100 */
} productions[] = {
    {"operation", executed, CFP_OP, 80},
    {"load", executed, CFP_LOAD, 20},
    {"load, local", in_local, CFP_LOAD, 8},
    {"store", executed, CFP_STORE, 50},
    {"store, local", in_local, CFP_STORE, 25},
    {"atomic", executed, CFP_ATOMIC, 30},
    {"atomic, local", in_local, CFP_ATOMIC, 12},
    {"barrier", executed, CFP_BARRIER, 4},
    {"if", executed, CFP_IF, 60},
    {"if, divergent", divergent, CFP_IF, 50},
    {"if, arm of no lane", uniform, 0, 15},
    {"if, arm of all lanes", uniform, 1, 15},
    {"if, by work-group", by_group, 0, 5},
    {"else", has_else, 0, 35},
    {"do", executed, CFP_DO, 25},
    {"while", executed, CFP_WHILE, 25},
    {"repeat", executed, CFP_REPEAT, 5},
    {"trips by lane", by_lane, 0, 35},
    {"break", executed, CFP_BREAK, 12},
    {"break, divergent", divergent, CFP_BREAK, 6},
    {"continue", executed, CFP_CONTINUE, 10},
    {"continue, divergent", divergent, CFP_CONTINUE, 4},
    {"return", executed, CFP_RETURN, 20},
    {"return, divergent", divergent, CFP_RETURN, 10},
    {"end", executed, CFP_END, 5},
    {"break and the like without condition", plain_leave, 0, 10},
    {"code that no lane reaches", dead_code, 0, 1},
    {"nest of 3", reached_depth, 3, 30},
    {"nest of 4", reached_depth, 4, 15},
    {"nest of 5", reached_depth, 5, 8},
    {"nest of 6", reached_depth, 6, 3},
    {"nest of 6, in the text", deep, 6, 5},
    {"comparison of a NaN", nan_compared, 0, 15},
    {"tail wavefront at width 8", tail, 8, 50},
    {"tail wavefront at width 64", tail, 64, 60},
    {"several work-groups", several_groups, 0, 10},
};

enum { NPRODUCTIONS = sizeof productions / sizeof *productions };

void sample_productions(uint64_t seed, uint64_t count)
{
    struct cfp_expected *expected = malloc(sizeof *expected);
    uint64_t reached[NPRODUCTIONS] = {0}, ran = 0;
    struct cfp_program p;

    assert_non_null(expected);
    for (uint64_t i = 0; i < count; i++) {
        if (!sample_program(seed + i, &p, expected))
            continue;
        ran++;
        for (unsigned k = 0; k < NPRODUCTIONS; k++)
            reached[k] += productions[k].reached(&p, &expected->coverage, productions[k].argument);
    }
    for (unsigned k = 0; k < NPRODUCTIONS; k++)
        print_message("%-40s %5.1f %%, floor %u\n", productions[k].name,
                      100.0 * (double)reached[k] / (double)ran, productions[k].floor);
    for (unsigned k = 0; k < NPRODUCTIONS; k++)
        if (reached[k] * 100 < ran * productions[k].floor)
            fail_msg("%s is reached too rarely", productions[k].name);
    free(expected);
}
