/* .npy files: written, read again, and read when they are wrong. */
#include "host/lua/npy.h"
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define GPU "local gpu = require 'heddle' "

static struct rig rig;
static char data[2][256];
static const char *const data_list[] = {data[0], data[1]};

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig);
    snprintf(data[0], sizeof data[0], "one=%s", rig_path(&rig, "one.npy"));
    snprintf(data[1], sizeof data[1], "two=%s", rig_path(&rig, "two.npy"));
    rig.o.data = data_list;
    rig.o.ndata = 2;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_free(&rig);
    return 0;
}

static void write_bytes(const char *name, const void *bytes, size_t length)
{
    FILE *f = fopen(rig_path(&rig, name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

/* A version 1.0 file: the header as given, padded to 118 bytes, then the elements. */
static void write_npy(const char *name, const char *dict, const void *elements, size_t bytes)
{
    char file[512] = "\x93NUMPY\1\0\x76\0";

    memset(file + 10, ' ', 118);
    memcpy(file + 10, dict, strlen(dict));
    file[127] = '\n';
    memcpy(file + 128, elements, bytes);
    write_bytes(name, file, 128 + bytes);
}

static void test_round_trip_of_every_type(void **state)
{
    (void)state;
    rig_run(&rig,
            GPU "for _, t in ipairs{'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f32', "
                "'f64'} do\n"
                "  local a, b = gpu.array(t, 77):fill('i + 3'), gpu.array(t, 77)\n"
                "  a:to_npy('one') b:from_npy('one') assert(a:hash() == b:hash() and b[76] == 79)\n"
                "end gpu.array('f32', 1):to_npy('two') print('same')");
    if (rig.status != HD_OK)
        fail_msg("%s", rig.err.message);
    assert_string_equal(text_str(&rig.log), "same\n");
}

/* What is no regular file is written to where it is, never replaced; a link stands for what it leads to. */
static void test_full_device(void **state)
{
    char path[256];
    struct stat st;

    (void)state;
    snprintf(path, sizeof path, "%s", rig_path(&rig, "one.npy"));
    unlink(path);
    assert_int_equal(symlink("/dev/full", path), 0);
    rig_run(&rig, GPU "gpu.array('f32', 1):to_npy('two') gpu.array('f32', 4):to_npy('one')");
    assert_int_equal(rig.status, HD_BAD_INPUT);
    assert_non_null(strstr(rig.err.message, "No space left"));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(unlink(path), 0);
}

/* By the format's text: magic, version, length of the header, the dictionary padded so that the elements are at 128. */
static void test_bytes_are_numpys(void **state)
{
    static const char dict[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    char byte[1024];
    FILE *f;
    size_t n;

    (void)state;
    rig_run(&rig,
            GPU "gpu.array('i32', 2):from{1, -2}:to_npy('one') gpu.array('i32', 2):to_npy('two')");
    assert_int_equal(rig.status, HD_OK);
    f = fopen(rig_path(&rig, "one.npy"), "rb");
    assert_non_null(f);
    n = fread(byte, 1, sizeof byte, f);
    fclose(f);
    assert_int_equal(n, 128 + 8);
    assert_memory_equal(byte, "\x93NUMPY\1\0\x76\0", 10);
    assert_memory_equal(byte + 10, dict, strlen(dict));
    for (size_t i = 10 + strlen(dict); i < 127; i++)
        assert_int_equal(byte[i], ' ');
    assert_int_equal(byte[127], '\n');
    assert_memory_equal(byte + 128, "\1\0\0\0\xfe\xff\xff\xff", 8);
}

static void reads(const char *dict, const char *type, unsigned count, size_t bytes,
                  const char *message)
{
    static const char elements[64] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    char program[256];

    write_npy("one.npy", dict, elements, bytes);
    write_npy("two.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", elements, 1);
    snprintf(program, sizeof program,
             GPU "gpu.array('u8', 1):from_npy('two')\nlocal a = gpu.array('%s', "
                 "%u):from_npy('one') print(a[0])",
             type, count);
    rig_run(&rig, program);
    if (!message) {
        if (rig.status != HD_OK)
            fail_msg("%s: %s", dict, rig.err.message);
        return;
    }
    if (rig.status != HD_BAD_INPUT || !strstr(rig.err.message, message))
        fail_msg("%s: %d %s", dict, rig.status, rig.err.message);
    assert_string_equal(rig.err.place, rig_path(&rig, "one.npy"));
}

static void test_headers(void **state)
{
    (void)state;
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "i32", 2, 8, NULL);
    reads("{'shape':(2,3),'fortran_order':False,'descr':'<i4'}", "i32", 6, 24, NULL);
    reads("{'descr': '<i4', 'fortran_order': True, 'shape': (6,), }", "i32", 6, 24, NULL);
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", "i32", 1, 4, NULL);
    reads("{'descr': '<u1', 'fortran_order': False, 'shape': (4,), }", "u8", 4, 4, NULL);
    reads("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", "i32", 6, 24,
          "Fortran order");
    reads("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", "i32", 2, 8,
          "holds '>i4', the array needs '<i4' (i32)");
    reads("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "i32", 2, 8, "holds '<f4'");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", "i32", 2, 12,
          "holds 3 elements, the array 2");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "i32", 2, 7,
          "shorter or longer");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "i32", 2, 9,
          "shorter or longer");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (2, }", "i32", 2, 8, "lacks");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (-2,), }", "i32", 2, 8, "lacks");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "i32", 2,
          8, "lacks");
    reads("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "i32", 2,
          8, "lacks");
    reads("{'descr': '<i4', 'shape': (2,), }", "i32", 2, 8, "lacks");
    reads("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }", "i32", 2, 8,
          "holds [('a'");
    reads("", "i32", 2, 8, "lacks");
}

/* Every truncation of a good file is an error, never a crash or a short array. */
static void test_truncated_files(void **state)
{
    char file[136] = "\x93NUMPY\1\0\x76\0{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    const struct element_type *t = element_type_named("i32");
    struct hd_error err;
    FILE *f;

    (void)state;
    for (size_t length = 0; length < sizeof file; length++) {
        write_bytes("cut.npy", file, length);
        assert_int_equal(npy_open(rig_path(&rig, "cut.npy"), t, 2, &f, &err), HD_BAD_INPUT);
    }
    memset(file + 8, 0xff, 2);
    write_bytes("cut.npy", file, sizeof file);
    assert_int_equal(npy_open(rig_path(&rig, "cut.npy"), t, 2, &f, &err), HD_BAD_INPUT);
    file[6] = 2; /* a header of 4 GiB */
    memset(file + 8, 0xff, 4);
    write_bytes("cut.npy", file, sizeof file);
    assert_int_equal(npy_open(rig_path(&rig, "cut.npy"), t, 2, &f, &err), HD_BAD_INPUT);
    file[6] = 9;
    write_bytes("cut.npy", file, sizeof file);
    assert_int_equal(npy_open(rig_path(&rig, "cut.npy"), t, 2, &f, &err), HD_BAD_INPUT);
}

static void test_only_named_files(void **state)
{
    (void)state;
    rig_run(&rig, GPU "\ngpu.array('i32', 2):from_npy('three')");
    assert_int_equal(rig.status, HD_BAD_INPUT);
    assert_string_equal(rig.err.message, "there is no data 'three'");
    assert_string_equal(rig.err.hint, "give it with --data three=FILE");
    unlink(rig_path(&rig, "one.npy"));
    rig_run(&rig, GPU "\ngpu.array('i32', 2):from_npy('one')");
    assert_non_null(strstr(rig.err.message, "cannot open the file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_every_type), cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_bytes_are_numpys),         cmocka_unit_test(test_headers),
        cmocka_unit_test(test_truncated_files),          cmocka_unit_test(test_only_named_files),
    };

    return cmocka_run_group_tests_name("npy", tests, set_up, tear_down);
}
