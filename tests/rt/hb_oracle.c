#include "tests/rt/hb_oracle.h"

bool hb_conflict(const struct hb_node *a, const struct hb_node *b)
{
    for (unsigned i = 0; i < a->naccesses; i++) {
        for (unsigned j = 0; j < b->naccesses; j++) {
            if (a->accesses[i].array == b->accesses[j].array &&
                (a->accesses[i].write || b->accesses[j].write))
                return true;
        }
    }
    return false;
}

size_t hb_violations(const struct hb_node *nodes, size_t n, size_t *earlier, size_t *later)
{
    size_t violations = 0;

    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) {
            if (nodes[i].end_ps <= nodes[j].start_ps || !hb_conflict(&nodes[i], &nodes[j]))
                continue;
            if (violations++ == 0) {
                *earlier = i;
                *later = j;
            }
        }
    }
    return violations;
}
