/* Traces of timelines that are made by hand: units, precision, structure, window and cap. */
#include "host/results/trace.h"
#include "sim/time.h"
#include "tests/results/trace_check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct trace_options everything = {0, UINT64_MAX, TRACE_CAP_DEFAULT};

struct rig {
    struct trace_slices slices;
    struct trace_cuts cuts;
    struct text out;
};

static void add(struct rig *r, const struct trace_options *options, struct trace_slice slice)
{
    if (!slice.name)
        slice.name = "k";
    assert_true(trace_add(&r->slices, &slice, options, &r->cuts));
}

static cJSON *finish(struct rig *r, const struct span_edge *edges, size_t nedges)
{
    struct json_writer w;

    json_start(&w, json_to_text(&r->out), JSON_PRETTY);
    assert_true(trace_write(&w, &r->slices, edges, nedges, &r->cuts));
    assert_true(json_finish(&w));
    return trace_check(text_str(&r->out));
}

static void rig_free(struct rig *r, cJSON *trace)
{
    cJSON_Delete(trace);
    text_free(&r->out);
    vec_free(&r->slices);
}

static struct trace_slice kernel(uint64_t id, uint32_t stream, uint64_t start, uint64_t end)
{
    return (struct trace_slice){
        .id = id, .track = stream, .start_ps = start, .end_ps = end, .group = TRACE_STREAMS};
}

static struct trace_slice copy(uint64_t id, uint32_t d2h, uint64_t start, uint64_t end)
{
    return (struct trace_slice){
        .id = id, .track = d2h, .start_ps = start, .end_ps = end, .group = TRACE_COPIES};
}

#define US UINT64_C(1000000) /* picoseconds */

/* A copy of 2 ms, a kernel of 1,000,000 cycles at 1 GHz, and one of 3 cycles. */
static void test_pb36_units_are_microseconds(void **state)
{
    struct rig r = {0};
    struct trace_times t;
    cJSON *trace;

    (void)state;
    add(&r, &everything, copy(0, 0, 0, 2000 * US));
    add(&r, &everything, kernel(1, 0, 2000 * US, 3000 * US));
    add(&r, &everything, kernel(2, 0, 3000 * US, 3000 * US + 3000));
    trace = finish(&r, NULL, 0);
    t = trace_find(trace, "copy", 0);
    assert_true(t.ts == 0 && t.dur == 2000);
    t = trace_find(trace, "kernel", 1);
    assert_true(t.ts == 2000 && t.dur == 1000);
    t = trace_find(trace, "kernel", 2);
    assert_true(t.ts == 3000 && t.dur == 0.003);
    rig_free(&r, trace);
}

/* 10,000 s into the run: ten kernels of 5 ns, 7 ns apart, at 1.7 GHz whose period is no whole number of ps. */
static void test_pb36_precision_late_in_a_run(void **state)
{
    const uint64_t late = UINT64_C(10000) * PS_PER_SECOND;
    struct clock_domain clock = clock_make(1700000000);
    struct rig r = {0};
    cJSON *trace;
    uint64_t i;

    (void)state;
    for (i = 0; i < 10; i++) {
        add(&r, &everything, kernel(i, 0, late + i * 12000, late + i * 12000 + 5000));
        add(&r, &everything,
            kernel(100 + i, 1, clock_edge(&clock, 17000000000000 + i * 3),
                   clock_edge(&clock, 17000000000000 + i * 3 + 3)));
    }
    trace = finish(&r, NULL, 0);
    for (i = 0; i < 10; i++) {
        struct trace_times t = trace_find(trace, "kernel", (int)i);
        struct trace_times odd = trace_find(trace, "kernel", (int)(100 + i));

        assert_true(fabs(t.ts - (1e10 + (double)i * 0.012)) < 0.001);
        assert_true(fabs(t.dur - 0.005) < 1e-9);
        assert_true(fabs(odd.ts - (1e10 + (double)i * 3 / 1700)) < 0.001);
        assert_true(fabs(odd.dur - 3.0 / 1700) < 2e-6);
    }
    rig_free(&r, trace);
}

static void test_pb37_what_overlaps_gets_its_own_track(void **state)
{
    struct rig r = {0};
    struct trace_times a, b, c, d;
    cJSON *trace;

    (void)state;
    add(&r, &everything, kernel(1, 5, 0, 10 * US));
    add(&r, &everything, kernel(2, 5, 5 * US, 15 * US));  /* overlaps on one stream */
    add(&r, &everything, kernel(3, 5, 10 * US, 12 * US)); /* back to back with the first */
    add(&r, &everything, kernel(4, 6, 0, 10 * US));       /* at the same time on another */
    add(&r, &everything, copy(5, 0, 0, 10 * US));
    add(&r, &everything, copy(6, 1, 0, 10 * US));
    trace = finish(&r, NULL, 0);
    a = trace_find(trace, "kernel", 1);
    b = trace_find(trace, "kernel", 2);
    c = trace_find(trace, "kernel", 3);
    d = trace_find(trace, "kernel", 4);
    assert_int_not_equal(a.tid, b.tid);
    assert_int_equal(a.tid, c.tid);
    assert_int_not_equal(d.tid, a.tid);
    assert_int_not_equal(d.tid, b.tid);
    assert_int_not_equal(trace_find(trace, "copy", 5).tid, trace_find(trace, "copy", 6).tid);
    rig_free(&r, trace);
}

static void test_pb37_equal_starts_no_length_and_odd_names(void **state)
{
    const struct span_edge edges[] = {{1, 2}, {2, 3}};
    struct trace_slice odd = kernel(3, 0, 2 * US, 2 * US);
    struct rig r = {0};
    cJSON *trace;

    (void)state;
    odd.name = "say \"hi\" \\ gr\xc3\xbc\xc3\x9f \xff \n";
    add(&r, &everything, kernel(1, 0, US, US));
    add(&r, &everything, kernel(2, 0, US, 2 * US));
    add(&r, &everything, odd);
    trace = finish(&r, edges, 2);
    assert_true(trace_find(trace, "kernel", 1).dur == 0);
    assert_int_equal(trace_count(trace, "X"), 3);
    assert_int_equal(trace_count(trace, "s"), 2);
    assert_non_null(
        strstr(text_str(&r.out), "say \\\"hi\\\" \\\\ gr\xc3\xbc\xc3\x9f \xef\xbf\xbd \\n"));
    rig_free(&r, trace);
}

/* An edge to what is not drawn has no arrow. */
static void test_arrows_join_kernels_that_are_drawn(void **state)
{
    const struct span_edge edges[] = {{0, 1}, {1, 9}, {9, 0}};
    struct rig r = {0};
    cJSON *trace;

    (void)state;
    add(&r, &everything, kernel(0, 0, 0, US));
    add(&r, &everything, kernel(1, 1, 2 * US, 3 * US));
    trace = finish(&r, edges, 3);
    assert_int_equal(trace_count(trace, "s"), 1);
    assert_int_equal(trace_count(trace, "f"), 1);
    rig_free(&r, trace);
}

/* Kernels 0-10, 5-20, 20-30: one, two, one, one (no change at 20), none. */
static void test_counters_change_when_they_do(void **state)
{
    struct rig r = {0};
    cJSON *trace;

    (void)state;
    add(&r, &everything, kernel(0, 0, 0, 10 * US));
    add(&r, &everything, kernel(1, 1, 5 * US, 20 * US));
    add(&r, &everything, kernel(2, 0, 20 * US, 30 * US));
    trace = finish(&r, NULL, 0);
    assert_int_equal(trace_count(trace, "C"), 4);
    rig_free(&r, trace);
}

static void test_window_and_cap(void **state)
{
    const struct trace_options window = {10 * US, 20 * US, TRACE_CAP_DEFAULT};
    const struct trace_options cap = {0, UINT64_MAX, UINT64_C(3) * TRACE_SLICE_BYTES};
    struct rig r = {0}, s = {0};
    cJSON *trace;
    uint64_t i;

    (void)state;
    for (i = 0; i < 10; i++) {
        add(&r, &window, kernel(i, 0, i * 4 * US, (i + 1) * 4 * US));
        add(&s, &cap, kernel(i, 0, i * 4 * US, (i + 1) * 4 * US));
    }
    trace = finish(&r, NULL, 0);
    assert_int_equal(trace_count(trace, "X"), 3); /* 8-12, 12-16, 16-20 */
    assert_int_equal(r.cuts.outside, 7);
    rig_free(&r, trace);
    trace = finish(&s, NULL, 0);
    assert_int_equal(trace_count(trace, "X"), 3);
    assert_int_equal(s.cuts.past_cap, 7);
    assert_non_null(strstr(text_str(&s.out), "\"slices_past_cap\": 7"));
    rig_free(&s, trace);
}

/* Random slices and edges, which the checker looks at. */
static void test_random_timelines(void **state)
{
    unsigned seed = 4711;
    int round;

    (void)state;
    print_message("seed %u\n", seed);
    srand(seed);
    for (round = 0; round < 50; round++) {
        struct span_edge edges[20];
        struct rig r = {0};
        uint64_t i;

        for (i = 0; i < 40; i++) {
            uint64_t start = (uint64_t)(rand() % 1000) * 1000 + (uint64_t)(rand() % 3);
            struct trace_slice s =
                kernel(i, (uint32_t)(rand() % 4), start, start + (uint64_t)(rand() % 200000));

            s.group = (uint8_t)(rand() % 3 ? TRACE_STREAMS : TRACE_COPIES);
            s.track = s.group == TRACE_COPIES ? s.track % 2 : s.track;
            add(&r, &everything, s);
        }
        for (i = 0; i < 20; i++) {
            uint64_t from = i, to = i + 1 + (uint64_t)rand() % 19;

            /* a dependent begins when what it waits for has ended */
            r.slices.at[to].start_ps += r.slices.at[from].end_ps;
            r.slices.at[to].end_ps += r.slices.at[from].end_ps;
            edges[i] = (struct span_edge){from, to};
        }
        rig_free(&r, finish(&r, edges, 20));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb36_units_are_microseconds),
        cmocka_unit_test(test_pb36_precision_late_in_a_run),
        cmocka_unit_test(test_pb37_what_overlaps_gets_its_own_track),
        cmocka_unit_test(test_pb37_equal_starts_no_length_and_odd_names),
        cmocka_unit_test(test_arrows_join_kernels_that_are_drawn),
        cmocka_unit_test(test_counters_change_when_they_do),
        cmocka_unit_test(test_window_and_cap),
        cmocka_unit_test(test_random_timelines),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
