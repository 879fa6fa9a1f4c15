/* The parts of heddle profile. */
#ifndef HD_HOST_CLI_PROFILE_H
#define HD_HOST_CLI_PROFILE_H

#include "host/cli/cli.h"
#include "host/results/profile.h"
#include "host/results/result.h"

enum { PROFILE_WIDTH = 118 }; /* columns of the report */

/* Turns colour on and off on standard output, where it is wanted. */
const char *profile_colour(const char *code);
/* part / whole; 0 where there is no whole. */
double profile_share(uint64_t part, uint64_t whole);
/* Prints a paragraph from column `indent` on; the first line goes on where the caller has printed `lead`, which is as wide. */
void profile_paragraph(const char *lead, unsigned indent, const char *text);

/* Prints what a person reads first: time, occupancy, use of the device, and what the kernel waits for. */
void profile_print_kernel(const struct profile *p, const struct profile_kernel *k,
                          uint64_t all_time_ps);
/* Prints the n hottest lines, and those whose accesses are wasteful. */
void profile_print_hot(const struct profile_kernel *k, uint32_t width, uint64_t n);
/* Prints the source around all lines that have instructions. */
void profile_print_source(const struct profile_kernel *k, uint32_t width);

#endif
