/*
 * Random kernels, prefetches, host accesses, other arrays that come and go, and advice on small machines with page faults, on devices
 * that hold all arrays and on some that do not:
 * - memory ends as in values-only mode and as without page faults;
 * - with compute units that run ahead of each other all records are the same as without;
 * - so they are of a copy that is made in the middle;
 * - pages never take more than the device has; in the end nothing waits, and as many pages are on the
 *   device as have come and not gone.
 * It prints its seed.
 */
#include "sim/base/rng.h"
#include "sim/machine.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARRAYS = 3, KERNELS = 3, STEPS = 12, PAGE = 4096, PAGES_MAX = 24, RECORDS = 1024 };

/* What the sink saw, in words, and the machine. */
struct run {
    struct krig rig;
    uint64_t seen[RECORDS * 8];
    size_t nseen;
    uint32_t arrays[ARRAYS], queue;
    uint64_t bytes[ARRAYS];
    uint32_t scratch; /* an array beside these; UINT32_MAX: none */
};

enum variant { AHEAD, IN_STEP, COPIED, VALUES, NO_FAULTS, VARIANTS };

static void note(struct run *r, const uint64_t *words, size_t n)
{
    assert_true(r->nseen + n <= sizeof r->seen / sizeof *r->seen);
    memcpy(r->seen + r->nseen, words, n * sizeof *words);
    r->nseen += n;
}

static void on_kernel(void *user, const struct sim_kernel_record *k)
{
    const uint64_t words[] = {k->ticket, k->start_ps, k->end_ps};

    note(user, words, 3);
    note(user, (const uint64_t *)&k->counters, sizeof k->counters / sizeof *words);
}

static void on_transfer(void *user, const struct sim_transfer_record *t)
{
    const uint64_t words[] = {t->ticket,    t->array,    t->kind,   t->to_device,
                              t->queued_ps, t->start_ps, t->end_ps, t->bytes};

    note(user, words, 8);
}

static void watch(struct run *r)
{
    sim_set_sink(r->rig.m,
                 &(struct sim_sink){.user = r, .kernel = on_kernel, .transfer = on_transfer});
}

/* ---- machines ---- */

static uint32_t below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)rng_below(rng, bound);
}

static void random_config(struct sim_config *c, struct rng *rng)
{
    param_defaults(&sim_params, c);
    c->compute_units = 1 + below(rng, 4);
    c->wavefront_size = 8u << below(rng, 3);
    c->simds = 1;
    c->wave_slots = 8;
    c->launch_latency = 100 + below(rng, 2000);
    c->link_latency = 20 + below(rng, 1500);
    c->um_page_faults = true;
    c->um_page_bytes = (uint32_t)PAGE << below(rng, 2);
    c->dram_bytes = (uint64_t)c->um_page_bytes * (16 + below(rng, 3 * PAGES_MAX));
    c->um_fault_buffer = 1 + below(rng, 40);
    c->um_fault_batch = 1 + below(rng, 40);
    c->um_fault_latency = below(rng, 3000);
    c->um_fault_batch_cost = below(rng, 4000);
    c->um_fault_block_cost = below(rng, 2000);
    c->um_fault_page_cost = below(rng, 100);
    c->um_host_fault = below(rng, 4) ? below(rng, 3000) : 0;
    c->um_prefetch_tree = below(rng, 2);
    c->um_prefetch_leaf = (uint32_t)PAGE << below(rng, 3);
    c->link_duplex = below(rng, 4) != 0;
    c->copy_engines = 1 + below(rng, 2);
    c->l1_enabled = below(rng, 4) != 0;
    c->l1_write = below(rng, 4) ? L1_WRITE_THROUGH : L1_WRITE_BACK;
    c->l1_mshrs = 1u << below(rng, 7);
    c->concurrent_kernels = below(rng, 4) != 0;
}

static void open_run(struct run *r, enum variant v, struct rng *rng)
{
    memset(r, 0, sizeof *r);
    r->scratch = UINT32_MAX;
    random_config(&r->rig.config, rng);
    for (unsigned i = 0; i < ARRAYS; i++)
        r->bytes[i] = (1 + below(rng, PAGES_MAX)) * (uint64_t)r->rig.config.um_page_bytes -
                      4 * below(rng, 500);
    if (v == NO_FAULTS) {
        r->rig.config.um_page_faults = false;
        r->rig.config.dram_bytes = 1 << 24;
    }
    if (sim_new(&r->rig.config, ISA_BUILD_AUTO, &r->rig.m, &r->rig.err))
        fail_msg("%s", r->rig.err.message);
    watch(r);
    if (v == IN_STEP)
        sim_set_limits(r->rig.m, &(struct sim_limits){.no_run_ahead = true});
    if (v == VALUES)
        sim_set_mode(r->rig.m, SIM_VALUES);
    assert_int_equal(sim_queue_new(r->rig.m, &r->queue, &r->rig.err), HD_OK);
    for (unsigned i = 0; i < ARRAYS; i++)
        r->arrays[i] = krig_array(&r->rig, r->bytes[i]);
}

/* ---- programs ---- */

static const char *const names[ARRAYS] = {"x", "y", "z"};

/* Loads from anywhere, atomics that add 1 to x, stores of 7 to y: what is left does not hang on the order. */
static void random_access(struct text *t, struct rng *rng)
{
    static const uint32_t muls[] = {1, 1, 1, 3, 33, 257, 1031};
    uint32_t what = below(rng, 4), array = what == 2 ? 0 : what == 3 ? 1 : below(rng, ARRAYS);
    const char *name = names[array];

    text_add(t, "    v_mul_u32 v1, v0, %" PRIu32 "\n", muls[below(rng, 7)]);
    text_add(t, "    v_add_u32 v1, v1, %" PRIu32 "\n", below(rng, 5000));
    text_add(t, "    v_rem_u32 v1, v1, n%s\n", name);
    if (what < 2)
        text_add(t, "    global_load_b32 v%u, [%s + v1*4]\n", 8 + below(rng, 4), name);
    else if (what == 2)
        text_add(t, "    global_atomic_add_u32 [x + v1*4], v2\n");
    else
        text_add(t, "    global_store_b32 [y + v1*4], v3\n");
    if (below(rng, 3) == 0)
        text_add(t, "    v_add_u32 v12, v%u, v12\n", 8 + below(rng, 4));
    if (below(rng, 6) == 0)
        text_add(t, "    fence\n");
}

static void random_kernel(struct text *t, struct rng *rng)
{
    uint32_t count = 1 + below(rng, 8);

    text_add(t, ".kernel k\n.param x u32[]\n.param y u32[]\n.param z u32[]\n"
                ".param nx u32\n.param ny u32\n.param nz u32\n"
                "    v_get_u32 v0, %%gid\n    v_mov_b32 v2, 1\n    v_mov_b32 v3, 7\n");
    for (uint32_t i = 0; i < count; i++)
        random_access(t, rng);
    text_add(t, "    s_end\n.endkernel\n");
}

static void launch(struct run *r, struct rng *rng)
{
    struct krig_launch l = {.nargs = 6};
    struct text t = {0};

    random_kernel(&t, rng);
    l.text = text_str(&t);
    l.threads = 1 + below(rng, 64);
    l.groups = 1 + below(rng, 6);
    l.queue = below(rng, 2) ? r->queue : 0;
    for (unsigned i = 0; i < ARRAYS; i++) {
        l.args[i].is_array = true;
        l.args[i].value = r->arrays[i];
        l.args[3 + i].value = r->bytes[i] / 4;
    }
    krig_submit(&r->rig, &l);
    text_free(&t);
}

static void prefetch(struct run *r, struct rng *rng)
{
    uint32_t i = below(rng, ARRAYS), offset = below(rng, (uint32_t)r->bytes[i]);
    struct sim_cmd cmd = {.kind = SIM_PREFETCH,
                          .copy = {.array = r->arrays[i],
                                   .offset = offset,
                                   .bytes = 1 + below(rng, (uint32_t)r->bytes[i] - offset)}};
    uint64_t ticket;

    assert_int_equal(sim_submit(r->rig.m, below(rng, 2) ? r->queue : 0, &cmd, &ticket, &r->rig.err),
                     HD_OK);
}

/* The host reads; or writes, without a change of the values. It waits or goes on. */
static void touch(struct run *r, struct rng *rng)
{
    uint32_t i = below(rng, ARRAYS), offset = below(rng, (uint32_t)r->bytes[i]);
    struct sim_host_access h = {.array = r->arrays[i],
                                .offset = offset,
                                .bytes = 1 + below(rng, (uint32_t)r->bytes[i] - offset),
                                .write = below(rng, 2)};
    uint64_t ticket = sim_host_access(r->rig.m, &h);

    if (below(rng, 2) && ticket && sim_wait(r->rig.m, ticket, &r->rig.err))
        fail_msg("%s", r->rig.err.message);
}

/* Another array, of the device or managed and prefetched, is made if there is room, or else freed if nothing uses it. */
static void scratch(struct run *r, struct rng *rng)
{
    const struct sim_array_desc desc = {"s", 1 + below(rng, 12 * PAGE), 1,
                                        below(rng, 2) ? SIM_DEVICE : SIM_MANAGED};
    struct sim_cmd cmd = {.kind = SIM_PREFETCH, .copy = {.bytes = desc.bytes}};
    uint64_t ticket;

    if (r->scratch != UINT32_MAX) {
        if (sim_array_free(r->rig.m, r->scratch, &r->rig.err) == HD_OK)
            r->scratch = UINT32_MAX;
        return;
    }
    if (sim_array_new(r->rig.m, &desc, &r->scratch, &r->rig.err)) {
        r->scratch = UINT32_MAX;
        return;
    }
    if (desc.kind == SIM_DEVICE)
        return;
    sim_host_access(r->rig.m, &(struct sim_host_access){
                                  .array = r->scratch, .bytes = desc.bytes, .write = true});
    cmd.copy.array = r->scratch;
    assert_int_equal(sim_submit(r->rig.m, r->queue, &cmd, &ticket, &r->rig.err), HD_OK);
}

static void check_room(const struct run *r)
{
    uint64_t device = 0;

    for (unsigned i = 0; i < ARRAYS; i++) {
        struct sim_residency s;

        sim_array_residency(r->rig.m, r->arrays[i], &s);
        device += s.device + s.both;
    }
    if (r->scratch != UINT32_MAX) {
        struct sim_residency s;

        sim_array_residency(r->rig.m, r->scratch, &s);
        device += s.device + s.both;
    }
    assert_int_equal(device * r->rig.config.um_page_bytes, r->rig.m->memory.device_bytes);
    assert_true(r->rig.m->memory.device_bytes <= r->rig.config.dram_bytes);
}

/* Goes on with a copy in place of the machine. */
static void move_to_copy(struct run *r)
{
    struct sim_machine *copy;

    assert_int_equal(sim_copy(r->rig.m, &copy, &r->rig.err), HD_OK);
    sim_free(r->rig.m);
    r->rig.m = copy;
    watch(r);
}

static void step(struct run *r, struct rng *rng, enum variant v)
{
    uint32_t what = below(rng, 12);
    uint64_t until = sim_now(r->rig.m) + (below(rng, 2) ? 997 * below(rng, 4000) : 0);

    if (what < 4 && r->rig.nprograms < 10)
        launch(r, rng);
    else if (what < 6)
        prefetch(r, rng);
    else if (what < 9)
        touch(r, rng);
    else if (what < 11)
        scratch(r, rng);
    else
        sim_array_advise(r->rig.m, r->arrays[below(rng, ARRAYS)],
                         below(rng, 2) ? SIM_ADVISE_READ_MOSTLY : SIM_ADVISE_NONE);
    if (v == COPIED && below(rng, 2))
        move_to_copy(r);
    else if (v != COPIED)
        below(rng, 2);
    if (sim_run_until(r->rig.m, until, &r->rig.err))
        fail_msg("%s", r->rig.err.message);
    if (v != NO_FAULTS)
        check_room(r);
}

static void play(struct run *r, uint64_t seed, enum variant v)
{
    struct rng rng;

    rng_seed(&rng, seed);
    open_run(r, v, &rng);
    for (unsigned i = 0; i < STEPS; i++)
        step(r, &rng, v);
    if (sim_wait(r->rig.m, 0, &r->rig.err))
        fail_msg("case %" PRIu64 ": %s", seed, r->rig.err.message);
}

/* ---- checks ---- */

static void check_end(struct run *r)
{
    const struct memory *mem = &r->rig.m->memory;

    assert_int_equal(mem->moves.len, 0);
    assert_int_equal(mem->host_faults.len, 0);
    assert_int_equal(mem->evictions, 0);
    for (unsigned i = 0; i < ARRAYS; i++) {
        const struct sim_array *a = &mem->arrays.at[r->arrays[i]];

        assert_int_equal(a->pinned, 0);
        assert_int_equal(a->inbound, 0);
        assert_int_equal(a->outbound, 0);
        assert_int_equal(a->absent, a->npages - a->device_pages);
        assert_int_equal(a->in_step, (a->watch & WATCH_LOADS) != 0);
    }
}

static void same_records(const struct run *a, const struct run *b, uint64_t seed, const char *what)
{
    size_t i = 0;

    while (i < a->nseen && i < b->nseen && a->seen[i] == b->seen[i])
        i++;
    if (i < a->nseen || i < b->nseen)
        fail_msg("case %" PRIu64 ": %s makes a difference in word %zu of the records: %" PRIu64
                 ", %" PRIu64 " with it",
                 seed, what, i, b->seen[i], a->seen[i]);
}

static void same_values(struct run *a, struct run *b, uint64_t seed, const char *what)
{
    for (unsigned i = 0; i < ARRAYS; i++)
        if (memcmp(sim_array_data(a->rig.m, a->arrays[i]), sim_array_data(b->rig.m, b->arrays[i]),
                   a->bytes[i]) != 0)
            fail_msg("case %" PRIu64 ": %s changes array %s", seed, what, names[i]);
}

static void one_case(uint64_t seed, uint64_t reach[5])
{
    static const char *const what[VARIANTS] = {"", "running ahead", "a copy", "no time",
                                               "no page faults"};
    struct run *runs = calloc(VARIANTS, sizeof *runs);
    struct sim_um_totals t;

    assert_non_null(runs);
    for (unsigned v = 0; v < VARIANTS; v++)
        play(&runs[v], seed, (enum variant)v);
    check_end(&runs[AHEAD]);
    for (unsigned v = 1; v < VARIANTS; v++) {
        same_values(&runs[0], &runs[v], seed, what[v]);
        if (v <= COPIED)
            same_records(&runs[0], &runs[v], seed, what[v]);
    }
    sim_um_totals(runs[0].rig.m, &t);
    reach[0] += t.page_faults;
    reach[1] += t.fault_duplicates;
    reach[2] += t.evictions;
    reach[3] += t.write_backs;
    reach[4] += t.fault_batches;
    for (unsigned v = 0; v < VARIANTS; v++)
        krig_close(&runs[v].rig);
    free(runs);
}

static void test_random_programs(void **state)
{
    static const char *const names_of[5] = {"faults", "duplicates", "evictions", "write-backs",
                                            "batches"};
    uint64_t count = test_count(60), first = test_seed(1), reach[5] = {0};

    (void)state;
    printf("cases %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
    for (uint64_t i = 0; i < count; i++)
        one_case(first + i, reach);
    for (unsigned i = 0; i < 5; i++) {
        printf("%" PRIu64 " %s\n", reach[i], names_of[i]);
        assert_true(reach[i] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
    };

    return cmocka_run_group_tests_name("um_random", tests, NULL, NULL);
}
