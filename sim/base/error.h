/*
 * Errors are values. A function that can fail for a reason the user can mend
 * returns an hd_status and fills an hd_error; nothing below host/ prints or exits.
 */
#ifndef HD_SIM_BASE_ERROR_H
#define HD_SIM_BASE_ERROR_H

/* The numbers are the exit statuses of the command. */
enum hd_status {
    HD_OK = 0,
    HD_CHECK_FAILED = 1, /* the run finished, a check of the workload did not hold */
    HD_USAGE = 2,        /* wrong command line */
    HD_BAD_INPUT =
        3, /* configuration, script or kernel is wrong, or wants more than the device has */
    HD_SIM_FAILED = 4, /* the simulated program failed, or ran into a limit */
    HD_INTERNAL = 5,   /* an invariant of heddle itself is broken */
    HD_STOPPED = 6,    /* stopped by a signal or by the limit of host time */
};

struct hd_error {
    enum hd_status status;
    char code[48];   /* stable and greppable, such as "asm-unknown-opcode" */
    char place[256]; /* "file:line:column", or "kernel k pc 12 (file:line) lane 3"; may be empty */
    char message[1024]; /* one sentence without a final newline */
    char hint[512];     /* what to do about it; may be empty */
};

/*
 * Fills *err (which may be NULL) and returns status, so that a caller can write
 * `return hd_error_set(err, ...)`. place and hint may be NULL. Text that does not
 * fit is cut and ends in "...". Thread-safe for distinct err.
 */
enum hd_status hd_error_set(struct hd_error *err, enum hd_status status, const char *code,
                            const char *place, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * The host has no memory for what fmt names, such as "the trace": HD_BAD_INPUT, since less input would do. A run that is
 * under way ends with HD_SIM_FAILED and the same code instead.
 */
enum hd_status hd_no_memory(struct hd_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Empties *err and sets HD_OK. */
void hd_error_clear(struct hd_error *err);

/*
 * A broken invariant of heddle: fills *err with status HD_INTERNAL and the source
 * place, and returns HD_INTERNAL.
 */
#define HD_BROKEN(err, ...)                                                                        \
    hd_error_set((err), HD_INTERNAL, "internal", __FILE__, "please report this run", __VA_ARGS__)

#endif
