/* What the transactions of a kernel read and write, as far as its code says so. */
#ifndef HD_ISA_TX_FACTS_H
#define HD_ISA_TX_FACTS_H

#include "isa/isa.h"

/*
 * Looks at the n instructions of a kernel with transactions, from pc `first` on. A nested transaction is part of the outer
 * one. Two accesses are of one word if their addresses name the same registers and distance. *out is the most of all transactions, and what holds for any of them. False when memory is short.
 */
bool isa_find_tx_facts(const struct isa_insn *insns, uint32_t first, uint32_t n,
                       struct isa_tx_facts *out);

#endif
