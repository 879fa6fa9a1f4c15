#include "isa/manual.h"

#include "isa/format.h"

static const struct {
    const char *name, *title;
} formats[ISA_NUM_FORMATS] = {
    [ISA_VALU] = {"VALU", "Vector arithmetic, logic and moves"},
    [ISA_VSEL] = {"VSEL", "Vector select"},
    [ISA_VCMP] = {"VCMP", "Vector comparisons"},
    [ISA_VGET] = {"VGET", "Vector special values"},
    [ISA_SALU] = {"SALU", "Scalar arithmetic, logic and comparisons"},
    [ISA_MASK_OP] = {"MASK_OP", "Mask logic"},
    [ISA_SAVE_EXEC] = {"SAVE_EXEC", "Mask logic that saves EXEC"},
    [ISA_REDUCE] = {"REDUCE", "Reductions of a mask"},
    [ISA_XLANE] = {"XLANE", "Moves between lanes"},
    [ISA_READLANE] = {"READLANE", "A lane to a scalar"},
    [ISA_WRITELANE] = {"WRITELANE", "A scalar to a lane"},
    [ISA_CLOCK] = {"CLOCK", "The clock"},
    [ISA_GLOAD] = {"GLOAD", "Global loads"},
    [ISA_GSTORE] = {"GSTORE", "Global stores"},
    [ISA_GATOMIC] = {"GATOMIC", "Global atomics"},
    [ISA_LLOAD] = {"LLOAD", "Local loads"},
    [ISA_LSTORE] = {"LSTORE", "Local stores"},
    [ISA_LATOMIC] = {"LATOMIC", "Local atomics"},
    [ISA_FENCE] = {"FENCE", "Fence"},
    [ISA_BARRIER] = {"BARRIER", "Barrier"},
    [ISA_JUMP] = {"JUMP", "Jump"},
    [ISA_BRANCH_S] = {"BRANCH_S", "Branches on a scalar"},
    [ISA_BRANCH_M] = {"BRANCH_M", "Branches on a mask"},
    [ISA_GOTO] = {"GOTO", "Goto"},
    [ISA_GOTO_BACK] = {"GOTO_BACK", "Goto back"},
    [ISA_JOIN] = {"JOIN", "Join"},
    [ISA_PRINT] = {"PRINT", "Print"},
    [ISA_ASSERT] = {"ASSERT", "Assert"},
    [ISA_TXBEGIN] = {"TXBEGIN", "Begin of a transaction"},
    [ISA_TXCOMMIT] = {"TXCOMMIT", "End of a transaction"},
    [ISA_NOP] = {"NOP", "No operation"},
    [ISA_END] = {"END", "End"},
};

static const char *const classes[ISA_NUM_CLASSES] = {
    [ISA_C_ALU] = "alu", [ISA_C_MUL] = "mul",   [ISA_C_CVT] = "cvt",     [ISA_C_SFU] = "sfu",
    [ISA_C_F64] = "f64", [ISA_C_SALU] = "salu", [ISA_C_XLANE] = "xlane", [ISA_C_BRANCH] = "branch",
    [ISA_C_LDS] = "lds", [ISA_C_MEM] = "mem",   [ISA_C_SYNC] = "sync",
};

/* A table's cell: bars would end it. */
static void add_cell(const char *s, struct text *out)
{
    for (; *s; s++)
        text_add(out, *s == '|' ? "\\|" : "%c", *s);
}

static void add_row(const struct isa_op_info *op, struct text *out)
{
    struct text syntax = {0};

    isa_op_syntax(op, &syntax);
    text_add(out, "| `%s` | ", op->name);
    add_cell(text_str(&syntax), out);
    text_add(out, " | %s | ", classes[op->cls]);
    add_cell(op->doc, out);
    text_add(out, " |\n");
    text_free(&syntax);
}

static void add_specials(struct text *out)
{
    text_add(out, "\n## Special values\n\nScalar, anywhere a 32-bit scalar source may stand:");
    for (unsigned i = ISA_MAX_SREGS; i < ISA_SV_END; i++)
        text_add(out, " `%s`", isa_sspecial_name(i));
    text_add(out, ".\nVector, read by `v_get_u32`:");
    for (unsigned i = 0; i < ISA_VV_END; i++)
        text_add(out, " `%s`", isa_vspecial_name(i));
    text_add(out, ".\n");
}

void isa_manual(struct text *out)
{
    text_add(out,
             "# Opcodes\n\nd is the destination; a, b and c are the sources, in the order of the "
             "operands. `s[pair]` and `v[pair]` are aligned pairs, low word first.\n");
    for (int format = 0; format < ISA_NUM_FORMATS; format++) {
        text_add(out,
                 "\n## %s (%s)\n\n| mnemonic | written | class | meaning |\n|---|---|---|---|\n",
                 formats[format].title, formats[format].name);
        for (int op = 0; op < ISA_NUM_OPS; op++)
            if (isa_ops[op].format == format)
                add_row(&isa_ops[op], out);
    }
    add_specials(out);
}
