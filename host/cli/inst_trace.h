/* --trace-inst: each instruction of one wavefront as it issues, with what it wrote. */
#ifndef HD_HOST_CLI_INST_TRACE_H
#define HD_HOST_CLI_INST_TRACE_H

#include "host/cli/args.h"
#include "host/heddle.h"

#include <stdio.h>

struct inst_trace;

/*
 * The trace that --trace-inst asks for: into --trace-inst-out, or where the program prints. *out is NULL without.
 * HD_USAGE if the wavefront's name is none.
 */
enum hd_status inst_trace_new(const struct cli_args *args, const struct sim_config *config,
                              FILE *prints, struct inst_trace **out, struct hd_error *err);
/* What sim_set_probe() takes; t must outlive the machine's run. */
struct hd_probe inst_trace_probe(struct inst_trace *t);
/* The run is over, and its programs are still there: prints what is left. */
void inst_trace_end(struct inst_trace *t);
/*
 * Puts the file in its place. HD_USAGE with what could have been asked for if the wavefront never ran.
 */
enum hd_status inst_trace_commit(struct inst_trace *t, struct hd_error *err);
/* t may be NULL. A file that was not committed is not left behind. */
void inst_trace_free(struct inst_trace *t);

/* Only what the command line says: HD_USAGE. */
enum hd_status inst_trace_check(const struct cli_args *args, struct hd_error *err);

#endif
