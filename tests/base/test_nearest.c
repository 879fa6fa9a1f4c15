/* The nearest name: which mistakes are understood, and when nothing is near. */
#include "sim/base/nearest.h"
#include "sim/base/param.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"serial-sync", "serial-async", "parallel-async",
                                    "lrr",         "gto",          "x"};

static const char *near(const char *typed)
{
    return name_nearest(typed, names, sizeof names / sizeof *names);
}

static void test_each_kind_of_edit(void **state)
{
    (void)state;
    assert_string_equal(near("parallel-async"), "parallel-async");
    assert_string_equal(near("paralel-async"), "parallel-async");
    assert_string_equal(near("parallell-async"), "parallel-async");
    assert_string_equal(near("parallel_async"), "parallel-async");
    assert_string_equal(near("parallel-asnyc"), "parallel-async");
    assert_string_equal(near("paralell-asnyc"), "parallel-async");
}

static void test_the_nearest_wins(void **state)
{
    (void)state;
    assert_string_equal(near("serial-syn"), "serial-sync");
    assert_string_equal(near("serial-asyn"), "serial-async");
}

/* A swap costs one edit, two replacements two: with only "ab.." to choose from the limit shows which it was. */
static void test_a_swap_is_one_edit(void **state)
{
    struct nearest n = nearest_start("gto-lrr");

    (void)state;
    nearest_offer(&n, "tgo-lrr");
    assert_int_equal(n.distance, 1);
    n = nearest_start("kitten");
    nearest_offer(&n, "sitting");
    assert_int_equal(n.distance, 3);
    assert_string_equal(n.best, "sitting");
}

static void test_nothing_is_near(void **state)
{
    char long_name[200];

    (void)state;
    assert_null(near(""));
    assert_null(near("a")); /* one edit from "x", but all of it */
    assert_null(near("abc"));
    assert_null(near("serial"));
    memset(long_name, 's', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_null(near(long_name));
    assert_null(name_nearest("lrr", names, 0));
}

static void test_the_first_of_equals(void **state)
{
    struct nearest n = nearest_start("cat");

    (void)state;
    nearest_offer(&n, "bat");
    nearest_offer(&n, "rat");
    assert_string_equal(n.best, "bat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_edit),   cmocka_unit_test(test_the_nearest_wins),
        cmocka_unit_test(test_a_swap_is_one_edit),  cmocka_unit_test(test_nothing_is_near),
        cmocka_unit_test(test_the_first_of_equals),
    };

    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
