/*
 * The verifier: what can be said about a program before it runs. A finding is certain (the program
 * is refused), possible (a remark), or unknown: a check at run time decides, and `check` names it.
 */
#ifndef HD_ISA_VERIFY_H
#define HD_ISA_VERIFY_H

#include "isa/isa.h"

enum isa_verdict { ISA_CERTAIN, ISA_POSSIBLE, ISA_UNKNOWN };

struct isa_finding {
    enum isa_verdict verdict;
    const char *code;  /* stable and greppable, such as "verify-barrier" */
    const char *check; /* of ISA_UNKNOWN: the codes of the run's errors that decide */
    const char *hint;  /* may be "" */
    uint32_t pc;
    char text[160];
};

struct isa_findings {
    struct isa_finding *at;
    size_t len, cap;
    bool failed; /* memory ran out */
};

/* Adds the findings of all kernels in order of pc. The program's registers must be in range (isa_load). */
void isa_verify(const struct isa_program *program, struct isa_findings *out);
void isa_findings_free(struct isa_findings *findings);

/* HD_BAD_INPUT with the first certain finding, if there is one. */
enum hd_status isa_verify_refuse(const struct isa_program *program, struct hd_error *err);

#endif
