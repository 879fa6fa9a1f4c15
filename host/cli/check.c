/* heddle check: what can be said about a kernel file before it runs. */
#include "host/cli/cli.h"
#include "host/cli/program.h"

#include "isa/verify.h"

static const char *const verdicts[] = {
    [ISA_CERTAIN] = "error", [ISA_POSSIBLE] = "remark", [ISA_UNKNOWN] = "checked at run time"};

static void print_finding(const struct isa_program *p, const struct isa_finding *f, bool verbose)
{
    char place[256];

    if (f->verdict == ISA_UNKNOWN && !verbose)
        return;
    isa_place(p, f->pc, place, sizeof place);
    printf("%s: %s: %s [%s]\n", place, verdicts[f->verdict], f->text, f->code);
    if (f->hint && *f->hint)
        printf("  hint: %s\n", f->hint);
    if (f->verdict == ISA_UNKNOWN && f->check)
        printf("  by: %s\n", f->check);
}

static int report(const struct isa_program *p, const struct isa_findings *found,
                  const struct cli_args *args)
{
    size_t count[3] = {0}, i;

    for (i = 0; i < found->len; i++) {
        count[found->at[i].verdict]++;
        if (!args->quiet)
            print_finding(p, &found->at[i], args->verbose);
    }
    if (!args->quiet)
        printf("%s: %zu errors, %zu remarks, %zu checks at run time (-v shows them)\n",
               args->words.at[0], count[ISA_CERTAIN], count[ISA_POSSIBLE], count[ISA_UNKNOWN]);
    return count[ISA_CERTAIN] ? HD_BAD_INPUT : HD_OK;
}

int cli_check(const struct cli_args *args)
{
    struct isa_findings found = {0};
    struct isa_program *program;
    struct hd_error err;
    int status;

    hd_error_clear(&err);
    if (program_load(args->words.at[0], &program, &err) != HD_OK)
        return cli_fail(&err);
    isa_verify(program, &found);
    status = report(program, &found, args);
    if (found.failed) {
        hd_no_memory(&err, "the findings");
        status = cli_fail(&err);
    }
    isa_findings_free(&found);
    isa_program_free(program);
    return cli_end(status);
}
