/*
 * The machine behind a runtime, as a table of functions: sim/ in a real run, a fake with kernels of
 * given durations in tests of the scheduler. Each has the contract of the function of its name in sim/sim.h.
 */
#ifndef HD_HOST_RT_MACHINE_H
#define HD_HOST_RT_MACHINE_H

#include "sim/sim.h"

struct rt_machine_ops {
    void (*free)(struct sim_machine *m);
    void (*set_limits)(struct sim_machine *m, const struct sim_limits *limits);
    void (*set_mode)(struct sim_machine *m, enum sim_mode mode);
    void (*set_sink)(struct sim_machine *m, const struct sim_sink *sink);
    void (*cool)(struct sim_machine *m);

    enum hd_status (*array_new)(struct sim_machine *m, const struct sim_array_desc *desc,
                                uint32_t *id, struct hd_error *err);
    enum hd_status (*array_free)(struct sim_machine *m, uint32_t id, struct hd_error *err);
    void *(*array_data)(struct sim_machine *m, uint32_t id);
    uint64_t (*array_address)(const struct sim_machine *m, uint32_t id);
    void (*array_attach)(struct sim_machine *m, uint32_t id, int32_t queue_or_attach);
    void (*array_advise)(struct sim_machine *m, uint32_t id, enum sim_advice advice);
    uint64_t (*host_access)(struct sim_machine *m, const struct sim_host_access *access);

    enum hd_status (*queue_new)(struct sim_machine *m, uint32_t *queue, struct hd_error *err);
    void (*queue_free)(struct sim_machine *m, uint32_t queue);
    enum hd_status (*submit)(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                             uint64_t *ticket, struct hd_error *err);
    bool (*done)(const struct sim_machine *m, uint64_t ticket);

    void (*um_totals)(const struct sim_machine *m, struct sim_um_totals *out);
    uint64_t (*now)(const struct sim_machine *m);
    enum hd_status (*run_until)(struct sim_machine *m, uint64_t time_ps, struct hd_error *err);
    enum hd_status (*wait)(struct sim_machine *m, uint64_t ticket, struct hd_error *err);
};

extern const struct rt_machine_ops rt_real_machine;

#endif
