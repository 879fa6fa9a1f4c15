/* Names that outlive what they were taken from: each text is kept once. */
#ifndef HD_HOST_RESULTS_NAMES_H
#define HD_HOST_RESULTS_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct names {
    char **slots; /* open addressing; NULL is free */
    size_t count, cap;
};

/* The kept copy of text, valid until names_free; NULL for NULL, or when memory is short. */
const char *names_keep(struct names *n, const char *text);
void names_free(struct names *n);

#endif
