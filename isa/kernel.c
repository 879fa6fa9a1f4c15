/* Kernels: their directives, and what is known once one ends. */
#include "isa/asm_internal.h"

#include <string.h>

enum { MAX_LDS = 1 << 24, LOCAL_ALIGN = 8 };

static bool copy_name(struct assembler *as, struct slice name, uint32_t col, char out[ISA_NAME_MAX])
{
    if (name.len >= ISA_NAME_MAX)
        return asm_fail(as, col, "asm-name", "", "the name `%.*s` has more than %d bytes",
                        SLICE(name), ISA_NAME_MAX - 1);
    memcpy(out, name.at, name.len);
    out[name.len] = '\0';
    return true;
}

bool asm_kernel_begin(struct assembler *as, uint32_t col)
{
    struct kernel_state *k = &as->kernel;
    uint32_t name_col = asm_tok(as)->col;
    struct slice name;

    if (k->open)
        return asm_fail(as, col, "asm-nested-kernel", "end that one with .endkernel first",
                        ".kernel inside kernel `%s`", k->k.name);
    if (!asm_want_name(as, "the kernel's name", &name) || !asm_want_end(as))
        return false;
    if (name.at[0] == '.' || name.at[0] == '%' || memchr(name.at, '.', name.len))
        return asm_fail(as, name_col, "asm-name", "names are letters, digits and _",
                        "`%.*s` cannot name a kernel", SLICE(name));
    memset(&k->k, 0, sizeof k->k);
    if (!copy_name(as, name, name_col, k->k.name) || !asm_line_index(as, &k->k.line))
        return false;
    k->open = true;
    k->sugar = k->declared_vregs = k->declared_sregs = k->has_insn = k->declared_form = false;
    k->file = as->file;
    k->line = as->line;
    k->col = col;
    k->stmts.len = 0;
    symtab_clear(&k->params);
    symtab_clear(&k->locals);
    symtab_clear(&k->labels);
    return true;
}

static bool before_code(struct assembler *as, uint32_t col, const char *what)
{
    if (!as->kernel.has_insn)
        return true;
    return asm_fail(as, col, "asm-directive-order", "move it up to .kernel",
                    "%s stands in front of the kernel's first instruction", what);
}

static bool param_type(struct assembler *as, struct isa_param *p)
{
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);
    enum isa_type type = t->kind == TOK_NAME ? isa_type_find(text.at, text.len) : T_NONE;

    if (type == T_NONE || type == T_MASK || type == T_B32 || type == T_B64)
        return asm_fail(as, t->col, "asm-type",
                        "f32, i32, u32, f64, i64, u64, or an array such as f32[]",
                        "`%.*s` is no type of a parameter", SLICE(text));
    as->next++;
    if (asm_take(as, '[')) {
        if (!asm_want(as, ']', "to end the array's type"))
            return false;
        p->is_array = true;
    } else if (isa_type_bytes(type) < 4) {
        return asm_fail(as, t->col, "asm-type", "use i32 or u32, or an array of them",
                        "a scalar parameter cannot be `%.*s`", SLICE(text));
    }
    p->type = (uint8_t)type;
    return true;
}

bool asm_dir_param(struct assembler *as, uint32_t col)
{
    struct isa_kernel *k = &as->kernel.k;
    struct isa_param p = {0};
    uint32_t name_col = asm_tok(as)->col;
    struct slice name;
    unsigned words, sreg = k->sregs;

    if (!before_code(as, col, ".param") || !asm_want_name(as, "the parameter's name", &name) ||
        !asm_new_name(as, name, name_col, "a parameter") ||
        !copy_name(as, name, name_col, p.name) || !param_type(as, &p) || !asm_want_end(as))
        return false;
    if (as->kernel.declared_sregs)
        return asm_fail(as, col, "asm-directive-order", "move .sregs behind the parameters",
                        ".param behind .sregs");
    words = p.is_array ? 2 : isa_type_words((enum isa_type)p.type);
    sreg += words == 2 && sreg % 2;
    if (k->nparams == ISA_MAX_PARAMS || sreg + words > ISA_MAX_SREGS)
        return asm_fail(as, col, "asm-params", "pass an array of values", "more than %d parameters",
                        ISA_MAX_PARAMS);
    p.sreg = (uint8_t)sreg;
    k->sregs = sreg + words;
    k->params[k->nparams] = p;
    struct slice kept;

    return asm_keep_text(as, &kept, "%s", p.name) &&
           (symtab_add(&as->kernel.params, kept, k->nparams++) || asm_no_memory(as));
}

bool asm_dir_form(struct assembler *as, uint32_t col)
{
    const struct token *t = asm_tok(as);
    struct slice name;
    unsigned form;

    if (!before_code(as, col, ".form") || !asm_want_name(as, "a form", &name))
        return false;
    if (asm_take(as, '-')) { /* predicated-all */
        struct slice rest;

        if (!asm_want_name(as, "the rest of the form's name", &rest))
            return false;
        name.len = (size_t)(rest.at + rest.len - name.at);
    }
    form = isa_form_find(name.at, name.len);
    if (!form)
        return asm_fail(as, t->col, "asm-form", "predicated, predicated-all, goto or exec",
                        "unknown form `%.*s`", SLICE(name));
    if (as->kernel.declared_form)
        return asm_fail(as, col, "asm-duplicate", "write the kernel once a form", ".form twice");
    as->kernel.declared_form = true;
    as->kernel.k.forms = form;
    return asm_want_end(as);
}

static bool registers(struct assembler *as, uint32_t col, const char *what, bool *declared,
                      int64_t min, int64_t max, uint32_t *out)
{
    int64_t n;

    if (!before_code(as, col, what))
        return false;
    if (*declared)
        return asm_fail(as, col, "asm-duplicate", "", "%s twice", what);
    if (!asm_expr_int(as, what, min, max, &n) || !asm_want_end(as))
        return false;
    *out = (uint32_t)n;
    *declared = true;
    return true;
}

bool asm_dir_vregs(struct assembler *as, uint32_t col)
{
    struct kernel_state *k = &as->kernel;

    return registers(as, col, ".vregs", &k->declared_vregs, 0, ISA_MAX_VREGS, &k->k.vregs);
}

bool asm_dir_sregs(struct assembler *as, uint32_t col)
{
    struct kernel_state *k = &as->kernel;

    return registers(as, col, ".sregs", &k->declared_sregs, k->k.sregs, ISA_MAX_SREGS, &k->k.sregs);
}

bool asm_dir_lds(struct assembler *as, uint32_t col)
{
    struct isa_kernel *k = &as->kernel.k;
    int64_t bytes;

    if (k->lds_bytes)
        return asm_fail(as, col, "asm-directive-order", ".lds first, once; then the named pieces",
                        ".lds behind other local memory");
    if (!asm_expr_int(as, "the size of local memory", 0, MAX_LDS, &bytes) || !asm_want_end(as))
        return false;
    k->lds_bytes = (uint32_t)bytes;
    return true;
}

bool asm_dir_local(struct assembler *as, uint32_t col)
{
    struct isa_kernel *k = &as->kernel.k;
    uint32_t at = (k->lds_bytes + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
    struct slice name, kept;
    int64_t bytes;

    col = asm_tok(as)->col;
    if (!asm_want_name(as, "the name", &name) || !asm_new_name(as, name, col, "local memory") ||
        !asm_expr_int(as, "the size of local memory", 1, MAX_LDS - at, &bytes) || !asm_want_end(as))
        return false;
    k->lds_bytes = at + (uint32_t)bytes;
    return asm_keep_text(as, &kept, "%.*s", (int)name.len, name.at) &&
           (symtab_add(&as->kernel.locals, kept, at) || asm_no_memory(as));
}

/* Names with a - in them, such as prw-sig, are several tokens. What they mean the machine knows. */
static bool choice(struct assembler *as, uint32_t col, const char *what, const char *example,
                   char out[ISA_NAME_MAX])
{
    uint32_t name_col = asm_tok(as)->col;
    struct slice name, rest;

    if (!before_code(as, col, what))
        return false;
    if (*out)
        return asm_fail(as, col, "asm-duplicate", "", "%s twice", what);
    if (!asm_want_name(as, "a name", &name))
        return false;
    while (asm_take(as, '-')) {
        if (!asm_want_name(as, "the rest of the name", &rest))
            return false;
        name.len = (size_t)(rest.at + rest.len - name.at);
    }
    if (!isa_is_choice(name.at, name.len))
        return asm_fail(as, name_col, "asm-name", example, "`%.*s` is no name for %s", SLICE(name),
                        what);
    return copy_name(as, name, name_col, out) && asm_want_end(as);
}

bool asm_dir_tm_detector(struct assembler *as, uint32_t col)
{
    return choice(as, col, ".tm_detector", "as in .tm_detector prw-sig", as->kernel.k.tm_detector);
}

bool asm_dir_tm_serialise(struct assembler *as, uint32_t col)
{
    return choice(as, col, ".tm_serialise", "as in .tm_serialise ascending-single",
                  as->kernel.k.tm_serialise);
}

/* ---- the end of a kernel ------------------------------------------------------------------ */

static void count_register(struct isa_kernel *k, const struct isa_operand *o)
{
    uint32_t end = (uint32_t)o->index + o->words;

    if (o->kind == ISA_O_V && end > k->vregs)
        k->vregs = end;
    if (o->kind == ISA_O_S && o->index < ISA_MAX_SREGS && end > k->sregs)
        k->sregs = end;
}

static void count_registers(struct isa_kernel *k, const stmt_list *stmts)
{
    for (size_t i = 0; i < stmts->len; i++) {
        const struct isa_insn *in = &stmts->at[i].insn;

        if (stmts->at[i].kind != STMT_INSN)
            continue;
        for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++)
            count_register(k, isa_slot_of(in, slot));
        count_register(k, &in->addr.base);
        count_register(k, &in->addr.index);
    }
}

static bool writes_exec(const stmt_list *stmts)
{
    for (size_t i = 0; i < stmts->len; i++)
        if (stmts->at[i].kind == STMT_INSN && isa_writes_exec(&stmts->at[i].insn))
            return true;
    return false;
}

static bool has_jips(const stmt_list *stmts)
{
    for (size_t i = 0; i < stmts->len; i++)
        if (stmts->at[i].kind == STMT_INSN &&
            isa_formats[isa_ops[stmts->at[i].insn.op].format].extra & ISA_X_JIP)
            return true;
    return false;
}

static bool find_forms(struct assembler *as)
{
    struct kernel_state *k = &as->kernel;

    if (k->declared_form) {
        if (k->sugar && k->k.forms != ISA_FORM_PREDICATED)
            return asm_fail_at(as, k->file, k->line, k->col, "asm-form", "write .form predicated",
                               "the regions of kernel `%s` expand to the predicated form",
                               k->k.name);
        return true;
    }
    if (k->sugar && has_jips(&k->stmts))
        return asm_fail_at(as, k->file, k->line, k->col, "asm-form",
                           "write the regions as gotos and joins, or the gotos as regions",
                           "kernel `%s` has both regions and gotos", k->k.name);
    k->k.forms = k->sugar                 ? ISA_FORM_PREDICATED
                 : has_jips(&k->stmts)    ? ISA_FORM_GOTO
                 : writes_exec(&k->stmts) ? ISA_FORM_EXEC
                                          : ISA_FORM_ALL;
    return true;
}

static bool check_twice(struct assembler *as)
{
    const struct isa_program *p = as->program;
    const struct kernel_state *k = &as->kernel;

    for (size_t i = 0; i < p->nkernels; i++) {
        const struct isa_line *at = &p->lines[p->kernels[i].line];

        if (strcmp(p->kernels[i].name, k->k.name) == 0 && (p->kernels[i].forms & k->k.forms))
            return asm_fail_at(as, k->file, k->line, k->col, "asm-duplicate-kernel",
                               "rename one, or give each its own .form",
                               "kernel `%s` is defined already at %s:%u in that form", k->k.name,
                               p->files[at->file], at->line);
    }
    return true;
}

static bool push_kernel(struct assembler *as)
{
    struct isa_program *p = as->program;

    if (!vec_reserve_bytes((void **)&p->kernels, &as->nkernels_cap, p->nkernels + 1,
                           sizeof *p->kernels))
        return asm_no_memory(as);
    p->kernels[p->nkernels++] = as->kernel.k;
    return true;
}

bool asm_kernel_end(struct assembler *as, uint32_t col)
{
    struct kernel_state *k = &as->kernel;

    (void)col;
    if (!asm_want_end(as) || !find_forms(as) || !check_twice(as))
        return false;
    if (!k->declared_vregs || !k->declared_sregs)
        count_registers(&k->k, &k->stmts);
    if (k->sugar && !asm_sugar(as))
        return false;
    if (!asm_layout(as) || !push_kernel(as))
        return false;
    k->open = false;
    symtab_clear(&k->params);
    symtab_clear(&k->locals);
    symtab_clear(&k->labels);
    return true;
}
