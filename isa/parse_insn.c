/* One instruction: predicate, mnemonic and operands, as the opcode's row says. */
#include "isa/asm_internal.h"
#include "isa/print.h"

#include <string.h>

static bool predicate(struct assembler *as, struct isa_insn *in, uint32_t *col)
{
    struct isa_operand o;

    *col = asm_tok(as)->col;
    if (!asm_take(as, '@'))
        return true;
    in->pred_not = asm_take(as, '!');
    if (!asm_mask(as, false, &o))
        return false;
    in->pred = (uint8_t)(o.index + 1);
    return true;
}

static bool find_op(struct assembler *as, const struct token *t, struct isa_insn *in)
{
    struct slice name = t->text;
    const struct symbol *s;
    char hint[160];

    if (name.len > 7 && memcmp(name.at + name.len - 7, ".nomask", 7) == 0) {
        name.len -= 7;
        in->flags |= ISA_F_NOMASK;
    }
    s = symtab_find(&as->mnemonics, name);
    if (s) {
        in->op = (uint16_t)s->value;
        return true;
    }
    if (in->pred &&
        (symtab_find(&as->macros, name) || slice_is(name, "call") || slice_is(name, "ret")))
        return asm_fail(as, t->col, "asm-predicate", "use .if, or give the macro a mask argument",
                        "`%.*s` takes no predicate", SLICE(name));
    asm_nearest_mnemonic(name, hint, sizeof hint);
    return asm_fail(as, t->col, "asm-unknown-opcode", hint, "unknown instruction `%.*s`",
                    SLICE(name));
}

static bool string_operand(struct assembler *as, struct isa_insn *in)
{
    struct isa_program *p = as->program;
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);
    const char *why;
    char *copy;

    if (t->kind != TOK_STRING)
        return asm_fail(as, t->col, "asm-syntax", "", "expected a text in quotes, found `%.*s`",
                        SLICE(text));
    as->next++;
    if (!asm_string(as, t, &text))
        return false;
    why = isa_ops[in->op].format == ISA_PRINT ? isa_print_wrong(text.at) : NULL;
    if (why)
        return asm_fail(as, t->col, "asm-format",
                        "a format has one of %d %u %x %f %e %g, and %% for a %",
                        "the format \"%.*s\" %s", SLICE(text), why);
    copy = malloc(text.len + 1);
    if (!copy || !vec_reserve_bytes((void **)&p->strings, &as->nstrings_cap, p->nstrings + 1,
                                    sizeof *p->strings)) {
        free(copy);
        return asm_no_memory(as);
    }
    memcpy(copy, text.at, text.len + 1);
    in->imm = p->nstrings;
    p->strings[p->nstrings++] = copy;
    return true;
}

static bool special_operand(struct assembler *as, struct isa_insn *in)
{
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);
    int index = t->kind == TOK_NAME ? isa_vspecial_find(text.at, text.len) : -1;

    if (index < 0)
        return asm_fail(
            as, t->col, "asm-operand-kind",
            "%lane, %tid, %tid_x, %tid_y, %tid_z or %gid; the others are scalar operands",
            "`%.*s` is no vector special value", SLICE(text));
    as->next++;
    in->imm = (uint64_t)index;
    return true;
}

static bool label_operand(struct assembler *as, uint32_t *label)
{
    const struct token *t = asm_tok(as);
    struct slice name, text = asm_tok_text(t);

    if (t->kind == TOK_NUMBER)
        return asm_fail(as, t->col, "asm-operand-kind", "write `name:` in front of the instruction",
                        "a branch goes to a label, not to `%.*s`", SLICE(text));
    if (!asm_want_name(as, "a label", &name))
        return false;
    if (asm_reserved(as, name))
        return asm_fail(as, t->col, "asm-operand-kind", "", "`%.*s` is no label", SLICE(name));
    return asm_label_use(as, name, t->col, label);
}

/* The jip of a goto or a join, which may be left out; "-" is none. */
static bool jip_operand(struct assembler *as, struct stmt *s, bool *first)
{
    bool goto_ = !*first;

    if (asm_tok(as)->kind == TOK_END || (goto_ && !asm_at(as, ',')))
        return true;
    if (goto_)
        as->next++;
    *first = false;
    if (!goto_ && asm_take(as, '-')) {
        s->jip = NO_JIP;
        return true;
    }
    return label_operand(as, &s->jip);
}

/* The comma in front of an operand that is not the first. */
static bool next_operand(struct assembler *as, const struct isa_insn *in, bool *first)
{
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);
    struct text syntax = {0};
    bool good = *first ? t->kind != TOK_END : asm_take(as, ',');

    *first = false;
    if (good)
        return true;
    isa_op_syntax(&isa_ops[in->op], &syntax);
    if (t->kind == TOK_END)
        asm_fail(as, t->col, "asm-operand-count", text_str(&syntax), "%s needs more operands",
                 isa_ops[in->op].name);
    else
        asm_fail(as, t->col, "asm-syntax", text_str(&syntax),
                 "expected `,` between operands, found `%.*s`", SLICE(text));
    text_free(&syntax);
    return false;
}

static bool too_many(struct assembler *as, const struct isa_insn *in)
{
    const struct token *t = asm_tok(as);
    struct text syntax = {0};

    if (t->kind == TOK_END)
        return true;
    isa_op_syntax(&isa_ops[in->op], &syntax);
    asm_fail(as, t->col, t->punct == ',' ? "asm-operand-count" : "asm-syntax", text_str(&syntax),
             t->punct == ',' ? "%s has too many operands, from `%.*s` on"
                             : "%s does not go on with `%.*s`",
             isa_ops[in->op].name, SLICE(t->text));
    text_free(&syntax);
    return false;
}

static bool operands(struct assembler *as, struct stmt *s)
{
    struct isa_insn *in = &s->insn;
    const struct isa_op_info *op = &isa_ops[in->op];
    unsigned extra = isa_formats[op->format].extra;
    bool first = true, has_imm = false;

    if (op->format == ISA_PRINT && !(next_operand(as, in, &first) && string_operand(as, in)))
        return false;
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++) {
        if (slot == ISA_SLOT_A && (extra & ISA_X_ADDRESS) &&
            !(next_operand(as, in, &first) && asm_address(as, in)))
            return false;
        if (isa_slot_kinds(op, slot) &&
            !(next_operand(as, in, &first) && asm_operand(as, in, slot, &has_imm)))
            return false;
    }
    if ((extra & ISA_X_SPECIAL) && !(next_operand(as, in, &first) && special_operand(as, in)))
        return false;
    if ((extra & ISA_X_TARGET) && !(next_operand(as, in, &first) && label_operand(as, &s->label)))
        return false;
    if ((extra & ISA_X_JIP) && !jip_operand(as, s, &first))
        return false;
    if (op->format == ISA_ASSERT && !(next_operand(as, in, &first) && string_operand(as, in)))
        return false;
    return too_many(as, in);
}

bool asm_insn(struct assembler *as)
{
    struct stmt s = {.kind = STMT_INSN, .label = NO_LABEL, .jip = NO_LABEL};
    const struct token *t;
    uint32_t pred_col;
    struct slice name;

    if (!predicate(as, &s.insn, &pred_col))
        return false;
    t = asm_tok(as);
    s.col = t->col;
    if (!asm_want_name(as, "an instruction", &name) || !find_op(as, t, &s.insn) ||
        !asm_need_kernel(as, t->col, name) || !operands(as, &s))
        return false;
    if (s.insn.pred && !isa_takes_predicate(&s.insn))
        return asm_fail(as, pred_col, "asm-predicate", "branch around it, or select the value",
                        "%s acts on no lanes and takes no predicate", isa_ops[s.insn.op].name);
    if ((s.insn.flags & ISA_F_NOMASK) && !isa_takes_nomask(&s.insn))
        return asm_fail(as, t->col, "asm-predicate", "leave .nomask out",
                        "%s: .nomask means nothing with %s",
                        isa_takes_predicate(&s.insn) ? "lanes that sleep stay where they are"
                                                     : "it acts on no lanes",
                        isa_ops[s.insn.op].name);
    as->kernel.has_insn = true;
    return asm_emit(as, &s);
}
