#include "host/config/json_scan.h"

#include "host/results/utf8.h"
#include "sim/base/vec.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Keys of the open objects, for duplicates: offset and length in the text, with the quotes. */
struct key {
    size_t at, len;
};

struct scanner {
    struct json_text *t;
    struct hd_error *err;
    size_t at;
    size_t depth;
    VEC(size_t) places;
    VEC(struct key) keys;
};

void json_scan_line(struct json_text *t, size_t offset, size_t *line, size_t *column)
{
    struct json_cursor *c = &t->last;

    if (c->line == 0 || offset < c->offset)
        *c = (struct json_cursor){.line = 1};
    for (; c->offset < offset && c->offset < t->len; c->offset++) {
        if (t->bytes[c->offset] == '\n') {
            c->line++;
            c->start = c->offset + 1;
        }
    }
    *line = c->line;
    *column = offset - c->start + 1;
}

__attribute__((format(printf, 4, 5))) static bool fail(struct scanner *s, size_t at,
                                                       const char *hint, const char *fmt, ...)
{
    char place[256], message[512];
    size_t line, column;
    va_list args;

    json_scan_line(s->t, at, &line, &column);
    snprintf(place, sizeof place, "%s:%zu:%zu", s->t->name, line, column);
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    hd_error_set(s->err, HD_BAD_INPUT, "json", place, hint, "%s", message);
    return false;
}

static bool short_of_memory(struct scanner *s)
{
    return fail(s, s->at, NULL, "not enough memory to read the file");
}

/* The byte at hand; 0 at the end, where no byte of valid JSON is 0 either. */
static char peek(const struct scanner *s)
{
    return s->at < s->t->len ? s->t->bytes[s->at] : '\0';
}

static void skip_space(struct scanner *s)
{
    while (s->at < s->t->len && strchr(" \t\r\n", s->t->bytes[s->at]) && s->t->bytes[s->at])
        s->at++;
}

/* "the end of the file", or the offending character in quotes. */
static const char *describe(const struct scanner *s, char *out, size_t size)
{
    unsigned char c = (unsigned char)peek(s);

    if (s->at >= s->t->len)
        snprintf(out, size, "the end of the file");
    else if (c > 0x20 && c < 0x7f)
        snprintf(out, size, "'%c'", c);
    else
        snprintf(out, size, "byte 0x%02x", c);
    return out;
}

static bool expected(struct scanner *s, const char *what, const char *hint)
{
    char found[32];

    return fail(s, s->at, hint, "expected %s, found %s", what, describe(s, found, sizeof found));
}

/* Four hexadecimal digits behind the 'u' where the scanner stands. */
static bool scan_code(struct scanner *s, size_t start, unsigned *code)
{
    *code = 0;
    for (size_t i = 1; i <= 4; i++) {
        char digit = s->at + i < s->t->len ? s->t->bytes[s->at + i] : '\0';
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *found = digit ? strchr(digits, digit) : NULL;

        if (!found)
            return fail(s, start, NULL, "\\u needs four hexadecimal digits");
        *code = *code * 16 + (unsigned)(found - digits) % 16;
    }
    s->at += 5;
    return true;
}

/* A character past U+FFFF is two escapes, first of D800 to DBFF, then of DC00 to DFFF. */
static bool scan_second_half(struct scanner *s, size_t start)
{
    unsigned code;

    if (s->at + 1 >= s->t->len || s->t->bytes[s->at] != '\\' || s->t->bytes[s->at + 1] != 'u')
        return fail(s, start, NULL, "half of a surrogate pair");
    s->at++;
    if (!scan_code(s, start, &code))
        return false;
    return (code >= 0xdc00 && code <= 0xdfff) || fail(s, start, NULL, "half of a surrogate pair");
}

static bool scan_escape(struct scanner *s)
{
    size_t start = s->at++;
    char c = peek(s);
    unsigned code;

    if (c && strchr("\"\\/bfnrt", c)) {
        s->at++;
        return true;
    }
    if (c != 'u')
        return fail(s, start, NULL, "unknown escape in a string");
    if (!scan_code(s, start, &code))
        return false;
    if (!code)
        return fail(s, start, NULL, "a string must not hold \\u0000");
    if (code >= 0xdc00 && code <= 0xdfff)
        return fail(s, start, NULL, "half of a surrogate pair");
    return code < 0xd800 || code > 0xdfff || scan_second_half(s, start);
}

static bool scan_string(struct scanner *s)
{
    size_t start = s->at++;

    while (peek(s) != '"' || s->at >= s->t->len) {
        size_t n = utf8_sequence(s->t->bytes + s->at, s->t->len - s->at);

        if (s->at >= s->t->len)
            return fail(s, start, NULL, "the string is not closed");
        if (n == 0)
            return fail(s, s->at, "save the file as UTF-8", "the file is not valid UTF-8");
        if ((unsigned char)peek(s) < 0x20)
            return fail(s, s->at, "write \\n, \\t or \\u00XX",
                        "a string must not hold control characters");
        if (peek(s) != '\\')
            s->at += n;
        else if (!scan_escape(s))
            return false;
    }
    s->at++;
    return true;
}

static bool digit_at(const struct scanner *s)
{
    return peek(s) >= '0' && peek(s) <= '9';
}

static bool scan_digits(struct scanner *s)
{
    if (!digit_at(s))
        return expected(s, "a digit", NULL);
    while (digit_at(s))
        s->at++;
    return true;
}

static bool scan_number(struct scanner *s)
{
    size_t start;

    if (peek(s) == '-')
        s->at++;
    start = s->at;
    if (!scan_digits(s))
        return false;
    if (s->t->bytes[start] == '0' && s->at > start + 1)
        return fail(s, start, "write 0x... numbers as strings", "a number must not begin with 0");
    if (peek(s) == '.') {
        s->at++;
        if (!scan_digits(s))
            return false;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        return scan_digits(s);
    }
    return true;
}

static bool scan_word(struct scanner *s)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);

        if (s->t->len - s->at >= len && memcmp(s->t->bytes + s->at, words[i], len) == 0) {
            s->at += len;
            return true;
        }
    }
    return expected(s, "a value",
                    peek(s) == '}' || peek(s) == ']' ? "is there a comma too many?" : NULL);
}

static bool scan_value(struct scanner *s);

/* Takes a key and refuses one that the object has already; `first` is where its keys begin. */
static bool scan_key(struct scanner *s, size_t first)
{
    struct key key = {.at = s->at};
    size_t i;

    if (peek(s) != '"')
        return expected(s, "a key in double quotes",
                        peek(s) == '}' ? "is there a comma too many?" : NULL);
    if (!scan_string(s))
        return false;
    if (s->keys.len - first == JSON_TEXT_MAX_KEYS)
        return fail(s, key.at, NULL, "an object with more than %d keys", JSON_TEXT_MAX_KEYS);
    key.len = s->at - key.at;
    for (i = first; i < s->keys.len; i++)
        if (s->keys.at[i].len == key.len &&
            memcmp(s->t->bytes + s->keys.at[i].at, s->t->bytes + key.at, key.len) == 0)
            return fail(s, key.at, NULL, "the key %.*s is there twice", (int)key.len,
                        s->t->bytes + key.at);
    if (!vec_push(&s->keys, key))
        return short_of_memory(s);
    skip_space(s);
    if (peek(s) != ':')
        return expected(s, "':' after the key", NULL);
    s->at++;
    return true;
}

/* The inside of an object or array, up to the closing bracket. */
static bool scan_members(struct scanner *s, bool object, size_t first)
{
    char close = object ? '}' : ']';

    skip_space(s);
    if (peek(s) == close)
        return true;
    for (;;) {
        skip_space(s);
        if (object && !scan_key(s, first))
            return false;
        if (!scan_value(s))
            return false;
        skip_space(s);
        if (peek(s) == close)
            return true;
        if (peek(s) != ',')
            return expected(s, object ? "',' or '}'" : "',' or ']'", NULL);
        s->at++;
    }
}

static bool scan_container(struct scanner *s)
{
    bool object = peek(s) == '{';
    size_t first = s->keys.len;

    if (s->depth == JSON_TEXT_MAX_DEPTH)
        return fail(s, s->at, NULL, "nested deeper than %d levels", JSON_TEXT_MAX_DEPTH);
    s->depth++;
    s->at++;
    if (!scan_members(s, object, first))
        return false;
    s->at++;
    s->depth--;
    s->keys.len = first;
    return true;
}

static bool scan_value(struct scanner *s)
{
    skip_space(s);
    if (!vec_push(&s->places, s->at))
        return short_of_memory(s);
    if (peek(s) == '{' || peek(s) == '[')
        return scan_container(s);
    if (peek(s) == '"')
        return scan_string(s);
    if (peek(s) == '-' || digit_at(s))
        return scan_number(s);
    return scan_word(s);
}

static bool scan_text(struct scanner *s)
{
    if (s->t->len >= 3 && memcmp(s->t->bytes, "\xef\xbb\xbf", 3) == 0)
        return fail(s, 0, "save the file as UTF-8 without it",
                    "the file begins with a byte order mark");
    if (!scan_value(s))
        return false;
    skip_space(s);
    if (s->at < s->t->len)
        return expected(s, "the end of the file", NULL);
    return true;
}

enum hd_status json_scan(struct json_text *t, struct hd_error *err)
{
    struct scanner s = {.t = t, .err = err};
    bool ok = scan_text(&s);

    vec_free(&s.keys);
    t->places = s.places.at;
    t->nplaces = s.places.len;
    return ok ? HD_OK : HD_BAD_INPUT;
}
