/*
 * exp, log, reciprocal and quotient of the assembly library against the C library's in long double: corners, every
 * exponent, and where the functions change their ways. Widths vary.
 */
#include "sim/base/rng.h"
#include "tests/isa/mini.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 512, COUNT = 60000, B_AT = 8 * ITEMS, OUT_AT = 16 * ITEMS };

struct function {
    const char *call; /* of v[2:3], and v[4:5], to v[6:7] */
    long double (*reference)(long double a, long double b);
    double ulp; /* greatest error; 0.5 is rounded once */
};

static long double exp_of(long double a, long double b)
{
    (void)b;
    return expl(a);
}

static long double log_of(long double a, long double b)
{
    (void)b;
    return a == 0 ? (long double)-INFINITY : logl(a);
}

/* A quotient of doubles is rounded once by the processor, but twice by way of long double. */
static long double quotient_of(long double a, long double b)
{
    return (double)a / (double)b;
}

static long double reciprocal_of(long double a, long double b)
{
    (void)a;
    return 1 / (double)b;
}

static const struct function exp_f64 = {"exp_f64, v[6:7], v[2:3], v[8:9], v[10:11]", exp_of, 0.9};
static const struct function log_f64 = {"log_f64, v[6:7], v[2:3], v[8:9], v[10:11], v[12:13]",
                                        log_of, 0.9};
static const struct function div_f64 = {"div_f64, v[6:7], v[2:3], v[4:5], v[8:9], v[10:11]",
                                        quotient_of, 0};
static const struct function rcp_f64 = {"rcp_f64, v[6:7], v[4:5], v[8:9]", reciprocal_of, 0};

/* ---- comparing ---- */

/* The distance of neighbours of a double at x, denormals too. */
static long double ulp_at(long double x)
{
    const int e = x == 0 ? -1074 : ilogbl(x) - 52;

    return ldexpl(1, e < -1074 ? -1074 : e);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Error in ulp; infinite where only one kind of answer is right and this is none. */
static double error_of(double got, long double want)
{
    const double rounded = (double)want;

    if (isnan(want))
        return bits_of(got) == UINT64_C(0x7ff8000000000000) ? 0 : INFINITY;
    if (isinf(rounded) || want == 0)
        return bits_of(got) == bits_of(rounded) ? 0 : INFINITY;
    return isfinite(got) ? (double)(fabsl(got - want) / ulp_at(want)) : INFINITY;
}

/* ---- running ---- */

struct batch {
    const struct function *f;
    struct isa_program *program;
    double a[ITEMS], b[ITEMS];
    unsigned count, width;
    uint64_t seed;
    double worst;
};

static struct isa_program *kernel_of(const struct function *f)
{
    char text[512];

    snprintf(text, sizeof text,
             ".include \"f64.hasm\"\n.kernel k\n.param a f64[]\n.param b f64[]\n.param y f64[]\n"
             " v_get_u32 v0, %%tid\n global_load_b64 v[2:3], [a + v0*8]\n"
             " global_load_b64 v[4:5], [b + v0*8]\n call %s\n"
             " global_store_b64 [y + v0*8], v[6:7]\n s_end\n.endkernel\n",
             f->call);
    return mini_assemble(text);
}

static void flush(struct batch *t)
{
    struct mini *m;
    const double *out;

    if (t->count == 0)
        return;
    m = mini_new(t->program, "k", t->width, t->count);
    memcpy(m->memory, t->a, sizeof t->a);
    memcpy(m->memory + B_AT, t->b, sizeof t->b);
    mini_param(m, "a", 0);
    mini_param(m, "b", B_AT);
    mini_param(m, "y", OUT_AT);
    mini_run(m, 1000000);
    if (m->wrong)
        fail_msg("%s", m->wrong);
    out = (const double *)(const void *)(m->memory + OUT_AT);
    for (unsigned i = 0; i < t->count; i++) {
        const double error = error_of(out[i], t->f->reference(t->a[i], t->b[i]));

        if (error > t->f->ulp)
            fail_msg("call %s of %a, %a gives %a, off by %g ulp (HEDDLE_SEED=%" PRIu64 ")",
                     t->f->call, t->a[i], t->b[i], out[i], error, t->seed);
        t->worst = error > t->worst ? error : t->worst;
    }
    mini_free(m);
    t->count = 0;
}

static void begin(struct batch *t, const struct function *f)
{
    *t = (struct batch){.f = f, .program = kernel_of(f), .width = 64, .seed = test_seed(1)};
}

static void add(struct batch *t, double a, double b)
{
    t->a[t->count] = a;
    t->b[t->count] = b;
    /* Narrower wavefronts at times; a work-group has MINI_MAX_WAVES at most. */
    if (++t->count == ITEMS || (t->count == 61 && t->width == 8)) {
        flush(t);
        t->width = t->width == 64 ? 8 : 64;
    }
}

/* In a wavefront of its own, for neighbours far out take the way of all inputs. */
static void add_alone(struct batch *t, double a, double b)
{
    flush(t);
    add(t, a, b);
    flush(t);
}

static void end(struct batch *t)
{
    flush(t);
    isa_program_free(t->program);
}

/* ---- inputs ---- */

static const double corners[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 2.0,
                                 -3.0,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1p-1074,
                                 -0x1p-1074,
                                 0x1.fffffffffffffp-1023,
                                 0x1p-1022,
                                 -0x1p-1022,
                                 0x1p-1024,
                                 0x1.8p-1024,
                                 0x1.fffffffffffffp1023,
                                 -0x1.fffffffffffffp1023,
                                 0x1p1023,
                                 0x1.0000000000001p1021,
                                 0x1.fffffffffffffp-1,
                                 0x1.0000000000001p0,
                                 0x1p-500,
                                 0x1.fffffffffffffp-501,
                                 0x1p500,
                                 0x1.fffffffffffffp499,
                                 0x1.6a09e667f3bcdp-1,
                                 0x1.6a09e667f3bccp0,
                                 0x1p54,
                                 0x1p-54,
                                 709.0,
                                 -708.0};
enum { CORNERS = sizeof corners / sizeof *corners };

static double from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of any exponent and sign, at times with fractions of few ones or few zeros. */
static double any_double(struct rng *r)
{
    uint64_t bits = rng_next(r);

    switch (rng_below(r, 4)) {
    case 0:
        bits &= ~UINT64_C(0) << rng_below(r, 52);
        break;
    case 1:
        bits |= (UINT64_C(1) << rng_below(r, 53)) - 1;
        break;
    default:
        break;
    }
    return from_bits(bits);
}

static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_unit(r);
}

/* Between 2^low and 2^high. */
static double scaled(struct rng *r, int low, int high)
{
    return ldexp(between(r, 1, 2), low + (int)rng_below(r, (uint64_t)(high - low)));
}

static void points_around(struct batch *t, double x)
{
    double up = x, down = x;

    for (int i = 0; i < 8; i++, up = nextafter(up, INFINITY), down = nextafter(down, -INFINITY)) {
        add_alone(t, up, 1);
        add_alone(t, down, 1);
    }
}

static void test_exp(void **state)
{
    static const double edges[] = {0,
                                   708,
                                   -708,
                                   708.0625,
                                   -708.0625,
                                   709.782712893384,
                                   -745.1332191019412,
                                   -708.3964185322641};
    struct batch t;
    struct rng r;

    (void)state;
    begin(&t, &exp_f64);
    rng_seed(&r, t.seed);
    for (unsigned i = 0; i < CORNERS; i++)
        add_alone(&t, corners[i], 1);
    for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++)
        points_around(&t, edges[i]);
    /* Where n changes r is greatest. */
    for (int n = -1076; n < 1025; n++) {
        add(&t, (n + 0.5) * 0.6931471805599453, 1);
        add(&t, nextafter((n + 0.5) * 0.6931471805599453, INFINITY), 1);
    }
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, between(&r, -746, 710), 1);
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, between(&r, -2, 2), 1);
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, any_double(&r), 1);
    end(&t);
    print_message("exp_f64: at most %.4f ulp\n", t.worst);
}

static void test_log(void **state)
{
    static const double edges[] = {1, 0x1.6a09ep-1, 0x1.6a09ep0, 0x1p-1022, 2, 0.5};
    struct batch t;
    struct rng r;

    (void)state;
    begin(&t, &log_f64);
    rng_seed(&r, t.seed);
    for (unsigned i = 0; i < CORNERS; i++)
        add_alone(&t, corners[i], 1);
    for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++)
        points_around(&t, edges[i]);
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, between(&r, 0.5, 2), 1);
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, 1 + between(&r, -1, 1) * ldexp(1, -(int)rng_below(&r, 53)), 1);
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, fabs(any_double(&r)), 1);
    end(&t);
    print_message("log_f64: at most %.4f ulp\n", t.worst);
}

/* Divisors whose reciprocals are within 2^-20 of a double's spacing of the middle of two: b (2 m + 1) is next to 2^106. */
static void add_hard_divisors(struct batch *t, struct rng *r)
{
    for (uint64_t i = 0; i < test_count(1 << 22); i++) {
        const uint64_t b = (UINT64_C(1) << 52 | rng_next(r) >> 12) | 1;
        const uint64_t odd = (uint64_t)(((unsigned __int128)1 << 106) / b) | 1;
        const int64_t rest = (int64_t)(uint64_t)((unsigned __int128)b * odd);

        if (llabs(rest) < INT64_C(1) << 33)
            add(t, 1, (double)b);
    }
}

/* Both by the same numbers: the divisor is b. */
static void check_division(const struct function *f)
{
    struct batch t;
    struct rng r;

    begin(&t, f);
    rng_seed(&r, t.seed);
    for (unsigned i = 0; i < CORNERS; i++)
        for (unsigned k = 0; k < CORNERS; k++)
            add_alone(&t, corners[i], corners[k]);
    add_hard_divisors(&t, &r);
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, any_double(&r), any_double(&r));
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, between(&r, 1, 2), between(&r, 1, 2));
    /* Divisors with all bits set, or few clear, have reciprocals next to the middle of two doubles. */
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, between(&r, 1, 4), 2 - 0x1p-52 * (double)(1 + rng_below(&r, 64)));
    /* What is left of a dividend this small is rounded. */
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, scaled(&r, -1022, -980), scaled(&r, -1022, -980));
    for (uint64_t i = 0; i < test_count(COUNT); i++)
        add(&t, scaled(&r, -550, 550), scaled(&r, -550, 550));
    end(&t);
}

static void test_reciprocal(void **state)
{
    (void)state;
    check_division(&rcp_f64);
}

static void test_quotient(void **state)
{
    (void)state;
    check_division(&div_f64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_reciprocal),
        cmocka_unit_test(test_quotient),
    };

    return cmocka_run_group_tests_name("asm_f64", tests, NULL, NULL);
}
