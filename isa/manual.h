/* The manual of the opcodes, generated from the table. */
#ifndef HD_ISA_MANUAL_H
#define HD_ISA_MANUAL_H

#include "isa/isa.h"
#include "sim/base/text.h"

/* Markdown: a section a format, with a row an opcode; then the special values. */
void isa_manual(struct text *out);

#endif
