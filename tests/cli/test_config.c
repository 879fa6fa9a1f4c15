/* Reading configurations: what is taken, and where and how each mistake is named. */
#include "host/config/config.h"
#include "host/config/find.h"
#include "host/config/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static enum hd_status load(const char *text, size_t len, struct hd_options *o, struct hd_error *err)
{
    hd_options_default(o);
    memset(err, 0, sizeof *err);
    return hd_config_load_text("c.json", text, len, o, err);
}

static void expect_taken(const char *text, struct hd_options *o)
{
    struct hd_error err;

    if (load(text, strlen(text), o, &err) != HD_OK)
        fail_msg("%s\n%s: %s", text, err.place, err.message);
}

static void test_values_of_each_kind(void **state)
{
    struct hd_options o;

    (void)state;
    expect_taken(
        "{\"name\": \"gr\\u00fc\\u00df\", \"compute_units\": 3, \"l1\": {\"enabled\": false,"
        " \"bytes\": {\"value\": 4096, \"source\": \"a book\", \"$comment\": \"p. 3\"}},"
        " \"host\": {\"scheduler\": \"serial-sync\", \"prefetch\": false}}",
        &o);
    assert_string_equal(o.gpu.name, "gr\xc3\xbc\xc3\x9f");
    assert_int_equal(o.gpu.compute_units, 3);
    assert_int_equal(o.gpu.l1_bytes, 4096);
    assert_false(o.gpu.l1_enabled);
    assert_false(o.host.prefetch);
    assert_string_equal(hd_config_param("host.scheduler")->choices[o.host.scheduler].name,
                        "serial-sync");
}

static void test_numbers_are_exact(void **state)
{
    struct hd_options o;

    (void)state;
    expect_taken("{\"dram\": {\"bytes\": 1099511627776, \"bytes_per_second\": 1e11}}", &o);
    assert_true(o.gpu.dram_bytes == UINT64_C(1) << 40);
    assert_true(o.gpu.dram_rate == UINT64_C(100000000000));
    expect_taken(
        "{\"dram\": {\"bytes\": \"0xffffffffff\", \"bytes_per_second\": \"99999999999999\"}}", &o);
    assert_true(o.gpu.dram_bytes == (UINT64_C(1) << 40) - 1);
    assert_true(o.gpu.dram_rate == UINT64_C(99999999999999));
}

static void test_comments_are_skipped(void **state)
{
    struct hd_options o;

    (void)state;
    expect_taken(
        "{\"$schema\": \"x\", \"$comment\": [1, {\"a\": 2}], \"l1\": {\"$comment\": {\"b\": []},"
        " \"bytes\": 8192}, \"compute_units\": 7}",
        &o);
    assert_int_equal(o.gpu.l1_bytes, 8192);
    assert_int_equal(o.gpu.compute_units, 7);
}

/* ---- mistakes ------------------------------------------------------------------------------------- */

struct mistake {
    const char *text, *place, *message, *hint;
};

static const struct mistake mistakes[] = {
    /* form */
    {"", "c.json:1:1", "expected a value, found the end of the file", ""},
    {"{\"compute_units\": 3", "c.json:1:20", "expected ',' or '}', found the end of the file", ""},
    {"{\n  \"compute_units\": 3,\n}", "c.json:3:1", "expected a key", "comma too many"},
    {"{\"compute_units\": 3} x", "c.json:1:22", "expected the end of the file, found 'x'", ""},
    {"{\"compute_units\" 3}", "c.json:1:18", "expected ':'", ""},
    {"{compute_units: 3}", "c.json:1:2", "expected a key in double quotes, found 'c'", ""},
    {"{\"compute_units\": 03}", "c.json:1:19", "a number must not begin with 0", ""},
    {"{\"compute_units\": 0x3}", "c.json:1:20", "expected ',' or '}', found 'x'", ""},
    {"{\"compute_units\": 1.}", "c.json:1:21", "expected a digit", ""},
    {"{\"compute_units\": NaN}", "c.json:1:19", "expected a value, found 'N'", ""},
    {"{\"compute_units\": 3, \"compute_units\": 4}", "c.json:1:22",
     "\"compute_units\" is there twice", ""},
    {"{\"compute_units\": 3, \"compute\\u005funits\": 4}", "c.json:1:44", "is there twice", ""},
    {"{\"name\": \"a\\u0000b\"}", "c.json:1:12", "\\u0000", ""},
    {"{\"name\": \"\\ud800\"}", "c.json:1:11", "half of a surrogate pair", ""},
    {"{\"name\": \"a\\uDC00\"}", "c.json:1:12", "half of a surrogate pair", ""},
    {"{\"name\": \"\\uD83D\\u0041\"}", "c.json:1:11", "half of a surrogate pair", ""},
    {"{\"name\": \"\\ud83d\\", "c.json:1:11", "half of a surrogate pair", ""},
    {"{\"name\": \"a\tb\"}", "c.json:1:12", "control characters", "\\t"},
    {"{\"name\": \"a\xff\"}", "c.json:1:12", "not valid UTF-8", ""},
    {"{\"name\": \"a\\x\"}", "c.json:1:12", "unknown escape", ""},
    {"{\"name\": \"abc", "c.json:1:10", "not closed", ""},
    {"\xef\xbb\xbf{}", "c.json:1:1", "byte order mark", ""},
    {"// hello\n{}", "c.json:1:1", "expected a value, found '/'", ""},
    {"[1]", "c.json:1:1", "a configuration must be an object", ""},
    /* keys */
    {"{\n \"l1\": {\n  \"byts\": 1}}", "c.json:3:11 (/l1/byts)", "no parameter \"l1.byts\"",
     "did you mean \"l1.bytes\"?"},
    {"{\"wavefrontsize\": 32}", "c.json:1:19 (/wavefrontsize)", "no parameter \"wavefrontsize\"",
     "wavefront_size"},
    {"{\"l1.bytes\": 1}", "c.json:1:14", "has a dot", "\"l1\""},
    {"{\"l1\": 5}", "c.json:1:8 (/l1)", "l1 must be an object", ""},
    {"{\"compute_units\": {\"count\": 3}}", "c.json:1:29", "compute_units must be a value, or", ""},
    {"{\"compute_units\": {\"source\": \"x\"}}", "c.json:1:19", "compute_units must be a value, or",
     ""},
    {"{\"compute_units\": {\"value\": 3, \"source\": 4}}", "c.json:1:42", "source is a string", ""},
    {"{\"compute_units\": {\"value\": {\"value\": 3}}}", "c.json:1:29", "must be a value, or", ""},
    /* types */
    {"{\"compute_units\": \"three\"}", "c.json:1:19", "a whole number, not \"three\"", ""},
    {"{\"compute_units\": 1.5}", "c.json:1:19", "compute_units must be a whole number", ""},
    {"{\"compute_units\": -4}", "c.json:1:19", "compute_units must be a whole number", ""},
    {"{\"compute_units\": true}", "c.json:1:19", "compute_units must be a whole number", ""},
    {"{\"compute_units\": null}", "c.json:1:19", "compute_units must be a whole number", ""},
    {"{\"compute_units\": [3]}", "c.json:1:19", "compute_units must be a whole number", ""},
    {"{\"dram\": {\"bytes\": 1e999}}", "c.json:1:20", "dram.bytes must be a whole number", "2^53"},
    {"{\"dram\": {\"bytes\": 18446744073709551615}}", "c.json:1:20", "must be a whole number",
     "strings"},
    {"{\"l1\": {\"enabled\": \"yes\"}}", "c.json:1:20 (/l1/enabled)", "must be true or false", ""},
    {"{\"l1\": {\"enabled\": 1}}", "c.json:1:20", "l1.enabled must be true or false", ""},
    {"{\"name\": 5}", "c.json:1:10", "name must be a string", ""},
    {"{\"host\": {\"scheduler\": \"paralel-async\"}}", "c.json:1:24", "it must be one of",
     "parallel-async"},
    /* values */
    {"{\"compute_units\": 0}", "c.json:1:19", "compute_units is 0; it must be from 1", ""},
    {"{\"compute_units\": {\"value\": 0, \"source\": \"none\"}}", "c.json:1:29", "must be from 1",
     ""},
    {"{\"extends\": 5}", "c.json:1:13", "extends must be", ""},
    {"{\"extends\": \"p10\"}", "c.json:1:13 (/extends)", "no configuration \"p10\"", "p100"},
};

static void test_mistakes(void **state)
{
    struct hd_options o;
    struct hd_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];

        if (load(m->text, strlen(m->text), &o, &err) != HD_BAD_INPUT)
            fail_msg("taken: %s", m->text);
        if (strncmp(err.place, m->place, strlen(m->place)) != 0 ||
            !strstr(err.message, m->message) || !strstr(err.hint, m->hint))
            fail_msg("%s\n%s: %s [%s]", m->text, err.place, err.message, err.hint);
    }
}

static void test_a_nul_byte_is_no_end(void **state)
{
    static const char text[] = "{\"compute_units\": 3}\0{";
    struct hd_options o;
    struct hd_error err;

    (void)state;
    assert_int_equal(load(text, sizeof text - 1, &o, &err), HD_BAD_INPUT);
    assert_string_equal(err.place, "c.json:1:21");
}

static void expect_nesting(size_t depth, enum hd_status status)
{
    struct text t = {0};
    struct hd_options o;
    struct hd_error err;
    size_t i;

    text_add(&t, "{\"$comment\": ");
    for (i = 1; i < depth; i++)
        text_add(&t, "[");
    for (i = 1; i < depth; i++)
        text_add(&t, "]");
    text_add(&t, "}");
    assert_int_equal(load(t.at, t.len, &o, &err), status);
    if (status != HD_OK)
        assert_non_null(strstr(err.message, "deeper than 64"));
    text_free(&t);
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    expect_nesting(64, HD_OK);
    expect_nesting(65, HD_BAD_INPUT);
    expect_nesting(1000000, HD_BAD_INPUT);
}

static void test_size_is_bounded(void **state)
{
    size_t len = (size_t)JSON_TEXT_MAX_BYTES + 1;
    char *text = malloc(len);
    struct hd_options o;
    struct hd_error err;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', len);
    assert_int_equal(load(text, len, &o, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "16 MiB"));
    free(text);
}

/* Every prefix of a right text is refused without a crash, and with a place. */
static void test_truncated_texts(void **state)
{
    static const char text[] =
        "{\"l1\": {\"bytes\": {\"value\": 1e3, \"source\": \"\\u00e9\"}}, \"name\": \"x\"}";
    struct hd_options o;
    struct hd_error err;
    size_t n;

    (void)state;
    for (n = 0; n + 1 < sizeof text - 1; n++) {
        assert_int_equal(load(text, n, &o, &err), HD_BAD_INPUT);
        assert_string_not_equal(err.place, "");
    }
}

/* ---- --set -------------------------------------------------------------------------------------------- */

static void test_set(void **state)
{
    struct hd_options o;
    struct hd_error err;

    (void)state;
    hd_options_default(&o);
    assert_int_equal(hd_config_set(&o, "l1.bytes=0x8000", &err), HD_OK);
    assert_int_equal(o.gpu.l1_bytes, 32768);
    assert_int_equal(hd_config_set(&o, "host.prefetch=off", &err), HD_OK);
    assert_false(o.host.prefetch);
    assert_int_equal(hd_config_set(&o, "l1.bytes", &err), HD_USAGE);
    assert_int_equal(hd_config_set(&o, "=3", &err), HD_USAGE);
    assert_int_equal(hd_config_set(&o, "l1.bytes=many", &err), HD_BAD_INPUT);
    assert_string_equal(err.place, "--set");
    assert_int_equal(hd_config_set(&o, "host.schedular=serial-sync", &err), HD_BAD_INPUT);
    assert_string_equal(err.hint, "did you mean \"host.scheduler\"?");
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/heddle-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.json", "b.json", "c.json", "loop.json"};
    char path[128];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static const char *write_file(const char *name, const char *text)
{
    static char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* What a file says wins over its base, wherever "extends" stands; a base is looked for beside the file. */
static void test_extends(void **state)
{
    struct hd_options o;
    struct hd_error err;

    (void)state;
    write_file("a.json", "{\"extends\": \"tiny\", \"compute_units\": 11, \"cu\": {\"simds\": 1}}");
    hd_options_default(&o);
    assert_int_equal(
        hd_config_load(write_file("b.json", "{\"compute_units\": 12, \"extends\": \"a.json\"}"), &o,
                       &err),
        HD_OK);
    assert_int_equal(o.gpu.compute_units, 12);
    assert_int_equal(o.gpu.simds, 1);
    assert_string_equal(o.gpu.name, "tiny");
}

static void test_extends_in_a_circle(void **state)
{
    struct hd_options o;
    struct hd_error err;

    (void)state;
    hd_options_default(&o);
    assert_int_equal(
        hd_config_load(write_file("loop.json", "{\"extends\": \"loop.json\"}"), &o, &err),
        HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "extends itself"));
    write_file("a.json", "{\"extends\": \"b.json\"}");
    assert_int_equal(hd_config_load(write_file("b.json", "{\"extends\": \"./a.json\"}"), &o, &err),
                     HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "extends"));
}

static void test_files_that_are_not_there(void **state)
{
    struct hd_options o;
    struct hd_error err;

    (void)state;
    hd_options_default(&o);
    assert_int_equal(hd_config_load("nothing.json", &o, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(hd_config_load("/tmp/", &o, &err), HD_BAD_INPUT);
    assert_int_equal(hd_config_load("tinny", &o, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.hint, "did you mean \"tiny\"?"));
}

/* ---- what is written is read --------------------------------------------------------------------------------- */

static void test_presets_read_back_as_written(void **state)
{
    struct config_names names = {0};
    size_t i;

    (void)state;
    assert_true(config_list(&names));
    assert_true(names.len >= 3);
    for (i = 0; i < names.len; i++) {
        struct text first = {0}, second = {0};
        struct hd_options o, again;
        struct hd_error err = {0};
        struct json_writer w;

        hd_options_default(&o);
        if (hd_config_load(names.at[i], &o, &err) != HD_OK ||
            sim_config_check(&o.gpu, &err) != HD_OK)
            fail_msg("%s: %s: %s", names.at[i], err.place, err.message);
        json_start(&w, json_to_text(&first), JSON_PRETTY);
        hd_config_write(&w, NULL, &o);
        assert_true(json_finish(&w));
        expect_taken(text_str(&first), &again);
        json_start(&w, json_to_text(&second), JSON_PRETTY);
        hd_config_write(&w, NULL, &again);
        assert_true(json_finish(&w));
        assert_string_equal(text_str(&first), text_str(&second));
        text_free(&first);
        text_free(&second);
    }
    config_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_each_kind),
        cmocka_unit_test(test_numbers_are_exact),
        cmocka_unit_test(test_comments_are_skipped),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_a_nul_byte_is_no_end),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_size_is_bounded),
        cmocka_unit_test(test_truncated_texts),
        cmocka_unit_test(test_set),
        cmocka_unit_test_setup_teardown(test_extends, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_extends_in_a_circle, make_folder, remove_folder),
        cmocka_unit_test(test_files_that_are_not_there),
        cmocka_unit_test(test_presets_read_back_as_written),
    };

    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
