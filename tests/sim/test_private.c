/*
 * Loads from arrays that no resident kernel may write are made ahead of other compute units, the rest
 * in the order of time. One kernel counts in an array and another watches it, which sees the same as
 * when nothing is ahead, however the writer finds the array.
 */
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Adds 1 to the word 40 times, with work in between; the store is through `%s`. */
static const char counter[] = ".kernel counter\n"
                              ".param x u32[]\n"
                              ".param other u32[]\n"
                              "    v_get_u32 v0, %%tid\n"
                              "    v_cmp_eq_u32 m0, v0, 0\n"
                              "    s_mov_b32 s8, 40\n"
                              "%s"
                              "again:\n"
                              "    .rept 9\n"
                              "    v_add_f32 v1, v1, v1\n"
                              "    .endrept\n"
                              "    s_sub_u32 s9, 41, s8\n"
                              "    v_mov_b32 v2, s9\n"
                              "    @m0 global_store_b32 %s, v2\n"
                              "    s_sub_u32 s8, s8, 1\n"
                              "    s_branch_nz s8, again\n"
                              "    s_end\n"
                              ".endkernel\n";

/* Looks at the word 8 times, a stretch of work ahead of each, and notes all that it saw. */
static const char watcher[] = ".kernel watcher\n"
                              ".param x u32[]\n"
                              ".param seen u32[]\n"
                              "    s_mov_b32 s12, 8\n"
                              "    s_mov_b32 s13, 41\n"
                              "again:\n"
                              "    .rept 16\n"
                              "    v_add_f32 v2, v2, v2\n"
                              "    .endrept\n"
                              "    global_load_b32 v1, [x]\n"
                              "    v_mad_u32 v3, v3, s13, v1\n"
                              "    s_sub_u32 s12, s12, 1\n"
                              "    s_branch_nz s12, again\n"
                              "    global_store_b32 [seen], v3\n"
                              "    s_end\n"
                              ".endkernel\n";

static void watch(const char *prepare, const char *address, bool no_run_ahead, uint32_t *seen)
{
    char text[1024];
    struct krig r;
    uint32_t x, other, out, queue;

    snprintf(text, sizeof text, counter, prepare, address);
    krig_open(&r, "compute_units", "2", "l1.enabled", "false", "launch.latency_ns", "3000",
              "noc.latency_cycles", "40", "l2.latency_cycles", "80", NULL);
    sim_set_limits(r.m, &(struct sim_limits){.no_run_ahead = no_run_ahead});
    x = krig_array(&r, 4);
    other = krig_array(&r, 4);
    out = krig_array(&r, 4);
    assert_int_equal(sim_queue_new(r.m, &queue, &r.err), HD_OK);
    krig_submit(&r, &(struct krig_launch){.text = watcher,
                                          .threads = 32,
                                          .nargs = 2,
                                          .args = {KRIG_ARRAY(x), KRIG_ARRAY(out)}});
    krig_submit(&r, &(struct krig_launch){.text = text,
                                          .threads = 32,
                                          .queue = queue,
                                          .nargs = 2,
                                          .args = {KRIG_ARRAY(x), KRIG_ARRAY(other)}});
    if (sim_wait(r.m, 0, &r.err))
        fail_msg("%s", r.err.message);
    memcpy(seen, sim_array_data(r.m, out), 4);
    krig_close(&r);
}

static void require_same(const char *prepare, const char *address)
{
    uint32_t ahead, in_step;

    watch(prepare, address, false, &ahead);
    watch(prepare, address, true, &in_step);
    assert_int_equal(ahead, in_step);
    assert_true(in_step > 41);
}

static void test_a_written_array_is_in_step(void **state)
{
    (void)state;
    require_same("", "[x]");
}

/* A base that is not the parameter itself may be in any array. */
static void test_a_computed_base(void **state)
{
    (void)state;
    require_same("    s_mov_b32 s4, x.lo\n    s_mov_b32 s5, x.hi\n", "[s[4:5]]");
}

static void test_a_base_in_lanes(void **state)
{
    (void)state;
    require_same("    v_mov_b32 v4, x.lo\n    v_mov_b32 v5, x.hi\n", "[v[4:5]]");
}

/* A parameter that the kernel changes is not the array that it was. */
static void test_a_changed_parameter(void **state)
{
    (void)state;
    require_same("    s_mov_b32 other.lo, x.lo\n    s_mov_b32 other.hi, x.hi\n", "[other]");
}

/* Copies that are all submitted ahead of the kernel, or one by one while it runs. */
static uint32_t watch_copies(bool no_run_ahead, bool late)
{
    enum { COPIES = 40 };
    const struct sim_array_desc desc = {"x", 4, 4, SIM_DEVICE};
    uint32_t values[COPIES], x, out, queue, seen;
    struct krig r;

    krig_open(&r, "compute_units", "2", "l1.enabled", "false", "launch.latency_ns", "3000",
              "link.latency_ns", late ? "20" : "200", "noc.latency_cycles", "40",
              "l2.latency_cycles", "80", NULL);
    sim_set_limits(r.m, &(struct sim_limits){.no_run_ahead = no_run_ahead});
    assert_int_equal(sim_array_new(r.m, &desc, &x, &r.err), HD_OK);
    out = krig_array(&r, 4);
    assert_int_equal(sim_queue_new(r.m, &queue, &r.err), HD_OK);
    krig_submit(&r, &(struct krig_launch){.text = watcher,
                                          .threads = 32,
                                          .nargs = 2,
                                          .args = {KRIG_ARRAY(x), KRIG_ARRAY(out)}});
    for (uint32_t i = 0; i < COPIES; i++) {
        struct sim_cmd cmd = {.kind = SIM_COPY_H2D,
                              .copy = {.array = x, .bytes = 4, .host = &values[i], .pinned = true}};
        uint64_t ticket;

        values[i] = i + 1;
        if (late)
            assert_int_equal(sim_run_until(r.m, 3000000 + i * 97000, &r.err), HD_OK);
        assert_int_equal(sim_submit(r.m, queue, &cmd, &ticket, &r.err), HD_OK);
    }
    if (sim_wait(r.m, 0, &r.err))
        fail_msg("%s", r.err.message);
    memcpy(&seen, sim_array_data(r.m, out), 4);
    krig_close(&r);
    return seen;
}

/* A copy from the host writes, too, at its end. */
static void test_an_array_that_is_copied_to(void **state)
{
    (void)state;
    assert_int_equal(watch_copies(false, false), watch_copies(true, false));
    assert_int_equal(watch_copies(false, true), watch_copies(true, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_written_array_is_in_step),
        cmocka_unit_test(test_a_computed_base),
        cmocka_unit_test(test_a_base_in_lanes),
        cmocka_unit_test(test_a_changed_parameter),
        cmocka_unit_test(test_an_array_that_is_copied_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
