#include "host/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- messages --------------------------------------------------------------------------------- */

bool cli_colours(int fd)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

    return !(off && *off) && term && strcmp(term, "dumb") != 0 && isatty(fd);
}

int cli_fail(const struct hd_error *err)
{
    const char *red = cli_colours(STDERR_FILENO) ? "\033[1;31m" : "", *plain = *red ? "\033[0m" : "";

    fflush(stdout);
    fprintf(stderr, "heddle: %serror:%s %s%s%s\n", red, plain, err->place, *err->place ? ": " : "",
            err->message);
    if (*err->hint)
        fprintf(stderr, "  hint: %s\n", err->hint);
    return (int)err->status;
}

void cli_warn(const char *fmt, ...)
{
    va_list args;

    fputs("heddle: warning: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

static bool write_stdout(void *user, const char *bytes, size_t len)
{
    (void)user;
    return fwrite(bytes, 1, len, stdout) == len;
}

struct json_out cli_stdout(void)
{
    return (struct json_out){NULL, write_stdout};
}

/* Whether the reader of a pipe has seen enough; a write that failed before has not kept its reason. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return errno == EPIPE || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR));
}

int cli_end(int status)
{
    struct hd_error err;

    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (reader_left())
        return status;
    hd_error_set(&err, HD_BAD_INPUT, "output", NULL, NULL, "cannot write to standard output: %s",
                 strerror(errno ? errno : EIO));
    return status ? status : cli_fail(&err);
}

/* ---- numbers -------------------------------------------------------------------------------------- */

/* Four significant digits of value in the unit. */
static void format_unit(double value, const char *unit, char *out, size_t size)
{
    int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;

    snprintf(out, size, "%.*f %s", decimals, value, unit);
}

void cli_format_time(uint64_t ps, char *out, size_t size)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ps / 1e3;
    size_t i = 0;

    if (ps < 1000000) {
        snprintf(out, size, "%" PRIu64 ".%03" PRIu64 " ns", ps / 1000, ps % 1000);
        return;
    }
    while (value >= 1000 && i + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        i++;
    }
    format_unit(value, units[i], out, size);
}

void cli_format_bytes(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t i = 0;

    if (bytes < 1000) {
        snprintf(out, size, "%" PRIu64 " B", bytes);
        return;
    }
    while (value >= 1000 && i + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        i++;
    }
    format_unit(value, units[i], out, size);
}

void cli_format_count(uint64_t n, char *out, size_t size)
{
    static const char units[] = "kMGTPE";
    double value = (double)n;
    int unit = -1;

    if (n < 100000) {
        snprintf(out, size, "%" PRIu64, n);
        return;
    }
    while (value >= 1000) {
        value /= 1000;
        unit++;
    }
    snprintf(out, size, "%.*f%c", value >= 100 ? 1 : value >= 10 ? 2 : 3, value, units[unit]);
}

void cli_format_percent(double fraction, char *out, size_t size)
{
    if (isfinite(fraction))
        snprintf(out, size, "%.1f %%", fraction * 100);
    else
        snprintf(out, size, "-");
}

/* Bytes of the next word, which ends at a blank. */
static size_t word_length(const char *text)
{
    return strcspn(text, " ");
}

void cli_paragraph(const char *lead, unsigned indent, unsigned width, const char *text)
{
    size_t column = indent;

    printf("%s", lead);
    while (*text) {
        size_t len = word_length(text);

        if (column > indent && column + 1 + len > width) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        }
        column += (size_t)printf("%s%.*s", column > indent ? " " : "", (int)len, text);
        text += len + strspn(text + len, " ");
    }
    putchar('\n');
}

const char *cli_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- tables ------------------------------------------------------------------------------------------- */

void cli_cell(struct cli_table *t, const char *fmt, ...)
{
    struct text cell = {0};
    va_list args;
    char line[256];

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    text_add_bytes(&cell, line, strlen(line));
    if (!vec_push(&t->cells, cell.at))
        text_free(&cell);
}

static const char *cell_at(const struct cli_table *t, size_t i)
{
    return t->cells.at[i] ? t->cells.at[i] : "";
}

void cli_table_print(const struct cli_table *t, FILE *to)
{
    size_t width[CLI_COLUMNS_MAX] = {0}, i;

    for (i = 0; i < t->cells.len; i++)
        if (strlen(cell_at(t, i)) > width[i % t->columns])
            width[i % t->columns] = strlen(cell_at(t, i));
    for (i = 0; i < t->cells.len; i++) {
        size_t column = i % t->columns;

        fprintf(to, column ? "  %*s" : "%-*s", (int)width[column], cell_at(t, i));
        if (column + 1 == t->columns)
            fputc('\n', to);
    }
}

void cli_table_free(struct cli_table *t)
{
    size_t i;

    for (i = 0; i < t->cells.len; i++)
        free(t->cells.at[i]);
    vec_free(&t->cells);
}
