/* The critical path and the contention-free time of timelines that are made by hand. */
#include "host/results/critical.h"
#include "host/results/ideal.h"
#include "host/results/json_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct span kernel(uint64_t node, uint32_t stream, uint64_t queued, uint64_t start,
                          uint64_t end)
{
    return (struct span){.node = node,
                         .id = node,
                         .stream = stream,
                         .queued_ps = queued,
                         .start_ps = start,
                         .end_ps = end,
                         .kind = SPAN_KERNEL,
                         .name = "k"};
}

static struct span move(uint64_t node, uint64_t id, uint64_t queued, uint64_t start, uint64_t end)
{
    return (struct span){.node = node,
                         .id = 100 + id,
                         .stream = 1000 + (uint32_t)id,
                         .queued_ps = queued,
                         .start_ps = start,
                         .end_ps = end,
                         .kind = SPAN_H2D,
                         .name = "a"};
}

/* One expected step: 'h'ost, 'l'aunch, 'w'ait or 's'pan, its id, and its end. */
struct step {
    char what;
    uint64_t id, end_ps;
};

static void expect_path(const struct timeline *t, const struct critical_rules *rules,
                        const struct step *expected, size_t n)
{
    static const char letters[] = {'h', 'l', 'w', 's'};
    struct critical_step *steps;
    uint64_t at = t->begin_ps;
    size_t len, i;

    assert_true(critical_path(t, rules, &steps, &len));
    assert_int_equal(len, n);
    for (i = 0; i < n; i++) {
        assert_int_equal(letters[steps[i].what], expected[i].what);
        assert_int_equal(steps[i].start_ps, at); /* without gaps */
        assert_int_equal(steps[i].end_ps, expected[i].end_ps);
        if (expected[i].what != 'h')
            assert_int_equal(steps[i].span->id, expected[i].id);
        at = steps[i].end_ps;
    }
    assert_int_equal(at, t->end_ps);
    free(steps);
}

static void test_nothing_ran(void **state)
{
    const struct timeline t = {.begin_ps = 5, .end_ps = 25};
    const struct critical_rules rules = {0};
    const struct step path[] = {{'h', 0, 25}};

    (void)state;
    expect_path(&t, &rules, path, COUNT(path));
}

/*
 * VEC: two transfers on one engine, a kernel behind each, and a third that needs both. The chain is
 * host 0-10, x 10-50, y 50-90, kernel 1 90-110 (launch 92), kernel 2 112-130, the host's read 130-140.
 */
static void test_vec(void **state)
{
    struct span spans[] = {move(0, 0, 10, 10, 50), kernel(0, 1, 10, 52, 70), move(1, 1, 12, 50, 90),
                           kernel(1, 2, 12, 92, 110), kernel(2, 1, 14, 112, 130)};
    struct span_edge edges[] = {{0, 2}, {1, 2}, {2, 3}};
    struct span_node nodes[] = {
        {0, false, true}, {1, false, true}, {2, false, true}, {3, true, true}};
    const struct timeline t = {.spans = spans,
                               .edges = edges,
                               .nodes = nodes,
                               .nspans = COUNT(spans),
                               .nedges = COUNT(edges),
                               .nnodes = COUNT(nodes),
                               .end_ps = 140};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    const struct step path[] = {{'h', 0, 10},  {'s', 100, 50}, {'s', 101, 90}, {'l', 1, 92},
                                {'s', 1, 110}, {'l', 2, 112},  {'s', 2, 130},  {'h', 0, 140}};

    (void)state;
    expect_path(&t, &rules, path, COUNT(path));
}

/* Under serial-sync the host waits for each kernel and then takes 5 to hand in the next. One that never waits binds it alone. */
static void test_a_host_that_waits(void **state)
{
    struct span spans[] = {kernel(0, 0, 5, 7, 20), kernel(1, 0, 25, 27, 40)};
    uint64_t waits[] = {20, 40};
    const struct timeline t = {
        .spans = spans, .nspans = COUNT(spans), .waits = waits, .nwaits = 2, .end_ps = 41};
    const struct timeline goes_on = {.spans = spans, .nspans = COUNT(spans), .end_ps = 41};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    const struct step path[] = {{'h', 0, 5},  {'l', 0, 7},  {'s', 0, 20}, {'h', 0, 25},
                                {'l', 1, 27}, {'s', 1, 40}, {'h', 0, 41}};
    const struct step late[] = {{'h', 0, 25}, {'l', 1, 27}, {'s', 1, 40}, {'h', 0, 41}};

    (void)state;
    expect_path(&t, &rules, path, COUNT(path));
    expect_path(&goes_on, &rules, late, COUNT(late));
}

/* The host waited for kernel 0, by an access to an array or by hand, ahead of kernel 2: the path goes through it, and not through kernel 1, which
 * ended later. */
static void test_a_host_wait_between(void **state)
{
    struct span spans[] = {kernel(0, 1, 2, 4, 30), kernel(1, 3, 2, 4, 35), kernel(2, 2, 40, 42, 50)};
    uint64_t waits[] = {30};
    const struct timeline t = {
        .spans = spans, .nspans = COUNT(spans), .waits = waits, .nwaits = 1, .end_ps = 50};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    const struct step path[] = {{'h', 0, 2},  {'l', 0, 4},  {'s', 0, 30},
                                {'h', 0, 40}, {'l', 2, 42}, {'s', 2, 50}};

    (void)state;
    expect_path(&t, &rules, path, COUNT(path));
}

/* By hand: a copy on a stream of its own, then an event; the kernel behind it goes on as the copy ends, and a copy back as the kernel does. */
static void test_waits_for_events(void **state)
{
    struct span spans[] = {move(SPAN_NO_NODE, 0, 1, 1, 40), kernel(0, 1, 2, 42, 60),
                           move(SPAN_NO_NODE, 1, 3, 60, 80)};
    const struct timeline t = {.spans = spans, .nspans = COUNT(spans), .end_ps = 80};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    const struct step path[] = {
        {'h', 0, 1}, {'s', 100, 40}, {'l', 0, 42}, {'s', 0, 60}, {'s', 101, 80}};

    (void)state;
    spans[2].kind = SPAN_D2H;
    expect_path(&t, &rules, path, COUNT(path));
}

/* Kernel 1 has a stream of its own but starts only when kernel 0 leaves the full device. */
static void test_a_full_device(void **state)
{
    struct span spans[] = {kernel(0, 1, 1, 3, 50), kernel(1, 2, 2, 50, 90)};
    struct span_node nodes[] = {{0, false, true}, {1, false, true}};
    const struct timeline t = {
        .spans = spans, .nodes = nodes, .nspans = COUNT(spans), .nnodes = COUNT(nodes), .end_ps = 90};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    const struct step path[] = {{'h', 0, 1}, {'l', 0, 3}, {'s', 0, 50}, {'s', 1, 90}};

    (void)state;
    expect_path(&t, &rules, path, COUNT(path));
}

/* Kernel 0 is still there when kernel 1 starts: its last work-groups make room for it one by one. */
static void test_a_device_that_empties(void **state)
{
    struct span spans[] = {kernel(0, 1, 1, 3, 60), kernel(1, 2, 2, 50, 90),
                           kernel(2, 3, 1, 3, 20)}; /* left long ago */
    struct span_node nodes[] = {{0, false, true}, {1, false, true}, {2, false, true}};
    const struct timeline t = {
        .spans = spans, .nodes = nodes, .nspans = COUNT(spans), .nnodes = COUNT(nodes), .end_ps = 90};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    const struct step path[] = {{'h', 0, 1}, {'l', 0, 3}, {'s', 0, 50}, {'s', 1, 90}};

    (void)state;
    expect_path(&t, &rules, path, COUNT(path));
}

/* ---- what bounds a kernel --------------------------------------------------------------------------- */

/* A move of pages that kernel `node` touched: taken up by the handler, on the link, there. */
static struct span fault(uint64_t node, uint64_t id, uint64_t taken, uint64_t start, uint64_t end)
{
    struct span s = move(node, id, taken, start, end);

    s.move = SIM_T_FAULT;
    return s;
}

static struct span working(struct span s, enum usage_part part, uint64_t need)
{
    s.part = (uint8_t)part;
    s.need_ps = need;
    return s;
}

struct stretch {
    unsigned bound;
    uint64_t end_ps;
};

/* The path is launch, kernel: the stretches are those of the kernel, which starts at 2. */
static void expect_stretches(struct span *spans, size_t n, const struct stretch *expected,
                             size_t len)
{
    struct span_node nodes[] = {{0, false, true}};
    const struct timeline t = {.spans = spans,
                               .nodes = nodes,
                               .nspans = n,
                               .nnodes = COUNT(nodes),
                               .end_ps = spans[0].end_ps};
    const struct critical_rules rules = {.launch_latency_ps = 2};
    struct critical_step *steps;
    size_t nsteps;

    assert_true(critical_path(&t, &rules, &steps, &nsteps));
    assert_int_equal(nsteps, len + 1);
    assert_int_equal(steps[0].what, STEP_LAUNCH);
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(steps[i + 1].what, STEP_SPAN);
        assert_ptr_equal(steps[i + 1].span, &spans[0]);
        assert_int_equal(steps[i + 1].start_ps, steps[i].end_ps);
        assert_int_equal(steps[i + 1].bound, expected[i].bound);
        assert_int_equal(steps[i + 1].end_ps, expected[i].end_ps);
    }
    free(steps);
}

/* 60 of 100 is enough, 59 is not. */
static void test_the_part_that_bounds(void **state)
{
    struct span enough[] = {working(kernel(0, 0, 0, 2, 102), PART_DRAM, 60)};
    struct span less[] = {working(kernel(0, 0, 0, 2, 102), PART_DRAM, 59)};
    const struct stretch dram[] = {{PART_DRAM, 102}}, latency[] = {{PART_NONE, 102}};

    (void)state;
    expect_stretches(enough, 1, dram, 1);
    expect_stretches(less, 1, latency, 1);
}

/*
 * Kernel 0 alone needs fp64 for 30 of its 100; kernel 1, of 62-162, for 60 of its 100, so for 24 of the 40 that both run; kernel 2 needs
 * another part most. 54 of 100 are not enough; kernel 3, which ends last of all, needs 12 in its 200, and with 6 of these they are.
 */
static void test_company_that_needs_the_same(void **state)
{
    struct span spans[] = {working(kernel(0, 0, 0, 2, 102), PART_FP64, 30),
                           working(kernel(1, 1, 0, 62, 162), PART_FP64, 60),
                           working(kernel(2, 2, 0, 2, 102), PART_L2, 50),
                           working(kernel(3, 3, 0, 2, 202), PART_FP64, 12)};
    struct span_node nodes[] = {{0, false, true}};
    const struct timeline alone = {.spans = spans, .nodes = nodes, .nspans = 3, .nnodes = 1};
    const struct timeline all = {.spans = spans, .nodes = nodes, .nspans = 4, .nnodes = 1};
    const struct critical_step step = {STEP_SPAN, PART_NONE, &spans[0], 2, 102};
    struct critical_step *steps = malloc(sizeof *steps);
    size_t n = 1;

    (void)state;
    assert_non_null(steps);
    steps[0] = step;
    assert_true(critical_bounds(&alone, &steps, &n));
    assert_int_equal(steps[0].bound, PART_NONE);
    assert_true(critical_bounds(&all, &steps, &n));
    assert_int_equal(steps[0].bound, PART_FP64);
    free(steps);
}

/*
 * Two moves of a batch taken up at 10: the link has the first 30-40, the second 40-45; and a fault of another kernel, whose batch was taken
 * up at 50 and delays the kernel's own from 70 on. What comes after its last page, 95, is its own.
 */
static void test_a_kernel_that_faults(void **state)
{
    struct span spans[] = {kernel(0, 0, 0, 2, 120), fault(0, 0, 10, 30, 40),
                           fault(0, 1, 10, 40, 45), fault(9, 2, 50, 60, 70),
                           fault(0, 3, 70, 90, 95), fault(9, 4, 100, 105, 110)};
    const struct stretch path[] = {{PART_NONE, 10},     {BOUND_HANDLER, 30}, {BOUND_LINK, 45},
                                   {PART_NONE, 50},     {BOUND_HANDLER, 60}, {BOUND_LINK, 70},
                                   {BOUND_HANDLER, 90}, {BOUND_LINK, 95},    {PART_NONE, 120}};

    (void)state;
    expect_stretches(spans, COUNT(spans), path, COUNT(path));
}

/* Without its faults 20 of the kernel's 118 are left; work of 12 is 60 % of them. A kernel whose work fills it all the same waits for no page. */
static void test_work_beside_faults(void **state)
{
    struct span spans[] = {working(kernel(0, 0, 0, 2, 120), PART_FP64, 12),
                           fault(0, 0, 12, 60, 110)};
    struct span busy[] = {working(kernel(0, 0, 0, 2, 120), PART_FP64, 90), fault(0, 0, 12, 60, 110)};
    const struct stretch path[] = {
        {PART_FP64, 12}, {BOUND_HANDLER, 60}, {BOUND_LINK, 110}, {PART_FP64, 120}};
    const struct stretch whole[] = {{PART_FP64, 120}};

    (void)state;
    expect_stretches(spans, COUNT(spans), path, COUNT(path));
    expect_stretches(busy, COUNT(busy), whole, COUNT(whole));
}

/* Faults of others are not what a kernel waits for that has none. */
static void test_faults_of_others(void **state)
{
    struct span spans[] = {kernel(0, 0, 0, 2, 120), fault(9, 0, 12, 60, 110)};
    const struct stretch path[] = {{PART_NONE, 120}};

    (void)state;
    expect_stretches(spans, COUNT(spans), path, COUNT(path));
}

/* Kernels of no length at one time must not send the walk round in circles. */
static void test_no_length(void **state)
{
    struct span spans[] = {kernel(0, 1, 0, 0, 0), kernel(1, 1, 0, 0, 0), kernel(2, 1, 0, 0, 0)};
    const struct timeline t = {.spans = spans, .nspans = COUNT(spans)};
    const struct critical_rules rules = {0};
    struct critical_step *steps;
    size_t n;

    (void)state;
    assert_true(critical_path(&t, &rules, &steps, &n));
    assert_in_range(n, 1, 3);
    free(steps);
}

/* ---- contention-free time ------------------------------------------------------------------------- */

/* Serial VEC: 40 and 60 for the squares with their transfers and launches, 20 for the sum. */
static void test_vec_without_contention(void **state)
{
    struct span serial_spans[] = {move(10, 0, 4, 4, 30), kernel(10, 0, 4, 32, 40),
                                  move(11, 1, 44, 44, 90), kernel(11, 0, 44, 92, 100),
                                  kernel(12, 0, 104, 106, 120)};
    struct span_node serial_nodes[] = {{10, false, true}, {11, false, true}, {12, false, true}};
    const struct timeline serial = {.spans = serial_spans,
                                    .nodes = serial_nodes,
                                    .nspans = COUNT(serial_spans),
                                    .nnodes = COUNT(serial_nodes),
                                    .end_ps = 130};
    struct span_edge edges[] = {{0, 2}, {1, 2}, {2, 3}};
    struct span_node nodes[] = {
        {0, false, true}, {1, false, true}, {2, false, true}, {3, true, true}};
    const struct timeline parallel = {
        .edges = edges, .nodes = nodes, .nedges = COUNT(edges), .nnodes = COUNT(nodes)};
    uint64_t *times;
    size_t n;

    (void)state;
    assert_true(element_times(&serial, &times, &n));
    assert_int_equal(n, 3);
    assert_int_equal(times[0], 40);
    assert_int_equal(times[1], 60);
    assert_int_equal(times[2], 20);
    /* max(40, 60) + 20 */
    assert_int_equal(contention_free(&parallel, times, n), 80);
    assert_true(contention_free(&parallel, times, 2) == JSON_NO_TIME);
    free(times);
}

/* The host's own work between two kernels is not part of an element: it counts from when it was handed in. */
static void test_host_work_is_no_element(void **state)
{
    struct span spans[] = {kernel(0, 0, 5, 7, 20), kernel(2, 0, 1000, 1002, 1010)};
    struct span_node nodes[] = {{0, false, true}, {1, true, true}, {2, false, true}};
    const struct timeline serial = {.spans = spans,
                                    .nodes = nodes,
                                    .nspans = COUNT(spans),
                                    .nnodes = COUNT(nodes),
                                    .end_ps = 1010};
    uint64_t *times;
    size_t n;

    (void)state;
    assert_true(element_times(&serial, &times, &n));
    assert_int_equal(n, 2);
    assert_int_equal(times[0], 20);
    assert_int_equal(times[1], 10);
    free(times);
}

/* A graph's kernels run side by side under any scheduler, so that no time of one alone is known. */
static void test_a_run_that_is_not_serial(void **state)
{
    struct span spans[] = {kernel(0, 1, 5, 7, 20), kernel(1, 2, 5, 19, 30)};
    struct span_node nodes[] = {{0, false, true}, {1, false, true}};
    const struct timeline t = {
        .spans = spans, .nodes = nodes, .nspans = COUNT(spans), .nnodes = COUNT(nodes)};
    uint64_t *times;
    size_t n;

    (void)state;
    assert_true(element_times(&t, &times, &n));
    assert_int_equal(n, 0);
    assert_true(contention_free(&t, times, n) == JSON_NO_TIME);
    free(times);
    spans[1].start_ps = 20;
    assert_true(element_times(&t, &times, &n));
    assert_int_equal(n, 2);
    free(times);
}

/* What comes after the host has read something waits for that. */
static void test_host_nodes_order_what_follows(void **state)
{
    struct span_edge edges[] = {{0, 1}};
    struct span_node nodes[] = {{0, false, true}, {1, true, true}, {2, false, true}};
    const struct timeline t = {
        .edges = edges, .nodes = nodes, .nedges = COUNT(edges), .nnodes = COUNT(nodes)};
    const uint64_t times[] = {30, 12};

    (void)state;
    assert_int_equal(contention_free(&t, times, COUNT(times)), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_ran),
        cmocka_unit_test(test_vec),
        cmocka_unit_test(test_a_host_that_waits),
        cmocka_unit_test(test_a_host_wait_between),
        cmocka_unit_test(test_waits_for_events),
        cmocka_unit_test(test_a_full_device),
        cmocka_unit_test(test_a_device_that_empties),
        cmocka_unit_test(test_no_length),
        cmocka_unit_test(test_the_part_that_bounds),
        cmocka_unit_test(test_company_that_needs_the_same),
        cmocka_unit_test(test_a_kernel_that_faults),
        cmocka_unit_test(test_work_beside_faults),
        cmocka_unit_test(test_faults_of_others),
        cmocka_unit_test(test_vec_without_contention),
        cmocka_unit_test(test_host_work_is_no_element),
        cmocka_unit_test(test_a_run_that_is_not_serial),
        cmocka_unit_test(test_host_nodes_order_what_follows),
    };

    return cmocka_run_group_tests_name("critical", tests, NULL, NULL);
}
