#include "isa/rows.h"
#include "isa/semantics.h"
#include "isa/wave.h"
#include "sim/base/bits.h"

#include <string.h>

#define VALUE_B32(u) ((uint32_t)(u))
#define VALUE_U32(u) ((uint32_t)(u))
#define VALUE_I32(u) ((int32_t)(uint32_t)(u))
#define VALUE_F32(u) sem_from_f32((uint32_t)(u))
#define VALUE_B64(u) (u)
#define VALUE_U64(u) (u)
#define VALUE_I64(u) ((int64_t)(u))
#define VALUE_F64(u) sem_from_f64(u)
#define VALUE_NONE(u) ((void)(u), 0)

#define BITS_B32(x) (x)
#define BITS_U32(x) (x)
#define BITS_I32(x) ((uint32_t)(x))
#define BITS_F32(x) sem_canonical_f32(x)
#define BITS_B64(x) (x)
#define BITS_U64(x) (x)
#define BITS_I64(x) ((uint64_t)(x))
#define BITS_F64(x) sem_canonical_f64(x)

#define KIND_GATOMIC ~, ATOMIC
#define KIND_LATOMIC ~, ATOMIC
#define CASE_NONE(...)
#define CASE_ATOMIC(name, dtype, ctype, ...)                                                       \
    case OP_##name: {                                                                              \
        const __typeof__(VALUE_##dtype(memory)) M = VALUE_##dtype(memory), A = VALUE_##dtype(a);   \
        const __typeof__(VALUE_##ctype(c)) C = VALUE_##ctype(c);                                   \
        (void)M, (void)C;                                                                          \
        return BITS_##dtype(__VA_ARGS__);                                                          \
    }

uint64_t isa_atomic(uint16_t op, uint64_t memory, uint64_t a, uint64_t c)
{
    switch (op) {
#define OP(name, format, cls, dtype, atype, btype, ctype, flags, doc, ...)                         \
    ISA_PASTE(CASE_, ISA_KIND(KIND_, format))(name, dtype, ctype, __VA_ARGS__)
#include "isa/opcodes.def"
#undef OP
    default:
        return memory;
    }
}

/* Loops for the 32-bit opcodes, so that the opcode is looked at once. */
#define WORD_B32 WORD
#define WORD_U32 WORD
#define WORD_I32 WORD
#define WORD_F32 WORD
#define WORD_B64 NONE
#define WORD_U64 NONE
#define WORD_I64 NONE
#define WORD_F64 NONE
#define LOOP_NONE(...)
#define LOOP_WORD(name, dtype, ctype, ...)                                                         \
    case OP_##name:                                                                                \
        for (; lanes; lanes &= lanes - 1) {                                                        \
            unsigned lane = bits_first(lanes);                                                     \
            uint32_t memory, new, comparand = c ? c[lane] : 0;                                     \
                                                                                                   \
            memcpy(&memory, data + offset[lane], sizeof memory);                                   \
            {                                                                                      \
                const __typeof__(VALUE_##dtype(memory)) M = VALUE_##dtype(memory),                 \
                                                        A = VALUE_##dtype(a[lane]);                \
                const __typeof__(VALUE_##ctype(comparand)) C = VALUE_##ctype(comparand);           \
                                                                                                   \
                (void)M, (void)C;                                                                  \
                new = BITS_##dtype(__VA_ARGS__);                                                   \
            }                                                                                      \
            memcpy(data + offset[lane], &new, sizeof new);                                         \
            changed |= new ^ memory;                                                               \
            if (old)                                                                               \
                old[lane] = memory;                                                                \
        }                                                                                          \
        break;
#define LOOP_ATOMIC(name, dtype, ctype, ...)                                                       \
    ISA_PASTE(LOOP_, WORD_##dtype)(name, dtype, ctype, __VA_ARGS__)

bool isa_atomic_lanes(uint16_t op, uint64_t lanes, uint8_t *data, const uint64_t *offset,
                      const uint32_t *a, const uint32_t *c, uint32_t *old)
{
    uint32_t changed = 0;

    switch (op) {
#define OP(name, format, cls, dtype, atype, btype, ctype, flags, doc, ...)                         \
    ISA_PASTE(LOOP_, ISA_KIND(KIND_, format))(name, dtype, ctype, __VA_ARGS__)
#include "isa/opcodes.def"
#undef OP
    default:
        break;
    }
    return changed != 0;
}
