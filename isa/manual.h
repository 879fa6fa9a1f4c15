/* The manual of the opcodes, generated from the table. */
#ifndef HD_ISA_MANUAL_H
#define HD_ISA_MANUAL_H

#include "isa/isa.h"
#include "sim/base/text.h"

/* Markdown: a section a format, with a row an opcode; then the special values. */
void isa_manual(struct text *out);

/* Names for messages and lists: "VALU", "f64". */
const char *isa_format_name(enum isa_format format);
const char *isa_class_name(enum isa_class cls);

#endif
