/* Runs the command in a folder of its own and keeps what it printed. */
#ifndef HD_TESTS_CLI_CLI_RIG_H
#define HD_TESTS_CLI_CLI_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cli_rig {
    char folder[64];
    char *out, *err; /* of the last command; standard output and standard error */
    int status;      /* exit status; 128 + the signal's number if one ended it */
};

/* Group setup and teardown: *state is a struct cli_rig. The folder and all in it are removed. */
int cli_rig_setup(void **state);
int cli_rig_teardown(void **state);

/*
 * Runs the command with the words of the line, which are split at blanks; "%" at the start of a word is the folder. The
 * working folder is the project's root. A command that takes 60 seconds is killed.
 */
void cli_rig_run(struct cli_rig *r, const char *line);
/* Starts it in the background, and waits for its end. */
pid_t cli_rig_start(struct cli_rig *r, const char *line);
void cli_rig_wait(struct cli_rig *r, pid_t child);

/* Makes a file of the folder. */
void cli_rig_file(const struct cli_rig *r, const char *name, const char *text);
/* Its content, to be freed; NULL if it is not there. */
char *cli_rig_read(const struct cli_rig *r, const char *name);
bool cli_rig_exists(const struct cli_rig *r, const char *name);
/* Whether a temporary file is left in the folder. */
bool cli_rig_leftovers(const struct cli_rig *r);

/* Fails the test unless the last command ended so, with both texts in its standard error (NULL: any). */
void cli_rig_expect(const struct cli_rig *r, int status, const char *message, const char *hint);

/* A small program, in prog.lua and prog.hasm: adds 1 to n numbers (--arg n) in two kernels, and checks the sum against --arg want. */
void cli_rig_program(const struct cli_rig *r);

#endif
