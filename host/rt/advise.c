/* Advice about an array's pages. */
#include "host/rt/capture.h"

enum hd_status hd_array_advise(hd_runtime *rt, hd_array *a, enum sim_advice advice,
                               struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = array_given(rt, a, "advise", err);
    if (status == HD_OK)
        status = capture_refuses(rt, "advice", err);
    if (status != HD_OK)
        return status;
    if (a->kind != SIM_MANAGED)
        return hd_error_set(err, HD_BAD_INPUT, "advise-device-array", NULL, NULL,
                            "array %s is on the device for good; advice is for managed arrays",
                            a->name);
    rt_charge(rt, rt->cost->attach);
    status = rt_catch_up(rt, err);
    if (status == HD_OK)
        rt->ops->array_advise(rt->machine, a->id, advice);
    return status;
}
