/* How mistakes are told: "file:line:column", the text, a hint, and through which expansions it came. */
#include "isa/asm_internal.h"
#include "sim/base/param.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* " (in macro `twice`, used at f.hasm:12)" for the innermost expansion that encloses the current line. */
static void describe_frames(const struct assembler *as, char *out, size_t size)
{
    static const char *const kinds[] = {
        [FRAME_MACRO] = "macro", [FRAME_FUNC] = "func", [FRAME_REPT] = ".rept"};
    size_t i = as->depth;

    out[0] = '\0';
    while (i > 0 && as->frames[i - 1]->kind == FRAME_REPT)
        i--;
    if (i < 2 || as->frames[i - 1]->kind == FRAME_FILE)
        return;
    const struct frame *f = as->frames[i - 1], *user = as->frames[i - 2];
    struct slice name = f->kind == FRAME_MACRO ? f->macro->name : f->func->name;

    snprintf(out, size, " (in %s `%.*s`, used at %s:%u)", kinds[f->kind], SLICE(name),
             as->program->files[user->file], user->line - 1);
}

static bool fail(struct assembler *as, const char *place, const char *code, const char *hint,
                 const char *tail, const char *fmt, va_list args)
{
    char message[768];

    vsnprintf(message, sizeof message, fmt, args);
    hd_error_set(as->err, HD_BAD_INPUT, code, place, hint, "%s%s", message, tail);
    return false;
}

bool asm_fail(struct assembler *as, uint32_t col, const char *code, const char *hint,
              const char *fmt, ...)
{
    char place[256], tail[256];
    va_list args;

    snprintf(place, sizeof place, "%s:%u:%u",
             as->program->nfiles ? as->program->files[as->file] : "?", as->line, col);
    describe_frames(as, tail, sizeof tail);
    va_start(args, fmt);
    fail(as, place, code, hint, tail, fmt, args);
    va_end(args);
    return false;
}

bool asm_fail_at(struct assembler *as, uint32_t file, uint32_t line, uint32_t col, const char *code,
                 const char *hint, const char *fmt, ...)
{
    char place[256];
    va_list args;

    snprintf(place, sizeof place, "%s:%u:%u", as->program->files[file], line, col);
    va_start(args, fmt);
    fail(as, place, code, hint, "", fmt, args);
    va_end(args);
    return false;
}

bool asm_fail_line(struct assembler *as, uint32_t line_index, uint32_t col, const char *code,
                   const char *hint, const char *fmt, ...)
{
    const struct isa_line *at = &as->program->lines[line_index];
    char place[256];
    va_list args;

    snprintf(place, sizeof place, "%s:%u:%u", as->program->files[at->file], at->line, col);
    va_start(args, fmt);
    fail(as, place, code, hint, "", fmt, args);
    va_end(args);
    return false;
}

bool asm_no_memory(struct assembler *as)
{
    hd_no_memory(as->err, "the assembler");
    return false;
}

void asm_nearest_mnemonic(struct slice name, char *out, size_t size)
{
    const char *names[ISA_NUM_OPS];
    char text[ISA_NAME_MAX];
    const char *best = NULL;

    if (name.len < sizeof text) {
        memcpy(text, name.at, name.len);
        text[name.len] = '\0';
        for (int op = 0; op < ISA_NUM_OPS; op++)
            names[op] = isa_ops[op].name;
        best = name_nearest(text, names, ISA_NUM_OPS);
    }
    if (best)
        snprintf(out, size, "did you mean `%s`?", best);
    else
        snprintf(out, size, "`heddle list opcodes` shows all of them");
}
