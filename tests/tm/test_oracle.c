/* The oracle finds what is wrong: answers, values and memory that are changed behind its back, one at a time. */
#include "tests/tm/model_rig.h"
#include "tm/oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 64, LDS = 4 * WORDS, WIDTH = 8, WAVES = 2 };

/* Two wavefronts of 8 lanes with an oracle. Words are 32 bits; each lane's address is at[lane]. */
struct scene {
    struct tm_params params;
    struct tm_wg *wg;
    struct tm_oracle *oracle;
    struct tm_out out;
    struct hd_error err;
    uint32_t at[TM_LANES_MAX];
    uint64_t value[TM_LANES_MAX], got[TM_LANES_MAX];
    uint8_t lds[LDS];
};

static void open_scene(struct scene *s, unsigned detector)
{
    memset(s, 0, sizeof *s);
    tm_defaults(&s->params);
    s->params.detector = detector;
    s->params.classify = true;
    s->params.strong = true;
    s->wg = malloc(tm_size(&s->params, WAVES, WIDTH, LDS));
    s->oracle = malloc(tm_oracle_size(WAVES, WIDTH, LDS));
    assert_true(s->wg && s->oracle);
    tm_init(s->wg, &s->params, WAVES, WIDTH, LDS);
    tm_oracle_init(s->oracle, &s->params, WAVES, WIDTH, LDS, s->lds);
}

static void close_scene(struct scene *s)
{
    free(s->wg);
    free(s->oracle);
}

static struct tm_ref ref_of(struct scene *s, enum tm_kind kind)
{
    return (struct tm_ref){
        .kind = kind, .bytes = 4, .address = s->at, .value = s->value, .out = s->got};
}

static enum hd_status begin(struct scene *s, unsigned wf, uint64_t exec)
{
    tm_begin(s->wg, wf, exec, &s->out);
    return tm_oracle_begin(s->oracle, s->wg, wf, exec, &s->out, &s->err);
}

/* One lane's access of a word, up to what the oracle says of it. */
static void act(struct scene *s, unsigned wf, unsigned lane, enum tm_kind kind, uint32_t word,
                uint64_t value)
{
    struct tm_ref ref = ref_of(s, kind);

    s->at[lane] = 4 * word;
    s->value[lane] = value;
    tm_access(s->wg, wf, UINT64_C(1) << lane, &ref, s->lds, &s->out);
}

static enum hd_status judge(struct scene *s, unsigned wf, unsigned lane, enum tm_kind kind)
{
    struct tm_ref ref = ref_of(s, kind);

    return tm_oracle_access(s->oracle, s->wg, wf, UINT64_C(1) << lane, &ref, s->lds, &s->out,
                            &s->err);
}

static void access_well(struct scene *s, unsigned wf, unsigned lane, enum tm_kind kind,
                        uint32_t word, uint64_t value)
{
    act(s, wf, lane, kind, word, value);
    assert_int_equal(judge(s, wf, lane, kind), HD_OK);
}

static enum hd_status commit(struct scene *s, unsigned wf)
{
    tm_commit(s->wg, wf, s->lds, &s->out);
    return tm_oracle_commit(s->oracle, s->wg, wf, s->lds, &s->out, &s->err);
}

static void expect_code(struct scene *s, enum hd_status status, const char *code)
{
    assert_int_equal(status, HD_INTERNAL);
    assert_string_equal(s->err.code, code);
    close_scene(s);
}

static void both_begin(struct scene *s, unsigned detector)
{
    open_scene(s, detector);
    assert_int_equal(begin(s, 0, 3), HD_OK);
    assert_int_equal(begin(s, 1, 3), HD_OK);
}

/* The detector says that a lost access is done. */
static void test_missed_conflict(void **state)
{
    (void)state;
    for (unsigned detector = 0; detector < 4; detector++) {
        struct scene s;

        both_begin(&s, detector);
        access_well(&s, 0, 0, TM_STORE, 5, 1);
        act(&s, 1, 1, TM_LOAD, 5, 0);
        assert_int_equal(s.out.conflicts, 2);
        s.out.conflicts = 0;
        s.out.done = 2;
        s.out.tcm = 0;
        expect_code(&s, judge(&s, 1, 1, TM_LOAD), "tm-missed-conflict");
    }
}

/* Readers of one word exclude each other in prw-sig and dcd, and only there. */
static void test_read_read(void **state)
{
    (void)state;
    for (unsigned detector = 0; detector < 4; detector++) {
        struct scene s;

        both_begin(&s, detector);
        access_well(&s, 0, 0, TM_LOAD, 5, 0);
        access_well(&s, 1, 0, TM_LOAD, 5, 0);
        assert_int_equal(s.out.read_read, detector == 0 || detector == 2);
        assert_int_equal(tm_oracle_counts(s.oracle).read_read, detector == 0 || detector == 2);
        close_scene(&s);
    }
}

/* Word 5 + 8 rows has the filter bits of word 5: row 8 folds to 8 ^ 1 ^ 0, as row 1 does. */
static void test_classes(void **state)
{
    struct scene s;

    (void)state;
    open_scene(&s, 0);
    close_scene(&s);
    s.params.banks = 1;
    s.wg = malloc(tm_size(&s.params, WAVES, WIDTH, LDS));
    s.oracle = malloc(tm_oracle_size(WAVES, WIDTH, LDS));
    tm_init(s.wg, &s.params, WAVES, WIDTH, LDS);
    tm_oracle_init(s.oracle, &s.params, WAVES, WIDTH, LDS, s.lds);
    begin(&s, 0, 3);
    begin(&s, 1, 3);
    access_well(&s, 0, 0, TM_STORE, 1, 7);
    act(&s, 1, 0, TM_LOAD, 8, 0);
    assert_int_equal(s.out.false_conflicts, 1);
    assert_int_equal(judge(&s, 1, 0, TM_LOAD), HD_OK);
    assert_int_equal(tm_oracle_counts(s.oracle).false_conflicts, 1);
    act(&s, 1, 1, TM_LOAD, 1, 0);
    assert_int_equal(s.out.false_conflicts, 0);
    s.out.false_conflicts = 2;
    expect_code(&s, judge(&s, 1, 1, TM_LOAD), "tm-class");
}

static void test_directories_have_no_aliases(void **state)
{
    struct scene s;

    (void)state;
    both_begin(&s, 2);
    act(&s, 0, 0, TM_LOAD, 1, 0);
    s.out.conflicts = 1;
    s.out.done = 0;
    s.out.tcm = 1;
    expect_code(&s, judge(&s, 0, 0, TM_LOAD), "tm-class");
}

static void test_dirty_read(void **state)
{
    struct scene s;

    (void)state;
    both_begin(&s, 0);
    access_well(&s, 0, 0, TM_STORE, 5, 77);
    act(&s, 0, 0, TM_LOAD, 5, 0);
    assert_int_equal(s.got[0], 77);
    s.got[0] = 0;
    expect_code(&s, judge(&s, 0, 0, TM_LOAD), "tm-opacity");
}

static void test_store_elsewhere(void **state)
{
    struct scene s;

    (void)state;
    both_begin(&s, 0);
    act(&s, 0, 0, TM_STORE, 5, 77);
    s.lds[4 * 5] = 78;
    expect_code(&s, judge(&s, 0, 0, TM_STORE), "tm-memory");
}

/* An abort that leaves what the lane wrote. */
static void test_not_restored(void **state)
{
    struct scene s;

    (void)state;
    both_begin(&s, 0);
    access_well(&s, 0, 0, TM_STORE, 5, 77);
    access_well(&s, 1, 0, TM_STORE, 6, 78);
    act(&s, 1, 0, TM_STORE, 5, 79);
    assert_int_equal(s.lds[4 * 6], 0);
    s.lds[4 * 6] = 78;
    expect_code(&s, judge(&s, 1, 0, TM_STORE), "tm-memory");
}

/* A word changes between a read and the commit: the replay reads another value. */
static void test_replay(void **state)
{
    struct scene s;
    struct tm_ref ref;

    (void)state;
    both_begin(&s, 0);
    access_well(&s, 0, 0, TM_LOAD, 5, 0);
    ref = ref_of(&s, TM_STORE);
    ref.value = s.value;
    s.value[0] = 1;
    s.lds[4 * 5] = 1;
    expect_code(&s, tm_oracle_plain(s.oracle, 1, 1, &ref, s.lds, &s.err), "tm-missed-conflict");

    both_begin(&s, 0);
    access_well(&s, 0, 0, TM_LOAD, 5, 0);
    s.lds[4 * 5] = 1;
    expect_code(&s, commit(&s, 0), "tm-memory");
}

/* Under weak isolation the same is a race, and no error. */
static void test_race(void **state)
{
    struct scene s;
    struct tm_ref ref;

    (void)state;
    open_scene(&s, 0);
    s.params.strong = false;
    tm_oracle_init(s.oracle, &s.params, WAVES, WIDTH, LDS, s.lds);
    begin(&s, 0, 1);
    access_well(&s, 0, 0, TM_STORE, 5, 9);
    ref = ref_of(&s, TM_STORE);
    s.lds[4 * 5] = 1;
    assert_int_equal(tm_oracle_plain(s.oracle, 1, 1, &ref, s.lds, &s.err), HD_OK);
    assert_int_equal(tm_oracle_counts(s.oracle).races, 1);
    assert_int_equal(commit(&s, 0), HD_OK);
    assert_int_equal(tm_oracle_finish(s.oracle, s.wg, s.lds, &s.err), HD_OK);
    close_scene(&s);
}

enum lie { LIE_DONE, LIE_ATT, LIE_EXEC, LIE_RESTORE, LIES };

static void test_commit_of_other_lanes(void **state)
{
    (void)state;
    for (int lie = 0; lie < LIES; lie++) {
        struct scene s;

        both_begin(&s, 0);
        access_well(&s, 0, 0, TM_STORE, 5, 1);
        if (lie != LIE_EXEC)
            access_well(&s, 0, 1, TM_STORE, 5, 2);
        tm_commit(s.wg, 0, s.lds, &s.out);
        s.out.done ^= lie == LIE_DONE ? 2 : 0;
        s.out.att ^= lie == LIE_ATT ? 1 : 0;
        s.out.exec ^= lie == LIE_EXEC ? 1 : 0;
        s.out.restore ^= lie == LIE_RESTORE ? 2 : 0;
        expect_code(&s, tm_oracle_commit(s.oracle, s.wg, 0, s.lds, &s.out, &s.err), "tm-invariant");
    }
}

static void test_lanes_nobody_answered(void **state)
{
    struct scene s;

    (void)state;
    both_begin(&s, 0);
    act(&s, 0, 0, TM_STORE, 5, 1);
    s.out.done = 0;
    expect_code(&s, judge(&s, 0, 0, TM_STORE), "tm-invariant");
    both_begin(&s, 0);
    act(&s, 0, 0, TM_STORE, 5, 1);
    s.out.passes = 0;
    expect_code(&s, judge(&s, 0, 0, TM_STORE), "tm-invariant");
}

/* A work-group that ends inside a transaction has marks left. */
static void test_end(void **state)
{
    struct scene s;

    (void)state;
    both_begin(&s, 2);
    access_well(&s, 0, 0, TM_STORE, 5, 1);
    assert_int_equal(tm_oracle_check(s.oracle, s.wg, s.lds, &s.err), HD_OK);
    expect_code(&s, tm_oracle_finish(s.oracle, s.wg, s.lds, &s.err), "tm-invariant");
}

/* The check meets marks that the oracle was not told of. */
static void test_unknown_marks(void **state)
{
    (void)state;
    for (unsigned detector = 0; detector < 4; detector++) {
        struct scene s;

        open_scene(&s, detector);
        tm_begin(s.wg, 0, 1, &s.out);
        act(&s, 0, 0, TM_LOAD, 5, 1);
        expect_code(&s, tm_oracle_check(s.oracle, s.wg, s.lds, &s.err), "tm-invariant");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missed_conflict),
        cmocka_unit_test(test_read_read),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_directories_have_no_aliases),
        cmocka_unit_test(test_dirty_read),
        cmocka_unit_test(test_store_elsewhere),
        cmocka_unit_test(test_not_restored),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_commit_of_other_lanes),
        cmocka_unit_test(test_lanes_nobody_answered),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_unknown_marks),
    };

    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
