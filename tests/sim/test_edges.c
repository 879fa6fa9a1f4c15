/*
 * Configurations at the ends of what parameters may be, alone and several at once: each is refused by a rule that names the key,
 * or runs a kernel that uses every part of the machine to the right values.
 */
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 8, GROUPS = 3, WORDS = 16384 };

/* Element i + 1 of one array goes to its mirror place in another by way of local memory, a product in f64 and a square root. */
static const char kernel[] =
    ".kernel k\n.lds 64\n.param from u32[]\n.param to u32[]\n"
    " v_get_u32 v0, %tid_x\n s_mul_u32 s8, %group_x, 8\n v_add_u32 v1, v0, s8\n"
    " v_mul_u32 v2, v1, 509\n global_load_b32 v3, [from + v2*4]\n"
    " local_store_b32 [v0*4], v3\n s_barrier\n v_sub_u32 v4, 7, v0\n local_load_b32 v3, [v4*4]\n"
    " v_cvt_f64_u32 v[6:7], v3\n v_mul_f64 v[6:7], v[6:7], v[6:7]\n v_cvt_u32_f64 v3, v[6:7]\n"
    " v_cvt_f32_u32 v3, v3\n v_sqrt_f32 v3, v3\n v_cvt_u32_f32 v3, v3\n"
    " global_store_b32 [to + v2*4], v3\n v_mov_b32 v5, 1\n global_atomic_add_u32 [to + 4], v5\n "
    "fence\n"
    " s_end\n.endkernel\n";

static void check_values(struct krig *r, const char *settings, uint32_t from, uint32_t to)
{
    const uint32_t *in = sim_array_data(r->m, from), *out = sim_array_data(r->m, to);

    if (out[1] != GROUPS * THREADS)
        fail_msg("%s: %" PRIu32 " additions of %d", settings, out[1], GROUPS * THREADS);
    for (uint32_t i = 0; i < GROUPS * THREADS; i++) {
        const uint32_t mirror = i / THREADS * THREADS + (THREADS - 1 - i % THREADS);

        if (out[i * 509] != in[mirror * 509])
            fail_msg("%s: element %" PRIu32 " is %" PRIu32, settings, i, out[i * 509]);
    }
}

/* What was set: a refusal names one of the keys. */
struct setting {
    char text[512];
    const char *keys[4];
    unsigned nkeys;
};

static void check_refusal(const struct hd_error *err, const struct setting *s)
{
    bool named = false;

    for (unsigned i = 0; i < s->nkeys; i++)
        named = named || strstr(err->message, s->keys[i]);
    if ((err->status != HD_BAD_INPUT && err->status != HD_SIM_FAILED) || !named)
        fail_msg("%s: %s: %s", s->text, err->code, err->message);
}

/* Whether the configuration runs. */
static bool run(const struct sim_config *c, const struct setting *s)
{
    struct krig_launch l = {.text = kernel, .groups = GROUPS, .threads = THREADS, .nargs = 2};
    struct hd_error err = {0};
    struct krig r;
    uint32_t from, to;
    bool ran;

    if (sim_config_check(c, &err) != HD_OK) {
        check_refusal(&err, s);
        return false;
    }
    krig_open_config(&r, c);
    from = krig_array(&r, WORDS * 4);
    to = krig_array(&r, WORDS * 4);
    for (uint32_t i = 0; i < WORDS; i++)
        ((uint32_t *)sim_array_data(r.m, from))[i] = i + 2;
    l.args[0].is_array = l.args[1].is_array = true;
    l.args[0].value = from;
    l.args[1].value = to;
    ran = krig_try_run(&r, &l) == HD_OK;
    if (ran)
        check_values(&r, s->text, from, to);
    else
        check_refusal(&r.err, s);
    krig_close(&r);
    return ran;
}

static bool is_number(const struct param *row)
{
    return row->kind == PARAM_KIND_U32 || row->kind == PARAM_KIND_U64 ||
           row->kind == PARAM_KIND_BOOL;
}

static enum hd_status set_number(struct sim_config *c, const struct param *row, uint64_t value,
                                 struct hd_error *err)
{
    char text[32];

    if (row->kind == PARAM_KIND_BOOL)
        snprintf(text, sizeof text, "%s", value ? "on" : "off");
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    return param_set(&sim_params, c, row->path, text, NULL, err);
}

static void add_setting(struct setting *s, struct sim_config *c, const struct param *row,
                        uint64_t value)
{
    struct hd_error err = {0};
    size_t len = strlen(s->text);

    s->keys[s->nkeys++] = row->path;
    snprintf(s->text + len, sizeof s->text - len, " %s=%" PRIu64, row->path, value);
    assert_int_equal(set_number(c, row, value, &err), HD_OK);
}

static void run_alone(const struct param *row, uint64_t value)
{
    struct setting s = {0};
    struct sim_config c;

    param_defaults(&sim_params, &c);
    add_setting(&s, &c, row, value);
    run(&c, &s);
}

static void test_each_parameter_at_its_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_params.count; i++)
        if (is_number(&sim_params.rows[i])) {
            run_alone(&sim_params.rows[i], sim_params.rows[i].min);
            run_alone(&sim_params.rows[i], sim_params.rows[i].max);
        }
}

static void check_past(const struct param *row, uint64_t value)
{
    struct hd_error err = {0};
    struct sim_config c;

    param_defaults(&sim_params, &c);
    if (set_number(&c, row, value, &err) != HD_BAD_INPUT || !strstr(err.message, row->path))
        fail_msg("%s=%" PRIu64 ": %s", row->path, value, err.message);
}

static void test_one_past_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_params.count; i++) {
        const struct param *row = &sim_params.rows[i];

        if (!is_number(row) || row->kind == PARAM_KIND_BOOL)
            continue;
        check_past(row, row->max + 1);
        check_past(row, UINT64_MAX);
        if (row->min)
            check_past(row, row->min - 1);
    }
}

/* An end of the range, beside it, or a power of two within. */
static uint64_t random_value(struct rng *rng, const struct param *row)
{
    const uint64_t span = row->max - row->min;

    switch (rng_below(rng, 5)) {
    case 0:
        return row->min;
    case 1:
        return row->max;
    case 2:
        return row->min + (span > 0);
    case 3:
        return row->max - (span > 0);
    default:
        return row->min + (UINT64_C(1) << rng_below(rng, 40)) % (span + 1);
    }
}

static bool run_together(struct rng *rng)
{
    const unsigned n = 2 + (unsigned)rng_below(rng, 3);
    struct setting s = {0};
    struct sim_config c;

    param_defaults(&sim_params, &c);
    while (s.nkeys < n) {
        const struct param *row = &sim_params.rows[rng_below(rng, sim_params.count)];

        if (is_number(row))
            add_setting(&s, &c, row, random_value(rng, row));
    }
    return run(&c, &s);
}

static void test_several_parameters_at_once(void **state)
{
    const uint64_t seed = test_seed(20), count = test_count(300);
    uint64_t ran = 0;
    struct rng rng;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    rng_seed(&rng, seed);
    for (uint64_t i = 0; i < count; i++)
        ran += run_together(&rng);
    assert_true(ran > count / 4); /* neither side is left out */
    assert_true(ran < count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_parameter_at_its_ends),
        cmocka_unit_test(test_one_past_is_refused),
        cmocka_unit_test(test_several_parameters_at_once),
    };

    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
