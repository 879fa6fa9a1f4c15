/*
 * Any bytes as a source of kernels: an error with its place, or a program that comes back with the same code from its
 * disassembly and with the same bytes from its image. Bytes that begin like an image are read as one.
 */
#include "isa/asm.h"
#include "isa/dis.h"
#include "isa/encode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_code(const struct isa_program *a, const struct isa_program *b)
{
    if (a->ninsns != b->ninsns || a->nkernels != b->nkernels || a->code_bytes != b->code_bytes)
        abort();
}

static void assemble_again(const struct isa_program *program)
{
    struct isa_program *again;
    struct text text = {0};

    isa_disassemble(program, &text);
    if (isa_assemble_text("dis", text_str(&text), text.len, NULL, 0, &again, NULL) != HD_OK)
        abort();
    same_code(program, again);
    isa_program_free(again);
    text_free(&text);
}

static void read_again(const struct isa_program *program)
{
    struct isa_program *again;
    struct text image = {0}, second = {0};

    isa_image_write(program, &image);
    if (isa_image_read("image", image.at, image.len, &again, NULL) != HD_OK)
        abort();
    isa_image_write(again, &second);
    if (image.len != second.len || memcmp(image.at, second.at, image.len) != 0)
        abort();
    isa_program_free(again);
    text_free(&image);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct isa_program *program = NULL;
    struct hd_error err = {0};
    enum hd_status status;
    bool image = isa_image_is(data, size);

    if (image)
        status = isa_image_read("fuzz", data, size, &program, &err);
    else
        status = isa_assemble_text("fuzz.hasm", (const char *)data, size, NULL, 0, &program, &err);
    if (status == HD_OK) {
        if (!image) /* names in an image need not be ones that text can write */
            assemble_again(program);
        read_again(program);
        isa_program_free(program);
    } else if (program || !err.code[0] || !err.place[0]) {
        abort();
    }
    return 0;
}
