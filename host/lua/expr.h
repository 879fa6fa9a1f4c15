/*
 * Expressions of fill and map: one formula, computed in f64 for each element.
 *
 *     expr     = sum [("<" | "<=" | ">" | ">=" | "==" | "~=") sum]        1 or 0
 *     sum      = product {("+" | "-") product}
 *     product  = unary {("*" | "/" | "%") unary}
 *     unary    = "-" unary | power
 *     power    = primary ["^" unary]                                     right to left
 *     primary  = number | "pi" | "i" | "n" | "x" | "(" expr ")" | function "(" expr {"," expr} ")"
 *
 * Precedence and % (the sign of the divisor) are Lua's. i is the index of the element, n the number of elements,
 * x the old value (map only). min and max keep their first argument unless the second is smaller,
 * or larger, so a NaN that comes second is dropped. The functions give the same bits on every machine.
 */
#ifndef HD_HOST_LUA_EXPR_H
#define HD_HOST_LUA_EXPR_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EXPR_BLOCK = 128,    /* elements computed at once */
    EXPR_MAX_OPS = 256,  /* numbers, names, operators and calls of an expression */
    EXPR_MAX_DEPTH = 32, /* values that wait for their operator; also parentheses */
};

struct expr_op {
    uint8_t code;  /* index in the table of operations */
    double number; /* of a literal */
};

struct expr {
    size_t nops;
    struct expr_op ops[EXPR_MAX_OPS]; /* postfix order */
};

/* with_x: whether the expression may use x. HD_BAD_INPUT has the column, from 1, in its message. */
enum hd_status expr_compile(const char *text, bool with_x, struct expr *out, struct hd_error *err);

/* Values of elements first .. first + count - 1 of n; count <= EXPR_BLOCK, x is their old values or NULL. */
void expr_eval(const struct expr *e, uint64_t first, size_t count, uint64_t n, const double *x,
               double *out);

#endif
