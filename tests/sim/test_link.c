/* Copy engines: closed forms of explicit copies, and PB-32. */
#include "tests/sim/rig.h"

#define SIZE (UINT64_C(16) << 20)

static uint64_t h2d_time(uint64_t bytes)
{
    return LATENCY + bytes * NS / H2D;
}

static uint64_t d2h_time(uint64_t bytes)
{
    return LATENCY + bytes * NS / D2H;
}

struct copies {
    struct rig *r;
    uint32_t x, y, other;
    uint8_t *host;
};

static struct copies open_copies(uint32_t engines, bool duplex)
{
    struct sim_config c = rig_config();
    struct copies t;

    c.copy_engines = engines;
    c.link_duplex = duplex;
    c.dram_bytes = UINT64_C(1) << 30;
    t.r = rig_open(&c);
    t.x = rig_array(t.r, "x", SIM_DEVICE, SIZE);
    t.y = rig_array(t.r, "y", SIM_DEVICE, SIZE);
    t.other = rig_queue(t.r);
    t.host = calloc(2, SIZE);
    assert_non_null(t.host);
    return t;
}

static void close_copies(struct copies *t)
{
    rig_close(t->r);
    free(t->host);
}

/* A host-to-device and a device-to-host copy of SIZE bytes each. */
static uint64_t both_ways(uint32_t engines, bool duplex, bool two_queues)
{
    struct copies t = open_copies(engines, duplex);
    uint64_t end;

    rig_copy(t.r, 0, SIM_COPY_H2D, t.x, t.host, SIZE);
    rig_copy(t.r, two_queues ? t.other : 0, SIM_COPY_D2H, t.y, t.host + SIZE, SIZE);
    end = rig_run(t.r, 0);
    close_copies(&t);
    return end;
}

static void a_copy_takes_latency_and_bytes_over_bandwidth(void **state)
{
    static const uint64_t sizes[] = {0, 1, 4, 4096, 5000, SIZE};
    struct copies t = open_copies(2, true);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t start = t.r->m.now_ps,
                 end = rig_run(t.r, rig_copy(t.r, 0, SIM_COPY_H2D, t.x, t.host, sizes[i]));

        assert_int_equal(end - start, h2d_time(sizes[i]));
        assert_int_equal(rig_run(t.r, rig_copy(t.r, 0, SIM_COPY_D2H, t.x, t.host, sizes[i])) - end,
                         d2h_time(sizes[i]));
    }
    close_copies(&t);
}

static void the_time_of_bytes_is_exact(void **state)
{
    struct sim_config c = rig_config();
    uint8_t host[1000] = {0};
    struct rig *r;
    uint32_t x;

    (void)state;
    c.link_h2d_rate = 11700000007;
    c.link_latency = 0;
    r = rig_open(&c);
    x = rig_array(r, "x", SIM_DEVICE, sizeof host);
    /* Back to back without a latency between them the fractions add up. */
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(rig_run(r, rig_copy(r, 0, SIM_COPY_H2D, x, host, sizeof host)),
                         i * sizeof host * PS_PER_SECOND / 11700000007);
    rig_close(r);
}

static void pageable_copies_run_at_their_own_rate(void **state)
{
    struct copies t = open_copies(2, true);
    struct sim_cmd cmd = {.kind = SIM_COPY_H2D,
                          .copy = {.array = t.x, .bytes = 4096, .host = t.host}};

    (void)state;
    assert_int_equal(rig_run(t.r, rig_submit(t.r, 0, &cmd)), LATENCY + 4096 * NS / PAGEABLE);
    close_copies(&t);
}

static void pageable_copies_are_never_faster_than_the_link(void **state)
{
    struct sim_config c = rig_config();
    uint8_t host[4096] = {0};
    struct sim_cmd cmd = {.kind = SIM_COPY_H2D, .copy = {.bytes = 4096, .host = host}};
    struct rig *r;

    (void)state;
    c.link_pageable_rate = 4 * c.link_h2d_rate;
    r = rig_open(&c);
    cmd.copy.array = rig_array(r, "x", SIM_DEVICE, 4096);
    assert_int_equal(rig_run(r, rig_submit(r, 0, &cmd)), h2d_time(4096));
    rig_close(r);
}

static void test_pb32_one_queue_is_the_sum(void **state)
{
    (void)state;
    assert_int_equal(both_ways(2, true, false), h2d_time(SIZE) + d2h_time(SIZE));
}

static void test_pb32_two_queues_two_engines_duplex_is_the_maximum(void **state)
{
    (void)state;
    assert_int_equal(both_ways(2, true, true), d2h_time(SIZE));
}

static void test_pb32_one_engine_is_the_sum(void **state)
{
    (void)state;
    assert_int_equal(both_ways(1, true, true), h2d_time(SIZE) + d2h_time(SIZE));
}

static void test_pb32_half_duplex_is_the_sum(void **state)
{
    (void)state;
    assert_int_equal(both_ways(2, false, true), h2d_time(SIZE) + d2h_time(SIZE));
}

static void test_pb32_one_direction_never_exceeds_the_rate(void **state)
{
    struct copies t = open_copies(2, true);
    uint64_t end;

    (void)state;
    rig_copy(t.r, 0, SIM_COPY_H2D, t.x, t.host, SIZE);
    rig_copy(t.r, t.other, SIM_COPY_H2D, t.y, t.host, SIZE);
    end = rig_run(t.r, 0);
    assert_int_equal(end, 2 * h2d_time(SIZE));
    assert_true(2 * SIZE * NS / end <= H2D);
    for (size_t i = 0; i < t.r->ntransfers; i++) {
        const struct sim_transfer_record *r = &t.r->transfers[i];

        assert_true(r->bytes * NS <= H2D * (r->end_ps - r->start_ps));
    }
    close_copies(&t);
}

static void test_pb32_a_kernel_overlaps_with_all(void **state)
{
    struct copies t = open_copies(2, true);
    uint32_t third = rig_queue(t.r);

    (void)state;
    rig_copy(t.r, 0, SIM_COPY_H2D, t.x, t.host, SIZE);
    rig_copy(t.r, t.other, SIM_COPY_D2H, t.y, t.host + SIZE, SIZE);
    assert_int_equal(rig_run(t.r, rig_launch(t.r, third, 100 * NS, NULL, 0, 0)), LAUNCH + 100 * NS);
    assert_int_equal(rig_run(t.r, 0), d2h_time(SIZE));
    close_copies(&t);
}

static void transfers_are_served_as_they_came(void **state)
{
    struct copies t = open_copies(1, true);
    static const uint64_t sizes[] = {4096, 64, 8192, 128};
    uint64_t end = 0;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        rig_copy(t.r, rig_queue(t.r), i % 2 ? SIM_COPY_D2H : SIM_COPY_H2D, t.x, t.host, sizes[i]);
    rig_run(t.r, 0);
    assert_int_equal(t.r->ntransfers, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct sim_transfer_record *r = &t.r->transfers[i];

        assert_int_equal(r->bytes, sizes[i]);
        assert_int_equal(r->queued_ps, 0);
        assert_int_equal(r->start_ps, end);
        end += i % 2 ? d2h_time(sizes[i]) : h2d_time(sizes[i]);
        assert_int_equal(r->end_ps, end);
    }
    close_copies(&t);
}

/* The second copy of a queue comes when its first is over, and then goes ahead of a later call's. */
static void a_transfer_goes_ahead_of_those_of_later_calls(void **state)
{
    struct copies t = open_copies(1, true);
    uint32_t early = rig_queue(t.r);
    static const uint64_t in_order[] = {4096, 64, 8192, 128};
    uint64_t end = 0;

    (void)state;
    rig_copy(t.r, early, SIM_COPY_H2D, t.x, t.host, 4096);
    rig_copy(t.r, early, SIM_COPY_H2D, t.x, t.host, 64);
    rig_copy(t.r, t.other, SIM_COPY_H2D, t.y, t.host, 8192);
    rig_copy(t.r, rig_queue(t.r), SIM_COPY_H2D, t.y, t.host, 128);
    rig_run(t.r, 0);
    assert_int_equal(t.r->ntransfers, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(t.r->transfers[i].bytes, in_order[i]);
        assert_int_equal(t.r->transfers[i].start_ps, end);
        end += h2d_time(in_order[i]);
        assert_int_equal(t.r->transfers[i].end_ps, end);
    }
    close_copies(&t);
}

static void values_move_when_the_copy_completes(void **state)
{
    struct copies t = open_copies(2, true);
    struct sim_cmd cmd = {
        .kind = SIM_COPY_H2D,
        .copy = {.array = t.x, .offset = 100, .bytes = 4, .host = t.host, .pinned = true}};
    const uint8_t *x = sim_array_data(&t.r->m, t.x);
    uint64_t ticket;

    (void)state;
    memcpy(t.host, "abcd", 4);
    ticket = rig_submit(t.r, 0, &cmd);
    rig_run_until(t.r, LATENCY);
    assert_int_equal(x[100], 0);
    rig_run(t.r, ticket);
    assert_memory_equal(x + 100, "abcd", 4);
    assert_int_equal(x[99] | x[104], 0);
    cmd.kind = SIM_COPY_D2H;
    cmd.copy.host = t.host + 10;
    rig_run(t.r, rig_submit(t.r, 0, &cmd));
    assert_memory_equal(t.host + 10, "abcd", 4);
    close_copies(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_takes_latency_and_bytes_over_bandwidth),
        cmocka_unit_test(the_time_of_bytes_is_exact),
        cmocka_unit_test(pageable_copies_run_at_their_own_rate),
        cmocka_unit_test(pageable_copies_are_never_faster_than_the_link),
        cmocka_unit_test(test_pb32_one_queue_is_the_sum),
        cmocka_unit_test(test_pb32_two_queues_two_engines_duplex_is_the_maximum),
        cmocka_unit_test(test_pb32_one_engine_is_the_sum),
        cmocka_unit_test(test_pb32_half_duplex_is_the_sum),
        cmocka_unit_test(test_pb32_one_direction_never_exceeds_the_rate),
        cmocka_unit_test(test_pb32_a_kernel_overlaps_with_all),
        cmocka_unit_test(transfers_are_served_as_they_came),
        cmocka_unit_test(a_transfer_goes_ahead_of_those_of_later_calls),
        cmocka_unit_test(values_move_when_the_copy_completes),
    };

    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
