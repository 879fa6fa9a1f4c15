/*
 * A machine without time for tests of assembly: one work-group of any form, one wavefront after the
 * other up to the next barrier. It takes values from isa_exec and does memory by hand.
 */
#ifndef HD_TESTS_ISA_MINI_H
#define HD_TESTS_ISA_MINI_H

#include "isa/isa.h"
#include "isa/wave.h"

enum { MINI_MAX_WAVES = 8, MINI_LDS = 1 << 16, MINI_MEMORY = 1 << 16 };

struct mini {
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    unsigned width, nwaves, items, group, groups;
    struct isa_wave waves[MINI_MAX_WAVES];
    uint32_t pc[MINI_MAX_WAVES];
    bool at_barrier[MINI_MAX_WAVES];
    uint32_t until[MINI_MAX_WAVES][ISA_MAX_WIDTH]; /* the join until which a lane sleeps, or ISA_NO_PC */
    bool scalar;         /* of width 1: a goto is a branch to its UIP, and a join is nothing */
    unsigned long hops;  /* joins behind which no lane was awake */
    uint32_t watch;      /* a pc; ISA_NO_PC at first */
    const bool *apart;   /* NULL, or of isa_find_apart: lanes sleep nowhere else */
    bool watched;        /* that pc was reached */
    unsigned long steps; /* instructions executed */
    const char *wrong;   /* NULL, or what the program did that it may not */
    uint8_t lds[MINI_LDS];
    uint8_t memory[MINI_MEMORY]; /* global memory, at address 0 */
};

/* Assembles or fails the test with the error's text. */
struct isa_program *mini_assemble(const char *text);

/* A work-group of `items` work-items; registers are 0xdeadbeef and masks alternate, so that nothing is 0 by chance. */
struct mini *mini_new(const struct isa_program *program, const char *kernel, unsigned width,
                      unsigned items);
/* Sets a parameter: an offset in memory for an array, a value for others. */
void mini_param(struct mini *m, const char *name, uint64_t value);
/* Runs until all wavefronts have ended; at most max_steps instructions. */
void mini_run(struct mini *m, unsigned long max_steps);
/* Lane's 32-bit register of a work-item. */
uint32_t mini_reg(const struct mini *m, unsigned item, unsigned reg);
void mini_free(struct mini *m);

#endif
