/*
 * The scheduler by the letter of its rules and with no thought of speed: it scans all vertices, searches along child edges and walks
 * all streams. It takes the programs of rig.h (kernels, read, write, sync) and says the same of them in the same words.
 * Page faults, no attachment; new streams by reuse or always-new.
 */
#ifndef HD_TESTS_RT_REFERENCE_H
#define HD_TESTS_RT_REFERENCE_H

#include "sim/base/text.h"

#include <stdbool.h>

struct reference_rules {
    bool with_const, disjoint, reuse;
    unsigned max_streams;
};

/* Adds to both texts: "a->b[x]" and "a S1; b S1; read y: sync S1". */
void reference_run(const struct reference_rules *rules, const char *program, struct text *edges,
                   struct text *schedule);

#endif
