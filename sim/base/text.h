/* A growing piece of text. A failed allocation is remembered in .failed and checked once at the end. */
#ifndef HD_SIM_BASE_TEXT_H
#define HD_SIM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *at; /* NUL-terminated once anything was added; NULL when empty */
    size_t len, cap;
    bool failed;
};

void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *t, const char *bytes, size_t len);
void text_free(struct text *t);

/* The text so far, "" when empty. Valid until the next change. */
const char *text_str(const struct text *t);

#endif
