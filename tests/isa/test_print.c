/* Formats of the print instruction. */
#include "isa/print.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void values_are_written_as_the_conversion_says(void **state)
{
    static const struct {
        const char *format;
        uint64_t bits;
        bool wide;
        const char *want;
    } table[] = {
        {"x = %d", 0xffffffff, false, "x = -1"},
        {"%u!", 0xffffffff, false, "4294967295!"},
        {"%d", 0xffffffff, true, "4294967295"},
        {"%i", 0xffffffffffffffff, true, "-1"},
        {"%x", 0xdeadbeefcafe, true, "deadbeefcafe"},
        {"%08X|", 0xbeef, false, "0000BEEF|"},
        {"%-6d|", 42, false, "42    |"},
        {"100%% of %+.1f%%", 0x3fc00000, false, "100% of +1.5%"},
        {"%g", 0x3fb999999999999a, true, "0.1"},
        {"%.17g", 0x3fb999999999999a, true, "0.10000000000000001"},
        {"%e", 0x7f800000, false, "inf"},
        {"%99.10f", 0x3f800000, false, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct text got = {0};

        assert_null(isa_print_wrong(table[i].format));
        isa_print_value(table[i].format, table[i].bits, table[i].wide, &got);
        if (table[i].want)
            assert_string_equal(text_str(&got), table[i].want);
        else
            assert_int_equal(got.len, 99);
        text_free(&got);
    }
}

static void other_formats_are_wrong(void **state)
{
    static const char *const formats[] = {"",    "x",     "%",    "%%",    "%s",     "%n",
                                          "%ld", "%d %d", "%*d",  "%100d", "%.100f", "%5.5.5f",
                                          "%-",  "%5",    "%d %", "% %d",  "%%%",    "%c"};

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!isa_print_wrong(formats[i]))
            fail_msg("\"%s\" passes", formats[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_the_conversion_says),
        cmocka_unit_test(other_formats_are_wrong),
    };

    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
