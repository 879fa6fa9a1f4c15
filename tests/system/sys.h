/*
 * A runtime under test, through the public header alone, that keeps the rows of its record. Every
 * helper fails the test on an error.
 */
#ifndef HD_TESTS_SYSTEM_SYS_H
#define HD_TESTS_SYSTEM_SYS_H

#include "host/heddle.h"
#include "sim/base/vec.h"

struct sys_edge {
    uint64_t from, to;
};

struct sys {
    hd_runtime *rt;
    hd_module *module;
    VEC(struct hd_kernel_row) kernels;
    VEC(struct hd_transfer_row) transfers;
    VEC(struct sys_edge) edges;
    VEC(struct hd_region_row) regions;
    VEC(struct hd_check) checks;
};

/* The preset, then "key=value" settings separated by blanks. */
struct hd_options sys_options(const char *preset, const char *settings);
void sys_set(struct hd_options *o, const char *setting);

/* module may be NULL. */
void sys_open(struct sys *s, const struct hd_options *o, const char *module);
void sys_close(struct sys *s);
void sys_forget(struct sys *s); /* the rows so far */

hd_array *sys_array(struct sys *s, enum isa_type type, uint64_t count, const char *name);
hd_kernel *sys_kernel(struct sys *s, const char *name, const char *signature);
/* The elements from first on, for reading or as `how` says. */
void *sys_access(struct sys *s, hd_array *a, uint64_t first, uint64_t count, enum hd_access how);
void sys_launch(struct sys *s, hd_kernel *k, uint64_t blocks, uint64_t threads,
                const struct hd_arg *args, unsigned nargs);
void sys_finish(struct sys *s);

#define SYS_ARRAY(a)                                                                               \
    {                                                                                              \
        .kind = HD_ARG_ARRAY, .as.array = (a)                                                      \
    }
#define SYS_INT(v)                                                                                 \
    {                                                                                              \
        .kind = HD_ARG_INT, .as.i = (v)                                                            \
    }

/* The row of a computation's kernel; NULL if it has none. */
const struct hd_kernel_row *sys_kernel_of(const struct sys *s, uint64_t node);
uint64_t sys_time(const struct hd_kernel_row *k); /* from first work-group to end */

/*
 * What holds for any record: each wavefront-cycle and instruction is in one class, resident
 * wavefronts fit into the device, an edge's child starts after its parent ended, and each transfer
 * took its time on the link.
 */
void sys_check_conservation(const struct sys *s);

/* What a transfer takes once the link has it, in ps. */
uint64_t sys_transfer_time(const struct sim_config *c, bool to_device, uint64_t bytes);
/* Bytes in whole pages. */
uint64_t sys_pages(const struct sim_config *c, uint64_t bytes);

#endif
