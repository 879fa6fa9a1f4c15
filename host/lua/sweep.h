/*
 * Sweeps: a script in Lua returns a table that says which runs are wanted, as a base and axes whose cross product it is.
 * It runs nothing itself. What it may return is in host/lua/README.md; what the keys mean is host/cli's.
 */
#ifndef HD_HOST_LUA_SWEEP_H
#define HD_HOST_LUA_SWEEP_H

#include "host/lua/script.h"
#include "host/results/json_writer.h"

enum { HD_SWEEP_COLUMNS_MAX = 16, HD_SWEEP_POINTS_MAX = 1000000 };

/* The keys with a place of their own in the script's table; what they mean is in host/cli/sweep_keys.c. */
#define HD_SWEEP_SCALARS "workload", "config", "seed", "iterations", "warmup", "detail", "timing"

/* A whole number that a script wrote as a float is HD_SCRIPT_INT. */
struct hd_sweep_setting {
    char *key; /* "workload", "config", "seed", ..., "arg.NAME", or a configuration key */
    struct hd_script_value value;
};

/* One or more keys that vary together. */
struct hd_sweep_axis {
    size_t first, width; /* its columns */
    VEC(struct hd_script_value)
    values; /* one after the other, width for each step; at least one step, and each once */
    size_t repeated; /* steps that were there before, and were left out */
};

/* A key that varies. */
struct hd_sweep_column {
    char *key;
    size_t axis, at; /* which value of each of the axis' steps it has */
};

/* A file of results, or another one, for the script's post. */
struct hd_sweep_input {
    char *name, *path; /* the path from here */
};

struct sweep_script; /* its Lua state */

struct hd_sweep {
    char *path, *folder;                 /* of the script */
    VEC(struct hd_sweep_setting) base;   /* sorted by key, each once */
    VEC(struct hd_sweep_axis) axes;      /* the last one varies fastest */
    VEC(struct hd_sweep_column) columns; /* of all axes, in order; each key once */
    VEC(struct hd_sweep_input) inputs;   /* sorted by name */
    bool has_post;
    struct sweep_script *script;
};

/*
 * Runs the script and takes what it returns. HD_BAD_INPUT: it cannot be read, ended in an error, or its table is wrong;
 * the place is then "file (axes[2].key)". HD_SIM_FAILED: a limit of the script. *out is NULL unless HD_OK.
 */
enum hd_status hd_sweep_load(const char *path, struct hd_sweep **out, struct text *traceback,
                             struct hd_error *err);
void hd_sweep_free(struct hd_sweep *sweep);

/* The number of points, 0 if there are more than HD_SWEEP_POINTS_MAX. */
size_t hd_sweep_count(const struct hd_sweep *sweep);
/* The number of steps of an axis. */
size_t hd_sweep_steps(const struct hd_sweep_axis *axis);
/* The value of a column at a point; NULL where a point of a list of points leaves it to the base. */
const struct hd_script_value *hd_sweep_value(const struct hd_sweep *sweep, size_t column,
                                             size_t point);

/* Whether the value in an axis stands for none: what it is, the base says. */
bool hd_sweep_is_unset(const struct hd_script_value *value);

/* The text that --arg and --set take. */
void hd_sweep_text(const struct hd_script_value *value, struct text *out);
/* A JSON value of its own type. */
void hd_sweep_json(struct json_writer *w, const char *key, const struct hd_script_value *value);

/* What post reads and writes. */
struct hd_sweep_post {
    void *user;
    /* Result object number i as one line; false past the last. The text lives until the next call. */
    bool (*row)(void *user, size_t i, const char **line, size_t *len);
    /* Takes a file that post returned; names come in order. */
    enum hd_status (*output)(void *user, const char *name, const char *text, size_t len,
                             struct hd_error *err);
};

/*
 * Calls the script's post(results, inputs) and hands on the files that it returns. HD_OK without one. A file's name is letters,
 * digits, '.', '_' and '-', and starts with none of the last three.
 */
enum hd_status hd_sweep_run_post(struct hd_sweep *sweep, const struct hd_sweep_post *post,
                                 struct text *traceback, struct hd_error *err);

#endif
