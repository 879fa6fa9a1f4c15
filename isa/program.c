#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct isa_kernel *isa_find_kernel(const struct isa_program *program, const char *name,
                                         unsigned forms)
{
    const struct isa_kernel *first = NULL;

    for (size_t i = 0; i < program->nkernels; i++) {
        const struct isa_kernel *k = &program->kernels[i];

        if (strcmp(k->name, name) != 0)
            continue;
        if (k->forms & forms)
            return k;
        if (!first)
            first = k;
    }
    return first;
}

void isa_place(const struct isa_program *program, uint32_t pc, char *out, size_t size)
{
    const struct isa_line *line;

    if (pc >= program->ninsns || program->insns[pc].line >= program->nlines) {
        snprintf(out, size, "?");
        return;
    }
    line = &program->lines[program->insns[pc].line];
    snprintf(out, size, "%s:%u", program->files[line->file], line->line);
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

void isa_program_free(struct isa_program *program)
{
    if (!program)
        return;
    free_texts(program->files, program->nfiles);
    free_texts(program->sources, program->nfiles);
    free_texts(program->strings, program->nstrings);
    free(program->insns);
    free(program->kernels);
    free(program->lines);
    free(program->code);
    free(program->pool);
    free(program);
}
