#include "host/rt/runtime.h"

#include "host/rt/graph.h"
#include "host/rt/library.h"

#include "sim/base/checked.h"

#include <stdlib.h>
#include <string.h>

#define HOST_TIME_MAX (UINT64_C(1) << 63) /* far from overflow by the costs of calls */

/* ---- errors ------------------------------------------------------------------------------------ */

bool rt_poisoned(const hd_runtime *rt, struct hd_error *err)
{
    if (rt->poison.status == HD_OK)
        return false;
    if (err)
        *err = rt->poison;
    return true;
}

void rt_poison(hd_runtime *rt)
{
    if (rt->poison.status == HD_OK)
        rt->poison = rt->error;
}

enum hd_status rt_failed(hd_runtime *rt, struct hd_error *err)
{
    if (rt->error.status >= HD_SIM_FAILED)
        rt_poison(rt);
    if (err)
        *err = rt->error;
    return rt->error.status;
}

enum hd_status rt_no_memory(hd_runtime *rt, struct hd_error *err)
{
    hd_error_set(&rt->error, HD_SIM_FAILED, "memory", NULL, "use smaller arrays or fewer at once",
                 "the host has no memory left");
    return rt_failed(rt, err);
}

/* ---- life -------------------------------------------------------------------------------------- */

static void choose_policies(hd_runtime *rt)
{
    const struct rt_config *h = &rt->options.host;
    bool faults = rt->options.gpu.um_page_faults;

    rt->scheduler = rt_schedulers[h->scheduler];
    rt->prefetch = h->prefetch && faults;
    rt->attach = rt->scheduler->concurrent && (h->stream_attach || !faults);
    rt->legacy = h->default_stream == RT_DEFAULT_LEGACY;
    rt->timed = rt->options.timing;
    rt_profile_scale(&rt->profile, rt_profiles[h->profile], h->cost_percent);
    rt->cost = rt->timed ? &rt->profile : &profile_untimed;
    dag_init(&rt->dag, rt_dependencies[h->dependency], stream_left, rt);
}

enum hd_status rt_new_on(const struct hd_options *o, const struct rt_machine_ops *ops,
                         struct sim_machine *m, hd_runtime **out, struct hd_error *err)
{
    hd_runtime *rt = calloc(1, sizeof *rt);
    enum hd_status status;

    *out = NULL;
    if (!rt) {
        ops->free(m);
        return hd_no_memory(err, "a runtime");
    }
    rt->options = *o;
    rt->ops = ops;
    rt->machine = m;
    rt->region = HD_NO_REGION;
    rt->accessing = RT_NO_NODE;
    list_init(&rt->events);
    list_init(&rt->graphs);
    list_init(&rt->execs);
    list_init(&rt->libraries);
    choose_policies(rt);
    streams_init(&rt->streams);
    ops->set_limits(m, &o->limits);
    ops->set_mode(m, o->timing ? SIM_TIMED : SIM_VALUES);
    record_start(rt);
    status = streams_start(rt, err);
    if (status != HD_OK) {
        hd_runtime_free(rt);
        return status;
    }
    *out = rt;
    return HD_OK;
}

enum hd_status hd_runtime_new(const struct hd_options *o, hd_runtime **out, struct hd_error *err)
{
    struct sim_machine *m;
    enum hd_status status = sim_new(&o->gpu, o->lanes, &m, err);

    *out = NULL;
    if (status != HD_OK)
        return status;
    return rt_new_on(o, &rt_real_machine, m, out, err);
}

void hd_runtime_free(hd_runtime *rt)
{
    if (!rt)
        return;
    hd_capture_abort(rt);
    graphs_free(rt);
    libraries_free(rt);
    streams_free(rt);
    dag_free(&rt->dag);
    rt->ops->free(rt->machine);
    events_free(rt);
    for (size_t i = 0; i < rt->arrays.len; i++) {
        free(rt->arrays.at[i]->name);
        free(rt->arrays.at[i]);
    }
    for (size_t i = 0; i < rt->kernels.len; i++)
        free(rt->kernels.at[i]);
    for (size_t i = 0; i < rt->modules.len; i++) {
        history_free(rt->modules.at[i]->history, rt->modules.at[i]->program);
        isa_program_free(rt->modules.at[i]->program);
        free(rt->modules.at[i]->path);
        free(rt->modules.at[i]);
    }
    for (size_t i = 0; i < rt->region_names.len; i++)
        free(rt->region_names.at[i]);
    vec_free(&rt->arrays);
    vec_free(&rt->uid_of_id);
    vec_free(&rt->kernels);
    vec_free(&rt->modules);
    vec_free(&rt->region_names);
    free(rt);
}

/* ---- the host ---------------------------------------------------------------------------------- */

uint64_t hd_host_time(const hd_runtime *rt)
{
    return rt->host_ps;
}

enum hd_status hd_host_work(hd_runtime *rt, uint64_t ps, struct hd_error *err)
{
    uint64_t then;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    if (!rt->timed)
        return HD_OK;
    if (!u64_add(rt->host_ps, ps, &then) || then > HOST_TIME_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "host-time", NULL, NULL,
                            "the host's clock ends at 2^63 picoseconds, which is 106 days");
    rt->host_ps = then;
    return HD_OK;
}

enum hd_status hd_finish(hd_runtime *rt, struct hd_error *err)
{
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    return streams_drain(rt, err);
}

struct sim_machine *hd_machine(hd_runtime *rt)
{
    return rt->machine;
}

const struct hd_options *hd_runtime_options(const hd_runtime *rt)
{
    return &rt->options;
}
