/* One run of a program: from the command line to its result. */
#ifndef HD_HOST_CLI_SESSION_H
#define HD_HOST_CLI_SESSION_H

#include "host/cli/cli.h"
#include "host/cli/inst_trace.h"
#include "host/heddle.h"
#include "host/results/result.h"
#include "host/results/trace.h"

/* What one run has over the command line, in order: "KEY=VALUE", "arg.NAME=VALUE", "config=NAME". */
struct session_changes {
    const char *const *at;
    size_t len;
};

struct session {
    struct hd_options options;
    char *config_name;
    struct text args_json, config_json, dump, traceback;
    VEC(char *) asked; /* "arg.NAME=VALUE" of each argument that the program asked for, defaults too */
    struct hd_error error; /* of a run that failed or was stopped */
    struct record *record;
    struct profile *profile; /* NULL: none is wanted */
    struct explain *explain; /* NULL: none was made */
    struct inst_trace *inst; /* NULL: none is wanted */
    struct result_run run;
    struct result result;
};

/*
 * Works out the options: the configuration, --set, then the changes. HD_BAD_INPUT, HD_USAGE. *config_name is the caller's.
 */
enum hd_status session_options(const struct cli_args *args, const struct session_changes *changes,
                               struct hd_options *out, char **config_name, struct hd_error *err);

/*
 * Runs the program to its end. HD_OK: there is a result, whose status says how it went (session_status). Otherwise there is
 * none, as for bad input. prints may be NULL. session_free in any case; *s must stay where it is.
 */
enum hd_status session_run(struct session *s, const struct cli_args *args,
                           const struct session_changes *changes, const volatile int *stop,
                           FILE *prints, struct hd_error *err);
/* The exit status that the run deserves. */
enum hd_status session_status(const struct session *s);
/* Prints what went wrong, if anything did: the error, or the checks that failed. */
void session_complain(const struct session *s);
/* Prints where in the program the error was, if it was there. */
void session_traceback(const struct session *s);
void session_free(struct session *s);

/* What a verb adds to a run that ended well, ahead of the files. HD_BAD_INPUT: there are none; else they are written, and it is the exit status. */
typedef enum hd_status session_work(struct session *s, const struct cli_args *args,
                                    struct hd_error *err);

/*
 * A whole run as a verb: checks the command line, runs the program, does the work (NULL: none), writes the files that were asked for,
 * calls summary unless standard output is one of them or --quiet was given, and complains. The exit status.
 */
int session_main(const struct cli_args *args, session_work *work,
                 void (*summary)(const struct session *s, const struct cli_args *args));

/* Writes the trace that --trace asks for; nothing without. */
enum hd_status session_trace(struct session *s, const struct cli_args *args, struct hd_error *err);
/* Checks what can be checked of --out and --trace-window before a long run. */
enum hd_status session_check_args(const struct cli_args *args, struct hd_error *err);
/* HD_USAGE if --out or --trace would overwrite the program or each other; a part of session_check_args. */
enum hd_status session_check_outputs(const struct cli_args *args, struct hd_error *err);

#endif
