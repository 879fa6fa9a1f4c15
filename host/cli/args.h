/*
 * The command line. Verbs are the rows of the table in host/cli/main.c, options those of the table in
 * host/cli/args.c; parser and help follow the tables.
 */
#ifndef HD_HOST_CLI_ARGS_H
#define HD_HOST_CLI_ARGS_H

#include "sim/base/error.h"
#include "sim/base/vec.h"

#include <stdint.h>

struct cli_list {
    const char **at;
    size_t len, cap;
};

enum { CLI_ITERATIONS_MAX = 1000000 }; /* of a region, and of its warm-up */

enum cli_check { CLI_CHECK_NONE, CLI_CHECK_TM };
enum cli_timing { CLI_TIMING_ON, CLI_TIMING_OFF };

/* What the command line says; texts are those of argv. */
struct cli_args {
    struct cli_list words; /* what is no option, without the verb */
    struct cli_list set, arg, data, axis;
    const char *config, *out, *trace, *trace_window, *trace_inst, *trace_inst_out;
    uint64_t trace_cap, max_cycles, max_instr, seed, iterations,
        warmup;    /* the last two, and a sweep's seed: UINT64_MAX if not given */
    uint64_t jobs; /* of a sweep; 0: one a processor */
    double max_time;
    uint32_t detail, timing, lanes, check; /* indices of their choices */
    const char *kernel;
    uint64_t top;
    bool all, profile; /* profile: set by the verb */
    bool json, allow_io, resume, dry_run, quiet, verbose, help, version;
};

/* Verbs as bits, for the options that each takes. */
enum cli_verb_bit {
    CLI_RUN = 1 << 0,
    CLI_COMPARE = 1 << 1,
    CLI_ASM = 1 << 2,
    CLI_DIS = 1 << 3,
    CLI_CHECK = 1 << 4,
    CLI_CONFIG = 1 << 5,
    CLI_LIST = 1 << 6,
    CLI_RESULT = 1 << 7,
    CLI_SWEEP = 1 << 8,
    CLI_PROFILE = 1 << 9,
    CLI_EXPLAIN = 1 << 10,
    CLI_TM_ADVISE = 1 << 11,
    CLI_SIMULATE = CLI_RUN | CLI_COMPARE | CLI_PROFILE | CLI_EXPLAIN | CLI_TM_ADVISE,
    CLI_POINTS = CLI_SIMULATE | CLI_SWEEP,
    CLI_ALL = (1 << 12) - 1,
};

struct cli_verb {
    const char *name;
    unsigned bit; /* enum cli_verb_bit */
    size_t words_min, words_max;
    const char *usage; /* behind "heddle NAME " */
    const char *doc;
    const char *more;                        /* further lines of the help, or "" */
    const char *example;                     /* a whole command line */
    int (*run)(const struct cli_args *args); /* the exit status */
};

/* Reads argv[first...]. HD_USAGE with a hint. cli_args_free in any case. */
enum hd_status cli_parse(struct cli_args *out, const struct cli_verb *verb, int argc,
                         char *const *argv, int first, struct hd_error *err);
void cli_args_free(struct cli_args *args);

/* Prints the options of a verb to stdout, for its help. */
void cli_print_options(const struct cli_verb *verb);

#endif
