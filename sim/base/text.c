#include "sim/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct text *t, size_t more)
{
    size_t want = t->len + more + 1;
    size_t cap = t->cap ? t->cap : 128;
    char *p;

    if (t->failed || want <= t->cap)
        return !t->failed;
    while (cap < want)
        cap *= 2;
    p = realloc(t->at, cap);
    if (!p) {
        t->failed = true;
        return false;
    }
    t->at = p;
    t->cap = cap;
    return true;
}

void text_add_bytes(struct text *t, const char *bytes, size_t len)
{
    if (!make_room(t, len))
        return;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
}

void text_add(struct text *t, const char *fmt, ...)
{
    va_list args, again;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && make_room(t, (size_t)n)) {
        vsnprintf(t->at + t->len, (size_t)n + 1, fmt, again);
        t->len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void text_free(struct text *t)
{
    free(t->at);
    memset(t, 0, sizeof *t);
}

const char *text_str(const struct text *t)
{
    return t->at ? t->at : "";
}
