/* Statements of one kernel to encoded instructions: labels get their pcs. */
#include "isa/asm_internal.h"
#include "isa/encode.h"
#include "isa/jip.h"

#include <stdlib.h>
#include <string.h>

/* True if some line of the sources begins with "name:". For the hint alone. */
static bool label_elsewhere(const struct assembler *as, struct slice name)
{
    const struct isa_program *p = as->program;

    for (size_t i = 0; i < p->nfiles; i++) {
        for (const char *s = p->sources[i]; *s; s++) {
            s += strspn(s, " \t");
            if (strncmp(s, name.at, name.len) == 0 && s[name.len] == ':')
                return true;
            s = strchr(s, '\n');
            if (!s)
                break;
        }
    }
    return false;
}

static bool undefined(struct assembler *as, const struct label *l)
{
    bool elsewhere = label_elsewhere(as, l->name);

    return asm_fail_line(as, l->line, l->col, "asm-undefined-label",
                         elsewhere ? "it is defined elsewhere: a branch stays in its kernel or func"
                                   : "define it with `name:` in front of an instruction",
                         "no label `%.*s` in kernel `%s`", SLICE(l->name), as->kernel.k.name);
}

static bool check_end(struct assembler *as, const struct stmt *last)
{
    const struct kernel_state *k = &as->kernel;

    if (!last)
        return asm_fail_at(as, k->file, k->line, k->col, "asm-empty-kernel", "end it with s_end",
                           "kernel `%s` has no instruction", k->k.name);
    if (!isa_goes_on(&last->insn))
        return true;
    return asm_fail_line(as, last->line, last->col, "asm-runs-off", "end the kernel with s_end",
                         "kernel `%s` can run off its end behind this %s", k->k.name,
                         isa_ops[last->insn.op].name);
}

/* `open` is a label with nothing behind it, or NULL: one of a region's end if `made`, else one of the source. */
static bool check_last_label(struct assembler *as, const struct stmt *open, bool made)
{
    struct slice name = open ? as->labels.at[open->label].name : (struct slice){0};

    if (!open || made != !name.at)
        return true;
    if (made)
        return asm_fail_line(as, open->line, open->col, "asm-runs-off", "end the kernel with s_end",
                             "kernel `%s` can run off its end behind this region",
                             as->kernel.k.name);
    return asm_fail_line(as, open->line, open->col, "asm-label-at-end", "put s_end behind it",
                         "label `%.*s` has no instruction behind it", SLICE(name));
}

/* Labels to pcs; *last is the last instruction. */
static bool number(struct assembler *as, const struct stmt **last)
{
    const stmt_list *stmts = &as->kernel.stmts;
    const struct stmt *open = NULL; /* a label with nothing behind it yet */
    uint32_t pc = as->kernel.k.first;

    *last = NULL;
    for (size_t i = 0; i < stmts->len; i++) {
        const struct stmt *s = &stmts->at[i];

        if (s->kind == STMT_LABEL) {
            as->labels.at[s->label].pc = pc;
            open = s;
        } else {
            *last = s;
            open = NULL;
            pc++;
        }
    }
    if (pc >= ASM_MAX_INSNS)
        return asm_fail(as, 1, "asm-too-long", "split the program", "more than %d instructions",
                        ASM_MAX_INSNS);
    as->kernel.k.end = pc;
    return check_last_label(as, open, true) && check_end(as, *last) &&
           check_last_label(as, open, false);
}

static bool has_jip(const struct stmt *s)
{
    return isa_formats[isa_ops[s->insn.op].format].extra & ISA_X_JIP;
}

static bool resolve(struct assembler *as, uint32_t label, uint32_t *pc)
{
    const struct label *l;

    if (label == NO_LABEL)
        return true;
    l = &as->labels.at[label];
    *pc = l->pc;
    return l->defined || undefined(as, l);
}

/* Labels of operands to pcs; *derive is set where a jip is left out. */
static bool resolve_all(struct assembler *as, bool *derive)
{
    stmt_list *stmts = &as->kernel.stmts;

    *derive = false;
    for (size_t i = 0; i < stmts->len; i++) {
        struct stmt *s = &stmts->at[i];

        if (s->kind != STMT_INSN)
            continue;
        s->insn.jip = ISA_NO_PC;
        if (!resolve(as, s->label, &s->insn.target) ||
            !(!has_jip(s) || s->jip == NO_JIP || resolve(as, s->jip, &s->insn.jip)))
            return false;
        *derive |= has_jip(s) && s->jip == NO_LABEL;
    }
    return true;
}

/* The instructions of the kernel in a row, for the jips that are left out. */
static bool derive_jips(struct assembler *as)
{
    stmt_list *stmts = &as->kernel.stmts;
    uint32_t first = as->kernel.k.first, n = as->kernel.k.end - first, k = 0;
    struct isa_insn *insns = calloc(n, sizeof *insns);
    bool *written = calloc(n, sizeof *written), good = insns && written;

    for (size_t i = 0; i < stmts->len && good; i++) {
        if (stmts->at[i].kind != STMT_INSN)
            continue;
        insns[k] = stmts->at[i].insn;
        written[k++] = stmts->at[i].jip != NO_LABEL;
    }
    good = good && isa_derive_jips(insns, first, n, written);
    for (size_t i = stmts->len; i-- > 0 && good;)
        if (stmts->at[i].kind == STMT_INSN)
            stmts->at[i].insn.jip = insns[--k].jip;
    free(insns);
    free(written);
    return good || asm_no_memory(as);
}

static bool encode(struct assembler *as, const struct stmt *s)
{
    uint8_t bytes[ISA_ENC_MAX_BYTES];
    unsigned n = isa_encode(&s->insn, bytes);

    if (!vec_reserve(&as->code, as->code.len + n) || !vec_push(&as->line_of, s->line))
        return asm_no_memory(as);
    memcpy(as->code.at + as->code.len, bytes, n);
    as->code.len += n;
    return true;
}

bool asm_layout(struct assembler *as)
{
    const stmt_list *stmts = &as->kernel.stmts;
    const struct stmt *last;
    bool derive;

    as->kernel.k.first = (uint32_t)as->line_of.len;
    if (!number(as, &last) || !resolve_all(as, &derive) || (derive && !derive_jips(as)))
        return false;
    for (size_t i = 0; i < stmts->len; i++)
        if (stmts->at[i].kind == STMT_INSN && !encode(as, &stmts->at[i]))
            return false;
    return true;
}
