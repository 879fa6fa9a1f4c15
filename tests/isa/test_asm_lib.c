/* The assembly library, on every width, full and partial wavefronts, against plain loops. */
#include "sim/base/rng.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    unsigned width, items;
} shapes[] = {{8, 8},    {8, 5},   {8, 61},  {16, 16}, {16, 33},  {32, 32}, {32, 31},
              {32, 256}, {32, 97}, {64, 64}, {64, 1},  {64, 256}, {64, 130}};
enum { NUM_SHAPES = sizeof shapes / sizeof *shapes, MAX_ITEMS = 256, IN = 0, OUT = 8192 };

/* A kernel that loads its item of x, calls the func on it, and stores it to y. */
static struct isa_program *caller(const char *file, const char *func, unsigned words, bool group)
{
    char text[1024];

    snprintf(text, sizeof text,
             ".include \"%s\"\n.kernel k\n.param x u8[]\n.param y u8[]\n.lds 512\n"
             " v_get_u32 v0, %%tid\n v_mul_u32 v1, v0, %u\n s_mov_b32 s10, 64\n"
             " global_load_b%u %s, [x + v1]\n"
             " call %s, %s, %s, v6, s8, s9%s\n"
             " global_store_b%u [y + v1], %s\n s_end\n.endkernel\n",
             file, 4 * words, 32 * words, words == 2 ? "v[2:3]" : "v2", func,
             words == 2 ? "v[2:3]" : "v2", words == 2 ? "v[4:5]" : "v4", group ? ", s10" : "",
             32 * words, words == 2 ? "v[2:3]" : "v2");
    return mini_assemble(text);
}

/* Runs it on the input bytes; m->memory + OUT has the results. */
static struct mini *run(const struct isa_program *program, unsigned width, unsigned items,
                        const void *in, size_t bytes)
{
    struct mini *m = mini_new(program, "k", width, items);

    memcpy(m->memory + IN, in, bytes);
    mini_param(m, "x", IN);
    mini_param(m, "y", OUT);
    mini_run(m, 1000000);
    if (m->wrong)
        fail_msg("%s", m->wrong);
    return m;
}

/* Values are small integers, so that every order of a sum gives the same float. */
static void fill(struct rng *r, int32_t *values)
{
    for (unsigned i = 0; i < MAX_ITEMS; i++)
        values[i] = (int32_t)rng_below(r, 2001) - 1000;
}

enum op { SUM, MIN, MAX };

static int32_t join(enum op op, int32_t a, int32_t b)
{
    if (op == SUM)
        return a + b;
    return (op == MIN) == (a < b) ? a : b;
}

static void convert(const char *type, const int32_t *values, unsigned n, void *out)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(type, "f32") == 0)
            ((float *)out)[i] = (float)values[i];
        else if (strcmp(type, "f64") == 0)
            ((double *)out)[i] = values[i];
        else
            ((int32_t *)out)[i] = values[i];
    }
}

/* want[i] for each item: over the items [from, to) of its wavefront or group; a scan stops at i. */
static void reference(enum op op, bool scan, bool group, unsigned width, unsigned items,
                      const int32_t *values, int32_t *want)
{
    for (unsigned i = 0; i < items; i++) {
        unsigned from = group ? 0 : i / width * width;
        unsigned to = group || from + width > items ? items : from + width;

        if (scan)
            to = i + 1;
        want[i] = values[from];
        for (unsigned k = from + 1; k < to; k++)
            want[i] = join(op, want[i], values[k]);
    }
}

static void check_func(const char *file, const char *name, const char *type, enum op op, bool scan,
                       bool group)
{
    unsigned words = strcmp(type, "f64") == 0 ? 2 : 1;
    struct isa_program *program = caller(file, name, words, group);
    int32_t values[MAX_ITEMS], want[MAX_ITEMS];
    double in[MAX_ITEMS], out[MAX_ITEMS];
    struct rng r;

    rng_seed(&r, 5);
    for (unsigned s = 0; s < NUM_SHAPES; s++) {
        unsigned items = shapes[s].items;
        struct mini *m;

        fill(&r, values);
        convert(type, values, items, in);
        reference(op, scan, group, shapes[s].width, items, values, want);
        convert(type, want, items, out);
        m = run(program, shapes[s].width, items, in, (size_t)items * 4 * words);
        if (memcmp(m->memory + OUT, out, (size_t)items * 4 * words) != 0)
            fail_msg("%s is wrong at width %u with %u items", name, shapes[s].width, items);
        mini_free(m);
    }
    isa_program_free(program);
}

static void reductions(void **state)
{
    static const struct {
        const char *name, *type;
        enum op op;
    } funcs[] = {{"sum_f32", "f32", SUM}, {"min_f32", "f32", MIN}, {"max_f32", "f32", MAX},
                 {"sum_u32", "i32", SUM}, {"min_i32", "i32", MIN}, {"max_i32", "i32", MAX},
                 {"sum_f64", "f64", SUM}, {"min_f64", "f64", MIN}, {"max_f64", "f64", MAX}};

    (void)state;
    for (size_t i = 0; i < sizeof funcs / sizeof *funcs; i++) {
        char name[32];

        snprintf(name, sizeof name, "wave_%s", funcs[i].name);
        check_func("reduce.hasm", name, funcs[i].type, funcs[i].op, false, false);
        snprintf(name, sizeof name, "group_%s", funcs[i].name);
        check_func("reduce.hasm", name, funcs[i].type, funcs[i].op, false, true);
    }
}

static void scans(void **state)
{
    static const char *const names[] = {"u32", "f32", "f64"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[32];

        snprintf(name, sizeof name, "wave_scan_%s", names[i]);
        check_func("scan.hasm", name, names[i], SUM, true, false);
        snprintf(name, sizeof name, "group_scan_%s", names[i]);
        check_func("scan.hasm", name, names[i], SUM, true, true);
    }
}

/* Two groups of 40 items add 1 to each of n elements once, whatever n is. */
static void grid_loops_touch_each_element_once(void **state)
{
    static const unsigned counts[] = {0, 1, 39, 40, 79, 80, 81, 500};
    struct isa_program *program = mini_assemble(
        ".include \"grid.hasm\"\n.kernel k\n.param x u32[]\n.param n u32\n for_grid v0, s8, n\n"
        " global_load_b32 v1, [x + v0*4]\n v_add_u32 v1, v1, 1\n global_store_b32 [x + v0*4], v1\n"
        " end_grid v0, s8\n s_end\n.endkernel\n");

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint32_t memory[512] = {0};

        for (unsigned group = 0; group < 2; group++) {
            struct mini *m = mini_new(program, "k", 16, 40);

            for (unsigned w = 0; w < m->nwaves; w++) {
                m->waves[w].s[ISA_SV_GROUP_X] = m->waves[w].s[ISA_SV_GROUP] = group;
                m->waves[w].s[ISA_SV_GROUPS_X] = 2;
            }
            memcpy(m->memory, memory, sizeof memory);
            mini_param(m, "x", 0);
            mini_param(m, "n", counts[c]);
            mini_run(m, 100000);
            assert_null(m->wrong);
            memcpy(memory, m->memory, sizeof memory);
            mini_free(m);
        }
        for (unsigned i = 0; i < 512; i++)
            assert_int_equal(memory[i], i < counts[c]);
    }
    isa_program_free(program);
}

/* ---- division ---- */

static float of_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* A float of any sign and fraction whose exponent is in [low, high]. */
static float random_float(struct rng *r, int low, int high)
{
    const uint32_t fraction = (uint32_t)rng_below(r, 1u << 23), sign = (uint32_t)rng_below(r, 2);
    const uint32_t exponent =
        (uint32_t)(low + 127) + (uint32_t)rng_below(r, (uint64_t)(high - low + 1));

    return of_bits(sign << 31 | exponent << 23 | fraction);
}

/* m->memory + OUT has the quotients; every third lane does not count, and may have anything. */
static struct mini *divide(const struct isa_program *program, const float *a, const float *b)
{
    struct mini *m = mini_new(program, "k", 32, MAX_ITEMS);

    memcpy(m->memory + IN, a, MAX_ITEMS * sizeof *a);
    memcpy(m->memory + OUT, b, MAX_ITEMS * sizeof *b);
    mini_param(m, "x", IN);
    mini_param(m, "y", OUT);
    mini_run(m, 100000);
    if (m->wrong)
        fail_msg("%s", m->wrong);
    return m;
}

static void check_quotients(const struct isa_program *program, const float *a, const float *b)
{
    struct mini *m = divide(program, a, b);
    const float *got = (const float *)(const void *)(m->memory + OUT);

    for (unsigned i = 0; i < MAX_ITEMS; i++) {
        const float want = i % 3 == 2 ? b[i] : a[i] / b[i];

        if (memcmp(&got[i], &want, sizeof want) != 0 && !(want != want && got[i] != got[i]))
            fail_msg("%a / %a is %a instead of %a", (double)a[i], (double)b[i], (double)got[i],
                     (double)want);
    }
    mini_free(m);
}

static void division(void **state)
{
    static const uint32_t special[16] = {0,          0x80000000, 1,          0x80000001,
                                         0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                                         0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000,
                                         0x7effffff, 0x40490fdb, 0x33800000, 0x4b7fffff};
    struct isa_program *program =
        mini_assemble(".include \"div.hasm\"\n.kernel k\n.param x f32[]\n.param y f32[]\n"
                      " v_get_u32 v0, %tid\n v_rem_u32 v1, v0, 3\n v_cmp_lt_u32 m0, v1, 2\n"
                      " global_load_b32 v1, [x + v0*4]\n global_load_b32 v2, [y + v0*4]\n"
                      " call div_f32, v3, v1, v2, v4, v5, v6, m0\n"
                      " @m0 global_store_b32 [y + v0*4], v3\n s_end\n.endkernel\n");
    float a[MAX_ITEMS], b[MAX_ITEMS];
    struct rng r;

    (void)state;
    for (unsigned i = 0; i < MAX_ITEMS; i++) {
        a[i] = of_bits(special[i % 16]);
        b[i] = of_bits(special[i / 16]);
    }
    check_quotients(program, a, b);
    rng_seed(&r, 6);
    for (unsigned k = 0; k < 200; k++) {
        for (unsigned i = 0; i < MAX_ITEMS; i++) {
            /* Exponents within the domain, and now and then numbers near 1, where fractions alone decide. */
            a[i] = k % 2 ? random_float(&r, -100, 127) : random_float(&r, 0, 0);
            b[i] = k % 2 ? random_float(&r, -126, 125) : random_float(&r, 0, 0);
        }
        check_quotients(program, a, b);
    }
    isa_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(scans),
        cmocka_unit_test(division),
        cmocka_unit_test(grid_loops_touch_each_element_once),
    };

    return cmocka_run_group_tests_name("asm_lib", tests, NULL, NULL);
}
