/* The event queue against a list that is searched for its least element. */
#include "sim/event.h"
#include "sim/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *rng)
{
    *rng ^= *rng << 13;
    *rng ^= *rng >> 7;
    *rng ^= *rng << 17;
    return *rng;
}

struct reference {
    struct event at[512];
    size_t len;
};

static int before(const struct event *x, const struct event *y)
{
    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps;
    return x->unit != y->unit ? x->unit < y->unit : x->b < y->b;
}

static struct event reference_take(struct reference *r)
{
    size_t best = 0;
    struct event e;

    for (size_t i = 1; i < r->len; i++)
        if (before(&r->at[i], &r->at[best]))
            best = i;
    e = r->at[best];
    r->at[best] = r->at[--r->len];
    return e;
}

static uint64_t reference_next(const struct reference *r)
{
    uint64_t least = SIM_NEVER;

    for (size_t i = 0; i < r->len; i++)
        least = r->at[i].time_ps < least ? r->at[i].time_ps : least;
    return least;
}

/* Delays of every scale: now, in the slot, in the wheel, at its edge, far, very far. */
static uint64_t random_delay(uint64_t *rng)
{
    static const uint64_t scales[] = {1,      1,       16,      1024,      4096,
                                      200000, 4194304, 4300000, 100000000, 1000000000000000};

    return next_random(rng) % scales[next_random(rng) % (sizeof scales / sizeof *scales)];
}

static void push_both(struct event_queue *q, struct reference *r, uint64_t time, uint32_t unit,
                      uint64_t serial)
{
    assert_true(event_push(q, time, unit, EV_L2, unit + 1, serial));
    r->at[r->len++] = (struct event){.time_ps = time, .unit = unit, .b = serial};
}

static uint64_t pop_both(struct event_queue *q, struct reference *r)
{
    struct event got, want = reference_take(r);

    assert_true(event_pop(q, &got));
    assert_int_equal(got.time_ps, want.time_ps);
    assert_int_equal(got.unit, want.unit);
    assert_int_equal(got.b, want.b);
    assert_int_equal(got.a, want.unit + 1);
    assert_int_equal(got.kind, EV_L2);
    return got.time_ps;
}

static void random_traffic(uint64_t seed)
{
    struct event_queue *q = event_queue_new();
    struct reference r = {.len = 0};
    uint64_t rng = seed * 2654435761 + 1, now = 0, serial = 0;
    size_t target = 1 + next_random(&rng) % 300;

    for (int step = 0; step < 4000; step++) {
        size_t wanted = next_random(&rng) % 4 == 0 ? next_random(&rng) % (target + 1) : target;

        if (next_random(&rng) % 3 == 0)
            assert_int_equal(event_next_time(q), reference_next(&r));
        if (r.len < wanted || r.len == 0)
            push_both(q, &r, now + random_delay(&rng), (uint32_t)(next_random(&rng) % 5) << 16,
                      serial++);
        else
            now = pop_both(q, &r);
        /* As when the host submits between the engine's events: time passes without any. */
        if (next_random(&rng) % 50 == 0 && reference_next(&r) != SIM_NEVER)
            now += (reference_next(&r) - now) / 2;
    }
    while (r.len)
        pop_both(q, &r);
    assert_int_equal(event_next_time(q), SIM_NEVER);
    event_queue_free(q);
}

static void order_is_that_of_a_sorted_list(void **state)
{
    (void)state;
    print_message("seeds 1 to 100\n");
    for (uint64_t seed = 1; seed <= 100; seed++)
        random_traffic(seed);
}

/* 9,999 events of one time, the units in turn: all of unit 0 in order, then of unit 1, and of 2. */
static void equal_events_leave_as_they_came(void **state)
{
    enum { COUNT = 9999, UNITS = 3, BEYOND_WHEEL = COUNT / 2 };
    struct event_queue *q = event_queue_new();
    struct event e;

    (void)state;
    assert_true(event_push(q, 8000000, 0, EV_FILL, 0, 0));
    for (uint64_t i = 0; i < COUNT; i++) {
        if (i == BEYOND_WHEEL)
            assert_true(event_pop(q, &e));
        assert_true(event_push(q, 9000000, (uint32_t)(i % UNITS), EV_FILL, 0, i));
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(event_pop(q, &e));
        assert_int_equal(e.unit, i / (COUNT / UNITS));
        assert_int_equal(e.b, i % (COUNT / UNITS) * UNITS + e.unit);
    }
    assert_false(event_pop(q, &e));
    event_queue_free(q);
}

/* While unit 5 is served at time t, events for t arrive for units before and after it. */
static void pushes_at_the_current_time_are_served_at_it(void **state)
{
    struct event_queue *q = event_queue_new();
    struct event e;

    (void)state;
    event_push(q, 5000, 5, EV_L2, 0, 0);
    event_push(q, 5000, 7, EV_L2, 0, 0);
    event_push(q, 5001, 1, EV_L2, 0, 0);
    assert_true(event_pop(q, &e) && e.unit == 5);
    event_push(q, 5000, 6, EV_L2, 0, 0);
    event_push(q, 5000, 2, EV_L2, 0, 0);
    assert_int_equal(event_next_time(q), 5000);
    assert_true(event_pop(q, &e) && e.unit == 2);
    assert_true(event_pop(q, &e) && e.unit == 6);
    assert_true(event_pop(q, &e) && e.unit == 7);
    assert_true(event_pop(q, &e) && e.unit == 1 && e.time_ps == 5001);
    event_queue_free(q);
}

static void idle_hours_cost_nothing(void **state)
{
    struct event_queue *q = event_queue_new();
    struct event e;
    uint64_t time = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        time += 3600 * PS_PER_SECOND;
        assert_true(event_push(q, time, 0, EV_LINK, 0, 0));
        assert_true(event_push(q, time + 4000000, 0, EV_LINK, 0, 1));
        assert_true(event_pop(q, &e) && e.time_ps == time);
        assert_true(event_pop(q, &e) && e.time_ps == time + 4000000);
    }
    event_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_a_sorted_list),
        cmocka_unit_test(equal_events_leave_as_they_came),
        cmocka_unit_test(pushes_at_the_current_time_are_served_at_it),
        cmocka_unit_test(idle_hours_cost_nothing),
    };

    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
