/* Opening input files: a pipe without a writer would hold its reader for ever. */
#ifndef HD_SIM_BASE_REGULAR_H
#define HD_SIM_BASE_REGULAR_H

#include <stdio.h>

/* Opens a regular file for reading; the caller closes it. NULL with the reason in *why, which lives until the next call. */
FILE *regular_open(const char *path, const char **why);

#endif
