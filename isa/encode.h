/*
 * The encoding of instructions and of whole programs. An instruction is ISA_INSN_BYTES and, if its
 * literal does not fit in 32 bits, ISA_LITERAL_BYTES more; numbers are little-endian.
 *
 * bits of word 0:  op 0-15, predicate 16-20 (0: none, else 1 + mask), predicate negated 21, nomask 22,
 *                  literal follows 23, operands d 24-32, a 33-41, b 42-50, c 51-59 (scoreboard names, or
 *                  ISA_ENC_IMM, ISA_ENC_NONE), log2 of the address scale 60-61
 * bits of word 1:  literal, displacement or target 0-31, address base 32-40, address index 41-49; in place of
 *                  an address the jip of gotos and joins 32-63
 */
#ifndef HD_ISA_ENCODE_H
#define HD_ISA_ENCODE_H

#include "isa/isa.h"
#include "sim/base/text.h"

enum {
    ISA_ENC_IMM = ISA_SB_COUNT, /* operand codes behind the registers' scoreboard names */
    ISA_ENC_NONE,
    ISA_ENC_MAX_BYTES = ISA_INSN_BYTES + ISA_LITERAL_BYTES,
};

/* Writes the instruction and returns its bytes. op, pred, pred_not, ISA_F_NOMASK, d, a, b, c, addr, imm, target and jip count. */
unsigned isa_encode(const struct isa_insn *in, uint8_t out[ISA_ENC_MAX_BYTES]);

/*
 * Reads one instruction from at most `avail` bytes and returns the bytes it took; 0 if they are no
 * instruction. *why (may be NULL) then says what is wrong. Scoreboard names, run, pc and
 * imm_vec are not filled; registers are in range, but a target, jip or string index is checked by nobody here.
 */
unsigned isa_decode(const uint8_t *bytes, size_t avail, struct isa_insn *in, const char **why);

/*
 * Fills program->insns, ninsns and pool from program->code: decoded instructions with scoreboard names,
 * literals in all lanes and straight-line runs. line_of[i], an index in program->lines, is instruction i's; NULL: all 0.
 */
enum hd_status isa_load(struct isa_program *program, const uint32_t *line_of, size_t nline_of,
                        struct hd_error *err);

/* A whole program in bytes, with a versioned header; sources are left out. */
void isa_image_write(const struct isa_program *program, struct text *out);

/* True if the bytes begin like an image. */
bool isa_image_is(const void *bytes, size_t len);

/* Reads an image; name is for messages. HD_BAD_INPUT if it is damaged, of another version, or fails the verifier. */
enum hd_status isa_image_read(const char *name, const void *bytes, size_t len,
                              struct isa_program **out, struct hd_error *err);

#endif
