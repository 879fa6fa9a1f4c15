/* Corner cases of marks and versions that break atomicity or isolation; tm/README.md has the table. */
#include "sim/base/bits.h"
#include "tests/tm/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const detectors[] = {"prw-sig", "swo-sig", "dcd", "dcd-sm"};

enum { ALL = 4 };

/* Of row 0 and row 9 of a bank the filter has one bit: 9 ^ 9 >> 3 = 8. */
enum { ALIAS_ROW = 9, ALIAS = ALIAS_ROW * 32 };

static void open_pair(struct tm_rig *r, const char *detector)
{
    rig_open(r, detector, "ascending-single", 2, 8);
    assert_int_equal(rig_begin(r, 0, 0xff), TM_GO);
    assert_int_equal(rig_begin(r, 1, 0xff), TM_GO);
}

static void test_committed_lanes_drop_marks(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        assert_true(rig_store(&r, 0, 0, 5, 1));
        assert_true(rig_store(&r, 1, 1, 6, 1));
        assert_false(rig_store(&r, 0, 2, 6, 1)); /* so that wavefront 0 stays in its transaction */
        assert_int_equal(rig_commit(&r, 0), TM_RETRY);
        assert_true(rig_store(&r, 1, 0, 5, 2));
        rig_close(&r);
    }
}

static void test_abort_restores_and_clears_in_all_banks(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        assert_true(rig_store(&r, 0, 0, 1, 11));
        assert_true(rig_load(&r, 0, 0, 2));
        assert_true(rig_store(&r, 1, 0, 3, 33));
        assert_false(rig_store(&r, 0, 0, 3, 1));
        assert_int_equal(rig_word(&r, 1), 0);
        assert_true(rig_store(&r, 1, 0, 1, 5)); /* once restored, it is not restored again */
        assert_true(rig_store(&r, 1, 0, 2, 6));
        rig_commit(&r, 0);
        assert_int_equal(rig_word(&r, 1), 5);
        assert_int_equal(rig_commit(&r, 1), TM_LEAVE);
        assert_int_equal(rig_word(&r, 1), 5);
        assert_int_equal(rig_word(&r, 2), 6);
        rig_close(&r);
    }
}

/* The losers of a pass are cleared before the next pass of the same instruction. */
static void test_next_pass_sees_the_abort(void **state)
{
    struct tm_rig r;

    (void)state;
    open_pair(&r, "dcd");
    assert_true(rig_store(&r, 1, 0, 0, 1));
    assert_true(rig_store(&r, 0, 0, 7, 1));
    rig_at(&r, 0, 0);  /* loses in the first pass */
    rig_at(&r, 1, 32); /* first pass would be the same bank, so the second */
    rig_at(&r, 2, 64); /* third */
    rig_access(&r, 0, TM_LOAD, 7, 4);
    assert_int_equal(r.out.passes, 3);
    assert_true(r.out.conflicts == 1);
    rig_at(&r, 3, 7);
    rig_access(&r, 0, TM_LOAD, 8, 4);
    assert_int_equal(r.got[3], 0);
    rig_close(&r);
}

static void test_helper_outlives_an_aborted_lane(void **state)
{
    struct tm_rig r;

    (void)state;
    open_pair(&r, "swo-sig");
    assert_true(rig_store(&r, 0, 0, 5, 1));
    assert_true(rig_store(&r, 1, 0, 6, 1));
    assert_false(rig_load(&r, 0, 1, 6));
    assert_true(tm_helper_has(r.wg, 0, 5));
    assert_false(rig_load(&r, 1, 1, 5)); /* lane 0's write is still seen */
    rig_commit(&r, 0);
    assert_false(tm_helper_has(r.wg, 0, 5));
    assert_true(rig_load(&r, 1, 2, 5));
    rig_close(&r);
}

static void test_records_go_with_the_transaction(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        assert_true(rig_store(&r, 0, 0, 5, 1));
        assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
        assert_false(tm_word(r.wg, 5).valid);
        rig_begin(&r, 0, 0xff);
        assert_true(rig_store(&r, 0, 0, 5, 2)); /* must back up the 1 */
        rig_stopped(&r, 0);
        assert_int_equal(rig_word(&r, 5), 1);
        rig_close(&r);
    }
}

static void test_alias_is_backed_up_and_re_access_is_not(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        assert_true(rig_store(&r, 0, 0, 0, 1));
        assert_true(rig_store(&r, 0, 0, ALIAS, 2)); /* the own filter alone matches */
        assert_int_equal(r.out.cycles, i < 2 ? 1 + 5 + 1 + 2 : 8);
        assert_true(rig_store(&r, 0, 0, 0, 3));
        rig_stopped(&r, 0);
        assert_int_equal(rig_word(&r, 0), 0);
        assert_int_equal(rig_word(&r, ALIAS), 0);
        rig_close(&r);
    }
}

static void test_store_after_own_load_backs_up(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++)
        for (unsigned owner_on_read = 0; owner_on_read < 2; owner_on_read++) {
            struct tm_rig r;

            rig_open(&r, detectors[i], "ascending-single", 2, 8);
            r.p.owner_on_read = owner_on_read;
            rig_start(&r);
            rig_begin(&r, 0, 0xff);
            assert_true(rig_load(&r, 0, 0, 5));
            assert_int_equal(tm_word(r.wg, 5).valid, owner_on_read || i >= 2);
            assert_true(rig_store(&r, 0, 0, 5, 1));
            assert_true(tm_word(r.wg, 5).written);
            rig_stopped(&r, 0);
            assert_int_equal(rig_word(&r, 5), 0);
            rig_close(&r);
        }
}

static void test_mutual_abort(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        rig_open(&r, detectors[i], "ascending-single", 1, 8);
        rig_begin(&r, 0, 3);
        rig_store(&r, 0, 0, 0, 1);
        rig_store(&r, 0, 1, 1, 2);
        rig_at(&r, 0, 1);
        rig_at(&r, 1, 0);
        rig_access(&r, 0, TM_STORE, 3, 4);
        assert_int_equal(r.out.passes, 1);
        assert_true(r.out.conflicts == 3 && r.out.done == 0);
        assert_int_equal(rig_word(&r, 0) | rig_word(&r, 1), 0);
        rig_close(&r);
    }
}

/* Two lanes, one word: two passes, and the second loses. */
static void test_same_word_takes_two_passes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        rig_open(&r, detectors[i], "ascending-single", 1, 8);
        rig_begin(&r, 0, 3);
        rig_at(&r, 0, 4);
        rig_at(&r, 1, 4);
        r.value[0] = 1;
        r.value[1] = 2;
        rig_access(&r, 0, TM_STORE, 3, 4);
        assert_int_equal(r.out.passes, 2);
        assert_true(r.out.conflicts == 2 && r.out.done == 1);
        assert_int_equal(rig_word(&r, 4), 1);
        rig_close(&r);
    }
}

static void test_two_words_all_or_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        assert_true(rig_store(&r, 1, 0, 5, 9)); /* the upper word */
        rig_at(&r, 0, 4);
        r.value[0] = UINT64_MAX;
        rig_access(&r, 0, TM_STORE, 1, 8);
        assert_true(r.out.conflicts == 1);
        assert_int_equal(rig_word(&r, 4), 0);
        assert_int_equal(rig_word(&r, 5), 9);
        assert_false(tm_word(r.wg, 4).valid);
        assert_true(rig_store(&r, 1, 0, 4, 1)); /* no mark was left there */
        rig_close(&r);
    }
}

/* Bytes of one word belong together. */
static void test_bytes_conflict_by_word(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        r.address[0] = 21;
        r.value[0] = 0xab;
        rig_access(&r, 0, TM_STORE, 1, 1);
        assert_int_equal(rig_word(&r, 5), 0xab00);
        r.address[0] = 22;
        rig_access(&r, 1, TM_STORE, 1, 1);
        assert_true(r.out.conflicts == 1);
        rig_stopped(&r, 0);
        assert_int_equal(rig_word(&r, 5), 0);
        rig_close(&r);
    }
}

static void test_read_upgrade_by_two(void **state)
{
    static const char *const sharing[] = {"swo-sig", "dcd-sm"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct tm_rig r;

        /* Both read A and B, one writes A and one B in one pass: both lose. */
        rig_open(&r, sharing[i], "ascending-single", 1, 8);
        rig_begin(&r, 0, 3);
        for (unsigned lane = 0; lane < 2; lane++)
            assert_true(rig_load(&r, 0, lane, 0) && rig_load(&r, 0, lane, 1));
        rig_at(&r, 0, 0);
        rig_at(&r, 1, 1);
        rig_access(&r, 0, TM_STORE, 3, 4);
        assert_true(r.out.conflicts == 3);
        rig_close(&r);

        /* Both read and write A: two passes, so that the second finds the first gone. */
        rig_open(&r, sharing[i], "ascending-single", 1, 8);
        rig_begin(&r, 0, 3);
        assert_true(rig_load(&r, 0, 0, 0) && rig_load(&r, 0, 1, 0));
        rig_at(&r, 0, 0);
        rig_at(&r, 1, 0);
        rig_access(&r, 0, TM_STORE, 3, 4);
        assert_true(r.out.conflicts == 1 && r.out.done == 2);
        rig_close(&r);
    }
}

static void test_sharers_outlive_the_owner(void **state)
{
    (void)state;
    for (unsigned release = TM_RELEASE_EXACT; release <= TM_RELEASE_EPOCH; release++) {
        struct tm_rig r;

        rig_open(&r, "dcd-sm", "ascending-single", 3, 8);
        r.p.dcd_release = release;
        rig_start(&r);
        for (unsigned wf = 0; wf < 3; wf++)
            rig_begin(&r, wf, 1);
        assert_true(rig_load(&r, 0, 0, 5) && rig_load(&r, 1, 0, 5));
        assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
        assert_true(tm_word(r.wg, 5).valid);
        assert_false(rig_store(&r, 2, 0, 5, 1));
        /* A reader that was the owner is one again, and is protected as well. */
        rig_begin(&r, 0, 1);
        assert_true(rig_load(&r, 0, 0, 5));
        assert_int_equal(rig_commit(&r, 1), TM_LEAVE);
        rig_commit(&r, 2);
        rig_begin(&r, 2, 1);
        assert_false(rig_store(&r, 2, 0, 5, 1));
        assert_int_equal(rig_commit(&r, 0), TM_LEAVE);
        rig_commit(&r, 2);
        rig_begin(&r, 2, 1);
        assert_true(rig_store(&r, 2, 0, 5, 1));
        assert_int_equal(rig_commit(&r, 2), TM_LEAVE);
        assert_true(rig_is_clean(&r));
        rig_close(&r);
    }
}

/* In one pass the owner of a word loses elsewhere while another lane joins its readers. */
static void test_owner_loses_while_another_joins(void **state)
{
    (void)state;
    for (unsigned release = TM_RELEASE_EXACT; release <= TM_RELEASE_EPOCH; release++) {
        struct tm_rig r;

        rig_open(&r, "dcd-sm", "ascending-single", 2, 8);
        r.p.dcd_release = release;
        rig_start(&r);
        rig_begin(&r, 0, 3);
        rig_begin(&r, 1, 1);
        assert_true(rig_load(&r, 0, 0, 5));
        assert_true(rig_store(&r, 1, 0, 6, 1));
        rig_at(&r, 0, 6);
        rig_at(&r, 1, 5);
        rig_access(&r, 0, TM_LOAD, 3, 4);
        assert_true(r.out.conflicts == 1 && r.out.done == 2);
        assert_true(tm_word(r.wg, 5).valid && tm_word(r.wg, 5).owner == 1);
        assert_false(tm_word(r.wg, 5).shared);
        assert_false(rig_store(&r, 1, 0, 5, 1));
        rig_commit(&r, 0);
        rig_commit(&r, 1);
        rig_close(&r);
    }
}

static void test_strong_isolation(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i++) {
        struct tm_rig r;
        bool shares = i == 1 || i == 3;

        rig_open(&r, detectors[i], "ascending-single", 2, 8);
        r.p.strong = true;
        rig_start(&r);
        rig_begin(&r, 0, 1);
        assert_true(rig_store(&r, 0, 0, 5, 1) && rig_load(&r, 0, 0, 6));
        assert_int_equal(rig_plain(&r, 1, TM_LOAD, 7), TM_GO);
        assert_int_equal(rig_plain(&r, 1, TM_LOAD, 6), shares ? TM_GO : TM_WAIT);
        assert_int_equal(rig_plain(&r, 1, TM_STORE, 6), TM_WAIT);
        assert_int_equal(rig_plain(&r, 1, TM_LOAD, 5), TM_WAIT);
        assert_true(tm_view(r.wg, 1).waiting);
        rig_commit(&r, 0);
        assert_int_equal(r.out.wake, 2);
        assert_int_equal(rig_plain(&r, 1, TM_STORE, 5), TM_GO);
        rig_close(&r);

        open_pair(&r, detectors[i]); /* weak: a race, and it goes on */
        assert_true(rig_store(&r, 0, 0, 5, 1));
        rig_commit(&r, 1);
        assert_int_equal(rig_plain(&r, 1, TM_STORE, 5), TM_GO);
        assert_true(r.out.conflicts == 1);
        rig_close(&r);
    }
}

static void expect_class(struct tm_rig *r, bool is_false, bool read_read)
{
    assert_int_equal(r->out.false_conflicts, is_false ? 1 : 0);
    assert_int_equal(r->out.read_read, read_read ? 1 : 0);
}

static void test_classes_of_conflicts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL; i += 2) { /* those that do not share */
        struct tm_rig r;

        open_pair(&r, detectors[i]);
        assert_true(rig_load(&r, 1, 1, 5));
        assert_false(rig_load(&r, 0, 0, 5));
        expect_class(&r, false, true);
        rig_stopped(&r, 0);
        rig_begin(&r, 0, 0xff);
        assert_false(rig_store(&r, 0, 0, 5, 1));
        expect_class(&r, false, false);
        rig_stopped(&r, 0);
        rig_begin(&r, 0, 0xff);
        assert_int_equal(rig_load(&r, 0, 0, 5 + ALIAS), i >= 2);
        expect_class(&r, i < 2, false);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_committed_lanes_drop_marks),
        cmocka_unit_test(test_abort_restores_and_clears_in_all_banks),
        cmocka_unit_test(test_next_pass_sees_the_abort),
        cmocka_unit_test(test_helper_outlives_an_aborted_lane),
        cmocka_unit_test(test_records_go_with_the_transaction),
        cmocka_unit_test(test_alias_is_backed_up_and_re_access_is_not),
        cmocka_unit_test(test_store_after_own_load_backs_up),
        cmocka_unit_test(test_mutual_abort),
        cmocka_unit_test(test_same_word_takes_two_passes),
        cmocka_unit_test(test_two_words_all_or_nothing),
        cmocka_unit_test(test_bytes_conflict_by_word),
        cmocka_unit_test(test_read_upgrade_by_two),
        cmocka_unit_test(test_sharers_outlive_the_owner),
        cmocka_unit_test(test_owner_loses_while_another_joins),
        cmocka_unit_test(test_strong_isolation),
        cmocka_unit_test(test_classes_of_conflicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
