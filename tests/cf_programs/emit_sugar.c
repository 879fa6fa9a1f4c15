/*
 * The predicated form by the assembler's regions. A .break leaves one loop, so a return sets m7 for its lanes,
 * and each loop that they leave is followed by a .break for them; the outermost loop is the whole program.
 */
#include "tests/cf_programs/emit.h"

static void list(struct emitter *e, int16_t i);

static void loop(struct emitter *e, int16_t node)
{
    const struct cfp_node *n = &e->p->node[node];
    bool continues = cfp_body_has(e->p, n->body, CFP_CONTINUE);
    bool late = n->kind == CFP_DO && !continues; /* the condition is behind the body */
    bool repeat = n->kind == CFP_REPEAT;

    emit_trips_start(e, n);
    emit(e, ".loop");
    if (repeat) {
        emit_count(e, n);
        emit(e, "v_mov_b32 v40, s%u", S_COUNT + e->loops);
        emit(e, "v_cmp_gt_u32 m0, v40, %u", n->trips);
        emit(e, ".break m0");
    } else if (n->kind == CFP_DO &&
               !late) { /* .continue goes to the head, where the second trip asks first */
        emit(e, "v_cmp_ne_u32 m0, v%u, 0", V_TRIPS + e->loops);
        emit(e, ".if m0");
        emit(e, ".break !%s", emit_goes_on(e, n));
        emit(e, ".endif");
    } else if (!late) {
        emit(e, ".break !%s", emit_goes_on(e, n));
    }
    emit_trip(e, n);
    e->loops++;
    list(e, n->body);
    e->loops--;
    e->node = (uint16_t)node;
    if (late)
        emit(e, ".break !%s", emit_goes_on(e, n));
    emit(e, ".endloop");
    if (cfp_list_has(e->p, n->body, CFP_RETURN))
        emit(e, ".break m7");
}

/* All lanes go one way. */
static void group_branch(struct emitter *e, const struct cfp_node *n)
{
    unsigned label = emit_group_if(e, n);

    list(e, n->body);
    if (n->orelse != CFP_NONE) {
        emit_group_else(e, label);
        list(e, n->orelse);
    }
    emit_group_end(e, n, label);
}

static void branch(struct emitter *e, int16_t node)
{
    const struct cfp_node *n = &e->p->node[node];

    emit(e, ".if %s", emit_cond(e, &n->cond));
    list(e, n->body);
    e->node = (uint16_t)node;
    if (n->orelse != CFP_NONE || emit_chance(e, 10)) {
        emit(e, ".else");
        list(e, n->orelse);
    }
    e->node = (uint16_t)node;
    emit(e, ".endif");
}

static void leave(struct emitter *e, const struct cfp_node *n)
{
    bool region = n->has_cond && (n->kind == CFP_RETURN || n->kind == CFP_END || emit_chance(e, 30));
    const char *mask = "";

    if (n->has_cond)
        mask = emit_cond(e, &n->cond);
    if (region)
        emit(e, ".if %s", mask);
    if (n->kind == CFP_RETURN)
        emit(e, "v_cmp_eq_u32 m7, v0, v0");
    if (n->kind == CFP_END)
        emit(e, "s_end");
    else
        emit(e, "%s %s", n->kind == CFP_CONTINUE ? ".continue" : ".break", region ? "" : mask);
    if (region)
        emit(e, ".endif");
}

static void list(struct emitter *e, int16_t i)
{
    for (; i != CFP_NONE; i = e->p->node[i].next) {
        const struct cfp_node *n = &e->p->node[i];

        e->node = (uint16_t)i;
        if (n->kind <= CFP_BARRIER)
            emit_simple(e, n);
        else if (n->by_group)
            group_branch(e, n);
        else if (n->kind == CFP_IF)
            branch(e, i);
        else if (n->kind <= CFP_REPEAT)
            loop(e, i);
        else
            leave(e, n);
    }
    e->node = CFP_NO_NODE;
}

void emit_sugar(struct emitter *e)
{
    bool returns = cfp_has(e->p, CFP_RETURN);

    if (returns) {
        emit(e, "m_mov m7, 0");
        emit(e, ".loop");
    }
    list(e, e->p->first);
    if (returns) {
        emit(e, ".break");
        emit(e, ".endloop");
    }
    emit_epilogue(e, NULL);
}
