/* The reference: one work-item after the other, statement by statement. */
#include "tests/cf_programs/program.h"

#include <math.h>
#include <string.h>

struct lane {
    const struct cfp_program *p;
    struct cfp_memory *m;
    struct cfp_effects *e;
    struct cfp_coverage *c;
    uint32_t item, group, steps;
    uint32_t vars[CFP_VARS];
    uint32_t local[CFP_OWN]; /* its own words of local memory */
    uint32_t *shared_local;  /* of its work-group */
    bool too_long;
};

enum way { ON, BROKE, CONTINUED, RETURNED, ENDED };

void cfp_memory_start(const struct cfp_program *p, struct cfp_memory *m)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < p->groups * p->threads * CFP_OWN; i++)
        m->own[i] = i * 0x85ebca6bu;
    for (uint32_t i = 0; i < CFP_SHARED; i++)
        m->shared[i] = i * 0xc2b2ae35u;
}

uint32_t cfp_initial(const struct cfp_program *p, uint32_t gid, unsigned k)
{
    uint32_t hash = gid * 0x9e3779b1u + (uint32_t)p->seed;

    switch (k) {
    case 0:
        return gid;
    case 1:
        return hash;
    case 2:
        return hash >> 13;
    case 3:
        return gid & 3;
    case 4:
        return (uint32_t)p->seed & 7;
    case 5:
        return hash >> 29;
    case CFP_INTS: {
        float f = (float)(int32_t)(hash >> 13) - 0x1p18f;

        return cfp_float_bits(sqrtf(f * 0x1p-16f)); /* a NaN for half of the lanes */
    }
    case CFP_INTS + 1:
        return cfp_float_bits((float)(int32_t)(gid & 3) - 1.0f);
    default:
        return hash; /* any bits, of NaNs and denormals too */
    }
}

static uint32_t value(const struct lane *l, struct cfp_operand o)
{
    return o.imm ? o.value : l->vars[o.value];
}

static bool holds(struct lane *l, const struct cfp_compare *c)
{
    uint32_t a = value(l, c->a), b = value(l, c->b);

    if (cfp_compares[c->op].of_float && cfp_float(a) != cfp_float(a))
        l->c->nan_compared = true;
    return cfp_compares[c->op].holds(a, b);
}

static bool condition(struct lane *l, int16_t node)
{
    const struct cfp_cond *c = &l->p->node[node].cond;
    bool first = holds(l, &c->at[0]), second = c->join && holds(l, &c->at[1]), result;

    result = c->join == CFP_AND ? first && second : first || second;
    result = result != c->negate;
    l->c->held[node] += result;
    return result;
}

static void tell(struct lane *l, int16_t node, uint32_t place, uint32_t what)
{
    uint32_t *n = &l->e->n[l->item];

    if (*n == CFP_EFFECTS) {
        l->too_long = true;
        return;
    }
    l->e->at[l->item][(*n)++] =
        (struct cfp_effect){(uint16_t)node, l->p->node[node].local, place, what};
}

/* The first byte of the words that are a work-item's own: behind the shared ones in local memory. */
static uint32_t own_place(const struct lane *l, const struct cfp_node *n)
{
    uint32_t word = value(l, n->b) % CFP_OWN;

    if (n->local)
        return 4 * (CFP_SHARED + (l->item - l->group * l->p->threads) * CFP_OWN + word);
    return 4 * (l->item * CFP_OWN + word);
}

static uint32_t *own_word(struct lane *l, const struct cfp_node *n)
{
    uint32_t word = value(l, n->b) % CFP_OWN;

    return n->local ? &l->local[word] : &l->m->own[l->item * CFP_OWN + word];
}

static void store(struct lane *l, int16_t node)
{
    const struct cfp_node *n = &l->p->node[node];
    uint32_t low = n->bytes == 4 ? UINT32_MAX : (UINT32_C(1) << 8 * n->bytes) - 1;
    uint32_t *word = own_word(l, n);

    tell(l, node, own_place(l, n), value(l, n->a) & low);
    *word = (*word & ~low) | (value(l, n->a) & low);
}

static void atomic(struct lane *l, int16_t node)
{
    const struct cfp_node *n = &l->p->node[node];
    uint32_t word = n->op * CFP_CLASS_WORDS + value(l, n->b) % CFP_CLASS_WORDS;
    uint32_t *at = n->local ? &l->shared_local[word] : &l->m->shared[word];

    tell(l, node, 4 * word, value(l, n->a));
    *at = cfp_atomics[n->op].value(*at, value(l, n->a));
}

static enum way run_list(struct lane *l, int16_t i);

/* Trips count from 1; the condition is asked behind the first trip, or ahead of each. */
static enum way run_loop(struct lane *l, int16_t node)
{
    const struct cfp_node *n = &l->p->node[node];
    uint32_t most = n->trips + (n->by_lane ? l->vars[n->dst] & 3 : 0);
    bool first = n->kind == CFP_DO;

    for (uint32_t trip = 0;; trip++) {
        enum way way;

        if (!first && (trip >= most || (n->has_cond && !condition(l, node))))
            return ON;
        first = false;
        if (l->too_long || l->steps++ > CFP_STEPS)
            return RETURNED;
        way = run_list(l, n->body);
        if (way == BROKE)
            return ON;
        if (way >= RETURNED)
            return way;
    }
}

static enum way run_node(struct lane *l, int16_t node)
{
    static const enum way leaves[CFP_KINDS] = {
        [CFP_BREAK] = BROKE, [CFP_CONTINUE] = CONTINUED, [CFP_RETURN] = RETURNED, [CFP_END] = ENDED};
    const struct cfp_node *n = &l->p->node[node];

    l->c->executed[node]++;
    switch (n->kind) {
    case CFP_OP:
        l->vars[n->dst] = cfp_ops[n->op].value(value(l, n->a), value(l, n->b), value(l, n->c));
        return ON;
    case CFP_LOAD:
        l->vars[n->dst] = *own_word(l, n);
        return ON;
    case CFP_STORE:
        store(l, node);
        return ON;
    case CFP_ATOMIC:
        atomic(l, node);
        return ON;
    case CFP_BARRIER:
        return ON;
    case CFP_IF:
        if (n->by_group)
            return run_list(l, l->group == n->trips ? n->body : n->orelse);
        return run_list(l, condition(l, node) ? n->body : n->orelse);
    case CFP_DO:
    case CFP_WHILE:
    case CFP_REPEAT:
        return run_loop(l, node);
    default:
        return !n->has_cond || condition(l, node) ? leaves[n->kind] : ON;
    }
}

static enum way run_list(struct lane *l, int16_t i)
{
    for (; i != CFP_NONE && !l->too_long; i = l->p->node[i].next) {
        enum way way;

        if (l->steps++ > CFP_STEPS)
            l->too_long = true;
        way = run_node(l, i);
        if (way != ON)
            return way;
    }
    return ON;
}

/* Every lane that has not ended writes its variables, and the first ones the shared local words. */
static bool run_lane(struct lane *l, bool *ended)
{
    for (unsigned k = 0; k < CFP_VARS; k++)
        l->vars[k] = cfp_initial(l->p, l->item, k);
    *ended = run_list(l, l->p->first) == ENDED;
    if (!*ended)
        memcpy(&l->m->vars[l->item * CFP_VARS], l->vars, sizeof l->vars);
    return !l->too_long && l->steps <= CFP_STEPS;
}

bool cfp_reference(const struct cfp_program *p, struct cfp_memory *m, struct cfp_effects *e,
                   struct cfp_coverage *c)
{
    memset(c, 0, sizeof *c);
    memset(e->n, 0, sizeof e->n);
    cfp_memory_start(p, m);
    for (uint32_t group = 0; group < p->groups; group++) {
        uint32_t shared_local[CFP_SHARED] = {0};
        bool ended[CFP_MAX_ITEMS];

        for (uint32_t t = 0; t < p->threads; t++) {
            struct lane l = {.p = p, .m = m, .e = e, .c = c, .group = group};

            l.item = group * p->threads + t;
            l.shared_local = shared_local;
            if (!run_lane(&l, &ended[t]))
                return false;
        }
        for (uint32_t t = 0; t < p->threads && t < CFP_SHARED; t++)
            if (!ended[t])
                m->dump[group * CFP_SHARED + t] = shared_local[t];
    }
    return true;
}
