/*
 * Elements of arrays as a script sees them: integers are 64 bits, other numbers f64. u64
 * elements read and written one by one are the 64 bits of a Lua integer, as in Lua's own
 * unsigned functions (math.ult, "%x"). Nothing here knows of Lua.
 */
#ifndef HD_HOST_LUA_ELEMENT_H
#define HD_HOST_LUA_ELEMENT_H

#include "isa/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of the kind that the element type takes: i for integer types, f for the others. */
union element {
    int64_t i;
    double f;
};

struct element_type {
    enum isa_type type;
    const char *name;  /* "f32" */
    const char *descr; /* of the .npy format: "<f4" */
    unsigned bytes;
    bool is_float, is_unsigned;
    int64_t min, max; /* of what may be written; of u64 the whole range of int64_t */

    /* One element, at any alignment that fits its type. */
    union element (*load)(const void *at);
    void (*store)(void *at, union element value);
    /* n elements to f64; integers past 2^53 are rounded. */
    void (*to_f64)(double *to, const void *from, size_t n);
    /*
     * n values from f64: float types round to nearest, integer types take whole numbers in range. Returns how
     * many were stored: fewer than n stops before the first that does not fit.
     */
    size_t (*from_f64)(void *to, const double *from, size_t n);
};

enum { ELEMENT_TYPES = 10 };
extern const struct element_type element_types[ELEMENT_TYPES];

/* NULL if there is no such type. */
const struct element_type *element_type_named(const char *name);

/* Writes one value n times. */
void element_fill(const struct element_type *t, void *to, union element value, size_t n);

#endif
