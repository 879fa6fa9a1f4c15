/* The lists of choices, by hand and in the order of `heddle list`: a row is the struct, its name, what it is. */
#include "host/rt/policies.h"

#define SCHEDULERS(_)                                                                              \
    _(scheduler_serial_sync, "serial-sync",                                                        \
      "one at a time on the default stream; the host waits for each")                              \
    _(scheduler_serial_async, "serial-async",                                                      \
      "one after the other on the default stream; host accesses wait for it")                      \
    _(scheduler_parallel_async, "parallel-async",                                                  \
      "a graph of dependencies found at run time, on as many streams as it takes")

#define DEPENDENCIES(_)                                                                            \
    _(dependency_with_const, "with-const", "readers of an array do not wait for each other")       \
    _(dependency_no_const, "no-const", "every argument counts as written")

#define NEW_STREAMS(_)                                                                             \
    _(new_stream_always_new, "always-new", "a stream is made each time")                           \
    _(new_stream_fifo, "fifo", "the stream that has been free longest")                            \
    _(new_stream_reuse, "reuse", "the free stream of the smallest number")

#define PARENT_STREAMS(_)                                                                          \
    _(parent_stream_disjoint, "disjoint", "the first parent's whose stream no other child has")    \
    _(parent_stream_same_as_parent, "same-as-parent", "the first parent's")

#define PROFILES(_)                                                                                \
    _(profile_native, "native", "calls of a C program: a few microseconds a launch")               \
    _(profile_grcuda, "grcuda", "GrCUDA on the Java virtual machine: about 0.1 ms a launch")

#define CHOICE(object, name, doc) {name, doc},
#define OBJECT(object, name, doc) &object,

const struct param_choice rt_choices_scheduler[] = {SCHEDULERS(CHOICE){NULL, NULL}};
const struct scheduler *const rt_schedulers[] = {SCHEDULERS(OBJECT)};

const struct param_choice rt_choices_dependency[] = {DEPENDENCIES(CHOICE){NULL, NULL}};
const struct dependency_policy *const rt_dependencies[] = {DEPENDENCIES(OBJECT)};

const struct param_choice rt_choices_new_stream[] = {NEW_STREAMS(CHOICE){NULL, NULL}};
const struct new_stream_policy *const rt_new_streams[] = {NEW_STREAMS(OBJECT)};

const struct param_choice rt_choices_parent_stream[] = {PARENT_STREAMS(CHOICE){NULL, NULL}};
const struct parent_stream_policy *const rt_parent_streams[] = {PARENT_STREAMS(OBJECT)};

const struct param_choice rt_choices_profile[] = {PROFILES(CHOICE){NULL, NULL}};
const struct rt_profile *const rt_profiles[] = {PROFILES(OBJECT)};

/* In the order of enum rt_default_stream. */
const struct param_choice rt_choices_default_stream[] = {
    {"legacy", "work on the default stream waits for all other streams, and they for it"},
    {"independent", "the default stream is a stream like the others"},
    {NULL, NULL},
};
