/*
 * heddle as a library: a simulated GPU with a run time that finds out which computations depend
 * on which and schedules them. This is the one public header of libheddle.a.
 *
 * A runtime is used by one thread at a time; two runtimes share nothing. Every function that can fail
 * returns an hd_status and fills *err (which may be NULL). After HD_SIM_FAILED, HD_INTERNAL or
 * HD_STOPPED, or when the machine ends with another error, a runtime is poisoned: each further call returns the same error.
 * Host times are picoseconds of the simulated host's clock.
 */
#ifndef HD_HOST_HEDDLE_H
#define HD_HOST_HEDDLE_H

#include "host/rt/config.h"
#include "isa/isa.h"
#include "sim/base/error.h"
#include "sim/sim.h"

typedef struct hd_runtime hd_runtime;
typedef struct hd_array hd_array;
typedef struct hd_module hd_module;
typedef struct hd_kernel hd_kernel;
typedef struct hd_stream hd_stream;
typedef struct hd_event hd_event;
typedef struct hd_graph hd_graph;
typedef struct hd_graph_exec hd_graph_exec;
typedef struct hd_library hd_library;

/* ---- runtime --------------------------------------------------------------------------- */

struct hd_options {
    struct sim_config gpu;
    struct rt_config host;
    struct sim_limits limits;
    enum isa_build lanes;
    bool timing;   /* false: values only for the whole run (--timing off) */
    uint64_t seed; /* recorded in the result; arrays filled at random take it too */
};

/* Everything at its default: the machine's and the host's parameter tables, timing on, seed 1. */
void hd_options_default(struct hd_options *o);
enum hd_status hd_runtime_new(const struct hd_options *o, hd_runtime **out, struct hd_error *err);
/* Frees the runtime and all that was made from it; nothing is waited for. */
void hd_runtime_free(hd_runtime *rt);

/* The simulated host's clock. */
uint64_t hd_host_time(const hd_runtime *rt);
/* Bytes of the arrays that are there, managed and of the device. */
uint64_t hd_array_bytes(const hd_runtime *rt);
/* Host work of that much time between two calls. */
enum hd_status hd_host_work(hd_runtime *rt, uint64_t ps, struct hd_error *err);
/* Waits for everything, as at the end of a program. */
enum hd_status hd_finish(hd_runtime *rt, struct hd_error *err);
/* The machine below, which stays the runtime's; for its counters and probes (sim/sim.h). */
struct sim_machine *hd_machine(hd_runtime *rt);
/* What the scheduler has done: its calls, and the seconds of this machine that they took, simulation apart. */
void hd_schedule_work(const hd_runtime *rt, uint64_t *calls, double *seconds);
/* What it was made with; lives as long as the runtime. */
const struct hd_options *hd_runtime_options(const hd_runtime *rt);

/* ---- arrays ---------------------------------------------------------------------------- */

/* type is T_I8 ... T_F64 (isa/isa.h); count at least 1. A managed array, zero and unpopulated. name may be NULL. */
enum hd_status hd_array_new(hd_runtime *rt, enum isa_type type, uint64_t count, const char *name,
                            hd_array **out, struct hd_error *err);
/* Device memory, reached by hd_copy only. */
enum hd_status hd_array_new_device(hd_runtime *rt, enum isa_type type, uint64_t count,
                                   const char *name, hd_array **out, struct hd_error *err);
/* Waits for the computations that use it, then frees it. */
enum hd_status hd_array_free(hd_runtime *rt, hd_array *a, struct hd_error *err);
uint64_t hd_array_count(const hd_array *a);
enum isa_type hd_array_type(const hd_array *a);
const char *hd_array_name(const hd_array *a);

enum hd_access { HD_READ, HD_WRITE, HD_OVERWRITE /* every byte, nothing of the old is read */ };

/*
 * A host access to elements [first, first + count): a computational element of the DAG. On return the host has
 * waited for just what it needs, pages are on the host, and *data points at element `first`. The address stays until the
 * array is freed; what it holds is up to date until the next launch or copy that writes the array.
 */
enum hd_status hd_array_access(hd_runtime *rt, hd_array *a, uint64_t first, uint64_t count,
                               enum hd_access how, void **data, struct hd_error *err);

/* ---- modules and kernels ----------------------------------------------------------------- */

/* Assembles a file; includes are looked for beside it and in the assembly library (host/rt/data_dirs.h). Loading one path twice gives one module. */
enum hd_status hd_module_load(hd_runtime *rt, const char *path, hd_module **out,
                              struct hd_error *err);

/*
 * A kernel with a signature, "x: inout f32[], n: i32": name, optional in | out | inout | const | input | output, and type;
 * no annotation on an array means inout. It is checked against the kernel's .param list.
 */
enum hd_status hd_kernel_get(hd_runtime *rt, hd_module *m, const char *name, const char *signature,
                             hd_kernel **out, struct hd_error *err);
const char *hd_kernel_name(const hd_kernel *k);
unsigned hd_kernel_params(const hd_kernel *k);

enum hd_arg_kind { HD_ARG_ARRAY, HD_ARG_INT, HD_ARG_FLOAT };
struct hd_arg {
    enum hd_arg_kind kind;
    union {
        hd_array *array;
        int64_t i;
        double f; /* a whole number is taken for an integer parameter too */
    } as;
};

struct hd_launch {
    hd_kernel *kernel;
    uint64_t grid[3], block[3]; /* unset dimensions are 1 */
    uint64_t dynamic_lds;       /* bytes */
    const struct hd_arg *args;
    unsigned nargs;
    hd_stream *stream; /* NULL: the scheduler chooses */
};

/* Launches a kernel: returns when the call returns on the host, which is not when the kernel is done (except serial-sync). */
enum hd_status hd_launch_kernel(hd_runtime *rt, const struct hd_launch *l, struct hd_error *err);

/* A launch that has finished. */
struct hd_past_launch {
    uint32_t grid[3], block[3], dynamic_lds, stream;
    uint64_t queued_ps, start_ps, end_ps;
};
enum { HD_HISTORY_MAX = 64 };
/*
 * The launches of a kernel that had finished by the host's clock, the oldest first and at most the last HD_HISTORY_MAX. Those
 * without times are left out: of resets, warm-up and values-only runs. Handles of one kernel share it, whatever the signature.
 * Writes *n of them to out, which has room for HD_HISTORY_MAX.
 */
enum hd_status hd_kernel_history(const hd_kernel *k, struct hd_past_launch *out, unsigned *n,
                                 struct hd_error *err);

/* ---- streams, events, copies by hand ------------------------------------------------------ */

/* The default stream as a handle, for launches: there NULL leaves the choice to the scheduler. */
hd_stream *hd_default_stream(hd_runtime *rt);
/* In all calls below a stream of NULL is the default stream. */
enum hd_status hd_stream_new(hd_runtime *rt, hd_stream **out, struct hd_error *err);
/* What is on it still runs; the caller keeps no pointer to it. The default stream cannot be freed. */
enum hd_status hd_stream_free(hd_runtime *rt, hd_stream *s, struct hd_error *err);
/* The host waits for what is on the stream, or on all streams. */
enum hd_status hd_stream_sync(hd_runtime *rt, hd_stream *s, struct hd_error *err);
enum hd_status hd_device_sync(hd_runtime *rt, struct hd_error *err);
/* An event that is not recorded yet; waiting for it is HD_BAD_INPUT until it is. */
enum hd_status hd_event_new(hd_runtime *rt, hd_event **out, struct hd_error *err);
/* Records it behind what is on the stream, perhaps again: who waits already waits for the earlier record. */
enum hd_status hd_event_put(hd_runtime *rt, hd_event *e, hd_stream *s, struct hd_error *err);
/* Both at once: a new event, recorded. */
enum hd_status hd_event_record(hd_runtime *rt, hd_stream *s, hd_event **out, struct hd_error *err);
/* Lets what comes later on the stream wait for the event. */
enum hd_status hd_event_wait(hd_runtime *rt, hd_stream *s, hd_event *e, struct hd_error *err);
/* The host waits for the event, or asks whether it has happened. HD_BAD_INPUT if it was recorded in a capture. */
enum hd_status hd_event_sync(hd_runtime *rt, hd_event *e, struct hd_error *err);
enum hd_status hd_event_done(hd_runtime *rt, hd_event *e, bool *done, struct hd_error *err);
/* The event is gone; the caller keeps no pointer to it. Who waits for it still does. */
enum hd_status hd_event_free(hd_runtime *rt, hd_event *e, struct hd_error *err);
/* Which streams see an array, on a device without page faults: launches move what their stream sees ahead of them. */
enum hd_attach { HD_ATTACH_ALL, HD_ATTACH_HOST /* none */, HD_ATTACH_STREAM };
/* s is for HD_ATTACH_STREAM. Takes effect at once. */
enum hd_status hd_array_attach(hd_runtime *rt, hd_array *a, enum hd_attach where, hd_stream *s,
                               struct hd_error *err);
/* How the pages of a managed array are kept, from their next move on; SIM_ADVISE_NONE takes it back. */
enum hd_status hd_array_advise(hd_runtime *rt, hd_array *a, enum sim_advice advice,
                               struct hd_error *err);
/* Moves a managed array to the device, in stream order, under every scheduler; no kernel waits for it but those on the stream. */
enum hd_status hd_prefetch(hd_runtime *rt, hd_array *a, hd_stream *s, struct hd_error *err);
/* A copy of count elements between a device array and a managed array used as host memory. */
struct hd_copy {
    hd_array *to, *from;
    uint64_t to_first, from_first, count;
    bool pageable;     /* the host memory is not pinned: at most link.pageable_bytes_per_second */
    hd_stream *stream; /* NULL: the default stream */
};
/* In stream order. */
enum hd_status hd_copy(hd_runtime *rt, const struct hd_copy *copy, struct hd_error *err);

/* ---- graphs by hand ------------------------------------------------------------------------ */

/*
 * A graph is nodes (kernels, copies, empty ones) and which of them wait for which. It is made once, instantiated
 * and launched as often as the program likes. Nodes are numbered from 0 in order of their making.
 */
enum hd_status hd_graph_new(hd_runtime *rt, hd_graph **out, struct hd_error *err);
/* What was instantiated from it stays. A late use of the handle is HD_BAD_INPUT; its memory goes with the runtime. */
enum hd_status hd_graph_free(hd_runtime *rt, hd_graph *g, struct hd_error *err);
/* Each adds a node that waits for the ndeps nodes deps[]; one named twice counts once. The stream of a launch or copy must be NULL. *node may be NULL. */
enum hd_status hd_graph_kernel(hd_runtime *rt, hd_graph *g, const struct hd_launch *l,
                               const uint32_t *deps, size_t ndeps, uint32_t *node,
                               struct hd_error *err);
enum hd_status hd_graph_copy(hd_runtime *rt, hd_graph *g, const struct hd_copy *copy,
                             const uint32_t *deps, size_t ndeps, uint32_t *node,
                             struct hd_error *err);
enum hd_status hd_graph_empty(hd_runtime *rt, hd_graph *g, const uint32_t *deps, size_t ndeps,
                              uint32_t *node, struct hd_error *err);
/* Lets a node wait for another one; nothing happens if it does already. */
enum hd_status hd_graph_depend(hd_runtime *rt, hd_graph *g, uint32_t node, uint32_t on,
                               struct hd_error *err);
/* How many nodes there are. */
uint32_t hd_graph_size(const hd_graph *g);
/* What the node is, and its number: "square (node 3)", into out[size], cut if it is longer; "?" if there is none. */
void hd_graph_node_name(const hd_graph *g, uint32_t node, char *out, size_t size);

/* Makes what can be launched of the graph as it is now, with its arguments and shapes. A cycle is HD_BAD_INPUT and names the nodes. */
enum hd_status hd_graph_instantiate(hd_runtime *rt, hd_graph *g, hd_graph_exec **out,
                                    struct hd_error *err);
/* What was launched still runs. The handle as after hd_graph_free. */
enum hd_status hd_graph_exec_free(hd_runtime *rt, hd_graph_exec *x, struct hd_error *err);
/*
 * Launches a graph on a stream, NULL for the default stream: it starts when all before it on the stream has ended, and when its
 * last launch has; what comes later on the stream waits for all of it. Nothing is prefetched.
 */
enum hd_status hd_graph_launch(hd_runtime *rt, hd_graph_exec *x, hd_stream *s, struct hd_error *err);

/*
 * A graph by capture: until the end, launches and copies on the stream become nodes and do not run; so do those on streams that wait for
 * an event recorded in the capture. Refused: what has no captured stream, prefetches, launches of graphs, waits of the
 * host, and its accesses to captured work's arrays. One capture at a time.
 */
enum hd_status hd_capture_begin(hd_runtime *rt, hd_stream *s, struct hd_error *err);
/* Every captured stream must be waited for by the first one, directly or not. On failure there is no graph. */
enum hd_status hd_capture_end(hd_runtime *rt, hd_graph **out, struct hd_error *err);
/* Ends it without a graph, if one goes on. */
void hd_capture_abort(hd_runtime *rt);

/* ---- library functions ----------------------------------------------------------------------- */

/*
 * A function that launches kernels of its own, as one computational element. With `stream` it takes a stream: a call is
 * ordered by its array arguments as a kernel is, what it launches goes to the stream that it is given, and the host cannot wait or
 * access arrays inside. Without, everything is waited for before and after it. hidden[] are arrays it writes that are no
 * arguments. The signature is as for hd_kernel_get.
 */
struct hd_library_desc {
    const char *name, *signature;
    bool stream;
    hd_array *const *hidden;
    unsigned nhidden;
};
/* Copies what desc points to, but for the arrays; *out lives as long as the runtime. */
enum hd_status hd_library_new(hd_runtime *rt, const struct hd_library_desc *desc, hd_library **out,
                              struct hd_error *err);
/* A call, from here to hd_library_end(). *stream is where its launches go, also those without a stream; it is the caller's until the end. */
enum hd_status hd_library_begin(hd_runtime *rt, hd_library *lib, const struct hd_arg *args,
                                unsigned nargs, hd_stream **stream, struct hd_error *err);
/* Does not wait for what a function with a stream has launched. HD_BAD_INPUT if no call goes on. */
enum hd_status hd_library_end(hd_runtime *rt, struct hd_error *err);

/* ---- regions ------------------------------------------------------------------------------ */

/*
 * One iteration of a region is: hd_reset_begin, host accesses and launches that take no time, hd_reset_end;
 * hd_region_begin, the timed calls, hd_region_end (which waits for what is still active).
 * With warmup the iteration runs in values-only mode and leaves no record.
 */
enum hd_status hd_reset_begin(hd_runtime *rt, struct hd_error *err);
enum hd_status hd_reset_end(hd_runtime *rt, struct hd_error *err);
enum hd_status hd_region_begin(hd_runtime *rt, const char *name, uint32_t iteration, bool warmup,
                               struct hd_error *err);
enum hd_status hd_region_end(hd_runtime *rt, struct hd_error *err);

/* ---- the record of a run -------------------------------------------------------------------- */

struct hd_check {
    char name[64];
    bool passed;
    double got, expected, tolerance;
};
/* Passes if got = expected, or expected is finite and |got - expected| <= tolerance * max(1, |expected|); NaN never passes. */
enum hd_status hd_check_value(hd_runtime *rt, const char *name, double got, double expected,
                              double tolerance, struct hd_error *err);

#define HD_NO_REGION UINT32_MAX /* region of what ran outside any */

struct hd_kernel_row {
    uint64_t node; /* id in the DAG's nodes, counted from 0 in order of the calls */
    uint32_t stream, region, iteration, device;
    struct sim_kernel_record r;
};
struct hd_transfer_row {
    uint64_t node; /* the computation that caused it, or UINT64_MAX */
    uint32_t stream, region, iteration;
    uint32_t array_uid; /* arrays are numbered in order of creation, never again */
    struct sim_transfer_record r;
};
enum hd_node_kind { HD_NODE_KERNEL, HD_NODE_HOST_READ, HD_NODE_HOST_WRITE };
struct hd_node_row {
    uint64_t id;
    enum hd_node_kind kind;
    const char *name; /* kernel or array; lives as long as the runtime */
    uint32_t stream, region, iteration;
};
enum hd_edge_kind {
    HD_EDGE_RAW,
    HD_EDGE_WAR,
    HD_EDGE_WAW,
    HD_EDGE_ORDER, /* stated in a graph by hand; no array makes it */
};
struct hd_edge_row {
    uint64_t from, to;
    enum hd_edge_kind kind; /* of the first array */
    const uint32_t *array_uids;
    uint32_t narrays;
};
struct hd_region_row {
    const char *name;
    uint32_t region, iteration; /* region: index of the name in order of first use */
    uint64_t host_start_ps, host_end_ps;
    struct sim_um_totals um; /* of the iteration */
};

/* Receives rows in order of completion; a NULL function drops its rows. The pointers in a row live during the call only. */
struct hd_recorder {
    void *user;
    void (*kernel)(void *user, const struct hd_kernel_row *row);
    void (*transfer)(void *user, const struct hd_transfer_row *row);
    void (*node)(void *user, const struct hd_node_row *row);
    void (*edge)(void *user, const struct hd_edge_row *row);
    void (*region)(void *user, const struct hd_region_row *row);
    void (*check)(void *user, const struct hd_check *check);
    void (*print)(void *user, const char *line);
    void (*wait)(void *user, uint64_t from_ps, uint64_t until_ps); /* of the host for the device */
};
/* From now on; NULL functions are allowed, *r is copied. */
void hd_set_recorder(hd_runtime *rt, const struct hd_recorder *r);
/* Unified memory so far, but for what took no time. */
void hd_um_totals(const hd_runtime *rt, struct sim_um_totals *out);
/* The name of an array by its number, also of one that was freed. */
const char *hd_array_uid_name(const hd_runtime *rt, uint32_t uid);

#endif
