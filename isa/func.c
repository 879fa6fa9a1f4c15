/* Funcs: bodies inlined at each call, with parameters by name and labels of their own. */
#include "isa/asm_internal.h"

#include <stdlib.h>
#include <string.h>

const struct frame *asm_func_frame(const struct assembler *as)
{
    for (size_t i = as->depth; i > 0; i--)
        if (as->frames[i - 1]->kind == FRAME_FUNC)
            return as->frames[i - 1];
    return NULL;
}

/* v, s, m, and v64, s64 for pairs. */
static bool param_kind(struct assembler *as, struct func_param *p)
{
    static const struct {
        const char *name;
        uint8_t kind, words;
    } kinds[] = {{"v", ISA_O_V, 1},
                 {"s", ISA_O_S, 1},
                 {"m", ISA_O_M, 1},
                 {"v64", ISA_O_V, 2},
                 {"s64", ISA_O_S, 2}};
    const struct token *t = asm_tok(as);
    struct slice name = asm_tok_text(t);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (t->kind == TOK_NAME && slice_is(name, kinds[i].name)) {
            as->next++;
            p->kind = kinds[i].kind;
            p->words = kinds[i].words;
            return true;
        }
    }
    return asm_fail(as, t->col, "asm-func", "v, v64, s, s64 or m",
                    "expected the kind of a parameter, found `%.*s`", SLICE(name));
}

static bool func_params(struct assembler *as, struct func *f)
{
    if (!asm_want(as, '(', "behind the func's name"))
        return false;
    while (!asm_take(as, ')')) {
        struct func_param *p = &f->params[f->nparams];
        uint32_t col;

        if (f->nparams && !asm_want(as, ',', "between parameters"))
            return false;
        if (f->nparams == ASM_MAX_ARGS)
            return asm_fail(as, asm_tok(as)->col, "asm-arguments", "", "more than %d parameters",
                            ASM_MAX_ARGS);
        if (!param_kind(as, p))
            return false;
        col = asm_tok(as)->col;
        if (!asm_want_name(as, "the parameter's name", &p->name) ||
            !asm_new_name(as, p->name, col, "a parameter"))
            return false;
        for (size_t i = 0; i < f->nparams; i++)
            if (slice_same(f->params[i].name, p->name))
                return asm_fail(as, col, "asm-duplicate", "", "parameter `%.*s` twice",
                                SLICE(p->name));
        f->nparams++;
    }
    return true;
}

static bool used_range(struct assembler *as, struct func *f)
{
    struct reg_range *r = &f->uses[f->nuses];
    struct isa_operand first, last;
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);
    enum found found = f->nuses < ASM_MAX_USES ? asm_register(as, &first) : NOT_FOUND;

    if (found == FOUND_BAD)
        return false;
    if (found == NOT_FOUND || first.kind == ISA_O_EXEC)
        return asm_fail(as, t->col, "asm-func", "write .uses v20-v31, s10, m3, vcc",
                        "`%.*s` is no register that a func may use", SLICE(text));
    last = first;
    last.index = (uint16_t)(last.index + (first.words == 2));
    if (asm_take(as, '-')) {
        uint32_t col = asm_tok(as)->col;

        found = asm_register(as, &last);
        if (found == FOUND_BAD)
            return false;
        if (found == NOT_FOUND || last.kind != first.kind || last.index < first.index)
            return asm_fail(as, col, "asm-func", "write v20-v31",
                            "a range ends in a register behind its first");
    }
    *r = (struct reg_range){first.kind, first.index, last.index};
    f->nuses++;
    return true;
}

static bool func_uses(struct assembler *as, struct func *f)
{
    const struct token *t = asm_tok(as);

    if (t->kind == TOK_END)
        return true;
    if (t->kind != TOK_NAME || !slice_is(t->text, ".uses"))
        return asm_want_end(as);
    as->next++;
    do {
        if (!used_range(as, f))
            return false;
        asm_take(as, ',');
    } while (asm_tok(as)->kind != TOK_END);
    return true;
}

bool asm_func_define(struct assembler *as, uint32_t col)
{
    struct func *f = calloc(1, sizeof *f);
    uint32_t name_col = asm_tok(as)->col;

    if (!f || !vec_push(&as->func_list, f)) {
        free(f);
        return asm_no_memory(as);
    }
    f->file = as->file;
    f->line = as->line;
    if (!asm_want_name(as, "the func's name", &f->name) ||
        !asm_new_name(as, f->name, name_col, "a func"))
        return false;
    if (symtab_find(&as->funcs, f->name) || symtab_find(&as->macros, f->name))
        return asm_fail(as, name_col, "asm-duplicate",
                        "a file that is included twice begins with .once",
                        "`%.*s` is defined already", SLICE(f->name));
    if (!func_params(as, f) || !func_uses(as, f) ||
        !asm_capture(as, ".func", ".endfunc", col, &f->body, &f->body_line))
        return false;
    return symtab_add(&as->funcs, f->name, (uint32_t)(as->func_list.len - 1)) || asm_no_memory(as);
}

static bool overlaps(const struct reg_range *r, const struct isa_operand *o)
{
    unsigned last = o->index + (o->words == 2 ? 1u : 0u);

    return r->kind == o->kind && last >= r->first && o->index <= r->last;
}

static bool check_arg(struct assembler *as, const struct func *f, size_t i,
                      const struct isa_operand *o, uint32_t col)
{
    const struct func_param *p = &f->params[i];
    char text[24];

    asm_operand_text(o, text, sizeof text);
    if (o->kind != p->kind || o->words != p->words)
        return asm_fail(as, col, "asm-arguments", "",
                        "`%s` cannot be parameter `%.*s` of func `%.*s`, which is %s%s", text,
                        SLICE(p->name), SLICE(f->name),
                        p->kind == ISA_O_V   ? "v"
                        : p->kind == ISA_O_S ? "s"
                                             : "m",
                        p->words == 2 ? "64" : "");
    for (size_t u = 0; u < f->nuses; u++)
        if (overlaps(&f->uses[u], o))
            return asm_fail(as, col, "asm-func-uses", "pass another register",
                            "argument `%s` is among the registers that func `%.*s` uses", text,
                            SLICE(f->name));
    return true;
}

static bool call_args(struct assembler *as, const struct func *f, uint32_t call_col,
                      struct isa_operand *args)
{
    size_t n = 0;

    while (asm_take(as, ',')) {
        const struct token *t = asm_tok(as);
        struct slice text = asm_tok_text(t);
        enum found found = asm_register(as, &args[n]);

        if (found == FOUND_BAD)
            return false;
        if (found == NOT_FOUND)
            return asm_fail(as, t->col, "asm-arguments", "move a value into a register first",
                            "arguments are registers, found `%.*s`", SLICE(text));
        if (n < f->nparams && !check_arg(as, f, n, &args[n], t->col))
            return false;
        if (n++ == f->nparams) /* one too many; args has room for no more */
            break;
    }
    if (n == f->nparams)
        return asm_want_end(as);
    return asm_fail(as, call_col, "asm-arguments", "", "func `%.*s` takes %zu arguments",
                    SLICE(f->name), f->nparams);
}

bool asm_call(struct assembler *as, uint32_t col)
{
    uint32_t name_col = asm_tok(as)->col;
    struct isa_operand args[ASM_MAX_ARGS + 1];
    const struct symbol *s;
    const struct func *func;
    struct slice name;
    struct frame *f;

    if (!asm_want_name(as, "a func's name", &name))
        return false;
    s = symtab_find(&as->funcs, name);
    if (!s)
        return asm_fail(as, name_col, "asm-unknown-func", "define it with .func, above the call",
                        "no func `%.*s`", SLICE(name));
    func = as->func_list.at[s->value];
    for (size_t i = 0; i < as->depth; i++)
        if (as->frames[i]->kind == FRAME_FUNC && as->frames[i]->func == func)
            return asm_fail(as, name_col, "asm-recursion", "funcs are inlined; use a loop",
                            "func `%.*s` calls itself", SLICE(name));
    if (!asm_need_kernel(as, col, name) || !call_args(as, func, name_col, args))
        return false;
    f = asm_push_frame(as, FRAME_FUNC, name_col);
    if (!f)
        return false;
    memcpy(f->args, args, sizeof f->args);
    f->func = func;
    f->at = func->body.at;
    f->end = func->body.at + func->body.len;
    f->file = func->file;
    f->line = func->body_line;
    return true;
}

bool asm_ret(struct assembler *as, uint32_t col)
{
    struct frame *top = as->frames[as->depth - 1];

    if (top->kind != FRAME_FUNC)
        return asm_fail(as, col, "asm-ret", "a kernel ends with s_end", "ret outside a func");
    top->ret_seen = true;
    return asm_want_end(as);
}

static bool holds(const struct reg_range *r, const struct isa_operand *o)
{
    return r->kind == o->kind && o->index >= r->first &&
           o->index + (o->words == 2 ? 1u : 0u) <= r->last;
}

static bool may_write(const struct frame *f, const struct isa_operand *d)
{
    for (size_t i = 0; i < f->func->nparams; i++) {
        const struct isa_operand *a = &f->args[i];
        struct reg_range r = {a->kind, a->index, (uint16_t)(a->index + (a->words == 2))};

        if (holds(&r, d))
            return true;
    }
    for (size_t i = 0; i < f->func->nuses; i++)
        if (holds(&f->func->uses[i], d))
            return true;
    return false;
}

bool asm_func_check_write(struct assembler *as, const struct isa_operand *d, uint32_t col)
{
    char text[24];

    for (size_t i = 0; i < as->depth; i++) {
        const struct frame *f = as->frames[i];

        if (f->kind != FRAME_FUNC || may_write(f, d))
            continue;
        asm_operand_text(d, text, sizeof text);
        return asm_fail(as, col, "asm-func-uses", "add it to .uses",
                        "func `%.*s` writes `%s`, which is neither an argument nor in .uses",
                        SLICE(f->func->name), text);
    }
    return true;
}
