#include "host/results/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (size_t)h;
}

static char **slot_of(char **slots, size_t cap, const char *text)
{
    size_t i = hash(text) & (cap - 1);

    while (slots[i] && strcmp(slots[i], text) != 0)
        i = (i + 1) & (cap - 1);
    return &slots[i];
}

static bool grow(struct names *n)
{
    size_t cap = n->cap ? n->cap * 2 : 64, i;
    char **slots = calloc(cap, sizeof *slots);

    if (!slots)
        return false;
    for (i = 0; i < n->cap; i++)
        if (n->slots[i])
            *slot_of(slots, cap, n->slots[i]) = n->slots[i];
    free(n->slots);
    n->slots = slots;
    n->cap = cap;
    return true;
}

const char *names_keep(struct names *n, const char *text)
{
    size_t len;
    char **slot;

    if (!text || (n->count * 2 >= n->cap && !grow(n)))
        return NULL;
    slot = slot_of(n->slots, n->cap, text);
    if (!*slot) {
        len = strlen(text) + 1;
        *slot = malloc(len);
        if (!*slot)
            return NULL;
        memcpy(*slot, text, len);
        n->count++;
    }
    return *slot;
}

void names_free(struct names *n)
{
    size_t i;

    for (i = 0; i < n->cap; i++)
        free(n->slots[i]);
    free(n->slots);
    memset(n, 0, sizeof *n);
}
