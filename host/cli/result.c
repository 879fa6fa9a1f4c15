/* heddle result: what a result holds. */
#include "host/cli/cli.h"

#include "host/results/result.h"

#include <string.h>

int cli_result(const struct cli_args *args)
{
    struct json_writer w;
    struct hd_error err;

    if (strcmp(args->words.at[0], "schema") != 0) {
        hd_error_set(&err, HD_USAGE, "usage", NULL, "heddle result schema",
                     "heddle result cannot %s", args->words.at[0]);
        return cli_fail(&err);
    }
    json_start(&w, cli_stdout(), JSON_PRETTY);
    result_schema(&w);
    json_finish(&w);
    return cli_end(HD_OK);
}
