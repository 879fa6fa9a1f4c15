/*
 * How many work-groups a compute unit holds, by the rules that the vendors publish, for the presets of their parts; and
 * that the machine places just as many. The rules are written here a second time, from the publications:
 *
 * NVIDIA: cuda_occupancy.h, which comes with CUDA. Registers are allocated to warps in units of 256 and belong to the
 * sub-partitions of an SM, so that the warps of an SM are those of a sub-partition times their number; the registers of
 * a block are checked as if its warps were a multiple of the sub-partitions; shared memory is allocated in units of 256
 * bytes. A block must also fit the four sub-partitions of compute capability 6.1 to run on 6.0.
 * AMD: LLVM's AMDGPUBaseInfo.cpp, and the occupancy table of CLRX's manual.
 * Intel: the GPU Occupancy Calculator of the oneAPI samples.
 */
#include "host/config/config.h"
#include "sim/dispatch.h"
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- what heddle says ---- */

static struct sim_config preset(const char *name)
{
    struct hd_options o;
    struct hd_error err;

    hd_options_default(&o);
    if (hd_config_load(name, &o, &err) != HD_OK || sim_config_check(&o.gpu, &err) != HD_OK)
        fail_msg("%s: %s", name, err.message);
    return o.gpu;
}

struct kernel {
    unsigned threads, regs, fixed, dynamic; /* a block, a thread, bytes a block */
    unsigned sregs;
};

/* Work-groups a compute unit, 0 if the launch is refused. */
static unsigned heddle_groups(const struct sim_config *c, const struct kernel *k)
{
    struct isa_kernel kernel = {.name = "k",
                                .vregs = (uint16_t)k->regs,
                                .sregs = (uint16_t)k->sregs,
                                .lds_bytes = k->fixed,
                                .forms = UINT32_MAX};
    struct sim_launch launch = {
        .kernel = &kernel, .grid = {1, 1, 1}, .block = {k->threads, 1, 1}, .dynamic_lds = k->dynamic};
    struct occupancy o = {0};
    struct hd_error err = {0};

    return occupancy_check(c, &launch, &o, &err) == HD_OK ? o.groups : 0;
}

/* ---- NVIDIA ---- */

struct cuda_part {
    const char *preset;
    unsigned warps, blocks, partitions, regs_max, shared, shared_block;
};

/* Technical specifications of compute capability 5.2, 6.0 and 7.5. */
static const struct cuda_part cuda_parts[] = {
    {"gtx960", 64, 32, 4, 255, 98304, 49152},
    {"p100", 64, 32, 2, 255, 65536, 49152},
    {"gtx1660s", 32, 16, 4, 255, 65536, 65536},
};

enum { NPARTS = sizeof cuda_parts / sizeof *cuda_parts, REGISTERS = 65536 };

static unsigned up(unsigned n, unsigned unit)
{
    return (n + unit - 1) / unit * unit;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Blocks an SM by registers; `partitions` of the part, or of another that must be able to run the block. */
static unsigned by_registers(unsigned partitions, unsigned warps, unsigned regs)
{
    unsigned of_warp = up(regs * 32, 256);

    if (of_warp == 0)
        return 1000;
    if (of_warp * up(warps, partitions) > REGISTERS)
        return 0;
    return REGISTERS / partitions / of_warp * partitions / warps;
}

static unsigned cuda_blocks(const struct cuda_part *p, const struct kernel *k)
{
    unsigned warps = (k->threads + 31) / 32, shared = up(k->fixed + k->dynamic, 256);
    unsigned n = least(p->blocks, p->warps / warps);

    if (k->threads > 1024 || k->regs > p->regs_max || shared > p->shared_block ||
        by_registers(4, warps, k->regs) == 0)
        return 0;
    n = least(n, by_registers(p->partitions, warps, k->regs));
    return shared ? least(n, p->shared / shared) : n;
}

/* Kernels on both sides of each step: slots, registers by warp and by block, shared memory, fixed and dynamic. */
static const struct kernel cuda_kernels[] = {
    {32, 16, 0, 0, 0},           {32, 32, 0, 0, 0},         {32, 64, 0, 0, 0},
    {32, 72, 0, 0, 0},           {32, 255, 0, 0, 0},        {33, 32, 0, 0, 0},
    {64, 20, 0, 0, 0},           {64, 32, 0, 0, 0},         {64, 33, 0, 0, 0},
    {64, 128, 0, 0, 0},          {64, 255, 0, 0, 0},        {96, 40, 0, 0, 0},
    {96, 41, 0, 0, 0},           {96, 64, 0, 0, 0},         {96, 168, 0, 0, 0},
    {128, 24, 0, 0, 0},          {128, 32, 0, 0, 0},        {128, 40, 0, 0, 0},
    {128, 80, 0, 0, 0},          {128, 85, 0, 0, 0},        {128, 88, 0, 0, 0},
    {128, 128, 0, 0, 0},         {128, 255, 0, 0, 0},       {160, 48, 0, 0, 0},
    {192, 32, 0, 0, 0},          {192, 40, 0, 0, 0},        {192, 56, 0, 0, 0},
    {224, 72, 0, 0, 0},          {256, 16, 0, 0, 0},        {256, 32, 0, 0, 0},
    {256, 33, 0, 0, 0},          {256, 40, 0, 0, 0},        {256, 64, 0, 0, 0},
    {256, 65, 0, 0, 0},          {256, 96, 0, 0, 0},        {256, 128, 0, 0, 0},
    {256, 200, 0, 0, 0},         {256, 255, 0, 0, 0},       {288, 255, 0, 0, 0},
    {320, 96, 0, 0, 0},          {384, 40, 0, 0, 0},        {512, 32, 0, 0, 0},
    {512, 64, 0, 0, 0},          {512, 65, 0, 0, 0},        {512, 128, 0, 0, 0},
    {640, 96, 0, 0, 0},          {672, 88, 0, 0, 0},        {704, 81, 0, 0, 0},
    {768, 80, 0, 0, 0},          {1023, 64, 0, 0, 0},       {1024, 32, 0, 0, 0},
    {1024, 64, 0, 0, 0},         {1024, 65, 0, 0, 0},       {1, 1, 0, 0, 0},
    {1024, 0, 0, 0, 0},          {128, 32, 1, 0, 0},        {128, 32, 4096, 0, 0},
    {128, 32, 4097, 0, 0},       {128, 32, 6144, 0, 0},     {128, 32, 0, 8192, 0},
    {128, 32, 4096, 4096, 0},    {256, 32, 12288, 0, 0},    {256, 32, 12032, 257, 0},
    {256, 32, 16384, 0, 0},      {256, 32, 16384, 8192, 0}, {64, 32, 49152, 0, 0},
    {64, 32, 49152, 1, 0},       {64, 32, 24576, 24576, 0}, {32, 32, 1024, 512, 0},
    {1024, 32, 32768, 16384, 0}, {256, 33, 20000, 0, 0},    {32, 16, 0, 65536, 0},
};

enum { NKERNELS = sizeof cuda_kernels / sizeof *cuda_kernels };
_Static_assert(NKERNELS >= 50, "the table is for at least fifty kernels");

static void test_cuda_table(void **state)
{
    unsigned seen[33] = {0};

    (void)state;
    for (size_t p = 0; p < NPARTS; p++) {
        struct sim_config c = preset(cuda_parts[p].preset);

        for (size_t i = 0; i < NKERNELS; i++) {
            const struct kernel *k = &cuda_kernels[i];
            unsigned want = cuda_blocks(&cuda_parts[p], k), have = heddle_groups(&c, k);

            if (want != have)
                fail_msg("%s, %u threads of %u registers, %u + %u bytes: %u blocks, not %u", c.name,
                         k->threads, k->regs, k->fixed, k->dynamic, have, want);
            seen[want]++;
        }
    }
    /* The table reaches refusal, one block, the most, and what is between. */
    assert_true(seen[0] >= 3 && seen[1] >= 3 && seen[16] >= 3 && seen[32] >= 3);
}

static void test_cuda_sweep(void **state)
{
    static const unsigned shared[] = {0, 1, 1000, 5000, 9000, 17000, 33000, 49152};

    (void)state;
    for (size_t p = 0; p < NPARTS; p++) {
        struct sim_config c = preset(cuda_parts[p].preset);

        for (unsigned threads = 1; threads <= 1024; threads += 15)
            for (unsigned regs = 0; regs <= 256; regs += 5)
                for (size_t s = 0; s < sizeof shared / sizeof *shared; s++) {
                    struct kernel k = {threads, regs, shared[s] / 3, shared[s] - shared[s] / 3, 0};

                    if (cuda_blocks(&cuda_parts[p], &k) != heddle_groups(&c, &k))
                        fail_msg("%s: %u threads of %u registers, %u bytes", c.name, threads, regs,
                                 shared[s]);
                }
    }
}

/* A few results by hand, so that one mistake in both places is seen. */
static void test_cuda_by_hand(void **state)
{
    static const struct {
        const char *preset;
        struct kernel kernel;
        unsigned blocks;
    } rows[] = {
        {"p100", {256, 32, 0, 0, 0}, 8},   /* 2048 threads, 64 warps of 1024 registers */
        {"p100", {256, 33, 0, 0, 0}, 6},   /* 1280 a warp: 25 on each of 2, 50 in all */
        {"gtx960", {256, 33, 0, 0, 0}, 6}, /* 12 on each of 4, 48 in all */
        {"gtx1660s", {256, 33, 0, 0, 0}, 4},
        {"p100", {128, 85, 0, 0, 0}, 5},   /* 2816 a warp: 11 on each of 2 */
        {"gtx960", {96, 168, 0, 0, 0}, 4}, /* 5376 a warp: 3 on each of 4, 12 in all */
        {"p100", {96, 168, 0, 0, 0}, 4},   /* 6 on each of 2 */
        {"p100", {704, 81, 0, 0, 0}, 0}, /* 22 warps of 2816 fit its two halves, not four quarters */
        {"gtx960", {128, 32, 12288, 0, 0}, 8},  /* 96 KB */
        {"p100", {128, 32, 12288, 0, 0}, 5},    /* 64 KB */
        {"gtx1660s", {64, 32, 49152, 1, 0}, 1}, /* a block may have 64 KB */
        {"gtx960", {64, 32, 49152, 1, 0}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_config c = preset(rows[i].preset);

        if (heddle_groups(&c, &rows[i].kernel) != rows[i].blocks)
            fail_msg("row %zu: %u blocks", i, heddle_groups(&c, &rows[i].kernel));
    }
}

/* ---- AMD ---- */

static void test_southern_islands(void **state)
{
    /* Wavefronts of a SIMD unit, and the registers that each may have (CLRX). */
    static const struct {
        unsigned waves, sregs, vregs;
    } rows[] = {{2, 104, 128}, {3, 104, 84}, {4, 104, 64}, {5, 96, 48}, {6, 80, 40},
                {7, 72, 36},   {8, 64, 32},  {9, 56, 28},  {10, 48, 24}};
    struct sim_config c = preset("hd7970");

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned n = rows[i].waves;

        assert_int_equal(heddle_groups(&c, &(struct kernel){64, rows[i].vregs, 0, 0, 16}), 4 * n);
        assert_int_equal(heddle_groups(&c, &(struct kernel){64, rows[i].vregs + 1, 0, 0, 16}),
                         4 * (n - 1));
        if (n >= 5)
            assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 0, 0, rows[i].sregs}),
                             4 * n);
        if (n > 5)
            assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 0, 0, rows[i].sregs + 1}),
                             4 * (n - 1));
    }
    /* getMaxWorkGroupsPerCU: 40 of one wavefront, else at most 16 and 40 / wavefronts. */
    assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 0, 0, 16}), 40);
    assert_int_equal(heddle_groups(&c, &(struct kernel){65, 24, 0, 0, 16}), 16);
    assert_int_equal(heddle_groups(&c, &(struct kernel){192, 24, 0, 0, 16}), 13);
    assert_int_equal(heddle_groups(&c, &(struct kernel){256, 24, 0, 0, 16}), 10);
    /* Local memory in units of 64 words. */
    assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 4096, 0, 16}), 16);
    assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 4097, 0, 16}), 15);
    assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 32768, 0, 16}), 2);
    assert_int_equal(heddle_groups(&c, &(struct kernel){64, 24, 32769, 0, 16}), 0);
}

/* Multi2Sim's rule: work-groups of a pool = min(10, 10 / wavefronts, 256 / (registers * wavefronts)), times 4. */
static void test_work_groups_on_one_simd(void **state)
{
    struct sim_config c = preset("hd7970");

    (void)state;
    c.group_on_one_simd = true;
    c.barrier_slots = 0;
    for (unsigned waves = 1; waves <= 4; waves++)
        for (unsigned regs = 4; regs <= 256; regs += 4) {
            unsigned want = 4 * least(10 / waves, 256 / (regs * waves));

            assert_int_equal(heddle_groups(&c, &(struct kernel){64 * waves, regs, 0, 0, 16}), want);
        }
}

/* ---- Intel ---- */

static void test_xe_lp(void **state)
{
    struct sim_config c = preset("xe-lp");

    (void)state;
    for (unsigned width = 8; width <= 32; width *= 2) {
        c.wavefront_size = width;
        for (unsigned items = 1; items <= 512; items += 7)
            for (unsigned bytes = 0; bytes <= 65536; bytes = bytes ? 2 * bytes + 100 : 700) {
                unsigned threads = (items + width - 1) / width, slm = 1024, want = 112 / threads;
                struct kernel k = {items, 1024 / width, bytes, 0, 0};

                while (slm < bytes)
                    slm *= 2;
                if (threads > 1)
                    want = least(want, 32);
                if (bytes)
                    want = least(want, 65536 / slm);
                assert_int_equal(heddle_groups(&c, &k), want);
            }
        /* A thread has 1024 words, however few it uses and never more. */
        assert_int_equal(heddle_groups(&c, &(struct kernel){width, 1, 0, 0, 0}), 112);
        assert_int_equal(heddle_groups(&c, &(struct kernel){width, 1024 / width + 1, 0, 0, 0}), 0);
    }
}

/* ---- what the machine does (PB-12) ---- */

enum { GROUPS = 80 };

struct watch {
    unsigned waves[GROUPS]; /* resident, by work-group */
    unsigned groups, most;
};

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct watch *w = user;

    if (e->kind == HD_PROBE_WAVE_START) {
        w->groups += w->waves[e->group]++ == 0;
        w->most = w->groups > w->most ? w->groups : w->most;
    } else {
        w->groups -= --w->waves[e->group] == 0;
    }
}

static unsigned measured(const struct sim_config *preset, const struct kernel *k)
{
    struct sim_config c = *preset;
    struct watch w = {{0}, 0, 0};
    char text[512];
    struct krig r;

    c.compute_units = 1;
    c.cycles_per_group = 1;
    snprintf(text, sizeof text,
             ".kernel k\n.vregs %u\n.sregs %u\n.lds %u\n s_mov_b32 s8, 200\nagain:\n s_sub_u32 s8, "
             "s8, 1\n s_branch_nz s8, again\n s_end\n.endkernel\n",
             k->regs, k->sregs > 9 ? k->sregs : 9, k->fixed);
    krig_open_config(&r, &c);
    sim_set_probe(r.m, &(struct hd_probe){.user = &w,
                                          .fn = on_event,
                                          .wants = HD_PROBE_WANT(HD_PROBE_WAVE_START) |
                                                   HD_PROBE_WANT(HD_PROBE_WAVE_END)});
    krig_run(&r,
             &(struct krig_launch){
                 .text = text, .groups = GROUPS, .threads = k->threads, .dynamic_lds = k->dynamic});
    krig_close(&r);
    return w.most;
}

static void test_pb12_measured_residency(void **state)
{
    static const char *const presets[] = {"gtx960", "p100", "gtx1660s", "hd7970", "xe-lp", "tiny"};
    static const struct kernel rows[] = {
        {32, 16, 0, 0, 0},     {64, 33, 0, 0, 0},      {96, 41, 0, 0, 0},   {128, 85, 0, 0, 0},
        {160, 48, 0, 0, 40},   {256, 33, 0, 0, 0},     {256, 64, 0, 0, 96}, {100, 60, 3000, 0, 0},
        {64, 20, 100, 900, 0}, {200, 100, 0, 5000, 0}, {192, 56, 0, 0, 0},  {32, 200, 0, 0, 104},
    };

    (void)state;
    for (size_t p = 0; p < 2 * sizeof presets / sizeof *presets; p++) {
        struct sim_config c = preset(presets[p / 2]);
        unsigned tried = 0;

        c.group_on_one_simd = p % 2;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            unsigned groups = heddle_groups(&c, &rows[i]);

            if (!groups)
                continue;
            tried++;
            if (measured(&c, &rows[i]) != least(groups, GROUPS))
                fail_msg("%s, row %zu: %u work-groups, not %u", c.name, i, measured(&c, &rows[i]),
                         groups);
        }
        assert_true(tried >= 3);
    }
}

/* PB-12: few barriers cut the residency of work-groups of two wavefronts, not of one, and the limit is named. */
static void test_pb12_barrier_slots(void **state)
{
    struct sim_config c = preset("hd7970");
    struct isa_kernel kernel = {.name = "k", .vregs = 8, .forms = UINT32_MAX};
    struct sim_launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {128, 1, 1}};

    (void)state;
    for (unsigned slots = 1; slots <= 16; slots += 5) {
        const struct kernel one = {64, 8, 0, 0, 9}, two = {128, 8, 0, 0, 9};
        struct occupancy o;

        c.barrier_slots = slots;
        assert_int_equal(occupancy_check(&c, &launch, &o, NULL), HD_OK);
        assert_int_equal(o.groups, slots);
        assert_string_equal(o.limit, "barriers");
        assert_int_equal(measured(&c, &two), slots);
        assert_int_equal(heddle_groups(&c, &one), 40);
        assert_int_equal(measured(&c, &one), 40);
    }
}

/* A work-group whose wavefronts do not fit the SIMD units one by one, though their sum does, is refused with the rule. */
static void test_a_part_of_a_simd_unit_is_named(void **state)
{
    struct sim_config c = preset("p100");
    struct isa_kernel kernel = {.name = "wide", .vregs = 200, .forms = UINT32_MAX};
    struct sim_launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {96, 1, 1}};
    struct occupancy o;
    struct hd_error err = {0};

    (void)state;
    c.vreg_words = 20480; /* 10240 a SIMD unit: one wavefront of 6400 */
    c.group_vreg_words = 0;
    assert_int_equal(occupancy_check(&c, &launch, &o, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "launch-never-fits");
    assert_non_null(strstr(err.message, "a SIMD unit has room for 1 of the 3 wavefronts"));
    assert_non_null(strstr(err.message, "cu.vector_register_words is 20480, over 2 SIMD units"));
}

static void test_limits_of_registers_are_named(void **state)
{
    struct isa_kernel kernel = {.name = "wide", .vregs = 88, .forms = UINT32_MAX};
    struct sim_launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {704, 1, 1}};
    struct sim_config c = preset("p100");
    struct occupancy o;
    struct hd_error err = {0};

    (void)state;
    assert_int_equal(occupancy_check(&c, &launch, &o, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "launch-registers");
    assert_non_null(strstr(err.message, "67584 words")); /* 24 x 2816 */
    assert_non_null(strstr(err.message, "cu.workgroup_vector_register_words is 65536"));
    c = preset("xe-lp");
    launch.block[0] = 16;
    assert_int_equal(occupancy_check(&c, &launch, &o, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "1408 words"));
    assert_non_null(strstr(err.message, "cu.wavefront_vector_register_words is 1024"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_table),
        cmocka_unit_test(test_cuda_sweep),
        cmocka_unit_test(test_cuda_by_hand),
        cmocka_unit_test(test_southern_islands),
        cmocka_unit_test(test_work_groups_on_one_simd),
        cmocka_unit_test(test_xe_lp),
        cmocka_unit_test(test_pb12_measured_residency),
        cmocka_unit_test(test_pb12_barrier_slots),
        cmocka_unit_test(test_a_part_of_a_simd_unit_is_named),
        cmocka_unit_test(test_limits_of_registers_are_named),
    };

    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
