/* Macros and .rept: texts with holes. */
#include "isa/asm_internal.h"

#include <stdlib.h>
#include <string.h>

static bool macro_params(struct assembler *as, struct macro *m)
{
    while (asm_tok(as)->kind != TOK_END) {
        uint32_t col = asm_tok(as)->col;
        struct slice name;

        if (m->nparams && !asm_want(as, ',', "between arguments"))
            return false;
        if (!asm_want_name(as, "an argument's name", &name))
            return false;
        if (m->nparams == ASM_MAX_ARGS)
            return asm_fail(as, col, "asm-arguments", "", "more than %d arguments", ASM_MAX_ARGS);
        for (size_t i = 0; i < m->nparams; i++)
            if (slice_same(m->params[i], name))
                return asm_fail(as, col, "asm-duplicate", "", "argument `%.*s` twice", SLICE(name));
        m->params[m->nparams++] = name;
    }
    return true;
}

static bool check_definition(struct assembler *as, struct slice name, uint32_t col, const char *what)
{
    if (!asm_new_name(as, name, col, what))
        return false;
    if (symtab_find(&as->macros, name) || symtab_find(&as->funcs, name))
        return asm_fail(as, col, "asm-duplicate", "a file that is included twice begins with .once",
                        "`%.*s` is defined already", SLICE(name));
    return true;
}

bool asm_macro_define(struct assembler *as, uint32_t col)
{
    struct macro *m = calloc(1, sizeof *m);
    uint32_t name_col = asm_tok(as)->col;

    if (!m || !vec_push(&as->macro_list, m)) {
        free(m);
        return asm_no_memory(as);
    }
    m->file = as->file;
    m->line = as->line;
    if (!asm_want_name(as, "the macro's name", &m->name) ||
        !check_definition(as, m->name, name_col, "a macro") || !macro_params(as, m) ||
        !asm_capture(as, ".macro", ".endmacro", col, &m->body, &m->body_line))
        return false;
    return symtab_add(&as->macros, m->name, (uint32_t)(as->macro_list.len - 1)) || asm_no_memory(as);
}

/* What stands for a hole: \name, \@ or \#. */
struct holes {
    const struct macro *macro; /* NULL for .rept */
    const struct slice *args;
    uint32_t serial, iteration;
};

static size_t word_length(const char *s, const char *end)
{
    const char *p = s;

    while (p < end && (*p == '_' || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                       (*p >= 'A' && *p <= 'Z')))
        p++;
    return (size_t)(p - s);
}

/* Fills the hole behind the backslash at s; returns the bytes it takes, 0 if it is none. */
static size_t fill_hole(const struct holes *h, const char *s, const char *end, struct text *out)
{
    struct slice word;

    if (h->macro && s < end && *s == '@') {
        text_add(out, "%u", h->serial);
        return 1;
    }
    if (!h->macro && s < end && *s == '#') {
        text_add(out, "%u", h->iteration);
        return 1;
    }
    word = (struct slice){s, word_length(s, end)};
    for (size_t i = 0; h->macro && i < h->macro->nparams; i++) {
        if (slice_same(h->macro->params[i], word)) {
            text_add_bytes(out, h->args[i].at, h->args[i].len);
            return word.len;
        }
    }
    return 0;
}

/* Substitutes the holes outside quotes and comments; stops soon after the limit of all expansions, which the caller checks. */
static void substitute(const struct holes *h, struct slice body, struct text *out)
{
    const char *s = body.at, *end = body.at + body.len, *plain = s;
    char quote = '\0';

    while (s < end && out->len <= ASM_MAX_EXPANDED) {
        size_t n;

        if (*s == '\n')
            quote = '\0';
        else if (quote && *s == quote)
            quote = '\0';
        else if (!quote && (*s == '"' || *s == '\'' || *s == ';'))
            quote = *s;
        else if (*s == '\\' && quote != ';') {
            text_add_bytes(out, plain, (size_t)(s - plain));
            n = quote ? 0 : fill_hole(h, s + 1, end, out);
            plain = n ? s + 1 + n : s;
            s += n ? n : (s + 1 < end && s[1] != '\n');
        }
        s++;
    }
    text_add_bytes(out, plain, (size_t)(end - plain));
}

/* The body with its holes filled, kept. */
static bool expand(struct assembler *as, const struct holes *h, struct slice body, uint32_t col,
                   struct slice *out)
{
    struct text t = {0};
    char *kept;

    substitute(h, body, &t);
    as->expanded += t.len;
    if (t.failed || as->expanded > ASM_MAX_EXPANDED) {
        text_free(&t);
        return asm_fail(as, col, "asm-too-long", "does a macro use itself?",
                        "macros and .rept make more than %d bytes", ASM_MAX_EXPANDED);
    }
    kept = asm_keep(as, t.len + 1);
    if (kept) {
        memcpy(kept, text_str(&t), t.len + 1);
        *out = (struct slice){kept, t.len};
    }
    text_free(&t);
    return kept != NULL;
}

/* One argument: the tokens up to a comma outside brackets, as they are written. */
static bool macro_arg(struct assembler *as, struct slice *out)
{
    const struct token *first = asm_tok(as), *last = NULL;
    int depth = 0;

    for (; asm_tok(as)->kind != TOK_END; as->next++) {
        const struct token *t = asm_tok(as);
        bool punct = t->kind == TOK_PUNCT;

        if (punct && t->punct == ',' && depth == 0)
            break;
        if (punct && (t->punct == '[' || t->punct == '('))
            depth++;
        if (punct && (t->punct == ']' || t->punct == ')'))
            depth--;
        last = t;
    }
    if (!last)
        return asm_fail(as, first->col, "asm-arguments", "", "an argument is empty");
    out->at = first->text.at - (first->kind == TOK_STRING || first->kind == TOK_CHAR);
    out->len = (size_t)(last->text.at + last->text.len - out->at) +
               (last->kind == TOK_STRING || last->kind == TOK_CHAR);
    return true;
}

static bool macro_args(struct assembler *as, const struct macro *m, uint32_t col, struct slice *args)
{
    size_t n = 0;

    while (asm_tok(as)->kind != TOK_END) {
        if (n && !asm_want(as, ',', "between arguments"))
            return false;
        if (n == m->nparams)
            return asm_fail(as, asm_tok(as)->col, "asm-arguments", "",
                            "macro `%.*s` takes %zu arguments, this is one more", SLICE(m->name),
                            m->nparams);
        if (!macro_arg(as, &args[n++]))
            return false;
    }
    if (n < m->nparams)
        return asm_fail(as, col, "asm-arguments", "", "macro `%.*s` takes %zu arguments, not %zu",
                        SLICE(m->name), m->nparams, n);
    return true;
}

bool asm_macro_expand(struct assembler *as, const struct macro *m, uint32_t col)
{
    struct slice args[ASM_MAX_ARGS], body;
    struct holes h = {.macro = m, .args = args, .serial = as->serial};
    struct frame *f;

    for (size_t i = 0; i < as->depth; i++)
        if (as->frames[i]->kind == FRAME_MACRO && as->frames[i]->macro == m)
            return asm_fail(as, col, "asm-recursion", "use .rept to repeat",
                            "macro `%.*s` uses itself", SLICE(m->name));
    if (!macro_args(as, m, col, args) || !expand(as, &h, m->body, col, &body))
        return false;
    f = asm_push_frame(as, FRAME_MACRO, col);
    if (!f)
        return false;
    f->macro = m;
    f->at = body.at;
    f->end = body.at + body.len;
    f->file = m->file;
    f->line = m->body_line;
    return true;
}

bool asm_rept(struct assembler *as, uint32_t col)
{
    struct slice body;
    uint32_t body_line, file = as->file;
    int64_t count;
    struct frame *f;

    if (!asm_expr_int(as, "a count", 0, 1 << 24, &count) || !asm_want_end(as) ||
        !asm_capture(as, ".rept", ".endrept", col, &body, &body_line))
        return false;
    f = asm_push_frame(as, FRAME_REPT, col);
    if (!f)
        return false;
    f->at = f->end = body.at;
    f->body = body;
    f->body_line = body_line;
    f->file = file;
    f->left = (uint32_t)count;
    return true;
}

bool asm_rept_next(struct assembler *as, struct frame *f, bool *more)
{
    struct holes h = {.iteration = f->iteration};
    struct slice text;

    *more = f->left > 0 && f->body.len > 0;
    if (!*more)
        return true;
    f->left--;
    f->iteration++;
    if (!expand(as, &h, f->body, 1, &text))
        return false;
    f->at = text.at;
    f->end = text.at + text.len;
    f->line = f->body_line;
    return true;
}
