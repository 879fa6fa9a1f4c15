#include "isa/asm_internal.h"

#include <stdlib.h>
#include <string.h>

bool slice_is(struct slice s, const char *text)
{
    return strlen(text) == s.len && memcmp(s.at, text, s.len) == 0;
}

bool slice_same(struct slice a, struct slice b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* FNV-1a, 64 bits. */
static uint64_t hash(struct slice name)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)name.at[i]) * 1099511628211u;
    return h ^ (h >> 32);
}

/* Where the name is, or the free place where it would go. */
static struct symbol *place_of(const struct symtab *t, struct slice name)
{
    size_t i = hash(name) & (t->cap - 1);

    while (t->at[i].name.at && !slice_same(t->at[i].name, name))
        i = (i + 1) & (t->cap - 1);
    return &t->at[i];
}

struct symbol *symtab_find(const struct symtab *t, struct slice name)
{
    struct symbol *s;

    if (!t->len)
        return NULL;
    s = place_of(t, name);
    return s->name.at ? s : NULL;
}

static bool grow(struct symtab *t)
{
    struct symtab bigger = {.cap = t->cap ? t->cap * 2 : 64, .len = t->len};

    bigger.at = calloc(bigger.cap, sizeof *bigger.at);
    if (!bigger.at)
        return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->at[i].name.at)
            *place_of(&bigger, t->at[i].name) = t->at[i];
    free(t->at);
    *t = bigger;
    return true;
}

bool symtab_add(struct symtab *t, struct slice name, uint32_t value)
{
    if (t->len * 2 >= t->cap && !grow(t))
        return false;
    *place_of(t, name) = (struct symbol){name, value};
    t->len++;
    return true;
}

void symtab_clear(struct symtab *t)
{
    if (t->len)
        memset(t->at, 0, t->cap * sizeof *t->at);
    t->len = 0;
}

void symtab_free(struct symtab *t)
{
    free(t->at);
    *t = (struct symtab){0};
}
