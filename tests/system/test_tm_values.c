/*
 * The programs of workloads/tm: in every variant, on every device and wavefront size, timed and for values only, the
 * checks pass; without a section they do not. What does not fit is refused with a reason, and contention is what
 * the arguments say.
 */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Work-items that fill no wavefront of 16 lanes or more, and contention enough that each section meets others. */
static const struct program {
    const char *name, *variants, *arguments;
} programs[] = {
    {"bank", "serial coarse fine atomic", "items=40 rounds=2 accounts=20"},
    {"bank", "fine", "items=40 accounts=64 hot=3 share=90"},
    {"colouring", "serial coarse fine", "items=40 vertices=100 degree=5"},
    {"colouring", "coarse fine", "items=40 vertices=40 degree=4 graph=ring"},
    {"counter", "serial coarse fine atomic", "items=40 rounds=2 counters=3"},
    {"disjoint", "serial coarse fine atomic none", "items=40 rounds=2 words=3"},
    {"disjoint", "coarse fine", "items=40 words=2 layout=blocked"},
    {"hash", "serial coarse fine atomic", "items=40 rounds=2 buckets=10"},
    {"kmeans", "serial coarse fine atomic", "items=40 rounds=2 clusters=3 features=5"},
    {"list", "serial coarse fine atomic", "items=40 rounds=2 length=5 reads=30"},
    {"lookup", "serial coarse fine atomic none", "items=40 entries=32"},
    {"lookup", "serial coarse fine atomic", "items=40 rounds=2 entries=4 reads=50"},
    {"synthetic", "serial coarse fine", "items=40 reads=5 writes=7 hot=4 cold=60 length=2"},
    {"synthetic", "coarse fine", "items=40 reads=0 writes=3 hot=5 cold=0"},
    {"vacation", "serial coarse fine", "items=40 rounds=2 relations=6 customers=5 places=4"},
    {"vacation", "fine", "items=40 relations=3 customers=9 queries=8"},
};

static const char *path_of(const char *name, char (*text)[64])
{
    snprintf(*text, sizeof *text, "workloads/tm/%s.lua", name);
    return *text;
}

/* Wavefront sizes in turn, with the devices' divergence units and those that none has. */
static const char *const devices[] = {
    "tiny", "hd7970", "p100", "xe-lp", "gtx1660s", "gtx960", "bench",
};
static const char *const units[] = {"", "divergence.unit=predication", "divergence.unit=exec-mask"};

static void check_variant(const struct program *p, const char *variant, unsigned turn)
{
    char path[64], arguments[160], settings[160];

    snprintf(arguments, sizeof arguments, "variant=%s groups=2 %s", variant, p->arguments);
    for (unsigned width = 8; width <= 64; width *= 2, turn++) {
        snprintf(settings, sizeof settings,
                 "wavefront_size=%u cu.wavefront_slots=64 cu.wavefront_vector_register_words=0 %s",
                 width, units[turn / 2 % 3]);
        workload_check(path_of(p->name, &path), devices[turn % 7], settings, arguments,
                       turn % 3 > 0);
    }
}

static void test_sections_are_exclusive_everywhere(void **state)
{
    unsigned turn = 0;

    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *at = programs[i].variants;
        char variant[16];
        int used;

        for (; sscanf(at, " %15s%n", variant, &used) == 1; at += used)
            check_variant(&programs[i], variant, turn++);
    }
}

/* Whether the program's checks pass; it must come to its end. */
static bool passes(const char *name, const char *arguments, const char *settings)
{
    struct hd_options o = sys_options("hd7970", settings);
    char path[64];
    struct sys s;
    bool ok;

    workload_run(&s, &o, path_of(name, &path), arguments);
    ok = workload_passed(&s);
    sys_close(&s);
    return ok;
}

static void test_without_a_section_the_checks_fail(void **state)
{
    static const char *const races[][2] = {
        {"bank", "accounts=16"},
        {"colouring", "vertices=64 degree=8"},
        {"counter", "counters=1"},
        {"hash", "buckets=8"},
        {"kmeans", "clusters=3 features=4"},
        {"list", "length=4 reads=0"},
        {"lookup", "entries=4 reads=0"},
        {"synthetic", "hot=4 cold=0"},
        {"vacation", "relations=4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof races / sizeof *races; i++) {
        char arguments[128];

        for (unsigned k = 0; k < 4; k++) {
            snprintf(arguments, sizeof arguments, "variant=%s groups=1 items=64 seed=%u %s",
                     k < 2 ? "none" : "serial", k, races[i][1]);
            if (passes(races[i][0], arguments, "") != (k >= 2))
                fail_msg("%s %s: the checks %s", races[i][0], arguments, k < 2 ? "pass" : "fail");
        }
    }
}

static void require_refused(const char *name, const char *arguments, const char *text)
{
    struct hd_options o = sys_options("tiny", "");
    struct hd_error err;
    char path[64];
    struct sys s;

    assert_int_equal(workload_try(&s, &o, path_of(name, &path), arguments, &err), HD_BAD_INPUT);
    if (!strstr(err.message, text))
        fail_msg("%s %s: `%s` is not in: %s", name, arguments, text, err.message);
    sys_close(&s);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    require_refused(
        "colouring", "variant=atomic",
        "variant=atomic: does not fit here: a colour depends on those of all neighbours; "
        "it is one of tx, serial, coarse, fine, none");
    require_refused("synthetic", "variant=atomic", "does not fit here");
    require_refused("vacation", "variant=atomic", "does not fit here");
    require_refused("hash", "variant=lock", "there is no such variant; it is one of tx, serial");
    require_refused("colouring", "graph=tree", "it is one of random, ring");
    require_refused("lookup", "entries=48", "it is a power of two");
    require_refused("synthetic", "reads=10 writes=7", "together they are 1 to 16 words");
    require_refused("synthetic", "hot=0 cold=0", "there is no word");
}

static uint64_t time_of(const char *name, const char *arguments)
{
    struct hd_options o = sys_options("hd7970", "");
    char path[64];
    uint64_t time;
    struct sys s;

    workload_run(&s, &o, path_of(name, &path), arguments);
    workload_require_passed(&s, arguments);
    assert_int_equal(s.kernels.len, 1);
    time = sys_time(&s.kernels.at[0]);
    sys_close(&s);
    return time;
}

/* The first arguments have the work-items meet more often than the second. */
static void test_contention_takes_time(void **state)
{
    static const char *const pairs[][3] = {
        {"bank", "accounts=4", "accounts=512"},
        {"bank", "accounts=512 hot=2 share=90", "accounts=512"},
        {"colouring", "degree=16", "degree=2"},
        {"counter", "counters=1", "counters=64"},
        {"hash", "buckets=1", "buckets=64"},
        {"kmeans", "clusters=1", "clusters=16"},
        {"lookup", "entries=1", "entries=64"},
        {"synthetic", "share=100 hot=8", "share=0"},
        {"vacation", "relations=4", "relations=64"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char arguments[2][128];

        for (unsigned k = 0; k < 2; k++)
            snprintf(arguments[k], sizeof arguments[k], "variant=fine groups=1 items=64 %s",
                     pairs[i][1 + k]);
        if (time_of(pairs[i][0], arguments[0]) < 2 * time_of(pairs[i][0], arguments[1]))
            fail_msg("%s: %s takes less than twice the time", pairs[i][0], arguments[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections_are_exclusive_everywhere),
        cmocka_unit_test(test_without_a_section_the_checks_fail),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_contention_takes_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
