/* Kernel files, for the verbs that look at them. */
#ifndef HD_HOST_CLI_PROGRAM_H
#define HD_HOST_CLI_PROGRAM_H

#include "isa/isa.h"

/* Assembles a file; includes are looked for beside it, in ../lib from there, and in workloads/lib. */
enum hd_status program_load(const char *path, struct isa_program **out, struct hd_error *err);

#endif
