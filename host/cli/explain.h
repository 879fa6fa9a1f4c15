/* What the files of heddle explain share. */
#ifndef HD_HOST_CLI_EXPLAIN_H
#define HD_HOST_CLI_EXPLAIN_H

#include "host/cli/session.h"
#include "host/results/explain.h"

/*
 * Fills in the parts of the machine that can be made faster (explain_ideals.c): whether the run uses them, and which parameters
 * would change.
 */
void explain_ideals(struct explain *e, const struct session *s);

/*
 * Runs the program under the other schedulers and on the faster machines, each in a process, and fills in their times (explain_runs.c).
 * HD_BAD_INPUT: no process can be made, or memory is short. HD_STOPPED: a signal ended it, and times are missing. Else the worst exit status
 * of the runs.
 */
enum hd_status explain_run_all(struct explain *e, const struct session *s,
                               const struct cli_args *args, struct hd_error *err);

/* The page (explain_print.c). */
void explain_print(const struct session *s, const struct cli_args *args);

#endif
