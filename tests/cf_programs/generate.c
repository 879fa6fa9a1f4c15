/* Random programs, and questions about them. */
#include "tests/cf_programs/program.h"

#include <string.h>

struct generator {
    struct cfp_program *p;
    struct rng rng;
    unsigned room; /* nodes that may still be made */
    bool leaves;   /* lanes may leave the program early */
    bool ends;     /* some of them by ending */
};

/* Where a list stands. */
struct place {
    unsigned depth;
    bool in_loop;   /* that lanes may break */
    bool in_repeat; /* its loop is one that they may only continue */
    bool all;       /* all lanes that were there at the start are here */
};

static bool chance(struct generator *g, unsigned percent)
{
    return rng_below(&g->rng, 100) < percent;
}

static unsigned below(struct generator *g, unsigned bound)
{
    return (unsigned)rng_below(&g->rng, bound);
}

static struct cfp_operand variable(struct generator *g, bool of_float)
{
    struct cfp_operand o = {.imm = false};

    o.value = of_float ? CFP_INTS + below(g, CFP_FLOATS) : below(g, CFP_INTS);
    return o;
}

/* Seldom one of those that part lanes in a known way. */
static uint8_t destination(struct generator *g, bool of_float)
{
    static const uint8_t ints[] = {1, 2, 4, 1, 2, 4, 5, 0, 3};
    static const uint8_t floats[] = {0, 2, 0, 2, 1};

    if (of_float)
        return (uint8_t)(CFP_INTS + floats[below(g, sizeof floats)]);
    return ints[below(g, sizeof ints)];
}

static struct cfp_operand constant(struct generator *g, bool of_float)
{
    static const uint32_t ints[] = {0, 1, 2, 3, 5, 7, 31, 0x7fffffff, 0x80000000, 0xffffffff};
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf000000, 0x40490fdb,
                                      0x7fc00000, 0x7f800000, 0xff800000, 0x00000001};
    struct cfp_operand o = {.imm = true};

    if (of_float)
        o.value = floats[below(g, sizeof floats / sizeof *floats)];
    else if (chance(g, 70))
        o.value = ints[below(g, sizeof ints / sizeof *ints)];
    else
        o.value = (uint32_t)rng_next(&g->rng);
    return o;
}

/* Of values that differ from lane to lane, with a constant that parts them. */
static struct cfp_compare parting(struct generator *g)
{
    static const uint8_t vars[] = {0, 3, 5, CFP_INTS + 1, CFP_INTS};
    static const uint32_t floats[] = {0xbf800000, 0, 0x3f800000, 0x40000000};
    unsigned which = below(g, sizeof vars), most[] = {g->p->threads, 4, 8, 4, 4};
    struct cfp_compare c = {.a = {false, vars[which]}, .b = {true, below(g, most[which])}};

    do {
        c.op = (uint8_t)below(g, cfp_ncompares);
    } while (cfp_compares[c.op].of_float != (which >= 3));
    if (which >= 3)
        c.b.value = floats[c.b.value];
    return c;
}

static struct cfp_compare compare(struct generator *g)
{
    struct cfp_compare c = {.op = (uint8_t)below(g, cfp_ncompares)};
    bool of_float = cfp_compares[c.op].of_float;

    if (chance(g, 60))
        return parting(g);
    c.a = variable(g, of_float);
    c.b = chance(g, 60) ? constant(g, of_float) : variable(g, of_float);
    return c;
}

static struct cfp_cond condition(struct generator *g)
{
    struct cfp_cond c = {.join = CFP_ALONE};

    c.at[0] = compare(g);
    c.at[1] = compare(g);
    if (chance(g, 30))
        c.join = chance(g, 50) ? CFP_AND : CFP_OR;
    c.negate = chance(g, 25);
    return c;
}

static int16_t make(struct generator *g, enum cfp_kind kind)
{
    struct cfp_node *n = &g->p->node[g->p->nnodes];

    memset(n, 0, sizeof *n);
    n->kind = (uint8_t)kind;
    n->next = n->body = n->orelse = CFP_NONE;
    g->room--;
    return (int16_t)g->p->nnodes++;
}

static void fill_op(struct generator *g, struct cfp_node *n)
{
    const struct cfp_op *op;

    n->op = (uint8_t)below(g, cfp_nops);
    op = &cfp_ops[n->op];
    n->dst = destination(g, op->to_float);
    n->a = variable(g, op->of_float);
    n->b = chance(g, 40) ? constant(g, op->of_float) : variable(g, op->of_float);
    n->c = variable(g, op->of_float);
}

static int16_t simple(struct generator *g)
{
    static const uint8_t sizes[] = {4, 4, 4, 2, 1};
    unsigned which = below(g, 100);
    int16_t i = make(g, which < 55   ? CFP_OP
                        : which < 80 ? CFP_STORE
                        : which < 90 ? CFP_ATOMIC
                                     : CFP_LOAD);
    struct cfp_node *n = &g->p->node[i];

    if (n->kind == CFP_OP) {
        fill_op(g, n);
        return i;
    }
    n->local = chance(g, 35);
    n->a = variable(g, chance(g, 30));
    n->b = chance(g, 50) ? (struct cfp_operand){true, below(g, CFP_OWN)} : variable(g, false);
    n->dst = destination(g, n->a.value >= CFP_INTS);
    n->bytes = n->kind == CFP_STORE ? sizes[below(g, sizeof sizes)] : 4;
    n->op = (uint8_t)below(g, CFP_CLASSES);
    return i;
}

static int16_t list(struct generator *g, struct place at, unsigned most);

static int16_t branch(struct generator *g, struct place at)
{
    int16_t i = make(g, CFP_IF);

    at.depth++;
    g->p->node[i].by_group = chance(g, 8);
    g->p->node[i].trips = (uint8_t)chance(g, 30);
    at.all = at.all && g->p->node[i].by_group;
    g->p->node[i].cond = condition(g);
    g->p->node[i].body = list(g, at, 4);
    if (chance(g, 45))
        g->p->node[i].orelse = list(g, at, 3);
    return i;
}

static int16_t loop(struct generator *g, struct place at)
{
    bool repeat = at.all && !g->leaves && chance(g, 40);
    int16_t i = make(g, repeat ? CFP_REPEAT : chance(g, 50) ? CFP_DO : CFP_WHILE);
    struct cfp_node *n = &g->p->node[i];

    n->trips = (uint8_t)(repeat ? 1 + below(g, 3) : below(g, 3));
    if (!repeat) {
        n->by_lane = chance(g, 75);
        n->dst = (uint8_t)variable(g, false).value;
        n->has_cond = chance(g, 50);
        n->cond = condition(g);
    }
    at.depth++;
    /* Lanes that continue are not back when another count begins, so that a repeat has the one or the other. */
    at.all = repeat && chance(g, 50);
    at.in_loop = !repeat;
    at.in_repeat = repeat && !at.all;
    g->p->node[i].body = list(g, at, 5);
    return i;
}

static int16_t leave(struct generator *g, struct place at)
{
    enum cfp_kind kind = CFP_RETURN;
    int16_t i;

    if (at.in_loop && chance(g, 75))
        kind = chance(g, 55) ? CFP_BREAK : CFP_CONTINUE;
    else if (at.in_repeat)
        kind = CFP_CONTINUE;
    else if (!g->leaves)
        return simple(g);
    else if (g->ends && chance(g, 40))
        kind = CFP_END;
    i = make(g, kind);
    g->p->node[i].has_cond = at.depth == 0 || chance(g, 70);
    g->p->node[i].cond = condition(g);
    return i;
}

static int16_t statement(struct generator *g, struct place at)
{
    unsigned which = below(g, 100);

    if (at.depth < CFP_DEPTH && g->room > 3) {
        if (which < 24)
            return branch(g, at);
        if (which < 40)
            return loop(g, at);
    }
    if (which < 50)
        return leave(g, at);
    if (which < 54 && at.all && !g->leaves)
        return make(g, CFP_BARRIER);
    return simple(g);
}

static int16_t list(struct generator *g, struct place at, unsigned most)
{
    unsigned count = 1 + below(g, most);
    int16_t first = CFP_NONE, last = CFP_NONE;

    while (count-- && g->room) {
        int16_t i = statement(g, at);

        if (first == CFP_NONE)
            first = i;
        else
            g->p->node[last].next = i;
        last = i;
        if (!g->p->node[i].has_cond && g->p->node[i].kind >= CFP_BREAK && !chance(g, 10))
            break; /* what follows is never reached, which is worth a few programs */
    }
    return first;
}

/* Few lanes, some wavefronts, or several work-groups; mostly the last wavefront is not full. */
static void shape(struct generator *g)
{
    static const uint16_t full[] = {8, 16, 32, 64, 128};

    g->p->groups = 1 + chance(g, 30);
    if (chance(g, 20))
        g->p->threads = full[below(g, 5)];
    else
        g->p->threads = 1 + below(g, chance(g, 70) ? 70 : CFP_MAX_ITEMS);
    if (g->p->groups * g->p->threads > CFP_MAX_ITEMS)
        g->p->groups = 1;
}

void cfp_generate(struct cfp_program *p, uint64_t seed)
{
    struct generator g = {.p = p};

    memset(p, 0, sizeof *p);
    p->seed = seed;
    rng_seed(&g.rng, seed);
    g.room = 8 + below(&g, chance(&g, 25) ? 120 : 40);
    g.leaves = chance(&g, 60);
    g.ends = chance(&g, 40);
    shape(&g);
    p->first = list(&g, (struct place){.all = true}, 12);
}

/* ---- questions ---- */

static unsigned list_depth(const struct cfp_program *p, int16_t i)
{
    unsigned depth = 0;

    for (; i != CFP_NONE; i = p->node[i].next) {
        const struct cfp_node *n = &p->node[i];
        unsigned inner = list_depth(p, n->body), other = list_depth(p, n->orelse);

        if (n->kind < CFP_IF || n->kind > CFP_REPEAT)
            continue;
        inner = 1 + (inner > other ? inner : other);
        depth = inner > depth ? inner : depth;
    }
    return depth;
}

unsigned cfp_depth(const struct cfp_program *p)
{
    return list_depth(p, p->first);
}

static bool search(const struct cfp_program *p, int16_t i, enum cfp_kind kind, bool into_loops)
{
    for (; i != CFP_NONE; i = p->node[i].next) {
        const struct cfp_node *n = &p->node[i];

        if (n->kind == kind)
            return true;
        if (n->kind != CFP_IF && !into_loops)
            continue;
        if (search(p, n->body, kind, into_loops) || search(p, n->orelse, kind, into_loops))
            return true;
    }
    return false;
}

bool cfp_list_has(const struct cfp_program *p, int16_t i, enum cfp_kind kind)
{
    return search(p, i, kind, true);
}

bool cfp_body_has(const struct cfp_program *p, int16_t i, enum cfp_kind kind)
{
    return search(p, i, kind, false);
}

bool cfp_has(const struct cfp_program *p, enum cfp_kind kind)
{
    return search(p, p->first, kind, true);
}

/* ---- to read ---- */

static void print_operand(struct text *out, struct cfp_operand o)
{
    if (o.imm)
        text_add(out, " 0x%x", o.value);
    else
        text_add(out, " %c%u", o.value < CFP_INTS ? 'i' : 'f',
                 o.value < CFP_INTS ? o.value : o.value - CFP_INTS);
}

static void print_compare(struct text *out, const struct cfp_compare *c)
{
    text_add(out, "(%s", cfp_compares[c->op].name);
    print_operand(out, c->a);
    print_operand(out, c->b);
    text_add(out, ")");
}

static void print_cond(struct text *out, const struct cfp_cond *c)
{
    text_add(out, " if %s", c->negate ? "not " : "");
    print_compare(out, &c->at[0]);
    if (c->join == CFP_ALONE)
        return;
    text_add(out, c->join == CFP_AND ? " and " : " or ");
    print_compare(out, &c->at[1]);
}

static void print_node(const struct cfp_program *p, int16_t i, struct text *out)
{
    static const char *const names[CFP_KINDS] = {"op",    "load",     "store",  "atomic",
                                                 "",      "do",       "while",  "repeat",
                                                 "break", "continue", "return", "end"};
    const struct cfp_node *n = &p->node[i];
    bool loop = n->kind >= CFP_DO && n->kind <= CFP_REPEAT;

    text_add(out, "%s%s", n->local ? "local " : "",
             n->kind == CFP_OP       ? cfp_ops[n->op].name
             : n->kind == CFP_ATOMIC ? cfp_atomics[n->op].name
                                     : names[n->kind]);
    if (n->kind == CFP_OP)
        print_operand(out, (struct cfp_operand){false, n->dst});
    if (n->kind <= CFP_ATOMIC) {
        print_operand(out, n->a);
        if (n->kind != CFP_OP || cfp_ops[n->op].args > 1)
            print_operand(out, n->b);
        if (n->kind == CFP_OP && cfp_ops[n->op].args > 2)
            print_operand(out, n->c);
    }
    if (n->kind == CFP_STORE)
        text_add(out, " %u bytes", n->bytes);
    if (loop)
        text_add(out, " %u", n->trips);
    if (n->by_lane && loop)
        text_add(out, " + (i%u & 3)", n->dst);
    if (n->by_group)
        text_add(out, " if work-group %u", n->trips);
    else if (n->kind == CFP_IF || n->has_cond)
        print_cond(out, &n->cond);
}

static void print_list(const struct cfp_program *p, int16_t i, unsigned depth, struct text *out)
{
    for (; i != CFP_NONE; i = p->node[i].next) {
        const struct cfp_node *n = &p->node[i];

        text_add(out, "%3d %*s", i, (int)(2 * depth), "");
        print_node(p, i, out);
        text_add(out, "\n");
        print_list(p, n->body, depth + 1, out);
        if (n->orelse != CFP_NONE) {
            text_add(out, "    %*selse\n", (int)(2 * depth), "");
            print_list(p, n->orelse, depth + 1, out);
        }
    }
}

void cfp_print(const struct cfp_program *p, struct text *out)
{
    text_add(out, "seed %llu, %u x %u work-items\n", (unsigned long long)p->seed, p->groups,
             p->threads);
    print_list(p, p->first, 0, out);
}
