/*
 * The form goto. Every label that a goto leads to is a join, and so is the place behind each goto.b. In some programs JIPs are
 * written: the next join of the text, which has a second label, J and its number.
 */
#include "tests/cf_programs/emit.h"

#include <stdio.h>

struct state {
    struct emitter *e;
    unsigned out, next; /* labels of the innermost loop: behind it, and its next trip */
    unsigned returned;
    unsigned depth;
    bool asleep; /* lanes may sleep until `returned` */
    bool jips;   /* are written */
    unsigned joins;
};

static void list(struct state *s, int16_t i);

static void join(struct state *s, unsigned label)
{
    emit_label(s->e, label);
    if (s->jips)
        emit(s->e, "J%u:", s->joins);
    s->joins++;
    emit(s->e, "join");
}

/* A goto of any kind with what is ahead of it, to a label. */
static void jump(struct state *s, const char *ahead, unsigned label)
{
    if (s->jips)
        emit(s->e, "%s L%u, J%u", ahead, label, s->joins);
    else
        emit(s->e, "%s L%u", ahead, label);
}

/* Lanes of a mask jump, or with "!" ahead of it the others; without a mask all do. */
static void jump_if(struct state *s, const char *sense, const char *mask, const char *name,
                    unsigned label)
{
    char ahead[32];

    snprintf(ahead, sizeof ahead, "%s%s%s%s%s", mask ? "@" : "", mask ? sense : "",
             mask ? mask : "", mask ? " " : "", name);
    jump(s, ahead, label);
}

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
    unsigned other = ++s->e->labels, end = ++s->e->labels;

    if (as_predicate(s, n)) {
        predicated(s, n);
        return;
    }
    jump_if(s, "!", emit_cond(s->e, &n->cond), "goto", other);
    s->depth++;
    list(s, n->body);
    if (n->orelse != CFP_NONE) {
        jump_if(s, "", NULL, "goto", end);
        join(s, other);
        list(s, n->orelse);
        join(s, end);
    } else {
        join(s, other);
    }
    s->depth--;
}

static void loop(struct state *s, const struct cfp_node *n)
{
    struct state outer = *s;
    unsigned head = ++s->e->labels;

    s->out = ++s->e->labels;
    s->next = ++s->e->labels;
    emit_trips_start(s->e, n);
    emit_label(s->e, head);
    if (n->kind == CFP_WHILE)
        jump_if(s, "!", emit_goes_on(s->e, n), "goto", s->out);
    emit_trip(s->e, n);
    s->e->loops++;
    s->depth++;
    list(s, n->body);
    s->e->loops--;
    if (cfp_body_has(s->e->p, n->body, CFP_CONTINUE))
        join(s, s->next);
    if (n->kind == CFP_REPEAT) {
        emit_count(s->e, n);
        emit(s->e, "s_branch_nz s50, L%u", head);
    } else if (n->kind == CFP_WHILE) {
        emit(s->e, "s_jump L%u", head);
    } else {
        jump_if(s, "", emit_goes_on(s->e, n), "goto.b", head);
    }
    if (n->kind != CFP_REPEAT)
        join(s, s->out);
    outer.asleep = s->asleep;
    outer.joins = s->joins;
    *s = outer;
}

/*
 * No lane may sleep when all that are awake end, so s_end stands only where none can. From elsewhere lanes that end go to
 * where the others return to, and m7 says that they do nothing there.
 */
static void leave(struct state *s, const struct cfp_node *n)
{
    const char *mask = n->has_cond ? emit_cond(s->e, &n->cond) : NULL;
    unsigned to = n->kind == CFP_BREAK ? s->out : n->kind == CFP_CONTINUE ? s->next : s->returned;

    if (n->kind == CFP_END && s->depth == 0 && !s->asleep) {
        emit(s->e, "%s%s%ss_end", mask ? "@" : "", mask ? mask : "", mask ? " " : "");
        return;
    }
    if (n->kind == CFP_END && mask)
        emit(s->e, "m_or m7, m7, %s", mask);
    else if (n->kind == CFP_END)
        emit(s->e, "m_mov m7, -1");
    s->asleep = s->asleep || n->kind >= CFP_RETURN;
    jump_if(s, "", mask, "goto", to);
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

void emit_goto(struct emitter *e)
{
    struct state s = {.e = e, .jips = emit_chance(e, 30)};
    bool ends = cfp_has(e->p, CFP_END);

    s.returned = ++e->labels;
    if (ends)
        emit(e, "m_mov m7, 0");
    list(&s, e->p->first);
    if (s.asleep)
        join(&s, s.returned);
    emit_epilogue(e, ends ? "m7" : NULL);
}
