/*
 * The instruction set: what an instruction is once it is decoded, and what a
 * program is. Everything that lists opcodes follows isa/opcodes.def.
 *
 * An instruction has one destination d and up to three sources a, b, c. Registers
 * are 32 bits a lane; 64-bit values take an aligned pair, low word first.
 */
#ifndef HD_ISA_ISA_H
#define HD_ISA_ISA_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ISA_VERSION = 2,       /* of the encoding; no stable ABI */
    ISA_MAX_WIDTH = 64,    /* lanes of the widest wavefront */
    ISA_MAX_VREGS = 256,   /* v0-v255 */
    ISA_MAX_SREGS = 104,   /* s0-s103 */
    ISA_SCALAR_FILE = 128, /* scalar registers, then the read-only scalar special values */
    ISA_MASKS = 16,        /* m0-m15 */
    ISA_VCC = 16,          /* VCC is kept as the mask after m15 */
    ISA_NAME_MAX = 64,     /* bytes of a kernel's or parameter's name, NUL included */
    ISA_MAX_PARAMS = 32,
    ISA_INSN_BYTES = 16,
    ISA_LITERAL_BYTES = 8,
    ISA_MAX_RUN = 32, /* longest straight-line run computed ahead */
};

/* A jip that leads nowhere: the join wakes a lane whenever none is awake. */
#define ISA_NO_PC UINT32_MAX

/* Types of operands. B32 and B64 are bits whose meaning the opcode does not care about. */
enum isa_type {
    T_NONE,
    T_B32,
    T_U32,
    T_I32,
    T_F32,
    T_B64,
    T_U64,
    T_I64,
    T_F64,
    T_U8,
    T_I8,
    T_U16,
    T_I16,
    T_MASK
};

/* Words of 32 bits that a value of the type takes in registers: 0, 1 or 2. */
unsigned isa_type_words(enum isa_type type);
/* Bytes of the type in memory: 1, 2, 4 or 8. */
unsigned isa_type_bytes(enum isa_type type);

/* How an instruction reads its operands and is executed; the operand kinds that each allows are in
 * isa/README.md. */
enum isa_format {
    ISA_VALU,    /* d: v          a, b, c: v | s | immediate */
    ISA_VSEL,    /* d: v          a, b: v | s | immediate, c: mask (c set: a, else b) */
    ISA_VCMP,    /* d: m | vcc    a, b: v | s | immediate */
    ISA_VGET,    /* d: v          imm: a vector special value (enum isa_vspecial) */
    ISA_SALU,    /* d: s          a, b, c: s | immediate */
    ISA_MASK_OP, /* d: m | vcc | exec | s pair   a, b: m | vcc | exec | s pair | immediate 0 or -1 */
    ISA_SAVE_EXEC, /* d: s pair that gets EXEC   a: m | vcc | exec | s pair | immediate: of it and EXEC a new EXEC */
    ISA_REDUCE,    /* d: s or s pair  a: m | vcc | exec: any, all, popcount, ballot, first lane */
    ISA_XLANE,     /* d: v          a: v, b: v | s | immediate: moves between lanes */
    ISA_READLANE,  /* d: s          a: v, b: s | immediate (lane) */
    ISA_WRITELANE, /* d: v         a: s | immediate, b: s | immediate (lane) */
    ISA_CLOCK,     /* d: s pair: the core cycle */
    ISA_GLOAD,     /* d: v          address */
    ISA_GSTORE,    /* a: v          address */
    ISA_GATOMIC,   /* d: v or none  a: v (operand), c: v (comparand) address */
    ISA_LLOAD, /* local memory: like the global ones, with address v | s | imm + immediate bytes */
    ISA_LSTORE,
    ISA_LATOMIC,
    ISA_FENCE,
    ISA_BARRIER,
    ISA_JUMP,      /* target */
    ISA_BRANCH_S,  /* a: s          target: branches on a scalar (zero, not zero) */
    ISA_BRANCH_M,  /* a: m | vcc | exec   target: branches on any or all of a mask */
    ISA_GOTO,      /* target, jip: the lanes of the predicate sleep until the join at target */
    ISA_GOTO_BACK, /* target, jip: the lanes of the predicate go round, the others sleep */
    ISA_JOIN,      /* jip: lanes that sleep until here wake up */
    ISA_PRINT,     /* a: v | s | m  imm: index of the program's string */
    ISA_ASSERT,    /* a: m | vcc    imm: index of the program's string */
    ISA_TXBEGIN,   /* an attempt of a transaction starts here */
    ISA_TXCOMMIT,  /* the lanes that met no conflict are done, the others try again */
    ISA_NOP,
    ISA_END,
    ISA_NUM_FORMATS
};

/* Timing classes: each has a latency and a throughput in the configuration. */
enum isa_class {
    ISA_C_ALU,   /* f32 and integer add, logic, moves, compares */
    ISA_C_MUL,   /* f32 and integer multiply and multiply-add */
    ISA_C_CVT,   /* conversions */
    ISA_C_SFU,   /* f32 special functions and f64 seeds, integer and float division */
    ISA_C_F64,   /* f64 arithmetic */
    ISA_C_SALU,  /* scalar and mask operations */
    ISA_C_XLANE, /* moves between lanes */
    ISA_C_BRANCH,
    ISA_C_LDS,  /* local memory */
    ISA_C_MEM,  /* global memory */
    ISA_C_SYNC, /* barrier, fence, end */
    ISA_NUM_CLASSES
};

/* Properties of opcodes, and of decoded instructions (the last ones). */
enum isa_flag {
    ISA_F_FLOP32 = 1u << 0, /* counts one f32 operation a lane; two with ISA_F_FMA */
    ISA_F_FLOP64 = 1u << 1,
    ISA_F_FMA = 1u << 2,
    ISA_F_RETURN = 1u << 3,  /* an atomic that returns the old value */
    ISA_F_SIGNED = 1u << 4,  /* a load shorter than a register extends its sign */
    ISA_F_NEGATE = 1u << 5,  /* a branch: taken on zero; none, not all */
    ISA_F_ALL = 1u << 6,     /* a mask branch or reduction over all instead of any */
    ISA_F_READS_D = 1u << 7, /* the destination is also a source */
    ISA_F_XLANE = 1u << 8,   /* reads other lanes */
    ISA_F_NOMASK = 1u << 16, /* this instruction ignores EXEC */
};

/* Read-only scalar special values; they stand in the scalar file from ISA_MAX_SREGS on. */
enum isa_sspecial {
    ISA_SV_GROUP_X = ISA_MAX_SREGS, /* index of the work-group in the grid */
    ISA_SV_GROUP_Y,
    ISA_SV_GROUP_Z,
    ISA_SV_GROUPS_X, /* work-groups of the grid */
    ISA_SV_GROUPS_Y,
    ISA_SV_GROUPS_Z,
    ISA_SV_THREADS_X, /* work-items of a work-group */
    ISA_SV_THREADS_Y,
    ISA_SV_THREADS_Z,
    ISA_SV_WAVE,        /* index of the wavefront in its work-group */
    ISA_SV_WAVES,       /* wavefronts of a work-group */
    ISA_SV_WIDTH,       /* lanes of a wavefront */
    ISA_SV_GROUP,       /* flat index of the work-group, x fastest */
    ISA_SV_LOCAL_BYTES, /* static and dynamic local memory of the work-group */
    ISA_SV_END
};

/* Vector special values, read by v_get_u32. */
enum isa_vspecial {
    ISA_VV_LANE,  /* lane in the wavefront */
    ISA_VV_TID,   /* flat work-item in its work-group: wave * width + lane */
    ISA_VV_TID_X, /* x is fastest, then y, then z */
    ISA_VV_TID_Y,
    ISA_VV_TID_Z,
    ISA_VV_GID, /* group * items of a work-group + tid, low 32 bits */
    ISA_VV_END
};

enum isa_operand_kind { ISA_O_NONE, ISA_O_V, ISA_O_S, ISA_O_M, ISA_O_EXEC, ISA_O_IMM };

struct isa_operand {
    uint8_t kind;   /* enum isa_operand_kind; VCC is ISA_O_M with index ISA_VCC */
    uint8_t words;  /* registers it takes: 1 or 2, 0 for none */
    uint16_t index; /* of the first register */
};

/*
 * Address of a memory instruction.
 * Global: s[base:64] + zext(v[index]) * scale + disp, or (base none) v[index:64] + disp.
 * Local: v[index] * scale + disp, or s[base] + disp, or disp alone; bytes from the group's start.
 */
struct isa_address {
    struct isa_operand base;  /* ISA_O_S or none */
    struct isa_operand index; /* ISA_O_V or none */
    uint8_t scale;            /* 1, 2, 4 or 8 */
    int32_t disp;             /* bytes */
};

/* Scoreboard names of registers: v first, then the scalar file, then masks, VCC and EXEC. */
enum {
    ISA_SB_V = 0,
    ISA_SB_S = ISA_MAX_VREGS,
    ISA_SB_M = ISA_SB_S + ISA_SCALAR_FILE,
    ISA_SB_EXEC = ISA_SB_M + ISA_MASKS + 1,
    ISA_SB_TX, /* local accesses of a transaction that are under way; tx.commit waits for them */
    ISA_SB_COUNT,
    ISA_SB_MAX_WAIT = 12, /* registers one instruction can wait for: sources and destinations */
    ISA_SB_MAX_SET = 3,
};

/* A decoded instruction. Immutable once its program is loaded; shared by all wavefronts. */
struct isa_insn {
    uint16_t op;    /* enum isa_op */
    uint8_t format; /* enum isa_format */
    uint8_t cls;    /* enum isa_class */
    uint32_t flags; /* enum isa_flag */
    uint8_t pred;   /* 0: none; else 1 + index of the mask (ISA_VCC too) */
    bool pred_not;  /* lanes whose predicate bit is clear */
    uint8_t dtype,
        stype; /* enum isa_type of destination and sources; a memory access: of the word in memory */
    uint16_t run; /* register-to-register instructions of the straight-line run that it heads; 0 if
                     it heads none */
    uint8_t nwait, nset;
    struct isa_operand d, a, b, c;
    struct isa_address addr;
    uint64_t imm;            /* literal, or an index (special value, string) */
    const uint32_t *imm_vec; /* the literal in all lanes, see isa_imm_lanes(); NULL if no vector
                                operand needs it */
    uint32_t pc;             /* index of this instruction in its program */
    uint32_t target; /* pc of a branch's target: of a goto the UIP, of a backward one the loop's head */
    uint32_t jip;  /* goto and join: pc where to go on when no lane is awake; join: or ISA_NO_PC */
    uint32_t line; /* index in isa_program.lines */
    uint16_t wait[ISA_SB_MAX_WAIT]; /* scoreboard names: sources, predicate, then destinations */
    uint16_t set[ISA_SB_MAX_SET];
};

/* One row of isa/opcodes.def. */
struct isa_op_info {
    const char *name; /* mnemonic */
    const char *doc;  /* the meaning as a formula */
    uint8_t format, cls;
    uint8_t dtype, atype, btype, ctype; /* enum isa_type; T_NONE where there is no such operand */
    uint32_t flags;
};

enum isa_op {
#define OP(name, format, cls, dtype, atype, btype, ctype, flags, doc, ...) OP_##name,
#include "isa/opcodes.def"
#undef OP
    ISA_NUM_OPS
};

extern const struct isa_op_info isa_ops[ISA_NUM_OPS];

/* True if the instruction writes EXEC, as its destination or beside it. */
static inline bool isa_writes_exec(const struct isa_insn *in)
{
    return in->d.kind == ISA_O_EXEC || isa_ops[in->op].format == ISA_SAVE_EXEC;
}

/* Index of the mnemonic in isa_ops, or -1. */
int isa_op_find(const char *name);

struct isa_param {
    char name[ISA_NAME_MAX];
    uint8_t type;  /* enum isa_type of the value, or of the elements of an array */
    bool is_array; /* a 64-bit address in an aligned scalar pair */
    uint8_t sreg;  /* scalar register that holds it when a wavefront starts */
};

/* Control-flow forms (a bit set: a kernel without form-specific instructions has all). */
enum isa_form {
    ISA_FORM_PREDICATED = 1u << 0,
    ISA_FORM_PREDICATED_ALL = 1u << 1,
    ISA_FORM_GOTO = 1u << 2,
    ISA_FORM_EXEC = 1u << 3,
    ISA_FORM_ALL = 15u,
};

/* Transactions of a kernel (isa/tx_facts.h); all 0 without. */
struct isa_tx_facts {
    uint32_t transactions;  /* outermost ones in the code */
    uint32_t reads, writes; /* words of the accesses of the largest, each counted once */
    bool unbounded;         /* an access stands in a loop: it may be of any number of words */
    bool reads_only;        /* in one of them lanes may read that write nothing */
    bool changes_all;       /* in all of them lanes store to each word that they load */
};

struct isa_kernel {
    char name[ISA_NAME_MAX];
    uint32_t first, end;   /* pcs: [first, end) */
    uint32_t vregs, sregs; /* declared or, where not declared, the highest used plus one */
    uint32_t lds_bytes;    /* static local memory */
    uint32_t forms;        /* enum isa_form */
    uint32_t nparams;
    struct isa_param params[ISA_MAX_PARAMS];
    uint32_t line; /* of .kernel, in isa_program.lines */
    bool has_tx;   /* it has a tx.begin */
    struct isa_tx_facts tx;
    char tm_detector[ISA_NAME_MAX]; /* names as they are written, "": the machine's choice */
    char tm_serialise[ISA_NAME_MAX];
};

struct isa_line {
    uint32_t file; /* index in isa_program.files */
    uint32_t line; /* from 1 */
};

/* A loaded program. All of it is owned by the program and freed by isa_program_free. */
struct isa_program {
    size_t ninsns, nkernels, nlines, nfiles, nstrings, code_bytes;
    struct isa_insn *insns;
    struct isa_kernel *kernels;
    struct isa_line *lines;
    char **files;   /* paths as the user gave them; includes as they were resolved */
    char **sources; /* text of each file, for messages and profiles; NULL where unknown */
    char **strings; /* formats of print and assert */
    uint8_t *code;  /* the encoded instructions */
    void *pool;     /* storage of imm_vec */
};

/*
 * A literal in all lanes for wavefronts of the given width: lane i's low word at
 * [i], its high word at [width + i].
 */
static inline const uint32_t *isa_imm_lanes(const uint32_t *imm_vec, unsigned width)
{
    return imm_vec + (ISA_MAX_WIDTH - width);
}

/* The kernel of that name, preferring one whose forms meet `forms`; NULL if there is none. */
const struct isa_kernel *isa_find_kernel(const struct isa_program *program, const char *name,
                                         unsigned forms);

/* Writes "file:line" of an instruction; pc may be ninsns or more ("?"). */
void isa_place(const struct isa_program *program, uint32_t pc, char *out, size_t size);

void isa_program_free(struct isa_program *program);

#endif
