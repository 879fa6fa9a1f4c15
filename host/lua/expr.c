#include "host/lua/expr.h"

#include "sim/base/fmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- operations ------------------------------------------------------------------------ */

/* Lua's: the result has the sign of b. fmod is exact. */
static double modulo(double a, double b)
{
    const double r = fmod(a, b);

    return r * b < 0 ? r + b : r;
}

static double smaller(double a, double b)
{
    return b < a ? b : a;
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* Each works in place on a block: a[k] = f(a[k]), or f(a[k], b[k]). */
#define BLOCK_OP(name, formula)                                                                    \
    static void block_##name(double *a, const double *b, size_t count)                             \
    {                                                                                              \
        (void)b;                                                                                   \
        for (size_t k = 0; k < count; k++)                                                         \
            a[k] = (formula);                                                                      \
    }

BLOCK_OP(negate, -a[k])
BLOCK_OP(add, a[k] + b[k])
BLOCK_OP(subtract, a[k] - b[k])
BLOCK_OP(multiply, a[k] * b[k])
BLOCK_OP(divide, a[k] / b[k])
BLOCK_OP(modulo, modulo(a[k], b[k]))
BLOCK_OP(power, hd_pow(a[k], b[k]))
BLOCK_OP(less, a[k] < b[k])
BLOCK_OP(less_equal, a[k] <= b[k])
BLOCK_OP(greater, a[k] > b[k])
BLOCK_OP(greater_equal, a[k] >= b[k])
BLOCK_OP(equal, a[k] == b[k])
BLOCK_OP(unequal, a[k] != b[k])
BLOCK_OP(abs, fabs(a[k]))
BLOCK_OP(ceil, ceil(a[k]))
BLOCK_OP(cos, hd_cos(a[k]))
BLOCK_OP(exp, hd_exp(a[k]))
BLOCK_OP(floor, floor(a[k]))
BLOCK_OP(log, hd_log(a[k]))
BLOCK_OP(max, larger(a[k], b[k]))
BLOCK_OP(min, smaller(a[k], b[k]))
BLOCK_OP(sin, hd_sin(a[k]))
BLOCK_OP(sqrt, sqrt(a[k]))

enum precedence { P_NONE, P_COMPARE, P_SUM, P_PRODUCT, P_UNARY, P_POWER };

/* Codes before OP_FUNCTION push a value; the rest are rows with a function. */
enum { OP_NUMBER, OP_INDEX, OP_COUNT, OP_OLD, OP_NEGATE, OP_FIRST_BINARY };

struct operation {
    const char *name;
    unsigned arity;
    enum precedence precedence; /* P_NONE: called by name */
    void (*block)(double *a, const double *b, size_t count);
};

static const struct operation operations[] = {
    [OP_NUMBER] = {"", 0, P_NONE, NULL},
    [OP_INDEX] = {"i", 0, P_NONE, NULL},
    [OP_COUNT] = {"n", 0, P_NONE, NULL},
    [OP_OLD] = {"x", 0, P_NONE, NULL},
    [OP_NEGATE] = {"", 1, P_UNARY, block_negate},
    /* Operators: one whose name begins with another's stands first. */
    [OP_FIRST_BINARY] = {"<=", 2, P_COMPARE, block_less_equal},
    {">=", 2, P_COMPARE, block_greater_equal},
    {"==", 2, P_COMPARE, block_equal},
    {"~=", 2, P_COMPARE, block_unequal},
    {"<", 2, P_COMPARE, block_less},
    {">", 2, P_COMPARE, block_greater},
    {"+", 2, P_SUM, block_add},
    {"-", 2, P_SUM, block_subtract},
    {"*", 2, P_PRODUCT, block_multiply},
    {"/", 2, P_PRODUCT, block_divide},
    {"%", 2, P_PRODUCT, block_modulo},
    {"^", 2, P_POWER, block_power},
    {"abs", 1, P_NONE, block_abs},
    {"ceil", 1, P_NONE, block_ceil},
    {"cos", 1, P_NONE, block_cos},
    {"exp", 1, P_NONE, block_exp},
    {"floor", 1, P_NONE, block_floor},
    {"log", 1, P_NONE, block_log},
    {"max", 2, P_NONE, block_max},
    {"min", 2, P_NONE, block_min},
    {"sin", 1, P_NONE, block_sin},
    {"sqrt", 1, P_NONE, block_sqrt},
};

enum { NUM_OPERATIONS = sizeof operations / sizeof operations[0] };

/* ---- compiler --------------------------------------------------------------------------- */

struct parser {
    const char *text, *at;
    bool with_x;
    unsigned waiting; /* values on the stack at this point of the evaluation */
    unsigned nesting;
    struct expr *out;
    struct hd_error *err;
};

static bool fail(const struct parser *p, const char *at, const char *what)
{
    hd_error_set(
        p->err, HD_BAD_INPUT, "lua-expression",
        NULL, "+ - * / % ^, comparisons, i, n, pi, and x in map; abs ceil cos exp floor log max min sin sqrt",
        "expression \"%.80s\", column %d: %s", p->text, (int)(at - p->text) + 1, what);
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool emit(struct parser *p, unsigned code, double number)
{
    if (p->out->nops == EXPR_MAX_OPS)
        return fail(p, p->at, "the expression is too long");
    if (operations[code].arity == 0) {
        if (p->waiting == EXPR_MAX_DEPTH)
            return fail(p, p->at, "the expression is nested too deeply");
        p->waiting++;
    } else {
        p->waiting -= operations[code].arity - 1;
    }
    p->out->ops[p->out->nops++] = (struct expr_op){(uint8_t)code, number};
    return true;
}

static bool parse_level(struct parser *p, enum precedence level);

static bool parse_number(struct parser *p)
{
    char *end;
    const double number = strtod(p->at, &end);

    if (end == p->at || is_letter(*end) || is_digit(*end) || *end == '.')
        return fail(p, p->at, "this is not a number");
    if (!isfinite(number))
        return fail(p, p->at, "this number is too large for f64");
    if (!emit(p, OP_NUMBER, number))
        return false;
    p->at = end;
    return true;
}

static bool expect(struct parser *p, char c)
{
    char what[] = "expected ' '";

    skip_space(p);
    if (*p->at == c) {
        p->at++;
        return true;
    }
    what[sizeof what - 3] = c;
    return fail(p, p->at, what);
}

static bool parse_call(struct parser *p, unsigned code)
{
    if (!expect(p, '('))
        return false;
    for (unsigned i = 0; i < operations[code].arity; i++)
        if ((i > 0 && !expect(p, ',')) || !parse_level(p, P_COMPARE))
            return false;
    return expect(p, ')') && emit(p, code, 0);
}

static bool parse_name(struct parser *p)
{
    const char *name = p->at;
    size_t length = 0;

    while (is_letter(name[length]) || is_digit(name[length]))
        length++;
    p->at += length;
    if (length == 2 && memcmp(name, "pi", 2) == 0)
        return emit(p, OP_NUMBER, 0x1.921fb54442d18p+1);
    for (unsigned code = OP_INDEX; code < NUM_OPERATIONS; code++) {
        const struct operation *op = &operations[code];

        if (op->precedence != P_NONE || strlen(op->name) != length ||
            memcmp(name, op->name, length) != 0)
            continue;
        if (code == OP_OLD && !p->with_x)
            return fail(p, name, "only map has an old value x");
        return op->arity > 0 ? parse_call(p, code) : emit(p, code, 0);
    }
    return fail(p, name, "there is no such name");
}

static bool parse_primary(struct parser *p)
{
    skip_space(p);
    if (is_digit(*p->at) || *p->at == '.')
        return parse_number(p);
    if (is_letter(*p->at))
        return parse_name(p);
    if (*p->at != '(')
        return fail(p, p->at,
                    *p->at ? "expected a value" : "the expression ends where a value should be");
    p->at++;
    return parse_level(p, P_COMPARE) && expect(p, ')');
}

/* The operator of that level here, or 0. */
static unsigned match_operator(const struct parser *p, enum precedence level)
{
    for (unsigned code = OP_FIRST_BINARY; operations[code].precedence != P_NONE; code++) {
        const size_t length = strlen(operations[code].name);

        if (strncmp(p->at, operations[code].name, length) == 0)
            return operations[code].precedence == level ? code : 0;
    }
    return 0;
}

static bool parse_unary(struct parser *p)
{
    unsigned code;

    skip_space(p);
    if (*p->at == '-') {
        p->at++;
        return parse_level(p, P_UNARY) && emit(p, OP_NEGATE, 0);
    }
    if (!parse_primary(p))
        return false;
    skip_space(p);
    code = match_operator(p, P_POWER);
    if (code == 0)
        return true;
    p->at++;
    return parse_level(p, P_UNARY) && emit(p, code, 0);
}

static bool parse_binary(struct parser *p, enum precedence level)
{
    unsigned code;

    if (!parse_level(p, level + 1))
        return false;
    for (;;) {
        skip_space(p);
        code = match_operator(p, level);
        if (code == 0)
            return true;
        p->at += strlen(operations[code].name);
        if (!parse_level(p, level + 1) || !emit(p, code, 0))
            return false;
        if (level == P_COMPARE)
            return true;
    }
}

static bool parse_level(struct parser *p, enum precedence level)
{
    bool good;

    /* Levels between parentheses are at most P_UNARY deep each. */
    if (p->nesting == EXPR_MAX_DEPTH * P_UNARY)
        return fail(p, p->at, "the expression is nested too deeply");
    p->nesting++;
    good = level == P_UNARY ? parse_unary(p) : parse_binary(p, level);
    p->nesting--;
    return good;
}

enum hd_status expr_compile(const char *text, bool with_x, struct expr *out, struct hd_error *err)
{
    struct parser p = {.text = text, .at = text, .with_x = with_x, .out = out, .err = err};

    out->nops = 0;
    if (!parse_level(&p, P_COMPARE))
        return HD_BAD_INPUT;
    skip_space(&p);
    if (*p.at) {
        fail(&p, p.at, "expected an operator or the end");
        return HD_BAD_INPUT;
    }
    return HD_OK;
}

/* ---- evaluation ------------------------------------------------------------------------- */

static void push_block(const struct expr_op *op, uint64_t first, size_t count, uint64_t n,
                       const double *x, double *out)
{
    for (size_t k = 0; k < count; k++) {
        switch (op->code) {
        case OP_INDEX:
            out[k] = (double)(first + k);
            break;
        case OP_COUNT:
            out[k] = (double)n;
            break;
        case OP_OLD:
            out[k] = x[k];
            break;
        default:
            out[k] = op->number;
        }
    }
}

void expr_eval(const struct expr *e, uint64_t first, size_t count, uint64_t n, const double *x,
               double *out)
{
    double stack[EXPR_MAX_DEPTH + 1][EXPR_BLOCK]; /* one more: unary operations are handed the next, unused */
    size_t depth = 0;

    for (size_t i = 0; i < e->nops; i++) {
        const struct operation *op = &operations[e->ops[i].code];

        if (op->arity == 0) {
            push_block(&e->ops[i], first, count, n, x, stack[depth++]);
            continue;
        }
        if (op->arity == 2)
            depth--;
        op->block(stack[depth - 1], stack[depth], count);
    }
    memcpy(out, stack[0], count * sizeof *out);
}
