/* The parts of a runtime, for the files of host/rt/ and their tests only. */
#ifndef HD_HOST_RT_RUNTIME_H
#define HD_HOST_RT_RUNTIME_H

#include "host/rt/dag.h"
#include "host/rt/history.h"
#include "host/rt/machine.h"
#include "host/rt/policies.h"
#include "host/rt/stream.h"

enum attach_state { ATTACH_NONE, ATTACH_GLOBAL, ATTACH_STREAM };

struct hd_array {
    hd_runtime *rt;
    struct dag_object object;
    struct list attached;     /* in the stream's list, if ATTACH_STREAM */
    struct hd_stream *stream; /* attached to it, if ATTACH_STREAM */
    struct hd_stream *hand;   /* serial-async: the last stream of the program's own that used it */
    char *name;
    uint64_t count;
    uint32_t id; /* the machine's */
    enum isa_type type;
    enum sim_array_kind kind;
    enum attach_state attach;
    bool host_last;       /* its last operation was a host access, or there was none */
    uint64_t hand_ticket; /* of that use */
    bool hand_many;       /* serial-async: streams beside `hand` used it */
    uint64_t capture;     /* number of the last one with a node that uses it, or 0 */
    uint32_t captured_by; /* the first such node */
    bool freed;
};

struct rt_param {
    char name[ISA_NAME_MAX];
    enum isa_type type; /* of the value or the elements */
    bool is_array, read_only;
};

struct hd_kernel {
    hd_runtime *rt;
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    unsigned nparams;
    struct rt_param params[ISA_MAX_PARAMS];
};

struct hd_module {
    hd_runtime *rt;
    char *path;
    struct isa_program *program;
    struct rt_history **history; /* by the number of the kernel in the program */
};

struct hd_event {
    struct list all;
    hd_runtime *rt;
    hd_stream *stream; /* NULL: not recorded yet */
    uint64_t ticket;
    uint64_t capture;    /* number of the capture that it was recorded in, 0 for none */
    VEC(uint32_t) after; /* nodes of that capture's graph */
};

/* A kernel or copy on its way to the device. */
struct rt_computation {
    const char *name;
    uint64_t node;     /* RT_NO_NODE: not recorded */
    hd_stream *stream; /* that the program chose, or NULL */
    uint32_t cost_ns;  /* of the call */
    unsigned narrays;  /* that it is given; one may be there twice */
    hd_array *arrays[DAG_MAX_ARGS];
    bool read_only[DAG_MAX_ARGS];
    struct sim_cmd cmd;
};

/* A computation with the lists that a kernel's command points to. */
struct rt_bound {
    struct rt_computation c;
    uint64_t values[ISA_MAX_PARAMS];
    uint32_t ids[DAG_MAX_ARGS];
    bool writes[DAG_MAX_ARGS];
};

/* Host time of the scheduler's calls, without the machine's. */
struct rt_watch {
    uint64_t total_ns, since_ns, calls;
    bool runs;
};

enum rt_phase { RT_OUTSIDE, RT_RESET, RT_REGION };

struct hd_runtime {
    struct hd_options options;
    const struct rt_machine_ops *ops;
    struct sim_machine *machine;
    uint64_t host_ps; /* the host's clock; the machine's is never later */

    const struct scheduler *scheduler;
    struct rt_profile profile;     /* host.profile, by host.cost_percent */
    const struct rt_profile *cost; /* of calls now: the profile's, or nothing while untimed */
    bool prefetch, attach, legacy; /* the options, where they apply */
    struct dag dag;
    struct stream_pool streams;

    VEC(hd_array *) arrays;  /* by uid; freed ones stay, for their names and for late uses */
    VEC(uint32_t) uid_of_id; /* the machine's id to the uid of the array that has it now */
    VEC(hd_module *) modules;
    VEC(hd_kernel *) kernels;
    VEC(char *) region_names;
    struct list events;
    struct list graphs, execs, libraries;
    struct capture *capture; /* the one that goes on, or NULL */
    uint64_t captures;       /* so far */
    struct {                 /* the call of a library function that goes on */
        hd_library *now;     /* NULL: none */
        hd_stream *stream;
        struct dag_vertex *vertex; /* NULL: its launches are computations of their own */
        uint64_t last;             /* node of its last kernel, or RT_NO_NODE */
        struct rt_computation call;
    } library;

    enum rt_phase phase;
    bool warmup;
    bool timed; /* calls and the device take time: not in resets, warm-up and values-only runs */
    bool quiet; /* nothing is recorded: resets and warm-up */
    uint32_t region, iteration;
    uint64_t region_start_ps;
    struct sim_um_totals region_start_um;
    uint64_t next_node;
    uint64_t accessing; /* node of the host access whose pages move now, or RT_NO_NODE */
    struct hd_recorder recorder;
    struct rt_watch watch;

    struct hd_error poison; /* status is not HD_OK: each call returns it */
    struct hd_error error;  /* of the machine's last failed call */
};

#define RT_NO_NODE UINT64_MAX

/* ---- runtime.c --------------------------------------------------------------------------- */

/* hd_runtime_new() on a given machine, which the runtime then owns (also on failure). */
enum hd_status rt_new_on(const struct hd_options *o, const struct rt_machine_ops *ops,
                         struct sim_machine *m, hd_runtime **out, struct hd_error *err);
/* Whether the runtime is poisoned; *err is filled then. */
bool rt_poisoned(const hd_runtime *rt, struct hd_error *err);
/* Copies rt->error to *err and poisons the runtime if it is one that no call can follow. Returns the status. */
enum hd_status rt_failed(hd_runtime *rt, struct hd_error *err);
/* Poisons the runtime with the machine's last error, whatever its status. */
void rt_poison(hd_runtime *rt);
/* The host has no memory for what a call needs: HD_SIM_FAILED, and no call can follow. */
enum hd_status rt_no_memory(hd_runtime *rt, struct hd_error *err);

/* ---- scheduler.c: the scheduler, with a watch on it --------------------------------------------- */

enum hd_status schedule_submit(hd_runtime *rt, struct rt_computation *c, struct hd_error *err);
enum hd_status schedule_access(hd_runtime *rt, hd_array *a, bool read_only, uint64_t node,
                               struct hd_error *err);
/* Around calls of the machine, which may run it. They nest: resume takes what pause returned. */
bool watch_pause(hd_runtime *rt);
void watch_resume(hd_runtime *rt, bool ran);

/* ---- clock.c: the host's clock and the machine's --------------------------------------------- */

void rt_charge(hd_runtime *rt, uint32_t ns);
/* Runs the machine up to the host's clock. */
enum hd_status rt_catch_up(hd_runtime *rt, struct hd_error *err);
/* The host waits for a ticket, or for everything (0), and goes on when it has completed. */
enum hd_status rt_wait(hd_runtime *rt, uint64_t ticket, struct hd_error *err);

/* ---- array.c, attach.c, prefetch.c ----------------------------------------------------------- */

/* HD_BAD_INPUT for NULL, a freed array or another runtime's; `what` begins the message. */
enum hd_status array_given(const hd_runtime *rt, const hd_array *a, const char *what,
                           struct hd_error *err);
/* Moves the pages of elements to the host, and waits. */
enum hd_status array_to_host(hd_array *a, uint64_t first, uint64_t count, enum hd_access how,
                             struct hd_error *err);

/* Attaches the kernel's arrays to its stream as they must be before the launch. */
void attach_arguments(hd_runtime *rt, const struct rt_computation *c, struct hd_stream *s);
/* Where streams are not told apart, each sees all arrays; this is no call of the program's and costs nothing. */
void attach_to_all(hd_array *a);
/* Whether a host access must count the array as in use by anything that runs. */
bool attach_shared(const hd_array *a);
/* A stream ends: its arrays are attached to nothing. */
void attach_orphan(struct hd_stream *s);

/* Prefetches the arrays that the host used last; with `wait` the host waits for each. */
enum hd_status prefetch_arguments(hd_runtime *rt, const struct rt_computation *c,
                                  struct hd_stream *s, bool wait, struct hd_error *err);

/* ---- signature.c, args.c ----------------------------------------------------------------------- */

/* "f32", or "?" for a type that no array or parameter has. */
const char *rt_type_name(enum isa_type type);
/* "f32[]" or "f32", into out. */
void rt_type_describe(enum isa_type type, bool is_array, char *out, size_t size);
/* Whether arrays and parameters can be of the type. */
bool rt_type_ok(enum isa_type type);
/* Fills k->params from the text and checks them against the kernel's .param list. */
enum hd_status signature_parse(hd_kernel *k, const char *signature, struct hd_error *err);
/* The same without a .param list; for messages k->kernel has a name, and `what` is what has it. */
enum hd_status signature_read(hd_kernel *k, const char *what, const char *signature,
                              struct hd_error *err);

/* Checks the arguments and fills values[nargs] (bits or addresses) and the arrays of c. */
enum hd_status args_bind(const hd_kernel *k, const struct hd_arg *args, unsigned nargs,
                         uint64_t *values, struct rt_computation *c, struct hd_error *err);

/* ---- scheduler_parallel_async.c ------------------------------------------------------------------- */

/* All of a computation's submission but its command: the vertex, its stream, prefetches and waits. */
enum hd_status parallel_enter(hd_runtime *rt, const struct rt_computation *c,
                              struct dag_vertex **out, struct hd_error *err);

/* ---- event.c ------------------------------------------------------------------------------------ */

void events_free(hd_runtime *rt);

/* ---- launch.c, by_hand.c -------------------------------------------------------------------------- */

/* Checks a launch but for its stream, and fills all but the node. */
enum hd_status launch_bind(hd_runtime *rt, const struct hd_launch *l, struct rt_bound *out,
                           struct hd_error *err);
/* Lets the command point to the lists beside it, as it must after each copy of *b, and gives it the node. */
void launch_point(struct rt_bound *b, uint64_t node);
/* Checks a copy but for its stream, and fills the computation. */
enum hd_status copy_bind(hd_runtime *rt, const struct hd_copy *copy, struct rt_computation *c,
                         struct hd_error *err);
/* Its managed array is host memory: the host waits for what uses it, and has its pages. */
enum hd_status copy_prepare(hd_runtime *rt, const struct hd_copy *copy, struct hd_error *err);

/* ---- module.c ------------------------------------------------------------------------------- */

/* A module from a program, which it then owns (also on failure). */
enum hd_status module_adopt(hd_runtime *rt, const char *path, struct isa_program *program,
                            hd_module **out, struct hd_error *err);

/* ---- record.c --------------------------------------------------------------------------------- */

/* The sink through which the machine's records become rows. */
void record_start(hd_runtime *rt);
/* The id of the next computation; RT_NO_NODE while nothing is recorded. */
uint64_t record_next_node(hd_runtime *rt);
/* What a command of that node carries, so that 0 is a command without one. */
uint64_t record_tag(uint64_t node);
void record_node(hd_runtime *rt, enum hd_node_kind kind, const char *name, uint32_t stream,
                 uint64_t node);
/* The host waits for the device from its clock's time until then. */
void record_wait(hd_runtime *rt, uint64_t until_ps);
/* The edges of the graph's last append, which made v. */
void record_edges(hd_runtime *rt, const struct dag_vertex *v);
/* The same of those that come from vertices appended before number seq. */
void record_edges_from(hd_runtime *rt, const struct dag_vertex *v, uint64_t seq);

#endif
