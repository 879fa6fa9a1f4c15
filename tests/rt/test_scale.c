/*
 * Many live computations: the work of an append and the memory of a vertex do not grow with their number. Work is
 * counted in uses and vertices looked at, so that the test does not depend on the machine's mood.
 */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

enum { COUNT = 100000, MAX_VERTEX_BYTES = 512 };

struct load {
    struct rig *r;
    hd_kernel *kernel;
    struct hd_arg args[4];
    size_t max_live, max_bytes;
};

static void start_load(struct load *l, const char *settings, const char *modes)
{
    struct hd_recorder none = {0};

    *l = (struct load){.r = rig_new(settings)};
    hd_set_recorder(l->r->rt, &none);
    l->kernel = rig_kernel(l->r, modes);
}

static void set_arg(struct load *l, unsigned i, const char *array)
{
    l->args[i] = (struct hd_arg){HD_ARG_ARRAY, {.array = rig_array(l->r, array)}};
}

static void launch(struct load *l, hd_kernel *kernel)
{
    struct hd_launch launch = {.kernel = kernel,
                               .grid = {1, 0, 0},
                               .block = {64, 0, 0},
                               .args = l->args,
                               .nargs = hd_kernel_params(kernel)};

    assert_int_equal(hd_launch_kernel(l->r->rt, &launch, NULL), HD_OK);
    if (l->r->rt->dag.nlive > l->max_live)
        l->max_live = l->r->rt->dag.nlive;
    if (l->r->rt->dag.bytes > l->max_bytes)
        l->max_bytes = l->r->rt->dag.bytes;
}

static void read_array(struct load *l, const char *array)
{
    void *data;

    assert_int_equal(hd_array_access(l->r->rt, rig_array(l->r, array), 0, 1, HD_READ, &data, NULL),
                     HD_OK);
}

static void end_load(struct load *l, size_t launches, uint64_t max_steps)
{
    const struct dag *d = &l->r->rt->dag;

    assert_true(d->steps <= max_steps);
    assert_true(l->max_bytes <= l->max_live * MAX_VERTEX_BYTES);
    assert_true(l->max_live <= launches);
    assert_int_equal(hd_finish(l->r->rt, NULL), HD_OK);
    assert_int_equal(d->nlive, 0);
    assert_int_equal(d->bytes, 0);
    rig_free(l->r);
}

static void test_a_chain(void **state)
{
    struct load l;

    (void)state;
    start_load(&l, "", "rw");
    set_arg(&l, 0, "weights");
    set_arg(&l, 1, "x");
    for (int i = 0; i < COUNT; i++)
        launch(&l, l.kernel);
    assert_int_equal(l.max_live, COUNT);
    end_load(&l, COUNT, 2 * COUNT);
}

static void test_concurrent_readers(void **state)
{
    struct load l;
    hd_kernel *writer;

    (void)state;
    start_load(&l, "host.max_streams=32", "r");
    writer = rig_kernel(l.r, "w");
    set_arg(&l, 0, "x");
    launch(&l, writer);
    for (int i = 0; i < COUNT; i++)
        launch(&l, l.kernel);
    assert_int_equal(l.max_live, COUNT + 1);
    assert_int_equal(l.r->rt->streams.automatic, 32);
    launch(&l, writer); /* waits for all of them, and not for the first writer */
    assert_int_equal(l.r->rt->dag.edges.len, COUNT);
    assert_int_equal(l.r->rt->dag.nfrontier, 1);
    end_load(&l, COUNT + 2, 4 * COUNT);
}

static void test_a_read_every_ten_keeps_memory_flat(void **state)
{
    struct load l;

    (void)state;
    start_load(&l, "", "rw");
    set_arg(&l, 0, "weights");
    set_arg(&l, 1, "x");
    for (int i = 0; i < COUNT; i++) {
        launch(&l, l.kernel);
        if (i % 10 == 9)
            read_array(&l, "x");
    }
    assert_true(l.max_live <= 10);
    assert_true(l.r->rt->streams.automatic <= 1);
    assert_true(fake_queues_in_use(l.r->machine) <= 2); /* streams of always-new come and go */
    end_load(&l, COUNT, 2 * COUNT);
}

/* Each step of a long chain has a reader that also reads what a very old kernel wrote: the filter must not walk the chain. */
static void test_old_ancestors(void **state)
{
    enum { STEPS = 20000 };
    static const char *const names[2] = {"even", "odd"};
    struct load l;
    hd_kernel *init, *side;

    (void)state;
    start_load(&l, "host.max_streams=8", "rw");
    init = rig_kernel(l.r, "w");
    side = rig_kernel(l.r, "rrw");
    set_arg(&l, 0, "weights");
    launch(&l, init);
    for (int i = 0; i < STEPS; i++) {
        set_arg(&l, 0, names[i % 2]);
        set_arg(&l, 1, names[1 - i % 2]);
        launch(&l, l.kernel);
        set_arg(&l, 0, "weights");
        set_arg(&l, 1, names[1 - i % 2]);
        set_arg(&l, 2, "log");
        launch(&l, side);
    }
    end_load(&l, 2 * STEPS + 1, 20 * STEPS);
}

/*
 * A chain in which each link has an array of its own, and a reader of each link that also reads what an old kernel
 * wrote. Nothing leads from that kernel to the chain: the filter must see that without walking it.
 */
static void test_old_strangers(void **state)
{
    enum { STEPS = 5000 };
    struct load l;
    hd_kernel *init, *side;
    hd_array *link;

    (void)state;
    start_load(&l, "host.max_streams=8", "rw");
    init = rig_kernel(l.r, "w");
    side = rig_kernel(l.r, "rr");
    set_arg(&l, 0, "link0");
    launch(&l, init); /* the chain is older than the stranger */
    link = l.args[0].as.array;
    set_arg(&l, 0, "weights");
    launch(&l, init);
    for (int i = 0; i < STEPS; i++) {
        l.args[0].as.array = link;
        assert_int_equal(hd_array_new(l.r->rt, T_F32, 1, NULL, &link, NULL), HD_OK);
        l.args[1].as.array = link;
        launch(&l, l.kernel);
        set_arg(&l, 0, "weights");
        launch(&l, side);
        assert_int_equal(l.r->rt->dag.edges.len, 2);
    }
    end_load(&l, 2 * STEPS + 2, 20 * STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chain),
        cmocka_unit_test(test_concurrent_readers),
        cmocka_unit_test(test_a_read_every_ten_keeps_memory_flat),
        cmocka_unit_test(test_old_ancestors),
        cmocka_unit_test(test_old_strangers),
    };

    return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
