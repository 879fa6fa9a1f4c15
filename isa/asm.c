#include "isa/asm.h"

#include "isa/asm_internal.h"
#include "isa/encode.h"
#include "isa/verify.h"

#include <stdlib.h>
#include <string.h>

static bool start(struct assembler *as)
{
    for (uint32_t op = 0; op < ISA_NUM_OPS; op++) {
        struct slice name = {isa_ops[op].name, strlen(isa_ops[op].name)};

        if (!symtab_add(&as->mnemonics, name, op))
            return asm_no_memory(as);
    }
    as->program = calloc(1, sizeof *as->program);
    return as->program || asm_no_memory(as);
}

static void finish(struct assembler *as)
{
    asm_free_frames(as);
    for (size_t i = 0; i < as->chunks.len; i++)
        free(as->chunks.at[i]);
    for (size_t i = 0; i < as->macro_list.len; i++)
        free(as->macro_list.at[i]);
    for (size_t i = 0; i < as->func_list.len; i++)
        free(as->func_list.at[i]);
    vec_free(&as->chunks);
    vec_free(&as->tokens);
    vec_free(&as->const_values);
    vec_free(&as->macro_list);
    vec_free(&as->func_list);
    vec_free(&as->labels);
    vec_free(&as->line_of);
    vec_free(&as->code);
    vec_free(&as->kernel.stmts);
    symtab_free(&as->mnemonics);
    symtab_free(&as->consts);
    symtab_free(&as->macros);
    symtab_free(&as->funcs);
    symtab_free(&as->once);
    symtab_free(&as->kernel.params);
    symtab_free(&as->kernel.locals);
    symtab_free(&as->kernel.labels);
}

/* Parsed code to the program that is given out. */
static bool build(struct assembler *as)
{
    struct isa_program *p = as->program;

    p->code = as->code.at;
    p->code_bytes = as->code.len;
    memset(&as->code, 0, sizeof as->code);
    return isa_load(p, as->line_of.at, as->line_of.len, as->err) == HD_OK &&
           isa_verify_refuse(p, as->err) == HD_OK;
}

static enum hd_status assemble(struct assembler *as, const char *name, const char *text, size_t len,
                               struct isa_program **out)
{
    struct hd_error scratch = {0};
    enum hd_status status = HD_OK;

    *out = NULL;
    if (!as->err)
        as->err = &scratch;
    hd_error_clear(as->err);
    if (start(as) && (text ? asm_push_text(as, name, text, len) : asm_push_file(as, name, 1)) &&
        asm_parse(as) && build(as))
        *out = as->program;
    else
        status = as->err->status;
    finish(as);
    if (!*out && as->program)
        isa_program_free(as->program);
    return status;
}

enum hd_status isa_assemble_file(const char *path, const char *const *include_dirs, size_t ndirs,
                                 struct isa_program **out, struct hd_error *err)
{
    struct assembler as = {.err = err, .dirs = include_dirs, .ndirs = ndirs};

    return assemble(&as, path, NULL, 0, out);
}

enum hd_status isa_assemble_text(const char *name, const char *text, size_t len,
                                 const char *const *include_dirs, size_t ndirs,
                                 struct isa_program **out, struct hd_error *err)
{
    struct assembler as = {.err = err, .dirs = include_dirs, .ndirs = ndirs};

    return assemble(&as, name, text, len, out);
}
