/* Every preset: each value with its source, no parameter of one part left out of another, found right, and able to run a program. */
#include "tests/cli/cli_rig.h"

#include "host/config/config.h"
#include "host/config/find.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text;
    long size;

    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    rewind(f);
    text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    return text;
}

static cJSON *file_of(const char *preset)
{
    char path[128], *text;
    cJSON *json;

    snprintf(path, sizeof path, "configs/%s.json", preset);
    text = slurp(path);
    json = cJSON_Parse(text);
    free(text);
    assert_non_null(json);
    return json;
}

typedef void visit_fn(const char *preset, const char *path, const cJSON *leaf, void *user);

/* Every value of a file, with its dotted path. */
static void walk(const char *preset, const cJSON *object, const char *prefix, visit_fn *fn,
                 void *user)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, object)
    {
        char path[128];

        assert_true(snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "",
                             item->string) < (int)sizeof path);
        if (cJSON_IsObject(item) && !cJSON_GetObjectItemCaseSensitive(item, "value"))
            walk(preset, item, path, fn, user);
        else
            fn(preset, path, item, user);
    }
}

static void for_each_preset(void (*fn)(struct cli_rig *r, const char *preset), struct cli_rig *r)
{
    struct config_names names = {0};

    assert_true(config_list(&names));
    assert_true(names.len >= 7);
    for (size_t i = 0; i < names.len; i++)
        fn(r, names.at[i]);
    config_names_free(&names);
}

/* ---- sources ---- */

static void check_source(const char *preset, const char *path, const cJSON *leaf, void *user)
{
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(leaf, "source");
    const char *text = cJSON_GetStringValue(source);

    (void)user;
    if (strcmp(path, "extends") == 0)
        return;
    if (!text || strlen(text) < 12)
        fail_msg("%s: %s has no source", preset, path);
    if (text[strlen(text) - 1] == ' ' || text[strlen(text) - 1] == ':')
        fail_msg("%s: %s: the source ends in \"%s\"", preset, path, text + strlen(text) - 1);
}

static void sources_of(struct cli_rig *r, const char *preset)
{
    cJSON *json = file_of(preset);

    (void)r;
    walk(preset, json, "", check_source, NULL);
    cJSON_Delete(json);
}

static void test_each_value_has_a_source(void **state)
{
    for_each_preset(sources_of, *state);
}

/* ---- the same parameters for each part ---- */

static const char *const parts[] = {"p100", "gtx960", "gtx1660s", "hd7970", "xe-lp"};

static void check_given(const char *preset, const char *path, const cJSON *leaf, void *user)
{
    const cJSON *at = user;
    char copy[128], *rest;

    (void)preset;
    (void)leaf;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok_r(copy, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
        at = cJSON_GetObjectItemCaseSensitive(at, key);
        if (!at)
            fail_msg("p100 gives %s, another part does not", path);
    }
}

static void test_no_part_leaves_a_parameter_out(void **state)
{
    cJSON *p100 = file_of("p100");

    (void)state;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
        cJSON *other = file_of(parts[i]);

        walk(parts[i], p100, "", check_given, other);
        cJSON_Delete(other);
    }
    cJSON_Delete(p100);
}

/* ---- use ---- */

static void check(struct cli_rig *r, const char *preset)
{
    char line[128], row[64], *manual;

    snprintf(line, sizeof line, "config check %s", preset);
    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    manual = slurp("configs/README.md");
    snprintf(row, sizeof row, "\n| %s |", preset);
    if (!strstr(manual, row))
        fail_msg("%s is not in the table of configs/README.md", preset);
    free(manual);
}

static void test_check_and_manual(void **state)
{
    for_each_preset(check, *state);
}

/* Without branches it is in every control-flow form, and so runs on every divergence unit. */
static const char program[] = "local gpu = require 'heddle'\n"
                              "local inc = gpu.module('one.hasm'):kernel('inc', 'x: inout f32[]')\n"
                              "local x = gpu.array('f32', 4 * 64)\n"
                              "x:fill('i')\n"
                              "inc(4, 64)(x)\n"
                              "for i = 0, 255 do gpu.check('x', x[i], i + 1, 0) end\n";

static const char kernel[] = ".kernel inc\n.param x f32[]\n"
                             "    v_get_u32 v0, %gid\n"
                             "    global_load_b32 v1, [x + v0*4]\n"
                             "    v_add_f32 v1, v1, 1.0\n"
                             "    global_store_b32 [x + v0*4], v1\n"
                             "    s_end\n.endkernel\n";

static void run(struct cli_rig *r, const char *preset)
{
    char line[128];

    snprintf(line, sizeof line, "run %%/one.lua --config %s --out %%/%s.json", preset, preset);
    cli_rig_run(r, line);
    if (r->status != 0)
        fail_msg("%s: %s", preset, r->err);
}

static void test_each_runs_a_program(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "one.lua", program);
    cli_rig_file(r, "one.hasm", kernel);
    for_each_preset(run, r);
}

/* Peaks that follow from the public numbers of a part: lanes x units x clock x 2. */
static void test_peaks(void **state)
{
    static const struct {
        const char *preset;
        double f32, f64, gbytes; /* GFLOP/s of multiply-add; GB/s of DRAM */
    } rows[] = {
        {"gtx960", 2413, 75.4, 112.2}, {"p100", 9526, 4763, 549}, {"gtx1660s", 5027, 157, 336},
        {"hd7970", 3789, 947, 264},    {"xe-lp", 2074, 0, 68.3}, /* no f64 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hd_options o;
        struct hd_error err;
        double lanes, f32, f64;

        hd_options_default(&o);
        assert_int_equal(hd_config_load(rows[i].preset, &o, &err), HD_OK);
        lanes = 2e-9 * (double)o.gpu.core_hz * o.gpu.compute_units * o.gpu.simds;
        f32 = lanes * o.gpu.rate_mul;
        f64 = lanes * o.gpu.rate_f64 / o.gpu.f64_interval;
        if (f32 < 0.99 * rows[i].f32 || f32 > 1.01 * rows[i].f32)
            fail_msg("%s: %g GFLOP/s of f32", rows[i].preset, f32);
        if (rows[i].f64 > 0 && (f64 < 0.99 * rows[i].f64 || f64 > 1.01 * rows[i].f64))
            fail_msg("%s: %g GFLOP/s of f64", rows[i].preset, f64);
        assert_true((double)o.gpu.dram_rate > 0.99e9 * rows[i].gbytes);
        assert_true((double)o.gpu.dram_rate < 1.01e9 * rows[i].gbytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_value_has_a_source),
        cmocka_unit_test(test_no_part_leaves_a_parameter_out),
        cmocka_unit_test(test_check_and_manual),
        cmocka_unit_test(test_each_runs_a_program),
        cmocka_unit_test(test_peaks),
    };

    return cmocka_run_group_tests_name("presets", tests, cli_rig_setup, cli_rig_teardown);
}
