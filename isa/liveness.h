/* Which scalar registers, and whether VCC, may still be read. */
#ifndef HD_ISA_LIVENESS_H
#define HD_ISA_LIVENESS_H

#include "isa/isa.h"

enum { ISA_SCALARS = ISA_MAX_SREGS + 1, ISA_SCALAR_VCC = ISA_MAX_SREGS };

/* A set of scalar registers by index, and of VCC as ISA_SCALAR_VCC. */
struct isa_scalars {
    uint64_t w[2];
};

static inline bool isa_scalars_has(const struct isa_scalars *s, unsigned index)
{
    return s->w[index / 64] >> (index % 64) & 1;
}

/* Adds all of `from` to *to. */
void isa_scalars_add(struct isa_scalars *to, const struct isa_scalars *from);

/* The sets of what the instruction, a loaded one, reads and writes. */
struct isa_scalars isa_scalars_read(const struct isa_insn *in);
struct isa_scalars isa_scalars_written(const struct isa_insn *in);

/*
 * live[i]: what is read on some way from the kernel's n instructions' insns[i] on before it is written; a goto leads to its
 * target, and a join to the next instruction. The instructions are loaded ones.
 */
void isa_find_live(const struct isa_insn *insns, uint32_t n, struct isa_scalars *live);

/* "s7" or "vcc". */
void isa_scalar_name(unsigned index, char out[8]);

#endif
