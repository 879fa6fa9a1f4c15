/*
 * What the files of heddle sweep share. Plan: the points, from the script and the command line (sweep_plan.c). Store: their rows,
 * on disk (sweep_store.c). Pool: the processes that make them (sweep_pool.c, sweep_point.c).
 */
#ifndef HD_HOST_CLI_SWEEP_H
#define HD_HOST_CLI_SWEEP_H

#include "host/cli/pool.h"
#include "host/cli/session.h"
#include "host/lua/sweep.h"

/* ---- the plan ----------------------------------------------------------------------------------- */

/* One thing that a point sets. */
struct sweep_setting {
    const char *key;
    const struct hd_script_value *value;
    bool given; /* on the command line: a path in it is as seen from here, not from the script */
};

struct sweep_settings {
    struct sweep_setting *at; /* sorted by key, each once */
    size_t len, cap;
};

enum { SWEEP_ID_SIZE = 17 };

struct sweep_plan {
    const struct cli_args *args;
    struct hd_sweep *sweep;
    VEC(struct hd_sweep_setting) given; /* on the command line */
    struct sweep_settings base;
    struct text traceback; /* of an error in the script */
    size_t count;
    struct sweep_id {
        uint64_t id;
        size_t point;
    } * ids; /* sorted by id */
    uint64_t *id_of;
};

/*
 * Runs the script and works out the points; all that can be known to be wrong before a run is. HD_USAGE, HD_BAD_INPUT, HD_SIM_FAILED.
 * sweep_plan_free in any case.
 */
enum hd_status sweep_plan_make(struct sweep_plan *plan, const struct cli_args *args,
                               struct hd_error *err);
void sweep_plan_free(struct sweep_plan *plan);

/* The number of the point with that id, or SIZE_MAX. */
size_t sweep_plan_find(const struct sweep_plan *plan, const char *id);
/* "key=value key=value" of the axes. */
void sweep_plan_label(const struct sweep_plan *plan, size_t point, struct text *out);

/* The command line of one point, as heddle run would get it. */
struct sweep_run {
    struct cli_args args;
    VEC(char *) texts; /* that args refers to */
    char id[SWEEP_ID_SIZE];
    struct text axes_json, args_json; /* args as far as they are set */
    struct result_point point;
};

/* False when memory is short. sweep_run_free in any case; *run must stay where it is. */
bool sweep_run_make(struct sweep_run *run, const struct sweep_plan *plan, size_t point);
void sweep_run_free(struct sweep_run *run);

/* Begins an object in *out, which is then on one line without a newline. */
void sweep_inline_start(struct json_writer *w, struct text *out);
void sweep_inline_end(struct json_writer *w, struct text *out);

/* The keys that are no parameters and no arguments (sweep_keys.c). */
bool sweep_key_is_special(const char *key);
/* HD_BAD_INPUT at the place if there is no such key, or if it cannot have the value. */
enum hd_status sweep_key_check(const struct hd_sweep *sweep, const struct sweep_setting *s,
                               const char *place, struct hd_error *err);
/* Puts the setting into the run's command line. */
bool sweep_key_apply(const struct hd_sweep *sweep, const struct sweep_setting *s,
                     struct sweep_run *run);

/* ---- one point ----------------------------------------------------------------------------------- */

/* In a process of its own: runs the point and writes its row to the file. Returns the exit status; SWEEP_NO_ROW: the row is not whole. */
int sweep_point_run(const struct sweep_plan *plan, size_t point, FILE *to);
enum { SWEEP_NO_ROW = POOL_NOT_STARTED };

/* Adds the row of a point whose process left none: it ended with this status of waitpid. */
bool sweep_point_lost(const struct sweep_plan *plan, size_t point, int wait_status,
                      struct text *row);

/* ---- rows ---------------------------------------------------------------------------------------- */

struct sweep_row {
    uint64_t offset, len; /* in the journal; len 0: there is none yet */
    bool kept;            /* from an earlier sweep */
};

/* How a point ended, for the table. */
struct sweep_outcome {
    char name[48]; /* "ok", "check_failed", or the code of the error */
    size_t count, first;
};

struct sweep_store {
    const struct sweep_plan *plan;
    const char *path; /* of --out, or NULL */
    char *part; /* beside it, where rows are until all have run; NULL: the journal has no name */
    FILE *journal;
    uint64_t end;
    struct sweep_row *rows;
    size_t have, kept;
    bool existed;     /* path, before the sweep */
    struct text line; /* the row that was read last */
    struct {
        struct sweep_outcome *at;
        size_t len, cap;
    } outcomes;
    enum hd_status worst; /* the exit status that the rows deserve */
};

/* With --resume takes over the rows that are ok. HD_USAGE, HD_BAD_INPUT. sweep_store_free in any case. */
enum hd_status sweep_store_open(struct sweep_store *store, const struct sweep_plan *plan,
                                struct hd_error *err);
/* Adds the row of a point, one line of JSON with its newline. */
enum hd_status sweep_store_add(struct sweep_store *store, size_t point, const char *row, size_t len,
                               struct hd_error *err);
/* The same from all of a file. */
enum hd_status sweep_store_add_file(struct sweep_store *store, size_t point, FILE *from,
                                    struct hd_error *err);
/* The row of a point without its newline, valid until the next call; NULL if there is none or it cannot be read. */
const char *sweep_store_row(struct sweep_store *store, size_t point, size_t *len);
/* Writes the rows in the order of the points to --out. */
enum hd_status sweep_store_finish(struct sweep_store *store, bool stopped, struct hd_error *err);
void sweep_store_free(struct sweep_store *store);

/* ---- running -------------------------------------------------------------------------------------- */

/*
 * Runs every point that has no row, --jobs at a time. *stopped: a signal ended it, and the points that ran then have no row. HD_BAD_INPUT
 * if rows cannot be kept, or no process can be made.
 */
enum hd_status sweep_pool_run(const struct sweep_plan *plan, struct sweep_store *store,
                              bool *stopped, struct hd_error *err);

/* ---- text ------------------------------------------------------------------------------------------ */

/* Progress on standard error, where that is a terminal; cleared when all are done. */
struct sweep_progress {
    bool shown;
    double started, last;
    size_t skipped; /* points that were there when it started */
};

void sweep_progress_start(struct sweep_progress *p, const struct sweep_store *store);
void sweep_progress_show(struct sweep_progress *p, const struct sweep_store *store, size_t running);
void sweep_progress_end(struct sweep_progress *p);

/* The points, one a line, and their number. */
void sweep_print_plan(const struct sweep_plan *plan, const struct sweep_store *store, FILE *to);
/* The outcomes with their numbers, in order. */
void sweep_print_outcomes(struct sweep_store *store, FILE *to);
/* On standard error, what went wrong in the first point of each outcome that is an error. */
void sweep_complain(struct sweep_store *store);

#endif
