/* What is kept of the last launches of each kernel. */
#ifndef HD_HOST_RT_HISTORY_H
#define HD_HOST_RT_HISTORY_H

#include "host/heddle.h"

/* A ring of the last HD_HISTORY_MAX finished launches. */
struct rt_history {
    uint64_t count; /* of all that have finished */
    struct hd_past_launch last[HD_HISTORY_MAX];
};

/* A history for each kernel of a program, all empty at first; NULL when memory is short. */
struct rt_history **history_new(const struct isa_program *program);
void history_free(struct rt_history **all, const struct isa_program *program);

/* Makes the kernel's own history, if it has none yet; false when memory is short. */
bool history_open(struct rt_history **all, const struct isa_program *program,
                  const struct isa_kernel *kernel);
/* A launch has finished. Kernels that no handle was asked for are not followed. */
void history_add(hd_runtime *rt, const struct sim_kernel_record *r, uint32_t stream);

#endif
