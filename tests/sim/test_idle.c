/*
 * Time in which nothing happens costs nothing, however long it is and however large the machine; counted by the times at which
 * the machine did something.
 */
#include "sim/machine.h"
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000000)

static const char adds[] =
    ".kernel k\n.param x u32[]\n v_get_u32 v0, %gid\n global_load_b32 v1, [x + v0*4]\n"
    " v_add_u32 v1, v1, 1\n global_store_b32 [x + v0*4], v1\n s_end\n.endkernel\n";

/* Kernels before and after a million seconds take the same, and the wait between does nothing at all. */
static void test_an_idle_machine(void **state)
{
    static const char *const units[] = {"1", "1024"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct krig_launch l = {.text = adds, .groups = 8, .threads = 64, .nargs = 1};
        uint64_t first, served;
        struct krig r;

        krig_open(&r, "compute_units", units[i], NULL);
        l.args[0].is_array = true;
        l.args[0].value = krig_array(&r, 4096);
        krig_run(&r, &l);
        first = krig_cycles(krig_run(&r, &l));
        served = r.m->served;
        assert_int_equal(sim_run_until(r.m, r.m->now_ps + SECOND, &r.err), HD_OK);
        assert_int_equal(sim_run_until(r.m, r.m->now_ps + 1000000 * SECOND, &r.err), HD_OK);
        assert_int_equal(r.m->served, served);
        assert_int_equal(krig_cycles(krig_run(&r, &l)), first);
        krig_close(&r);
    }
}

/* A kernel that waits a second for its array: two moves, and what a launch does. */
static void test_a_wait_for_the_link(void **state)
{
    struct krig_launch l = {.text = adds, .groups = 8, .threads = 64, .nargs = 1};
    uint64_t served, start;
    struct krig r;

    (void)state;
    krig_open(&r, "compute_units", "1024", "link.h2d_bytes_per_second", "1000000", "um.chunk_bytes",
              "524288", NULL);
    l.args[0].is_array = true;
    l.args[0].value = krig_array(&r, 1 << 20);
    sim_host_access(r.m, &(struct sim_host_access){
                             .array = (uint32_t)l.args[0].value, .bytes = 1 << 20, .write = true});
    served = r.m->served;
    start = r.m->now_ps;
    krig_run(&r, &l);
    assert_true(r.m->now_ps - start > SECOND);
    assert_in_range(r.m->served - served, 1, 200);
    krig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_idle_machine),
        cmocka_unit_test(test_a_wait_for_the_link),
    };

    return cmocka_run_group_tests_name("idle", tests, NULL, NULL);
}
