/*
 * The programs of workloads/cf: every divergence unit gives right values with the form that it runs, the work of
 * lanes is that of the image, and mistakes put into the kernels are found.
 */
#include "cf/cf.h"
#include "host/lua/script.h"
#include "tests/system/sys.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static enum hd_status try_run(struct sys *s, const struct hd_options *options, const char *path,
                              const char *const *args, size_t nargs, struct hd_error *err)
{
    struct hd_script_options o;
    struct hd_script_info info = {0};
    enum hd_status status;

    hd_script_options_default(&o);
    o.path = path;
    o.args = args;
    o.nargs = nargs;
    o.warmup = 0;
    sys_open(s, options, NULL);
    status = hd_script_run(s->rt, &o, &info, err);
    hd_script_info_free(&info);
    return status;
}

static bool all_passed(const struct sys *s)
{
    for (size_t i = 0; i < s->checks.len; i++)
        if (!s->checks.at[i].passed)
            return false;
    return s->checks.len > 0;
}

static struct hd_options options_for(const char *unit, unsigned width)
{
    char settings[160];

    snprintf(settings, sizeof settings,
             "divergence.unit=%s wavefront_size=%u cu.wavefront_slots=64", unit, width);
    return sys_options("tiny", settings);
}

static const char mandelbrot[] = "workloads/cf/mandelbrot.lua";

static void test_values_are_right_in_every_unit(void **state)
{
    static const char *const args[] = {"scale=0.03", "iterations=64", "samples=300"};

    (void)state;
    for (unsigned k = 0; cf_units[k / 8]; k++) {
        const char *unit = cf_units[k / 8]->name;
        struct hd_options o = options_for(unit, 8u << k % 4);
        struct hd_error err;
        struct sys s;

        o.timing = k % 8 < 4;
        if (try_run(&s, &o, mandelbrot, args, 3, &err) != HD_OK)
            fail_msg("%s: %s", unit, err.message);
        if (!all_passed(&s))
            fail_msg("checks fail under %s, width %u", unit, 8u << k % 4);
        assert_int_equal(s.checks.len, 4);
        sys_close(&s);
    }
}

/* ---- the work of lanes ---- */

enum { W = 192, H = 128, MOST = 256 };

static unsigned steps_of(unsigned x, unsigned y)
{
    float cr = (float)x * (3.0f / W) + -2.0f, ci = (float)y * (2.0f / H) + -1.0f;
    float zr = cr, zi = ci;

    for (unsigned step = 0; step < MOST; step++) {
        float rr = zr * zr, ii = zi * zi;

        if (rr + ii > 4)
            return step;
        zi = 2 * (zr * zi) + ci;
        zr = rr - ii + cr;
    }
    return MOST;
}

/* 4 operations for the point, 8 in a step, and 3 in which a lane finds that it is outside. */
static uint64_t operations(void)
{
    uint64_t sum = 0;

    for (unsigned y = 0; y < H; y++) {
        for (unsigned x = 0; x < W; x++) {
            unsigned steps = steps_of(x, y);

            sum += 4 + 8 * steps + (steps < MOST ? 3 : 0);
        }
    }
    return sum;
}

/*
 * Where EXEC masks all that a lane does, its operations are those of its pixel. The share of lanes that are on, computed
 * for this image in double precision, is 0.855 at width 8, 0.770 at 16 and 0.642 at 32; all that is outside the loop adds a little.
 */
static void test_lanes_do_the_work_of_their_pixels(void **state)
{
    static const char *const args[] = {"scale=0.125", "iterations=256", "samples=0"};
    static const char *const units[] = {"goto-join", "exec-mask"};
    static const double shares[] = {0.855, 0.770, 0.642};

    (void)state;
    for (unsigned k = 0; k < 6; k++) {
        struct hd_options o = options_for(units[k / 3], 8u << k % 3);
        const struct sim_counters *c;
        struct hd_error err;
        double share;
        struct sys s;

        assert_int_equal(try_run(&s, &o, mandelbrot, args, 3, &err), HD_OK);
        assert_int_equal(s.kernels.len, 1);
        c = &s.kernels.at[0].r.counters;
        assert_int_equal(c->flop32, operations());
        share = (double)c->lane_instr / (double)(c->wave_instr * (8u << k % 3));
        assert_true(fabs(share - shares[k % 3]) < 0.01);
        sys_close(&s);
    }
}

/* ---- mistakes ---- */

static void copy_file(const char *from, const char *to, const char *old, const char *new)
{
    static char text[32768];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t len;
    char *at;

    assert_non_null(in);
    assert_non_null(out);
    len = fread(text, 1, sizeof text - 1, in);
    text[len] = '\0';
    at = old ? strstr(text, old) : NULL;
    if (old)
        assert_non_null(at);
    fprintf(out, "%.*s%s%s", at ? (int)(at - text) : 0, text, at ? new : "",
            at ? at + strlen(old) : text);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void test_checks_find_mistakes(void **state)
{
    static const struct {
        const char *unit, *old, *new;
    } mistakes[] = {
        {"any-branch", "m_andn m2, m2, m1", "m_and m2, m2, m1"},
        {"any-branch", "s_branch_none m2, out", "s_branch_notall m2, out"},
        {"any-branch", "@m2 v_add_u32 v6", "v_add_u32 v6"},
        {"any-branch", "@m0 global_store_b32", "@m2 global_store_b32"},
        {"exec-mask", "m_andn exec, exec, vcc", "m_and exec, exec, vcc"},
        {"exec-mask", "m_mov exec, s[24:25]", "s_nop"},
        {"goto-join", "@m1 goto out", "@!m1 goto out"},
        {"goto-join", "@!m0 goto done", "@!m0 goto out"},
        {"exec-mask", "    v_add_f32 v5, v5, v3\n", ""},
    };
    static const char *const args[] = {"scale=0.03", "iterations=64", "samples=500"};
    const char *tmp = getenv("TMPDIR");
    char folder[512], lua[576], hasm[576];

    (void)state;
    snprintf(folder, sizeof folder, "%s/heddle-cf-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(lua, sizeof lua, "%s/mandelbrot.lua", folder);
    snprintf(hasm, sizeof hasm, "%s/mandelbrot.hasm", folder);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct hd_options o = options_for(mistakes[i].unit, 32);
        struct hd_error err;
        enum hd_status status;
        struct sys s;

        copy_file(mandelbrot, lua, NULL, NULL);
        copy_file("workloads/cf/mandelbrot.hasm", hasm, mistakes[i].old, mistakes[i].new);
        status = try_run(&s, &o, lua, args, 3, &err);
        if (status == HD_OK && all_passed(&s))
            fail_msg("`%s` instead of `%s` passes", mistakes[i].new, mistakes[i].old);
        if (status != HD_OK && status != HD_SIM_FAILED)
            fail_msg("%s: %s (%s)", mistakes[i].new, err.message, err.place);
        sys_close(&s);
    }
    unlink(lua);
    unlink(hasm);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_right_in_every_unit),
        cmocka_unit_test(test_lanes_do_the_work_of_their_pixels),
        cmocka_unit_test(test_checks_find_mistakes),
    };

    return cmocka_run_group_tests_name("cf_workloads", tests, NULL, NULL);
}
