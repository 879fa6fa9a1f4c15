/*
 * The form exec: EXEC is saved in a scalar pair, narrowed, and restored by code. Lanes that break, continue or return
 * are remembered in pairs of their own, and taken out wherever EXEC is restored inside what they left.
 */
#include "tests/cf_programs/emit.h"

enum { GONE = 48, RETURNED = 52, FIRST_PAIR = 56, PAIRS = 6, FIRST_MASK = 3 };

struct state {
    struct emitter *e;
    unsigned depth;
    unsigned skip; /* label for when no lane is left in the region */
    unsigned loop; /* first pair of the innermost loop: EXEC before, broken, continued */
    unsigned continued;
    bool in_loop, breaks, continues, returns;
};

static void list(struct state *s, int16_t i);

static unsigned pair(const struct state *s, unsigned k)
{
    return FIRST_PAIR + PAIRS * s->depth + 2 * k;
}

static void emit_pair(struct emitter *e, const char *before, unsigned pair, const char *behind)
{
    emit(e, "%ss[%u:%u]%s", before, pair, pair + 1, behind);
}

static void without(struct state *s, unsigned pair)
{
    emit_pair(s->e, "m_andn exec, exec, ", pair, "");
}

/* EXEC as it was, less the lanes that have left since. */
static void restore(struct state *s, unsigned saved)
{
    emit_pair(s->e, "m_mov exec, ", saved, "");
    if (s->in_loop && s->breaks)
        without(s, s->loop + 2);
    if (s->in_loop && s->continues)
        without(s, s->loop + 4);
    if (s->returns)
        without(s, RETURNED);
}

static void may_skip(struct state *s, unsigned percent)
{
    if (!emit_chance(s->e, percent))
        return;
    if (emit_chance(s->e, 80)) {
        emit(s->e, "s_branch_none exec, L%u", s->skip);
        return;
    }
    emit(s->e, "s_popcount s50, exec");
    emit(s->e, "s_branch_z s50, L%u", s->skip);
}

/* One simple statement: a predicate will do. */
static bool as_predicate(struct state *s, const struct cfp_node *n)
{
    const struct cfp_node *body = n->body == CFP_NONE ? NULL : &s->e->p->node[n->body];

    return body && n->orelse == CFP_NONE && body->kind <= CFP_ATOMIC && body->next == CFP_NONE &&
           emit_chance(s->e, 30);
}

static void predicated(struct state *s, const struct cfp_node *n)
{
    const char *mask = emit_cond(s->e, &n->cond);

    s->e->pred = mask[0] == 'v' ? "@vcc " : "@m0 ";
    s->e->node = (uint16_t)n->body;
    emit_simple(s->e, &s->e->p->node[n->body]);
    s->e->pred = "";
}

/* The other lanes: by the condition, which nobody else has written for lanes that stayed, or kept in a pair. */
static void turn(struct state *s, bool keeps_rest)
{
    if (keeps_rest)
        emit_pair(s->e, "m_mov exec, ", pair(s, 1), "");
    else
        emit(s->e, "m_andn exec, s[%u:%u], m%u", pair(s, 0), pair(s, 0) + 1, FIRST_MASK + s->depth);
}

/* All lanes go one way. */
static void group_branch(struct state *s, const struct cfp_node *n)
{
    unsigned label = emit_group_if(s->e, n);

    list(s, n->body);
    if (n->orelse != CFP_NONE) {
        emit_group_else(s->e, label);
        list(s, n->orelse);
    }
    emit_group_end(s->e, n, label);
}

static void branch(struct state *s, const struct cfp_node *n)
{
    bool keeps_rest = emit_chance(s->e, 50);
    unsigned outer = s->skip;
    const char *mask;

    if (as_predicate(s, n)) {
        predicated(s, n);
        return;
    }
    mask = emit_cond(s->e, &n->cond);
    s->skip = ++s->e->labels;
    emit(s->e, "m_mov m%u, %s", FIRST_MASK + s->depth, mask);
    emit_pair(s->e, "m_mov ", pair(s, 0), ", exec");
    emit(s->e, "m_and exec, exec, %s", mask);
    if (keeps_rest)
        emit(s->e, "m_xor s[%u:%u], s[%u:%u], exec", pair(s, 1), pair(s, 1) + 1, pair(s, 0),
             pair(s, 0) + 1);
    may_skip(s, 70);
    s->depth++;
    list(s, n->body);
    s->depth--;
    emit_label(s->e, s->skip);
    if (n->orelse != CFP_NONE) {
        s->skip = ++s->e->labels;
        turn(s, keeps_rest);
        may_skip(s, 70);
        s->depth++;
        list(s, n->orelse);
        s->depth--;
        emit_label(s->e, s->skip);
    }
    restore(s, pair(s, 0));
    s->skip = outer;
    may_skip(s, 30);
}

static void narrow(struct state *s, const struct cfp_node *n)
{
    const char *mask = emit_goes_on(s->e, n);

    emit(s->e, "m_and exec, exec, %s", mask);
}

static void trips(struct state *s, const struct cfp_node *n)
{
    unsigned head = ++s->e->labels, out = ++s->e->labels;

    emit_label(s->e, head);
    if (s->continues)
        emit_pair(s->e, "m_mov ", s->loop + 4, ", 0");
    if (n->kind == CFP_WHILE) {
        narrow(s, n);
        emit(s->e, "s_branch_none exec, L%u", out);
    }
    emit_trip(s->e, n);
    s->e->loops++;
    s->depth++;
    list(s, n->body);
    s->depth--;
    s->e->loops--;
    emit_label(s->e, s->skip);
    if (s->continues)
        emit_pair(s->e, "m_or exec, exec, ", s->loop + 4, "");
    if (n->kind == CFP_DO) {
        narrow(s, n);
        emit(s->e, "s_branch_any exec, L%u", head);
    } else if (n->kind == CFP_WHILE) {
        emit(s->e, "s_jump L%u", head);
    } else {
        emit_count(s->e, n);
        emit(s->e, "s_branch_nz s50, L%u", head);
    }
    emit_label(s->e, out);
}

static void loop(struct state *s, const struct cfp_node *n)
{
    struct state outer = *s;

    emit_trips_start(s->e, n);
    s->in_loop = true;
    s->breaks = cfp_body_has(s->e->p, n->body, CFP_BREAK);
    s->continues = cfp_body_has(s->e->p, n->body, CFP_CONTINUE);
    s->loop = pair(s, 0);
    s->skip = ++s->e->labels;
    emit_pair(s->e, "m_mov ", s->loop, ", exec");
    if (s->breaks)
        emit_pair(s->e, "m_mov ", s->loop + 2, ", 0");
    trips(s, n);
    *s = outer;
    restore(s, pair(s, 0));
    may_skip(s, 30);
}

static void leave(struct state *s, const struct cfp_node *n)
{
    unsigned to = n->kind == CFP_BREAK      ? s->loop + 2
                  : n->kind == CFP_CONTINUE ? s->loop + 4
                                            : RETURNED;
    const char *mask = n->has_cond ? emit_cond(s->e, &n->cond) : NULL;

    if (n->kind == CFP_END) {
        emit(s->e, "%s%s%ss_end", mask ? "@" : "", mask ? mask : "", mask ? " " : "");
    } else {
        emit(s->e, "m_%s s[%u:%u], exec%s%s", mask ? "and" : "mov", GONE, GONE + 1,
             mask ? ", " : "", mask ? mask : "");
        emit(s->e, "m_or s[%u:%u], s[%u:%u], s[%u:%u]", to, to + 1, to, to + 1, GONE, GONE + 1);
        without(s, GONE);
    }
    may_skip(s, 60);
}

static void list(struct state *s, int16_t i)
{
    for (; i != CFP_NONE; i = s->e->p->node[i].next) {
        const struct cfp_node *n = &s->e->p->node[i];

        s->e->node = (uint16_t)i;
        if (n->kind <= CFP_BARRIER)
            emit_simple(s->e, n);
        else if (n->by_group)
            group_branch(s, n);
        else if (n->kind == CFP_IF)
            branch(s, n);
        else if (n->kind <= CFP_REPEAT)
            loop(s, n);
        else
            leave(s, n);
    }
    s->e->node = CFP_NO_NODE;
}

void emit_exec(struct emitter *e)
{
    struct state s = {.e = e, .returns = cfp_has(e->p, CFP_RETURN)};

    s.skip = ++e->labels;
    if (s.returns)
        emit_pair(e, "m_mov ", RETURNED, ", 0");
    list(&s, e->p->first);
    emit_label(e, s.skip);
    emit(e, "m_mov exec, -1");
    emit_epilogue(e, NULL);
}
