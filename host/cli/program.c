#include "host/cli/program.h"

#include "host/rt/data_dirs.h"
#include "isa/asm.h"
#include "isa/encode.h"
#include "sim/base/regular.h"

#include <stdio.h>
#include <string.h>

enum { IMAGE_MAX = 64 << 20 }; /* bytes; far more than the assembler makes */

/* The whole file, if it begins like an image; else *image stays empty. A file that cannot be opened is the assembler's to report. */
static enum hd_status read_image(const char *path, struct text *image, struct hd_error *err)
{
    const char *why;
    FILE *in = regular_open(path, &why);
    char block[8192];
    size_t n;

    if (!in)
        return HD_OK;
    while ((n = fread(block, 1, sizeof block, in)) > 0 && image->len <= IMAGE_MAX) {
        if (!image->len && !isa_image_is(block, n))
            break;
        text_add_bytes(image, block, n);
    }
    fclose(in);
    if (image->failed || image->len > IMAGE_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "image-size", path, NULL,
                            "a program has at most %d bytes", IMAGE_MAX);
    return HD_OK;
}

static enum hd_status assemble(const char *path, struct isa_program **out, struct hd_error *err)
{
    struct data_dirs library;

    data_dirs_find("workloads/lib", &library);
    return isa_assemble_file(path, library.at, library.len, out, err);
}

enum hd_status program_load(const char *path, struct isa_program **out, struct hd_error *err)
{
    struct text image = {0};
    enum hd_status status = read_image(path, &image, err);

    if (status == HD_OK)
        status = image.len ? isa_image_read(path, image.at, image.len, out, err)
                           : assemble(path, out, err);
    text_free(&image);
    return status;
}
