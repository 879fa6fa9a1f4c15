/*
 * Where lanes may be asleep in a kernel of form goto. A lane that a goto sends to sleep sleeps until the join at its
 * UIP; the way there leads through the instructions between, and if a branch leads back from one of these, through all
 * from its target on. So each join has one stretch of instructions at which a lane may be asleep until it.
 */
#ifndef HD_ISA_ASLEEP_H
#define HD_ISA_ASLEEP_H

#include "isa/isa.h"

/*
 * Sets reached[i] of a kernel's n instructions, the first of which has the pc `first`, where a lane can come from the start. reached[]
 * is all false before. False when memory is short.
 */
bool isa_find_reached(const struct isa_insn *insns, uint32_t first, uint32_t n, bool *reached);

enum isa_asleep_of {
    ISA_ASLEEP_ALL,   /* of every goto that is reached */
    ISA_ASLEEP_APART, /* only where other lanes may be awake: not of a goto for all lanes that stands where all are awake */
};

/*
 * For a kernel's n instructions, the first of which has the pc `first`: when insns[i] runs, and from[k] <= i < k, a lane may be
 * asleep until the join insns[k]. from[k] is k or more if that is never the case, and for other instructions. op, pred and
 * target count; a goto whose target is no join further down counts for nothing. False when memory is short.
 */
bool isa_find_asleep(const struct isa_insn *insns, uint32_t first, uint32_t n,
                     enum isa_asleep_of which, uint32_t *from);

/*
 * asleep[i], from the result of isa_find_asleep: the index of the first join behind insns[i] until which a lane may be asleep
 * when insns[i] runs; ISA_NO_PC if none may be. False when memory is short.
 */
bool isa_next_asleep(const struct isa_insn *insns, uint32_t n, const uint32_t *from,
                     uint32_t *asleep);

/*
 * apart[pc - kernel->first], for a loaded kernel of form goto: true if some of the lanes that are alive may be awake and some asleep when
 * the instruction runs. All false in the other forms. False when memory is short.
 */
bool isa_find_apart(const struct isa_program *program, const struct isa_kernel *kernel, bool *apart);

#endif
