/*
 * A runtime on the fake machine, programs for it in one line of text, and what it did with them as text again.
 *
 * A program is statements separated by ';':
 *
 *     sq x=r y=w @5      launches kernel sq with array x read-only and y writable; it takes 5 us (1 ms unless said)
 *     sq x=w on s1       the same on a stream of the program's own, or on `default`
 *     read x / write x   a host access to the whole array
 *     free x             frees an array
 *     sync / sync s1     waits for the device, for a stream
 *
 * Arrays and streams are made at their first use.
 */
#ifndef HD_TESTS_RT_RIG_H
#define HD_TESTS_RT_RIG_H

#include "host/rt/runtime.h"
#include "sim/base/text.h"
#include "tests/rt/fake_sim.h"
#include "tests/rt/hb_oracle.h"

enum { RIG_ARRAYS = 64, RIG_NAME = 16, RIG_ELEMENTS = 16 };

struct rig_stmt {
    char name[RIG_NAME]; /* of the kernel; "read" and "write" with the array for accesses */
    uint64_t node;
    struct hb_node hb;
    bool kernel;
};

struct rig_array {
    char name[RIG_NAME];
    hd_array *array;
};

struct rig_stream {
    char name[RIG_NAME];
    hd_stream *stream;
};

struct rig {
    hd_runtime *rt;
    struct sim_machine *machine;
    hd_module *module;
    struct rig_array arrays[RIG_ARRAYS];
    struct rig_stream streams[8];
    unsigned narrays, nstreams;
    VEC(struct rig_stmt) stmts;
    VEC(hd_kernel *) kernels; /* by signature: one for each pattern of r and w */
    VEC(struct hd_node_row) nodes;
    VEC(struct hd_edge_row) edges; /* without the arrays */
    VEC(struct hd_kernel_row) rows;
    VEC(struct hd_transfer_row) transfers;
    VEC(struct hd_region_row) regions;
    VEC(struct hd_check) checks;
    struct text schedule;   /* "sq1 S1; red S1 wait sq2; read res: sync S1" */
    struct text edge_text;  /* "sq1->red[x1] sq2->red[y1]" */
    struct text edge_kinds; /* "raw war" */
    unsigned nwaits;        /* waits between streams */
};

/* A program of kernels k0 to k8, which take as many arrays of f32. */
struct isa_program *rig_program(void);

/* Options for the fake: defaults with calls that cost nothing to count (profile native), page faults off, then "key=value" pairs. */
struct hd_options rig_options(const char *settings);
struct rig *rig_new(const char *settings);
void rig_free(struct rig *r);

/* Runs a program. Fails the test on an error. */
void rig_run(struct rig *r, const char *program);
hd_array *rig_array(struct rig *r, const char *name);
hd_kernel *rig_kernel(struct rig *r, const char *modes); /* "rw": first read-only, second writable */
/* "v0 v2": names of the frontier's computations. */
void rig_frontier(const struct rig *r, struct text *out);
/* "K1{X,Y} K2{Z}": the frontier with the active arguments. */
void rig_sets(const struct rig *r, struct text *out);
/* The statement of a node. */
struct rig_stmt *rig_stmt_of(const struct rig *r, uint64_t node);
struct rig_stmt *rig_stmt(const struct rig *r, const char *name);
/* After hd_finish: fails the test if a conflicting pair is not ordered. */
void rig_check_order(struct rig *r, const char *what);
size_t rig_streams_used(const struct rig *r);

/* The count of a random test, times HEDDLE_SOAK if that is set. */
uint64_t rig_count(uint64_t count);

/* For random tests: the state is the seed, and the teardown prints the last one. */
int rig_seed_setup(void **state);
int rig_seed_teardown(void **state);
uint64_t *rig_seed(void **state);

#endif
