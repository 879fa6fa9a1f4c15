/* Labels: of the kernel, and of one inlined func. */
#include "isa/asm_internal.h"

#include <string.h>

/* The name as it stands in the kernel's table: that of a func's label carries the call's number. */
static bool key_of(struct assembler *as, struct slice name, struct slice *key)
{
    const struct frame *f = asm_func_frame(as);

    if (!f) {
        *key = name;
        return true;
    }
    return asm_keep_text(as, key, "%.*s@%u", (int)name.len, name.at, f->serial);
}

static bool find_or_add(struct assembler *as, struct slice name, uint32_t col, uint32_t *label)
{
    struct label l = {.name = name, .col = col};
    const struct symbol *s;
    struct slice key;

    if (!key_of(as, name, &key))
        return false;
    s = symtab_find(&as->kernel.labels, key);
    if (s) {
        *label = s->value;
        return true;
    }
    *label = (uint32_t)as->labels.len;
    return asm_line_index(as, &l.line) &&
           ((vec_push(&as->labels, l) && symtab_add(&as->kernel.labels, key, *label)) ||
            asm_no_memory(as));
}

bool asm_label_use(struct assembler *as, struct slice name, uint32_t col, uint32_t *label)
{
    return find_or_add(as, name, col, label);
}

bool asm_label_define(struct assembler *as, struct slice name, uint32_t col)
{
    struct stmt s = {.kind = STMT_LABEL, .col = col};
    struct label *l;

    if (!asm_new_name(as, name, col, "a label") || !find_or_add(as, name, col, &s.label))
        return false;
    l = &as->labels.at[s.label];
    if (l->defined) {
        const struct isa_line *at = &as->program->lines[l->line];

        return asm_fail(as, col, "asm-duplicate-label", "choose another name",
                        "label `%.*s` is defined already at %s:%u", SLICE(name),
                        as->program->files[at->file], at->line);
    }
    l->defined = true;
    l->col = col;
    if (!asm_line_index(as, &l->line))
        return false;
    as->kernel.has_insn = true;
    return asm_emit(as, &s);
}

bool asm_label_make(struct assembler *as, uint32_t *label)
{
    struct label l = {.defined = true};

    *label = (uint32_t)as->labels.len;
    return vec_push(&as->labels, l) || asm_no_memory(as);
}
