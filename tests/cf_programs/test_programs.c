/* Random structured programs have one meaning in every form, under every divergence unit and at every width. */
#include "tests/cf_programs/run.h"
#include "tests/cf_programs/sample.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_random_programs(void **state)
{
    (void)state;
    sample_run(test_seed(1), test_count(400), 1);
}

static void test_every_production_is_reached(void **state)
{
    (void)state;
    sample_productions(1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_every_production_is_reached),
    };

    return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
