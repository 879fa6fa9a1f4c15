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

/* The first load of another's word sets S, the next one finds it. */
static void test_shared_loads(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "dcd-sm", "ascending-single", 1, 64);
    rig_begin(&r, 0, 0xff);
    rig_load(&r, 0, 0, 3);
    for (unsigned lane = 1; lane < 4; lane++) {
        assert_true(rig_load(&r, 0, lane, 3));
        assert_int_equal(r.out.cycles, lane == 1 ? 3 + 1 + 2 : 2 + 1 + 2);
    }
    rig_close(&r);
}

/* Lane 0 has written two words of bank 0 and one of bank 1, and loses. */
static void abort_cycles(const char *detector, uint32_t model, unsigned lost, unsigned walk)
{
    struct tm_rig r;

    rig_open(&r, detector, "ascending-single", 2, 8);
    r.p.abort_model = model;
    r.p.broadcast_always = false;
    rig_start(&r);
    rig_begin(&r, 0, 1);
    rig_begin(&r, 1, 1);
    assert_true(rig_store(&r, 1, 0, 5, 1));
    assert_int_equal(r.out.pass[0].cycles, 5); /* without broadcast */
    rig_store(&r, 0, 0, 0, 1);
    rig_store(&r, 0, 0, 32, 1);
    rig_store(&r, 0, 0, 1, 1);
    assert_false(rig_store(&r, 0, 0, 5, 1));
    assert_int_equal(r.out.pass[0].cycles, lost + 1 + walk);
    rig_close(&r);
}

static void test_aborts(void **state)
{
    (void)state;
    /* phase 1, or the record; broadcast; backup, data and record of two words in bank 0 */
    abort_cycles("prw-sig", TM_ABORT_LOG, 1, 2 * 3);
    abort_cycles("dcd", TM_ABORT_LOG, 1, 2 * 3);
    /* and a look at each of the 1024 / 32 records */
    abort_cycles("prw-sig", TM_ABORT_SCAN, 1, 2 * 3 + 32);
    abort_cycles("dcd-sm", TM_ABORT_IDEAL, 1, 0);
}

static void commit_cycles(const char *detector, unsigned flash, unsigned written, unsigned read)
{
    struct tm_rig r;

    rig_open(&r, detector, "ascending-single", 1, 8);
    rig_begin(&r, 0, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_true(rig_store(&r, 0, 0, i * 32, 1));
    for (unsigned i = 3; i < 7; i++)
        assert_true(rig_load(&r, 0, 1, i * 32 + 1));
    assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
    assert_int_equal(r.out.passes, 1);
    assert_true(r.out.pass[0].lanes == 3);
    assert_int_equal(r.out.pass[0].accesses, written + read);
    assert_int_equal(r.out.cycles, flash + (written > read ? written : read));
    rig_close(&r);
}

static void test_commits(void **state)
{
    (void)state;
    commit_cycles("prw-sig", 1, 3, 0); /* records of written words alone */
    commit_cycles("swo-sig", 1, 3, 0);
    commit_cycles("dcd", 0, 3, 4);
    commit_cycles("dcd-sm", 0, 3, 4);
}

/* Slots and signatures may take longer. */
static void test_cycles_of_parts(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "prw-sig", "ascending-single", 1, 8);
    r.p.signature_cycles = 3;
    r.p.slot_cycles = 10;
    r.p.broadcast_cycles = 100;
    r.p.lds_latency_cycles = 1000;
    rig_start(&r);
    rig_begin(&r, 0, 1);
    assert_true(rig_store(&r, 0, 0, 0, 1));
    assert_int_equal(r.out.cycles, 3 + 4 * 10 + 100 + 1000);
    rig_close(&r);
}

/* Banks need not be a power of two; and one bank serves both words of a lane. */
static void test_odd_banks(void **state)
{
    struct tm_rig r;

    (void)state;
    for (unsigned banks = 1; banks < 8; banks++) {
        rig_open(&r, "dcd", "ascending-single", 1, 16);
        r.p.banks = banks;
        rig_start(&r);
        rig_begin(&r, 0, 0xffff);
        for (unsigned lane = 0; lane < 14; lane++)
            rig_at(&r, lane, lane);
        rig_access(&r, 0, TM_LOAD, 0x3fff, 4);
        assert_int_equal(r.out.passes, (14 + banks - 1) / banks);
        rig_commit(&r, 0);
        rig_begin(&r, 0, 0xffff);
        rig_at(&r, 0, 40);
        rig_access(&r, 0, TM_LOAD, 1, 8);
        assert_int_equal(r.out.passes, 1);
        assert_int_equal(r.out.cycles, (banks == 1 ? 6 : 3) + 1 + 2);
        rig_close(&r);
    }
}

static void test_needs(void **state)
{
    struct tm_params p;
    struct tm_needs n;

    (void)state;
    tm_defaults(&p);
    n = tm_needs(&p, 4096); /* prw-sig: 8 bits * 32 banks */
    assert_int_equal(n.vregs, 8);
    assert_int_equal(n.sregs, 0);
    assert_int_equal(n.shadow_bytes, 4096 + 2048);
    p.detector = 1;
    p.record_bits = 8;
    n = tm_needs(&p, 4100); /* 33 rows: 33 of backups, 9 of records */
    assert_int_equal(n.sregs, 32);
    assert_int_equal(n.shadow_bytes, (33 + 9) * 128);
    p.helper = TM_HELPER_PER_WAVEFRONT;
    assert_int_equal(tm_needs(&p, 0).sregs, 1);
    assert_int_equal(tm_needs(&p, 0).shadow_bytes, 0);
    p.detector = 2;
    assert_int_equal(tm_needs(&p, 0).vregs, 0);
}

static void refused(const struct tm_params *p, unsigned wavefronts, unsigned width, const char *code)
{
    struct hd_error err;

    assert_int_equal(tm_check(p, wavefronts, width, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, code);
}

static void test_checks(void **state)
{
    struct tm_params p, q;

    (void)state;
    tm_defaults(&p);
    assert_int_equal(tm_check(&p, 4, 64, NULL), HD_OK);
    assert_int_equal(tm_check(&p, 32, 8, NULL), HD_OK);
    refused(&p, 5, 64, "tm-capacity");
    refused(&p, 1, 48, "tm-capacity");
    q = p;
    q.record_bits = 8;
    assert_int_equal(tm_check(&q, 3, 64, NULL), HD_OK);
    refused(&q, 4, 64, "tm-capacity"); /* no value is left for "none" */
    q.owner_on_read = true;
    refused(&q, 1, 64, "tm-parameter");
    q.owner_on_read = false;
    q.detector = 2;
    refused(&q, 1, 64, "tm-parameter");
    q = p;
    q.detector = 4;
    refused(&q, 1, 64, "tm-parameter");
    q = p;
    q.banks = 0;
    refused(&q, 1, 64, "tm-parameter");
    q = p;
    q.record_bits = 12;
    refused(&q, 1, 64, "tm-parameter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lane),     cmocka_unit_test(test_passes),
        cmocka_unit_test(test_shared_loads), cmocka_unit_test(test_aborts),
        cmocka_unit_test(test_commits),      cmocka_unit_test(test_cycles_of_parts),
        cmocka_unit_test(test_odd_banks),    cmocka_unit_test(test_needs),
        cmocka_unit_test(test_checks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
