#include "host/rt/runtime.h"

void rt_charge(hd_runtime *rt, uint32_t ns)
{
    rt->host_ps += (uint64_t)ns * 1000;
}

/* The machine is over, whatever the status; that of a device too small for the program is HD_BAD_INPUT. */
static enum hd_status machine_failed(hd_runtime *rt, struct hd_error *err)
{
    rt_poison(rt);
    return rt_failed(rt, err);
}

enum hd_status rt_catch_up(hd_runtime *rt, struct hd_error *err)
{
    bool watched = watch_pause(rt);
    enum hd_status status = rt->ops->run_until(rt->machine, rt->host_ps, &rt->error);

    watch_resume(rt, watched);
    return status == HD_OK ? HD_OK : machine_failed(rt, err);
}

enum hd_status rt_wait(hd_runtime *rt, uint64_t ticket, struct hd_error *err)
{
    bool watched = watch_pause(rt);
    enum hd_status status = rt_catch_up(rt, err);
    uint64_t now;

    if (status == HD_OK && rt->ops->wait(rt->machine, ticket, &rt->error) != HD_OK)
        status = machine_failed(rt, err);
    watch_resume(rt, watched);
    if (status != HD_OK)
        return status;
    now = rt->ops->now(rt->machine);
    if (now > rt->host_ps) {
        record_wait(rt, now);
        rt->host_ps = now;
    }
    return HD_OK;
}
