/*
 * Files of the .npy format (NumPy Enhancement Proposal 1, versions 1.0 to 3.0), without Lua. Only what an array can
 * hold: one element type, little-endian, as many elements as the array has, in C order or one-dimensional.
 */
#ifndef HD_HOST_LUA_NPY_H
#define HD_HOST_LUA_NPY_H

#include "host/lua/element.h"
#include "sim/base/error.h"

#include <stdio.h>

/*
 * Opens a file and checks its header and its length against the array's type and count. On success *out
 * stands at the first element and is the caller's to fclose. Errors are HD_BAD_INPUT with the path as place.
 */
enum hd_status npy_open(const char *path, const struct element_type *t, uint64_t count, FILE **out,
                        struct hd_error *err);

/* Reads the elements. */
enum hd_status npy_read(FILE *f, const char *path, const struct element_type *t, uint64_t count,
                        void *to, struct hd_error *err);

/* Writes a whole file, version 1.0, one dimension: to a temporary beside it, which is then renamed. */
enum hd_status npy_write(const char *path, const struct element_type *t, uint64_t count,
                         const void *from, struct hd_error *err);

#endif
