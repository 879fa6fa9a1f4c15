/*
 * Random programs of structured control flow: one tree, from which come a reference (one lane at a
 * time) and assembly text in each form. See README.md of this folder.
 */
#ifndef HD_TESTS_CF_PROGRAMS_PROGRAM_H
#define HD_TESTS_CF_PROGRAMS_PROGRAM_H

#include "isa/isa.h"
#include "sim/base/rng.h"
#include "sim/base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CFP_INTS = 6,
    CFP_FLOATS = 3,
    CFP_VARS = CFP_INTS + CFP_FLOATS,
    CFP_NODES = 192,
    CFP_DEPTH = 6,       /* of nested ifs and loops */
    CFP_MAX_GROUPS = 2,  /* work-groups of a launch */
    CFP_MAX_ITEMS = 160, /* work-items of a launch */
    CFP_OWN = 8,         /* words of memory, global and local, that are a work-item's own */
    CFP_CLASSES = 8,     /* atomics that commute among themselves have words of their own */
    CFP_CLASS_WORDS = 8,
    CFP_SHARED = CFP_CLASSES * CFP_CLASS_WORDS,
    CFP_EFFECTS = 600, /* stores and atomics of a work-item */
    CFP_STEPS = 3000,  /* nodes that a work-item may execute */
    CFP_NONE = -1,
    CFP_NO_NODE = 0xffff,
};

enum cfp_kind {
    CFP_OP,
    CFP_LOAD,
    CFP_STORE,
    CFP_ATOMIC,
    CFP_BARRIER, /* where all lanes are */
    CFP_IF,
    CFP_DO,
    CFP_WHILE,
    CFP_REPEAT, /* a loop with a scalar count, the same for all lanes */
    CFP_BREAK,
    CFP_CONTINUE,
    CFP_RETURN, /* to what every lane does at the end */
    CFP_END,    /* the lane ends at once */
    CFP_KINDS
};

struct cfp_operand {
    bool imm;
    uint32_t value; /* or the variable's number: integers, then floats */
};

struct cfp_compare {
    uint8_t op; /* in cfp_compares */
    struct cfp_operand a, b;
};

enum cfp_join { CFP_ALONE, CFP_AND, CFP_OR };

struct cfp_cond {
    struct cfp_compare at[2];
    uint8_t join; /* enum cfp_join: whether at[1] counts, and how */
    bool negate;
};

struct cfp_node {
    uint8_t kind;
    uint8_t op;    /* in cfp_ops, or of atomics in cfp_atomics */
    uint8_t dst;   /* variable */
    uint8_t trips; /* of a loop: a constant, and */
    uint8_t bytes; /* of a store: 1, 2 or 4 */
    bool local;    /* memory */
    bool by_lane;  /* a loop's trips: the low two bits of variable dst on top */
    bool by_group; /* an if: whether this is work-group `trips`, the same for all lanes */
    bool has_cond; /* loops, and break, continue, return, end: under a condition */
    struct cfp_cond cond;
    struct cfp_operand a, b, c; /* values; of memory a is the value, b the place */
    int16_t next, body, orelse; /* nodes or CFP_NONE */
};

/* Flat: a copy is a program of its own. */
struct cfp_program {
    uint64_t seed;
    uint32_t groups, threads; /* of the launch */
    uint16_t nnodes;
    int16_t first;
    struct cfp_node node[CFP_NODES];
};

/* ---- operations: ops.c ---- */

struct cfp_op {
    const char *name; /* mnemonic */
    uint8_t args;
    bool to_float, of_float; /* kinds of the result and of the arguments */
    uint32_t (*value)(uint32_t a, uint32_t b, uint32_t c);
};
extern const struct cfp_op cfp_ops[];
extern const unsigned cfp_nops;

struct cfp_comparison {
    const char *name;
    bool of_float;
    bool (*holds)(uint32_t a, uint32_t b);
};
extern const struct cfp_comparison cfp_compares[];
extern const unsigned cfp_ncompares;

struct cfp_atomic {
    const char *name; /* without its space */
    uint32_t (*value)(uint32_t memory, uint32_t a);
};
extern const struct cfp_atomic cfp_atomics[CFP_CLASSES];

/* Bits of a float, a NaN as the machine's arithmetic gives it. */
uint32_t cfp_float_bits(float f);
float cfp_float(uint32_t bits);

/* ---- the generator: generate.c ---- */

/* A program from a seed: always the same one. */
void cfp_generate(struct cfp_program *p, uint64_t seed);
/* The least depth of loops and ifs of which the program has a nest. */
unsigned cfp_depth(const struct cfp_program *p);
/* True if a node of the kind is reachable from p->first. */
bool cfp_has(const struct cfp_program *p, enum cfp_kind kind);
bool cfp_list_has(const struct cfp_program *p, int16_t list, enum cfp_kind kind);
/* The same without looking into loops: what leaves or continues the loop whose body it is. */
bool cfp_body_has(const struct cfp_program *p, int16_t list, enum cfp_kind kind);
/* The program as a text to read. */
void cfp_print(const struct cfp_program *p, struct text *out);

/* ---- the reference: reference.c ---- */

struct cfp_effect {
    uint16_t node;
    bool local;
    uint32_t place; /* byte in the array or the work-group's local memory */
    uint32_t value;
};

/* All that a launch leaves behind. */
struct cfp_memory {
    uint32_t own[CFP_MAX_ITEMS * CFP_OWN];
    uint32_t shared[CFP_SHARED];
    uint32_t vars[CFP_MAX_ITEMS * CFP_VARS];    /* at the end, of lanes that came there */
    uint32_t dump[CFP_MAX_GROUPS * CFP_SHARED]; /* shared words of local memory, behind a barrier */
};

struct cfp_effects {
    uint32_t n[CFP_MAX_ITEMS];
    struct cfp_effect at[CFP_MAX_ITEMS][CFP_EFFECTS];
};

/* How often lanes executed a node, and how often a node's condition held. */
struct cfp_coverage {
    uint32_t executed[CFP_NODES], held[CFP_NODES];
    bool nan_compared, infinite;
};

/* Memory before a launch. */
void cfp_memory_start(const struct cfp_program *p, struct cfp_memory *m);
/* The value that variable k of a work-item has at the start. */
uint32_t cfp_initial(const struct cfp_program *p, uint32_t gid, unsigned k);
/* Runs the program; false if it is too long. */
bool cfp_reference(const struct cfp_program *p, struct cfp_memory *m, struct cfp_effects *e,
                   struct cfp_coverage *c);

/* ---- assembly text: emit*.c ---- */

enum cfp_emitter {
    CFP_SUGAR,          /* predicated, by .if and .loop of the assembler */
    CFP_MASKS,          /* predicated, by masks written by hand */
    CFP_PREDICATED_ALL, /* the same without forward mask branches */
    CFP_EXEC,
    CFP_GOTO,
    CFP_EMITTERS
};
extern const char *const cfp_emitter_names[CFP_EMITTERS];

enum { CFP_LINES = 16384 };

struct cfp_text {
    struct text text;
    uint32_t nlines;
    uint16_t node_of_line[CFP_LINES]; /* from line 1 on; CFP_NO_NODE: none */
};

/* Replaces what *out holds. Choices that a form leaves open follow from the program's seed. */
void cfp_emit(const struct cfp_program *p, enum cfp_emitter emitter, struct cfp_text *out);

/* ---- smaller programs: shrink.c ---- */

typedef bool cfp_fails_fn(void *user, const struct cfp_program *p);
/* Makes a failing program smaller while it still fails. */
void cfp_shrink(struct cfp_program *p, cfp_fails_fn *fails, void *user);

#endif
