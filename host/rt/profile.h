/* What calls cost the host. */
#ifndef HD_HOST_RT_PROFILE_H
#define HD_HOST_RT_PROFILE_H

#include <stdint.h>

/* Nanoseconds of the host's time, without what the call waits for. */
struct rt_profile {
    uint32_t launch; /* of a kernel */
    uint32_t copy;   /* putting a copy in a stream */
    uint32_t prefetch;
    uint32_t event_record;
    uint32_t event_wait; /* making a stream wait for an event */
    uint32_t event_query;
    uint32_t stream_new;
    uint32_t stream_sync; /* coming back from the wait for a stream or an event */
    uint32_t device_sync;
    uint32_t access;                        /* one host access, whatever its size */
    uint32_t attach;                        /* of an array to a stream */
    uint32_t graph_node;                    /* making a node of a graph by hand */
    uint32_t instantiate, instantiate_node; /* a graph; and for each of its nodes */
    uint32_t graph_launch, graph_launch_node;
    uint32_t dag; /* adding a computation to the graph */
};

/* So many per cent of each cost. */
void rt_profile_scale(struct rt_profile *out, const struct rt_profile *from, uint32_t percent);

extern const struct rt_profile profile_native, profile_grcuda;
extern const struct rt_profile profile_untimed; /* all 0: resets, warm-up, values only */

#endif
