#include "isa/isa.h"

#include <string.h>

const struct isa_op_info isa_ops[ISA_NUM_OPS] = {
#define OP(name, ...) OP_NAMED(name, #name, __VA_ARGS__)
#define OP_NAMED(name, mnemonic, format, cls, dtype, atype, btype, ctype, flags, doc, ...)         \
    [OP_##name] = {mnemonic,  doc,       ISA_##format, ISA_C_##cls, T_##dtype,                     \
                   T_##atype, T_##btype, T_##ctype,    flags},
#include "isa/opcodes.def"
#undef OP
};

int isa_op_find(const char *name)
{
    for (int op = 0; op < ISA_NUM_OPS; op++) {
        if (strcmp(isa_ops[op].name, name) == 0)
            return op;
    }
    return -1;
}

unsigned isa_type_bytes(enum isa_type type)
{
    static const uint8_t bytes[] = {
        [T_NONE] = 0, [T_B32] = 4, [T_U32] = 4, [T_I32] = 4,  [T_F32] = 4,
        [T_B64] = 8,  [T_U64] = 8, [T_I64] = 8, [T_F64] = 8,  [T_U8] = 1,
        [T_I8] = 1,   [T_U16] = 2, [T_I16] = 2, [T_MASK] = 8, /* in a scalar pair */
    };

    return bytes[type];
}

unsigned isa_type_words(enum isa_type type)
{
    return (isa_type_bytes(type) + 3) / 4;
}
