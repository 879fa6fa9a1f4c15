#include "host/lua/element.h"

#include <math.h>
#include <string.h>

/* A double is in range of an integer type when limits[0] <= v < limits[1]; both are powers of two or 0, so exact. */
#define INTEGER_ELEMENT(name, ctype, low, past)                                                    \
    static union element load_##name(const void *at)                                               \
    {                                                                                              \
        return (union element){.i = (int64_t) * (const ctype *)at};                                \
    }                                                                                              \
    static void store_##name(void *at, union element value)                                        \
    {                                                                                              \
        *(ctype *)at = (ctype)value.i;                                                             \
    }                                                                                              \
    static void to_f64_##name(double *to, const void *from, size_t n)                              \
    {                                                                                              \
        const ctype *elem = from;                                                                  \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (double)elem[i];                                                               \
    }                                                                                              \
    static size_t from_f64_##name(void *to, const double *from, size_t n)                          \
    {                                                                                              \
        ctype *elem = to;                                                                          \
                                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            if (!(from[i] >= (low) && from[i] < (past)) || from[i] != floor(from[i]))              \
                return i;                                                                          \
            elem[i] = (ctype)from[i];                                                              \
        }                                                                                          \
        return n;                                                                                  \
    }

#define FLOAT_ELEMENT(name, ctype)                                                                 \
    static union element load_##name(const void *at)                                               \
    {                                                                                              \
        return (union element){.f = (double)*(const ctype *)at};                                   \
    }                                                                                              \
    static void store_##name(void *at, union element value)                                        \
    {                                                                                              \
        *(ctype *)at = (ctype)value.f;                                                             \
    }                                                                                              \
    static void to_f64_##name(double *to, const void *from, size_t n)                              \
    {                                                                                              \
        const ctype *elem = from;                                                                  \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (double)elem[i];                                                               \
    }                                                                                              \
    static size_t from_f64_##name(void *to, const double *from, size_t n)                          \
    {                                                                                              \
        ctype *elem = to;                                                                          \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            elem[i] = (ctype)from[i];                                                              \
        return n;                                                                                  \
    }

INTEGER_ELEMENT(i8, int8_t, -0x1p7, 0x1p7)
INTEGER_ELEMENT(u8, uint8_t, 0.0, 0x1p8)
INTEGER_ELEMENT(i16, int16_t, -0x1p15, 0x1p15)
INTEGER_ELEMENT(u16, uint16_t, 0.0, 0x1p16)
INTEGER_ELEMENT(i32, int32_t, -0x1p31, 0x1p31)
INTEGER_ELEMENT(u32, uint32_t, 0.0, 0x1p32)
INTEGER_ELEMENT(i64, int64_t, -0x1p63, 0x1p63)
INTEGER_ELEMENT(u64, uint64_t, 0.0, 0x1p64)
FLOAT_ELEMENT(f32, float)
FLOAT_ELEMENT(f64, double)

#define FUNCTIONS(name) load_##name, store_##name, to_f64_##name, from_f64_##name

const struct element_type element_types[ELEMENT_TYPES] = {
    {T_I8, "i8", "|i1", 1, false, false, INT8_MIN, INT8_MAX, FUNCTIONS(i8)},
    {T_U8, "u8", "|u1", 1, false, true, 0, UINT8_MAX, FUNCTIONS(u8)},
    {T_I16, "i16", "<i2", 2, false, false, INT16_MIN, INT16_MAX, FUNCTIONS(i16)},
    {T_U16, "u16", "<u2", 2, false, true, 0, UINT16_MAX, FUNCTIONS(u16)},
    {T_I32, "i32", "<i4", 4, false, false, INT32_MIN, INT32_MAX, FUNCTIONS(i32)},
    {T_U32, "u32", "<u4", 4, false, true, 0, UINT32_MAX, FUNCTIONS(u32)},
    {T_I64, "i64", "<i8", 8, false, false, INT64_MIN, INT64_MAX, FUNCTIONS(i64)},
    {T_U64, "u64", "<u8", 8, false, true, INT64_MIN, INT64_MAX, FUNCTIONS(u64)},
    {T_F32, "f32", "<f4", 4, true, false, 0, 0, FUNCTIONS(f32)},
    {T_F64, "f64", "<f8", 8, true, false, 0, 0, FUNCTIONS(f64)},
};

const struct element_type *element_type_named(const char *name)
{
    for (size_t i = 0; i < ELEMENT_TYPES; i++)
        if (strcmp(element_types[i].name, name) == 0)
            return &element_types[i];
    return NULL;
}

void element_fill(const struct element_type *t, void *to, union element value, size_t n)
{
    char *bytes = to;
    size_t done = 1;

    if (n == 0)
        return;
    t->store(to, value);
    while (done < n) {
        const size_t more = done < n - done ? done : n - done;

        memcpy(bytes + done * t->bytes, bytes, more * t->bytes);
        done += more;
    }
}
