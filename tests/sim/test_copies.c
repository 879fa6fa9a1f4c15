/*
 * Copies on a whole machine, beside kernels: tests/sim/test_link.c has the copy engines alone. The rates are those of
 * configs/p100.json; a byte takes no whole number of picoseconds, and times are rounded down.
 */
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 4 };

#define LATENCY_PS UINT64_C(1500000)
#define H2D_RATE UINT64_C(11700000000)
#define D2H_RATE UINT64_C(12900000000)

struct copies {
    struct krig r;
    uint32_t in, out, queue[3];
    uint32_t *host_in, *host_out;
};

static uint32_t device_array(struct krig *r, const char *name)
{
    const struct sim_array_desc desc = {name, BYTES, 4, SIM_DEVICE};
    uint32_t id;

    assert_int_equal(sim_array_new(r->m, &desc, &id, &r->err), HD_OK);
    return id;
}

static void copies_open(struct copies *c)
{
    krig_open(&c->r, "compute_units", "4", "link.latency_ns", "1500", "link.h2d_bytes_per_second",
              "11700000000", "link.d2h_bytes_per_second", "12900000000", NULL);
    c->in = device_array(&c->r, "in");
    c->out = device_array(&c->r, "out");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sim_queue_new(c->r.m, &c->queue[i], &c->r.err), HD_OK);
    c->host_in = calloc(WORDS, sizeof *c->host_in);
    c->host_out = calloc(WORDS, sizeof *c->host_out);
    assert_non_null(c->host_in);
    assert_non_null(c->host_out);
    for (uint32_t i = 0; i < WORDS; i++)
        c->host_in[i] = 3 * i + 1;
}

static void copies_close(struct copies *c)
{
    krig_close(&c->r);
    free(c->host_in);
    free(c->host_out);
}

static uint64_t copy(struct copies *c, uint32_t queue, enum sim_cmd_kind kind, uint64_t bytes)
{
    bool in = kind == SIM_COPY_H2D;
    const struct sim_cmd cmd = {.kind = kind,
                                .copy = {.array = in ? c->in : c->out,
                                         .bytes = bytes,
                                         .host = in ? c->host_in : c->host_out,
                                         .pinned = true}};
    uint64_t ticket;

    assert_int_equal(sim_submit(c->r.m, queue, &cmd, &ticket, &c->r.err), HD_OK);
    return ticket;
}

/* out = 2 in */
static uint64_t twice(struct copies *c, uint32_t queue)
{
    static const char text[] = ".kernel twice\n.param in u32[]\n.param out u32[]\n"
                               " v_get_u32 v0, %gid\n global_load_b32 v1, [in + v0*4]\n"
                               " v_add_u32 v1, v1, v1\n global_store_b32 [out + v0*4], v1\n"
                               " s_end\n.endkernel\n";

    return krig_submit(&c->r,
                       &(struct krig_launch){.text = text,
                                             .groups = WORDS / 256,
                                             .threads = 256,
                                             .queue = queue,
                                             .nargs = 2,
                                             .args = {KRIG_ARRAY(c->in), KRIG_ARRAY(c->out)}});
}

static void finish(struct copies *c, uint64_t ticket)
{
    assert_int_equal(sim_wait(c->r.m, ticket, &c->r.err), HD_OK);
}

/* What a copy takes from an idle engine on; bytes * 10^12 fits 64 bits for what is copied here. */
static uint64_t copy_ps(uint64_t bytes, uint64_t rate)
{
    return LATENCY_PS + bytes * UINT64_C(1000000000000) / rate;
}

static void a_copy_takes_latency_and_bytes_over_rate(void **state)
{
    static const uint64_t sizes[] = {0, 4, 4096, 12345, BYTES};
    struct copies c;

    (void)state;
    copies_open(&c);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t start_ps = sim_now(c.r.m), middle_ps;

        finish(&c, copy(&c, 0, SIM_COPY_H2D, sizes[i]));
        middle_ps = sim_now(c.r.m);
        assert_int_equal(middle_ps - start_ps, copy_ps(sizes[i], H2D_RATE));
        finish(&c, copy(&c, 0, SIM_COPY_D2H, sizes[i]));
        assert_int_equal(sim_now(c.r.m) - middle_ps, copy_ps(sizes[i], D2H_RATE));
    }
    assert_int_equal(c.r.ntransfers, 2 * (sizeof sizes / sizeof *sizes));
    copies_close(&c);
}

/* Copy in, kernel, copy out on one queue: each begins when the one before it is over, and the values are those of the order. */
static void one_queue_is_the_sum(void **state)
{
    const struct sim_transfer_record *in, *out;
    const struct sim_kernel_record *k;
    struct copies c;

    (void)state;
    copies_open(&c);
    copy(&c, 0, SIM_COPY_H2D, BYTES);
    twice(&c, 0);
    copy(&c, 0, SIM_COPY_D2H, BYTES);
    finish(&c, 0);
    in = &c.r.transfers[0];
    out = &c.r.transfers[1];
    k = &c.r.kernels[0];
    assert_int_equal(in->end_ps, copy_ps(BYTES, H2D_RATE));
    assert_int_equal(k->start_ps - in->end_ps,
                     1000000); /* launch.latency_ns; an edge of a clock of 1 GHz */
    assert_int_equal(out->start_ps, k->end_ps);
    assert_int_equal(out->end_ps - out->start_ps, copy_ps(BYTES, D2H_RATE));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(c.host_out[i], 2 * c.host_in[i]);
    copies_close(&c);
}

/* Both directions and a kernel, on three queues: each takes what it takes alone. */
static void both_directions_and_a_kernel_overlap(void **state)
{
    uint64_t alone_ps;
    struct copies c;

    (void)state;
    copies_open(&c);
    finish(&c, twice(&c, c.queue[2]));
    alone_ps = c.r.kernels[0].end_ps - c.r.kernels[0].queued_ps;
    copies_close(&c);

    copies_open(&c);
    copy(&c, c.queue[0], SIM_COPY_H2D, BYTES);
    copy(&c, c.queue[1], SIM_COPY_D2H, BYTES);
    twice(&c, c.queue[2]);
    finish(&c, 0);
    assert_int_equal(c.r.kernels[0].end_ps - c.r.kernels[0].queued_ps, alone_ps);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(c.r.transfers[i].end_ps,
                         copy_ps(BYTES, c.r.transfers[i].to_device ? H2D_RATE : D2H_RATE));
    assert_int_equal(sim_now(c.r.m), copy_ps(BYTES, H2D_RATE)); /* the slowest */
    copies_close(&c);
}

/* A wait for one of them stops at its end, while the other is under way. */
static void a_wait_stops_at_its_copy(void **state)
{
    struct copies c;
    uint64_t in, out;

    (void)state;
    copies_open(&c);
    in = copy(&c, c.queue[0], SIM_COPY_H2D, BYTES);
    out = copy(&c, c.queue[1], SIM_COPY_D2H, BYTES / 2);
    finish(&c, out);
    assert_int_equal(sim_now(c.r.m), copy_ps(BYTES / 2, D2H_RATE));
    assert_false(sim_done(c.r.m, in));
    finish(&c, in);
    assert_int_equal(sim_now(c.r.m), copy_ps(BYTES, H2D_RATE));
    copies_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_takes_latency_and_bytes_over_rate),
        cmocka_unit_test(one_queue_is_the_sum),
        cmocka_unit_test(both_directions_and_a_kernel_overlap),
        cmocka_unit_test(a_wait_stops_at_its_copy),
    };

    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
