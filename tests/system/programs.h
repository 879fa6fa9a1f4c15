/*
 * Random host programs: arrays, launches, host accesses, frees. Each is a list of statements that
 * any run time can be asked to do.
 */
#ifndef HD_TESTS_SYSTEM_PROGRAMS_H
#define HD_TESTS_SYSTEM_PROGRAMS_H

#include "sim/base/rng.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PROGRAM_ARRAYS = 5, PROGRAM_STMTS = 24, PROGRAM_WORDS = 3000, PROGRAM_KERNEL_ARRAYS = 3 };

enum program_kernel { PROGRAM_STEP, PROGRAM_ADD, PROGRAM_MIX, PROGRAM_SUM, PROGRAM_KERNELS };

/* Kernels of kernels.hasm; the last array is written. */
struct program_kernel_info {
    const char *name;
    unsigned narrays;
    const char *exact,
        *loose; /* signatures: with inputs declared as such, and with nothing declared */
};
extern const struct program_kernel_info program_kernels[PROGRAM_KERNELS];

enum stmt_kind {
    STMT_LAUNCH,
    STMT_READ,
    STMT_WRITE,
    STMT_OVERWRITE,
    STMT_RENEW /* frees, makes another */,
    STMT_WORK,
    STMT_KINDS
};

struct program_stmt {
    enum stmt_kind kind;
    enum program_kernel kernel;
    bool loose; /* the signature that says nothing of the inputs */
    uint8_t arrays[PROGRAM_KERNEL_ARRAYS];
    uint32_t first, count; /* elements of a host access; count: of a launch */
    uint32_t value;        /* what is written; rounds; nanoseconds */
    uint32_t blocks, threads;
};

struct program {
    uint64_t seed;
    uint32_t size[PROGRAM_ARRAYS]; /* words */
    unsigned nstmts;
    struct program_stmt stmts[PROGRAM_STMTS];
};

/* Whether the signature that the launch uses lets the kernel write its array i. */
bool program_may_write(const struct program_stmt *s, unsigned i);

void program_make(struct program *p, uint64_t seed);
void program_print(const struct program *p, FILE *out);

/* What the program leaves, by plain loops: the words of each array, and a digest of each read. */
struct program_values {
    uint32_t words[PROGRAM_ARRAYS][PROGRAM_WORDS];
    uint64_t reads[PROGRAM_STMTS];
};
void program_values(const struct program *p, struct program_values *out);
uint64_t program_digest(const uint32_t *words, uint32_t count);

#endif
