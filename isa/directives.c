/* The table of directives, and those that need few words. */
#include "isa/asm_internal.h"

#include "sim/base/param.h"

#include <stdio.h>
#include <string.h>

static bool dir_const(struct assembler *as, uint32_t col)
{
    struct slice name, copy;
    struct value v;

    col = asm_tok(as)->col;
    if (!asm_want_name(as, "the constant's name", &name) ||
        !asm_new_name(as, name, col, "a constant") || !asm_expr(as, &v) || !asm_want_end(as))
        return false;
    return asm_keep_text(as, &copy, "%.*s", (int)name.len, name.at) &&
           ((symtab_add(&as->consts, copy, (uint32_t)as->const_values.len) &&
             vec_push(&as->const_values, v)) ||
            asm_no_memory(as));
}

static bool dir_include(struct assembler *as, uint32_t col)
{
    const struct token *t = asm_tok(as);
    struct slice name, text = asm_tok_text(t);

    if (t->kind != TOK_STRING)
        return asm_fail(as, t->col, "asm-syntax", "write .include \"file\"",
                        "expected a file name in quotes, found `%.*s`", SLICE(text));
    as->next++;
    return asm_want_end(as) && asm_string(as, t, &name) && asm_include(as, name, col);
}

/* The rest of this file is read once, however often it is included. */
static bool dir_once(struct assembler *as, uint32_t col)
{
    const char *path = as->program->files[as->file];
    struct slice copy;

    (void)col;
    return asm_want_end(as) && asm_keep_text(as, &copy, "%s", path) &&
           (symtab_find(&as->once, copy) || symtab_add(&as->once, copy, 0) || asm_no_memory(as));
}

static bool region(struct assembler *as, uint32_t col, enum stmt_kind kind, bool may_cond,
                   bool must_cond)
{
    struct stmt s = {.kind = (uint8_t)kind, .col = col, .label = NO_LABEL};

    if (may_cond && (must_cond || asm_tok(as)->kind != TOK_END)) {
        s.has_cond = true;
        s.cond_not = asm_take(as, '!');
        if (!asm_mask(as, false, &s.insn.a))
            return false;
    }
    as->kernel.sugar = true;
    as->kernel.has_insn = true;
    return asm_want_end(as) && asm_emit(as, &s);
}

static bool dir_if(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_IF, true, true);
}

static bool dir_else(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_ELSE, false, false);
}

static bool dir_endif(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_ENDIF, false, false);
}

static bool dir_loop(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_LOOP, false, false);
}

static bool dir_break(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_BREAK, true, false);
}

static bool dir_continue(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_CONTINUE, true, false);
}

static bool dir_endloop(struct assembler *as, uint32_t col)
{
    return region(as, col, STMT_ENDLOOP, false, false);
}

static bool dir_stray(struct assembler *as, uint32_t col)
{
    const struct token *t = &as->tokens.at[as->next - 1];

    return asm_fail(as, col, "asm-unterminated", "", "`%.*s` without its beginning", SLICE(t->text));
}

static const struct {
    const char *name;
    bool (*run)(struct assembler *as, uint32_t col);
    bool in_kernel;
} directives[] = {
    {".kernel", asm_kernel_begin, false},
    {".endkernel", asm_kernel_end, true},
    {".param", asm_dir_param, true},
    {".form", asm_dir_form, true},
    {".vregs", asm_dir_vregs, true},
    {".sregs", asm_dir_sregs, true},
    {".lds", asm_dir_lds, true},
    {".local", asm_dir_local, true},
    {".tm_detector", asm_dir_tm_detector, true},
    {".tm_serialise", asm_dir_tm_serialise, true},
    {".const", dir_const, false},
    {".include", dir_include, false},
    {".once", dir_once, false},
    {".macro", asm_macro_define, false},
    {".endmacro", dir_stray, false},
    {".rept", asm_rept, false},
    {".endrept", dir_stray, false},
    {".func", asm_func_define, false},
    {".endfunc", dir_stray, false},
    {".if", dir_if, true},
    {".else", dir_else, true},
    {".endif", dir_endif, true},
    {".loop", dir_loop, true},
    {".break", dir_break, true},
    {".continue", dir_continue, true},
    {".endloop", dir_endloop, true},
};
enum { NUM_DIRECTIVES = sizeof directives / sizeof *directives };

static bool unknown_directive(struct assembler *as, const struct token *t)
{
    const char *names[NUM_DIRECTIVES], *best = NULL;
    char name[32], hint[64] = "isa/README.md lists the directives";

    for (size_t i = 0; i < NUM_DIRECTIVES; i++)
        names[i] = directives[i].name;
    if (t->text.len < sizeof name) {
        memcpy(name, t->text.at, t->text.len);
        name[t->text.len] = '\0';
        best = name_nearest(name, names, NUM_DIRECTIVES);
    }
    if (best)
        snprintf(hint, sizeof hint, "did you mean `%s`?", best);
    return asm_fail(as, t->col, "asm-unknown-directive", hint, "unknown directive `%.*s`",
                    SLICE(t->text));
}

bool asm_directive(struct assembler *as)
{
    const struct token *t = asm_tok(as);

    for (size_t i = 0; i < NUM_DIRECTIVES; i++) {
        if (!slice_is(t->text, directives[i].name))
            continue;
        as->next++;
        if (directives[i].in_kernel && !asm_need_kernel(as, t->col, t->text))
            return false;
        return directives[i].run(as, t->col);
    }
    return unknown_directive(as, t);
}
