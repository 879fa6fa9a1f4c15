/* Kernel files, for the verbs that look at them. */
#ifndef HD_HOST_CLI_PROGRAM_H
#define HD_HOST_CLI_PROGRAM_H

#include "isa/isa.h"

/*
 * Assembles a file, or reads one that `heddle asm --out` wrote. Includes are looked for beside the file and in the
 * assembly library. On success *out is the caller's (isa_program_free); HD_BAD_INPUT has the place.
 */
enum hd_status program_load(const char *path, struct isa_program **out, struct hd_error *err);

#endif
