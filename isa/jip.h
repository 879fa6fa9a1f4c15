/* Where gotos and joins go on when no lane is awake. */
#ifndef HD_ISA_JIP_H
#define HD_ISA_JIP_H

#include "isa/isa.h"

/*
 * Fills in jip of the gotos and joins among a kernel's n instructions, the first of which has the pc `first`: the first join behind
 * it until which a lane may be asleep then (isa/asleep.h). written[i]: keep that of insns[i]. op, pred, target and jip
 * count; what the verifier refuses gets any jip, or ISA_NO_PC. False when memory is short.
 */
bool isa_derive_jips(struct isa_insn *insns, uint32_t first, uint32_t n, const bool *written);

#endif
