/* What compare runs side by side: schedulers, or the values of axes. */
#ifndef HD_HOST_CLI_POINTS_H
#define HD_HOST_CLI_POINTS_H

#include "host/cli/session.h"

enum { POINTS_MAX = 10000, AXES_MAX = 8 };

/* One run: what it changes, and what came out of it. */
struct point {
    char *label;                 /* the heading of a column; its file is label.json */
    char *changes[AXES_MAX + 1]; /* "KEY=VALUE" each; ends with NULL */
    size_t nchanges;
    bool ran;
    uint32_t status; /* enum result_status */
    uint64_t time_ps, device_time_ps, contention_free_ps;
    uint64_t checks_passed, checks_failed;
    struct overlap overlap;
    struct metrics metrics;
};

struct points {
    struct point *at;
    size_t len, cap;
    size_t axes; /* 0: the schedulers */
};

/*
 * The serial scheduler without and with prefetch, and the parallel one; without page faults prefetch changes nothing, and
 * the first is left out. HD_BAD_INPUT when memory is short.
 */
enum hd_status points_schedulers(struct points *out, bool page_faults, struct hd_error *err);
/* The cross product of the axes, the last one fastest. HD_USAGE, HD_BAD_INPUT. */
enum hd_status points_axes(struct points *out, const struct cli_list *axes, struct hd_error *err);
void points_free(struct points *p);

/* Keeps what the table shows of a run. */
void point_take(struct point *p, const struct session *s);

/* The schedulers as columns, with the text that says why; or the points as rows. */
void points_print(const struct points *p, FILE *to);
/* What bounds the parallel run, and the most that any schedule could gain. */
void points_explain(const struct points *p, FILE *to);

#endif
