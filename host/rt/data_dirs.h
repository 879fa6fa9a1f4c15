/*
 * Where heddle's own files are: presets (configs) and the assembly library (workloads/lib). Looked for, in this order,
 * below $HEDDLE_DATA, beside the program (in its source tree, or as it is installed), and in the working folder.
 */
#ifndef HD_HOST_RT_DATA_DIRS_H
#define HD_HOST_RT_DATA_DIRS_H

#include <limits.h>
#include <stddef.h>

enum { DATA_DIRS_MAX = 5 };

struct data_dirs {
    const char *at[DATA_DIRS_MAX]; /* into text: the struct stays where it is */
    size_t len;
    char text[DATA_DIRS_MAX][PATH_MAX + 64];
};

/* The folders in which `what`, a path such as "workloads/lib", may be. Whether they exist is not looked at. */
void data_dirs_find(const char *what, struct data_dirs *out);

#endif
