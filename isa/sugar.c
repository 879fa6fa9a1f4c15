/*
 * Structured regions to the predicated form.
 *
 * Each region keeps its lanes in a mask: an .if one mask, a .loop the lanes that stay in it and, if it
 * has a .continue, also the lanes of the current iteration. Slot k of these masks is m8 + k mod 7;
 * when slot k + 7 comes into use, slot k waits in scalar pair k. The innermost region's mask is
 * therefore always a register, and it is the predicate of all that acts on lanes.
 * A break or continue takes its lanes out of the masks of all regions up to its loop.
 */
#include "isa/asm_internal.h"

#include <string.h>

enum { FIRST_MASK = 8, SLOTS_IN_MASKS = 7, SCRATCH = 15, MAX_SLOTS = SLOTS_IN_MASKS + 48 };

struct region {
    bool loop, has_else, has_exit; /* has_exit: a break or continue leaves from inside */
    bool two;                      /* a loop with a slot for the iteration's lanes */
    unsigned slot;
    uint32_t skip; /* label for when no lane is left */
    uint32_t head; /* of a loop */
    const struct stmt *begin;
};

struct sugar {
    struct assembler *as;
    stmt_list out;
    const struct stmt *at; /* what is being replaced: gives lines to what is made */
    unsigned slots, most_slots;
    size_t depth;
    struct region regions[MAX_SLOTS];
};

static struct isa_operand mask(unsigned index)
{
    return (struct isa_operand){ISA_O_M, 1, (uint16_t)index};
}

static struct isa_operand pair(unsigned slot)
{
    return (struct isa_operand){ISA_O_S, 2, (uint16_t)(SUGAR_FIRST_PAIR + 2 * slot)};
}

static struct isa_operand register_of(unsigned slot)
{
    return mask(FIRST_MASK + slot % SLOTS_IN_MASKS);
}

/* Where a slot's mask is now. */
static struct isa_operand where(const struct sugar *s, unsigned slot)
{
    return slot + SLOTS_IN_MASKS < s->slots ? pair(slot) : register_of(slot);
}

static bool push(struct sugar *s, struct stmt made)
{
    made.line = s->at->line;
    made.col = s->at->col;
    made.made = true;
    return vec_push(&s->out, made) || asm_no_memory(s->as);
}

static bool mask_op(struct sugar *s, enum isa_op op, struct isa_operand d, struct isa_operand a,
                    struct isa_operand b)
{
    struct stmt made = {.kind = STMT_INSN, .label = NO_LABEL};

    made.insn = (struct isa_insn){.op = (uint16_t)op, .d = d, .a = a, .b = b};
    if (a.kind == ISA_O_IMM)
        made.insn.imm = ~UINT64_C(0);
    return push(s, made);
}

static bool branch(struct sugar *s, enum isa_op op, struct isa_operand a, uint32_t label)
{
    struct stmt made = {.kind = STMT_INSN, .label = label};

    made.insn = (struct isa_insn){.op = (uint16_t)op, .a = a};
    return push(s, made);
}

static bool put_label(struct sugar *s, uint32_t label)
{
    return push(s, (struct stmt){.kind = STMT_LABEL, .label = label});
}

static const struct isa_operand none;

static struct region *top(struct sugar *s)
{
    return s->depth ? &s->regions[s->depth - 1] : NULL;
}

/* The mask of the lanes that are active in the region. */
static struct isa_operand lanes_of(const struct region *r)
{
    return register_of(r->slot + (r->loop && r->two));
}

static bool take_slots(struct sugar *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned slot = s->slots++;

        if (slot >= SLOTS_IN_MASKS &&
            !mask_op(s, OP_m_mov, pair(slot - SLOTS_IN_MASKS), register_of(slot), none))
            return false;
    }
    if (s->slots > s->most_slots)
        s->most_slots = s->slots;
    return true;
}

static bool give_slots(struct sugar *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned slot = --s->slots;

        if (slot >= SLOTS_IN_MASKS &&
            !mask_op(s, OP_m_mov, register_of(slot), pair(slot - SLOTS_IN_MASKS), none))
            return false;
    }
    return true;
}

static bool open_region(struct sugar *s, struct region r, unsigned slots)
{
    if (s->slots + slots > MAX_SLOTS)
        return asm_fail_line(s->as, s->at->line, s->at->col, "asm-region-depth",
                             "put the inner part into a kernel of its own",
                             "regions are nested too deep: more than %d masks", MAX_SLOTS);
    r.slot = s->slots;
    r.begin = s->at;
    s->regions[s->depth++] = r;
    return take_slots(s, slots);
}

/* d = the lanes of `in` (none: all) in which the condition holds. */
static bool narrow(struct sugar *s, struct isa_operand d, struct isa_operand in,
                   const struct stmt *cond)
{
    if (!cond->has_cond)
        return mask_op(s, OP_m_mov, d, in, none);
    if (in.kind == ISA_O_NONE)
        return mask_op(s, cond->cond_not ? OP_m_not : OP_m_mov, d, cond->insn.a, none);
    return mask_op(s, cond->cond_not ? OP_m_andn : OP_m_and, d, in, cond->insn.a);
}

static bool begin_if(struct sugar *s)
{
    struct isa_operand outer = s->depth ? lanes_of(top(s)) : none;
    struct region r = {0};

    return asm_label_make(s->as, &r.skip) && open_region(s, r, 1) &&
           narrow(s, lanes_of(top(s)), outer, s->at) &&
           branch(s, OP_s_branch_none, lanes_of(top(s)), top(s)->skip);
}

static bool misplaced(struct sugar *s, const char *name, const char *wants)
{
    return asm_fail_line(s->as, s->at->line, s->at->col, "asm-region", "", "%s outside %s", name,
                         wants);
}

static bool begin_else(struct sugar *s)
{
    struct region *r = top(s);
    struct isa_operand lanes;
    uint32_t label = 0;

    if (!r || r->loop)
        return misplaced(s, ".else", ".if");
    if (r->has_else)
        return misplaced(s, "a second .else", "an .if of its own");
    r->has_else = true;
    lanes = lanes_of(r);
    if (!put_label(s, r->skip) || !asm_label_make(s->as, &label))
        return false;
    r->skip = label;
    if (!(s->depth > 1 ? mask_op(s, OP_m_andn, lanes, lanes_of(r - 1), lanes)
                       : mask_op(s, OP_m_not, lanes, lanes, none)))
        return false;
    return branch(s, OP_s_branch_none, lanes, label);
}

static bool end_if(struct sugar *s)
{
    struct region *r = top(s), *outer = s->depth > 1 ? r - 1 : NULL;

    if (!r || r->loop)
        return misplaced(s, ".endif", ".if");
    if (!put_label(s, r->skip) || !give_slots(s, 1))
        return false;
    s->depth--;
    if (!r->has_exit)
        return true;
    return branch(s, OP_s_branch_none, lanes_of(outer), outer->skip);
}

/* True if the loop that begins at stmt has a .continue of its own. */
static bool has_continue(const struct stmt *stmt, const struct stmt *end)
{
    unsigned depth = 0;

    for (stmt++; stmt < end; stmt++) {
        if (stmt->kind == STMT_LOOP)
            depth++;
        if (stmt->kind == STMT_ENDLOOP && depth-- == 0)
            return false;
        if (stmt->kind == STMT_CONTINUE && depth == 0)
            return true;
    }
    return false;
}

static bool begin_loop(struct sugar *s, const struct stmt *end)
{
    struct isa_operand outer = s->depth ? lanes_of(top(s)) : (struct isa_operand){.kind = ISA_O_IMM};
    struct region r = {.loop = true, .two = has_continue(s->at, end)};

    if (!asm_label_make(s->as, &r.skip) || !asm_label_make(s->as, &r.head) ||
        !open_region(s, r, 1 + r.two) ||
        !mask_op(s, OP_m_mov, register_of(top(s)->slot), outer, none) || !put_label(s, r.head))
        return false;
    return !r.two || mask_op(s, OP_m_mov, lanes_of(top(s)), register_of(top(s)->slot), none);
}

static bool end_loop(struct sugar *s)
{
    struct region *r = top(s);

    if (!r || !r->loop)
        return misplaced(s, ".endloop", ".loop");
    if (!put_label(s, r->skip) || !branch(s, OP_s_branch_any, register_of(r->slot), r->head) ||
        !give_slots(s, 1 + r->two))
        return false;
    s->depth--;
    return true;
}

static bool drop_lanes(struct sugar *s, unsigned slot)
{
    return mask_op(s, OP_m_andn, where(s, slot), where(s, slot), mask(SCRATCH));
}

static bool leave(struct sugar *s, bool for_good)
{
    struct isa_operand lanes;
    size_t i = s->depth;

    while (i > 0 && !s->regions[i - 1].loop)
        i--;
    if (i == 0)
        return misplaced(s, for_good ? ".break" : ".continue", "a .loop");
    lanes = lanes_of(top(s));
    if (!narrow(s, mask(SCRATCH), lanes, s->at))
        return false;
    for (size_t k = s->depth; k >= i; k--) {
        struct region *r = &s->regions[k - 1];

        r->has_exit = !r->loop;
        if ((!r->loop || for_good) && !drop_lanes(s, r->slot))
            return false;
        if (r->two && !drop_lanes(s, r->slot + 1))
            return false;
    }
    return branch(s, OP_s_branch_none, lanes, top(s)->skip);
}

/* An instruction in a region carries its mask, anded with its own predicate. */
static bool instruction(struct sugar *s)
{
    struct stmt copy = *s->at;
    struct isa_insn *in = &copy.insn;

    if (s->depth && isa_takes_predicate(in)) {
        struct isa_operand lanes = lanes_of(top(s));

        if (in->pred) {
            if (!mask_op(s, in->pred_not ? OP_m_andn : OP_m_and, mask(SCRATCH), lanes,
                         mask(in->pred - 1u)))
                return false;
            lanes = mask(SCRATCH);
        }
        in->pred = (uint8_t)(lanes.index + 1);
        in->pred_not = false;
    }
    return vec_push(&s->out, copy) || asm_no_memory(s->as);
}

static bool lower(struct sugar *s, const struct stmt *end)
{
    switch (s->at->kind) {
    case STMT_IF:
        return begin_if(s);
    case STMT_ELSE:
        return begin_else(s);
    case STMT_ENDIF:
        return end_if(s);
    case STMT_LOOP:
        return begin_loop(s, end);
    case STMT_ENDLOOP:
        return end_loop(s);
    case STMT_BREAK:
        return leave(s, true);
    case STMT_CONTINUE:
        return leave(s, false);
    case STMT_LABEL:
        return vec_push(&s->out, *s->at) || asm_no_memory(s->as);
    default:
        return instruction(s);
    }
}

static bool lower_all(struct sugar *s)
{
    const stmt_list *in = &s->as->kernel.stmts;

    for (size_t i = 0; i < in->len; i++) {
        s->at = &in->at[i];
        if (!lower(s, in->at + in->len))
            return false;
    }
    if (s->depth)
        return asm_fail_line(s->as, top(s)->begin->line, top(s)->begin->col, "asm-unterminated", "",
                             "%s", top(s)->loop ? ".loop without .endloop" : ".if without .endif");
    return true;
}

bool asm_sugar(struct assembler *as)
{
    struct sugar s = {.as = as};
    unsigned pairs;
    bool good = lower_all(&s);

    pairs = s.most_slots > SLOTS_IN_MASKS ? s.most_slots - SLOTS_IN_MASKS : 0;
    if (good && asm_sugar_own(as, &s.out, pairs)) {
        stmt_list old = as->kernel.stmts;

        as->kernel.stmts = s.out;
        vec_free(&old);
        return true;
    }
    vec_free(&s.out);
    return false;
}
