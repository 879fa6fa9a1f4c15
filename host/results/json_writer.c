#include "host/results/json_writer.h"

#include "host/results/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_text(void *user, const char *bytes, size_t len)
{
    struct text *t = user;

    text_add_bytes(t, bytes, len);
    return !t->failed;
}

struct json_out json_to_text(struct text *t)
{
    return (struct json_out){t, write_text};
}

void json_start(struct json_writer *w, struct json_out out, enum json_layout layout)
{
    w->out = out;
    w->layout = layout;
    w->depth = 0;
    w->untimed = false;
    w->failed = false;
    w->written = 0;
    w->used = 0;
}

static void flush(struct json_writer *w)
{
    if (!w->failed && w->used > 0 && !w->out.write(w->out.user, w->buffer, w->used))
        w->failed = true;
    w->used = 0;
}

static void put(struct json_writer *w, const char *bytes, size_t len)
{
    w->written += len;
    while (len > 0) {
        size_t room = sizeof w->buffer - w->used;
        size_t n = len < room ? len : room;

        memcpy(w->buffer + w->used, bytes, n);
        w->used += n;
        bytes += n;
        len -= n;
        if (w->used == sizeof w->buffer)
            flush(w);
    }
}

static void put_str(struct json_writer *w, const char *s)
{
    put(w, s, strlen(s));
}

static void new_line(struct json_writer *w, unsigned depth)
{
    put(w, "\n", 1);
    while (depth-- > 0)
        put(w, "  ", 2);
}

static void put_escaped(struct json_writer *w, const char *s)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    size_t left = strlen(s);

    put(w, "\"", 1);
    while (left > 0) {
        size_t n = utf8_sequence(s, left);
        const char *special = n == 1 ? strchr(plain, *s) : NULL;

        if (n == 0) {
            put_str(w, "\xef\xbf\xbd");
            n = 1;
        } else if (special) {
            char pair[2] = {'\\', letter[special - plain]};

            put(w, pair, 2);
        } else if (n == 1 && (unsigned char)*s < 0x20) {
            char code[8];

            snprintf(code, sizeof code, "\\u%04x", (unsigned)*s);
            put_str(w, code);
        } else {
            put(w, s, n);
        }
        s += n;
        left -= n;
    }
    put(w, "\"", 1);
}

/* What stands before a value: comma, line break, key. */
static void lead(struct json_writer *w, const char *key)
{
    if (w->depth > 0) {
        bool broken = w->layout == JSON_PRETTY && !w->stack[w->depth - 1].inlined;

        if (w->stack[w->depth - 1].array != (key == NULL))
            w->failed = true;
        if (w->stack[w->depth - 1].used)
            put_str(w, broken || w->layout == JSON_COMPACT ? "," : ", ");
        w->stack[w->depth - 1].used = true;
        if (broken)
            new_line(w, w->depth);
    }
    if (key) {
        put_escaped(w, key);
        put_str(w, w->layout == JSON_PRETTY ? ": " : ":");
    }
}

static void open_container(struct json_writer *w, const char *key, bool array, bool inlined)
{
    lead(w, key);
    if (w->depth == JSON_MAX_DEPTH) {
        w->failed = true;
        return;
    }
    w->stack[w->depth].array = array;
    w->stack[w->depth].inlined = inlined || (w->depth > 0 && w->stack[w->depth - 1].inlined);
    w->stack[w->depth].used = false;
    w->depth++;
    put(w, array ? "[" : "{", 1);
}

void json_object(struct json_writer *w, const char *key)
{
    open_container(w, key, false, false);
}

void json_array(struct json_writer *w, const char *key)
{
    open_container(w, key, true, false);
}

void json_row_object(struct json_writer *w, const char *key)
{
    open_container(w, key, false, true);
}

void json_row_array(struct json_writer *w, const char *key)
{
    open_container(w, key, true, true);
}

void json_end(struct json_writer *w)
{
    if (w->depth == 0) {
        w->failed = true;
        return;
    }
    w->depth--;
    if (w->layout == JSON_PRETTY && w->stack[w->depth].used && !w->stack[w->depth].inlined)
        new_line(w, w->depth);
    put(w, w->stack[w->depth].array ? "]" : "}", 1);
}

bool json_finish(struct json_writer *w)
{
    put(w, "\n", 1);
    flush(w);
    return !w->failed && w->depth == 0;
}

void json_raw(struct json_writer *w, const char *key, const char *json)
{
    lead(w, key);
    put_str(w, json);
}

void json_null(struct json_writer *w, const char *key)
{
    json_raw(w, key, "null");
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
    json_raw(w, key, value ? "true" : "false");
}

void json_u64(struct json_writer *w, const char *key, uint64_t value)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_raw(w, key, digits);
}

void json_i64(struct json_writer *w, const char *key, int64_t value)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%" PRId64, value);
    json_raw(w, key, digits);
}

void json_ns(struct json_writer *w, const char *key, uint64_t ps)
{
    char digits[48];

    if (ps == JSON_NO_TIME || w->untimed) {
        json_null(w, key);
        return;
    }
    snprintf(digits, sizeof digits, "%" PRIu64 ".%03" PRIu64, ps / 1000, ps % 1000);
    json_raw(w, key, digits);
}

void json_us(struct json_writer *w, const char *key, uint64_t ps)
{
    char digits[48];

    snprintf(digits, sizeof digits, "%" PRIu64 ".%06" PRIu64, ps / 1000000, ps % 1000000);
    json_raw(w, key, digits);
}

void json_format_double(char *out, size_t size, double value)
{
    int precision;
    char *p;

    for (precision = 15; precision <= 17; precision++) {
        snprintf(out, size, "%.*g", precision, value);
        if (strtod(out, NULL) == value)
            break;
    }
    /* A program that links the library may have set a locale with another decimal point. */
    for (p = out; *p; p++)
        if (!strchr("0123456789+-eE.", *p))
            *p = '.';
}

void json_f64(struct json_writer *w, const char *key, double value)
{
    char digits[40];

    if (!isfinite(value)) {
        json_null(w, key);
        return;
    }
    json_format_double(digits, sizeof digits, value);
    json_raw(w, key, digits);
}

void json_text(struct json_writer *w, const char *key, const char *value)
{
    if (!value) {
        json_null(w, key);
        return;
    }
    lead(w, key);
    put_escaped(w, value);
}
