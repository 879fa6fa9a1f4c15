#include "host/cli/program.h"

#include "isa/asm.h"

#include <stdio.h>
#include <string.h>

enum hd_status program_load(const char *path, struct isa_program **out, struct hd_error *err)
{
    const char *slash = strrchr(path, '/');
    char beside[4096];
    const char *dirs[] = {beside, "workloads/lib"};

    snprintf(beside, sizeof beside, "%.*s../lib", slash ? (int)(slash + 1 - path) : 0, path);
    return isa_assemble_file(path, dirs, sizeof dirs / sizeof *dirs, out, err);
}
