/* A kernel that writes an array that it was given as `in`: an error with kernel, line and address, and nothing written. */
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 32, BYTES = LANES * 4, OLD = 7 };

static void fill(struct krig *r, uint32_t id)
{
    uint32_t *data = sim_array_data(r->m, id);

    for (unsigned i = 0; i < LANES; i++)
        data[i] = OLD;
}

static uint32_t made(struct krig *r, const char *name)
{
    uint32_t id = krig_array_named(r, name, BYTES);

    fill(r, id);
    return id;
}

static void check_untouched(struct krig *r, uint32_t id)
{
    const uint32_t *data = sim_array_data(r->m, id);

    for (unsigned i = 0; i < LANES; i++)
        assert_int_equal(data[i], OLD);
}

static const char *const writes[] = {
    "global_store_b32 [a + v0*4], v1",
    "global_atomic_add_u32 [a + v0*4], v1",
    "global_atomic_add_u32_rtn v2, [a + v0*4], v1",
};

static void run_write(const char *write, enum sim_mode mode)
{
    char text[512], message[128];
    struct krig r;
    uint32_t a;

    krig_open(&r, NULL);
    sim_set_mode(r.m, mode);
    a = made(&r, "weights");
    snprintf(text, sizeof text,
             ".kernel bad\n.param a u32[]\n v_get_u32 v0, %%gid\n v_mov_b32 v1, 1\n"
             " v_cmp_ge_u32 m0, v0, 3\n @m0 %s\n s_end\n.endkernel\n",
             write);
    assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text,
                                                            .threads = LANES,
                                                            .nargs = 1,
                                                            .args = {KRIG_CONST(a)}}),
                     HD_SIM_FAILED);
    assert_string_equal(r.err.code, "const-write");
    assert_string_equal(r.err.place, "kernel bad group 0 wavefront 0 lane 3 pc 3 (test.hasm:6)");
    snprintf(message, sizeof message,
             "%s of 4 bytes at address 0x%" PRIx64 ", byte 12 of array weights",
             strstr(write, "store") ? "store" : "atomic", sim_array_address(r.m, a) + 12);
    if (!strstr(r.err.message, message))
        fail_msg("`%s` lacks `%s`", r.err.message, message);
    assert_non_null(strstr(r.err.hint, "inout"));
    check_untouched(&r, a);
    krig_close(&r);
}

static void test_each_kind_of_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        run_write(writes[i], SIM_TIMED);
        run_write(writes[i], SIM_VALUES);
    }
}

#define TWO_ARRAYS                                                                                 \
    ".kernel two\n.param a u32[]\n.param b u32[]\n v_get_u32 v0, %gid\n"                           \
    " global_load_b32 v1, [a + v0*4]\n v_add_u32 v1, v1, 1\n"                                      \
    " global_store_b32 [b + v0*4], v1\n s_end\n.endkernel\n"

/* Loads are free, and an array that is given both ways may be written. */
static void test_what_is_allowed(void **state)
{
    struct krig r;
    uint32_t a, b;

    (void)state;
    krig_open(&r, NULL);
    a = made(&r, "a");
    b = made(&r, "b");
    krig_run(&r, &(struct krig_launch){.text = TWO_ARRAYS,
                                       .threads = LANES,
                                       .nargs = 2,
                                       .args = {KRIG_CONST(a), KRIG_ARRAY(b)}});
    krig_run(&r, &(struct krig_launch){.text = TWO_ARRAYS,
                                       .threads = LANES,
                                       .nargs = 2,
                                       .args = {KRIG_CONST(a), KRIG_ARRAY(a)}});
    krig_run(&r, &(struct krig_launch){.text = TWO_ARRAYS,
                                       .threads = LANES,
                                       .nargs = 2,
                                       .args = {KRIG_ARRAY(a), KRIG_CONST(a)}});
    assert_int_equal(((const uint32_t *)sim_array_data(r.m, a))[5], OLD + 2);
    assert_int_equal(((const uint32_t *)sim_array_data(r.m, b))[5], OLD + 1);
    krig_close(&r);
}

#define BY_ADDRESS                                                                                 \
    ".kernel raw\n.param at u64\n.param keep u32[]\n v_mov_b64 v[0:1], at\n v_mov_b32 v2, 5\n"     \
    " global_store_b32 [v[0:1]], v2\n s_end\n.endkernel\n"

/* A raw address of a given array is that array; one of an array that was not given is nobody's business. */
static void test_raw_addresses(void **state)
{
    struct krig r;
    uint32_t a, b;

    (void)state;
    krig_open(&r, NULL);
    a = made(&r, "a");
    b = made(&r, "b");
    krig_run(&r, &(struct krig_launch){
                     .text = BY_ADDRESS,
                     .nargs = 2,
                     .args = {KRIG_VALUE(sim_array_address(r.m, b) + 8), KRIG_CONST(a)}});
    assert_int_equal(((const uint32_t *)sim_array_data(r.m, b))[2], 5);
    assert_int_equal(
        krig_try_run(&r, &(struct krig_launch){.text = BY_ADDRESS,
                                               .nargs = 2,
                                               .args = {KRIG_VALUE(sim_array_address(r.m, a) + 8),
                                                        KRIG_CONST(a)}}),
        HD_SIM_FAILED);
    assert_string_equal(r.err.code, "const-write");
    check_untouched(&r, a);
    krig_close(&r);
}

/* The same store goes to `to` first, then to `from`, or with its upper lanes to `from` at once. */
#define ONE_STORE(second)                                                                          \
    ".kernel turn\n.param from u32[]\n.param to u32[]\n v_get_u32 v0, %gid\n v_mov_b64 v[2:3], "   \
    "to\n"                                                                                         \
    " v_mov_b64 v[4:5], from\n v_mov_b32 v1, 1\n s_mov_b32 s40, 2\n v_cmp_ge_u32 m0, v0, "         \
    "16\n" second                                                                                  \
    "again:\n global_store_b32 [v[2:3]], v1\n v_mov_b64 v[2:3], v[4:5]\n s_sub_u32 s40, s40, 1\n"  \
    " s_branch_nz s40, again\n s_end\n.endkernel\n"

static void turn_from_one_to_the_other(const char *text, uint32_t first_word)
{
    struct krig r;
    uint32_t from, to;

    krig_open(&r, NULL);
    from = made(&r, "from");
    to = made(&r, "to");
    assert_int_equal(
        krig_try_run(&r, &(struct krig_launch){.text = text,
                                               .threads = LANES,
                                               .nargs = 2,
                                               .args = {KRIG_CONST(from), KRIG_ARRAY(to)}}),
        HD_SIM_FAILED);
    assert_string_equal(r.err.code, "const-write");
    assert_non_null(strstr(r.err.message, "array from"));
    check_untouched(&r, from);
    assert_int_equal(((const uint32_t *)sim_array_data(r.m, to))[0], first_word);
    krig_close(&r);
}

static void test_a_store_that_turns(void **state)
{
    (void)state;
    turn_from_one_to_the_other(ONE_STORE(""), 1);
    /* All lanes are checked before one acts. */
    turn_from_one_to_the_other(ONE_STORE(" @m0 v_mov_b64 v[2:3], v[4:5]\n"), OLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_write),
        cmocka_unit_test(test_what_is_allowed),
        cmocka_unit_test(test_raw_addresses),
        cmocka_unit_test(test_a_store_that_turns),
    };

    return cmocka_run_group_tests_name("const_write", tests, NULL, NULL);
}
