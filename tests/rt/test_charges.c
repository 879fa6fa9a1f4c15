/*
 * Which calls a program pays for, by number: each kind of call in turn costs a nanosecond and all others nothing, on a machine that takes
 * no time. And the sums of both profiles.
 */
#include "tests/rt/benchmarks.h"
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct kind {
    const char *name;
    size_t offset; /* in struct rt_profile */
} kinds[] = {
#define KIND(name)                                                                                 \
    {                                                                                              \
#name, offsetof(struct rt_profile, name)                                                   \
    }
    KIND(launch),      KIND(prefetch),   KIND(event_record), KIND(event_wait),
    KIND(event_query), KIND(stream_new), KIND(stream_sync),  KIND(device_sync),
    KIND(access),      KIND(attach),     KIND(dag),          KIND(copy),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static uint32_t *cost_of(struct rt_profile *p, const struct kind *k)
{
    return (uint32_t *)(void *)((char *)p + k->offset);
}

/* The host's time in nanoseconds after the program, at these costs. */
static uint64_t time_at(const char *settings, const char *program, const struct rt_profile *cost)
{
    struct rig *r = rig_new(settings);
    uint64_t ps;

    r->rt->ops->set_mode(r->machine, SIM_VALUES);
    r->rt->cost = cost;
    rig_run(r, program);
    ps = hd_host_time(r->rt);
    rig_free(r);
    assert_int_equal(ps % 1000, 0);
    return ps / 1000;
}

/* "launch 3, device_sync 3", in the order of kinds[]; and that a profile charges just these. */
static void expect_charges(const char *settings, const char *program, const char *expected)
{
    const struct rt_profile *const profiles[] = {&profile_native, &profile_grcuda};
    uint64_t sums[2] = {0, 0};
    struct text charges = {0};

    for (size_t i = 0; i < KINDS; i++) {
        struct rt_profile one = {0};
        uint64_t n;

        *cost_of(&one, &kinds[i]) = 1;
        n = time_at(settings, program, &one);
        if (n)
            text_add(&charges, "%s%s %u", charges.len ? ", " : "", kinds[i].name, (unsigned)n);
        for (size_t p = 0; p < 2; p++) {
            one = *profiles[p];
            sums[p] += n * *cost_of(&one, &kinds[i]);
        }
    }
    if (strcmp(text_str(&charges), expected) != 0)
        fail_msg("%s, %.40s...:\n  %s\n  not %s", settings, program, text_str(&charges), expected);
    text_free(&charges);
    for (size_t p = 0; p < 2; p++)
        assert_int_equal(time_at(settings, program, profiles[p]), sums[p]);
}

#define FAULTS "um.page_faults=on "
#define PLAIN FAULTS "host.prefetch=off "
#define SYNC "host.scheduler=serial-sync "
#define ASYNC "host.scheduler=serial-async "

/* No graph, no stream and no event, whatever is asked for: a launch and a wait each, and a prefetch and its wait. */
static void test_serial_sync(void **state)
{
    static const char *const settings[] = {
        SYNC PLAIN,
        SYNC "host.prefetch=on",
        SYNC PLAIN "host.stream_attach=on",
        SYNC PLAIN
        "host.dependency=no-const host.new_stream=reuse host.parent_stream=same-as-parent",
    };

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        expect_charges(settings[i], VEC_CODE, "launch 3, device_sync 3, access 1");
        expect_charges(settings[i], BS_CODE, "launch 10, device_sync 10, access 3");
        expect_charges(settings[i], IMG_RESETS, "launch 13, device_sync 13, access 1");
        expect_charges(settings[i], ML_CODE, "launch 10, device_sync 10, access 1");
        expect_charges(settings[i], HITS_CODE, "launch 6, device_sync 6, access 4");
        expect_charges(settings[i], DL_CODE, "launch 8, device_sync 8, access 1");
    }
    /* x, x1, y, y1 and res are new to the device. */
    expect_charges(SYNC FAULTS, VEC_CODE,
                   "launch 3, prefetch 5, stream_sync 5, device_sync 3, access 1");
}

static void test_serial_async(void **state)
{
    (void)state;
    expect_charges(ASYNC PLAIN, VEC_CODE, "launch 3, stream_sync 1, access 1");
    expect_charges(ASYNC FAULTS, VEC_CODE, "launch 3, prefetch 5, stream_sync 1, access 1");
    /* The first of four accesses waits; nothing runs at the others. */
    expect_charges(ASYNC PLAIN, HITS_CODE, "launch 6, stream_sync 1, access 4");
}

/* The graph counts launches and the accesses that are no fast path; each launch records an event. */
static void test_parallel_async(void **state)
{
    (void)state;
    expect_charges(
        PLAIN, VEC_CODE,
        "launch 3, event_record 3, event_wait 1, stream_new 2, stream_sync 1, access 1, dag 4");
    expect_charges(
        FAULTS, VEC_CODE,
        "launch 3, prefetch 5, event_record 3, event_wait 1, stream_new 2, stream_sync 1, "
        "access 1, dag 4");
    expect_charges(PLAIN, BS_CODE,
                   "launch 10, event_record 10, stream_new 10, stream_sync 3, access 3, dag 13");
    expect_charges(
        PLAIN, ML_CODE,
        "launch 10, event_record 10, event_wait 1, stream_new 2, stream_sync 1, access 1, dag 11");
    expect_charges(
        PLAIN, DL_CODE,
        "launch 8, event_record 8, event_wait 1, stream_new 2, stream_sync 1, access 1, dag 9");
    expect_charges(
        PLAIN, IMG_PYTHON,
        "launch 11, event_record 11, event_wait 6, stream_new 4, stream_sync 1, access 1, dag 12");
    /* rc1 and rc2 were used by kernels that are known to be done: no wait, but no fast path. */
    expect_charges(
        PLAIN, HITS_CODE,
        "launch 6, event_record 6, event_wait 2, stream_new 2, stream_sync 2, access 4, dag 10");
    /* Two iterations and reads: new streams again, or the same. */
    expect_charges(
        PLAIN, HITS_CODE ";" HITS_CODE,
        "launch 12, event_record 12, event_wait 4, stream_new 4, stream_sync 4, access 8, dag 20");
    expect_charges(
        PLAIN "host.new_stream=reuse", HITS_CODE ";" HITS_CODE,
        "launch 12, event_record 12, event_wait 4, stream_new 2, stream_sync 4, access 8, dag 20");
}

/* x, x1 and y, y1 go to their streams; x1 is on the reader's already, y1 goes to all, res to the reader's. */
static void test_attachment(void **state)
{
    static const char *const settings[] = {"", PLAIN "host.stream_attach=on"};

    (void)state;
    for (size_t i = 0; i < 2; i++)
        expect_charges(
            settings[i], VEC_CODE,
            "launch 3, event_record 3, event_wait 1, stream_new 2, stream_sync 1, access 1, "
            "attach 6, dag 4");
}

/* An array that the host used last is at hand, and so is any while nothing runs; an attached one also beside kernels. */
static void test_the_fast_path(void **state)
{
    (void)state;
    expect_charges(PLAIN, "write x; read x; write x", "access 3");
    expect_charges(PLAIN, "a y=w; read x; write x",
                   "launch 1, event_record 1, stream_new 1, access 2, dag 3");
    expect_charges("", "a y=w; read x; write x",
                   "launch 1, event_record 1, stream_new 1, access 2, attach 1, dag 1");
    expect_charges(PLAIN, "a x=w; sync; read x; read x",
                   "launch 1, event_record 1, stream_new 1, device_sync 1, access 2, dag 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial_sync),    cmocka_unit_test(test_serial_async),
        cmocka_unit_test(test_parallel_async), cmocka_unit_test(test_attachment),
        cmocka_unit_test(test_the_fast_path),
    };

    return cmocka_run_group_tests_name("charges", tests, NULL, NULL);
}
