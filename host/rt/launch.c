#include "host/rt/runtime.h"

#include <inttypes.h>

/* Unset dimensions are 1; the first must be set. */
static enum hd_status shape(const hd_kernel *k, const char *what, const uint64_t given[3],
                            uint32_t out[3], struct hd_error *err)
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t n = i > 0 && given[i] == 0 ? 1 : given[i];

        if (n == 0 || n > UINT32_MAX)
            return hd_error_set(err, HD_BAD_INPUT, "launch-shape", NULL, NULL,
                                "kernel %s: expected 1 to %" PRIu32 " %s, given %" PRIu64,
                                k->kernel->name, UINT32_MAX, what, n);
        out[i] = (uint32_t)n;
    }
    return HD_OK;
}

static enum hd_status fill_launch(const struct hd_launch *l, struct sim_launch *out,
                                  struct hd_error *err)
{
    const hd_kernel *k = l->kernel;
    enum hd_status status = shape(k, "blocks", l->grid, out->grid, err);

    if (status == HD_OK)
        status = shape(k, "threads", l->block, out->block, err);
    if (status != HD_OK)
        return status;
    if (l->dynamic_lds > UINT32_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "launch-local-memory", NULL, NULL,
                            "kernel %s: %" PRIu64 " bytes of local memory are past every limit",
                            k->kernel->name, l->dynamic_lds);
    out->program = k->program;
    out->kernel = k->kernel;
    out->dynamic_lds = (uint32_t)l->dynamic_lds;
    return HD_OK;
}

enum hd_status hd_launch_kernel(hd_runtime *rt, const struct hd_launch *l, struct hd_error *err)
{
    struct rt_computation c = {.name = l->kernel->kernel->name, .cost_ns = rt->cost->launch};
    uint64_t values[ISA_MAX_PARAMS];
    uint32_t ids[DAG_MAX_ARGS];
    bool writes[DAG_MAX_ARGS];
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    if (l->kernel->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "kernel-foreign", NULL, NULL,
                            "kernel %s belongs to another runtime", c.name);
    status = fill_launch(l, &c.cmd.launch, err);
    if (status == HD_OK)
        status = args_bind(l->kernel, l->args, l->nargs, values, &c, err);
    if (status == HD_OK && l->stream)
        status = stream_given(rt, l->stream, &c.stream, err);
    if (status != HD_OK)
        return status;
    for (unsigned i = 0; i < c.narrays; i++) {
        ids[i] = c.arrays[i]->id;
        writes[i] = !c.read_only[i];
    }
    c.node = record_next_node(rt);
    c.cmd.kind = SIM_KERNEL;
    c.cmd.tag = record_tag(c.node);
    c.cmd.launch.args = values;
    c.cmd.launch.arrays = ids;
    c.cmd.launch.writes = writes;
    c.cmd.launch.narrays = c.narrays;
    return schedule_submit(rt, &c, err);
}
