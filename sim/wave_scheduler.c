#include "sim/wave_scheduler.h"

#include <stddef.h>

#define LIST(_)                                                                                    \
    _(lrr, "loose round robin: the next ready wavefront after the one that issued last")           \
    _(gto, "greedy then oldest: the one that issued last while it can, else the oldest")           \
    _(oldest, "the oldest ready wavefront")                                                        \
    _(rotating, "the SIMD units in turn, a cycle each; within one the oldest ready wavefront")

const struct wave_scheduler *const wave_schedulers[] = {
#define ROW(name, doc) &wave_scheduler_##name,
    LIST(ROW)
#undef ROW
        NULL,
};

const struct param_choice wave_scheduler_choices[] = {
#define ROW(name, doc) {#name, doc},
    LIST(ROW)
#undef ROW
        {NULL, NULL},
};
