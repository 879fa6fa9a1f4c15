/* The assembler: text to a loaded program. The language is described in isa/README.md. */
#ifndef HD_ISA_ASM_H
#define HD_ISA_ASM_H

#include "isa/isa.h"

/*
 * Assembles a file. Includes are looked for beside the file that includes them, then in the
 * ndirs directories, in order, and are never outside of these. On success *out is the caller's (isa_program_free); otherwise
 * *out is NULL and *err holds the first mistake: place "file:line:column" (columns are bytes,
 * from 1), the offending text and a hint, status HD_BAD_INPUT.
 */
enum hd_status isa_assemble_file(const char *path, const char *const *include_dirs, size_t ndirs,
                                 struct isa_program **out, struct hd_error *err);

/* The same for text in memory; name stands for the file in messages, and includes are found beside it. */
enum hd_status isa_assemble_text(const char *name, const char *text, size_t len,
                                 const char *const *include_dirs, size_t ndirs,
                                 struct isa_program **out, struct hd_error *err);

#endif
