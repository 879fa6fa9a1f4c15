/*
 * The choices of the scheduler: what each kind of policy is, and the lists of them. A policy is one file with one
 * struct of functions and one row in registry.c, which gives it its name in configurations and in `heddle list`.
 */
#ifndef HD_HOST_RT_POLICIES_H
#define HD_HOST_RT_POLICIES_H

#include "host/rt/dag.h"
#include "host/rt/profile.h"

struct rt_computation;
struct stream_pool;

/*
 * When computations run. submit() puts one on the device and says when the host may go on; access() makes
 * the host wait for what it must before it touches the array.
 */
struct scheduler {
    bool concurrent; /* gives computations streams of their own */
    bool host_waits; /* for each computation, before it goes on */
    enum hd_status (*submit)(hd_runtime *rt, struct rt_computation *c, struct hd_error *err);
    enum hd_status (*access)(hd_runtime *rt, hd_array *a, bool read_only, uint64_t node,
                             struct hd_error *err);
};

/* The stream of a computation that inherits none. */
struct new_stream_policy {
    /* Takes a free stream, or NULL: one is made. */
    struct hd_stream *(*take)(struct stream_pool *pool);
    /* Everything on the stream is known to have finished. */
    void (*release)(struct stream_pool *pool, struct hd_stream *s);
};

/* The stream that a computation inherits from a parent. */
struct parent_stream_policy {
    /* An automatic stream of one of v's parents, or NULL: it inherits none. */
    struct hd_stream *(*inherit)(struct dag_vertex *v);
};

extern const struct scheduler scheduler_serial_sync, scheduler_serial_async,
    scheduler_parallel_async;
extern const struct dependency_policy dependency_with_const, dependency_no_const;
extern const struct new_stream_policy new_stream_always_new, new_stream_fifo, new_stream_reuse;
extern const struct parent_stream_policy parent_stream_disjoint, parent_stream_same_as_parent;

/* By the values of host.scheduler, host.dependency, host.new_stream, host.parent_stream and host.profile. */
extern const struct scheduler *const rt_schedulers[];
extern const struct dependency_policy *const rt_dependencies[];
extern const struct new_stream_policy *const rt_new_streams[];
extern const struct parent_stream_policy *const rt_parent_streams[];
extern const struct rt_profile *const rt_profiles[];

enum rt_default_stream { RT_DEFAULT_LEGACY, RT_DEFAULT_INDEPENDENT };

/* The same lists as names, for the parameter table. Each ends with a NULL name. */
extern const struct param_choice rt_choices_scheduler[], rt_choices_dependency[],
    rt_choices_new_stream[], rt_choices_parent_stream[], rt_choices_default_stream[],
    rt_choices_profile[];

#endif
