/*
 * Choosing rows of isa/opcodes.def by their format. A file that wants something for the rows of
 * some formats defines, say, KIND_VALU as `~, LOOP`; ISA_KIND(KIND_, format) is then LOOP for
 * VALU, and NONE for every format without such a definition.
 */
#ifndef HD_ISA_ROWS_H
#define HD_ISA_ROWS_H

#define ISA_PASTE(a, b) ISA_PASTE_TOKENS(a, b)
#define ISA_PASTE_TOKENS(a, b) a##b
#define ISA_SECOND(...) ISA_SECOND_OF(__VA_ARGS__, NONE, NONE)
#define ISA_SECOND_OF(a, b, ...) b
#define ISA_KIND(prefix, format) ISA_SECOND(prefix##format)

#endif
