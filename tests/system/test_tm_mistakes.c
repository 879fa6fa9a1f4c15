/* The checks of workloads/tm find mistakes put into its kernels. */
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct workload_mistake mistakes[] = {
    /* results that the section leaves out or gets wrong */
    {"bank", "bank", "variant=serial groups=1 items=40", "@m3 local_store_b32 [v9], v11",
     "@m3 local_store_b32 [v8], v11"},
    {"colouring", "colouring", "variant=serial groups=1 items=40", "v_not_b32 v12, v12",
     "v_mov_b32 v12, v12"},
    {"colouring", "colouring", "variant=serial groups=1 items=40 vertices=100",
     "v_cmp_lt_u32 m1, v9, vertices", "v_cmp_lt_u32 m1, v9, %threads_x"},
    {"counter", "counter", "variant=atomic groups=1 items=40", "s_cmp_lt_u32 s34, s30, rounds",
     "s_cmp_le_u32 s34, s30, rounds"},
    {"disjoint", "disjoint", "variant=none groups=1 items=40", "v_mul_u32 v8, v0, s32",
     "v_mul_u32 v8, v2, s32"},
    {"hash", "hash", "variant=serial groups=1 items=40", "@m3 local_store_b32 [v9 + 4], v12",
     "@m3 local_store_b32 [v9 + 4], v10"},
    {"hash", "hash", "variant=serial groups=1 items=40", "@m3 local_store_b32 [v9], v11",
     "@m3 local_store_b32 [v9], v10"},
    {"kmeans", "kmeans", "variant=serial groups=1 items=40", "v_cmp_lt_u32 m0, v11, v10",
     "v_cmp_gt_u32 m0, v11, v10"},
    {"list", "list", "variant=serial groups=1 items=40", "v_cmp_lt_u32 m0, v11, v12",
     "v_cmp_gt_u32 m0, v11, v12"},
    {"list", "list", "variant=serial groups=1 items=40", "v_cmp_eq_u32 m0, v11, v12",
     "v_cmp_ge_u32 m0, v11, v12"},
    {"lookup", "lookup", "variant=none groups=1 items=40", "v_cmp_le_u32 m0, v16, v8",
     "v_cmp_lt_u32 m0, v16, v8"},
    {"lookup", "lookup", "variant=serial groups=1 items=40 reads=50", "v_add_u32 v13, v11, 1",
     "v_add_u32 v13, v11, 0"},
    {"synthetic", "synthetic", "variant=serial groups=1 items=40", "m_and m5, m5, m3",
     "m_mov m5, m5"},
    {"vacation", "vacation", "variant=serial groups=1 items=40", "v_cmp_ne_u32 m5, v17, 0",
     "v_cmp_eq_u32 m5, v17, 0"},
    {"vacation", "vacation", "variant=serial groups=1 items=40", "@m0 local_store_b32 [v9], v17",
     "@m1 local_store_b32 [v9], v17"},
    {"vacation", "vacation", "variant=serial groups=1 items=40", "better \\row, 2, v16, v12",
     "better \\row, 1, v16, v12"},

    /* locks that are not the right ones, or no locks */
    {"bank", "bank", "variant=fine groups=1 items=64 accounts=8", "v_min_u32 v12, v8, v9",
     "v_max_u32 v12, v8, v9"},
    {"bank", "bank", "variant=fine groups=1 items=64 accounts=8", "    free_lock v13, 1\n", ""},
    {"bank", "bank", "variant=atomic groups=1 items=64", "bank atomic, sync_none, move",
     "bank atomic, sync_none, transfer"},
    {"colouring", "colouring", "variant=fine groups=1 items=64", "    next_slot take\\@\n", ""},
    {"counter", "counter", "variant=fine groups=1 items=64", "sync_lock \\body, v6",
     "sync_none \\body"},
    {"hash", "hash", "variant=fine groups=1 items=64 buckets=4", "sync_lock \\body, v6",
     "sync_none \\body"},
    {"hash", "hash", "variant=atomic groups=1 items=64 buckets=4",
     "local_atomic_exch_b32_rtn v12, [v8], v10", "local_atomic_add_u32_rtn v12, [v8], v10"},
    {"kmeans", "kmeans", "variant=fine groups=1 items=64", "sync_lock \\body, v6",
     "sync_none \\body"},
    {"list", "list", "variant=fine groups=1 items=64", "    @m0 local_store_b32 [v17], v1\n", ""},
    {"list", "list", "variant=fine groups=1 items=64 reads=0", "m_and m4, m4, m0", "m_mov m4, m4"},
    {"list", "list", "variant=atomic groups=1 items=64 reads=0", "v_cmp_ne_u32 m0, v3, v10",
     "m_mov m0, 0"},
    {"lookup", "lookup", "variant=fine groups=1 items=64 entries=4 reads=0", "sync_lock \\body, v6",
     "sync_none \\body"},
    {"synthetic", "synthetic", "variant=fine groups=1 items=64 hot=4 cold=0", "    try_lock v30\n",
     ""},
    {"vacation", "vacation", "variant=fine groups=1 items=64 relations=4",
     "    each_row take_row\n", ""},
};

static void test_checks_find_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        workload_find_mistake_in("workloads/tm", &mistakes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks_find_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
