/* Which instructions of a kernel stand inside a transaction. */
#ifndef HD_ISA_TRANSACTION_H
#define HD_ISA_TRANSACTION_H

#include "isa/isa.h"

enum {
    ISA_TX_UNREACHED = UINT8_MAX, /* no way leads there from the kernel's start */
    ISA_TX_DEPTH_MAX = 8,         /* transactions around an instruction; deeper ones are refused */
};

/* True if one of the n instructions is a tx.begin or a tx.commit. */
bool isa_has_tx(const struct isa_insn *insns, uint32_t n);

/*
 * depth[i]: how many transactions are open when insns[i], one of a kernel's n instructions from pc `first` on, runs, or ISA_TX_UNREACHED. A tx.begin
 * counts as outside of its own transaction, its tx.commit as inside. Where ways of different depths meet it is that of the
 * instruction in front, so that the branch is the odd one. depth[] has room for 2 n: the second half is scratch.
 */
void isa_find_tx(const struct isa_insn *insns, uint32_t first, uint32_t n, uint8_t *depth);

/* Makes each instruction inside a transaction a straight-line run of its own; false when memory is short. */
bool isa_cut_runs(struct isa_insn *insns, uint32_t n);

#endif
