/* Errors as values: what is kept, what is cut, and what may be left out. */
#include "sim/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_all_parts_are_kept(void **state)
{
    struct hd_error err;

    (void)state;
    assert_int_equal(
        hd_error_set(&err, HD_BAD_INPUT, "code", "a.lua:3:1", "do this", "%s %d", "x", 7),
        HD_BAD_INPUT);
    assert_int_equal(err.status, HD_BAD_INPUT);
    assert_string_equal(err.code, "code");
    assert_string_equal(err.place, "a.lua:3:1");
    assert_string_equal(err.hint, "do this");
    assert_string_equal(err.message, "x 7");
    hd_error_clear(&err);
    assert_int_equal(err.status, HD_OK);
    assert_string_equal(err.message, "");
}

static void test_parts_may_be_left_out(void **state)
{
    struct hd_error err;

    (void)state;
    assert_int_equal(hd_error_set(NULL, HD_USAGE, "code", NULL, NULL, "text"), HD_USAGE);
    hd_error_set(&err, HD_USAGE, "code", NULL, NULL, "text");
    assert_string_equal(err.place, "");
    assert_string_equal(err.hint, "");
}

/* Each part holds its size less one; one byte more and it ends in "...". */
static void test_long_text_is_cut(void **state)
{
    static char text[2000];
    struct hd_error err;

    (void)state;
    memset(text, 'a', sizeof text - 1);
    hd_error_set(&err, HD_USAGE, text, text, text, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_string_equal(err.message + sizeof err.message - 5, "a...");
    assert_string_equal(err.place + sizeof err.place - 5, "a...");
    assert_string_equal(err.code + sizeof err.code - 5, "a...");
    assert_string_equal(err.hint + sizeof err.hint - 5, "a...");
    text[sizeof err.message - 1] = '\0';
    hd_error_set(&err, HD_USAGE, "", "", "", "%s", text);
    assert_string_equal(err.message, text);
}

static void test_broken_invariants_are_internal(void **state)
{
    struct hd_error err;

    (void)state;
    assert_int_equal(HD_BROKEN(&err, "%d left", 3), HD_INTERNAL);
    assert_non_null(strstr(err.place, "test_error.c"));
    assert_string_equal(err.message, "3 left");
}

static void test_short_memory_has_one_code(void **state)
{
    struct hd_error err;

    (void)state;
    assert_int_equal(hd_no_memory(&err, "kernel %s", "k"), HD_BAD_INPUT);
    assert_int_equal(err.status, HD_BAD_INPUT);
    assert_string_equal(err.code, "memory");
    assert_string_equal(err.message, "not enough memory for kernel k");
    assert_int_equal(hd_no_memory(NULL, "the trace"), HD_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_parts_are_kept),
        cmocka_unit_test(test_parts_may_be_left_out),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_broken_invariants_are_internal),
        cmocka_unit_test(test_short_memory_has_one_code),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
