#include "host/rt/data_dirs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the program that runs, or "". */
static void program_dir(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    char *slash;

    out[n > 0 ? n : 0] = '\0';
    slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

/* A path that does not fit is left out. */
static void add(struct data_dirs *out, const char *base, const char *below, const char *what)
{
    char *text = out->text[out->len];
    size_t size = sizeof out->text[0];
    int n = snprintf(text, size, "%s%s%s", base, below, what);

    if (n >= 0 && (size_t)n < size)
        out->at[out->len++] = text;
}

void data_dirs_find(const char *what, struct data_dirs *out)
{
    static const char *const beside[] = {"/../", "/../../", "/../share/heddle/"};
    const char *data = getenv("HEDDLE_DATA");
    char program[PATH_MAX];

    out->len = 0;
    program_dir(program);
    if (data && *data)
        add(out, data, "/", what);
    for (size_t i = 0; *program && i < sizeof beside / sizeof *beside; i++)
        add(out, program, beside[i], what);
    add(out, "", "", what);
}
