/* The rows of the advisor's table in tm/README.md. */
#include "tm/advise.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Two words read and written by 256 work-items on 256 words, which 8 bits for each of 32 banks tell apart. */
static const struct tm_known small = {
    .facts = {1, 2, 2, false, false, true},
    .groups = {4, 4, 4, 4},
    .groups_without = 4,
    .items = 256,
    .banks = 32,
    .lds_bytes = 1024,
};

static void expect(const struct tm_known *k, unsigned detector, enum tm_reason why)
{
    struct tm_advice a = tm_advise(k);

    assert_int_equal(a.detector, detector);
    assert_int_equal(a.why_detector, why);
}

static void detectors_by_code(void **state)
{
    struct tm_known k = small;

    (void)state;
    assert_true(tm_advise(&k).false_rate <= 0.0);
    expect(&k, TM_PRW_SIG, TM_BY_CHANGES);
    k.facts.changes_all = false;
    expect(&k, TM_SWO_SIG, TM_BY_READ_SET);
    k.groups[TM_SWO_SIG] = 3;
    expect(&k, TM_DCD_SM, TM_BY_READ_SET);
    k.facts.reads_only = true;
    expect(&k, TM_DCD_SM, TM_BY_READERS);
    k.groups[TM_SWO_SIG] = 4;
    expect(&k, TM_SWO_SIG, TM_BY_READERS);
    k.groups[TM_PRW_SIG] = k.groups[TM_SWO_SIG] = 3;
    expect(&k, TM_DCD_SM, TM_BY_REGISTERS);
    k.facts.changes_all = true;
    expect(&k, TM_DCD, TM_BY_REGISTERS);
}

static void footprint(void **state)
{
    struct tm_known k = small;

    (void)state;
    k.facts.unbounded = true;
    expect(&k, TM_DCD, TM_BY_FOOTPRINT);
    k = small;
    k.lds_bytes = 2048; /* half of the words that share a bit are others: (1 - (255/256)^1020) / 2 */
    assert_true(tm_advise(&k).false_rate > 0.490 && tm_advise(&k).false_rate < 0.491);
    expect(&k, TM_DCD, TM_BY_FOOTPRINT);
    k.facts.changes_all = false;
    expect(&k, TM_DCD_SM, TM_BY_FOOTPRINT);
    k.items = 1; /* nobody else */
    expect(&k, TM_SWO_SIG, TM_BY_READ_SET);
}

static void what_a_run_says(void **state)
{
    struct tm_known k = small;

    (void)state;
    k.facts.unbounded = true;
    k.profile = (struct tm_profile){.begins = 100, .commits = 100, .aborts = 400};
    expect(&k, TM_DCD_SM, TM_BY_FOOTPRINT);
    k.profile.aborts = 500;
    expect(&k, TM_DCD, TM_BY_FOOTPRINT);
    k.facts.unbounded = k.facts.changes_all = false;
    expect(&k, TM_DCD, TM_BY_CONTENTION);
    assert_false(tm_advise(&k).locks);
    k.profile.aborts = 1100;
    k.profile.cycles = 100;
    k.profile.group_cycles = 30;
    assert_false(tm_advise(&k).locks);
    k.profile.group_cycles = 31;
    assert_true(tm_advise(&k).locks);
}

static void serialisations(void **state)
{
    struct tm_known k = small;

    (void)state;
    assert_int_equal(tm_advise(&k).serialise, 0);
    assert_int_equal(tm_advise(&k).why_serialise, TM_BY_NOTHING);
    k.profile = (struct tm_profile){.begins = 1000, .commits = 1, .wave_serial = 9};
    assert_int_equal(tm_advise(&k).why_serialise, TM_BY_RARE_SERIAL);
    k.profile.group_serial = 1;
    assert_int_equal(tm_advise(&k).why_serialise, TM_BY_CONFLICTS);
    k.facts.writes = 0;
    k.facts.reads_only = true;
    assert_int_equal(tm_advise(&k).serialise, 2);
    assert_int_equal(tm_advise(&k).why_serialise, TM_BY_READ_ONLY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detectors_by_code),
        cmocka_unit_test(footprint),
        cmocka_unit_test(what_a_run_says),
        cmocka_unit_test(serialisations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
