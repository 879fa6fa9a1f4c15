/* Cycles of accesses, by the cost model of tm/README.md. */
#include "sim/base/bits.h"
#include "tests/tm/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The latency is 2, phase 3 takes 1, phase 1 of the signatures 1, an access of a bank 1. */
static void first_and_again(const char *detector, unsigned load, unsigned load_again,
                            unsigned store, unsigned store_again, unsigned atomic_again)
{
    struct tm_rig r;

    rig_open(&r, detector, "ascending-single", 1, 64);
    rig_begin(&r, 0, ~UINT64_C(0));
    assert_true(rig_load(&r, 0, 0, 3));
    assert_int_equal(r.out.cycles, load);
    assert_true(rig_load(&r, 0, 0, 3));
    assert_int_equal(r.out.cycles, load_again);
    assert_true(rig_store(&r, 0, 1, 4, 9));
    assert_int_equal(r.out.cycles, store);
    assert_true(rig_store(&r, 0, 1, 4, 8));
    assert_int_equal(r.out.cycles, store_again);
    rig_access(&r, 0, TM_ATOMIC, 2, 4);
    assert_int_equal(r.out.cycles, atomic_again);
    assert_int_equal(r.out.passes, 1);
    assert_int_equal(r.out.pass[0].cycles, atomic_again - 2);
    rig_close(&r);
}

static void test_one_lane(void **state)
{
    (void)state;
    first_and_again("prw-sig", 5, 6, 8, 6, 7);
    first_and_again("swo-sig", 5, 6, 8, 6, 7);
    first_and_again("dcd", 6, 5, 8, 5, 6);
    first_and_again("dcd-sm", 6, 5, 8, 5, 6);
}

static void stride(unsigned step, unsigned bytes, unsigned lanes_per_pass, bool pipelined,
                   unsigned passes, unsigned cycles)
{
    struct tm_rig r;

    rig_open(&r, "prw-sig", "ascending-single", 1, 64);
    r.p.lanes_per_pass = lanes_per_pass;
    r.p.pass_pipelined = pipelined;
    rig_start(&r);
    rig_begin(&r, 0, ~UINT64_C(0));
    for (unsigned lane = 0; lane < 64; lane++)
        rig_at(&r, lane, lane * step);
    rig_access(&r, 0, TM_LOAD, ~UINT64_C(0), bytes);
    assert_int_equal(r.out.passes, passes);
    assert_int_equal(r.out.cycles, cycles);
    assert_true(r.out.done == ~UINT64_C(0));
    rig_close(&r);
}

static void test_passes(void **state)
{
    (void)state;
    stride(1, 4, 32, false, 2, 10);       /* a known answer */
    stride(1, 4, 64, false, 2, 10);       /* 32 banks serve 32 lanes */
    stride(1, 4, 16, false, 4, 20);       /* room for 16 */
    stride(2, 4, 32, false, 4, 20);       /* 16 banks */
    stride(1, 4, 32, true, 2, 3 * 2 + 2); /* the latency once */
    stride(2, 8, 32, false, 4, 20);       /* two words a lane, 16 lanes fill the banks */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lane),
        cmocka_unit_test(test_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
