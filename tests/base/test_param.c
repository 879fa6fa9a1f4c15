/* Parameter tables: defaults, every kind of value and of mistake, JSON, and "did you mean". */
#include "sim/base/param.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct object {
    uint32_t count, mode;
    uint64_t rate;
    bool flag;
    char name[PARAM_TEXT_MAX];
};

static const struct param_choice modes[] = {
    {"lrr", "one after another"},
    {"gto", "the same, then the oldest"},
    {NULL, NULL},
};

static const struct param rows[] = {
    {PARAM_KIND_U32, "cu.count", "units", "How many", "4", 1, 1024, offsetof(struct object, count),
     NULL},
    {PARAM_KIND_U64, "link.rate", "bytes per second", "How fast", "12000000000", 0, UINT64_MAX,
     offsetof(struct object, rate), NULL},
    {PARAM_KIND_BOOL, "um.page_faults", "", "Whether it faults", "false", 0, 1,
     offsetof(struct object, flag), NULL},
    {PARAM_KIND_CHOICE, "cu.scheduler", "", "Which goes", "gto", 0, 0,
     offsetof(struct object, mode), modes},
    {PARAM_KIND_TEXT, "name", "", "Its name", "unnamed", 0, 0, offsetof(struct object, name), NULL},
};

static const struct param_table table = {rows, sizeof rows / sizeof *rows};

static struct object defaults(void)
{
    struct object o;

    memset(&o, 0xa5, sizeof o);
    param_defaults(&table, &o);
    return o;
}

static void assert_set(struct object *o, const char *path, const char *value)
{
    struct hd_error err = {0};

    if (param_set(&table, o, path, value, "here", &err) != HD_OK)
        fail_msg("%s=%s: %s", path, value, err.message);
}

/* The value is refused with that code and words in message and hint, and the object is as it was. */
static void assert_refused(const char *path, const char *value, const char *code, const char *word)
{
    struct object o = defaults(), before = o;
    struct hd_error err = {0};

    assert_int_equal(param_set(&table, &o, path, value, "gpu.json:3:7", &err), HD_BAD_INPUT);
    assert_int_equal(err.status, HD_BAD_INPUT);
    assert_string_equal(err.place, "gpu.json:3:7");
    assert_string_equal(err.code, code);
    if (!strstr(err.message, word) && !strstr(err.hint, word))
        fail_msg("\"%s\" is not in: %s (%s)", word, err.message, err.hint);
    assert_memory_equal(&o, &before, sizeof o);
}

static void test_defaults(void **state)
{
    struct object o = defaults();

    (void)state;
    assert_int_equal(o.count, 4);
    assert_true(o.rate == UINT64_C(12000000000));
    assert_false(o.flag);
    assert_int_equal(o.mode, 1);
    assert_string_equal(o.name, "unnamed");
}

static void test_numbers(void **state)
{
    struct object o = defaults();

    (void)state;
    assert_set(&o, "cu.count", "1");
    assert_int_equal(o.count, 1);
    assert_set(&o, "cu.count", "1024");
    assert_int_equal(o.count, 1024);
    assert_set(&o, "cu.count", "0x2A");
    assert_int_equal(o.count, 42);
    assert_set(&o, "link.rate", "18446744073709551615");
    assert_true(o.rate == UINT64_MAX);
    assert_set(&o, "link.rate", "0xffffffffffffffff");
    assert_true(o.rate == UINT64_MAX);
    assert_set(&o, "link.rate", "0");
    assert_true(o.rate == 0);
}

static void test_wrong_numbers(void **state)
{
    static const char *const not_numbers[] = {"",    "-1", "+1", " 1",   "1 ",  "1.5",
                                              "1e3", "0x", "x1", "many", "12k", "1,000"};

    (void)state;
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++)
        assert_refused("cu.count", not_numbers[i], "config-wrong-type", "whole number");
    assert_refused("cu.count", "0", "config-out-of-range", "from 1 to 1024 units");
    assert_refused("cu.count", "1025", "config-out-of-range", "from 1 to 1024 units");
    assert_refused("cu.count", "4294967297", "config-out-of-range", "4294967297");
    assert_refused("link.rate", "18446744073709551616", "config-out-of-range", "bytes per second");
    assert_refused("link.rate", "0x10000000000000000", "config-out-of-range", "How fast");
}

static void test_truth_values(void **state)
{
    struct object o = defaults();

    (void)state;
    assert_set(&o, "um.page_faults", "on");
    assert_true(o.flag);
    assert_set(&o, "um.page_faults", "off");
    assert_false(o.flag);
    assert_set(&o, "um.page_faults", "true");
    assert_true(o.flag);
    assert_set(&o, "um.page_faults", "false");
    assert_false(o.flag);
    assert_refused("um.page_faults", "1", "config-wrong-type", "true or false");
    assert_refused("um.page_faults", "ON", "config-wrong-type", "true or false");
}

static void test_choices(void **state)
{
    struct object o = defaults();

    (void)state;
    assert_set(&o, "cu.scheduler", "lrr");
    assert_int_equal(o.mode, 0);
    assert_refused("cu.scheduler", "gtoo", "config-unknown-choice", "did you mean \"gto\"?");
    assert_refused("cu.scheduler", "oldest", "config-unknown-choice", "lrr, gto");
    assert_refused("cu.scheduler", "oldest", "config-unknown-choice", "Which goes");
}

static void test_texts(void **state)
{
    char longest[PARAM_TEXT_MAX + 1];
    struct object o = defaults();

    (void)state;
    memset(longest, 'a', sizeof longest);
    longest[PARAM_TEXT_MAX] = '\0';
    assert_refused("name", longest, "config-bad-text", "at most 63 bytes");
    longest[PARAM_TEXT_MAX - 1] = '\0';
    assert_set(&o, "name", longest);
    assert_string_equal(o.name, longest);
    assert_set(&o, "name", "");
    assert_string_equal(o.name, "");
    assert_refused("name", "two\nlines", "config-bad-text", "printable");
}

static void test_unknown_keys(void **state)
{
    (void)state;
    assert_refused("cu.cuont", "4", "config-unknown-key", "did you mean \"cu.count\"?");
    assert_refused("um_page_faults", "on", "config-unknown-key", "did you mean \"um.page_faults\"?");
    assert_refused("frequency", "1", "config-unknown-key", "no parameter \"frequency\"");
    assert_refused("", "1", "config-unknown-key", "no parameter");
    assert_null(param_find(&table, "cu"));
    assert_ptr_equal(param_find(&table, "name"), &rows[4]);
}

static void test_json(void **state)
{
    struct object o = defaults();
    struct text all = {0};

    (void)state;
    assert_set(&o, "name", "a \"b\" \\");
    for (size_t i = 0; i < table.count; i++) {
        param_get_json(&rows[i], &o, &all);
        text_add(&all, ";");
    }
    assert_string_equal(text_str(&all), "4;12000000000;false;\"gto\";\"a \\\"b\\\" \\\\\";");
    text_free(&all);
}

static void test_fields_set_by_code_are_checked(void **state)
{
    struct object o = defaults();
    struct hd_error err = {0};

    (void)state;
    assert_int_equal(param_check(&table, &o, &err), HD_OK);
    o.count = 0;
    assert_int_equal(param_check(&table, &o, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "cu.count is 0"));
    o.count = 1025;
    assert_int_equal(param_check(&table, &o, &err), HD_BAD_INPUT);
    o.count = 1024;
    assert_int_equal(param_check(&table, &o, &err), HD_OK);
    o.mode = 2;
    assert_int_equal(param_check(&table, &o, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "config-unknown-choice");
}

static void test_errors_may_be_ignored(void **state)
{
    struct object o = defaults();

    (void)state;
    assert_int_equal(param_set(&table, &o, "nothing", "1", NULL, NULL), HD_BAD_INPUT);
    assert_int_equal(param_set(&table, &o, "cu.scheduler", "1", NULL, NULL), HD_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_truth_values),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_fields_set_by_code_are_checked),
        cmocka_unit_test(test_errors_may_be_ignored),
    };

    return cmocka_run_group_tests_name("param", tests, NULL, NULL);
}
