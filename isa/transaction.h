/* Which instructions of a kernel stand inside a transaction. */
#ifndef HD_ISA_TRANSACTION_H
#define HD_ISA_TRANSACTION_H

#include "isa/isa.h"

enum { ISA_TX_DEPTH_MAX = 8 }; /* transactions around an instruction; deeper ones are refused */

/* True if one of the n instructions is a tx.begin or a tx.commit. */
bool isa_has_tx(const struct isa_insn *insns, uint32_t n);

/*
 * A transaction is the text from a tx.begin to the tx.commit that closes it, as brackets do. inside[i]: 1 + the index of the tx.begin of the
 * innermost one in which insns[i] stands, 0 outside. A tx.begin counts as outside of its own transaction, its tx.commit as inside.
 * Returns the same of the end of the text: 0 if every transaction is closed.
 */
uint32_t isa_find_tx(const struct isa_insn *insns, uint32_t n, uint32_t *inside);

/* Index of the tx.commit of the transaction in which insns[i] stands; n if there is none. */
uint32_t isa_tx_commit(const struct isa_insn *insns, uint32_t n, const uint32_t *inside, uint32_t i);

/* Makes each instruction inside a transaction a straight-line run of its own; false when memory is short. */
bool isa_cut_runs(struct isa_insn *insns, uint32_t n);

#endif
