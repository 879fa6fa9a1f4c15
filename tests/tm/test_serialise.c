/* Serialisation: selection by MCM, the token of the work-group, self-aborts, and who waits for whom. */
#include "sim/base/bits.h"
#include "tests/tm/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The wavefront's lanes lose twice to a word that another wavefront holds, and are serialised. */
static void lose_until(struct tm_rig *r, unsigned wf, uint64_t lanes, uint32_t word,
                       enum tm_mode mode)
{
    for (unsigned attempt = 0; tm_mode(r->wg, wf) != mode; attempt++) {
        struct tm_view v;

        assert_true(attempt < 4);
        assert_int_equal(rig_begin(r, wf, lanes), TM_GO);
        v = tm_view(r->wg, wf);
        for (uint64_t rest = v.sel; rest; rest &= rest - 1)
            assert_false(rig_store(r, wf, bits_first(rest), word, 1));
        assert_int_equal(rig_commit(r, wf), TM_RETRY);
    }
}

/*
 * Lanes 0 and 1 want each other's words and so do 2 and 3, lane 4 one of another wavefront: the first of each pair and lane 4 lost to none
 * of their wavefront that goes before them.
 */
static void mcm(const char *serialise, uint64_t selected)
{
    struct tm_rig r;

    rig_open(&r, "prw-sig", serialise, 2, 8);
    rig_begin(&r, 1, 1);
    assert_true(rig_store(&r, 1, 0, 8, 1));
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        assert_int_equal(rig_begin(&r, 0, 0x1f), TM_GO);
        assert_true(tm_view(r.wg, 0).mcm == ~UINT64_C(0));
        for (unsigned lane = 0; lane < 4; lane++)
            assert_true(rig_store(&r, 0, lane, lane, 1));
        for (unsigned lane = 0; lane < 4; lane++)
            rig_at(&r, lane, lane ^ 1);
        rig_at(&r, 4, 8);
        rig_access(&r, 0, TM_LOAD, 0x1f, 4);
        assert_true(r.out.conflicts == 0x1f);
        assert_int_equal(r.out.passes, 1);
        /* phase 1, the owner records that MCM reads, phase 3, the abort: backup, data, record */
        assert_int_equal(r.out.pass[0].cycles, 1 + 1 + 1 + 3);
        assert_true((tm_view(r.wg, 0).mcm & 0x1f) == selected);
        assert_int_equal(rig_commit(&r, 0), TM_RETRY);
    }
    assert_int_equal(tm_mode(r.wg, 0), TM_MODE_WF);
    assert_true(tm_view(r.wg, 0).sel == selected);
    assert_true(tm_view(r.wg, 0).tcm == (0x1f & ~selected));
    rig_close(&r);
}

static void test_mcm(void **state)
{
    (void)state;
    mcm("ascending-multiple", 0x15);
    mcm("descending-multiple", 0x1a);
}

/* With S set the owner may be the loser itself: then it is the readers that count. */
static void test_mcm_of_a_shared_word(void **state)
{
    static const char *const orders[] = {"ascending-multiple", "descending-multiple"};

    (void)state;
    for (unsigned descending = 0; descending < 2; descending++) {
        struct tm_rig r;

        rig_open(&r, "dcd-sm", orders[descending], 1, 8);
        rig_begin(&r, 0, 0xf);
        assert_true(rig_load(&r, 0, 1, 5) && rig_load(&r, 0, 2, 5));
        assert_false(rig_store(&r, 0, 1, 5, 1));
        assert_int_equal(tm_view(r.wg, 0).mcm >> 1 & 1, !descending);
        rig_close(&r);
    }
}

/* Without a record, as of a word that is only read, MCM may go by the filters. */
static void test_mcm_source(void **state)
{
    (void)state;
    for (unsigned source = TM_MCM_OWNER; source <= TM_MCM_MATCH; source++) {
        struct tm_rig r;

        rig_open(&r, "prw-sig", "ascending-multiple", 1, 8);
        r.p.mcm_source = source;
        rig_start(&r);
        rig_begin(&r, 0, 0xf);
        assert_true(rig_load(&r, 0, 1, 5));
        assert_false(rig_load(&r, 0, 2, 5));
        assert_int_equal(tm_view(r.wg, 0).mcm >> 2 & 1, source == TM_MCM_OWNER);
        rig_close(&r);
    }
}

static void test_all_in_multiple_mode_lead_to_the_token(void **state)
{
    (void)state;
    for (unsigned fail = TM_FAIL_WG; fail <= TM_FAIL_WF; fail++) {
        struct tm_rig r;

        rig_open(&r, "prw-sig", "ascending-multiple", 2, 8);
        r.p.multi_fail = fail;
        rig_start(&r);
        for (unsigned attempt = 0; attempt < 3; attempt++) {
            assert_int_equal(rig_begin(&r, 0, 3), TM_GO);
            assert_int_equal(tm_mode(r.wg, 0), attempt < 2 ? TM_MODE_TX : TM_MODE_WF);
            /* reads leave no records, so both stay selected */
            rig_load(&r, 0, 0, 0);
            rig_load(&r, 0, 1, 1);
            rig_at(&r, 0, 1);
            rig_at(&r, 1, 0);
            rig_access(&r, 0, TM_LOAD, 3, 4);
            assert_int_equal(rig_commit(&r, 0), TM_RETRY);
        }
        assert_int_equal(tm_mode(r.wg, 0), fail == TM_FAIL_WG ? TM_MODE_WG : TM_MODE_WF);
        assert_true(tm_view(r.wg, 0).sel == 1);
        rig_close(&r);
    }
}

static void test_self_abort_is_annulled(void **state)
{
    struct tm_rig r;
    struct tm_view before, after;

    (void)state;
    rig_open(&r, "prw-sig", "ascending-single", 2, 8);
    rig_begin(&r, 1, 1);
    assert_true(rig_store(&r, 1, 0, 8, 1));
    rig_begin(&r, 0, 7);
    assert_false(rig_store(&r, 0, 0, 8, 1));
    assert_false(rig_store(&r, 0, 1, 8, 1));
    rig_commit(&r, 0); /* lane 2 has committed */
    before = tm_view(r.wg, 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
        assert_false(rig_store(&r, 0, 0, 8, 1));
        assert_true(rig_store(&r, 0, 1, 3, 1));
        assert_int_equal(rig_stopped(&r, 0), TM_RETRY);
        assert_true(r.out.restore == 3);
        assert_int_equal(rig_word(&r, 3), 0);
        after = tm_view(r.wg, 0);
        assert_int_equal(after.self_aborts, i + 1);
        assert_int_equal(after.attempts, before.attempts + i + 1);
        after.self_aborts = 0;
        after.attempts = before.attempts;
        /* exec, sel, tcm, tcm_old, mcm and mode are those of the attempt's start */
        assert_true(after.exec == 3 && after.sel == 3 && after.tcm == 0 && after.tcm_old == 3);
        assert_true(after.mcm == before.mcm && after.mode == TM_MODE_TX);
    }
    assert_int_equal(rig_stopped(&r, 0), TM_GO); /* nothing is left to stop */
    rig_close(&r);
}

static void test_work_group_serialisation(void **state)
{
    (void)state;
    for (unsigned hold = TM_HOLD_ATTEMPT; hold <= TM_HOLD_WAVEFRONT; hold++) {
        struct tm_rig r;

        rig_open(&r, "dcd", "ascending-single", 3, 8);
        r.p.wg_hold = hold;
        rig_start(&r);
        rig_begin(&r, 1, 1);
        assert_true(rig_store(&r, 1, 0, 8, 1));
        lose_until(&r, 0, 3, 8, TM_MODE_WG);
        assert_int_equal(r.out.stop, 2); /* 2 is outside transactions */
        assert_int_equal(tm_token(r.wg), 0);
        assert_int_equal(rig_begin(&r, 0, 0), TM_WAIT); /* for the acknowledgement */
        assert_int_equal(rig_begin(&r, 2, 1), TM_WAIT); /* the token is held */
        assert_int_equal(rig_stopped(&r, 1), TM_RETRY);
        assert_int_equal(r.out.wake, 1);
        assert_int_equal(rig_begin(&r, 1, 0), TM_WAIT);
        assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
        assert_true(rig_store(&r, 0, 0, 8, 2));
        assert_int_equal(rig_commit(&r, 0), TM_RETRY);
        assert_int_equal(r.out.wake, hold == TM_HOLD_ATTEMPT ? 6 : 0);
        assert_int_equal(tm_token(r.wg), hold == TM_HOLD_ATTEMPT ? -1 : 0);
        assert_int_equal(tm_mode(r.wg, 0), hold == TM_HOLD_ATTEMPT ? TM_MODE_TX : TM_MODE_WG);
        assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
        assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
        assert_int_equal(r.out.wake, hold == TM_HOLD_ATTEMPT ? 0 : 6);
        for (unsigned wf = 1; wf < 3; wf++) {
            assert_int_equal(rig_begin(&r, wf, 1), TM_GO);
            assert_int_equal(rig_commit(&r, wf), TM_LEAVE);
        }
        assert_true(rig_is_clean(&r));
        rig_close(&r);
    }
}

/* A wavefront that is to stop may also end its attempt by itself. */
static void test_commit_acknowledges(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "dcd", "ascending-single", 2, 8);
    rig_begin(&r, 1, 1);
    assert_true(rig_store(&r, 1, 0, 8, 1));
    lose_until(&r, 0, 1, 8, TM_MODE_WG);
    assert_int_equal(rig_begin(&r, 0, 0), TM_WAIT);
    assert_int_equal(rig_commit(&r, 1), TM_LEAVE);
    assert_int_equal(r.out.wake, 1);
    assert_int_equal(rig_stopped(&r, 1), TM_GO);
    tm_ended(r.wg, 1, &r.out);
    assert_int_equal(r.out.what, TM_GO);
    assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
    assert_true(rig_store(&r, 0, 0, 8, 2));
    assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
    rig_close(&r);
}

/* Two ask: first come, first served; the second keeps its place, and a retry waits as a start does. */
static void test_two_requests(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "dcd", "ascending-single", 3, 8);
    rig_begin(&r, 2, 1);
    assert_true(rig_store(&r, 2, 0, 8, 1));
    for (unsigned wf = 0; wf < 2; wf++) /* both until their next failure asks for the token */
        lose_until(&r, wf, 3, 8, TM_MODE_WF);
    for (unsigned wf = 0; wf < 2; wf++) {
        assert_int_equal(rig_begin(&r, wf, 0), TM_GO);
        assert_false(rig_store(&r, wf, 0, 8, 1));
    }
    assert_int_equal(rig_commit(&r, 1), TM_RETRY);
    assert_int_equal(r.out.stop, 1 | 4);
    assert_int_equal(rig_commit(&r, 0), TM_RETRY); /* asks too, and is quiet by that */
    assert_int_equal(r.out.stop, 0);
    assert_int_equal(tm_token(r.wg), 1);
    assert_int_equal(rig_begin(&r, 0, 0), TM_WAIT);
    assert_int_equal(rig_stopped(&r, 2), TM_RETRY);
    assert_int_equal(r.out.wake, 0); /* wavefront 1 was not asleep yet */
    assert_int_equal(rig_begin(&r, 1, 0), TM_GO);
    assert_int_equal(rig_commit(&r, 1), TM_RETRY);
    assert_int_equal(tm_token(r.wg), 0);
    assert_int_equal(r.out.wake, 1);                /* the next in the queue, no other */
    assert_int_equal(rig_begin(&r, 1, 0), TM_WAIT); /* a retry of another */
    assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
    assert_int_equal(rig_commit(&r, 0), TM_RETRY);
    assert_int_equal(r.out.wake, 2);
    assert_int_equal(tm_token(r.wg), -1);
    rig_close(&r);
}

/* Three ask while a fourth holds the word; they are served in the order in which they asked. */
static void test_queue_is_first_come_first_served(void **state)
{
    static const unsigned order[] = {1, 2, 0};
    struct tm_rig r;

    (void)state;
    rig_open(&r, "dcd", "ascending-single", 4, 8);
    rig_begin(&r, 3, 1);
    assert_true(rig_store(&r, 3, 0, 8, 1));
    for (unsigned wf = 0; wf < 3; wf++)
        lose_until(&r, wf, 1, 8, TM_MODE_WF);
    for (unsigned wf = 0; wf < 3; wf++) {
        assert_int_equal(rig_begin(&r, wf, 0), TM_GO);
        assert_false(rig_store(&r, wf, 0, 8, 1));
    }
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(rig_commit(&r, order[i]), TM_RETRY);
    rig_stopped(&r, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(tm_token(r.wg), (int)order[i]);
        assert_int_equal(rig_begin(&r, order[i], 0), TM_GO);
        assert_int_equal(rig_commit(&r, order[i]), TM_LEAVE);
    }
    assert_int_equal(tm_token(r.wg), -1);
    rig_close(&r);
}

/* One lane of the wavefront cannot help against another wavefront: multi_fail wf does not delay the token then. */
static void test_multiple_fails_by_another_wavefront(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "prw-sig", "ascending-multiple", 2, 8);
    r.p.multi_fail = TM_FAIL_WF;
    rig_start(&r);
    rig_begin(&r, 1, 1);
    assert_true(rig_store(&r, 1, 0, 8, 1));
    lose_until(&r, 0, 3, 8, TM_MODE_WF);
    assert_true(tm_view(r.wg, 0).sel == 3);
    rig_begin(&r, 0, 0);
    assert_false(rig_store(&r, 0, 0, 8, 1));
    assert_int_equal(rig_commit(&r, 0), TM_RETRY);
    assert_int_equal(tm_mode(r.wg, 0), TM_MODE_WG);
    rig_close(&r);
}

static void test_false_conflicts_serialise(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "prw-sig", "ascending-single", 2, 8);
    rig_begin(&r, 1, 1);
    assert_true(rig_store(&r, 1, 0, 0, 1));
    lose_until(&r, 0, 1, 9 * 32, TM_MODE_WG); /* another word with the same bit */
    assert_int_equal(rig_stopped(&r, 1), TM_RETRY);
    assert_int_equal(rig_begin(&r, 0, 0), TM_GO);
    assert_true(rig_store(&r, 0, 0, 9 * 32, 1));
    assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
    rig_close(&r);
}

static void test_masks_of_begin(void **state)
{
    struct tm_rig r;

    (void)state;
    rig_open(&r, "dcd", "ascending-single", 1, 16);
    assert_int_equal(rig_begin(&r, 0, 0x0ff6), TM_GO); /* inactive lanes, and a partial wavefront */
    assert_int_equal(rig_begin(&r, 0, 1), TM_GO);      /* nested */
    assert_int_equal(tm_view(r.wg, 0).depth, 2);
    assert_true(rig_store(&r, 0, 1, 0, 1));
    assert_int_equal(rig_commit(&r, 0), TM_GO);
    assert_true(tm_word(r.wg, 0).written);
    assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
    assert_true(r.out.exec == 0x0ff6 && r.out.done == 0x0ff6);
    assert_int_equal(rig_commit(&r, 0), TM_UNBALANCED);
    assert_int_equal(rig_begin(&r, 0, 0), TM_GO); /* nobody */
    assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
    for (unsigned depth = 0; depth < 255; depth++)
        assert_int_equal(rig_begin(&r, 0, 1), TM_GO);
    assert_int_equal(rig_begin(&r, 0, 1), TM_UNBALANCED);
    tm_ended(r.wg, 0, &r.out);
    assert_int_equal(r.out.what, TM_UNBALANCED);
    rig_close(&r);
}

static void test_early_exit(void **state)
{
    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct tm_rig r;

        rig_open(&r, "dcd", "ascending-single", 2, 8);
        r.p.early_exit = on;
        rig_start(&r);
        rig_begin(&r, 1, 1);
        assert_true(rig_store(&r, 1, 0, 8, 1));
        rig_begin(&r, 0, 1);
        rig_begin(&r, 0, 1);
        assert_false(rig_store(&r, 0, 0, 8, 1));
        assert_int_equal(r.out.what, on ? TM_SKIP : TM_GO);
        assert_int_equal(rig_commit(&r, 0), on ? TM_RETRY : TM_GO);
        rig_close(&r);
    }
}

static void test_copies_go_on_alike(void **state)
{
    struct tm_rig r, copy;
    size_t size;

    (void)state;
    rig_open(&r, "dcd-sm", "ascending-multiple", 2, 8);
    rig_begin(&r, 0, 0xff);
    rig_begin(&r, 1, 0xff);
    assert_true(rig_store(&r, 0, 1, 5, 1) && rig_load(&r, 1, 0, 6));
    copy = r;
    size = tm_size(&r.p, 2, 8, RIG_LDS);
    copy.wg = malloc(size);
    assert_non_null(copy.wg);
    memcpy(copy.wg, r.wg, size);
    for (struct tm_rig *x = &r; x; x = x == &r ? &copy : NULL) {
        assert_false(rig_load(x, 1, 3, 5));
        assert_true(rig_load(x, 0, 3, 6));
        assert_int_equal(rig_commit(x, 1), TM_RETRY);
        assert_int_equal(rig_begin(x, 1, 0), TM_GO);
    }
    assert_memory_equal(copy.wg, r.wg, size);
    assert_memory_equal(copy.lds, r.lds, sizeof r.lds);
    rig_close(&copy);
    rig_close(&r);
}

static void test_broken_invariants_are_values(void **state)
{
    char text[2048], cut[16];
    struct tm_rig r;

    (void)state;
    rig_open(&r, "dcd", "ascending-single", 1, 8);
    rig_at(&r, 0, 0);
    assert_int_equal(rig_access(&r, 0, TM_LOAD, 1, 4), TM_BROKEN);
    assert_non_null(r.out.why);
    rig_begin(&r, 0, 1);
    assert_int_equal(rig_access(&r, 0, TM_LOAD, 2, 4), TM_BROKEN);
    tm_describe(r.wg, text, sizeof text);
    assert_non_null(strstr(text, "wavefront 0 running, mode tx, EXEC 0x1 of 0x1"));
    tm_describe(r.wg, cut, sizeof cut);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mcm),
        cmocka_unit_test(test_mcm_of_a_shared_word),
        cmocka_unit_test(test_mcm_source),
        cmocka_unit_test(test_all_in_multiple_mode_lead_to_the_token),
        cmocka_unit_test(test_self_abort_is_annulled),
        cmocka_unit_test(test_work_group_serialisation),
        cmocka_unit_test(test_commit_acknowledges),
        cmocka_unit_test(test_two_requests),
        cmocka_unit_test(test_queue_is_first_come_first_served),
        cmocka_unit_test(test_multiple_fails_by_another_wavefront),
        cmocka_unit_test(test_false_conflicts_serialise),
        cmocka_unit_test(test_masks_of_begin),
        cmocka_unit_test(test_early_exit),
        cmocka_unit_test(test_copies_go_on_alike),
        cmocka_unit_test(test_broken_invariants_are_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
