/* What the files of the verifier share. */
#ifndef HD_ISA_VERIFY_INTERNAL_H
#define HD_ISA_VERIFY_INTERNAL_H

#include "isa/liveness.h"
#include "isa/verify.h"

struct verifier {
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    struct isa_findings *out;
    bool reads_local_bytes; /* the kernel asks how much local memory the launch adds */
};

/* Adds a finding; NULL when memory is short, which v->out then says. */
struct isa_finding *verify_add(struct verifier *v, enum isa_verdict verdict, const char *code,
                               uint32_t pc, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* The line of source of an instruction; 0 if it is not known. */
unsigned verify_line(const struct verifier *v, uint32_t pc);

/* verify_goto.c: gotos, joins, and where lanes sleep. */
void verify_gotos(struct verifier *v);
/* verify_tx.c: what stands in transactions, and how they begin and end. */
void verify_transactions(struct verifier *v);
/*
 * verify_tx_scalars.c: scalars that the transaction from insns[begin] to insns[commit] leaves, of a kernel's instructions; live is from
 * isa_find_live.
 */
void verify_tx_scalars(struct verifier *v, const struct isa_insn *insns, uint32_t begin,
                       uint32_t commit, const struct isa_scalars *live);
/* verify_scalars.c: scalars that lanes of a goto kernel write where they are apart; false when memory is short. */
bool verify_scalars(struct verifier *v);

#endif
