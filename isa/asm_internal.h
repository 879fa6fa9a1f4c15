/*
 * What the files of the assembler share. The way of a line: source.c (files, includes, expansions)
 * -> lexer.c (tokens) -> parse.c (directives.c, macro.c, func.c, parse_insn.c with operand.c and
 * expr.c) -> statements of the open kernel -> sugar.c (regions to masks and branches) -> layout.c
 * (labels to pcs, encoding).
 *
 * A function that returns bool returns false after it has filled the assembler's error.
 */
#ifndef HD_ISA_ASM_INTERNAL_H
#define HD_ISA_ASM_INTERNAL_H

#include "isa/format.h"
#include "isa/isa.h"
#include "sim/base/text.h"
#include "sim/base/vec.h"

enum {
    ASM_MAX_LINE = 65536,            /* bytes of one line */
    ASM_MAX_DEPTH = 64,              /* nested includes, macros and calls */
    ASM_MAX_PARENS = 100,            /* nested parentheses of an expression */
    ASM_MAX_ARGS = 32,               /* arguments of a macro or a func */
    ASM_MAX_FILE = 64 << 20,         /* bytes of one file */
    ASM_MAX_EXPANDED = 64 << 20,     /* bytes that macros and .rept may make in all */
    ASM_MAX_LINES = 2 * 1000 * 1000, /* lines read, expansions counted */
    ASM_MAX_INSNS = 1 << 20,
    ASM_MAX_USES = 16, /* ranges in one .uses */
};

struct slice {
    const char *at;
    size_t len;
};

bool slice_is(struct slice s, const char *text);
bool slice_same(struct slice a, struct slice b);
/* For printf: "%.*s" with SLICE(s); long texts are cut. */
#define SLICE(s) (int)((s).len > 80 ? 80 : (s).len), (s).at

/* ---- symbols (symtab.c) ------------------------------------------------------------------- */

struct symbol {
    struct slice name;
    uint32_t value;
};

/* An open-addressing table; zeroed when empty. */
struct symtab {
    struct symbol *at;
    size_t cap, len;
};

/* The symbol of that name or NULL. */
struct symbol *symtab_find(const struct symtab *t, struct slice name);
/* Adds a name that is not there; false when memory is short. */
bool symtab_add(struct symtab *t, struct slice name, uint32_t value);
void symtab_clear(struct symtab *t);
void symtab_free(struct symtab *t);

/* ---- tokens (lexer.c) --------------------------------------------------------------------- */

enum token_kind { TOK_END, TOK_NAME, TOK_NUMBER, TOK_STRING, TOK_CHAR, TOK_PUNCT };

struct token {
    uint8_t kind;
    char punct;        /* the character; '<' and '>' stand for << and >> */
    uint32_t col;      /* from 1 */
    struct slice text; /* of a string or character without its quotes */
};

/* A value of a constant expression. */
enum value_kind { VALUE_INT, VALUE_FLOAT, VALUE_BITS };

struct value {
    uint8_t kind;
    bool hex;         /* written in hexadecimal or binary: bits rather than a number */
    bool literal_inf; /* inf was written, so that it is not an overflow */
    bool nonzero;     /* the digits of a float are not all 0: a result of 0 is an underflow */
    __int128 i;       /* INT, BITS */
    double d;         /* FLOAT, and the same rounded once to f32 */
    float f;
};

/* ---- where text comes from (source.c) ----------------------------------------------------- */

enum frame_kind { FRAME_FILE, FRAME_MACRO, FRAME_REPT, FRAME_FUNC };

struct func_param {
    struct slice name;
    uint8_t kind, words; /* of the register */
};

struct reg_range {
    uint8_t kind; /* enum isa_operand_kind */
    uint16_t first, last;
};

struct func {
    struct slice name, body;
    uint32_t file, line, body_line; /* of .func, and of the body's first line */
    size_t nparams, nuses;
    struct func_param params[ASM_MAX_ARGS];
    struct reg_range uses[ASM_MAX_USES];
};

struct macro {
    struct slice name, body;
    uint32_t file, line, body_line;
    size_t nparams;
    struct slice params[ASM_MAX_ARGS];
};

/* One nested source of lines. */
struct frame {
    uint8_t kind;
    bool ret_seen; /* FUNC */
    const char *at, *end;
    uint32_t file, line; /* line: of the text at `at` */
    uint32_t serial;     /* of this expansion: makes local names unique */
    const struct macro *macro;
    const struct func *func;
    struct isa_operand args[ASM_MAX_ARGS]; /* FUNC: what the parameters stand for */
    struct slice body;                     /* REPT: repeated `left` more times */
    uint32_t body_line, left, iteration;
};

/* ---- statements ----------------------------------------------------------------------------- */

enum stmt_kind {
    STMT_INSN,
    STMT_LABEL,
    STMT_IF,
    STMT_ELSE,
    STMT_ENDIF,
    STMT_LOOP,
    STMT_BREAK,
    STMT_CONTINUE,
    STMT_ENDLOOP,
};

enum { NO_LABEL = UINT32_MAX, NO_JIP = UINT32_MAX - 1 };

struct stmt {
    uint8_t kind;
    bool has_cond, cond_not; /* IF, BREAK, CONTINUE: insn.a is the mask */
    bool made;               /* by the sugar, not written by hand */
    uint32_t line;           /* index in isa_program.lines */
    uint32_t col;
    uint32_t label; /* LABEL; INSN with a target; else NO_LABEL */
    uint32_t jip; /* goto, join: a label, NO_JIP where "-" is written, NO_LABEL where it is to be derived */
    struct isa_insn insn;
};

typedef VEC(struct stmt) stmt_list;

struct label {
    struct slice name;
    bool defined;
    uint32_t line, col; /* of the definition, or of the first use before it is defined */
    uint32_t pc;
};

struct kernel_state {
    bool open, sugar, declared_vregs, declared_sregs, has_insn, declared_form;
    struct isa_kernel k;
    uint32_t file, line, col;             /* of .kernel */
    struct symtab params, locals, labels; /* values: index of param, offset, index of label */
    stmt_list stmts;
};

struct assembler {
    struct hd_error *err;
    struct isa_program *program;
    const char *const *dirs;
    size_t ndirs;

    VEC(char *) chunks; /* text that lives until the end */
    size_t chunk_used, chunk_cap, expanded, lines_read;

    struct frame *frames[ASM_MAX_DEPTH];
    size_t depth;
    uint32_t serial;
    struct slice line_text;
    uint32_t file, line; /* of line_text */
    VEC(struct token) tokens;
    size_t next;     /* token */
    unsigned parens; /* open ones of the expression that is being read */

    struct symtab mnemonics, consts, macros, funcs, once;
    VEC(struct value) const_values;
    VEC(struct macro *) macro_list;
    VEC(struct func *) func_list;
    VEC(struct label) labels;
    struct kernel_state kernel;
    size_t nlines_cap;
    VEC(uint32_t) line_of;
    VEC(uint8_t) code;
    size_t nkernels_cap, nfiles_cap, nstrings_cap;
};

/* ---- errors (asm_error.c) ------------------------------------------------------------------ */

/* Fills the error with the place of the current line; always false. */
bool asm_fail(struct assembler *as, uint32_t col, const char *code, const char *hint,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same at another place. */
bool asm_fail_at(struct assembler *as, uint32_t file, uint32_t line, uint32_t col, const char *code,
                 const char *hint, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* At a place that was kept in program->lines. */
bool asm_fail_line(struct assembler *as, uint32_t line_index, uint32_t col, const char *code,
                   const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
bool asm_no_memory(struct assembler *as);
/* "did you mean `x`?" among the opcodes, or "" . */
void asm_nearest_mnemonic(struct slice name, char *out, size_t size);

/* ---- source.c ------------------------------------------------------------------------------- */

/* Bytes that live as long as the assembler; NULL when memory is short (the error is set). */
char *asm_keep(struct assembler *as, size_t len);
bool asm_keep_text(struct assembler *as, struct slice *s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads a file into the program's list and pushes its frame. */
bool asm_push_file(struct assembler *as, const char *path, uint32_t col);
bool asm_push_text(struct assembler *as, const char *name, const char *text, size_t len);
bool asm_include(struct assembler *as, struct slice name, uint32_t col);
/* A new innermost frame, zeroed; NULL when too deep (the error is set). */
struct frame *asm_push_frame(struct assembler *as, enum frame_kind kind, uint32_t col);
/* Next raw line into line_text, file, line; *more is false at the end of everything. */
bool asm_read_line(struct assembler *as, bool *more);
/* Takes the raw lines up to the matching end directive of the same frame as a body. */
bool asm_capture(struct assembler *as, const char *open, const char *close, uint32_t col,
                 struct slice *body, uint32_t *body_line);
/* The index in program->lines of the current line; false when memory is short. */
bool asm_line_index(struct assembler *as, uint32_t *index);
void asm_free_frames(struct assembler *as);

/* ---- lexer.c -------------------------------------------------------------------------------- */

/* Splits line_text into as->tokens, which ends with TOK_END. */
bool asm_lex(struct assembler *as);
static inline const struct token *asm_tok(const struct assembler *as)
{
    return &as->tokens.at[as->next];
}
static inline bool asm_at(const struct assembler *as, char punct)
{
    return asm_tok(as)->kind == TOK_PUNCT && asm_tok(as)->punct == punct;
}
/* Takes the punctuation if it is next. */
bool asm_take(struct assembler *as, char punct);
bool asm_want(struct assembler *as, char punct, const char *where);
bool asm_want_name(struct assembler *as, const char *what, struct slice *name);
bool asm_want_end(struct assembler *as);
/* How a token is quoted in a message. */
struct slice asm_tok_text(const struct token *t);
/* The bytes of a string token with its escapes replaced. */
bool asm_string(struct assembler *as, const struct token *t, struct slice *out);

/* ---- expr.c --------------------------------------------------------------------------------- */

/* A whole expression; one product (address terms are products); one factor. */
bool asm_expr(struct assembler *as, struct value *v);
bool asm_product(struct assembler *as, struct value *v);
bool asm_factor(struct assembler *as, struct value *v);
/* An integer expression within [min, max]; what: "size", for the message. */
bool asm_expr_int(struct assembler *as, const char *what, int64_t min, int64_t max, int64_t *out);
/* The bits of the value as an operand of the type. */
bool asm_value_bits(struct assembler *as, const struct value *v, enum isa_type type, uint32_t col,
                    struct slice text, uint64_t *bits);
bool asm_value_int(struct assembler *as, const struct value *v, const char *what, int64_t min,
                   int64_t max, uint32_t col, int64_t *out);
/* number.c: a number token to a value. */
bool asm_number(struct assembler *as, const struct token *t, struct value *v);
bool asm_char_value(struct assembler *as, const struct token *t, struct value *v);

/* ---- operand.c ------------------------------------------------------------------------------ */

enum found { NOT_FOUND, FOUND, FOUND_BAD };

/* Takes a register (v7, s[2:3], m1, vcc, exec, a parameter, a special value) if one is next. */
enum found asm_register(struct assembler *as, struct isa_operand *o);
/* m0-m15, vcc or a mask parameter; exec too if allowed. */
bool asm_mask(struct assembler *as, bool exec, struct isa_operand *o);
/* "v7", "v[2:3]": how a register is written. */
void asm_operand_text(const struct isa_operand *o, char *out, size_t size);
/* One operand of the instruction into its slot. */
bool asm_operand(struct assembler *as, struct isa_insn *in, enum isa_slot slot, bool *has_imm);
/* address.c: "[base + index*scale + disp]". */
bool asm_address(struct assembler *as, struct isa_insn *in);
/* True for names that mean something by themselves: registers, mnemonics, inf and nan. */
bool asm_reserved(const struct assembler *as, struct slice name);
/* Refuses a name that is reserved or means something in this place already. */
bool asm_new_name(struct assembler *as, struct slice name, uint32_t col, const char *what);

/* ---- parse.c and its parts ------------------------------------------------------------------ */

/* Everything up to the end of the sources. */
bool asm_parse(struct assembler *as);
bool asm_insn(struct assembler *as);
/* Writes what the kernel has; sets has_insn. */
bool asm_emit(struct assembler *as, const struct stmt *s);
bool asm_need_kernel(struct assembler *as, uint32_t col, struct slice what);
/* A directive; the name (with its dot) is the current token. */
bool asm_directive(struct assembler *as);
/* kernel.c: .kernel, .param, .form, ... */
bool asm_kernel_begin(struct assembler *as, uint32_t col);
bool asm_kernel_end(struct assembler *as, uint32_t col);
bool asm_dir_param(struct assembler *as, uint32_t col);
bool asm_dir_form(struct assembler *as, uint32_t col);
bool asm_dir_vregs(struct assembler *as, uint32_t col);
bool asm_dir_sregs(struct assembler *as, uint32_t col);
bool asm_dir_lds(struct assembler *as, uint32_t col);
bool asm_dir_tm_detector(struct assembler *as, uint32_t col);
bool asm_dir_tm_serialise(struct assembler *as, uint32_t col);
bool asm_dir_local(struct assembler *as, uint32_t col);
/* macro.c */
bool asm_macro_define(struct assembler *as, uint32_t col);
bool asm_rept(struct assembler *as, uint32_t col);
bool asm_macro_expand(struct assembler *as, const struct macro *m, uint32_t col);
/* The next iteration of a .rept frame; *more false when there is none. */
bool asm_rept_next(struct assembler *as, struct frame *f, bool *more);
/* func.c */
bool asm_func_define(struct assembler *as, uint32_t col);
bool asm_call(struct assembler *as, uint32_t col);
bool asm_ret(struct assembler *as, uint32_t col);
/* Inside funcs, a write must be to a parameter or to what .uses lists. */
bool asm_func_check_write(struct assembler *as, const struct isa_operand *d, uint32_t col);
/* The innermost func frame or NULL: names inside it are its own. */
const struct frame *asm_func_frame(const struct assembler *as);

/* ---- labels.c ------------------------------------------------------------------------------- */

bool asm_label_define(struct assembler *as, struct slice name, uint32_t col);
bool asm_label_use(struct assembler *as, struct slice name, uint32_t col, uint32_t *label);
/* A label that no text can name. */
bool asm_label_make(struct assembler *as, uint32_t *label);

/* ---- sugar.c -------------------------------------------------------------------------------- */

/* Replaces the regions of the open kernel's statements by instructions. */
bool asm_sugar(struct assembler *as);
/* sugar_regs.c: refuses hand use of what the sugar owns; `pairs` scalar pairs are given their registers. */
bool asm_sugar_own(struct assembler *as, stmt_list *stmts, unsigned pairs);
enum {
    SUGAR_FIRST_PAIR = 1 << 12
}; /* operand index of the first scalar pair before it has its register */

/* ---- layout.c ------------------------------------------------------------------------------- */

/* Gives the open kernel's instructions their pcs and encodes them. */
bool asm_layout(struct assembler *as);

#endif
