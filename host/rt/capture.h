/* Graphs by capture: what calls do while streams are captured. */
#ifndef HD_HOST_RT_CAPTURE_H
#define HD_HOST_RT_CAPTURE_H

#include "host/rt/graph.h"

/* A stream that calls are taken from, and the nodes after which its next one comes. */
struct capture_stream {
    hd_stream *stream;
    VEC(uint32_t) after;
};

struct capture {
    hd_graph *graph;
    uint64_t number;                    /* counted from 1 */
    VEC(struct capture_stream) streams; /* the first one is where it began and ends */
};

/* While a capture goes on these become nodes, or are refused. The stream of a launch may be NULL. */
enum hd_status capture_kernel(hd_runtime *rt, const struct rt_bound *b, struct hd_error *err);
enum hd_status capture_copy(hd_runtime *rt, const struct hd_copy *copy,
                            const struct rt_computation *c, struct hd_error *err);
enum hd_status capture_record(hd_runtime *rt, hd_event *e, hd_stream *s, struct hd_error *err);
/* A wait with a capture going on, or for an event that was captured. */
enum hd_status capture_wait(hd_runtime *rt, hd_stream *s, const hd_event *e, struct hd_error *err);

/* HD_BAD_INPUT if a capture goes on; what it is not allowed, such as "a prefetch". */
enum hd_status capture_refuses(const hd_runtime *rt, const char *what, struct hd_error *err);
/* The same if the stream is captured; "freed". */
enum hd_status capture_refuses_stream(const hd_runtime *rt, const hd_stream *s, const char *what,
                                      struct hd_error *err);
/* The same if a captured node uses the array. */
enum hd_status capture_refuses_array(const hd_runtime *rt, const hd_array *a, const char *what,
                                     struct hd_error *err);

#endif
