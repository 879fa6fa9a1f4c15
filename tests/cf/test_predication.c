/* The unit predication: which branches fall through, and what the code that they skip must not do. */
#include "tests/cf/unit_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void run(struct unit_rig *r, const char *text)
{
    unit_rig_open(r, "predication", text, 8, 0x3f);
    for (unsigned lane = 0; lane < 8; lane++)
        *unit_rig_v(r, 2, lane) = lane;
    assert_int_equal(unit_rig_run(r), CF_ALL_ENDED);
}

/* Both arms issue, whatever the lanes want: all 8 instructions. */
static void test_arms_always_issue(void **state)
{
    static const uint32_t bounds[] = {0, 3, 8};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct unit_rig r;
        char text[512];

        snprintf(text, sizeof text,
                 ".kernel k\n.form predicated\n v_cmp_lt_u32 m0, v2, %u\n m_not m1, m0\n"
                 " s_branch_none m0, other\n @m0 v_mov_b32 v3, 1\n"
                 "other:\n s_branch_all m0, behind\n @m1 v_mov_b32 v3, 2\n"
                 "behind:\n v_mov_b32 v4, v3\n s_end\n.endkernel\n",
                 bounds[i]);
        run(&r, text);
        assert_int_equal(r.issued, 8);
        assert_int_equal(r.skipped, 0);
        for (unsigned lane = 0; lane < 6; lane++)
            assert_int_equal(*unit_rig_v(&r, 4, lane), lane < bounds[i] ? 1 : 2);
        assert_int_equal(*unit_rig_v(&r, 4, 6), 0);
        unit_rig_close(&r);
    }
}

/* Backward branches, scalar ones, the way out of a loop and skips that are none are taken. */
static void test_branches_that_are_honoured(void **state)
{
    static const char loop[] = ".kernel k\n.form predicated\n m_mov m0, -1\n"
                               "again:\n @m0 v_cmp_gt_u32 m0, v2, v3\n"
                               " s_branch_none m0, out\n"
                               " @m0 v_add_u32 v3, v3, 1\n s_jump again\n"
                               "out:\n s_end\n.endkernel\n";
    static const char others[] = ".kernel k\n.form predicated\n m_mov m0, -1\n s_mov_b32 s8, 1\n"
                                 " s_branch_nz s8, a\n s_nop\n"
                                 "a:\n s_branch_any m0, b\n s_nop\n"
                                 "b:\n s_branch_notall m1, c\n s_nop\n"
                                 "c:\n s_jump d\n s_nop\nd:\n s_end\n.endkernel\n";
    struct unit_rig r;

    (void)state;
    run(&r, loop);
    for (unsigned lane = 0; lane < 8; lane++)
        assert_int_equal(*unit_rig_v(&r, 3, lane), lane < 6 ? lane : 0);
    assert_int_equal(r.issued, 1 + 5 * 4 + 2 + 1);
    unit_rig_close(&r);
    run(&r, others);
    assert_int_equal(r.issued, 2 + 4 + 1);
    assert_int_equal(r.skipped, 4);
    unit_rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arms_always_issue),
        cmocka_unit_test(test_branches_that_are_honoured),
    };

    return cmocka_run_group_tests_name("predication", tests, NULL, NULL);
}
