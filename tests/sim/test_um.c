/* Unified memory: page states against a page-by-page model, and the times and bytes of moves. */
#include "sim/demand.h"
#include "tests/sim/rig.h"
#include "sim/pages.h"

/* ---- states ---------------------------------------------------------------------------- */

enum { MODEL_PAGES = 200 };

struct model {
    bool populated[MODEL_PAGES], device[MODEL_PAGES], dirty[MODEL_PAGES];
};

static void model_change(struct model *k, uint64_t i, int op, struct page_change *want)
{
    switch (op) {
    case 0: /* to the device */
        want->changed += !k->device[i];
        want->moved += !k->device[i] && k->populated[i];
        k->populated[i] = k->device[i] = true;
        break;
    case 1: /* to the host */
        want->changed += k->device[i];
        want->moved += k->device[i] && k->dirty[i];
        k->populated[i] = true;
        k->device[i] = k->dirty[i] = false;
        break;
    case 2:
        k->dirty[i] |= k->device[i];
        break;
    default:
        k->dirty[i] = false;
        break;
    }
}

static struct page_change real_change(struct sim_array *a, struct page_range p, int op)
{
    if (op == 0)
        return pages_to_device(a, p);
    if (op == 1)
        return pages_to_host(a, p);
    if (op == 2)
        pages_written(a, p);
    else
        pages_discard(a, p);
    return (struct page_change){0};
}

static void model_evict(struct model *k, uint64_t count, struct page_change *want)
{
    for (uint64_t i = 0; i < MODEL_PAGES && want->changed < count; i++)
        if (k->device[i]) {
            bool populated = k->populated[i];

            model_change(k, i, 1, want);
            k->populated[i] = populated;
        }
}

static void assert_same_states(const struct sim_array *a, const struct model *k)
{
    struct sim_residency got, want = {0};

    for (size_t i = 0; i < MODEL_PAGES; i++) {
        want.unpopulated += !k->populated[i];
        want.host += k->populated[i] && !k->device[i];
        want.device += k->device[i];
        want.dirty += k->dirty[i];
    }
    pages_count(a, &got);
    assert_memory_equal(&got, &want, sizeof got);
    assert_int_equal(pages_missing(a, pages_all(a)), MODEL_PAGES - want.device);
}

static void page_states_agree_with_a_model_of_single_pages(void **state)
{
    struct sim_config c = rig_config();
    struct rig *r = rig_open(&c);
    uint32_t x = rig_array(r, "x", SIM_MANAGED, MODEL_PAGES * PAGE);
    struct sim_array *a = memory_array(&r->m.memory, x);
    struct model k = {0};
    uint64_t rng = 12345;

    (void)state;
    print_message("seed 12345\n");
    for (int step = 0; step < 20000; step++) {
        struct page_change got, want = {0};
        struct page_range p;
        int op;

        rng = rng * 6364136223846793005u + 1442695040888963407u;
        op = (int)((rng >> 60) % 5);
        p.first = (rng >> 33) % MODEL_PAGES;
        p.end = p.first + (rng >> 45) % (MODEL_PAGES - p.first + 1);
        if (op == 4) {
            got = pages_evict(a, p.first % 70);
            model_evict(&k, p.first % 70, &want);
        } else {
            got = real_change(a, p, op);
            for (uint64_t i = p.first; i < p.end; i++)
                model_change(&k, i, op, &want);
        }
        assert_int_equal(got.changed, want.changed);
        assert_int_equal(got.moved, want.moved);
        assert_same_states(a, &k);
    }
    rig_close(r);
}

static void ranges_of_bytes_are_cut_to_pages(void **state)
{
    struct sim_config c = rig_config();
    struct rig *r = rig_open(&c);
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 10000);
    const struct sim_array *a = memory_array(&r->m.memory, x);
    static const uint64_t cases[][6] = {
        /* offset, bytes, touched first and end, covered first and end */
        {0, 10000, 0, 3, 0, 3},    {0, 1, 0, 1, 0, 0},       {4095, 2, 0, 2, 0, 0},
        {4096, 4096, 1, 2, 1, 2},  {1, 9999, 0, 3, 1, 3},    {8192, 1808, 2, 3, 2, 3},
        {8193, 1807, 2, 3, 0, 0},  {5000, 0, 0, 0, 0, 0},    {10000, 5, 0, 0, 0, 0},
        {4000, 99999, 0, 3, 1, 3}, {4096, 5904, 1, 3, 1, 3}, {4096, 5903, 1, 3, 1, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page_range touched = pages_of(&r->m.memory, a, cases[i][0], cases[i][1]);
        struct page_range covered = pages_within(&r->m.memory, a, cases[i][0], cases[i][1]);

        assert_int_equal(touched.first, cases[i][2]);
        assert_int_equal(touched.end, cases[i][3]);
        assert_int_equal(covered.first, cases[i][4]);
        assert_int_equal(covered.end, cases[i][5]);
    }
    rig_close(r);
}

/* ---- launches -------------------------------------------------------------------------- */

static uint64_t move_time(uint64_t bytes, uint64_t rate)
{
    return LATENCY + bytes * NS / rate + (bytes + CHUNK - 1) / CHUNK * GAP - GAP;
}

static void assert_transfer(const struct rig *r, size_t i, enum sim_transfer_kind kind,
                            uint32_t array, uint64_t bytes)
{
    assert_true(i < r->ntransfers);
    assert_int_equal(r->transfers[i].kind, kind);
    assert_int_equal(r->transfers[i].array, array);
    assert_int_equal(r->transfers[i].bytes, bytes);
}

static struct rig *open_default(void)
{
    struct sim_config c = rig_config();

    return rig_open(&c);
}

static void unpopulated_pages_move_nothing(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 5 * PAGE);

    (void)state;
    assert_int_equal(rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 0)), LAUNCH + 10 * NS);
    assert_int_equal(r->ntransfers, 0);
    assert_int_equal(rig_residency(r, x).device, 5);
    /* The host finds them clean: the fault alone. */
    rig_host(r, x, 5 * PAGE, false);
    assert_int_equal(r->m.now_ps, LAUNCH + 10 * NS + HOST_FAULT);
    assert_int_equal(r->ntransfers, 0);
    assert_int_equal(rig_residency(r, x).host, 5);
    rig_close(r);
}

static void host_pages_move_ahead_of_a_launch(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 40 * PAGE);
    uint64_t end;

    (void)state;
    rig_host(r, x, 40 * PAGE, true);
    assert_int_equal(r->m.now_ps, 0);
    end = rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 0));
    assert_int_equal(end, move_time(40 * PAGE, H2D) + LAUNCH + 10 * NS);
    assert_int_equal(r->ntransfers, 1);
    assert_transfer(r, 0, SIM_T_MIGRATE, x, 40 * PAGE);
    assert_true(r->transfers[0].to_device);
    assert_int_equal(r->transfers[0].ticket, 1);
    /* They stay, and nobody wrote them. */
    assert_int_equal(rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 1)) - end, LAUNCH + 10 * NS);
    assert_int_equal(rig_residency(r, x).dirty, 40);
    rig_close(r);
}

static void partly_filled_pages_move_whole(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 5000);

    (void)state;
    rig_host(r, x, 5000, true);
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 0));
    assert_transfer(r, 0, SIM_T_MIGRATE, x, 2 * PAGE);
    rig_close(r);
}

static void a_host_access_moves_the_dirty_pages_it_touches(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 40 * PAGE);
    struct sim_host_access h = {.array = x, .offset = 3 * PAGE + 8, .bytes = 4};
    uint64_t end = rig_run(r, rig_launch(r, 0, 1, &x, 1, 1)), ticket;

    (void)state;
    ticket = sim_host_access(&r->m, &h);
    assert_false(sim_done(&r->m, ticket));
    assert_int_equal(rig_run(r, ticket), end + HOST_FAULT + move_time(PAGE, D2H));
    assert_transfer(r, 0, SIM_T_FAULT, x, PAGE);
    assert_int_equal(r->transfers[0].queued_ps, end);
    assert_int_equal(r->transfers[0].start_ps, end + HOST_FAULT);
    assert_int_equal(rig_residency(r, x).host, 1);
    assert_int_equal(sim_host_access(&r->m, &h), 0);
    /* The next kernel needs that page alone. */
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 1));
    assert_transfer(r, 1, SIM_T_MIGRATE, x, PAGE);
    rig_close(r);
}

static void overwriting_moves_nothing_but_the_edges(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 10 * PAGE);
    struct sim_host_access all = {.array = x, .bytes = 10 * PAGE, .write = true, .whole = true};
    struct sim_host_access part = {
        .array = x, .offset = 100, .bytes = 3 * PAGE, .write = true, .whole = true};

    (void)state;
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 1));
    rig_run(r, sim_host_access(&r->m, &all));
    assert_int_equal(r->ntransfers, 0);
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 1));
    rig_run(r, sim_host_access(&r->m, &part));
    assert_transfer(r, 1, SIM_T_FAULT, x, 2 * PAGE);
    assert_int_equal(rig_residency(r, x).host, 4);
    rig_close(r);
}

static void untimed_accesses_change_states_alone(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 10 * PAGE);
    struct sim_host_access h = {.array = x, .bytes = 10 * PAGE, .untimed = true};

    (void)state;
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 1));
    assert_int_equal(sim_host_access(&r->m, &h), 0);
    assert_int_equal(rig_residency(r, x).host, 10);
    assert_int_equal(r->ntransfers, 0);
    rig_close(r);
}

static void visible_arrays_move_with_a_launch(void **state)
{
    struct rig *r = open_default();
    uint32_t other = rig_queue(r), id[5];
    static const int32_t attach[5] = {SIM_ATTACH_HOST, SIM_ATTACH_GLOBAL, 1, 0, SIM_ATTACH_HOST};
    static const char *const names[5] = {"argument", "global", "elsewhere", "here", "unseen"};

    (void)state;
    assert_int_equal(other, 1);
    for (size_t i = 0; i < 5; i++) {
        id[i] = rig_array(r, names[i], SIM_MANAGED, PAGE);
        assert_int_equal(sim_array_attached(&r->m, id[i]), SIM_ATTACH_HOST);
        sim_array_attach(&r->m, id[i], attach[i]);
        rig_host(r, id[i], PAGE, true);
    }
    rig_run(r, rig_launch(r, 0, 1, id, 1, 0));
    assert_int_equal(r->ntransfers, 3);
    assert_transfer(r, 0, SIM_T_MIGRATE, id[0], PAGE);
    assert_transfer(r, 1, SIM_T_MIGRATE, id[1], PAGE);
    assert_transfer(r, 2, SIM_T_MIGRATE, id[3], PAGE);
    assert_int_equal(rig_residency(r, id[2]).host, 1);
    assert_int_equal(rig_residency(r, id[4]).host, 1);
    rig_close(r);
}

/* As in PB-33: two kernels that need one page at once cause one move, and both wait for it. */
static void two_launches_share_one_migration(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 40 * PAGE), other = rig_queue(r);
    uint64_t end = move_time(40 * PAGE, H2D) + LAUNCH + 10 * NS, a, b;

    (void)state;
    rig_host(r, x, 40 * PAGE, true);
    a = rig_launch(r, 0, 10 * NS, &x, 1, 0);
    b = rig_launch(r, other, 20 * NS, &x, 1, 0);
    assert_int_equal(rig_run(r, a), end);
    assert_int_equal(rig_run(r, b), end + 10 * NS);
    assert_int_equal(r->ntransfers, 1);
    rig_close(r);
}

static void migrations_of_two_queues_are_served_as_they_came(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 40 * PAGE), y = rig_array(r, "y", SIM_MANAGED, PAGE);
    uint32_t other = rig_queue(r);
    uint64_t a, b;

    (void)state;
    rig_host(r, x, 40 * PAGE, true);
    rig_host(r, y, PAGE, true);
    a = rig_launch(r, 0, 100000 * NS, &x, 1, 0);
    b = rig_launch(r, other, 10 * NS, &y, 1, 0);
    /* The second overlaps with the first kernel. */
    assert_int_equal(rig_run(r, b),
                     move_time(40 * PAGE, H2D) + move_time(PAGE, H2D) + LAUNCH + 10 * NS);
    assert_int_equal(rig_run(r, a), move_time(40 * PAGE, H2D) + LAUNCH + 100000 * NS);
    rig_close(r);
}

/* ---- room ------------------------------------------------------------------------------ */

/* The device of these tests has 256 pages. */
static void the_least_recently_used_pages_are_evicted(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 100 * PAGE),
             y = rig_array(r, "y", SIM_MANAGED, 100 * PAGE);
    uint32_t z = rig_array(r, "z", SIM_MANAGED, 100 * PAGE);
    uint64_t before, end;

    (void)state;
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 1));
    rig_run(r, rig_launch(r, 0, 1, &y, 1, 1));
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 0));
    rig_host(r, z, 100 * PAGE, true);
    before = r->m.now_ps;
    end = rig_run(r, rig_launch(r, 0, 1, &z, 1, 0));
    /* y goes, its first 44 pages, which are dirty; then z comes. */
    assert_int_equal(r->ntransfers, 2);
    assert_transfer(r, 0, SIM_T_EVICT, y, 44 * PAGE);
    assert_transfer(r, 1, SIM_T_MIGRATE, z, 100 * PAGE);
    assert_int_equal(end - before,
                     move_time(44 * PAGE, D2H) + move_time(100 * PAGE, H2D) + LAUNCH + 1);
    assert_int_equal(rig_residency(r, x).device, 100);
    assert_int_equal(rig_residency(r, y).device, 56);
    assert_int_equal(r->m.memory.device_bytes, 256 * PAGE);
    rig_close(r);
}

static void evicting_clean_pages_moves_nothing(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 200 * PAGE),
             y = rig_array(r, "y", SIM_MANAGED, 200 * PAGE);

    (void)state;
    rig_host(r, x, 200 * PAGE, true);
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 0));
    rig_run(r, rig_launch(r, 0, 1, &y, 1, 0));
    assert_int_equal(r->ntransfers, 1);
    assert_transfer(r, 0, SIM_T_MIGRATE, x, 200 * PAGE);
    assert_int_equal(rig_residency(r, x).host, 144);
    rig_close(r);
}

/* Arrays of a kernel that runs stay; the launch waits for its end, and nobody overtakes it. */
static void a_launch_waits_for_room(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 200 * PAGE),
             y = rig_array(r, "y", SIM_MANAGED, 100 * PAGE);
    uint32_t z = rig_array(r, "z", SIM_MANAGED, 50 * PAGE), q1 = rig_queue(r), q2 = rig_queue(r);
    uint64_t a = rig_launch(r, 0, 50 * NS, &x, 1, 0), b = rig_launch(r, q1, 10 * NS, &y, 1, 0);
    uint64_t c = rig_launch(r, q2, 10 * NS, &z, 1, 0);

    (void)state;
    assert_int_equal(rig_run(r, a), LAUNCH + 50 * NS);
    assert_false(sim_done(&r->m, c));
    assert_int_equal(rig_run(r, b), 2 * LAUNCH + 60 * NS);
    assert_int_equal(rig_run(r, c), 2 * LAUNCH + 60 * NS);
    rig_close(r);
}

static void a_launch_past_the_device_is_refused(void **state)
{
    struct rig *r = open_default();
    uint32_t ids[2] = {rig_array(r, "x", SIM_MANAGED, 200 * PAGE),
                       rig_array(r, "y", SIM_MANAGED, 57 * PAGE)};
    uint64_t time = 1, ticket;
    struct sim_cmd cmd = rig_kernel(r, &time, ids, 2, 0);
    struct hd_error err;

    (void)state;
    assert_int_equal(sim_submit(&r->m, 0, &cmd, &ticket, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "device-memory");
    assert_string_equal(
        err.message, "kernel k needs 1052672 bytes for the arrays that it can see, the device has "
                     "1048576 (dram.bytes) without its device arrays");
    /* The same by an attachment after submission ends the run. */
    cmd = rig_kernel(r, &time, ids, 1, 0);
    rig_submit(r, 0, &cmd);
    sim_array_attach(&r->m, ids[1], SIM_ATTACH_GLOBAL);
    rig_run(r, 0);
    assert_int_equal(r->m.fault.status, HD_BAD_INPUT);
    assert_string_equal(r->m.fault.code, "device-memory");
    rig_close(r);
}

static void a_device_array_evicts_managed_pages(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 200 * PAGE);
    struct sim_array_desc d = {.name = "d", .bytes = 100 * PAGE, .elem_bytes = 4, .kind = SIM_DEVICE};
    uint64_t ticket = rig_launch(r, 0, 10 * NS, &x, 1, 1);
    struct hd_error err;
    uint32_t id;

    (void)state;
    rig_run_until(r, LAUNCH);
    assert_int_equal(sim_array_new(&r->m, &d, &id, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "device-memory-in-use");
    rig_run(r, ticket);
    rig_array(r, "d", SIM_DEVICE, 100 * PAGE);
    rig_run(r, 0);
    assert_transfer(r, 0, SIM_T_EVICT, x, 44 * PAGE);
    rig_close(r);
}

/* What a running kernel sees stays, also where it has been on the device for long and is nobody's argument. */
static void attached_arrays_are_held_by_launches(void **state)
{
    struct rig *r = open_default();
    uint32_t g = rig_array(r, "g", SIM_MANAGED, 150 * PAGE),
             x = rig_array(r, "x", SIM_MANAGED, PAGE);
    struct sim_array_desc d = {.name = "d", .bytes = 110 * PAGE, .elem_bytes = 4, .kind = SIM_DEVICE};
    struct hd_error err;
    uint64_t ticket;
    uint32_t id;

    (void)state;
    sim_array_attach(&r->m, g, SIM_ATTACH_GLOBAL);
    rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 0));
    assert_int_equal(rig_residency(r, g).device, 150);
    ticket = rig_launch(r, 0, 10 * NS, &x, 1, 0);
    rig_run_until(r, r->m.now_ps + LAUNCH);
    assert_int_equal(sim_array_new(&r->m, &d, &id, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "device-memory-in-use");
    /* Both were used last by the same launch: the first array goes. */
    rig_run(r, ticket);
    rig_array(r, "d", SIM_DEVICE, 110 * PAGE);
    assert_int_equal(rig_residency(r, g).device, 145);
    assert_int_equal(rig_residency(r, x).device, 1);
    rig_close(r);
}

/* The host takes a page of an array that all launches see: the next one brings it back, and no other. */
static void attached_arrays_come_back(void **state)
{
    struct rig *r = open_default();
    uint32_t g[3], x = rig_array(r, "x", SIM_MANAGED, PAGE);

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        g[i] = rig_array(r, "g", SIM_MANAGED, 4 * PAGE);
        sim_array_attach(&r->m, g[i], i < 2 ? SIM_ATTACH_GLOBAL : 0);
        rig_host(r, g[i], 4 * PAGE, true);
    }
    rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 0));
    assert_int_equal(r->ntransfers, 3);
    rig_host(r, g[1], 1, true);
    rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 0));
    assert_int_equal(r->ntransfers, 4);
    assert_transfer(r, 3, SIM_T_MIGRATE, g[1], PAGE);
    /* What leaves the list is not brought any more. */
    sim_array_attach(&r->m, g[1], SIM_ATTACH_HOST);
    rig_host(r, g[1], 1, true);
    rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 0));
    assert_int_equal(r->ntransfers, 4);
    assert_int_equal(r->m.memory.attached.at[0].held, 0);
    assert_int_equal(r->m.memory.attached.at[0].pages, 4);
    rig_close(r);
}

static void an_array_freed_while_it_moves_keeps_its_id(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, 10 * PAGE), y;
    struct sim_host_access h = {.array = x, .bytes = PAGE};

    (void)state;
    rig_run(r, rig_launch(r, 0, 1, &x, 1, 1));
    sim_host_access(&r->m, &h);
    assert_int_equal(sim_array_free(&r->m, x, NULL), HD_OK);
    y = rig_array(r, "y", SIM_MANAGED, PAGE);
    assert_int_not_equal(y, x);
    rig_run(r, 0);
    assert_int_equal(rig_array(r, "z", SIM_MANAGED, PAGE), x);
    assert_int_equal(r->m.memory.device_bytes, 0);
    rig_close(r);
}

/* ---- modes ----------------------------------------------------------------------------- */

static void prefetches_do_nothing_without_page_faults(void **state)
{
    struct rig *r = open_default();
    uint32_t x = rig_array(r, "x", SIM_MANAGED, PAGE);
    struct sim_cmd cmd = {.kind = SIM_PREFETCH, .copy = {.array = x, .bytes = PAGE}};

    (void)state;
    rig_host(r, x, PAGE, true);
    assert_int_equal(rig_run(r, rig_submit(r, 0, &cmd)), 0);
    assert_int_equal(r->ntransfers, 0);
    rig_close(r);
}

static void prefetches_move_host_pages_with_page_faults(void **state)
{
    struct sim_config c = rig_config();
    struct rig *r;
    uint32_t x;
    struct sim_cmd cmd = {.kind = SIM_PREFETCH, .copy = {.bytes = 30 * PAGE}};

    (void)state;
    c.um_page_faults = true;
    r = rig_open(&c);
    cmd.copy.array = x = rig_array(r, "x", SIM_MANAGED, 40 * PAGE);
    rig_host(r, x, 40 * PAGE, true);
    assert_int_equal(rig_run(r, rig_submit(r, 0, &cmd)), move_time(30 * PAGE, H2D));
    assert_transfer(r, 0, SIM_T_PREFETCH, x, 30 * PAGE);
    assert_int_equal(rig_residency(r, x).device, 30);
    assert_int_equal(r->m.memory.arrays.at[x].pinned, 0);
    rig_close(r);
}

static uint64_t prefetch(struct rig *r, uint32_t queue, uint32_t array)
{
    struct sim_cmd cmd = {.kind = SIM_PREFETCH, .copy = {.array = array, .bytes = PAGE}};

    return rig_submit(r, queue, &cmd);
}

/* b is sent after c, and goes ahead of it: its command was submitted first. */
static void the_pages_that_arrive_are_those_of_the_transfer(void **state)
{
    struct sim_config c = rig_config();
    struct rig *r;
    uint32_t array[3], queue;
    uint64_t second;

    (void)state;
    c.um_page_faults = true;
    r = rig_open(&c);
    queue = rig_queue(r);
    for (int i = 0; i < 3; i++) {
        array[i] = rig_array(r, "x", SIM_MANAGED, PAGE);
        rig_host(r, array[i], PAGE, true);
    }
    prefetch(r, queue, array[0]);
    second = prefetch(r, queue, array[1]);
    prefetch(r, 0, array[2]);
    assert_int_equal(rig_run(r, second), 2 * move_time(PAGE, H2D));
    assert_false(page_coming(&r->m.memory.arrays.at[array[1]], 0));
    assert_true(page_coming(&r->m.memory.arrays.at[array[2]], 0));
    rig_run(r, 0);
    assert_false(page_coming(&r->m.memory.arrays.at[array[2]], 0));
    rig_close(r);
}

static void values_mode_makes_the_same_transitions_in_no_time(void **state)
{
    struct sim_residency after[2][2];

    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        struct rig *r = open_default();
        uint32_t x = rig_array(r, "x", SIM_MANAGED, 200 * PAGE),
                 y = rig_array(r, "y", SIM_MANAGED, 100 * PAGE);

        r->m.mode = mode ? SIM_VALUES : SIM_TIMED;
        rig_host(r, x, 7 * PAGE, true);
        rig_run(r, rig_launch(r, 0, 10 * NS, &x, 1, 1));
        rig_run(r, rig_launch(r, 0, 10 * NS, &y, 1, 0));
        rig_host(r, x, 100 * PAGE, false);
        after[mode][0] = rig_residency(r, x);
        after[mode][1] = rig_residency(r, y);
        assert_int_equal(r->nkernels, 2);
        if (mode) {
            assert_int_equal(r->m.now_ps, 0);
            assert_int_equal(r->ntransfers, 0);
            assert_int_equal(event_next_time(r->m.events), SIM_NEVER);
        }
        rig_close(r);
    }
    assert_memory_equal(after[0], after[1], sizeof after[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_states_agree_with_a_model_of_single_pages),
        cmocka_unit_test(ranges_of_bytes_are_cut_to_pages),
        cmocka_unit_test(unpopulated_pages_move_nothing),
        cmocka_unit_test(host_pages_move_ahead_of_a_launch),
        cmocka_unit_test(partly_filled_pages_move_whole),
        cmocka_unit_test(a_host_access_moves_the_dirty_pages_it_touches),
        cmocka_unit_test(overwriting_moves_nothing_but_the_edges),
        cmocka_unit_test(untimed_accesses_change_states_alone),
        cmocka_unit_test(visible_arrays_move_with_a_launch),
        cmocka_unit_test(two_launches_share_one_migration),
        cmocka_unit_test(migrations_of_two_queues_are_served_as_they_came),
        cmocka_unit_test(the_least_recently_used_pages_are_evicted),
        cmocka_unit_test(evicting_clean_pages_moves_nothing),
        cmocka_unit_test(a_launch_waits_for_room),
        cmocka_unit_test(a_launch_past_the_device_is_refused),
        cmocka_unit_test(a_device_array_evicts_managed_pages),
        cmocka_unit_test(attached_arrays_are_held_by_launches),
        cmocka_unit_test(attached_arrays_come_back),
        cmocka_unit_test(an_array_freed_while_it_moves_keeps_its_id),
        cmocka_unit_test(prefetches_do_nothing_without_page_faults),
        cmocka_unit_test(prefetches_move_host_pages_with_page_faults),
        cmocka_unit_test(the_pages_that_arrive_are_those_of_the_transfer),
        cmocka_unit_test(values_mode_makes_the_same_transitions_in_no_time),
    };

    return cmocka_run_group_tests_name("um", tests, NULL, NULL);
}
