/* The unit exec-mask: EXEC is written by code, branches are one decision for the wavefront. */
#include "tests/cf/unit_rig.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* v3 = v2 >= 0 ? v2 + 1 : v2 - 1, with a skip where no lane is left. */
static const char if_else[] = ".kernel k\n.form exec\n"
                              " v_cmp_ge_i32 m0, v2, 0\n"
                              " m_mov s[2:3], exec\n"
                              " m_and exec, exec, m0\n"
                              " s_branch_none exec, other\n"
                              " v_add_u32 v3, v2, 1\n"
                              "other:\n"
                              " m_andn exec, s[2:3], m0\n"
                              " s_branch_none exec, behind\n"
                              " v_sub_u32 v3, v2, 1\n"
                              "behind:\n"
                              " m_mov exec, s[2:3]\n"
                              " v_add_u32 v4, v3, 0\n"
                              " s_end\n.endkernel\n";

/* Runs it with v2 = values; live lanes must get what the formula says, the others nothing. */
static unsigned run_if_else(const int32_t *values, uint64_t live)
{
    struct unit_rig r;
    unsigned issued;

    unit_rig_open(&r, "exec-mask", if_else, 8, live);
    for (unsigned lane = 0; lane < 8; lane++)
        *unit_rig_v(&r, 2, lane) = (uint32_t)values[lane];
    assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
    for (unsigned lane = 0; lane < 8; lane++) {
        int32_t want = values[lane] >= 0 ? values[lane] + 1 : values[lane] - 1;
        bool alive = live >> lane & 1;

        assert_int_equal((int32_t)*unit_rig_v(&r, 3, lane), alive ? want : 0);
        assert_int_equal((int32_t)*unit_rig_v(&r, 4, lane), alive ? want : 0);
    }
    issued = r.issued;
    unit_rig_close(&r);
    return issued;
}

static void test_if_else(void **state)
{
    static const int32_t mixed[] = {5, -1, 0, -7, 3, -2, 8, -4}, up[] = {5, 1, 0, 7, 3, 2, 8, 4},
                         down[] = {-5, -1, -9, -7, -3, -2, -8, -4};

    (void)state;
    /* All eleven instructions; ten where one arm has no lane. */
    assert_int_equal(run_if_else(mixed, 0xff), 11);
    assert_int_equal(run_if_else(mixed, 0x1f), 11);
    assert_int_equal(run_if_else(up, 0xff), 10);
    assert_int_equal(run_if_else(down, 0xff), 10);
    /* Lanes that do not exist do not keep an arm alive. */
    assert_int_equal(run_if_else(mixed, 0x55), 10);
}

/* EXEC starts with the lanes that exist, reads as those alive, and keeps what code wrote. */
static void test_exec_is_the_units(void **state)
{
    struct unit_rig r;
    uint64_t lanes;

    (void)state;
    unit_rig_open(&r, "exec-mask", if_else, 8, 0x3f);
    assert_true(r.unit->exec(r.state) == 0x3f);
    assert_true(r.unit->set_exec(r.state, 0xf0));
    assert_true(r.unit->exec(r.state) == 0xf0);
    assert_int_equal(r.unit->pick(r.state, &r.pc, &lanes), CF_GO);
    assert_true(lanes == 0x30);
    r.unit->lanes(r.state, 0, 0x30, CF_ENDED);
    assert_int_equal(r.unit->pick(r.state, &r.pc, &lanes), CF_GO);
    assert_true(lanes == 0);
    assert_true(r.unit->exec(r.state) == 0xf0);
    r.unit->lanes(r.state, 0, 0x0f, CF_ENDED);
    assert_int_equal(r.unit->pick(r.state, &r.pc, &lanes), CF_ALL_ENDED);
    unit_rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if_else),
        cmocka_unit_test(test_exec_is_the_units),
    };

    return cmocka_run_group_tests_name("exec_mask", tests, NULL, NULL);
}
