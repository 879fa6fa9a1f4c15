/* Operands: registers, parameters, special values and literals, checked against the opcode's row. */
#include "isa/asm_internal.h"

#include <stdio.h>
#include <string.h>

void asm_operand_text(const struct isa_operand *o, char *out, size_t size)
{
    char letter = o->kind == ISA_O_V ? 'v' : o->kind == ISA_O_S ? 's' : 'm';

    if (o->kind == ISA_O_EXEC)
        snprintf(out, size, "exec");
    else if (o->kind == ISA_O_M && o->index == ISA_VCC)
        snprintf(out, size, "vcc");
    else if (o->kind == ISA_O_S && isa_sspecial_name(o->index))
        snprintf(out, size, "%s", isa_sspecial_name(o->index));
    else if (o->words == 2)
        snprintf(out, size, "%c[%u:%u]", letter, o->index, o->index + 1);
    else
        snprintf(out, size, "%c%u", letter, o->index);
}

/* The registers that a letter names. */
struct register_file {
    char letter;
    uint8_t kind;
    unsigned count;
};

static const struct register_file files[] = {
    {'v', ISA_O_V, ISA_MAX_VREGS}, {'s', ISA_O_S, ISA_MAX_SREGS}, {'m', ISA_O_M, ISA_MASKS}};
enum { FILE_M = 2, NUM_FILES = sizeof files / sizeof *files };

/* Index in files, NUM_FILES if the letter names none. */
static unsigned file_of(char letter)
{
    unsigned i = 0;

    while (i < NUM_FILES && files[i].letter != letter)
        i++;
    return i;
}

/* "v7": the number behind the letter, or -1 if the name does not look like a register. */
static int64_t register_number(struct slice name)
{
    int64_t n = 0;

    if (name.len < 2 || file_of(name.at[0]) == NUM_FILES)
        return -1;
    for (size_t i = 1; i < name.len; i++) {
        if (name.at[i] < '0' || name.at[i] > '9')
            return -1;
        if (n < 100000)
            n = n * 10 + (name.at[i] - '0');
    }
    return name.at[1] == '0' && name.len > 2 ? 100000 : n;
}

bool asm_reserved(const struct assembler *as, struct slice name)
{
    static const char *const words[] = {"vcc", "exec", "inf", "nan", "bits", "call", "ret"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_is(name, words[i]))
            return true;
    return register_number(name) >= 0 || symtab_find(&as->mnemonics, name);
}

bool asm_new_name(struct assembler *as, struct slice name, uint32_t col, const char *what)
{
    if (name.at[0] == '.' || name.at[0] == '%' || memchr(name.at, '.', name.len))
        return asm_fail(as, col, "asm-name", "names are letters, digits and _",
                        "`%.*s` cannot name %s", SLICE(name), what);
    if (asm_reserved(as, name))
        return asm_fail(as, col, "asm-reserved", "choose another name",
                        "`%.*s` is a mnemonic or a register and cannot name %s", SLICE(name), what);
    if (symtab_find(&as->consts, name) || symtab_find(&as->kernel.params, name) ||
        symtab_find(&as->kernel.locals, name))
        return asm_fail(as, col, "asm-duplicate", "choose another name",
                        "`%.*s` is defined already", SLICE(name));
    return true;
}

static bool check_declared(struct assembler *as, const struct isa_operand *o, uint32_t col)
{
    const struct kernel_state *k = &as->kernel;
    bool vector = o->kind == ISA_O_V;
    unsigned end = o->index + o->words;
    char text[24];

    if (!(vector && k->declared_vregs && end > k->k.vregs) &&
        !(o->kind == ISA_O_S && o->index < ISA_MAX_SREGS && k->declared_sregs && end > k->k.sregs))
        return true;
    asm_operand_text(o, text, sizeof text);
    return asm_fail(as, col, "asm-undeclared-register", "raise the directive's number",
                    "`%s` is past the %u registers that %s declares", text,
                    vector ? k->k.vregs : k->k.sregs, vector ? ".vregs" : ".sregs");
}

static enum found plain_register(struct assembler *as, const struct token *t, struct isa_operand *o)
{
    const struct register_file *f = &files[file_of(t->text.at[0])];
    int64_t n = register_number(t->text);

    as->next++;
    if (n >= f->count) {
        asm_fail(as, t->col, "asm-register-range", "", "no register `%.*s`: there are %c0 to %c%u",
                 SLICE(t->text), f->letter, f->letter, f->count - 1);
        return FOUND_BAD;
    }
    *o = (struct isa_operand){f->kind, 1, (uint16_t)n};
    return check_declared(as, o, t->col) ? FOUND : FOUND_BAD;
}

/* "[first:last]" behind v or s. */
static bool pair_range(struct assembler *as, const struct register_file *f, uint32_t col,
                       struct isa_operand *o)
{
    int64_t first, last;

    if (!asm_want(as, '[', "behind the register file") ||
        !asm_expr_int(as, "a register", 0, f->count - 1, &first) ||
        !asm_want(as, ':', "between first and last register") ||
        !asm_expr_int(as, "a register", 0, f->count - 1, &last) ||
        !asm_want(as, ']', "behind the registers"))
        return false;
    if (last != first + 1)
        return asm_fail(as, col, "asm-pair", "64-bit values take two registers, as in v[2:3]",
                        "%c[%d:%d] is no pair", f->letter, (int)first, (int)last);
    if (first % 2)
        return asm_fail(as, col, "asm-pair-alignment", "a pair begins at an even register",
                        "%c[%d:%d] is not aligned", f->letter, (int)first, (int)last);
    *o = (struct isa_operand){f->kind, 2, (uint16_t)first};
    return true;
}

static enum found pair_register(struct assembler *as, const struct token *t, struct isa_operand *o)
{
    as->next++;
    return pair_range(as, &files[file_of(t->text.at[0])], t->col, o) && check_declared(as, o, t->col)
               ? FOUND
               : FOUND_BAD;
}

static bool find_parameter(const struct assembler *as, struct slice name, struct isa_operand *o)
{
    const struct frame *f = asm_func_frame(as);
    const struct symbol *s;

    for (size_t i = 0; f && i < f->func->nparams; i++) {
        if (slice_same(f->func->params[i].name, name)) {
            *o = f->args[i];
            return true;
        }
    }
    s = symtab_find(&as->kernel.params, name);
    if (!s)
        return false;
    const struct isa_param *p = &as->kernel.k.params[s->value];

    *o = (struct isa_operand){ISA_O_S, p->is_array ? 2 : (uint8_t)isa_type_words(p->type), p->sreg};
    return true;
}

/* A parameter, or one word of it: x.lo, x.hi. */
static enum found parameter(struct assembler *as, const struct token *t, struct isa_operand *o)
{
    struct slice name = t->text;
    bool hi = name.len > 3 && memcmp(name.at + name.len - 3, ".hi", 3) == 0;
    bool lo = name.len > 3 && memcmp(name.at + name.len - 3, ".lo", 3) == 0;

    if (hi || lo)
        name.len -= 3;
    if (!find_parameter(as, name, o))
        return NOT_FOUND;
    as->next++;
    if (!hi && !lo)
        return FOUND;
    if (o->words != 2) {
        asm_fail(as, t->col, "asm-operand-type", "only 64-bit parameters have two words",
                 "`%.*s` is one register", SLICE(name));
        return FOUND_BAD;
    }
    o->index = (uint16_t)(o->index + hi);
    o->words = 1;
    return FOUND;
}

static enum found special(struct assembler *as, const struct token *t, struct isa_operand *o)
{
    int index = isa_sspecial_find(t->text.at, t->text.len);

    if (index >= 0) {
        as->next++;
        *o = (struct isa_operand){ISA_O_S, 1, (uint16_t)index};
        return FOUND;
    }
    if (isa_vspecial_find(t->text.at, t->text.len) >= 0)
        asm_fail(as, t->col, "asm-operand-kind", "read it into a register: v_get_u32 v0, %lane",
                 "`%.*s` differs from lane to lane", SLICE(t->text));
    else
        asm_fail(as, t->col, "asm-unknown-name", "`heddle list opcodes` shows the special values",
                 "unknown special value `%.*s`", SLICE(t->text));
    return FOUND_BAD;
}

enum found asm_register(struct assembler *as, struct isa_operand *o)
{
    const struct token *t = asm_tok(as);

    *o = (struct isa_operand){0};
    if (t->kind != TOK_NAME)
        return NOT_FOUND;
    if (t->text.at[0] == '%')
        return special(as, t, o);
    if (slice_is(t->text, "vcc") || slice_is(t->text, "exec")) {
        *o = (struct isa_operand){t->text.len == 3 ? ISA_O_M : ISA_O_EXEC, 1,
                                  t->text.len == 3 ? ISA_VCC : 0};
        as->next++;
        return FOUND;
    }
    if (register_number(t->text) >= 0)
        return plain_register(as, t, o);
    if (t->text.len == 1 && file_of(t->text.at[0]) < FILE_M && t[1].kind == TOK_PUNCT &&
        t[1].punct == '[')
        return pair_register(as, t, o);
    return parameter(as, t, o);
}

bool asm_mask(struct assembler *as, bool exec, struct isa_operand *o)
{
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);
    enum found found = asm_register(as, o);

    if (found == FOUND_BAD)
        return false;
    if (found == FOUND && (o->kind == ISA_O_M || (exec && o->kind == ISA_O_EXEC)))
        return true;
    return asm_fail(as, t->col, "asm-operand-kind", "masks are m0 to m15 and vcc",
                    "expected a mask, found `%.*s`", SLICE(text));
}

static bool kind_error(struct assembler *as, const struct isa_insn *in, enum isa_slot slot,
                       uint32_t col, struct slice text, const char *what)
{
    static const char *const names[ISA_NUM_SLOTS] = {"the destination", "operand a", "operand b",
                                                     "operand c"};
    const struct isa_op_info *op = &isa_ops[in->op];
    struct text wants = {0}, syntax = {0};

    isa_slot_syntax(op, slot, &wants);
    isa_op_syntax(op, &syntax);
    asm_fail(as, col, what, text_str(&syntax), "`%.*s` cannot be %s of %s, which is %s",
             SLICE(text), names[slot], op->name, text_str(&wants));
    text_free(&wants);
    text_free(&syntax);
    return false;
}

/* The tokens [from, next) as they were written. */
static struct slice written(const struct assembler *as, size_t from)
{
    const char *begin = as->tokens.at[from].text.at, *end;
    const struct token *last = &as->tokens.at[as->next > from ? as->next - 1 : from];

    if (as->tokens.at[from].kind == TOK_CHAR || as->tokens.at[from].kind == TOK_STRING)
        begin--;
    end = last->text.at + last->text.len + (last->kind == TOK_CHAR || last->kind == TOK_STRING);
    return (struct slice){begin, (size_t)(end - begin)};
}

static bool literal(struct assembler *as, struct isa_insn *in, enum isa_slot slot, bool *has_imm)
{
    size_t from = as->next;
    uint32_t col = asm_tok(as)->col;
    const struct isa_op_info *op = &isa_ops[in->op];
    struct value v;
    uint64_t bits;

    if (!asm_expr(as, &v))
        return false;
    if (!(isa_slot_kinds(op, slot) & ISA_KIND_IMM))
        return kind_error(as, in, slot, col, written(as, from), "asm-operand-kind");
    if (!asm_value_bits(as, &v, isa_slot_type(op, slot), col, written(as, from), &bits))
        return false;
    if (*has_imm && bits != in->imm)
        return asm_fail(as, col, "asm-two-literals", "put one of them into a register first",
                        "an instruction holds one literal, and `%.*s` is a second one",
                        SLICE(written(as, from)));
    *has_imm = true;
    in->imm = bits;
    *isa_slot(in, slot) = (struct isa_operand){.kind = ISA_O_IMM};
    return true;
}

static bool check_pair(struct assembler *as, const struct isa_insn *in, enum isa_slot slot,
                       const struct isa_operand *o, uint32_t col, struct slice text)
{
    const struct isa_op_info *op = &isa_ops[in->op];
    unsigned words = isa_operand_words(isa_slot_type(op, slot), (enum isa_operand_kind)o->kind);

    if (o->words == words)
        return true;
    return asm_fail(as, col, "asm-operand-type",
                    words == 2 ? "a 64-bit operand is a pair, as in v[2:3]"
                               : "name one register, or use a 64-bit opcode",
                    "%s takes %s here, `%.*s` is %s", op->name,
                    words == 2 ? "two registers" : "one register", SLICE(text),
                    o->words == 2 ? "two" : "one");
}

bool asm_operand(struct assembler *as, struct isa_insn *in, enum isa_slot slot, bool *has_imm)
{
    const struct isa_op_info *op = &isa_ops[in->op];
    size_t from = as->next;
    uint32_t col = asm_tok(as)->col;
    struct isa_operand o;
    enum found found = asm_register(as, &o);

    if (found == FOUND_BAD)
        return false;
    if (found == NOT_FOUND)
        return literal(as, in, slot, has_imm);
    if (!(isa_slot_kinds(op, slot) & (1u << o.kind)) ||
        (slot == ISA_SLOT_D && o.kind == ISA_O_S && o.index >= ISA_MAX_SREGS))
        return kind_error(as, in, slot, col, written(as, from), "asm-operand-kind");
    if (!check_pair(as, in, slot, &o, col, written(as, from)))
        return false;
    *isa_slot(in, slot) = o;
    return slot != ISA_SLOT_D || asm_func_check_write(as, &o, col);
}
