/* Shapes and limits of launches: PB-10 (ids), PB-11 (local memory), PB-12 (occupancy). */
#include "sim/base/rng.h"
#include "sim/dispatch.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- ids ---- */

static const char ids[] =
    ".kernel k\n.param items u32[]\n.param groups u32[]\n"
    " v_get_u32 v0, %gid\n v_get_u32 v1, %tid_x\n v_get_u32 v2, %tid_y\n v_get_u32 v3, %tid_z\n"
    " v_mad_u32 v4, v2, 100, v1\n v_mad_u32 v4, v3, 10000, v4\n global_store_b32 [items + v0*4], "
    "v4\n"
    " v_mov_b32 v1, %group_x\n v_mov_b32 v2, %group_y\n v_mov_b32 v3, %group_z\n"
    " v_mad_u32 v4, v2, 100, v1\n v_mad_u32 v4, v3, 10000, v4\n global_store_b32 [groups + v0*4], "
    "v4\n"
    " s_end\n.endkernel\n";

/* A place in a box, x fastest, written as x + 100 y + 10000 z. */
static uint32_t place(uint32_t flat, const uint32_t size[3])
{
    return flat % size[0] + 100 * (flat / size[0] % size[1]) + 10000 * (flat / size[0] / size[1]);
}

static void test_pb10_ids(void **state)
{
    static const struct krig_launch shapes[] = {
        {.grid = {3, 2, 2}, .block = {8, 8, 2}},
        {.grid = {1, 1, 1}, .block = {5, 3, 1}},
        {.grid = {2, 1, 3}, .block = {1, 7, 5}},
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        struct krig_launch l = shapes[i / 2];
        uint32_t items = l.block[0] * l.block[1] * l.block[2],
                 all = items * l.grid[0] * l.grid[1] * l.grid[2];
        const uint32_t *item, *group;
        struct krig r;

        krig_open(&r, "wavefront_size", "64", NULL);
        if (i % 2)
            sim_set_mode(r.m, SIM_VALUES);
        l.text = ids;
        l.nargs = 2;
        for (unsigned k = 0; k < 2; k++) {
            l.args[k].is_array = true;
            l.args[k].value = krig_array(&r, all * 4);
        }
        krig_run(&r, &l);
        item = sim_array_data(r.m, (uint32_t)l.args[0].value);
        group = sim_array_data(r.m, (uint32_t)l.args[1].value);
        for (uint32_t k = 0; k < all; k++) {
            assert_int_equal(item[k], place(k % items, l.block));
            assert_int_equal(group[k], place(k / items, l.grid));
        }
        /* 14 instructions; what is past the last item is not a lane. */
        assert_int_equal(r.kernels[0].counters.lane_instr, 14u * all);
        krig_close(&r);
    }
}

/* The same of random shapes, in wavefronts of every width. */
static void test_pb10_random_shapes(void **state)
{
    static const char *const widths[] = {"8", "16", "32", "64"};
    uint64_t seed = test_seed(20261130), count = test_count(40);
    struct rng g;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    rng_seed(&g, seed);
    for (uint64_t i = 0; i < count; i++) {
        struct krig_launch l = {.text = ids, .nargs = 2};
        uint32_t room = 256, items = 1, all;
        const uint32_t *item, *group;
        struct krig r;

        for (unsigned k = 0; k < 3; k++) {
            unsigned axis = (unsigned)(i + k) % 3;

            l.block[axis] = 1 + (uint32_t)rng_below(&g, room);
            room /= l.block[axis];
            items *= l.block[axis];
            l.grid[axis] = 1 + (uint32_t)rng_below(&g, 5);
        }
        all = items * l.grid[0] * l.grid[1] * l.grid[2];
        krig_open(&r, "wavefront_size", widths[i / 2 % 4], "compute_units", "3", NULL);
        if (i % 2)
            sim_set_mode(r.m, SIM_VALUES);
        for (unsigned k = 0; k < 2; k++) {
            l.args[k].is_array = true;
            l.args[k].value = krig_array(&r, all * 4);
        }
        krig_run(&r, &l);
        item = sim_array_data(r.m, (uint32_t)l.args[0].value);
        group = sim_array_data(r.m, (uint32_t)l.args[1].value);
        for (uint32_t k = 0; k < all; k++)
            if (item[k] != place(k % items, l.block) || group[k] != place(k / items, l.grid))
                fail_msg("seed %" PRIu64 ", shape %" PRIu64 ": item %u is wrong", seed, i, k);
        assert_int_equal(r.kernels[0].counters.lane_instr, 14u * all);
        krig_close(&r);
    }
}

/* Sizes that no launch can have are refused before any time passes. */
static void test_empty_and_huge_shapes(void **state)
{
    static const struct {
        uint32_t grid[3], block[3];
        const char *code;
    } rows[] = {
        {{1, 0, 1}, {1, 1, 1}, "launch-empty"},
        {{1, 1, 1}, {1, 1, 0}, "launch-empty"},
        {{1, 1, 1}, {1025, 1, 1}, "launch-group-size"},
        {{1, 1, 1}, {65536, 65536, 65536}, "launch-group-size"},
        {{65536, 65536, 1}, {1, 1, 1}, "launch-grid-size"},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, {1, 1, 1}, "launch-grid-size"},
    };
    struct krig r;

    (void)state;
    krig_open(&r, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct krig_launch l = {.text = ".kernel k\n s_end\n.endkernel\n"};

        memcpy(l.grid, rows[i].grid, sizeof l.grid);
        memcpy(l.block, rows[i].block, sizeof l.block);
        assert_int_equal(krig_try_run(&r, &l), HD_BAD_INPUT);
        assert_string_equal(r.err.code, rows[i].code);
    }
    assert_int_equal(sim_now(r.m), 0);
    krig_close(&r);
}

/* ---- local memory ---- */

enum { LIMIT = 4096 };

struct local_case {
    unsigned static_bytes, dynamic;
    int64_t at; /* byte that the kernel loads a word, or a byte, from; -1 for none */
    bool byte;
    const char *code; /* NULL: runs */
};

static void test_pb11_local_memory_limit(void **state)
{
    static const struct local_case rows[] = {
        {LIMIT, 0, LIMIT - 4, false, NULL},
        {LIMIT, 0, 0, false, NULL},
        {LIMIT, 0, LIMIT, false, "outside-local"},
        {LIMIT / 2, LIMIT / 2, LIMIT - 4, false, NULL},
        {LIMIT + 4, 0, -1, false, "launch-local-memory"},
        {4, LIMIT, -1, false, "launch-local-memory"},
        {0, LIMIT + 1, -1, false, "launch-local-memory"},
        {0, 0, 0, false, "outside-local"},
        /* Every byte asked for is there, and none more, whatever the allocation is rounded to. */
        {LIMIT - 1, 0, LIMIT - 2, true, NULL},
        {LIMIT - 1, 0, LIMIT - 1, true, "outside-local"},
        {LIMIT - 1, 0, LIMIT - 4, false, "outside-local"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct local_case *c = &rows[i];
        char text[256], load[96] = "";
        struct krig r;

        krig_open(&r, "lds.bytes_per_workgroup", "4096", NULL);
        if (c->at >= 0)
            snprintf(load, sizeof load, " v_get_u32 v0, %%lane\n local_load_%s v1, [v0 + %lld]\n",
                     c->byte ? "u8" : "b32", (long long)c->at);
        snprintf(text, sizeof text, ".kernel k\n.lds %u\n%s s_end\n.endkernel\n", c->static_bytes,
                 load);
        assert_int_equal(
            krig_try_run(&r, &(struct krig_launch){.text = text, .dynamic_lds = c->dynamic}),
            !c->code                                ? HD_OK
            : strcmp(c->code, "outside-local") == 0 ? HD_SIM_FAILED
                                                    : HD_BAD_INPUT);
        if (c->code)
            assert_string_equal(r.err.code, c->code);
        krig_close(&r);
    }
}

/*
 * PB-11: a launch of `fixed` and `dynamic` bytes runs if the sum is within the limit, and then each of its bytes can be
 * reached and none behind it, however local memory is allocated.
 */
static void test_pb11_random_sizes(void **state)
{
    static const char *const granules[] = {"4", "256", "1024"};
    uint64_t seed = test_seed(20261130), count = test_count(200);
    struct rng g;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    rng_seed(&g, seed);
    for (uint64_t i = 0; i < count; i++) {
        unsigned fixed = (unsigned)rng_below(&g, LIMIT + 1);
        unsigned dynamic = (unsigned)rng_below(&g, rng_below(&g, 2) ? LIMIT - fixed + 1 : LIMIT + 2);
        unsigned sum = fixed + dynamic, bytes = 1u << rng_below(&g, 4);
        /* around the last place of that width, and anywhere */
        unsigned at = (rng_below(&g, 2) ? sum : (unsigned)rng_below(&g, LIMIT + 64)) / bytes * bytes;
        static const char *const loads[] = {"u8 v1", "u16 v1", "b32 v1", "b64 v[2:3]"};
        bool fits = sum <= LIMIT, inside;
        char text[256];
        struct krig r;

        if (at >= bytes && rng_below(&g, 2))
            at -= bytes;
        inside = at + bytes <= sum;
        krig_open(&r, "lds.bytes_per_workgroup", "4096", "lds.granule", granules[i % 3],
                  "lds.power_of_two", i % 2 ? "on" : "off", NULL);
        snprintf(
            text, sizeof text,
            ".kernel k\n.lds %u\n v_mov_b32 v0, %u\n local_load_%s, [v0]\n s_end\n.endkernel\n",
            fixed, at, loads[bytes == 8 ? 3 : bytes / 2]);
        if (krig_try_run(&r, &(struct krig_launch){.text = text, .dynamic_lds = dynamic}) !=
            (!fits    ? HD_BAD_INPUT
             : inside ? HD_OK
                      : HD_SIM_FAILED))
            fail_msg("seed %" PRIu64 ", launch %" PRIu64
                     ": %u and %u bytes, a load of %u at %u: %s",
                     seed, i, fixed, dynamic, bytes, at, r.err.code);
        if (!fits || !inside)
            assert_string_equal(r.err.code, fits ? "outside-local" : "launch-local-memory");
        krig_close(&r);
    }
}

static void test_pb11_message(void **state)
{
    static const char *const words[] = {"4100", "4 static", "4096 dynamic",
                                        "lds.bytes_per_workgroup is 4096"};
    struct krig r;

    (void)state;
    krig_open(&r, "lds.bytes_per_workgroup", "4096", NULL);
    krig_try_run(&r, &(struct krig_launch){.text = ".kernel k\n.lds 4\n s_end\n.endkernel\n",
                                           .dynamic_lds = 4096});
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(r.err.message, words[i]));
    krig_close(&r);
}

/* ---- occupancy ---- */

struct fit_case {
    const char *key, *value; /* over the rig's configuration, in which only registers are scarce */
    unsigned threads, vregs, sregs, lds;
    unsigned groups;
    const char *limit;
};

/*
 * Each work-group says that it is there, waits, and says that it goes; out[1] is the most that were
 * there at once.
 */
static void fit_text(char *out, size_t size, const struct fit_case *c)
{
    snprintf(out, size,
             ".kernel k\n.param out u32[]\n.vregs %u\n.sregs %u\n.lds %u\n"
             " s_branch_nz %%wave, done\n v_get_u32 v0, %%lane\n v_cmp_eq_u32 m0, v0, 0\n "
             "v_mov_b32 v1, 1\n"
             " @m0 global_atomic_add_u32_rtn v2, [out], v1\n v_add_u32 v2, v2, 1\n"
             " @m0 global_atomic_max_u32 [out + 4], v2\n"
             " s_mov_b32 s8, 400\nwait:\n s_sub_u32 s8, s8, 1\n s_branch_nz s8, wait\n"
             " @m0 global_atomic_sub_u32 [out], v1\n"
             "done:\n s_end\n.endkernel\n",
             c->vregs, c->sregs, c->lds);
}

static void test_pb12_occupancy(void **state)
{
    static const struct fit_case rows[] = {
        /*
         * 4 wavefronts of 85 registers of 32 lanes: 10880 words, or 11264 in units of 8 registers.
         */
        {"cu.vector_register_granule", "1", 128, 85, 16, 0, 6, "vector registers"},
        {"cu.vector_register_granule", "256", 128, 85, 16, 0, 5, "vector registers"},
        {"lds.granule", "4", 128, 8, 16, 65536 / 3 + 4, 2, "local memory"},
        {"lds.granule", "4", 128, 8, 16, 65536 / 3 - 1, 3, "local memory"},
        {"lds.granule", "1024", 128, 8, 16, 6000, 10, "local memory"}, /* 6 KiB each */
        {"cu.wavefront_slots", "30", 256, 8, 16, 0, 3, "wavefronts"},
        {"cu.wavefront_slots", "16", 32 * 5 + 1, 8, 16, 0, 2,
         "wavefronts"}, /* the sixth wavefront has one item */
        {"cu.workgroup_slots", "7", 32, 8, 16, 0, 7, "workgroups"},
        {"cu.scalar_register_words", "1000", 64, 8, 50, 0, 8, "scalar registers"}, /* 2 x 56 of 1000 */
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_kernel_record *k;
        struct sim_launch launch = {.grid = {64, 1, 1}, .block = {rows[i].threads, 1, 1}};
        struct occupancy occupancy;
        struct krig r;
        uint32_t out;

        krig_open(&r, "cu.wavefront_slots", "64", "lds.bytes", "65536", "lds.bytes_per_workgroup",
                  "65536", rows[i].key, rows[i].value, NULL);
        out = krig_array(&r, 8);
        fit_text(text, sizeof text, &rows[i]);
        k = krig_run(&r, &(struct krig_launch){.text = text,
                                               .groups = 64,
                                               .threads = rows[i].threads,
                                               .nargs = 1,
                                               .args = {KRIG_ARRAY(out)}});
        assert_int_equal(k->groups_per_cu, rows[i].groups);
        assert_string_equal(k->limit, rows[i].limit);
        assert_int_equal(((const uint32_t *)sim_array_data(r.m, out))[1], rows[i].groups);
        launch.kernel = k->kernel;
        assert_int_equal(occupancy_check(&r.config, &launch, &occupancy, NULL), HD_OK);
        assert_int_equal(occupancy.groups, rows[i].groups);
        krig_close(&r);
    }
}

/*
 * A work-group that does not fit into an empty compute unit is refused, with the numbers, and does
 * not wait for ever.
 */
static void test_pb12_never_fits(void **state)
{
    static const struct fit_case rows[] = {
        {"cu.vector_register_words", "4096", 128, 40, 16, 0, 0, "cu.vector_register_words is 4096"},
        {"cu.vector_registers_max", "64", 32, 65, 16, 0, 0, "cu.vector_registers_max is 64"},
        {"cu.wavefront_slots", "2", 65, 8, 16, 0, 0, "cu.wavefront_slots is 2"},
        {"lds.bytes", "1024", 32, 8, 16, 1025, 0, "is 1024"},
        {"cu.scalar_register_words", "104", 96, 8, 40, 0, 0, "cu.scalar_register_words is 104"},
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct krig r;

        /*
         * With less local memory than one work-group may ask for, the configuration itself would be
         * wrong.
         */
        krig_open(&r, "lds.bytes_per_workgroup", "1024", "cu.wavefront_slots", "12", rows[i].key,
                  rows[i].value, NULL);
        fit_text(text, sizeof text, &rows[i]);
        assert_int_equal(
            krig_try_run(&r, &(struct krig_launch){.text = text,
                                                   .threads = rows[i].threads,
                                                   .nargs = 1,
                                                   .args = {KRIG_ARRAY(krig_array(&r, 8))}}),
            HD_BAD_INPUT);
        assert_non_null(strstr(r.err.message, rows[i].limit));
        krig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb10_ids),
        cmocka_unit_test(test_pb10_random_shapes),
        cmocka_unit_test(test_empty_and_huge_shapes),
        cmocka_unit_test(test_pb11_local_memory_limit),
        cmocka_unit_test(test_pb11_random_sizes),
        cmocka_unit_test(test_pb11_message),
        cmocka_unit_test(test_pb12_occupancy),
        cmocka_unit_test(test_pb12_never_fits),
    };

    return cmocka_run_group_tests_name("cases_launch", tests, NULL, NULL);
}
