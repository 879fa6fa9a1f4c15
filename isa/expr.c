/* Constant expressions: integers of 64 bits and a sign, and floats. */
#include "isa/asm_internal.h"

#include <math.h>
#include <string.h>

static bool named_float(struct slice name, struct value *v)
{
    *v = (struct value){.kind = VALUE_FLOAT, .literal_inf = true};
    if (slice_is(name, "inf")) {
        v->d = INFINITY;
        v->f = INFINITY;
    } else if (slice_is(name, "nan")) {
        v->d = NAN;
        v->f = NAN;
    } else {
        return false;
    }
    return true;
}

/* What stands behind an opening parenthesis. */
static bool in_parens(struct assembler *as, uint32_t col, const char *where, struct value *v)
{
    bool good;

    if (as->parens == ASM_MAX_PARENS)
        return asm_fail(as, col, "asm-expression", "name parts of it with .const",
                        "more than %d nested parentheses", ASM_MAX_PARENS);
    as->parens++;
    good = asm_expr(as, v) && asm_want(as, ')', where);
    as->parens--;
    return good;
}

/* bits(N): the bits of the operand themselves, whatever its type. */
static bool bits_of(struct assembler *as, struct value *v)
{
    uint32_t col = asm_tok(as)->col;

    if (!asm_want(as, '(', "behind bits") || !in_parens(as, col, "behind the bits", v))
        return false;
    if (v->kind != VALUE_INT || v->i < 0)
        return asm_fail(as, col, "asm-operand-type", "write bits(0x7fc00001)",
                        "bits() takes an integer of 0 or more");
    v->kind = VALUE_BITS;
    return true;
}

static bool named_value(struct assembler *as, struct value *v)
{
    const struct token *t = asm_tok(as);
    const struct symbol *s;

    if (named_float(t->text, v)) {
        as->next++;
        return true;
    }
    if (slice_is(t->text, "bits")) {
        as->next++;
        return bits_of(as, v);
    }
    s = symtab_find(&as->kernel.locals, t->text);
    if (s)
        *v = (struct value){.kind = VALUE_INT, .i = s->value};
    else if ((s = symtab_find(&as->consts, t->text)) != NULL)
        *v = as->const_values.at[s->value];
    else
        return asm_fail(
            as, t->col, "asm-unknown-name",
            "constants come from .const, local memory from .local, parameters from .param",
            "unknown name `%.*s`", SLICE(t->text));
    as->next++;
    return true;
}

static bool primary(struct assembler *as, struct value *v)
{
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);

    switch (t->kind) {
    case TOK_NUMBER:
        as->next++;
        return asm_number(as, t, v);
    case TOK_CHAR:
        as->next++;
        return asm_char_value(as, t, v);
    case TOK_NAME:
        return named_value(as, v);
    default:
        if (asm_take(as, '('))
            return in_parens(as, t->col, "to close the parenthesis", v);
        return asm_fail(as, t->col, "asm-syntax", "", "expected a value, found `%.*s`", SLICE(text));
    }
}

static void negate(struct value *v)
{
    v->i = -v->i;
    v->d = -v->d;
    v->f = -v->f;
}

bool asm_factor(struct assembler *as, struct value *v)
{
    uint32_t col = asm_tok(as)->col;
    bool minus = false;

    while (asm_at(as, '-') || asm_at(as, '+')) {
        minus ^= asm_at(as, '-');
        as->next++;
    }
    if (!primary(as, v))
        return false;
    if (!minus)
        return true;
    if (v->kind == VALUE_BITS)
        return asm_fail(as, col, "asm-operand-type", "",
                        "bits() has no sign and takes no arithmetic");
    if (v->kind == VALUE_FLOAT && isnan(v->d))
        return asm_fail(as, col, "asm-operand-type", "write bits(0xffc00000)",
                        "nan has no sign: there is one canonical NaN");
    negate(v);
    return true;
}

static bool in_range(__int128 i)
{
    return i >= INT64_MIN && i <= (__int128)UINT64_MAX;
}

static bool int_op(struct assembler *as, uint32_t col, char op, const struct value *b,
                   struct value *a)
{
    __int128 r = 0;

    if (op == '/' && b->i == 0)
        return asm_fail(as, col, "asm-expression", "", "division by zero");
    if ((op == '<' || op == '>') && (b->i < 0 || b->i > 63))
        return asm_fail(as, col, "asm-expression", "a shift goes from 0 to 63", "a shift by %lld",
                        (long long)b->i);
    switch (op) {
    case '+':
        r = a->i + b->i;
        break;
    case '-':
        r = a->i - b->i;
        break;
    case '*':
        r = a->i * b->i;
        break; /* 65 bits each at most: -2^64 < i < 2^64 */
    case '/':
        r = a->i / b->i;
        break;
    case '<':
        r = a->i * ((__int128)1 << b->i);
        break;
    case '>':
        r = a->i >> b->i;
        break;
    }
    a->i = r;
    a->hex |= b->hex;
    if (!in_range(r))
        return asm_fail(as, col, "asm-range", "constant expressions have 64 bits",
                        "the result of `%c%s` does not fit in 64 bits", op,
                        op == '<' || op == '>' ? (char[]){op, '\0'} : "");
    return true;
}

static double as_double(const struct value *v)
{
    return v->kind == VALUE_INT ? (double)v->i : v->d;
}

static bool float_op(struct assembler *as, uint32_t col, char op, const struct value *b,
                     struct value *a)
{
    double x = as_double(a), y = as_double(b), r;

    switch (op) {
    case '+':
        r = x + y;
        break;
    case '-':
        r = x - y;
        break;
    case '*':
        r = x * y;
        break;
    case '/':
        r = x / y;
        break;
    default:
        return asm_fail(as, col, "asm-operand-type", "", "a float cannot be shifted");
    }
    *a = (struct value){.kind = VALUE_FLOAT, .literal_inf = true, .d = r, .f = (float)r};
    return true;
}

static bool apply(struct assembler *as, uint32_t col, char op, const struct value *b,
                  struct value *a)
{
    if (a->kind == VALUE_BITS || b->kind == VALUE_BITS)
        return asm_fail(as, col, "asm-operand-type", "",
                        "bits() has no sign and takes no arithmetic");
    if (a->kind == VALUE_INT && b->kind == VALUE_INT)
        return int_op(as, col, op, b, a);
    return float_op(as, col, op, b, a);
}

bool asm_product(struct assembler *as, struct value *v)
{
    if (!asm_factor(as, v))
        return false;
    while (asm_at(as, '*') || asm_at(as, '/')) {
        const struct token *t = asm_tok(as);
        char op = t->punct;
        uint32_t col = t->col;
        struct value b;

        as->next++;
        if (!asm_factor(as, &b) || !apply(as, col, op, &b, v))
            return false;
    }
    return true;
}

static bool sum(struct assembler *as, struct value *v)
{
    if (!asm_product(as, v))
        return false;
    while (asm_at(as, '+') || asm_at(as, '-')) {
        const struct token *t = asm_tok(as);
        char op = t->punct;
        uint32_t col = t->col;
        struct value b;

        as->next++;
        if (!asm_product(as, &b) || !apply(as, col, op, &b, v))
            return false;
    }
    return true;
}

bool asm_expr(struct assembler *as, struct value *v)
{
    if (!sum(as, v))
        return false;
    while (asm_at(as, '<') || asm_at(as, '>')) {
        const struct token *t = asm_tok(as);
        char op = t->punct;
        uint32_t col = t->col;
        struct value b;

        as->next++;
        if (!sum(as, &b) || !apply(as, col, op, &b, v))
            return false;
    }
    return true;
}

bool asm_value_int(struct assembler *as, const struct value *v, const char *what, int64_t min,
                   int64_t max, uint32_t col, int64_t *out)
{
    if (v->kind != VALUE_INT)
        return asm_fail(as, col, "asm-operand-type", "write it without point and exponent",
                        "%s must be an integer", what);
    if (v->i < min || v->i > max)
        return asm_fail(as, col, "asm-range", "", "%s must lie between %lld and %lld", what,
                        (long long)min, (long long)max);
    *out = (int64_t)v->i;
    return true;
}

bool asm_expr_int(struct assembler *as, const char *what, int64_t min, int64_t max, int64_t *out)
{
    uint32_t col = asm_tok(as)->col;
    struct value v;

    return asm_expr(as, &v) && asm_value_int(as, &v, what, min, max, col, out);
}
