/* heddle dis: what a file assembles to, as text that assembles to the same. */
#include "host/cli/cli.h"
#include "host/cli/program.h"

#include "isa/dis.h"

int cli_dis(const struct cli_args *args)
{
    struct isa_program *program;
    struct text out = {0};
    struct hd_error err;

    hd_error_clear(&err);
    if (program_load(args->words.at[0], &program, &err) != HD_OK)
        return cli_fail(&err);
    isa_disassemble(program, &out);
    fputs(text_str(&out), stdout);
    text_free(&out);
    isa_program_free(program);
    return cli_end(HD_OK);
}
