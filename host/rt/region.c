/* Resets, regions and checks: what of a program is measured. */
#include "host/rt/capture.h"
#include "host/rt/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enters a phase. Nothing runs at its borders, so that no computation is half measured. */
static enum hd_status enter(hd_runtime *rt, enum rt_phase phase, bool warmup, struct hd_error *err)
{
    enum hd_status status = streams_drain(rt, err);

    if (status != HD_OK)
        return status;
    rt->phase = phase;
    rt->warmup = warmup;
    rt->quiet = phase == RT_RESET || warmup;
    rt->timed = rt->options.timing && !rt->quiet;
    rt->cost = rt->timed ? &rt->profile : &profile_untimed;
    rt->ops->set_mode(rt->machine, rt->timed ? SIM_TIMED : SIM_VALUES);
    return HD_OK;
}

static enum hd_status border_allowed(const hd_runtime *rt, const char *call, struct hd_error *err)
{
    enum hd_status status = capture_refuses(rt, call, err);

    return status == HD_OK ? library_refuses(rt, call, err) : status;
}

static enum hd_status must_be(const hd_runtime *rt, enum rt_phase phase, const char *call,
                              struct hd_error *err)
{
    static const char *const where[] = {
        [RT_OUTSIDE] = "outside regions", [RT_RESET] = "in a reset", [RT_REGION] = "in a region"};

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    if (rt->phase == phase)
        return border_allowed(rt, call, err);
    return hd_error_set(err, HD_BAD_INPUT, "region-order", NULL,
                        "resets and regions follow each other and are not nested",
                        "%s is called %s, not %s", call, where[rt->phase], where[phase]);
}

enum hd_status hd_reset_begin(hd_runtime *rt, struct hd_error *err)
{
    enum hd_status status = must_be(rt, RT_OUTSIDE, "reset", err);

    return status == HD_OK ? enter(rt, RT_RESET, false, err) : status;
}

enum hd_status hd_reset_end(hd_runtime *rt, struct hd_error *err)
{
    enum hd_status status = must_be(rt, RT_RESET, "the end of a reset", err);

    return status == HD_OK ? enter(rt, RT_OUTSIDE, false, err) : status;
}

/* Index of the name in order of first use; the length of the list when memory is short. */
static size_t name_index(hd_runtime *rt, const char *name)
{
    size_t i = 0;
    char *copy;

    while (i < rt->region_names.len && strcmp(rt->region_names.at[i], name) != 0)
        i++;
    if (i < rt->region_names.len)
        return i;
    copy = malloc(strlen(name) + 1);
    if (copy)
        strcpy(copy, name);
    if (!copy || !vec_push(&rt->region_names, copy))
        free(copy);
    return i;
}

enum hd_status hd_region_begin(hd_runtime *rt, const char *name, uint32_t iteration, bool warmup,
                               struct hd_error *err)
{
    enum hd_status status = must_be(rt, RT_OUTSIDE, "a region", err);
    size_t index;

    if (status != HD_OK)
        return status;
    index = name_index(rt, name);
    if (index == rt->region_names.len)
        return rt_no_memory(rt, err);
    status = enter(rt, RT_REGION, warmup, err);
    if (status != HD_OK)
        return status;
    if (rt->timed)
        rt->ops->cool(rt->machine);
    rt->region = (uint32_t)index;
    rt->iteration = iteration;
    rt->region_start_ps = rt->host_ps;
    hd_um_totals(rt, &rt->region_start_um);
    return HD_OK;
}

void hd_um_totals(const hd_runtime *rt, struct sim_um_totals *out)
{
    rt->ops->um_totals(rt->machine, out);
}

/* Since the start of the region. */
static struct sim_um_totals um_of_region(const hd_runtime *rt)
{
    const struct sim_um_totals *from = &rt->region_start_um;
    struct sim_um_totals t;

    hd_um_totals(rt, &t);
    t.fault_batches -= from->fault_batches;
    t.page_faults -= from->page_faults;
    t.fault_duplicates -= from->fault_duplicates;
    t.fault_bytes -= from->fault_bytes;
    t.evictions -= from->evictions;
    t.write_backs -= from->write_backs;
    t.handler_busy_ps -= from->handler_busy_ps;
    return t;
}

enum hd_status hd_region_end(hd_runtime *rt, struct hd_error *err)
{
    enum hd_status status = must_be(rt, RT_REGION, "the end of a region", err);
    struct hd_region_row row;

    if (status == HD_OK)
        status = streams_drain(rt, err);
    if (status != HD_OK)
        return status;
    row = (struct hd_region_row){
        .name = rt->region_names.at[rt->region],
        .region = rt->region,
        .iteration = rt->iteration,
        .host_start_ps = rt->region_start_ps,
        .host_end_ps = rt->host_ps,
        .um = um_of_region(rt),
    };
    if (!rt->quiet && rt->recorder.region)
        rt->recorder.region(rt->recorder.user, &row);
    rt->region = HD_NO_REGION;
    rt->iteration = 0;
    return enter(rt, RT_OUTSIDE, false, err);
}

enum hd_status hd_check_value(hd_runtime *rt, const char *name, double got, double expected,
                              double tolerance, struct hd_error *err)
{
    struct hd_check check = {.got = got, .expected = expected, .tolerance = tolerance};

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    check.passed = got == expected || (isfinite(expected) &&
                                       fabs(got - expected) <= tolerance * fmax(1, fabs(expected)));
    snprintf(check.name, sizeof check.name, "%s", name);
    if (!rt->quiet && rt->recorder.check)
        rt->recorder.check(rt->recorder.user, &check);
    return HD_OK;
}
