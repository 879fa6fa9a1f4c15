#include "isa/format.h"

#include <string.h>

enum {
    VSI = ISA_KIND_V | ISA_KIND_S | ISA_KIND_IMM,
    SI = ISA_KIND_S | ISA_KIND_IMM,
    MASKS = ISA_KIND_M | ISA_KIND_EXEC,
    WHOLE = MASKS | ISA_KIND_S,
    LANES = ISA_X_LANES,
    GLOBAL = ISA_X_LANES | ISA_X_ADDRESS,
    LOCAL = GLOBAL | ISA_X_LOCAL,
};

const struct isa_format_info isa_formats[ISA_NUM_FORMATS] = {
    [ISA_VALU] = {ISA_KIND_V, VSI, VSI, VSI, LANES | ISA_X_RUN},
    [ISA_VSEL] = {ISA_KIND_V, VSI, VSI, ISA_KIND_M, LANES | ISA_X_RUN},
    [ISA_VCMP] = {ISA_KIND_M, VSI, VSI, 0, LANES | ISA_X_RUN},
    [ISA_VGET] = {ISA_KIND_V, 0, 0, 0, LANES | ISA_X_RUN | ISA_X_SPECIAL},
    [ISA_SALU] = {ISA_KIND_S, SI, SI, SI, ISA_X_RUN},
    [ISA_MASK_OP] = {WHOLE, WHOLE | ISA_KIND_IMM, WHOLE | ISA_KIND_IMM, 0, LANES | ISA_X_RUN},
    [ISA_SAVE_EXEC] = {ISA_KIND_S, WHOLE | ISA_KIND_IMM, 0, 0, ISA_X_RUN},
    [ISA_REDUCE] = {ISA_KIND_S, MASKS, 0, 0, LANES | ISA_X_RUN},
    [ISA_XLANE] = {ISA_KIND_V, ISA_KIND_V, VSI, VSI, LANES | ISA_X_RUN},
    [ISA_READLANE] = {ISA_KIND_S, ISA_KIND_V, SI, 0, LANES | ISA_X_RUN},
    [ISA_WRITELANE] = {ISA_KIND_V, SI, SI, 0, LANES | ISA_X_RUN},
    [ISA_CLOCK] = {ISA_KIND_S, 0, 0, 0, 0},
    [ISA_GLOAD] = {ISA_KIND_V, 0, 0, 0, GLOBAL},
    [ISA_GSTORE] = {0, ISA_KIND_V, 0, 0, GLOBAL},
    [ISA_GATOMIC] = {ISA_KIND_V, ISA_KIND_V, ISA_KIND_V, ISA_KIND_V, GLOBAL | ISA_X_D_OPTIONAL},
    [ISA_LLOAD] = {ISA_KIND_V, 0, 0, 0, LOCAL},
    [ISA_LSTORE] = {0, ISA_KIND_V, 0, 0, LOCAL},
    [ISA_LATOMIC] = {ISA_KIND_V, ISA_KIND_V, ISA_KIND_V, ISA_KIND_V, LOCAL | ISA_X_D_OPTIONAL},
    [ISA_FENCE] = {0, 0, 0, 0, 0},
    [ISA_BARRIER] = {0, 0, 0, 0, LANES},
    [ISA_JUMP] = {0, 0, 0, 0, ISA_X_TARGET},
    [ISA_BRANCH_S] = {0, ISA_KIND_S, 0, 0, ISA_X_TARGET},
    [ISA_BRANCH_M] = {0, MASKS, 0, 0, LANES | ISA_X_TARGET},
    [ISA_GOTO] = {0, 0, 0, 0, LANES | ISA_X_CONTROL},
    [ISA_GOTO_BACK] = {0, 0, 0, 0, LANES | ISA_X_CONTROL},
    [ISA_JOIN] = {0, 0, 0, 0, ISA_X_JIP},
    [ISA_PRINT] = {0, ISA_KIND_V | ISA_KIND_S | ISA_KIND_M, 0, 0, LANES | ISA_X_STRING},
    [ISA_ASSERT] = {0, ISA_KIND_M, 0, 0, LANES | ISA_X_STRING},
    [ISA_TXBEGIN] = {0, 0, 0, 0, 0},
    [ISA_TXCOMMIT] = {0, 0, 0, 0, 0},
    [ISA_NOP] = {0, 0, 0, 0, 0},
    [ISA_END] = {0, 0, 0, 0, LANES},
};

enum isa_type isa_slot_type(const struct isa_op_info *op, enum isa_slot slot)
{
    const uint8_t types[ISA_NUM_SLOTS] = {op->dtype, op->atype, op->btype, op->ctype};

    /* An atomic's dtype is the word in memory whether or not it returns the old value. */
    if (slot == ISA_SLOT_D && (isa_formats[op->format].extra & ISA_X_D_OPTIONAL) &&
        !(op->flags & ISA_F_RETURN))
        return T_NONE;
    return (enum isa_type)types[slot];
}

unsigned isa_slot_kinds(const struct isa_op_info *op, enum isa_slot slot)
{
    const struct isa_format_info *f = &isa_formats[op->format];
    const uint8_t kinds[ISA_NUM_SLOTS] = {f->d, f->a, f->b, f->c};

    return isa_slot_type(op, slot) == T_NONE ? 0 : kinds[slot];
}

struct isa_operand *isa_slot(struct isa_insn *in, enum isa_slot slot)
{
    struct isa_operand *slots[ISA_NUM_SLOTS] = {&in->d, &in->a, &in->b, &in->c};

    return slots[slot];
}

const struct isa_operand *isa_slot_of(const struct isa_insn *in, enum isa_slot slot)
{
    const struct isa_operand *slots[ISA_NUM_SLOTS] = {&in->d, &in->a, &in->b, &in->c};

    return slots[slot];
}

unsigned isa_operand_words(enum isa_type type, enum isa_operand_kind kind)
{
    switch (kind) {
    case ISA_O_V:
        return isa_type_words(type);
    case ISA_O_S: /* a whole lane mask is 64 bits */
        return type == T_MASK ? 2 : isa_type_words(type);
    case ISA_O_M:
    case ISA_O_EXEC:
        return 1;
    default:
        return 0;
    }
}

bool isa_takes_predicate(const struct isa_insn *in)
{
    if (!(isa_formats[isa_ops[in->op].format].extra & ISA_X_LANES))
        return false;
    /* mask operations on scalar pairs, EXEC and VCC are whole */
    return isa_ops[in->op].format != ISA_MASK_OP ||
           (in->d.kind == ISA_O_M && in->d.index != ISA_VCC);
}

bool isa_goes_on(const struct isa_insn *in)
{
    switch (isa_ops[in->op].format) {
    case ISA_JUMP:
        return false;
    case ISA_GOTO:
    case ISA_GOTO_BACK:
    case ISA_END:
        return in->pred != 0;
    default:
        return true;
    }
}

bool isa_takes_nomask(const struct isa_insn *in)
{
    return isa_takes_predicate(in) && !(isa_formats[isa_ops[in->op].format].extra & ISA_X_JIP);
}

static int find_name(const char *const *names, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] && strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return (int)i;
    return -1;
}

static const char *const type_names[] = {
    [T_NONE] = "none", [T_B32] = "b32", [T_U32] = "u32", [T_I32] = "i32",   [T_F32] = "f32",
    [T_B64] = "b64",   [T_U64] = "u64", [T_I64] = "i64", [T_F64] = "f64",   [T_U8] = "u8",
    [T_I8] = "i8",     [T_U16] = "u16", [T_I16] = "i16", [T_MASK] = "mask",
};
enum { NUM_TYPES = sizeof type_names / sizeof *type_names };

const char *isa_type_name(enum isa_type type)
{
    return type_names[type];
}

enum isa_type isa_type_find(const char *name, size_t len)
{
    int i = find_name(type_names, NUM_TYPES, name, len);

    return i < 0 ? T_NONE : (enum isa_type)i;
}

#define SV(name) [ISA_SV_##name - ISA_MAX_SREGS]
static const char *const sspecial_names[] = {
    SV(GROUP_X) = "%group_x",     SV(GROUP_Y) = "%group_y",
    SV(GROUP_Z) = "%group_z",     SV(GROUPS_X) = "%groups_x",
    SV(GROUPS_Y) = "%groups_y",   SV(GROUPS_Z) = "%groups_z",
    SV(THREADS_X) = "%threads_x", SV(THREADS_Y) = "%threads_y",
    SV(THREADS_Z) = "%threads_z", SV(WAVE) = "%wave",
    SV(WAVES) = "%waves",         SV(WIDTH) = "%width",
    SV(GROUP) = "%group",         SV(LOCAL_BYTES) = "%local_bytes",
};
#undef SV
enum { NUM_SSPECIALS = sizeof sspecial_names / sizeof *sspecial_names };
_Static_assert(NUM_SSPECIALS == ISA_SV_END - ISA_MAX_SREGS, "a name for each scalar special value");

const char *isa_sspecial_name(unsigned index)
{
    return index >= ISA_MAX_SREGS && index < ISA_SV_END ? sspecial_names[index - ISA_MAX_SREGS]
                                                        : NULL;
}

int isa_sspecial_find(const char *name, size_t len)
{
    int i = find_name(sspecial_names, NUM_SSPECIALS, name, len);

    return i < 0 ? -1 : i + ISA_MAX_SREGS;
}

static const char *const vspecial_names[ISA_VV_END] = {
    [ISA_VV_LANE] = "%lane",   [ISA_VV_TID] = "%tid",     [ISA_VV_TID_X] = "%tid_x",
    [ISA_VV_TID_Y] = "%tid_y", [ISA_VV_TID_Z] = "%tid_z", [ISA_VV_GID] = "%gid",
};

const char *isa_vspecial_name(unsigned index)
{
    return index < ISA_VV_END ? vspecial_names[index] : NULL;
}

int isa_vspecial_find(const char *name, size_t len)
{
    return find_name(vspecial_names, ISA_VV_END, name, len);
}

static const char *const form_names[] = {"predicated", "predicated-all", "goto", "exec"};
enum { NUM_FORMS = sizeof form_names / sizeof *form_names };

const char *isa_form_name(unsigned form)
{
    for (unsigned i = 0; i < NUM_FORMS; i++)
        if (form == 1u << i)
            return form_names[i];
    return NULL;
}

unsigned isa_form_find(const char *name, size_t len)
{
    int i = find_name(form_names, NUM_FORMS, name, len);

    return i < 0 ? 0 : 1u << i;
}

bool isa_is_choice(const char *s, size_t len)
{
    char last = len ? '-' : 'a';

    for (size_t i = 0; i < len; last = s[i++]) {
        bool letter = s[i] >= 'a' && s[i] <= 'z', digit = s[i] >= '0' && s[i] <= '9';

        if (!letter && !(digit && last != '-') && !(s[i] == '-' && last != '-'))
            return false;
    }
    return last != '-';
}

void isa_slot_syntax(const struct isa_op_info *op, enum isa_slot slot, struct text *out)
{
    static const struct {
        unsigned kind;
        const char *one, *pair;
    } names[] = {{ISA_KIND_V, "v", "v[pair]"},
                 {ISA_KIND_S, "s", "s[pair]"},
                 {ISA_KIND_M, "m", "m"},
                 {ISA_KIND_EXEC, "exec", "exec"},
                 {ISA_KIND_IMM, "imm", "imm"}};
    enum isa_type type = isa_slot_type(op, slot);
    unsigned kinds = isa_slot_kinds(op, slot);
    const char *bar = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool pair = isa_operand_words(type, names[i].kind == ISA_KIND_S ? ISA_O_S : ISA_O_V) == 2;

        if (!(kinds & names[i].kind))
            continue;
        text_add(out, "%s%s", bar, pair ? names[i].pair : names[i].one);
        bar = "|";
    }
}

static void add_part(struct text *out, bool *first, const char *part)
{
    text_add(out, "%s%s", *first ? " " : ", ", part);
    *first = false;
}

void isa_op_syntax(const struct isa_op_info *op, struct text *out)
{
    unsigned extra = isa_formats[op->format].extra;
    bool first = true;

    text_add(out, "%s", op->name);
    if (op->format == ISA_PRINT)
        add_part(out, &first, "\"text\"");
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++) {
        if (slot == ISA_SLOT_A && (extra & ISA_X_ADDRESS))
            add_part(out, &first, "[address]");
        if (isa_slot_kinds(op, slot)) {
            add_part(out, &first, "");
            isa_slot_syntax(op, slot, out);
        }
    }
    if (extra & ISA_X_SPECIAL)
        add_part(out, &first, "%special");
    if (extra & ISA_X_TARGET)
        add_part(out, &first, "label");
    if (extra & ISA_X_JIP)
        text_add(out, first ? " [label|-]" : "[, label]");
    if (op->format == ISA_ASSERT)
        add_part(out, &first, "\"text\"");
}
