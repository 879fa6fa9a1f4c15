/*
 * What a compute unit of each part issues: the peaks that are published, reached by a kernel of nothing but that instruction with
 * all places for wavefronts taken, and what may and what may not go on beside each other.
 */
#include "host/config/config.h"
#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COPIES = 16, WAVES = 4 }; /* of an instruction; of a SIMD unit */

/* A whole part but for one thing: it has one compute unit. */
static struct sim_config part(const char *name)
{
    struct hd_options o;
    struct hd_error err;

    hd_options_default(&o);
    if (hd_config_load(name, &o, &err) != HD_OK)
        fail_msg("%s: %s", name, err.message);
    o.gpu.compute_units = 1;
    return o.gpu;
}

/* Sixteen times the line, with another register or pair each time, so that one wavefront alone waits for nothing; and that n times. */
static const char *rounds(const char *line, unsigned n)
{
    static char text[8192];
    size_t len = (size_t)snprintf(text, sizeof text, ".kernel k\n.vregs 48\n .rept %u\n", n);

    for (unsigned i = 0; i < COPIES; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, line, 16 + 2 * i, 17 + 2 * i);
    snprintf(text + len, sizeof text - len, " .endrept\n s_end\n.endkernel\n");
    return text;
}

static uint64_t time_of(const struct sim_config *c, const char *line, unsigned n, uint32_t waves)
{
    const struct sim_kernel_record *k;
    struct krig r;
    uint64_t ps;

    krig_open_config(&r, c);
    k = krig_run(&r, &(struct krig_launch){
                         .text = rounds(line, n), .groups = waves, .threads = c->wavefront_size});
    ps = k->end_ps - k->start_ps;
    krig_close(&r);
    return ps;
}

/* Cycles of one line of each wavefront, from 20 rounds more; what is before and behind them is left out. */
static double cycles_of(const struct sim_config *c, const char *line, uint32_t waves)
{
    uint64_t more = time_of(c, line, 40, waves) - time_of(c, line, 20, waves);

    return (double)more * 1e-12 * (double)c->core_hz / 20 / COPIES;
}

static void near(const char *what, double is, double want)
{
    if (is < want * 0.99 || is > want * 1.01)
        fail_msg("%s: %g, not %g", what, is, want);
}

#define FMA " v_fma_f32 v%u, v8, v8, v8\n"
#define RECIPROCAL " v_rcp_f32 v%u, v8\n"
#define DOUBLE " v_fma_f64 v[%u:%u], v[8:9], v[8:9], v[8:9]\n"
#define SHUFFLE " v_shuffle_xor_b32 v%u, v8, 1\n"
#define SCALAR " s_add_u32 s%u, s8, s8\n"

/*
 * Results of a compute unit and cycle. NVIDIA: CUDA C Programming Guide, table of arithmetic throughput, compute capability
 * 6.0, 5.2 and 7.5. HD 7970: 64 lanes a compute unit, a quarter of it for special functions and for double precision. Xe-LP: 16
 * EUs of 8 lanes, and 2 for extended math.
 */
static void test_peaks(void **state)
{
    static const struct {
        const char *name;
        double fma, reciprocal, f64, shuffle; /* 0: not looked at */
    } rows[] = {
        {"p100", 64, 16, 32, 32},  {"gtx960", 128, 32, 4, 32}, {"gtx1660s", 64, 16, 2, 32},
        {"hd7970", 64, 16, 16, 0}, {"xe-lp", 128, 32, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_config c = part(rows[i].name);
        const struct {
            const char *line;
            double rate;
        } kinds[] = {{FMA, rows[i].fma},
                     {RECIPROCAL, rows[i].reciprocal},
                     {DOUBLE, rows[i].f64},
                     {SHUFFLE, rows[i].shuffle}};
        uint32_t waves = WAVES * c.simds;

        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k].rate > 0)
                near(rows[i].name, waves * c.wavefront_size / cycles_of(&c, kinds[k].line, waves),
                     kinds[k].rate);
    }
}

/* Of hd7970 all vector instructions of a SIMD unit add up: 4 cycles and 16 for each of its wavefronts. */
static void test_hd7970_has_one_vector_unit(void **state)
{
    struct sim_config c = part("hd7970");

    (void)state;
    near("FMA and reciprocals", cycles_of(&c, FMA " v_rcp_f32 v8, v9\n", 4 * WAVES),
         WAVES * (4 + 16));
    near("FMA and doubles",
         cycles_of(&c, FMA " v_fma_f64 v[8:9], v[10:11], v[10:11], v[10:11]\n", 4 * WAVES),
         WAVES * (4 + 16));
}

/* Scalar instructions of other wavefronts go on beside vector ones; alone they take the one scalar unit of the four SIMD units. */
static void test_hd7970_scalar_beside_vector(void **state)
{
    struct sim_config c = part("hd7970");

    (void)state;
    near("FMA beside scalar", cycles_of(&c, FMA " s_add_u32 s0, s8, s8\n", 4 * WAVES), WAVES * 4);
    near("scalar", cycles_of(&c, SCALAR, 4 * WAVES), 4 * WAVES);
}

/* A single wavefront of hd7970 issues every fourth cycle, vector or scalar. */
static void test_hd7970_one_wavefront(void **state)
{
    struct sim_config c = part("hd7970");

    (void)state;
    near("vector", cycles_of(&c, FMA, 1), 4);
    near("scalar", cycles_of(&c, SCALAR, 1), 4);
}

/*
 * An FMA and a scalar addition of each wavefront: p100 and gtx960 issue both in a cycle; a scheduler of gtx1660s issues one, and
 * has the other cycle of the FMA, which takes its 16 lanes two, for the addition.
 */
static void test_dual_issue_of_parts(void **state)
{
    static const struct {
        const char *name;
        unsigned together, alone; /* cycles of the pair: as the part is, and without dual issue */
    } rows[] = {{"p100", 1, 2}, {"gtx960", 1, 2}, {"gtx1660s", 2, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_config c = part(rows[i].name);

        near(rows[i].name, cycles_of(&c, FMA " s_add_u32 s%u, s8, s8\n", WAVES * c.simds),
             WAVES * rows[i].together);
        c.dual_issue = false;
        near(rows[i].name, cycles_of(&c, FMA " s_add_u32 s%u, s8, s8\n", WAVES * c.simds),
             WAVES * rows[i].alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_hd7970_has_one_vector_unit),
        cmocka_unit_test(test_hd7970_scalar_beside_vector),
        cmocka_unit_test(test_hd7970_one_wavefront),
        cmocka_unit_test(test_dual_issue_of_parts),
    };

    return cmocka_run_group_tests_name("part_rates", tests, NULL, NULL);
}
