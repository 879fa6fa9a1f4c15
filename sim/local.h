/* An access to local memory, for the files that take it apart. */
#ifndef HD_SIM_LOCAL_H
#define HD_SIM_LOCAL_H

#include "sim/device.h"

/* The access in hand. */
struct local {
    const struct isa_insn *in;
    uint64_t active;
    unsigned width, bytes, shift; /* lanes; bytes a lane; from index to bytes */
    bool atomic;
    const uint32_t *index;
    int64_t first; /* address of the first active lane */
    const struct local_pattern *pattern;
    uint8_t *lowest; /* the word of the lowest address */
};

static inline int64_t local_address(const struct local *x, unsigned lane)
{
    return x->first + x->pattern->low + x->pattern->offset[lane];
}

/* Finds and checks the addresses of w->next for lanes, at least one; false on a fault, which is recorded. */
bool local_find(struct sim_machine *m, struct wavefront *w, uint64_t active, struct local *x);
/* HD_PROBE_LOCAL. */
void local_tell_probe(struct sim_machine *m, const struct wavefront *w, const struct local *x,
                      struct local_passes passes);

#endif
