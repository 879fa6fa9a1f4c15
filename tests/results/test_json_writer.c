/* The JSON writer: exact numbers, escapes, UTF-8, layout, and what is refused. */
#include "host/results/json_writer.h"
#include "host/results/utf8.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What write() makes of one value in an array on one line. */
static void expect_json(void (*write)(struct json_writer *w), const char *json)
{
    struct text out = {0};
    struct json_writer w;
    char whole[256];

    json_start(&w, json_to_text(&out), JSON_COMPACT);
    json_array(&w, NULL);
    write(&w);
    json_end(&w);
    assert_true(json_finish(&w));
    snprintf(whole, sizeof whole, "[%s]\n", json);
    assert_string_equal(text_str(&out), whole);
    text_free(&out);
}

static void write_u64_max(struct json_writer *w)
{
    json_u64(w, NULL, UINT64_MAX);
}

static void write_past_double(struct json_writer *w)
{
    json_u64(w, NULL, (UINT64_C(1) << 53) + 1);
}

static void write_i64_min(struct json_writer *w)
{
    json_i64(w, NULL, INT64_MIN);
}

static void test_integers_are_exact(void **state)
{
    (void)state;
    expect_json(write_u64_max, "18446744073709551615");
    expect_json(write_past_double, "9007199254740993");
    expect_json(write_i64_min, "-9223372036854775808");
}

static void write_times(struct json_writer *w)
{
    json_ns(w, NULL, 0);
    json_ns(w, NULL, 1);
    json_ns(w, NULL, 999);
    json_ns(w, NULL, 1234567);
    json_ns(w, NULL, UINT64_MAX - 1);
    json_ns(w, NULL, JSON_NO_TIME);
    json_us(w, NULL, 3000);
    json_us(w, NULL, UINT64_C(10000000000000000) + 7);
}

static void test_times_are_picoseconds(void **state)
{
    (void)state;
    expect_json(
        write_times,
        "0.000,0.001,0.999,1234.567,18446744073709551.614,null,0.003000,10000000000.000007");
}

static void write_doubles(struct json_writer *w)
{
    json_f64(w, NULL, 0.1);
    json_f64(w, NULL, 1.0 / 3);
    json_f64(w, NULL, 1e300);
    json_f64(w, NULL, -0.0);
    json_f64(w, NULL, 5e-324);
    json_f64(w, NULL, (double)NAN);
    json_f64(w, NULL, (double)INFINITY);
}

static void test_doubles_are_shortest_or_null(void **state)
{
    (void)state;
    expect_json(write_doubles, "0.1,0.3333333333333333,1e+300,-0,4.94065645841247e-324,null,null");
}

/* A linear congruential step (Knuth): random bit patterns, each read back. */
static void test_doubles_read_back(void **state)
{
    uint64_t bits = 1;
    int i;

    (void)state;
    for (i = 0; i < 20000; i++) {
        char digits[40];
        double value;

        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        json_format_double(digits, sizeof digits, value);
        assert_true(strtod(digits, NULL) == value);
        assert_null(strchr(digits, ','));
    }
}

static void write_texts(struct json_writer *w)
{
    json_text(w, NULL, "a\"b\\c\n\t\x01");
    json_text(w, NULL, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
    json_text(w, NULL, "\xff|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
    json_text(w, NULL, NULL);
}

/* Each byte that is in no valid sequence becomes U+FFFD. */
static void test_texts_are_escaped_utf8(void **state)
{
#define BAD "\xef\xbf\xbd"
    (void)state;
    expect_json(write_texts,
                "\"a\\\"b\\\\c\\n\\t\\u0001\","
                "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\","
                "\"" BAD "|" BAD BAD "|" BAD BAD BAD "|" BAD BAD BAD BAD "|" BAD BAD "\",null");
#undef BAD
}

/* RFC 3629: the number of valid sequences of each length is that of the code points in its range, without surrogates. */
static void test_utf8_accepts_each_code_point_once(void **state)
{
    size_t count[5] = {0};
    uint32_t i;

    (void)state;
    for (i = 0; i < 0x10000; i++) {
        const char two[2] = {(char)(i >> 8), (char)i};

        count[2] += utf8_sequence(two, 2) == 2;
    }
    for (i = 0; i < 0x1000000; i++) {
        const char three[3] = {(char)(i >> 16), (char)(i >> 8), (char)i};

        if ((i >> 20) == 0xe)
            count[3] += utf8_sequence(three, 3) == 3;
    }
    assert_int_equal(count[2], 0x800 - 0x80);
    assert_int_equal(count[3], 0x10000 - 0x800 - 0x800);
    assert_int_equal(utf8_sequence("\xf0\x90\x80\x80", 4), 4);
    assert_int_equal(utf8_sequence("\xf4\x8f\xbf\xbf", 4), 4);
    assert_int_equal(utf8_sequence("\xf0\x8f\xbf\xbf", 4), 0);
    assert_int_equal(utf8_sequence("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(utf8_sequence("\xe2\x82\xac", 2), 0);
}

static void write_document(struct json_writer *w)
{
    json_object(w, NULL);
    json_u64(w, "a", 1);
    json_array(w, "rows");
    json_row_object(w, NULL);
    json_u64(w, "x", 1);
    json_array(w, "y");
    json_bool(w, NULL, true);
    json_null(w, NULL);
    json_end(w);
    json_end(w);
    json_end(w);
    json_object(w, "empty");
    json_end(w);
    json_end(w);
}

static void test_layouts(void **state)
{
    struct text pretty = {0}, compact = {0};
    struct json_writer w;

    (void)state;
    json_start(&w, json_to_text(&pretty), JSON_PRETTY);
    write_document(&w);
    assert_true(json_finish(&w));
    json_start(&w, json_to_text(&compact), JSON_COMPACT);
    write_document(&w);
    assert_true(json_finish(&w));
    assert_string_equal(text_str(&pretty), "{\n  \"a\": 1,\n  \"rows\": [\n"
                                           "    {\"x\": 1, \"y\": [true, null]}\n  ],\n"
                                           "  \"empty\": {}\n}\n");
    assert_string_equal(text_str(&compact),
                        "{\"a\":1,\"rows\":[{\"x\":1,\"y\":[true,null]}],\"empty\":{}}\n");
    text_free(&pretty);
    text_free(&compact);
}

static bool fails(void (*write)(struct json_writer *w))
{
    struct text out = {0};
    struct json_writer w;
    bool ok;

    json_start(&w, json_to_text(&out), JSON_COMPACT);
    write(&w);
    ok = json_finish(&w);
    text_free(&out);
    return !ok;
}

static void write_key_in_array(struct json_writer *w)
{
    json_array(w, NULL);
    json_u64(w, "key", 1);
    json_end(w);
}

static void write_no_key(struct json_writer *w)
{
    json_object(w, NULL);
    json_u64(w, NULL, 1);
    json_end(w);
}

static void write_unclosed(struct json_writer *w)
{
    json_object(w, NULL);
}

static void write_closed_twice(struct json_writer *w)
{
    json_object(w, NULL);
    json_end(w);
    json_end(w);
}

static void write_too_deep(struct json_writer *w)
{
    int i;

    for (i = 0; i <= JSON_MAX_DEPTH; i++)
        json_array(w, NULL);
    for (i = 0; i <= JSON_MAX_DEPTH; i++)
        json_end(w);
}

static void test_broken_nesting_is_an_error(void **state)
{
    (void)state;
    assert_true(fails(write_key_in_array));
    assert_true(fails(write_no_key));
    assert_true(fails(write_unclosed));
    assert_true(fails(write_closed_twice));
    assert_true(fails(write_too_deep));
}

/* Takes 100 bytes and no more. */
static bool write_small(void *user, const char *bytes, size_t len)
{
    size_t *room = user;

    (void)bytes;
    if (len > *room)
        return false;
    *room -= len;
    return true;
}

static void test_a_failed_write_is_reported(void **state)
{
    size_t room = 100, i;
    struct json_writer w;

    (void)state;
    json_start(&w, (struct json_out){&room, write_small}, JSON_COMPACT);
    json_array(&w, NULL);
    for (i = 0; i < 10000; i++)
        json_u64(&w, NULL, i);
    json_end(&w);
    assert_false(json_finish(&w));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_are_exact),
        cmocka_unit_test(test_times_are_picoseconds),
        cmocka_unit_test(test_doubles_are_shortest_or_null),
        cmocka_unit_test(test_doubles_read_back),
        cmocka_unit_test(test_texts_are_escaped_utf8),
        cmocka_unit_test(test_utf8_accepts_each_code_point_once),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_broken_nesting_is_an_error),
        cmocka_unit_test(test_a_failed_write_is_reported),
    };

    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
