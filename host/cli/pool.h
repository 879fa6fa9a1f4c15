/*
 * Jobs in processes of their own, some at a time. A job that crashes, is killed or never ends takes only itself along. A process is forked and
 * not started anew, so that all jobs are of one build even if the command is built again meanwhile.
 */
#ifndef HD_HOST_CLI_POOL_H
#define HD_HOST_CLI_POOL_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pool_work {
    void *user;
    size_t count;    /* of jobs */
    uint64_t jobs;   /* at a time; 0: one a processor */
    double max_time; /* seconds that a job may take; 0: any */
    /* Whether job i is still to be done; NULL: all are. */
    bool (*wanted)(void *user, size_t i);
    /* In the process of the job: does it, writes what it found to the file, and returns the exit status. */
    int (*run)(void *user, size_t i, FILE *to);
    /* Its process has ended with this status of waitpid, and left this in the file, whose place they share: it is read by offset. */
    enum hd_status (*keep)(void *user, size_t i, int wait_status, FILE *from, struct hd_error *err);
    /* Called several times a second, with the number of jobs under way; NULL: not. */
    void (*show)(void *user, size_t running);
};

/* A job's process that could not even begin. */
enum { POOL_NOT_STARTED = 70 };

/*
 * Does all jobs that are wanted. *stopped: a signal ended it, and the jobs that ran then were not kept. HD_BAD_INPUT if no process
 * can be made, or what keep() says.
 */
enum hd_status pool_run(const struct pool_work *work, bool *stopped, struct hd_error *err);

/* A file that is gone when it is closed, in TMPDIR or /tmp; NULL with errno. */
FILE *pool_unnamed_file(void);

#endif
