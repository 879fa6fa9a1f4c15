/* The table of functions in host/lua/README.md is the registration tables, row by row. */
#include "host/lua/script.h"
#include "host/lua/internal.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

/* A '|' would end a cell of the table. */
static void add_cell(struct text *out, const char *text)
{
    for (; *text; text++)
        text_add(out, *text == '|' ? "\\|" : "%c", *text);
}

static void make_table(struct text *out)
{
    struct hd_script_api row;

    text_add(out, "| function | what it does |\n|---|---|\n");
    for (size_t i = 0; hd_script_api_row(i, &row); i++) {
        text_add(out, "| `%s%s", row.group, row.name);
        add_cell(out, row.args);
        text_add(out, "` | ");
        add_cell(out, row.doc);
        text_add(out, " |\n");
    }
}

static void test_table_of_functions(void **state)
{
    struct text manual = {0}, table = {0};
    struct hd_error err;

    (void)state;
    make_table(&table);
    assert_int_equal(file_read("host/lua/README.md", &manual, &err), HD_OK);
    if (!strstr(text_str(&manual), text_str(&table)))
        print_message("the table should be:\n%s", text_str(&table));
    assert_non_null(strstr(text_str(&manual), text_str(&table)));
    text_free(&manual);
    text_free(&table);
}

static void test_every_row_is_documented(void **state)
{
    struct hd_script_api row;
    size_t i;

    (void)state;
    for (i = 0; hd_script_api_row(i, &row); i++) {
        assert_true(strlen(row.doc) > 10);
        assert_true(row.args[0] == '\0' || row.args[0] == '(' || row.args[0] == '[');
    }
    assert_in_range(i, 40, 200);
    assert_false(hd_script_api_row(SIZE_MAX, &row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_of_functions),
        cmocka_unit_test(test_every_row_is_documented),
    };

    return cmocka_run_group_tests_name("manual", tests, NULL, NULL);
}
