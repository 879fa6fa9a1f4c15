/* Resets, regions, warm-up, checks, and the rows of the record. */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#define BODY "a x=w z=r; b y=w; c x=r y=r z=w; read z"

static void iteration(struct rig *r, const char *name, uint32_t number, bool warmup)
{
    assert_int_equal(hd_reset_begin(r->rt, NULL), HD_OK);
    rig_run(r, "write x; write y; write z");
    assert_int_equal(hd_reset_end(r->rt, NULL), HD_OK);
    assert_int_equal(hd_region_begin(r->rt, name, number, warmup, NULL), HD_OK);
    rig_run(r, BODY);
    assert_int_equal(hd_region_end(r->rt, NULL), HD_OK);
}

static void test_warmup_leaves_streams_but_no_record(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.new_stream=fifo");

    (void)state;
    iteration(r, "main", 0, true);
    assert_int_equal(r->nodes.len + r->edges.len + r->rows.len + r->transfers.len + r->regions.len,
                     0);
    assert_int_equal(hd_host_time(r->rt), 0);
    assert_int_equal(fake_cooled(r->machine), 0);
    assert_int_equal(r->rt->streams.automatic, 2); /* kept, and free */
    /* The page moves were made all the same: x, z and y, and the host's accesses. */
    assert_int_equal(fake_accesses(r->machine), 4);
    assert_int_equal(fake_untimed(r->machine), 4);

    iteration(r, "main", 0, false);
    assert_int_equal(r->rt->streams.automatic, 2);
    assert_int_equal(r->rows.len, 3);
    assert_int_equal(r->transfers.len, 3);
    assert_int_equal(r->nodes.at[0].id, 0);
    assert_int_equal(fake_cooled(r->machine), 1);
    rig_free(r);
}

static void test_rows_carry_region_and_iteration(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    uint64_t before;

    (void)state;
    rig_run(r, "before x=w");
    before = hd_host_time(r->rt);
    iteration(r, "main", 0, false);
    iteration(r, "main", 1, false);
    iteration(r, "other", 0, false);
    rig_run(r, "after x=w");
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);

    assert_int_equal(r->rows.len, 1 + 3 * 3 + 1);
    assert_int_equal(r->rows.at[0].region, HD_NO_REGION);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(r->rows.at[1 + i].region, i / 6);
        assert_int_equal(r->rows.at[1 + i].iteration, i / 3 == 1);
    }
    assert_int_equal(r->rows.at[10].region, HD_NO_REGION);
    assert_int_equal(r->regions.len, 3);
    assert_string_equal(r->regions.at[2].name, "other");
    assert_int_equal(r->regions.at[2].region, 1);
    /* `before` is waited for ahead of the first reset, which takes no time itself. */
    assert_int_equal(r->regions.at[0].host_start_ps, r->rows.at[0].r.end_ps);
    assert_true(r->regions.at[0].host_start_ps > before);
    assert_int_equal(r->regions.at[1].host_start_ps, r->regions.at[0].host_end_ps);
    assert_int_equal(fake_cooled(r->machine), 3);
    /* Two iterations of the same work take the same time. */
    assert_int_equal(r->regions.at[0].host_end_ps - r->regions.at[0].host_start_ps,
                     r->regions.at[1].host_end_ps - r->regions.at[1].host_start_ps);
    rig_free(r);
}

static void test_a_region_waits_for_what_is_active(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");

    (void)state;
    assert_int_equal(hd_region_begin(r->rt, "main", 0, false, NULL), HD_OK);
    rig_run(r, "a x=w @700");
    assert_int_equal(hd_region_end(r->rt, NULL), HD_OK);
    assert_int_equal(r->regions.at[0].host_end_ps, r->rows.at[0].r.end_ps);
    assert_int_equal(r->rt->streams.nactive, 0);
    rig_free(r);
}

static void test_launches_in_a_reset_take_no_time(void **state)
{
    struct rig *r = rig_new("");

    (void)state;
    assert_int_equal(hd_reset_begin(r->rt, NULL), HD_OK);
    assert_int_equal(fake_mode(r->machine), SIM_VALUES);
    rig_run(r, "clear x=w; read x");
    assert_int_equal(hd_reset_end(r->rt, NULL), HD_OK);
    assert_int_equal(fake_mode(r->machine), SIM_TIMED);
    assert_int_equal(hd_host_time(r->rt), 0);
    assert_int_equal(r->rows.len, 0);
    rig_run(r, "a x=w"); /* ids count what is recorded */
    assert_int_equal(r->nodes.at[0].id, 0);
    rig_free(r);
}

/* Calls take the same numbers under every scheduler, whether a host access becomes a vertex or not. */
static void test_ids_count_the_calls(void **state)
{
    static const char *const schedulers[] = {"host.scheduler=serial-sync",
                                             "host.scheduler=serial-async", "um.page_faults=on"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = rig_new(schedulers[i]);
        uint64_t kernels[2], n = 0;

        rig_run(r, "write u; a x=w; write v; b y=w");
        for (size_t k = 0; k < r->nodes.len; k++) {
            if (r->nodes.at[k].kind == HD_NODE_KERNEL)
                kernels[n++] = r->nodes.at[k].id;
        }
        assert_int_equal(n, 2);
        assert_int_equal(kernels[0], 1);
        assert_int_equal(kernels[1], 3);
        rig_free(r);
    }
}

static void test_calls_out_of_order_are_refused(void **state)
{
    struct rig *r = rig_new("");
    struct hd_error err;

    (void)state;
    assert_int_equal(hd_reset_end(r->rt, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "region-order");
    assert_int_equal(hd_region_end(r->rt, &err), HD_BAD_INPUT);
    assert_int_equal(hd_region_begin(r->rt, "main", 0, false, &err), HD_OK);
    assert_int_equal(hd_region_begin(r->rt, "inner", 0, false, &err), HD_BAD_INPUT);
    assert_string_equal(err.message, "a region is called in a region, not outside regions");
    assert_int_equal(hd_reset_begin(r->rt, &err), HD_BAD_INPUT);
    assert_int_equal(hd_region_end(r->rt, &err), HD_OK);
    rig_free(r);
}

static void test_checks(void **state)
{
    static const struct {
        double got, expected, tolerance;
        bool passed;
    } rows[] = {
        {1, 1, 0, true},           {1.0011, 1, 1e-3, false},
        {1.0009, 1, 1e-3, true},   {1000.5, 1000, 1e-3, true},
        {1002, 1000, 1e-3, false}, {1e-4, 0, 1e-3, true},
        {NAN, NAN, 1, false},      {NAN, 0, 1e9, false},
        {INFINITY, 0, 1, false},   {INFINITY, INFINITY, 0, true},
        {0, INFINITY, 1, false},   {-INFINITY, INFINITY, 1, false},
    };
    struct rig *r = rig_new("");

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            hd_check_value(r->rt, "sum", rows[i].got, rows[i].expected, rows[i].tolerance, NULL),
            HD_OK);
        assert_int_equal(r->checks.at[i].passed, rows[i].passed);
    }
    assert_int_equal(hd_region_begin(r->rt, "main", 0, true, NULL), HD_OK);
    assert_int_equal(hd_check_value(r->rt, "sum", 1, 2, 0, NULL), HD_OK);
    assert_int_equal(hd_region_end(r->rt, NULL), HD_OK);
    assert_int_equal(r->checks.len, sizeof rows / sizeof rows[0]); /* warm-up leaves none */
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warmup_leaves_streams_but_no_record),
        cmocka_unit_test(test_rows_carry_region_and_iteration),
        cmocka_unit_test(test_a_region_waits_for_what_is_active),
        cmocka_unit_test(test_launches_in_a_reset_take_no_time),
        cmocka_unit_test(test_ids_count_the_calls),
        cmocka_unit_test(test_calls_out_of_order_are_refused),
        cmocka_unit_test(test_checks),
    };

    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
