/* Numbers as they are written. Nothing is ever cut: what does not fit is an error. */
#include "isa/asm_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool bad_number(struct assembler *as, const struct token *t, const char *hint)
{
    return asm_fail(as, t->col, "asm-number", hint, "`%.*s` is not a number", SLICE(t->text));
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static bool parse_digits(struct assembler *as, const struct token *t, size_t from, int base,
                         struct value *v)
{
    v->kind = VALUE_INT;
    for (size_t i = from; i < t->text.len; i++) {
        int digit = digit_value(t->text.at[i]);

        if (t->text.at[i] == '_' && i > from)
            continue;
        if (digit >= base)
            return bad_number(as, t, base == 2 ? "binary digits are 0 and 1" : "");
        v->i = v->i * base + digit;
        if (v->i > UINT64_MAX)
            return asm_fail(as, t->col, "asm-range", "the largest is 18446744073709551615",
                            "`%.*s` does not fit in 64 bits", SLICE(t->text));
    }
    return true;
}

/* True if a decimal or hexadecimal fraction has a digit other than 0 before its exponent. */
static bool has_nonzero_digit(const char *s, bool hex)
{
    for (size_t i = hex ? 2 : 0; s[i] && !strchr(hex ? "pP" : "eE", s[i]); i++)
        if (digit_value(s[i]) > 0 && digit_value(s[i]) < 16)
            return true;
    return false;
}

static bool parse_float(struct assembler *as, const struct token *t, bool hex, struct value *v)
{
    char text[512], *end;

    if (t->text.len >= sizeof text)
        return bad_number(as, t, "it has more than 511 characters");
    memcpy(text, t->text.at, t->text.len);
    text[t->text.len] = '\0';
    v->kind = VALUE_FLOAT;
    v->d = strtod(text, &end);
    if (*end || end == text)
        return bad_number(as, t, "a float looks like 1.5, 2e-3, 0x1.8p4, inf or nan");
    v->f = strtof(text, NULL);
    v->nonzero = has_nonzero_digit(text, hex);
    return true;
}

bool asm_number(struct assembler *as, const struct token *t, struct value *v)
{
    const char *s = t->text.at;
    size_t len = t->text.len;
    bool prefixed = len > 1 && s[0] == '0';
    bool hex = prefixed && (s[1] == 'x' || s[1] == 'X');

    *v = (struct value){0};
    if (hex || (prefixed && (s[1] == 'b' || s[1] == 'B'))) {
        if (hex && (memchr(s, 'p', len) || memchr(s, 'P', len) || memchr(s, '.', len)))
            return parse_float(as, t, true, v);
        v->hex = true;
        if (len == 2)
            return bad_number(as, t, hex ? "digits must follow 0x" : "digits must follow 0b");
        return parse_digits(as, t, 2, hex ? 16 : 2, v);
    }
    if (memchr(s, '.', len) || memchr(s, 'e', len) || memchr(s, 'E', len))
        return parse_float(as, t, false, v);
    if (prefixed)
        return bad_number(as, t, "a decimal number has no leading 0; octal does not exist");
    return parse_digits(as, t, 0, 10, v);
}
