#include "host/rt/capture.h"
#include "host/rt/library.h"

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

enum hd_status launch_bind(hd_runtime *rt, const struct hd_launch *l, struct rt_bound *out,
                           struct hd_error *err)
{
    struct rt_computation *c = &out->c;
    enum hd_status status;

    *c = (struct rt_computation){.name = l->kernel->kernel->name, .cost_ns = rt->cost->launch};
    if (l->kernel->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "kernel-foreign", NULL, NULL,
                            "kernel %s belongs to another runtime", c->name);
    status = fill_launch(l, &c->cmd.launch, err);
    if (status == HD_OK)
        status = args_bind(l->kernel, l->args, l->nargs, out->values, c, err);
    if (status != HD_OK)
        return status;
    for (unsigned i = 0; i < c->narrays; i++) {
        out->ids[i] = c->arrays[i]->id;
        out->writes[i] = !c->read_only[i];
    }
    c->cmd.kind = SIM_KERNEL;
    c->cmd.launch.narrays = c->narrays;
    return HD_OK;
}

void launch_point(struct rt_bound *b, uint64_t node)
{
    b->c.node = node;
    b->c.cmd.tag = record_tag(node);
    b->c.cmd.launch.args = b->values;
    b->c.cmd.launch.arrays = b->ids;
    b->c.cmd.launch.writes = b->writes;
}

enum hd_status hd_launch_kernel(hd_runtime *rt, const struct hd_launch *l, struct hd_error *err)
{
    struct rt_bound b;
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = launch_bind(rt, l, &b, err);
    if (status == HD_OK && l->stream)
        status = stream_given(rt, l->stream, &b.c.stream, err);
    if (status != HD_OK)
        return status;
    if (rt->capture)
        return capture_kernel(rt, &b, err);
    if (rt->library.now)
        return library_kernel(rt, &b, err);
    launch_point(&b, record_next_node(rt));
    return schedule_submit(rt, &b.c, err);
}
