/*
 * What a kernel may touch, and what it finds there: PB-14 (range and alignment) and PB-15 (initial
 * values).
 */
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ARRAYS = 20, WORDS = 100, TARGET = 7 };

/* Twenty arrays of 100 words, each word with a value of its own. */
struct arrays {
    struct krig r;
    uint32_t id[ARRAYS];
};

static uint32_t word_of(unsigned array, unsigned word)
{
    return 1000 * array + word;
}

static void arrays_open(struct arrays *a)
{
    krig_open(&a->r, "wavefront_size", "64", NULL);
    for (unsigned i = 0; i < ARRAYS; i++) {
        char name[16];
        uint32_t *data;

        snprintf(name, sizeof name, "array%u", i);
        a->id[i] = krig_array_named(&a->r, name, WORDS * 4);
        data = sim_array_data(a->r.m, a->id[i]);
        for (unsigned k = 0; k < WORDS; k++)
            data[k] = word_of(i, k);
    }
}

static void check_untouched(struct arrays *a)
{
    for (unsigned i = 0; i < ARRAYS; i++)
        for (unsigned k = 0; k < WORDS; k++)
            assert_int_equal(((const uint32_t *)sim_array_data(a->r.m, a->id[i]))[k], word_of(i, k));
}

static uint64_t address_of(const struct arrays *a, unsigned array, int64_t offset)
{
    return sim_array_address(a->r.m, a->id[array]) + (uint64_t)offset;
}

/* One lane does `line` with the address in v[0:1] and 5 in v2. */
static enum hd_status touch(struct arrays *a, const char *line, uint64_t address)
{
    char text[512];

    snprintf(text, sizeof text,
             ".kernel touch\n.param at u64\n.param keep u32[]\n v_mov_b64 v[0:1], at\n v_mov_b32 "
             "v2, 5\n v_mov_b32 v3, 0\n %s\n s_end\n"
             ".endkernel\n",
             line);
    return krig_try_run(
        &a->r, &(struct krig_launch){.text = text,
                                     .nargs = 2,
                                     .args = {KRIG_VALUE(address), KRIG_ARRAY(a->id[TARGET])}});
}

static const char *const accesses[] = {
    "global_load_b32 v2, [v[0:1]]",
    "global_store_b32 [v[0:1]], v2",
    "global_atomic_add_u32 [v[0:1]], v2",
    "global_atomic_add_u32_rtn v2, [v[0:1]], v2",
};
enum { ACCESSES = sizeof accesses / sizeof *accesses };

/* ---- range ---- */

static void test_pb14_out_of_range(void **state)
{
    static const struct {
        int64_t offset; /* from the array, or the whole address */
        bool absolute;
        const char *near; /* in the message */
    } rows[] = {
        {4 * WORDS, false, "0 bytes past the end of array array7 (100 elements of 4 bytes)"},
        {4 * WORDS + 8, false, "8 bytes past the end of array array7"},
        {-4, false, "4 bytes before array array7 (100 elements of 4 bytes)"},
        {INT64_C(4) << 30, false, "in no array"},
        {INT64_C(1) << 62, false, "in no array"},
        {INT64_C(1) << 62, true, "in no array"},
        {-4, true, "in no array"},
        {0, true, "null"},
        {256, true, "null with an offset"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < ACCESSES; k++) {
            struct arrays a;

            arrays_open(&a);
            assert_int_equal(touch(&a, accesses[k],
                                   rows[i].absolute ? (uint64_t)rows[i].offset
                                                    : address_of(&a, TARGET, rows[i].offset)),
                             HD_SIM_FAILED);
            assert_string_equal(a.r.err.code, "outside-arrays");
            assert_string_equal(a.r.err.place,
                                "kernel touch group 0 wavefront 0 lane 0 pc 3 (test.hasm:7)");
            if (!strstr(a.r.err.message, rows[i].near))
                fail_msg("`%s` lacks `%s`", a.r.err.message, rows[i].near);
            assert_non_null(strstr(sim_fault_dump(a.r.m), "v2"));
            check_untouched(&a);
            krig_close(&a.r);
        }
    }
}

static void test_pb14_last_element(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAYS; i++) {
        struct arrays a;
        uint64_t last;
        const uint32_t *data;

        arrays_open(&a);
        last = address_of(&a, i, 4 * (WORDS - 1));
        assert_int_equal(
            touch(&a, "global_load_b32 v2, [v[0:1]]\n global_store_b32 [keep], v2", last), HD_OK);
        data = sim_array_data(a.r.m, a.id[TARGET]);
        assert_int_equal(data[0], word_of(i, WORDS - 1));
        assert_int_equal(touch(&a, "global_store_b32 [v[0:1]], v2", last), HD_OK);
        data = sim_array_data(a.r.m, a.id[i]);
        assert_int_equal(data[WORDS - 1], 5);
        krig_close(&a.r);
    }
}

/*
 * The first lane that is outside is named, whether addresses are a range or are looked at one by
 * one, and no lane acts.
 */
static void test_pb14_first_lane_is_named(void **state)
{
    static const char *const indices[] = {
        "v_add_u32 v1, v0, 90",                       /* lane 10 is the first past the end */
        "v_add_u32 v1, v0, 90\n v_xor_b32 v1, v1, 1", /* 91, 90, 93, 92, ...: lanes 10 and on again */
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        struct arrays a;

        arrays_open(&a);
        snprintf(text, sizeof text,
                 ".kernel touch\n.param x u32[]\n v_get_u32 v0, %%lane\n %s\n global_store_b32 [x "
                 "+ v1*4], v0\n s_end\n.endkernel\n",
                 indices[i]);
        assert_int_equal(
            krig_try_run(&a.r, &(struct krig_launch){.text = text,
                                                     .threads = 64,
                                                     .nargs = 1,
                                                     .args = {KRIG_ARRAY(a.id[TARGET])}}),
            HD_SIM_FAILED);
        assert_non_null(strstr(a.r.err.place, " lane 10 "));
        check_untouched(&a);
        krig_close(&a.r);
    }
}

/*
 * Lanes that are off are not checked: by a predicate, by ending, or because the work-group has not
 * so many items.
 */
static void test_pb14_lanes_that_are_off(void **state)
{
    static const char *const lines[] = {
        /* Only lane 0 has an address that is good. */
        "v_cmp_eq_u32 m0, v0, 0\n @m0 global_load_b32 v2, [x + v1*4]\n @m0 global_store_b32 [x + "
        "v1*4 + 396], v2",
        "v_cmp_gt_u32 m0, v0, 0\n @m0 s_end\n global_load_b32 v2, [x + v1*4]\n global_store_b32 [x "
        "+ v1*4 + 396], v2",
        /* No lane at all. */
        "v_cmp_gt_u32 m0, v0, 99\n @m0 global_load_b32 v2, [x + v1*4]\n @m0 global_store_b32 [x + "
        "v1*4], v2\n"
        " @m0 global_atomic_add_u32 [x + v1*4 + 1], v2\n global_load_b32 v2, [x]\n "
        "global_store_b32 [x + 396], v2",
        /* Misaligned and in the local memory that the work-group does not have. */
        "v_cmp_gt_u32 m0, v0, 99\n @m0 global_load_b32 v2, [x + v1*1 + 1]\n @m0 local_load_b32 v3, "
        "[v1*4]\n"
        " @m0 local_store_b32 [v1*4 + 2], v3\n global_load_b32 v2, [x]\n global_store_b32 [x + "
        "396], v2",
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct arrays a;
        const uint32_t *x;

        arrays_open(&a);
        snprintf(text, sizeof text,
                 ".kernel touch\n.param x u32[]\n v_get_u32 v0, %%lane\n v_mul_u32 v1, v0, "
                 "123456789\n %s\n s_end\n.endkernel\n",
                 lines[i]);
        if (krig_try_run(&a.r, &(struct krig_launch){.text = text,
                                                     .threads = 50,
                                                     .nargs = 1,
                                                     .args = {KRIG_ARRAY(a.id[TARGET])}}))
            fail_msg("row %zu: %s", i, a.r.err.message);
        x = sim_array_data(a.r.m, a.id[TARGET]);
        assert_int_equal(x[WORDS - 1], x[0]);
        krig_close(&a.r);
    }
}

/* Freed arrays are gone, and their neighbours are not. */
static void test_pb14_use_after_free(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAYS; i++) {
        struct arrays a;
        struct hd_error err;
        enum hd_status status;
        uint64_t last;

        arrays_open(&a);
        last = address_of(&a, i, 4 * WORDS - 1);
        for (unsigned k = 1; k < ARRAYS; k += 2)
            if (k != TARGET)
                assert_int_equal(sim_array_free(a.r.m, a.id[k], &err), HD_OK);
        status = touch(&a, "global_load_u8 v2, [v[0:1]]\n global_store_b32 [keep], v2", last);
        if (i % 2 == 0 || i == TARGET) {
            assert_int_equal(status, HD_OK);
            assert_int_equal(*(const uint32_t *)sim_array_data(a.r.m, a.id[TARGET]),
                             word_of(i, WORDS - 1) >> 24);
        } else {
            char freed[64];

            assert_int_equal(status, HD_SIM_FAILED);
            snprintf(freed, sizeof freed, "byte 399 of array array%u, which was freed", i);
            assert_non_null(strstr(a.r.err.message, freed));
        }
        krig_close(&a.r);
    }
}

/* An array is not freed while a command uses it, nor given to a kernel after it was. */
static void test_free_in_use(void **state)
{
    static const char text[] = ".kernel k\n.param x u32[]\n s_end\n.endkernel\n";
    struct krig r;
    uint32_t x;
    uint64_t ticket;

    (void)state;
    krig_open(&r, NULL);
    x = krig_array(&r, 64);
    ticket =
        krig_submit(&r, &(struct krig_launch){.text = text, .nargs = 1, .args = {KRIG_ARRAY(x)}});
    assert_int_equal(sim_array_free(r.m, x, &r.err), HD_BAD_INPUT);
    assert_int_equal(sim_wait(r.m, ticket, &r.err), HD_OK);
    assert_int_equal(sim_array_free(r.m, x, &r.err), HD_OK);
    assert_int_equal(
        krig_try_run(&r, &(struct krig_launch){.text = text, .nargs = 1, .args = {KRIG_ARRAY(x)}}),
        HD_BAD_INPUT);
    krig_close(&r);
}

/* ---- alignment ---- */

/*
 * Words are at multiples of four, wherever the odd ones fall: in a line, over a line, over a page,
 * over the end.
 */
static void test_pb14_alignment(void **state)
{
    static const unsigned offsets[] = {0,  1,  2,   3,   4,    5,    6,    7,    60,   61,   62,
                                       63, 64, 126, 128, 4092, 4093, 4094, 4095, 4096, 7996, 7998};

    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        for (unsigned k = 0; k < ACCESSES; k++) {
            struct arrays a;
            enum hd_status status;
            uint32_t big;

            arrays_open(&a);
            big = krig_array_named(&a.r, "big", 8000);
            status = touch(&a, accesses[k], sim_array_address(a.r.m, big) + offsets[i]);
            assert_int_equal(status, offsets[i] % 4 ? HD_SIM_FAILED : HD_OK);
            if (status != HD_OK) {
                assert_string_equal(a.r.err.code, "misaligned");
                assert_non_null(strstr(a.r.err.place, "lane 0 pc 3"));
            }
            krig_close(&a.r);
        }
    }
}

/* The same for addresses that are a range: its first lane is misaligned, or only others are. */
static void test_pb14_alignment_of_ranges(void **state)
{
    static const struct {
        const char *address;
        const char *lane; /* NULL: aligned */
    } rows[] = {
        {"[x]", NULL},
        {"[x + 4]", NULL},
        {"[x + 1]", " lane 0 "},
        {"[x + 2]", " lane 0 "},
        {"[x + v0*4]", NULL},
        {"[x + v0*4 + 2]", " lane 0 "},
        {"[x + v0*1]", " lane 1 "},
        {"[x + v0*2]", " lane 1 "},
        {"[x + v0*1 + 3]", " lane 0 "},
        {"[x + v0*8 + 7]", " lane 0 "},
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct krig r;

        krig_open(&r, "wavefront_size", "64", NULL);
        snprintf(text, sizeof text,
                 ".kernel k\n.param x u32[]\n v_get_u32 v0, %%lane\n global_load_b32 v1, %s\n "
                 "global_store_b32 %s, v1\n s_end\n.endkernel\n",
                 rows[i].address, rows[i].address);
        assert_int_equal(
            krig_try_run(&r, &(struct krig_launch){.text = text,
                                                   .threads = 64,
                                                   .nargs = 1,
                                                   .args = {KRIG_ARRAY(krig_array(&r, 1024))}}),
            rows[i].lane ? HD_SIM_FAILED : HD_OK);
        if (rows[i].lane) {
            assert_string_equal(r.err.code, "misaligned");
            assert_non_null(strstr(r.err.place, rows[i].lane));
        }
        krig_close(&r);
    }
}

/* Eight bytes of which four are past the end. */
static void test_pb14_across_the_end(void **state)
{
    static const char *const addresses[] = {"[x + 400]", "[x + v0*8 + 400]", "[v[2:3] + 400]"};
    static const char *const lines[] = {"global_load_b64 v[4:5], %s",
                                        "global_store_b64 %s, v[4:5]"};

    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        char text[512], line[128];
        bool end = i >= 6;
        struct krig r;

        krig_open(&r, NULL);
        snprintf(line, sizeof line, lines[i % 2], addresses[i / 2 % 3]);
        snprintf(text, sizeof text,
                 ".kernel k\n.param x u32[]\n v_mov_b64 v[2:3], x\n %s\n s_end\n.endkernel\n", line);
        assert_int_equal(
            krig_try_run(
                &r, &(struct krig_launch){.text = text,
                                          .nargs = 1,
                                          .args = {KRIG_ARRAY(krig_array(&r, end ? 404 : 408))}}),
            end ? HD_SIM_FAILED : HD_OK);
        if (end)
            assert_string_equal(r.err.code, "outside-arrays");
        krig_close(&r);
    }
}

static void test_pb14_local_memory(void **state)
{
    static const char *const local[] = {
        "local_load_b32 v2, [v0*4 + %d]",
        "local_store_b32 [v0*4 + %d], v0",
        "local_atomic_add_u32 [v0*4 + %d], v0",
    };
    static const struct {
        int offset;
        const char *code;
        const char *lane;
    } rows[] = {
        {0, NULL, ""},
        {144, NULL, ""}, /* lane 63 takes the last word */
        {145, "misaligned", " lane 0 "},
        {146, "misaligned", " lane 0 "},
        {127, "misaligned", " lane 0 "}, /* over two banks */
        {148, "outside-local", " lane 63 "},
        {400, "outside-local", " lane 0 "},
        {-4, "outside-local", " lane 0 "},
        {0x7ffffff0, "outside-local", " lane 0 "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < sizeof local / sizeof *local; k++) {
            char text[512], line[128];
            struct krig r;

            krig_open(&r, "wavefront_size", "64", NULL);
            snprintf(line, sizeof line, local[k], rows[i].offset);
            snprintf(text, sizeof text,
                     ".kernel k\n.lds 400\n v_get_u32 v0, %%lane\n %s\n s_end\n.endkernel\n", line);
            if (krig_try_run(&r, &(struct krig_launch){.text = text, .threads = 64}) !=
                (rows[i].code ? HD_SIM_FAILED : HD_OK))
                fail_msg("%s: %s", line, r.err.message);
            if (rows[i].code) {
                assert_string_equal(r.err.code, rows[i].code);
                assert_non_null(strstr(r.err.place, rows[i].lane));
            }
            krig_close(&r);
        }
    }
}

/* ---- what is there at the start ---- */

/* Local memory, registers and arrays are zero for each work-group, whatever ran before it. */
static void test_pb15_initial_zero(void **state)
{
    static const char *const units[] = {"1", "2"};
    static const char adds[] =
        ".kernel adds\n.param out u32[]\n.param fresh u32[]\n.lds 256\n"
        " local_load_b32 v0, [0]\n v_add_u32 v0, v0, 10\n local_store_b32 [0], v0\n"
        " v_mov_b32 v1, %group\n global_store_b32 [out + v1*4], v0\n"
        " v_add_u32 v200, v200, 10\n global_store_b32 [out + v1*4 + 32], v200\n"
        " s_add_u32 s50, s50, 10\n v_mov_b32 v2, s50\n global_store_b32 [out + v1*4 + 64], v2\n"
        " global_load_b32 v2, [fresh + v1*4]\n v_add_u32 v2, v2, 10\n global_store_b32 [out + v1*4 "
        "+ 96], v2\n"
        " s_end\n.endkernel\n";
    static const char dirties[] =
        ".kernel dirties\n.lds 4096\n v_get_u32 v0, %tid\n v_mov_b32 v1, -1\n v_mov_b32 v200, -1\n "
        "s_mov_b32 s50, -1\n"
        " .rept 16\n local_store_b32 [v0*4 + \\#*256], v1\n .endrept\n s_end\n.endkernel\n";

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct krig r;
        uint32_t out, fresh;

        krig_open(&r, "compute_units", units[i], NULL);
        out = krig_array(&r, 32 * 4);
        fresh = krig_array(&r, 32);
        for (unsigned round = 0; round < 3; round++) {
            const uint32_t *got = sim_array_data(r.m, out);

            krig_run(&r, &(struct krig_launch){.text = adds,
                                               .groups = 8,
                                               .nargs = 2,
                                               .args = {KRIG_ARRAY(out), KRIG_ARRAY(fresh)}});
            for (unsigned k = 0; k < 32; k++)
                assert_int_equal(got[k], 10);
            krig_run(&r, &(struct krig_launch){.text = dirties, .groups = 8, .threads = 64});
        }
        krig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb14_out_of_range),
        cmocka_unit_test(test_pb14_last_element),
        cmocka_unit_test(test_pb14_first_lane_is_named),
        cmocka_unit_test(test_pb14_lanes_that_are_off),
        cmocka_unit_test(test_pb14_use_after_free),
        cmocka_unit_test(test_free_in_use),
        cmocka_unit_test(test_pb14_alignment),
        cmocka_unit_test(test_pb14_alignment_of_ranges),
        cmocka_unit_test(test_pb14_across_the_end),
        cmocka_unit_test(test_pb14_local_memory),
        cmocka_unit_test(test_pb15_initial_zero),
    };

    return cmocka_run_group_tests_name("cases_memory", tests, NULL, NULL);
}
