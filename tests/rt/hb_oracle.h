/*
 * The happens-before oracle: in a legal run every two computations that touch the same array, at least one of
 * them writing it, are ordered in time as they were called.
 */
#ifndef HD_TESTS_RT_HB_ORACLE_H
#define HD_TESTS_RT_HB_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HB_MAX_ACCESSES = 8 };

struct hb_access {
    uint32_t array;
    bool write;
};

/* A computation, in order of the calls. A host access starts and ends when its call returns. */
struct hb_node {
    uint64_t start_ps, end_ps;
    unsigned naccesses;
    struct hb_access accesses[HB_MAX_ACCESSES];
};

bool hb_conflict(const struct hb_node *a, const struct hb_node *b);

/* Conflicting pairs that are not ordered; the first one in *earlier and *later. */
size_t hb_violations(const struct hb_node *nodes, size_t n, size_t *earlier, size_t *later);

#endif
