/* Smaller programs that still fail: statements go, or make way for their bodies; conditions and trips become plain. */
#include "tests/cf_programs/program.h"

struct shrinker {
    struct cfp_program *p;
    cfp_fails_fn *fails;
    void *user;
    bool changed;
};

/* Keeps the new program if it still fails. */
static bool keep(struct shrinker *s, const struct cfp_program *smaller)
{
    if (!s->fails(s->user, smaller))
        return false;
    *s->p = *smaller;
    s->changed = true;
    return true;
}

/* A program whose link (first, or a next, body or orelse) is *link of p, as the link of a copy. */
static int16_t *link_in(struct cfp_program *copy, const struct cfp_program *p, const int16_t *link)
{
    return (int16_t *)((char *)copy + ((const char *)link - (const char *)p));
}

static int16_t *end_of(struct cfp_program *p, int16_t *link)
{
    while (*link != CFP_NONE)
        link = &p->node[*link].next;
    return link;
}

/* Without the node at the link, or with one of its lists in its place. */
static bool without(struct shrinker *s, int16_t *link)
{
    struct cfp_program copy = *s->p;
    int16_t *at = link_in(&copy, s->p, link);
    int16_t next = copy.node[*at].next;

    *at = next;
    return keep(s, &copy);
}

static bool lifted(struct shrinker *s, int16_t *link, bool orelse)
{
    struct cfp_program copy = *s->p;
    int16_t *at = link_in(&copy, s->p, link);
    const struct cfp_node *n = &copy.node[*at];
    int16_t next = n->next, inner = orelse ? n->orelse : n->body;

    if (inner == CFP_NONE || (n->kind != CFP_IF && cfp_body_has(s->p, inner, CFP_BREAK)) ||
        (n->kind != CFP_IF && cfp_body_has(s->p, inner, CFP_CONTINUE)))
        return false;
    *at = inner;
    *end_of(&copy, at) = next;
    return keep(s, &copy);
}

static void plain(struct shrinker *s, int16_t node)
{
    for (unsigned what = 0; what < 6; what++) {
        struct cfp_program copy = *s->p;
        struct cfp_node *n = &copy.node[node];
        bool changes = false;

        switch (what) {
        case 0:
            changes = n->orelse != CFP_NONE;
            n->orelse = CFP_NONE;
            break;
        case 1:
            changes = n->cond.join != CFP_ALONE;
            n->cond.join = CFP_ALONE;
            break;
        case 2:
            changes = n->cond.negate;
            n->cond.negate = false;
            break;
        case 3:
            changes = n->kind >= CFP_DO && n->kind <= CFP_WHILE && n->has_cond;
            n->has_cond = false;
            break;
        case 4:
            changes = n->by_lane;
            n->by_lane = false;
            break;
        default:
            changes = n->kind == CFP_IF || n->has_cond;
            n->cond.at[0] = (struct cfp_compare){0, {false, 3}, {true, 1}};
            changes = changes && (n->cond.at[0].op != s->p->node[node].cond.at[0].op ||
                                  n->cond.at[0].a.value != s->p->node[node].cond.at[0].a.value ||
                                  n->cond.at[0].b.value != s->p->node[node].cond.at[0].b.value);
            break;
        }
        if (changes)
            keep(s, &copy);
    }
}

static void list(struct shrinker *s, int16_t *link)
{
    while (*link != CFP_NONE) {
        struct cfp_node *n = &s->p->node[*link];

        if (without(s, link) || lifted(s, link, false) || lifted(s, link, true))
            continue;
        plain(s, *link);
        list(s, &n->body);
        list(s, &n->orelse);
        link = &n->next;
    }
}

static void fewer(struct shrinker *s)
{
    struct cfp_program copy = *s->p;

    copy.groups = 1;
    if (s->p->groups > 1)
        keep(s, &copy);
    while (s->p->threads > 1) {
        copy = *s->p;
        copy.threads /= 2;
        if (!keep(s, &copy))
            return;
    }
}

void cfp_shrink(struct cfp_program *p, cfp_fails_fn *fails, void *user)
{
    struct shrinker s = {p, fails, user, true};

    for (unsigned round = 0; s.changed && round < 20; round++) {
        s.changed = false;
        fewer(&s);
        list(&s, &p->first);
    }
}
