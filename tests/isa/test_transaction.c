/* Transactions in programs: opcodes, directives, runs. */
#include "isa/encode.h"
#include "isa/dis.h"
#include "isa/verify.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define K ".kernel k\n"
#define E "\ns_end\n.endkernel\n"

static void choices_survive_text_and_images(void **state)
{
    struct isa_program *p, *image;
    struct text dis = {0}, again = {0}, bytes = {0};
    struct hd_error err;

    (void)state;
    p = mini_assemble(".kernel k\n.tm_detector dcd-sm\n.tm_serialise descending-multiple\n.lds 4\n"
                      "tx.begin\nlocal_load_b32 v0, [0]\ntx.commit" E);
    assert_string_equal(p->kernels[0].tm_detector, "dcd-sm");
    assert_string_equal(p->kernels[0].tm_serialise, "descending-multiple");
    assert_true(p->kernels[0].has_tx);
    isa_disassemble(p, &dis);
    assert_non_null(strstr(text_str(&dis), "\n.tm_detector dcd-sm\n"));
    assert_non_null(strstr(text_str(&dis), "\n.tm_serialise descending-multiple\n"));
    assert_non_null(strstr(text_str(&dis), "    tx.begin\n"));
    isa_image_write(p, &bytes);
    assert_int_equal(isa_image_read("i", bytes.at, bytes.len, &image, &err), HD_OK);
    isa_disassemble(image, &again);
    assert_string_equal(text_str(&again), text_str(&dis));
    text_free(&dis);
    text_free(&again);
    text_free(&bytes);
    isa_program_free(p);
    isa_program_free(image);
}

static void runs_stay_outside(void **state)
{
    static const unsigned want[] = {2, 1, 0, 1, 1, 0, 2, 1, 0};
    struct isa_program *p = mini_assemble(
        K "v_mov_b32 v0, 1\nv_mov_b32 v1, 1\ntx.begin\nv_mov_b32 v0, 1\nv_mov_b32 v1, 1\n"
          "tx.commit\nv_mov_b32 v0, 1\nv_mov_b32 v1, 1" E);

    (void)state;
    for (unsigned i = 0; i < p->ninsns; i++)
        assert_int_equal(p->insns[i].run, want[i]);
    isa_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_survive_text_and_images),
        cmocka_unit_test(runs_stay_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
