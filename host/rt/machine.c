#include "host/rt/machine.h"

const struct rt_machine_ops rt_real_machine = {
    .free = sim_free,
    .set_limits = sim_set_limits,
    .set_mode = sim_set_mode,
    .set_sink = sim_set_sink,
    .cool = sim_cool,
    .um_totals = sim_um_totals,
    .array_new = sim_array_new,
    .array_free = sim_array_free,
    .array_data = sim_array_data,
    .array_address = sim_array_address,
    .array_attach = sim_array_attach,
    .array_advise = sim_array_advise,
    .host_access = sim_host_access,
    .queue_new = sim_queue_new,
    .queue_free = sim_queue_free,
    .submit = sim_submit,
    .done = sim_done,
    .now = sim_now,
    .run_until = sim_run_until,
    .wait = sim_wait,
};
