/* B&S: its results on every device and wavefront size, its schedules, its work in f64, and mistakes in its kernel. */
#include "isa/isa.h"
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define PATH "workloads/dag/bs.lua"
enum { ARRAYS = 10 };

static void test_everywhere(void **state)
{
    static const char *const shapes[] = {"n=1 block=1 blocks=1",
                                         "n=150 block=33 blocks=2 spread=58.9",
                                         "n=257 block=64 blocks=2 random=false"};

    (void)state;
    workload_check_everywhere(PATH, shapes, 3);
}

static void run_bs(struct sys *s, const char *preset, const char *settings, const char *arguments)
{
    struct hd_options o = sys_options(preset, settings);

    workload_run(s, &o, PATH, arguments);
    workload_require_passed(s, arguments);
    assert_int_equal(s->kernels.len, ARRAYS);
}

/* Fallen through, the paths of numbers far out change nothing. */
static void test_predication(void **state)
{
    (void)state;
    workload_check(PATH, "tiny", "divergence.unit=predication", "n=100 block=32 blocks=2", true);
}

/* Ten launches without edges on ten streams, with each scheduler that has streams. */
static void test_schedules(void **state)
{
    static const struct {
        const char *settings, *arguments;
    } schedules[] = {{"", "n=500 blocks=2"},
                     {"host.dependency=no-const", "n=500 blocks=2"},
                     {"host.scheduler=serial-async", "n=500 blocks=2 variant=events"}};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct workload_schedule got;
        struct sys s;

        run_bs(&s, "p100", schedules[i].settings, schedules[i].arguments);
        got = workload_schedule_of(&s);
        assert_int_equal(got.edges, 0);
        assert_int_equal(got.streams, ARRAYS);
        sys_close(&s);
    }
}

/* Each iteration sends 8 bytes for each x, and gets back the page of each y that the host reads. */
static void test_bytes(void **state)
{
    uint64_t bytes[2] = {0, 0};
    struct sys s;

    (void)state;
    run_bs(&s, "gtx960", "", "n=4096 blocks=2 verify=false");
    for (size_t i = 0; i < s.transfers.len; i++)
        bytes[s.transfers.at[i].r.to_device] += s.transfers.at[i].r.bytes;
    /* The page of y that the host read goes to the device again. */
    assert_int_equal(bytes[true], ARRAYS * (8 * 4096 + 4096));
    assert_int_equal(bytes[false], ARRAYS * 4096);
    sys_close(&s);
}

/*
 * What a trip of the loop costs, from launches of one and of three trips. Arithmetic of f64: 15 for each of two exp, 22 for
 * log, 8 for each of two quotients, 5 for each of two reciprocals, and 28 of the formula itself.
 */
static void test_work_of_an_element(void **state)
{
    struct sim_counters one, three;
    struct sys s;

    (void)state;
    run_bs(&s, "gtx960", "", "n=512 block=64 blocks=8 verify=false");
    one = s.kernels.at[0].r.counters;
    sys_close(&s);
    run_bs(&s, "gtx960", "", "n=1536 block=64 blocks=8 verify=false");
    three = s.kernels.at[0].r.counters;
    sys_close(&s);
    assert_int_equal(one.waves, 16);
    assert_int_equal(three.class_instr[ISA_C_F64] - one.class_instr[ISA_C_F64],
                     2 * 16 * (2 * 15 + 22 + 2 * 8 + 2 * 5 + 28));
    assert_int_equal(three.wave_instr - one.wave_instr, 2 * 16 * 171);
}

static void test_mistakes_are_found(void **state)
{
    static const struct workload_mistake mistakes[] = {
        {"bs", "bs", "n=300 block=32 blocks=2", "0.2316419", "0.2316418"},
        {"bs", "bs", "n=300 block=32 blocks=2", "1.330274429", "1.330274428"},
        {"bs", "bs", "n=300 block=32 blocks=2 spread=50", "@m1 v_sub_f64 d, 1.0, d",
         "v_sub_f64 d, 1.0, d"},
        {"bs", "bs", "n=300 block=32 blocks=2", "v[6:7], v[4:5], 0.5", "v[6:7], v[4:5], 1.0"},
        {"bs", "bs", "n=300 block=32 blocks=2", "v_sub_f64 v[14:15], v[12:13], v[2:3]",
         "v_add_f64 v[14:15], v[12:13], v[2:3]"},
        {"bs", "bs", "n=300 block=32 blocks=2", "s_branch_any m0, again", "s_branch_all m0, again"},
        {"bs", "bs", "n=300 block=32 blocks=2", "[y + v0*8]", "[x + v0*8]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        workload_find_mistake(&mistakes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),         cmocka_unit_test(test_predication),
        cmocka_unit_test(test_schedules),          cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_work_of_an_element), cmocka_unit_test(test_mistakes_are_found),
    };

    return cmocka_run_group_tests_name("bs", tests, NULL, NULL);
}
