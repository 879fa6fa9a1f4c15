/* More of the programs of test_programs.c, each at two widths. */
#include "tests/cf_programs/sample.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_random_programs_at_two_widths(void **state)
{
    (void)state;
    sample_run(test_seed(1000001), test_count(600), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_at_two_widths),
    };

    return cmocka_run_group_tests_name("slow_programs", tests, NULL, NULL);
}
