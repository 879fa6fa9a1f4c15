/* The disassembler. */
#ifndef HD_ISA_DIS_H
#define HD_ISA_DIS_H

#include "isa/isa.h"
#include "sim/base/text.h"

/*
 * The whole program as text that assembles to the same code bytes and kernels. Labels are invented
 * (L0, L1, ... in each kernel); constants, macros and names of local memory are gone.
 */
void isa_disassemble(const struct isa_program *program, struct text *out);

/* One instruction without its line end; a branch's target is written as "pc N". For dumps and profiles. */
void isa_disassemble_insn(const struct isa_program *program, const struct isa_insn *in,
                          struct text *out);

#endif
