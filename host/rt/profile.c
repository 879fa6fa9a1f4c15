#include "host/rt/profile.h"

#include <stddef.h>
#include <string.h>

/*
 * Graphs by hand, in both profiles: they are programs in C++ also where GrCUDA is compared with them. For the graph of 20 kernels of
 * 2.9 us in NVIDIA, "Getting started with CUDA Graphs": 3.4 us a kernel, so 10 us a launch beside the kernels; with 3 us of way to
 * the device and 1 us of return from the wait 6 us are left for the call. That is 2 us and 0.2 us a node, which is
 * also what NVIDIA gives for CUDA 11.8 in "Constant Time Launch for Straight-Line CUDA Graphs". Making and instantiating that
 * graph takes 400 us once; no source tells how much of it grows with the nodes: the split below keeps the sum.
 */
#define GRAPH_COSTS                                                                                \
    .graph_node = 2000, .instantiate = 200000, .instantiate_node = 8000, .graph_launch = 2000,     \
    .graph_launch_node = 200

/*
 * A program in C or C++.
 * - launch: 3.8 us a kernel when kernels of 2.9 us are launched back to back without waiting, so that the host is
 *   the bound; 9.6 us with a wait after each, which leaves 2.9 us for the way to the device and the return from
 *   the wait (NVIDIA, "Getting started with CUDA Graphs", developer.nvidia.com/blog/cuda-graphs).
 *   The way to the device is launch.latency_ns of the machine; 1 us of return is left.
 * - event_record: 400,000 records a second with time stamps, ten times as many without, as here
 *   (github.com/NVIDIA/NVTX issue 3). event_wait: record and wait together about 1 us
 *   (github.com/chelsea0x3b/cudarc pull request 335). event_query like a record.
 * - stream_new: several calls' worth; no published figure found. prefetch, copy: driver calls that
 *   put a command in a stream, like a launch. attach: a short driver call; no published figure found.
 * - access: a load or store through a pointer. dag: appending to lists in memory.
 */
const struct rt_profile profile_native = {
    .launch = 3800,
    .copy = 3800,
    .prefetch = 3800,
    .event_record = 250,
    .event_wait = 750,
    .event_query = 250,
    .stream_new = 10000,
    .stream_sync = 1000,
    .device_sync = 1000,
    .access = 1,
    .attach = 1000,
    GRAPH_COSTS,
    .dag = 200,
};

/*
 * GrCUDA on the Java virtual machine. From the end of a kernel to the start of its dependent when the host had still to issue it: median
 * 105 to 150 us in the traces that its authors published for the GTX 960 (github.com/AlbertoParravicini/grcuda,
 * branch execution-model-sync, data/nvprof_log/2020_07_20). The trace does not say which call takes how much; the split
 * below keeps the sum of a launch, its event, one wait, two attachments and the graph at 120 us.
 * access: 160 million host writes took 4 s (CHANGELOG of github.com/necst/grcuda).
 */
const struct rt_profile profile_grcuda = {
    .launch = 80000,
    .copy = 80000,
    .prefetch = 10000,
    .event_record = 5000,
    .event_wait = 5000,
    .event_query = 5000,
    .stream_new = 20000,
    .stream_sync = 10000,
    .device_sync = 10000,
    .access = 25,
    .attach = 10000,
    GRAPH_COSTS,
    .dag = 10000,
};

const struct rt_profile profile_untimed = {0};

void rt_profile_scale(struct rt_profile *out, const struct rt_profile *from, uint32_t percent)
{
    uint32_t cost[sizeof *out / sizeof(uint32_t)]; /* all of its members are costs */

    memcpy(cost, from, sizeof cost);
    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++)
        cost[i] = (uint32_t)((uint64_t)cost[i] * percent / 100);
    memcpy(out, cost, sizeof cost);
}
