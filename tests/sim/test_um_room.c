/* Which arrays go on a device without page faults: against a search through all of them. */
#include "tests/sim/rig.h"
#include "sim/base/rng.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ARRAYS = 24, DEVICE = 64, QUEUES = 2, STEPS = 400 };

struct model {
    struct rig *r;
    uint32_t ids[ARRAYS];
    uint64_t pages[ARRAYS], there[ARRAYS], use[ARRAYS];
    int32_t attached[ARRAYS];
    uint64_t queue_use[QUEUES + 1], clock; /* globally, then by queue */
};

static const uint64_t *attached_use(const struct model *k, unsigned i)
{
    return k->attached[i] == SIM_ATTACH_HOST ? &k->use[i]
                                             : &k->queue_use[k->attached[i] - SIM_ATTACH_GLOBAL];
}

static uint64_t last_use(const struct model *k, unsigned i)
{
    return *attached_use(k, i) > k->use[i] ? *attached_use(k, i) : k->use[i];
}

static bool sees(const struct model *k, unsigned i, uint32_t queue, uint64_t args)
{
    return (args >> i & 1) || k->attached[i] == SIM_ATTACH_GLOBAL ||
           k->attached[i] == (int32_t)queue;
}

/* On the device once the launch has what it sees. */
static uint64_t pages_after(const struct model *k, uint32_t queue, uint64_t args)
{
    uint64_t pages = 0;

    for (unsigned i = 0; i < ARRAYS; i++)
        pages += sees(k, i, queue, args) ? k->pages[i] : k->there[i];
    return pages;
}

static uint64_t pages_seen(const struct model *k, uint32_t queue, uint64_t args)
{
    uint64_t pages = 0;

    for (unsigned i = 0; i < ARRAYS; i++)
        pages += sees(k, i, queue, args) ? k->pages[i] : 0;
    return pages;
}

static void evict_one(struct model *k, uint32_t queue, uint64_t args, uint64_t excess)
{
    unsigned oldest = ARRAYS;

    for (unsigned i = 0; i < ARRAYS; i++)
        if (k->there[i] > 0 && !sees(k, i, queue, args) &&
            (oldest == ARRAYS || last_use(k, i) < last_use(k, oldest)))
            oldest = i;
    assert_true(oldest < ARRAYS);
    k->there[oldest] -= excess < k->there[oldest] ? excess : k->there[oldest];
}

static void model_launch(struct model *k, uint32_t queue, uint64_t args)
{
    k->clock++;
    k->queue_use[0] = k->queue_use[queue + 1] = k->clock;
    for (unsigned i = 0; i < ARRAYS; i++)
        if (args >> i & 1)
            k->use[i] = k->clock;
    while (pages_after(k, queue, args) > DEVICE)
        evict_one(k, queue, args, pages_after(k, queue, args) - DEVICE);
    for (unsigned i = 0; i < ARRAYS; i++)
        k->there[i] = sees(k, i, queue, args) ? k->pages[i] : k->there[i];
}

static void launch(struct model *k, struct rng *rng)
{
    uint32_t queue = (uint32_t)rng_below(rng, QUEUES), ids[ARRAYS], n = 0;
    uint64_t args = 0;

    for (uint64_t most = 1 + rng_below(rng, 4); n < most;) {
        unsigned i = (unsigned)rng_below(rng, ARRAYS);

        if (args >> i & 1)
            continue;
        args |= UINT64_C(1) << i;
        ids[n++] = k->ids[i];
    }
    if (pages_seen(k, queue, args) > DEVICE)
        return;
    rig_run(k->r, rig_launch(k->r, queue, 1, ids, n, 0));
    model_launch(k, queue, args);
}

static void attach(struct model *k, unsigned i, int32_t to)
{
    k->use[i] = last_use(k, i);
    k->attached[i] = to;
    sim_array_attach(&k->r->m, k->ids[i], to);
}

static void make(struct model *k, struct rng *rng, unsigned i)
{
    k->pages[i] = 1 + rng_below(rng, 8);
    k->ids[i] = rig_array(k->r, "a", SIM_MANAGED, k->pages[i] * PAGE);
    k->there[i] = k->use[i] = 0;
    k->attached[i] = SIM_ATTACH_HOST;
}

static void step(struct model *k, struct rng *rng)
{
    unsigned i = (unsigned)rng_below(rng, ARRAYS);

    switch (rng_below(rng, 8)) {
    case 0:
        attach(k, i, rng_below(rng, 3) ? SIM_ATTACH_HOST : SIM_ATTACH_GLOBAL);
        break;
    case 1:
        attach(k, i, (int32_t)rng_below(rng, QUEUES));
        break;
    case 2:
        assert_int_equal(sim_array_free(&k->r->m, k->ids[i], NULL), HD_OK);
        make(k, rng, i);
        break;
    default:
        launch(k, rng);
    }
}

/* Arrays of one age go in the order of their ids, which are the numbers in the model. */
static void test_the_oldest_go(void **state)
{
    const uint64_t first = test_seed(1);
    struct sim_config c = rig_config();

    (void)state;
    c.dram_bytes = DEVICE * PAGE;
    for (uint64_t n = 0; n < test_count(20); n++) {
        struct model k = {.r = rig_open(&c)};
        struct rng rng;

        print_message("seed %llu\n", (unsigned long long)(first + n));
        rng_seed(&rng, first + n);
        assert_int_equal(rig_queue(k.r), 1);
        for (unsigned i = 0; i < ARRAYS; i++)
            make(&k, &rng, i);
        for (unsigned i = 0; i < STEPS; i++) {
            step(&k, &rng);
            for (unsigned j = 0; j < ARRAYS; j++)
                assert_int_equal(rig_residency(k.r, k.ids[j]).device, k.there[j]);
        }
        rig_close(k.r);
    }
}

/* x is the oldest but in use while two others go; then it is the next. */
static void test_what_is_in_use_keeps_its_place(void **state)
{
    struct sim_config c = rig_config();
    struct rig *r;
    uint32_t ids[7];
    uint64_t running;

    (void)state;
    c.dram_bytes = 4 * PAGE;
    r = rig_open(&c);
    for (unsigned i = 0; i < 7; i++)
        ids[i] = rig_array(r, "a", SIM_MANAGED, PAGE);
    running = rig_launch(r, rig_queue(r), UINT64_C(1000000000), ids, 1, 0);
    for (unsigned i = 1; i < 6; i++)
        rig_run(r, rig_launch(r, 0, 1, &ids[i], 1, 0));
    assert_false(sim_done(&r->m, running));
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(rig_residency(r, ids[i]).device, i != 1 && i != 2);
    rig_run(r, running);
    rig_run(r, rig_launch(r, 0, 1, &ids[6], 1, 0));
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(rig_residency(r, ids[i]).device, i > 2);
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_oldest_go),
        cmocka_unit_test(test_what_is_in_use_keeps_its_place),
    };

    return cmocka_run_group_tests_name("um room", tests, NULL, NULL);
}
