/*
 * Runs a host program written in Lua on a runtime. This is all that the command uses of
 * host/lua; the functions that a program finds are described by hd_script_api_row().
 */
#ifndef HD_HOST_LUA_SCRIPT_H
#define HD_HOST_LUA_SCRIPT_H

#include "host/heddle.h"
#include "sim/base/text.h"
#include "sim/base/vec.h"

/* iterations or warmup: as the region says, else 1. */
#define HD_SCRIPT_UNSET UINT32_MAX

struct hd_script_options {
    const char *path;        /* of the program, as the user wrote it */
    const char *const *args; /* "KEY=VALUE", for gpu.arg */
    size_t nargs;
    const char *const *data; /* "NAME=FILE": the only files that from_npy and to_npy reach */
    size_t ndata;
    const char *lib_dir; /* shared modules; NULL: the folder lib beside the program's folder */
    uint64_t max_memory; /* bytes of the Lua state, 0: no limit; arrays do not count */
    uint64_t max_instructions;   /* of the Lua machine */
    bool allow_io;               /* opens io and os, and the working folder to require */
    uint32_t iterations, warmup; /* of every region; HD_SCRIPT_UNSET: not given */
    uint64_t seed;               /* of math.random, and of array:random beside its own seed */
    void (*print)(void *user, const char *line); /* one line of print, no newline */
    void *user;
};

/* No arguments, no data, 1 GiB, 2^32 instructions, no io, seed 1, print to standard error. */
void hd_script_options_default(struct hd_script_options *o);

enum hd_script_kind { HD_SCRIPT_INT, HD_SCRIPT_FLOAT, HD_SCRIPT_STRING, HD_SCRIPT_BOOL };

struct hd_script_value {
    enum hd_script_kind kind;
    int64_t i; /* HD_SCRIPT_INT, and HD_SCRIPT_BOOL as 0 or 1 */
    double f;
    char *s; /* NULL unless HD_SCRIPT_STRING */
};

/* What one gpu.arg asked for. */
struct hd_script_arg {
    char *name;
    struct hd_script_value value, def; /* of one kind */
    bool given;                        /* value came from options.args */
};

/* What a run leaves behind; all zero before hd_script_run(), owned by the caller. */
struct hd_script_info {
    VEC(struct hd_script_arg) args; /* in the order of their first gpu.arg */
    struct text traceback;          /* of the error; empty if none */
    uint64_t instructions; /* of the Lua machine, counted in thousands; work in C by size counts too */
    uint64_t peak_memory; /* bytes of the Lua state */
};

void hd_script_info_free(struct hd_script_info *info);

/*
 * Runs the program to its end and waits for all that it started (hd_finish). *info is filled in every case.
 * HD_USAGE: args or data are not of the form NAME=TEXT, or name one twice. HD_BAD_INPUT: the
 * program cannot be read, or ended in a Lua error (place is file:line, or the place in the kernel source
 * that is to blame), or args or data hold a name that the program never asked for. HD_SIM_FAILED: a limit,
 * or the simulated program failed. HD_STOPPED: the stop flag of the runtime's limits.
 */
enum hd_status hd_script_run(hd_runtime *rt, const struct hd_script_options *o,
                             struct hd_script_info *info, struct hd_error *err);

/* One function of the API. The texts are constants. */
struct hd_script_api {
    const char *group; /* how a call starts: "gpu.", "array:", "kernel:", or "" for a global */
    const char *name;
    const char *args; /* with its parentheses: "(name, default [, min, max])" */
    const char *doc;
};

/* Row i of the API in the order of the manual; false past the last one. */
bool hd_script_api_row(size_t i, struct hd_script_api *out);

#endif
