#include "isa/dis.h"

#include "isa/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_register(const struct isa_operand *o, struct text *out)
{
    const char letter = o->kind == ISA_O_V ? 'v' : o->kind == ISA_O_S ? 's' : 'm';

    if (o->kind == ISA_O_EXEC)
        text_add(out, "exec");
    else if (o->kind == ISA_O_M && o->index == ISA_VCC)
        text_add(out, "vcc");
    else if (o->kind == ISA_O_S && isa_sspecial_name(o->index))
        text_add(out, "%s", isa_sspecial_name(o->index));
    else if (o->words == 2)
        text_add(out, "%c[%u:%u]", letter, o->index, o->index + 1u);
    else
        text_add(out, "%c%u", letter, o->index);
}

/* ---- literals: the shortest decimal text that gives the same bits ------------------------------- */

static void add_float_text(char *text, struct text *out)
{
    text_add(out, "%s%s", text, strpbrk(text, ".ein") ? "" : ".0");
}

static void add_nan(bool canonical, uint64_t bits, struct text *out)
{
    if (canonical)
        text_add(out, "nan");
    else
        text_add(out, "bits(0x%llx)", (unsigned long long)bits);
}

static void add_f32(uint32_t bits, struct text *out)
{
    char text[40];
    float f;

    memcpy(&f, &bits, sizeof f);
    if (isnan(f)) {
        add_nan(bits == 0x7fc00000u, bits, out);
        return;
    }
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)f);
        if (strtof(text, NULL) == f)
            break;
    }
    add_float_text(text, out);
}

static void add_f64(uint64_t bits, struct text *out)
{
    char text[40];
    double d;

    memcpy(&d, &bits, sizeof d);
    if (isnan(d)) {
        add_nan(bits == 0x7ff8000000000000u, bits, out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    add_float_text(text, out);
}

static void add_bits(uint64_t bits, struct text *out)
{
    text_add(out, bits < 65536 ? "%llu" : "0x%llx", (unsigned long long)bits);
}

static void add_literal(uint64_t bits, enum isa_type type, struct text *out)
{
    switch (type) {
    case T_F32:
        add_f32((uint32_t)bits, out);
        break;
    case T_F64:
        add_f64(bits, out);
        break;
    case T_I32:
        text_add(out, "%lld",
                 (long long)(bits <= INT32_MAX ? (int64_t)bits : (int64_t)bits - (INT64_C(1) << 32)));
        break;
    case T_I64:
        text_add(out, "%s%llu", bits > INT64_MAX ? "-" : "",
                 (unsigned long long)(bits > INT64_MAX ? 0 - bits : bits));
        break;
    case T_MASK:
        text_add(out, bits ? "-1" : "0");
        break;
    default:
        add_bits(bits, out);
    }
}

static void add_operand(const struct isa_insn *in, enum isa_slot slot, struct text *out)
{
    const struct isa_operand *o = isa_slot_of(in, slot);

    if (o->kind == ISA_O_IMM)
        add_literal(in->imm, isa_slot_type(&isa_ops[in->op], slot), out);
    else
        add_register(o, out);
}

static void add_address(const struct isa_address *a, struct text *out)
{
    const char *plus = "";

    text_add(out, "[");
    if (a->base.kind != ISA_O_NONE) {
        add_register(&a->base, out);
        plus = " + ";
    }
    if (a->index.kind != ISA_O_NONE) {
        text_add(out, "%s", plus);
        add_register(&a->index, out);
        if (a->scale != 1)
            text_add(out, "*%u", a->scale);
        plus = " + ";
    }
    if (a->disp < 0 && *plus)
        text_add(out, " - %lld", -(long long)a->disp);
    else if (a->disp || !*plus)
        text_add(out, "%s%d", plus, (int)a->disp);
    text_add(out, "]");
}

static void add_string(const char *s, struct text *out)
{
    static const char plain[] = "\n\t\r\\\"", escaped[] = "ntr\\\"";

    text_add(out, "\"");
    for (; *s; s++) {
        const char *at = strchr(plain, *s);

        if (at)
            text_add(out, "\\%c", escaped[at - plain]);
        else
            text_add_bytes(out, s, 1);
    }
    text_add(out, "\"");
}

static void add_separator(bool *first, struct text *out)
{
    text_add(out, *first ? " " : ", ");
    *first = false;
}

/* All operands but target and jip. */
static void add_operands(const struct isa_program *p, const struct isa_insn *in, bool *first,
                         struct text *out)
{
    const struct isa_op_info *op = &isa_ops[in->op];
    unsigned extra = isa_formats[op->format].extra;

    if (op->format == ISA_PRINT) {
        add_separator(first, out);
        add_string(p->strings[in->imm], out);
    }
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++) {
        if (slot == ISA_SLOT_A && (extra & ISA_X_ADDRESS)) {
            add_separator(first, out);
            add_address(&in->addr, out);
        }
        if (isa_slot_kinds(op, slot)) {
            add_separator(first, out);
            add_operand(in, slot, out);
        }
    }
    if (extra & ISA_X_SPECIAL) {
        add_separator(first, out);
        text_add(out, "%s", isa_vspecial_name((unsigned)in->imm));
    }
    if (op->format == ISA_ASSERT) {
        add_separator(first, out);
        add_string(p->strings[in->imm], out);
    }
}

static void add_place(uint32_t pc, const uint32_t *labels, bool *first, struct text *out)
{
    add_separator(first, out);
    if (pc == ISA_NO_PC)
        text_add(out, "-");
    else if (labels)
        text_add(out, "L%u", labels[pc]);
    else
        text_add(out, "pc %u", pc);
}

/* labels: number of the label at each pc of the program; NULL: targets as "pc N". */
static void add_insn(const struct isa_program *p, const struct isa_insn *in, const uint32_t *labels,
                     struct text *out)
{
    const struct isa_op_info *op = &isa_ops[in->op];
    bool first = true;

    if (in->pred) {
        const struct isa_operand mask = {ISA_O_M, 1, (uint16_t)(in->pred - 1)};

        text_add(out, in->pred_not ? "@!" : "@");
        add_register(&mask, out);
        text_add(out, " ");
    }
    text_add(out, "%s%s", op->name, in->flags & ISA_F_NOMASK ? ".nomask" : "");
    add_operands(p, in, &first, out);
    if (isa_formats[op->format].extra & ISA_X_TARGET)
        add_place(in->target, labels, &first, out);
    if (isa_formats[op->format].extra & ISA_X_JIP)
        add_place(in->jip, labels, &first, out);
}

void isa_disassemble_insn(const struct isa_program *program, const struct isa_insn *in,
                          struct text *out)
{
    add_insn(program, in, NULL, out);
}

static void add_header(const struct isa_kernel *k, struct text *out)
{
    const char *form = isa_form_name(k->forms);

    text_add(out, ".kernel %s\n", k->name);
    if (form)
        text_add(out, ".form %s\n", form);
    if (*k->tm_detector)
        text_add(out, ".tm_detector %s\n", k->tm_detector);
    if (*k->tm_serialise)
        text_add(out, ".tm_serialise %s\n", k->tm_serialise);
    for (uint32_t i = 0; i < k->nparams; i++)
        text_add(out, ".param %s %s%s\n", k->params[i].name,
                 isa_type_name((enum isa_type)k->params[i].type), k->params[i].is_array ? "[]" : "");
    text_add(out, ".vregs %u\n.sregs %u\n", k->vregs, k->sregs);
    if (k->lds_bytes)
        text_add(out, ".lds %u\n", k->lds_bytes);
}

/* Numbers the targets of a kernel's branches in order of pc; others stay UINT32_MAX. */
static void number_labels(const struct isa_program *p, const struct isa_kernel *k, uint32_t *labels)
{
    uint32_t next = 0;

    for (uint32_t pc = k->first; pc < k->end; pc++)
        labels[pc] = UINT32_MAX;
    for (uint32_t pc = k->first; pc < k->end; pc++) {
        const struct isa_insn *in = &p->insns[pc];

        if (isa_formats[in->format].extra & ISA_X_TARGET)
            labels[in->target] = 0;
        if ((isa_formats[in->format].extra & ISA_X_JIP) && in->jip != ISA_NO_PC)
            labels[in->jip] = 0;
    }
    for (uint32_t pc = k->first; pc < k->end; pc++)
        if (labels[pc] == 0)
            labels[pc] = next++;
}

static void add_kernel(const struct isa_program *p, const struct isa_kernel *k, uint32_t *labels,
                       struct text *out)
{
    add_header(k, out);
    number_labels(p, k, labels);
    for (uint32_t pc = k->first; pc < k->end; pc++) {
        if (labels[pc] != UINT32_MAX)
            text_add(out, "L%u:\n", labels[pc]);
        text_add(out, "    ");
        add_insn(p, &p->insns[pc], labels, out);
        text_add(out, "\n");
    }
    text_add(out, ".endkernel\n");
}

void isa_disassemble(const struct isa_program *program, struct text *out)
{
    uint32_t *labels = malloc((program->ninsns ? program->ninsns : 1) * sizeof *labels);

    if (!labels) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < program->nkernels; i++) {
        if (i)
            text_add(out, "\n");
        add_kernel(program, &program->kernels[i], labels, out);
    }
    free(labels);
}
