/* Library functions as computational elements. */
#ifndef HD_HOST_RT_LIBRARY_H
#define HD_HOST_RT_LIBRARY_H

#include "host/rt/runtime.h"

struct hd_library {
    struct list all;
    hd_runtime *rt;
    struct isa_kernel declared; /* its name, for messages about arguments */
    hd_kernel signature;
    bool stream;
    VEC(hd_array *) hidden;
};

/* A launch while a call of a library function goes on. */
enum hd_status library_kernel(hd_runtime *rt, struct rt_bound *b, struct hd_error *err);
/* HD_BAD_INPUT inside a function that takes a stream; what it is not allowed, such as "a wait". */
enum hd_status library_refuses(const hd_runtime *rt, const char *what, struct hd_error *err);
void libraries_free(hd_runtime *rt);

#endif
