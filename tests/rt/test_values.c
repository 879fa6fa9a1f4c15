/*
 * Random host programs on the real machine: the same bytes as a plain interpreter, and a legal order, under
 * every combination of the choices. And the values of PB-27, PB-29 and PB-30.
 */
#include "host/config/config.h"
#include "host/heddle.h"
#include "sim/base/rng.h"
#include "sim/base/vec.h"
#include "tests/rt/hb_oracle.h"
#include "tests/rt/programs.h"
#include "tests/rt/rig.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ARRAYS = 4,
    CASE_ARRAYS = 12,
    ELEMENTS = 24,
    STATEMENTS = 12,
    PROGRAMS = 500,
    COMBINATIONS = 5,
    MAX_SPIN = 40
};

/* c = 3 c + (a ^ b), after a loop that takes a microsecond a trip: a special function has a long latency here. */
static const char kernels[] = ".kernel mix\n"
                              ".param a u32[]\n"
                              ".param b u32[]\n"
                              ".param c u32[]\n"
                              ".param n i32\n"
                              ".param spin i32\n"
                              "    v_get_u32 v0, %gid\n"
                              "    v_cmp_lt_u32 m0, v0, n\n"
                              "    s_mov_b32 s40, spin\n"
                              "again:\n"
                              "    s_branch_z s40, go\n"
                              "    v_rcp_f32 v4, v4\n"
                              "    s_sub_u32 s40, s40, 1\n"
                              "    s_jump again\n"
                              "go:\n"
                              "    @m0 global_load_b32 v1, [a + v0*4]\n"
                              "    @m0 global_load_b32 v2, [b + v0*4]\n"
                              "    @m0 global_load_b32 v3, [c + v0*4]\n"
                              "    v_mul_u32 v3, v3, 3\n"
                              "    v_xor_b32 v1, v1, v2\n"
                              "    v_add_u32 v3, v3, v1\n"
                              "    @m0 global_store_b32 [c + v0*4], v3\n"
                              "    s_end\n"
                              ".endkernel\n";

/* ---- one runtime ----------------------------------------------------------------------------------- */

struct real {
    hd_runtime *rt;
    hd_kernel *mix;
    hd_array *arrays[CASE_ARRAYS]; /* random programs have ARRAYS */
    VEC(struct hb_node) nodes;     /* by id */
};

static char module_path[128];
static struct hd_options tiny; /* loaded once */

static int set_up(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char dir[96];
    FILE *f;

    (void)state;
    hd_options_default(&tiny);
    if (hd_config_load("tiny", &tiny, NULL) != HD_OK)
        return -1;
    snprintf(dir, sizeof dir, "%s/heddle-values-XXXXXX", tmp && strlen(tmp) < 60 ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    snprintf(module_path, sizeof module_path, "%s/mix.hasm", dir);
    f = fopen(module_path, "w");
    if (!f)
        return -1;
    fputs(kernels, f);
    return fclose(f);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(module_path);
    *strrchr(module_path, '/') = '\0';
    return rmdir(module_path);
}

static void on_kernel(void *user, const struct hd_kernel_row *row)
{
    struct real *r = user;

    r->nodes.at[row->node].start_ps = row->r.start_ps;
    r->nodes.at[row->node].end_ps = row->r.end_ps;
}

static void real_start(struct real *r, const char *settings, unsigned arrays)
{
    struct hd_recorder rec = {.user = r, .kernel = on_kernel};
    struct hd_options o = tiny;
    struct hd_error err = {0};
    hd_module *m;
    char copy[512], *save = NULL;

    memset(r, 0, sizeof *r);
    snprintf(copy, sizeof copy, "latency.sfu=1000 %s", settings);
    for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        if (hd_config_set(&o, s, &err) != HD_OK)
            fail_msg("%s", err.message);
    }
    assert_int_equal(hd_runtime_new(&o, &r->rt, &err), HD_OK);
    hd_set_recorder(r->rt, &rec);
    if (hd_module_load(r->rt, module_path, &m, &err) != HD_OK)
        fail_msg("%s: %s", err.place, err.message);
    if (hd_kernel_get(r->rt, m, "mix", "a: in u32[], b: in u32[], c: inout u32[], n: i32, spin: i32",
                      &r->mix, &err) != HD_OK)
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < arrays; i++)
        assert_int_equal(hd_array_new(r->rt, T_U32, ELEMENTS, NULL, &r->arrays[i], &err), HD_OK);
}

static void real_end(struct real *r)
{
    hd_runtime_free(r->rt);
    vec_free(&r->nodes);
}

static struct hb_node *add_node(struct real *r)
{
    struct hb_node n = {0};

    assert_true(vec_push(&r->nodes, n));
    return &r->nodes.at[r->nodes.len - 1];
}

static void real_launch(struct real *r, const unsigned arrays[3], int64_t spin)
{
    struct hd_arg args[5] = {[3] = {HD_ARG_INT, {.i = ELEMENTS}}, [4] = {HD_ARG_INT, {.i = spin}}};
    struct hd_launch l = {
        .kernel = r->mix, .grid = {1, 0, 0}, .block = {32, 0, 0}, .args = args, .nargs = 5};
    struct hb_node *n = add_node(r);
    struct hd_error err;

    for (unsigned i = 0; i < 3; i++) {
        args[i] = (struct hd_arg){HD_ARG_ARRAY, {.array = r->arrays[arrays[i]]}};
        n->accesses[n->naccesses++] = (struct hb_access){arrays[i], i == 2};
    }
    if (hd_launch_kernel(r->rt, &l, &err) != HD_OK)
        fail_msg("%s", err.message);
}

static uint32_t *real_access(struct real *r, unsigned array, enum hd_access how)
{
    struct hb_node *n = add_node(r);
    struct hd_error err;
    void *data;

    n->accesses[n->naccesses++] = (struct hb_access){array, how != HD_READ};
    if (hd_array_access(r->rt, r->arrays[array], 0, ELEMENTS, how, &data, &err) != HD_OK)
        fail_msg("%s", err.message);
    n = &r->nodes.at[r->nodes.len - 1];
    n->start_ps = n->end_ps = hd_host_time(r->rt);
    return data;
}

/* ---- programs -------------------------------------------------------------------------------------- */

static void compare(struct real *r, unsigned array, const uint32_t *expected, const char *settings)
{
    const uint32_t *got = real_access(r, array, HD_READ);

    for (unsigned i = 0; i < ELEMENTS; i++) {
        if (got[i] != expected[i])
            fail_msg("%s: array %u, element %u: %u, not %u", settings, array, i, got[i],
                     expected[i]);
    }
}

static void random_statement(struct real *r, struct rng *rng, uint32_t (*values)[ELEMENTS],
                             const char *settings)
{
    uint64_t what = rng_below(rng, 8);
    unsigned a[3];
    uint32_t *data, seed;
    int64_t spin;

    for (unsigned i = 0; i < 3; i++)
        a[i] = (unsigned)rng_below(rng, ARRAYS);
    spin = (int64_t)rng_below(rng, MAX_SPIN);
    seed = (uint32_t)rng_next(rng);
    if (what < 6) {
        real_launch(r, a, spin);
        for (unsigned i = 0; i < ELEMENTS; i++)
            values[a[2]][i] = values[a[2]][i] * 3 + (values[a[0]][i] ^ values[a[1]][i]);
    } else if (what == 6) {
        data = real_access(r, a[0], HD_OVERWRITE);
        for (unsigned i = 0; i < ELEMENTS; i++)
            data[i] = values[a[0]][i] = seed + i * 2654435761u;
    } else {
        compare(r, a[0], values[a[0]], settings);
    }
}

/* Neighbours in the order of calls that ran at the same time. */
static size_t count_overlaps(const struct real *r)
{
    size_t n = 0;

    for (size_t i = 1; i < r->nodes.len; i++) {
        const struct hb_node *a = &r->nodes.at[i - 1], *b = &r->nodes.at[i];

        n += a->start_ps < b->end_ps && b->start_ps < a->end_ps;
    }
    return n;
}

/* Returns how much ran side by side. */
static size_t random_program(uint64_t seed, const char *settings)
{
    uint32_t values[ARRAYS][ELEMENTS] = {{0}};
    size_t a = 0, b = 0, overlaps;
    struct rng rng;
    struct real r;

    real_start(&r, settings, ARRAYS);
    rng_seed(&rng, seed);
    for (unsigned i = 0; i < STATEMENTS; i++)
        random_statement(&r, &rng, values, settings);
    for (unsigned i = 0; i < ARRAYS; i++)
        compare(&r, i, values[i], settings);
    assert_int_equal(hd_finish(r.rt, NULL), HD_OK);
    if (hb_violations(r.nodes.at, r.nodes.len, &a, &b))
        fail_msg("%s: calls %zu and %zu out of order", settings, a, b);
    overlaps = count_overlaps(&r);
    real_end(&r);
    return overlaps;
}

/* All combinations follow each other, over the programs. */
static void random_combination(uint64_t seed, size_t number)
{
    struct combination c = combination(number % combinations());
    struct text settings = {0};

    combination_describe(&c, &settings);
    random_program(seed, text_str(&settings));
    text_free(&settings);
}

static void test_random_programs_give_the_same_bytes(void **state)
{
    static const char *const settings[] = {
        "host.scheduler=serial-sync",
        "host.scheduler=serial-async",
        "host.scheduler=parallel-async host.dependency=with-const",
    };

    enum { SETTINGS = sizeof settings / sizeof settings[0] };
    size_t overlaps[SETTINGS] = {0}, next = 0;
    uint64_t first = test_seed(1), count = test_count(PROGRAMS);

    for (*rig_seed(state) = first; *rig_seed(state) < first + count; ++*rig_seed(state)) {
        for (size_t i = 0; i < SETTINGS; i++)
            overlaps[i] += random_program(*rig_seed(state), settings[i]);
        for (size_t i = 0; i < COMBINATIONS; i++)
            random_combination(*rig_seed(state), next++);
    }
    assert_int_equal(overlaps[0], 0);
    assert_int_equal(overlaps[1], 0);
    assert_true(overlaps[2] > PROGRAMS / 2);
}

/* ---- public cases ----------------------------------------------------------------------------------- */

static void fill(struct real *r, unsigned array, uint32_t value)
{
    uint32_t *data = real_access(r, array, HD_OVERWRITE);

    for (unsigned i = 0; i < ELEMENTS; i++)
        data[i] = value;
}

static void expect(struct real *r, unsigned array, uint32_t value)
{
    const uint32_t *data = real_access(r, array, HD_READ);

    for (unsigned i = 0; i < ELEMENTS; i++)
        assert_int_equal(data[i], value);
}

/* X, then nine readers of it, then one array that takes all of theirs in turn. */
static void fan_out(const char *limit)
{
    enum { ZERO, X, SUM, Y };
    char settings[64];
    uint32_t sum = 0;
    struct real r;

    snprintf(settings, sizeof settings, "host.max_streams=%s", limit);
    real_start(&r, settings, CASE_ARRAYS);
    fill(&r, X, 5);
    real_launch(&r, (unsigned[]){ZERO, ZERO, X}, 100); /* X = 3 X */
    for (unsigned i = 0; i < 9; i++)
        real_launch(&r, (unsigned[]){X, ZERO, Y + i}, 10 * i);
    for (unsigned i = 0; i < 9; i++, sum = 3 * sum + 15)
        real_launch(&r, (unsigned[]){Y + i, ZERO, SUM}, 0);
    expect(&r, SUM, sum);
    for (unsigned i = 0; i < 9; i++)
        expect(&r, Y + i, 15);
    real_end(&r);
}

static void test_pb27_values(void **state)
{
    static const char *const limits[] = {"4", "1", "2", "3", "8", "9"};

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        fan_out(limits[i]);
}

static void test_pb29_values(void **state)
{
    enum { X, Y, Z, ZERO };
    struct real r;

    (void)state;
    real_start(&r, "", CASE_ARRAYS);
    fill(&r, X, 5);
    real_launch(&r, (unsigned[]){X, ZERO, Y}, 50);  /* Y = X */
    real_launch(&r, (unsigned[]){X, ZERO, Z}, 150); /* Z = X */
    expect(&r, Y, 5);
    real_launch(&r, (unsigned[]){ZERO, ZERO, X}, 0); /* X = 3 X */
    real_launch(&r, (unsigned[]){X, ZERO, Y}, 0);    /* Y = 3 Y + X */
    expect(&r, Z, 5);
    expect(&r, X, 15);
    expect(&r, Y, 30);
    real_end(&r);
}

static void test_pb30_values(void **state)
{
    enum { X, Y, Z, ZERO };
    struct real r;

    (void)state;
    real_start(&r, "", CASE_ARRAYS);
    fill(&r, X, 7);
    real_launch(&r, (unsigned[]){X, ZERO, Y}, 100);
    fill(&r, X, 99);
    fill(&r, X, 5);
    expect(&r, Y, 7);
    expect(&r, X, 5);
    /* X = 3 X + (X ^ 0), twice: the second waits for the first. */
    real_launch(&r, (unsigned[]){X, ZERO, X}, 50);
    real_launch(&r, (unsigned[]){X, ZERO, X}, 0);
    expect(&r, X, 80);
    real_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb27_values),
        cmocka_unit_test(test_pb29_values),
        cmocka_unit_test(test_pb30_values),
        cmocka_unit_test_setup_teardown(test_random_programs_give_the_same_bytes, rig_seed_setup,
                                        rig_seed_teardown),
    };

    return cmocka_run_group_tests_name("values", tests, set_up, tear_down);
}
