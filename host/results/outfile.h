/*
 * Output files that are there whole or not at all: written beside their place, synchronised, then renamed. "-" is
 * standard output; what is no regular file (a device, a pipe) is written to directly.
 */
#ifndef HD_HOST_RESULTS_OUTFILE_H
#define HD_HOST_RESULTS_OUTFILE_H

#include "host/results/json_writer.h"
#include "sim/base/error.h"

#include <stdio.h>

struct out_file {
    FILE *file;
    char *path, *temporary; /* temporary is NULL where there is none */
    int broken;             /* errno of the first failed write */
};

/* HD_BAD_INPUT with the reason. On failure nothing is left behind. */
enum hd_status out_open(struct out_file *o, const char *path, struct hd_error *err);
/* HD_BAD_INPUT if the file could not be opened now; nothing is left behind. NULL is no file. */
enum hd_status out_probe(const char *path, struct hd_error *err);
/* For a json_writer; o must stay where it is. */
struct json_out out_json(struct out_file *o);
/* Puts the file in its place, or removes it if a write failed (HD_BAD_INPUT). o is closed in any case. */
enum hd_status out_commit(struct out_file *o, struct hd_error *err);
/* Removes what was written. o may be all zero. */
void out_abandon(struct out_file *o);

#endif
