/* Spools: order and content across the border of memory and file, ranges, and what a full disk gives. */
#include "host/results/names.h"
#include "host/results/outfile.h"
#include "host/results/spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Record i: its number, as often as i % 7 + 1 times. */
static size_t make_record(uint64_t i, uint64_t record[7])
{
    size_t n = (size_t)(i % 7) + 1, j;

    for (j = 0; j < n; j++)
        record[j] = i;
    return n * sizeof *record;
}

static void expect_records(struct spool_reader in, uint64_t first, uint64_t count)
{
    uint64_t got[7], wanted[7], i;
    size_t len;

    for (i = first; i < first + count; i++) {
        assert_true(spool_next(&in, got, sizeof got, &len));
        assert_int_equal(len, make_record(i, wanted));
        assert_memory_equal(got, wanted, len);
    }
    assert_false(spool_next(&in, got, sizeof got, &len));
}

static void test_order_and_ranges(void **state)
{
    enum { N = 50000, MIDDLE = 12345 };
    struct spool s = {0};
    uint64_t record[7], middle = 0, i;

    (void)state;
    for (i = 0; i < N; i++) {
        if (i == MIDDLE) {
            middle = spool_tell(&s);
            expect_records(spool_read(&s, 0, middle), 0, MIDDLE);
        }
        spool_add(&s, record, make_record(i, record));
    }
    assert_true(s.filed > 0); /* the file is in use */
    assert_int_equal(spool_check(&s, NULL), HD_OK);
    expect_records(spool_read(&s, 0, spool_tell(&s)), 0, N);
    expect_records(spool_read(&s, middle, spool_tell(&s)), MIDDLE, N - MIDDLE);
    expect_records(spool_read(&s, 0, middle), 0, MIDDLE);
    spool_free(&s);
}

static void test_no_place_for_the_file(void **state)
{
    struct spool s = {0};
    struct hd_error err = {0};
    uint64_t record[7], i;

    (void)state;
    setenv("TMPDIR", "/nonexistent-folder", 1);
    for (i = 0; i < 50000; i++)
        spool_add(&s, record, make_record(i, record));
    unsetenv("TMPDIR");
    assert_int_equal(spool_check(&s, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "temporary file"));
    spool_free(&s);
}

static void test_names_are_kept_once(void **state)
{
    struct names names = {0};
    const char *kept[1000];
    char name[32];
    size_t i;

    (void)state;
    for (i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name %zu", i);
        kept[i] = names_keep(&names, name);
        assert_string_equal(kept[i], name);
    }
    for (i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name %zu", i);
        assert_ptr_equal(names_keep(&names, name), kept[i]);
    }
    assert_null(names_keep(&names, NULL));
    names_free(&names);
}

/* ---- output files ------------------------------------------------------------------------------------- */

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/heddle-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/out.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if anything else was left there */
}

static void put(struct out_file *o, const char *text)
{
    struct json_out to = out_json(o);

    to.write(to.user, text, strlen(text));
}

static void expect_content(const char *text)
{
    char got[64] = "";
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

static void test_a_file_is_there_whole_or_not_at_all(void **state)
{
    struct out_file o;
    struct stat st;
    char temporary[128];

    (void)state;
    assert_int_equal(out_open(&o, path, NULL), HD_OK);
    put(&o, "first");
    assert_int_not_equal(stat(path, &st), 0); /* not yet */
    assert_int_equal(out_commit(&o, NULL), HD_OK);
    expect_content("first");
    assert_int_equal(out_open(&o, path, NULL), HD_OK);
    put(&o, "half");
    snprintf(temporary, sizeof temporary, "%s", o.temporary);
    assert_int_equal(stat(temporary, &st), 0);
    out_abandon(&o);
    expect_content("first");
    assert_int_not_equal(stat(temporary, &st), 0);
    assert_int_equal(out_probe(path, NULL), HD_OK);
    expect_content("first");
}

/* The one that ends last stays, whole. */
static void test_two_writers_of_one_file(void **state)
{
    struct out_file a, b;

    (void)state;
    assert_int_equal(out_open(&a, path, NULL), HD_OK);
    assert_int_equal(out_open(&b, path, NULL), HD_OK);
    put(&a, "one");
    put(&b, "other");
    put(&a, " and only");
    assert_int_equal(out_commit(&b, NULL), HD_OK);
    expect_content("other");
    assert_int_equal(out_commit(&a, NULL), HD_OK);
    expect_content("one and only");
}

static void test_files_that_cannot_be_written(void **state)
{
    struct hd_error err = {0};
    struct out_file o;

    (void)state;
    assert_int_equal(out_open(&o, "/nonexistent-folder/out.json", &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(out_open(&o, folder, &err), HD_BAD_INPUT);
    assert_int_equal(out_open(&o, "/dev/full", &err), HD_OK);
    put(&o, "text");
    assert_int_equal(out_commit(&o, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "No space left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_ranges),
        cmocka_unit_test(test_no_place_for_the_file),
        cmocka_unit_test(test_names_are_kept_once),
        cmocka_unit_test_setup_teardown(test_a_file_is_there_whole_or_not_at_all, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_two_writers_of_one_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_files_that_cannot_be_written, make_folder,
                                        remove_folder),
    };

    return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
