/* The programs of test_programs.c and more, each at every width. */
#include "tests/cf_programs/sample.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_random_programs_at_every_width(void **state)
{
    (void)state;
    sample_run(test_seed(1000001), test_count(600), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_at_every_width),
    };

    return cmocka_run_group_tests_name("slow_programs", tests, NULL, NULL);
}
