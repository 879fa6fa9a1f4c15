/* Masks of a wavefront from attempt to attempt: Table 1 of the paper on GPU-LocalTM, selection by MCM, and self-aborts. */
#include "sim/base/bits.h"
#include "tests/tm/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect(const struct tm_rig *r, unsigned wf, uint64_t exec, uint64_t tcm, int64_t old,
                   enum tm_mode mode)
{
    struct tm_view v = tm_view(r->wg, wf);

    assert_true(v.exec == exec);
    assert_true(v.tcm == tcm);
    assert_int_equal(v.tcm_old_valid, old >= 0);
    if (old >= 0)
        assert_true(v.tcm_old == (uint64_t)old);
    assert_int_equal(v.mode, mode);
}

/* Bit i is lane i: the table prints lane 0 first, so that its 1100 is 0x3. Lanes 0 and 1 want each other's word. */
static void lose_both(struct tm_rig *r)
{
    assert_true(rig_store(r, 0, 0, 0, 1));
    assert_true(rig_store(r, 0, 1, 1, 1));
    rig_at(r, 0, 1);
    rig_at(r, 1, 0);
    rig_access(r, 0, TM_LOAD, 3, 4);
    assert_true(r->out.conflicts == 3);
}

static void table_1(const char *detector, bool descending)
{
    uint64_t parked = descending ? 1 : 2;
    struct tm_rig r;

    rig_open(&r, detector, descending ? "descending-single" : "ascending-single", 1, 8);
    assert_int_equal(rig_begin(&r, 0, 0xf), TM_GO);
    expect(&r, 0, 0xf, 0, -1, TM_MODE_TX);
    lose_both(&r);
    expect(&r, 0, 0xf, 3, -1, TM_MODE_TX);
    assert_int_equal(rig_commit(&r, 0), TM_RETRY);
    assert_true(r.out.done == 0xc && r.out.restore == 3);

    assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
    expect(&r, 0, 3, 0, 3, TM_MODE_TX);
    lose_both(&r);
    expect(&r, 0, 3, 3, 3, TM_MODE_TX);
    assert_int_equal(rig_commit(&r, 0), TM_RETRY);
    assert_true(r.out.done == 0);

    assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
    expect(&r, 0, 3, parked, 3, TM_MODE_WF);
    assert_true(rig_store(&r, 0, descending, 0, 7) && rig_load(&r, 0, descending, 1));
    expect(&r, 0, 3, parked, 3, TM_MODE_WF);
    assert_int_equal(rig_commit(&r, 0), TM_RETRY);
    assert_true(r.out.done == (3 & ~parked));

    assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
    expect(&r, 0, parked, 0, (int64_t)parked, TM_MODE_TX);
    assert_true(rig_load(&r, 0, !descending, 0));
    assert_int_equal(r.got[!descending], 7);
    assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
    assert_true(r.out.exec == 0xf && r.out.done == parked);
    assert_true(rig_is_clean(&r));
    rig_close(&r);
}

static void test_table_1(void **state)
{
    static const char *const detectors[] = {"prw-sig", "swo-sig", "dcd", "dcd-sm"};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        table_1(detectors[i], false);
        table_1(detectors[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_1),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
