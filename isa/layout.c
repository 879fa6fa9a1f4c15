/* Statements of one kernel to encoded instructions: labels get their pcs. */
#include "isa/asm_internal.h"
#include "isa/encode.h"

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
    unsigned format = last ? isa_ops[last->insn.op].format : ISA_NOP;

    if (!last)
        return asm_fail_at(as, k->file, k->line, k->col, "asm-empty-kernel", "end it with s_end",
                           "kernel `%s` has no instruction", k->k.name);
    if (format == ISA_JUMP || (format == ISA_END && !last->insn.pred))
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

static bool encode(struct assembler *as, const struct stmt *s)
{
    struct isa_insn in = s->insn;
    uint8_t bytes[ISA_ENC_MAX_BYTES];
    unsigned n;

    if (s->label != NO_LABEL) {
        const struct label *l = &as->labels.at[s->label];

        if (!l->defined)
            return undefined(as, l);
        in.target = l->pc;
    }
    n = isa_encode(&in, bytes);
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

    as->kernel.k.first = (uint32_t)as->line_of.len;
    if (!number(as, &last))
        return false;
    for (size_t i = 0; i < stmts->len; i++)
        if (stmts->at[i].kind == STMT_INSN && !encode(as, &stmts->at[i]))
            return false;
    return true;
}
