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
    const char *program = args->words.at[0];
    const char *clash = NULL;

    if (one_file(args->out, program))
        clash = "--out names the program";
    else if (one_file(args->trace, program))
        clash = "--trace names the program";
    else if (one_file(args->out, args->trace))
        clash = "--out and --trace name one file";
    if (!clash)
        return HD_OK;
    return hd_error_set(err, HD_USAGE, "usage", NULL, "choose another file", "%s", clash);
}
