/* Outputs must not fall on each other, nor on the program. */
#include "host/cli/session.h"

#include <string.h>
#include <sys/stat.h>

/* By what they are, so that links and spellings count; devices and pipes take any number of outputs. */
static bool one_file(const char *a, const char *b)
{
    struct stat sa, sb;

    if (!a || !b)
        return false;
    if (stat(a, &sa) != 0 || stat(b, &sb) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

enum hd_status session_check_outputs(const struct cli_args *args, struct hd_error *err)
{
    const struct {
        const char *name, *path;
    } files[] = {
        {"the program", args->words.at[0]},
        {"--out", args->out},
        {"--trace", args->trace},
        {"--trace-inst-out", args->trace_inst_out},
    };

    for (size_t i = 1; i < sizeof files / sizeof *files; i++)
        for (size_t k = 0; k < i; k++) {
            if (!one_file(files[i].path, files[k].path))
                continue;
            if (k == 0)
                return hd_error_set(err, HD_USAGE, "usage", NULL, "choose another file",
                                    "%s names the program", files[i].name);
            return hd_error_set(err, HD_USAGE, "usage", NULL, "choose another file",
                                "%s and %s name one file", files[k].name, files[i].name);
        }
    return HD_OK;
}
