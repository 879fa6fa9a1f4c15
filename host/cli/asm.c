/* heddle asm: assembles a file, lists what it became, and writes the program. */
#include "host/cli/cli.h"
#include "host/cli/program.h"

#include "host/results/outfile.h"
#include "isa/dis.h"
#include "isa/encode.h"

#include <inttypes.h>

static void print_kernel(const struct isa_program *p, const struct isa_kernel *k, bool listing)
{
    struct text line = {0};
    char place[256];
    uint32_t pc;

    printf("%s: %" PRIu32 " instructions, %" PRIu32 " vector and %" PRIu32
           " scalar registers, %" PRIu32 " bytes of local memory, %" PRIu32 " parameters\n",
           k->name, k->end - k->first, k->vregs, k->sregs, k->lds_bytes, k->nparams);
    for (pc = k->first; listing && pc < k->end; pc++) {
        text_free(&line);
        isa_disassemble_insn(p, &p->insns[pc], &line);
        isa_place(p, pc, place, sizeof place);
        printf("  %5" PRIu32 "  %-48s %s\n", pc, text_str(&line), place);
    }
    text_free(&line);
}

static enum hd_status write_image(const struct isa_program *p, const char *path,
                                  struct hd_error *err)
{
    struct text image = {0};
    struct out_file out;
    struct json_out to;

    isa_image_write(p, &image);
    if (image.failed) {
        text_free(&image);
        return hd_no_memory(err, "the program");
    }
    if (out_open(&out, path, err) != HD_OK) {
        text_free(&image);
        return HD_BAD_INPUT;
    }
    to = out_json(&out);
    to.write(to.user, image.at, image.len);
    text_free(&image);
    return out_commit(&out, err);
}

int cli_asm(const struct cli_args *args)
{
    struct isa_program *program;
    struct hd_error err;
    enum hd_status status;
    size_t i;

    hd_error_clear(&err);
    if (program_load(args->words.at[0], &program, &err) != HD_OK)
        return cli_fail(&err);
    status = args->out ? write_image(program, args->out, &err) : HD_OK;
    for (i = 0; status == HD_OK && !args->quiet && i < program->nkernels; i++)
        print_kernel(program, &program->kernels[i], args->verbose);
    isa_program_free(program);
    return status == HD_OK ? cli_end(HD_OK) : cli_fail(&err);
}
