/* What the verbs share. */
#ifndef HD_HOST_CLI_CLI_H
#define HD_HOST_CLI_CLI_H

#include "host/cli/args.h"
#include "host/results/json_writer.h"
#include "sim/base/text.h"
#include "sim/sim.h"

#include <stdio.h>

/* The verbs: each gets the parsed command line and returns the exit status. */
int cli_run(const struct cli_args *args);
int cli_compare(const struct cli_args *args);
int cli_sweep(const struct cli_args *args);
int cli_profile(const struct cli_args *args);
int cli_explain(const struct cli_args *args);
int cli_tm_advise(const struct cli_args *args);
int cli_asm(const struct cli_args *args);
int cli_dis(const struct cli_args *args);
int cli_check(const struct cli_args *args);
int cli_config(const struct cli_args *args);
int cli_list(const struct cli_args *args);
int cli_result(const struct cli_args *args);

/* Prints the error and its hint to stderr; returns its status. */
int cli_fail(const struct hd_error *err);
/* "heddle: warning: ..." on stderr. */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For a json_writer on standard output, which is checked by cli_end(). */
struct json_out cli_stdout(void);
/* Whether colours are wanted on a file descriptor: it is a terminal, and neither NO_COLOR nor TERM=dumb says no. */
bool cli_colours(int fd);
/* Flushes standard output; status, or HD_BAD_INPUT with a message if it could not be written. */
int cli_end(int status);

/* ---- texts ------------------------------------------------------------------------------------ */

/* "12.35 ms", "780 ns": four significant digits. */
void cli_format_time(uint64_t ps, char *out, size_t size);
/* "160 MB", "4 B": powers of ten. */
void cli_format_bytes(uint64_t bytes, char *out, size_t size);
/* "12345", "123.4k", "12.34M": at most six characters. */
void cli_format_count(uint64_t n, char *out, size_t size);
/* "12.3 %"; "-" if not finite. */
void cli_format_percent(double fraction, char *out, size_t size);

/* Prints the text on standard output in lines of that width: the first behind lead, which has indent columns, the others behind as many blanks. */
void cli_paragraph(const char *lead, unsigned indent, unsigned width, const char *text);

/* What is behind the last slash. */
const char *cli_base_name(const char *path);

/* A table of texts: the first column is flush left, the others flush right. */
enum { CLI_COLUMNS_MAX = 32 };

struct cli_table {
    size_t columns; /* at most CLI_COLUMNS_MAX */
    struct cli_cells {
        char **at; /* row by row */
        size_t len, cap;
    } cells;
};

/* Adds a cell; rows are full when they have `columns` of them. Memory that is short shows as missing cells. */
void cli_cell(struct cli_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_table_print(const struct cli_table *t, FILE *to);
void cli_table_free(struct cli_table *t);

/* ---- stopping ---------------------------------------------------------------------------------- */

/*
 * From here on SIGINT, SIGTERM and the end of that many seconds (0: never) set the flag; a second signal, or a
 * program that does not heed the flag for three seconds, ends the process with status 6.
 */
const volatile int *cli_stop_flag(double max_seconds);
/* The run is over: results may take their time. */
void cli_stop_heeded(void);

#endif
