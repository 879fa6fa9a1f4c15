/* The registers that structured regions own: m8-m15, and scalar pairs from the top of .sregs down. */
#include "isa/asm_internal.h"

enum { FIRST_OWNED_MASK = 8 };

static bool is_owned_mask(const struct isa_operand *o)
{
    return o->kind == ISA_O_M && o->index >= FIRST_OWNED_MASK && o->index < ISA_MASKS;
}

static bool is_owned_scalar(const struct isa_operand *o, unsigned first, unsigned end)
{
    return o->kind == ISA_O_S && o->index < end && o->index + o->words > first;
}

static bool hand_use(struct assembler *as, const struct stmt *s, const struct isa_operand *o)
{
    char text[24];

    asm_operand_text(o, text, sizeof text);
    return asm_fail_line(
        as, s->line, s->col, "asm-owned-register",
        o->kind == ISA_O_M ? "use m0 to m7" : "use a lower register, or raise .sregs",
        "`%s` belongs to the .if and .loop regions of kernel `%s`", text, as->kernel.k.name);
}

static bool check_stmt(struct assembler *as, const struct stmt *s, unsigned first, unsigned end)
{
    const struct isa_insn *in = &s->insn;
    const struct isa_operand pred = {in->pred ? ISA_O_M : ISA_O_NONE, 1, (uint16_t)(in->pred - 1)};
    const struct isa_operand *all[] = {&pred, &in->d, &in->a, &in->b, &in->c, &in->addr.base};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (is_owned_mask(all[i]) || is_owned_scalar(all[i], first, end))
            return hand_use(as, s, all[i]);
    return true;
}

static void place_pair(struct isa_operand *o, unsigned end)
{
    if (o->kind == ISA_O_S && o->index >= SUGAR_FIRST_PAIR)
        o->index = (uint16_t)(end - 2 - (o->index - SUGAR_FIRST_PAIR));
}

bool asm_sugar_own(struct assembler *as, stmt_list *stmts, unsigned pairs)
{
    struct kernel_state *k = &as->kernel;
    unsigned end = k->declared_sregs ? k->k.sregs & ~1u : ((k->k.sregs + 1) & ~1u) + 2 * pairs;
    unsigned params = 0;

    for (uint32_t i = 0; i < k->k.nparams; i++)
        params = k->k.params[i].sreg +
                 (k->k.params[i].is_array ? 2u : isa_type_words(k->k.params[i].type));
    if (pairs && (end > ISA_MAX_SREGS || end < params + 2 * pairs))
        return asm_fail_at(as, k->file, k->line, k->col, "asm-region-depth",
                           k->declared_sregs ? "raise .sregs" : "use fewer scalar registers",
                           "the regions of kernel `%s` need %u scalar pairs behind the others",
                           k->k.name, pairs);
    for (size_t i = 0; i < k->stmts.len; i++)
        if (k->stmts.at[i].kind != STMT_LABEL &&
            !check_stmt(as, &k->stmts.at[i], end - 2 * pairs, pairs ? end : 0))
            return false;
    if (pairs && !k->declared_sregs)
        k->k.sregs = end;
    for (size_t i = 0; i < stmts->len; i++) {
        place_pair(&stmts->at[i].insn.d, end);
        place_pair(&stmts->at[i].insn.a, end);
    }
    return true;
}
