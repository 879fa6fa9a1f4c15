/* The calls of the scheduler, and the time of this machine that it takes itself. */
#include "host/rt/runtime.h"

#include <time.h>

/* ---- the watch --------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void watch_start(struct rt_watch *w)
{
    w->runs = true;
    w->since_ns = now_ns();
}

static void watch_stop(struct rt_watch *w)
{
    w->total_ns += now_ns() - w->since_ns;
    w->runs = false;
}

bool watch_pause(hd_runtime *rt)
{
    bool ran = rt->watch.runs;

    if (ran)
        watch_stop(&rt->watch);
    return ran;
}

void watch_resume(hd_runtime *rt, bool ran)
{
    if (ran)
        watch_start(&rt->watch);
}

/* ---- calls ------------------------------------------------------------------------------------- */

enum hd_status schedule_submit(hd_runtime *rt, struct rt_computation *c, struct hd_error *err)
{
    enum hd_status status;

    watch_start(&rt->watch);
    status = rt->scheduler->submit(rt, c, err);
    watch_stop(&rt->watch);
    rt->watch.calls++;
    return status;
}

enum hd_status schedule_access(hd_runtime *rt, hd_array *a, bool read_only, uint64_t node,
                               struct hd_error *err)
{
    enum hd_status status;

    watch_start(&rt->watch);
    status = rt->scheduler->access(rt, a, read_only, node, err);
    watch_stop(&rt->watch);
    rt->watch.calls++;
    return status;
}

void hd_schedule_work(const hd_runtime *rt, uint64_t *calls, double *seconds)
{
    *calls = rt->watch.calls;
    *seconds = (double)rt->watch.total_ns * 1e-9;
}
