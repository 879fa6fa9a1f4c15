#include "host/rt/runtime.h"

void rt_charge(hd_runtime *rt, uint32_t ns)
{
    rt->host_ps += (uint64_t)ns * 1000;
}

enum hd_status rt_catch_up(hd_runtime *rt, struct hd_error *err)
{
    if (rt->ops->run_until(rt->machine, rt->host_ps, &rt->error) != HD_OK)
        return rt_failed(rt, err);
    return HD_OK;
}

enum hd_status rt_wait(hd_runtime *rt, uint64_t ticket, struct hd_error *err)
{
    enum hd_status status = rt_catch_up(rt, err);
    uint64_t now;

    if (status != HD_OK)
        return status;
    if (rt->ops->wait(rt->machine, ticket, &rt->error) != HD_OK)
        return rt_failed(rt, err);
    now = rt->ops->now(rt->machine);
    if (now > rt->host_ps)
        rt->host_ps = now;
    return HD_OK;
}
