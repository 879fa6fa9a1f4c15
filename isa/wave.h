/*
 * The registers of one wavefront, and the execution of register-to-register
 * instructions on them. No notion of time.
 */
#ifndef HD_ISA_WAVE_H
#define HD_ISA_WAVE_H

#include "isa/isa.h"
#include "isa/lanes.h"

struct isa_wave {
    uint32_t *v;   /* [vregs][width]; 32-byte aligned; owned by the caller */
    uint64_t live; /* lanes that exist and have not ended */
    uint64_t exec; /* EXEC of the divergence unit, kept here as its cached value */
    uint64_t tx;   /* ATT & ~TCM inside a transaction, else all ones */
    uint64_t tcm; /* TCM inside a transaction, else 0: lanes of the attempt that stay awake but inert */
    uint64_t m[ISA_MASKS + 1];                   /* m0-m15, VCC */
    uint32_t s[ISA_SCALAR_FILE];                 /* s0-s103, then the scalar special values */
    uint32_t tid0;                               /* flat work-item of lane 0 */
    uint64_t spread_of;                          /* the mask that spread[] holds, expanded */
    _Alignas(32) uint32_t spread[ISA_MAX_WIDTH]; /* all ones in lanes of spread_of */
};

/* The only function that says which lanes an instruction acts on. */
static inline uint64_t isa_active(const struct isa_wave *w, const struct isa_insn *in)
{
    uint64_t lanes = w->live & w->tx;

    if (!(in->flags & ISA_F_NOMASK))
        lanes &= w->exec;
    if (in->pred) {
        uint64_t p = w->m[in->pred - 1];

        lanes &= in->pred_not ? ~p : p;
    }
    return lanes;
}

/* The lane mask as one word a lane; rebuilt only when the mask is not the last one. */
const uint32_t *isa_spread(struct isa_wave *w, uint64_t mask, const struct isa_lanes *lanes);

/*
 * The word that an atomic (ISA_GATOMIC, ISA_LATOMIC) leaves in memory where `memory` was, given its
 * operand a and comparand c, all as bits. Of a 32-bit opcode only the low halves are looked at,
 * and the result's high half is 0.
 */
uint64_t isa_atomic(uint16_t op, uint64_t memory, uint64_t a, uint64_t c);

/*
 * The same for a 32-bit opcode on the words at `offset` from data of some lanes, in ascending order of
 * lanes; a and c are registers, c NULL where there is no comparand, and old is the register that gets
 * what was in memory, or NULL. Returns whether memory has changed.
 */
bool isa_atomic_lanes(uint16_t op, uint64_t lanes, uint8_t *data, const uint64_t *offset,
                      const uint32_t *a, const uint32_t *c, uint32_t *old);

/*
 * Computes n register-to-register instructions from in on (formats ISA_VALU to
 * ISA_WRITELANE without ISA_CLOCK). A write to EXEC lands in w->exec; the caller
 * tells the divergence unit. lanes is of the wavefront's width.
 */
void isa_exec(struct isa_wave *w, const struct isa_insn *in, unsigned n,
              const struct isa_lanes *lanes);

/* True if the branch `in` (ISA_JUMP, ISA_BRANCH_S, ISA_BRANCH_M) is taken. */
bool isa_branch_taken(const struct isa_wave *w, const struct isa_insn *in);

/* The mask operand o as the instruction's reader sees it: EXEC reads EXEC & live & tx. */
uint64_t isa_read_mask(const struct isa_wave *w, const struct isa_insn *in, struct isa_operand o);

#endif
