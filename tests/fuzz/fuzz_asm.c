/* Any bytes as a source of kernels: a program or an error, and the error has a place. */
#include "isa/asm.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct isa_program *program = NULL;
    struct hd_error err = {0};

    if (isa_assemble_text("fuzz.hasm", (const char *)data, size, NULL, 0, &program, &err) == HD_OK)
        isa_program_free(program);
    else if (program || !err.code[0] || !err.place[0])
        abort();
    return 0;
}
