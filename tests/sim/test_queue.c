/* Queues of commands: order, waits, tickets, launches, lifetime and messages. */
#include "tests/sim/rig.h"
#include "sim/tickets.h"

static struct rig *open_default(void)
{
    struct sim_config c = rig_config();

    return rig_open(&c);
}

/* ---- tickets --------------------------------------------------------------------------- */

/* Up to 50 tickets are pending at once and complete in any order; memory stays as it is. */
static void pending_tickets_are_those_not_completed(void **state)
{
    enum { PENDING = 50 };
    struct tickets t = {0};
    uint64_t pending[PENDING], rng = 99;
    size_t n = 0, capacity = 0;

    (void)state;
    print_message("seed 99\n");
    for (int step = 0; step < 200000; step++) {
        rng = rng * 6364136223846793005u + 1442695040888963407u;
        if (n < PENDING && (n == 0 || (rng >> 40) % 2)) {
            pending[n++] = tickets_issue(&t);
            assert_int_equal(pending[n - 1], t.last);
        } else {
            size_t i = (rng >> 33) % n;

            assert_false(tickets_done(&t, pending[i]));
            tickets_complete(&t, pending[i]);
            assert_true(tickets_done(&t, pending[i]));
            pending[i] = pending[--n];
        }
        assert_int_equal(tickets_pending(&t), n);
        for (size_t i = 0; i < n; i += 7)
            assert_false(tickets_done(&t, pending[i]));
        if (step == 1000)
            capacity = t.pending.cap;
    }
    assert_int_equal(t.pending.cap, capacity);
    assert_true(tickets_done(&t, 0));
    assert_false(tickets_done(&t, t.last + 1));
    tickets_free(&t);
}

static void memory_is_flat_over_many_commands(void **state)
{
    struct rig *r = open_default();
    uint64_t old = rig_launch(r, rig_queue(r), 0, NULL, 0, 0);

    (void)state;
    for (uint64_t i = 1; i <= 200000; i++) {
        uint64_t ticket = rig_mark(r, 0);

        assert_int_equal(ticket, old + i);
        rig_run(r, ticket);
        assert_true(sim_done(&r->m, ticket));
    }
    assert_false(sim_done(&r->m, old));
    rig_close(r);
}

/* ---- order ----------------------------------------------------------------------------- */

static void commands_of_a_queue_follow_each_other(void **state)
{
    struct rig *r = open_default();
    uint64_t a = rig_launch(r, 0, 100 * NS, NULL, 0, 0), b = rig_launch(r, 0, 50 * NS, NULL, 0, 0);
    uint64_t c = rig_mark(r, 0);

    (void)state;
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(rig_run(r, a), LAUNCH + 100 * NS);
    assert_false(sim_done(&r->m, b));
    assert_int_equal(rig_run(r, c), 2 * LAUNCH + 150 * NS);
    assert_true(sim_done(&r->m, b));
    assert_int_equal(r->nkernels, 2);
    assert_int_equal(r->kernels[1].start_ps, 2 * LAUNCH + 100 * NS);
    rig_close(r);
}

static void queues_run_beside_each_other(void **state)
{
    struct rig *r = open_default();
    uint64_t a = rig_launch(r, 0, 100 * NS, NULL, 0, 0),
             b = rig_launch(r, rig_queue(r), 50 * NS, NULL, 0, 0);

    (void)state;
    assert_int_equal(rig_run(r, b), LAUNCH + 50 * NS);
    assert_int_equal(rig_run(r, a), LAUNCH + 100 * NS);
    rig_close(r);
}

static void a_wait_holds_its_queue_until_the_ticket(void **state)
{
    struct rig *r = open_default();
    uint32_t other = rig_queue(r), third = rig_queue(r);
    uint64_t a = rig_launch(r, 0, 100 * NS, NULL, 0, 0), b, c;

    (void)state;
    rig_wait_for(r, other, a);
    b = rig_launch(r, other, 20 * NS, NULL, 0, 0);
    c = rig_wait_for(r, third, b);
    assert_int_equal(rig_run(r, b), 2 * LAUNCH + 120 * NS);
    assert_int_equal(rig_run(r, c), 2 * LAUNCH + 120 * NS);
    /* What has completed is not waited for. */
    assert_int_equal(rig_run(r, rig_wait_for(r, 0, a)), 2 * LAUNCH + 120 * NS);
    assert_int_equal(rig_run(r, rig_wait_for(r, 0, 0)), 2 * LAUNCH + 120 * NS);
    assert_true(queues_idle(r->m.queues));
    rig_close(r);
}

/* Each of 1,000 queues waits for the one before it. */
static void chains_of_waits_end_in_no_time(void **state)
{
    enum { LENGTH = 1000 };
    struct rig *r = open_default();
    uint64_t first = rig_launch(r, 0, 7 * NS, NULL, 0, 0), last = first;

    (void)state;
    for (int i = 0; i < LENGTH; i++) {
        uint32_t queue = rig_queue(r);

        rig_wait_for(r, queue, last);
        last = rig_mark(r, queue);
    }
    rig_run(r, first);
    assert_false(sim_done(&r->m, last));
    assert_int_equal(rig_run(r, last), LAUNCH + 7 * NS);
    rig_close(r);
}

/* The first queue to wait is released by one that began to wait after it. */
static void waits_end_in_any_order(void **state)
{
    struct rig *r = open_default();
    uint32_t early = rig_queue(r), late = rig_queue(r);
    uint64_t kernel = rig_launch(r, 0, 100 * NS, NULL, 0, 0), mark;

    (void)state;
    rig_launch(r, late, 10 * NS, NULL, 0, 0);
    rig_wait_for(r, late, kernel);
    mark = rig_mark(r, late);
    assert_int_equal(rig_run(r, rig_wait_for(r, early, mark)), LAUNCH + 100 * NS);
    rig_close(r);
}

static void a_fan_out_and_a_join_wait_for_all(void **state)
{
    enum { WIDTH = 9 };
    struct rig *r = open_default();
    uint64_t p = rig_launch(r, 0, 100 * NS, NULL, 0, 0), c[WIDTH], j,
             end = 2 * LAUNCH + 100 * NS + WIDTH * NS;
    uint32_t join = rig_queue(r);

    (void)state;
    for (uint64_t i = 0; i < WIDTH; i++) {
        uint32_t queue = rig_queue(r);

        rig_wait_for(r, queue, p);
        c[i] = rig_launch(r, queue, (i + 1) * NS, NULL, 0, 0);
    }
    for (int i = WIDTH - 1; i >= 0; i--)
        rig_wait_for(r, join, c[i]);
    j = rig_launch(r, join, 5 * NS, NULL, 0, 0);
    assert_int_equal(rig_run(r, j), end + LAUNCH + 5 * NS);
    for (size_t i = 1; i <= WIDTH; i++)
        assert_int_equal(r->kernels[i].start_ps, 2 * LAUNCH + 100 * NS);
    rig_close(r);
}

static void without_concurrency_kernels_take_turns(void **state)
{
    struct sim_config c = rig_config();
    struct rig *r;
    uint64_t last = 0;

    (void)state;
    c.concurrent_kernels = false;
    r = rig_open(&c);
    for (int i = 0; i < 4; i++)
        last = rig_launch(r, rig_queue(r), 100 * NS, NULL, 0, 0);
    /* The launch latencies overlap, the kernels do not. */
    assert_int_equal(rig_run(r, last), LAUNCH + 400 * NS);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(r->kernels[i].ticket, i + 1);
    rig_close(r);
}

static void copies_and_kernels_of_a_queue_keep_their_order(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_DEVICE, 64);
    uint8_t host[64] = {1, 2, 3}, back[64] = {0};

    (void)state;
    rig_copy(r, 0, SIM_COPY_H2D, x, host, 64);
    rig_launch(r, 0, 10 * NS, &x, 1, 1);
    assert_int_equal(rig_run(r, rig_copy(r, 0, SIM_COPY_D2H, x, back, 64)),
                     LATENCY + 64 * NS / H2D + LAUNCH + 10 * NS + LATENCY + 64 * NS / D2H);
    assert_memory_equal(host, back, 64);
    assert_int_equal(r->transfers[1].ticket, 3);
    rig_close(r);
}

/* ---- lifetime -------------------------------------------------------------------------- */

static void argument_lists_are_copied(void **state)
{
    struct rig *r = open_default();
    uint64_t time = 10 * NS;
    uint32_t ids[2] = {rig_array(r, "x", SIM_MANAGED, 4), rig_array(r, "y", SIM_MANAGED, 4)};
    bool writes[2] = {false, true};
    struct sim_cmd cmd = rig_kernel(r, &time, ids, 2, 0);
    uint64_t ticket;

    (void)state;
    cmd.launch.writes = writes;
    ticket = rig_submit(r, 0, &cmd);
    time = 99 * NS;
    writes[0] = true;
    writes[1] = false;
    assert_int_equal(rig_run(r, ticket), LAUNCH + 10 * NS);
    assert_int_equal(rig_residency(r, ids[0]).dirty, 0);
    assert_int_equal(rig_residency(r, ids[1]).dirty, 1);
    rig_close(r);
}

static void arrays_in_flight_are_not_freed(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 4), d = rig_array(r, "d", SIM_DEVICE, 4);
    uint32_t twice[2] = {x, x};
    uint8_t host[4] = {0};
    struct hd_error err;

    (void)state;
    rig_launch(r, 0, 10 * NS, twice, 2, 1);
    rig_copy(r, 0, SIM_COPY_H2D, d, host, 4);
    assert_int_equal(sim_array_free(&r->m, x, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-in-flight");
    assert_int_equal(sim_array_free(&r->m, d, &err), HD_BAD_INPUT);
    rig_run(r, 0);
    assert_int_equal(sim_array_free(&r->m, x, &err), HD_OK);
    assert_int_equal(sim_array_free(&r->m, d, &err), HD_OK);
    assert_int_equal(sim_array_free(&r->m, d, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "array-unknown");
    rig_close(r);
}

static void a_queue_is_freed_when_it_is_empty(void **state)
{
    struct rig *r = open_default();
    uint32_t q = rig_queue(r), x = rig_array(r, "x", SIM_MANAGED, 4);
    uint64_t a = rig_launch(r, q, 10 * NS, NULL, 0, 0), ticket;
    struct sim_cmd mark = {.kind = SIM_MARK};
    struct hd_error err;

    (void)state;
    sim_array_attach(&r->m, x, (int32_t)q);
    sim_queue_free(&r->m, q);
    assert_int_equal(sim_submit(&r->m, q, &mark, &ticket, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "queue-unknown");
    assert_int_equal(rig_queue(r), q + 1);
    rig_run(r, a);
    assert_int_equal(sim_array_attached(&r->m, x), SIM_ATTACH_HOST);
    assert_int_equal(rig_queue(r), q);
    sim_queue_free(&r->m, q);
    assert_int_equal(rig_queue(r), q);
    sim_queue_free(&r->m, 0);
    rig_run(r, rig_mark(r, 0));
    rig_close(r);
}

/* However queues were freed, new ones take the free numbers from the smallest one up. */
static void freed_numbers_come_in_order(void **state)
{
    static const uint32_t freed[] = {2, 4, 1, 3};
    struct rig *r = open_default();

    (void)state;
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(rig_queue(r), i);
    for (size_t i = 0; i < 4; i++)
        sim_queue_free(&r->m, freed[i]);
    for (uint32_t i = 1; i <= 4; i++)
        assert_int_equal(rig_queue(r), i);
    assert_int_equal(rig_queue(r), 6);
    rig_close(r);
}

static void queues_have_a_limit(void **state)
{
    struct rig *r = open_default();
    struct hd_error err;
    uint32_t id;

    (void)state;
    for (int i = 1; i < 1 << 16; i++)
        rig_queue(r);
    assert_int_equal(sim_queue_new(&r->m, &id, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "queues-many");
    rig_close(r);
}

static void pending_commands_are_freed_with_the_machine(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 4);

    (void)state;
    rig_launch(r, 0, 10 * NS, &x, 1, 1);
    rig_launch(r, 0, 10 * NS, &x, 1, 1);
    rig_run_until(r, LAUNCH + 5 * NS);
    rig_close(r);
}

/* ---- errors ---------------------------------------------------------------------------- */

static void assert_refused(struct rig *r, const struct sim_cmd *cmd, const char *code,
                           const char *text)
{
    uint64_t ticket = 0;
    struct hd_error err = {0};

    assert_int_equal(sim_submit(&r->m, 0, cmd, &ticket, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, code);
    if (!strstr(err.message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, err.message);
    assert_int_equal(ticket, 0);
    assert_true(queues_idle(r->m.queues));
}

static void impossible_commands_are_refused(void **state)
{
    struct rig *r = open_default();
    uint32_t d = rig_array(r, "d", SIM_DEVICE, 64), x = rig_array(r, "x", SIM_MANAGED, 64), none = 7;
    uint8_t host[128] = {0};
    uint64_t time = 1;
    struct sim_cmd copy = {.kind = SIM_COPY_H2D,
                           .copy = {.array = d, .offset = 4, .bytes = 64, .host = host}};
    struct sim_cmd kernel = rig_kernel(r, &time, &none, 1, 0);
    struct sim_cmd wait = {.kind = SIM_WAIT, .ticket = 1};

    (void)state;
    assert_refused(r, &copy, "array-range", "bytes 4 to 68 are not in array d, which has 64 bytes");
    copy.copy.offset = UINT64_MAX;
    assert_refused(r, &copy, "array-range", "array d");
    copy.copy = (struct sim_copy){.array = x, .bytes = 4, .host = host};
    assert_refused(r, &copy, "array-kind", "array x is managed");
    copy.kind = SIM_PREFETCH;
    copy.copy.array = d;
    assert_refused(r, &copy, "array-kind", "array d is a device array");
    copy.copy.array = none;
    assert_refused(r, &copy, "array-unknown", "array 7");
    assert_refused(r, &kernel, "array-unknown", "array 7");
    kernel.launch.block[0] = 0;
    assert_refused(r, &kernel, "launch-empty", "no work-items");
    assert_refused(r, &wait, "ticket-unknown", "ticket 1");
    rig_close(r);
}

static void waits_are_described(void **state)
{
    struct rig *r = open_default();
    uint32_t q1 = rig_queue(r), q2 = rig_queue(r), d = rig_array(r, "d", SIM_DEVICE, 4);
    uint64_t never = rig_launch(r, 0, 0, NULL, 0, 0), mark;
    struct text text = {0};
    uint8_t host[4] = {0};

    (void)state;
    rig_wait_for(r, q1, never);
    mark = rig_mark(r, q1);
    rig_wait_for(r, q2, mark);
    rig_run(r, 0);
    queue_describe_waits(&r->m, &text);
    assert_string_equal(
        text_str(&text),
        "kernel k (ticket 1) of queue 0 runs, or waits for a place among the resident kernels\n"
        "wait (ticket 2) of queue 1 waits for kernel k (ticket 1) of queue 0\n"
        "wait (ticket 4) of queue 2 waits for mark (ticket 3) of queue 1");
    text_free(&text);
    rig_copy(r, rig_queue(r), SIM_COPY_H2D, d, host, 4);
    rig_run_until(r, r->m.now_ps + 1);
    queue_describe_waits(&r->m, &text);
    assert_non_null(strstr(text_str(&text),
                           "copy to the device (ticket 5) of queue 3 waits for the copy engine"));
    text_free(&text);
    rig_close(r);
}

static void values_mode_runs_commands_as_they_are_submitted(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_DEVICE, 4);
    uint8_t host[4] = {5, 6, 7, 8};
    uint64_t ticket;

    (void)state;
    r->m.mode = SIM_VALUES;
    ticket = rig_copy(r, 0, SIM_COPY_H2D, x, host, 4);
    assert_true(sim_done(&r->m, ticket));
    assert_memory_equal(sim_array_data(&r->m, x), host, 4);
    assert_true(sim_done(&r->m, rig_launch(r, 0, 10 * NS, &x, 1, 1)));
    assert_true(sim_done(&r->m, rig_wait_for(r, 0, ticket)));
    assert_true(sim_done(&r->m, rig_mark(r, 0)));
    assert_int_equal(event_next_time(r->m.events), SIM_NEVER);
    assert_int_equal(r->nkernels, 1);
    assert_int_equal(r->ntransfers, 0);
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pending_tickets_are_those_not_completed),
        cmocka_unit_test(memory_is_flat_over_many_commands),
        cmocka_unit_test(commands_of_a_queue_follow_each_other),
        cmocka_unit_test(queues_run_beside_each_other),
        cmocka_unit_test(a_wait_holds_its_queue_until_the_ticket),
        cmocka_unit_test(chains_of_waits_end_in_no_time),
        cmocka_unit_test(waits_end_in_any_order),
        cmocka_unit_test(a_fan_out_and_a_join_wait_for_all),
        cmocka_unit_test(without_concurrency_kernels_take_turns),
        cmocka_unit_test(copies_and_kernels_of_a_queue_keep_their_order),
        cmocka_unit_test(argument_lists_are_copied),
        cmocka_unit_test(arrays_in_flight_are_not_freed),
        cmocka_unit_test(a_queue_is_freed_when_it_is_empty),
        cmocka_unit_test(freed_numbers_come_in_order),
        cmocka_unit_test(queues_have_a_limit),
        cmocka_unit_test(pending_commands_are_freed_with_the_machine),
        cmocka_unit_test(impossible_commands_are_refused),
        cmocka_unit_test(waits_are_described),
        cmocka_unit_test(values_mode_runs_commands_as_they_are_submitted),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
