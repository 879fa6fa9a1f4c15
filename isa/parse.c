/* Lines to statements: labels, directives, expansions and instructions. */
#include "isa/asm_internal.h"

#include <string.h>

bool asm_need_kernel(struct assembler *as, uint32_t col, struct slice what)
{
    if (as->kernel.open)
        return true;
    return asm_fail(as, col, "asm-outside-kernel", "begin one with .kernel NAME",
                    "`%.*s` outside a kernel", SLICE(what));
}

bool asm_emit(struct assembler *as, const struct stmt *s)
{
    struct stmt copy = *s;

    if (!asm_line_index(as, &copy.line))
        return false;
    if (as->kernel.stmts.len >= ASM_MAX_INSNS)
        return asm_fail(as, s->col, "asm-too-long", "split the kernel",
                        "the kernel has more than %d statements", ASM_MAX_INSNS);
    return vec_push(&as->kernel.stmts, copy) || asm_no_memory(as);
}

static bool labels(struct assembler *as)
{
    while (asm_tok(as)->kind == TOK_NAME && asm_tok(as)[1].kind == TOK_PUNCT &&
           asm_tok(as)[1].punct == ':') {
        const struct token *t = asm_tok(as);

        as->next += 2;
        if (!asm_need_kernel(as, t->col, t->text) || !asm_label_define(as, t->text, t->col))
            return false;
    }
    return true;
}

static bool statement(struct assembler *as)
{
    const struct token *t = asm_tok(as);
    const struct symbol *macro;
    struct slice text = asm_tok_text(t);

    if (t->kind == TOK_NAME && t->text.at[0] == '.')
        return asm_directive(as);
    if (asm_at(as, '@'))
        return asm_insn(as);
    if (t->kind != TOK_NAME)
        return asm_fail(as, t->col, "asm-syntax", "", "expected an instruction, found `%.*s`",
                        SLICE(text));
    macro = symtab_find(&as->macros, t->text);
    if (macro) {
        as->next++;
        return asm_macro_expand(as, as->macro_list.at[macro->value], t->col);
    }
    if (slice_is(t->text, "call") || slice_is(t->text, "ret")) {
        as->next++;
        return slice_is(t->text, "ret") ? asm_ret(as, t->col) : asm_call(as, t->col);
    }
    return asm_insn(as);
}

static bool line(struct assembler *as)
{
    const struct frame *top = as->frames[as->depth - 1];

    if (!asm_lex(as))
        return false;
    if (top->kind == FRAME_FUNC && top->ret_seen && asm_tok(as)->kind != TOK_END)
        return asm_fail(as, asm_tok(as)->col, "asm-ret", "use a branch to a label at the end",
                        "ret is not the last line of func `%.*s`", SLICE(top->func->name));
    if (!labels(as))
        return false;
    return asm_tok(as)->kind == TOK_END || statement(as);
}

bool asm_parse(struct assembler *as)
{
    bool more;

    for (;;) {
        if (!asm_read_line(as, &more))
            return false;
        if (!more)
            break;
        if (!line(as))
            return false;
    }
    if (as->kernel.open)
        return asm_fail_at(as, as->kernel.file, as->kernel.line, as->kernel.col, "asm-unterminated",
                           "end it with .endkernel", "kernel `%s` does not end", as->kernel.k.name);
    if (!as->program->nkernels)
        return asm_fail_at(as, 0, 1, 1, "asm-no-kernel", "write .kernel NAME ... .endkernel",
                           "the file holds no kernel");
    return true;
}
