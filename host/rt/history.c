#include "host/rt/history.h"

#include "host/rt/runtime.h"

#include <stdlib.h>
#include <string.h>

struct rt_history **history_new(const struct isa_program *program)
{
    return calloc(program->nkernels + 1, sizeof(struct rt_history *));
}

void history_free(struct rt_history **all, const struct isa_program *program)
{
    for (size_t i = 0; all && i < program->nkernels; i++)
        free(all[i]);
    free(all);
}

bool history_open(struct rt_history **all, const struct isa_program *program,
                  const struct isa_kernel *kernel)
{
    struct rt_history **slot = &all[kernel - program->kernels];

    if (!*slot)
        *slot = calloc(1, sizeof **slot);
    return *slot != NULL;
}

static struct rt_history *history_of(const hd_runtime *rt, const struct isa_program *program,
                                     const struct isa_kernel *kernel)
{
    for (size_t i = 0; i < rt->modules.len; i++) {
        const hd_module *m = rt->modules.at[i];

        if (m->program == program)
            return m->history[kernel - program->kernels];
    }
    return NULL;
}

void history_add(hd_runtime *rt, const struct sim_kernel_record *r, uint32_t stream)
{
    struct rt_history *h = history_of(rt, r->program, r->kernel);
    struct hd_past_launch *p;

    if (!h)
        return;
    p = &h->last[h->count++ % HD_HISTORY_MAX];
    memcpy(p->grid, r->grid, sizeof p->grid);
    memcpy(p->block, r->block, sizeof p->block);
    p->dynamic_lds = r->dynamic_lds;
    p->stream = stream;
    p->queued_ps = r->queued_ps;
    p->start_ps = r->start_ps;
    p->end_ps = r->end_ps;
}

enum hd_status hd_kernel_history(const hd_kernel *k, struct hd_past_launch *out, unsigned *n,
                                 struct hd_error *err)
{
    const struct rt_history *h = history_of(k->rt, k->program, k->kernel);
    enum hd_status status;

    *n = 0;
    if (rt_poisoned(k->rt, err))
        return k->rt->poison.status;
    status = rt_catch_up(k->rt, err);
    if (status != HD_OK || !h)
        return status;
    *n = h->count < HD_HISTORY_MAX ? (unsigned)h->count : HD_HISTORY_MAX;
    for (unsigned i = 0; i < *n; i++)
        out[i] = h->last[(h->count - *n + i) % HD_HISTORY_MAX];
    return HD_OK;
}
