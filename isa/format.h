/*
 * What each format's operands may be, and in which order they are written. Assembler,
 * disassembler, encoding, verifier and manual follow this one table.
 */
#ifndef HD_ISA_FORMAT_H
#define HD_ISA_FORMAT_H

#include "isa/isa.h"
#include "sim/base/text.h"

/* Sets of enum isa_operand_kind. */
enum {
    ISA_KIND_V = 1u << ISA_O_V,
    ISA_KIND_S = 1u << ISA_O_S,
    ISA_KIND_M = 1u << ISA_O_M,
    ISA_KIND_EXEC = 1u << ISA_O_EXEC,
    ISA_KIND_IMM = 1u << ISA_O_IMM,
};

/* What a format has beside d, a, b, c. */
enum isa_extra {
    ISA_X_ADDRESS = 1u << 0,
    ISA_X_LOCAL = 1u << 1,   /* the address is one of local memory */
    ISA_X_SPECIAL = 1u << 2, /* imm is an enum isa_vspecial */
    ISA_X_TARGET = 1u << 3,
    ISA_X_STRING = 1u << 4, /* imm is the index of a string */
    ISA_X_LANES = 1u << 5,  /* acts on lanes: takes a predicate and .nomask */
    ISA_X_RUN = 1u << 6,    /* may stand in a straight-line run */
    ISA_X_D_OPTIONAL = 1u << 7,
    ISA_X_JIP = 1u << 8, /* moves lanes between awake and asleep: has a jip, takes no .nomask */
    ISA_X_CONTROL = ISA_X_TARGET | ISA_X_JIP, /* any: the next pc depends on more than the pc */
};

struct isa_format_info {
    uint8_t d, a, b, c; /* sets of kinds; used where the opcode has a type for the operand */
    uint16_t extra;
};

extern const struct isa_format_info isa_formats[ISA_NUM_FORMATS];

enum isa_slot { ISA_SLOT_D, ISA_SLOT_A, ISA_SLOT_B, ISA_SLOT_C, ISA_NUM_SLOTS };

/* Type of the operand, T_NONE where the opcode has none. */
enum isa_type isa_slot_type(const struct isa_op_info *op, enum isa_slot slot);
/* Kinds that the operand may be; 0 where the opcode has none. */
unsigned isa_slot_kinds(const struct isa_op_info *op, enum isa_slot slot);
struct isa_operand *isa_slot(struct isa_insn *in, enum isa_slot slot);
const struct isa_operand *isa_slot_of(const struct isa_insn *in, enum isa_slot slot);

/* Registers that an operand of that kind takes for a value of that type; 0 for a literal. */
unsigned isa_operand_words(enum isa_type type, enum isa_operand_kind kind);

/* True if the instruction acts on lanes, so that a predicate means something: not for whole mask operations. */
bool isa_takes_predicate(const struct isa_insn *in);

/*
 * True if a lane may go on with the next instruction: not behind a jump, nor a goto or an end without a
 * predicate. Looks at op and pred alone.
 */
bool isa_goes_on(const struct isa_insn *in);

/* True if the instruction can ignore EXEC: what moves lanes to sleep and awake cannot. */
bool isa_takes_nomask(const struct isa_insn *in);

/* "f32", "mask", ...: names of types in text; isa_type_find returns T_NONE for an unknown one. */
const char *isa_type_name(enum isa_type type);
enum isa_type isa_type_find(const char *name, size_t len);

/* "%group_x" or NULL, and the way back: -1 if there is none of that name. */
const char *isa_sspecial_name(unsigned index);
int isa_sspecial_find(const char *name, size_t len);
const char *isa_vspecial_name(unsigned index);
int isa_vspecial_find(const char *name, size_t len);

/* "predicated", ... for a single form, else NULL; 0 for an unknown name. */
const char *isa_form_name(unsigned form);
unsigned isa_form_find(const char *name, size_t len);

/* True if the text is empty or words of small letters and digits with a - between: a name of a choice in a directive. */
bool isa_is_choice(const char *s, size_t len);

/* How the opcode is written: "v_add_f32 v, v|s|imm, v|s|imm". */
void isa_op_syntax(const struct isa_op_info *op, struct text *out);

/* How the `operand` of an opcode may be written: "v|s|imm", pairs as "v[a:b]". */
void isa_slot_syntax(const struct isa_op_info *op, enum isa_slot slot, struct text *out);

#endif
