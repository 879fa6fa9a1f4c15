/*
 * The name that a mistyped one was probably meant to be, by edit distance (insert, delete, replace or
 * swap of neighbours). A name is near if it is at most 3 edits away, and at most half its length.
 *
 *     struct nearest n = nearest_start(typed);
 *     for (...)
 *         nearest_offer(&n, names[i]);
 *     if (n.best) ...did you mean n.best?...
 */
#ifndef HD_SIM_BASE_NEAREST_H
#define HD_SIM_BASE_NEAREST_H

struct nearest {
    const char *typed;
    const char *best; /* the nearest so far, the first of equals; NULL if none is near */
    unsigned distance;
};

struct nearest nearest_start(const char *typed);
void nearest_offer(struct nearest *n, const char *name);

#endif
