/*
 * Formats of the print instruction: text with exactly one conversion, %[flags][width][.precision] and one of
 * d i u x X f e g, and %% for a percent sign. Width and precision have at most two digits.
 */
#ifndef HD_ISA_PRINT_H
#define HD_ISA_PRINT_H

#include "sim/base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* NULL if the format is well formed, else what is wrong with it ("has no conversion"). */
const char *isa_print_wrong(const char *format);

/*
 * Adds the text of a value: its bits read as an integer of 64 (wide) or 32 bits, with a sign for d and i, or as f64 or
 * f32 for f, e and g. The format must be well formed.
 */
void isa_print_value(const char *format, uint64_t bits, bool wide, struct text *out);

#endif
