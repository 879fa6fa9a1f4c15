/* results/dag: the plan, and what comes out of its smallest size. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cJSON *json_of(char *text)
{
    cJSON *json;

    assert_non_null(text);
    json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *at(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    assert_non_null(item);
    return item;
}

static void expect_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b)))
        fail_msg("%.12g is not %.12g", a, b);
}

/* The first row of a figure, GPU and metric. */
static const cJSON *row_of(const cJSON *table, const char *figure, const char *gpu,
                           const char *metric)
{
    const cJSON *row;

    cJSON_ArrayForEach(
        row, at(table, "rows")) if (strcmp(at(row, "figure")->valuestring, figure) == 0 &&
                                    strcmp(at(row, "gpu")->valuestring, gpu) == 0 &&
                                    strcmp(at(row, "metric")->valuestring, metric) == 0) return row;
    fail_msg("no row of figure %s, %s, %s", figure, gpu, metric);
    return NULL;
}

/* What the command itself says of a point: a member of the last row of compare. */
static double compared(struct cli_rig *r, int block, const char *member)
{
    char line[256], *text, *last, *next;
    double value;
    cJSON *row;

    snprintf(line, sizeof line,
             "compare workloads/dag/vec.lua --config p100 --arg n=6000 --arg block=%d --arg "
             "verify=false --set host.profile=grcuda --out %%/c.jsonl",
             block);
    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    text = cli_rig_read(r, "c.jsonl");
    assert_non_null(text);
    for (last = text; (next = strchr(last, '\n')) != NULL && next[1] != '\0'; last = next + 1)
        ;
    row = cJSON_Parse(last);
    assert_non_null(row);
    value = at(row, member)->valuedouble;
    cJSON_Delete(row);
    free(text);
    return value;
}

/* The figure asks the rows of a sweep for what compare works out in C. */
static void test_the_contention_free_time_is_that_of_compare(void **state)
{
    struct cli_rig *r = *state;
    double product = 1;
    cJSON *table;

    cli_rig_run(r, "sweep results/dag/smoke.lua -j 2 --out %/smoke.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    table = json_of(cli_rig_read(r, "table.json"));
    for (int block = 32; block <= 256; block *= 8)
        product *= compared(r, block, "contention_free_ns") / compared(r, block, "time_ns");
    expect_near(at(row_of(table, "9", "p100", "contention_free_over_parallel"), "ours")->valuedouble,
                sqrt(product));
    cJSON_Delete(table);
}

static double time_of_hits(struct cli_rig *r, const char *scheduler, int warmup)
{
    char line[256];
    double ns;
    cJSON *v;

    snprintf(
        line, sizeof line,
        "run workloads/dag/hits.lua --config p100 --arg n=2000 --arg block=32 --arg verify=false "
        "--set host.scheduler=%s --set host.prefetch=%s --warmup %d --out %%/h.json",
        scheduler, strcmp(scheduler, "serial-sync") == 0 ? "false" : "true", warmup);
    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    v = json_of(cli_rig_read(r, "h.json"));
    ns = at(v, "time_ns")->valuedouble;
    cJSON_Delete(v);
    return ns;
}

/* Its reset writes all that it reads, so that the reproduction saves the iteration ahead. */
static void test_hits_needs_no_warm_up(void **state)
{
    static const char *const schedulers[] = {"serial-sync", "parallel-async"};
    struct cli_rig *r = *state;

    for (size_t i = 0; i < 2; i++) {
        const double cold = time_of_hits(r, schedulers[i], 0),
                     warm = time_of_hits(r, schedulers[i], 1);

        assert_true(fabs(cold / warm - 1) < 1e-4);
    }
}

static void test_files(void **state)
{
    static const char *const files[] = {"figure7.svg",      "figure7.vl.json", "figure6-vec.svg",
                                        "figure10-vec.svg", "figure12.svg",    "TABLE.md",
                                        "table.csv",        "runs.csv"};
    struct cli_rig *r = *state;
    cJSON *table = json_of(cli_rig_read(r, "table.json"));
    cJSON *claims = json_of(cli_rig_read(r, "claims.json"));
    char *text;
    const cJSON *claim, *row = row_of(table, "11", "gtx960", "speedup");

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(cli_rig_exists(r, files[i]));
    /* All runs that are asked for are in the plan, and end well. */
    text = cli_rig_read(r, "TABLE.md");
    assert_null(strstr(text, "Runs without a result"));
    free(text);
    /* The published number is that of cells.json; what ran is smaller, and scores nothing. */
    expect_near(at(row, "published")->valuedouble, 1.17);
    expect_near(at(row, "rel_error")->valuedouble, at(row, "ours")->valuedouble / 1.17 - 1);
    assert_true(cJSON_IsFalse(at(row, "scored")));
    /* 16 bytes for each of 6,000 elements, and 4: at 20,000,000 elements, in GB. */
    expect_near(at(row_of(table, "Table I", "gtx960", "memory_gb"), "ours")->valuedouble,
                96004 / 6e3 * 20e6 * 1e-9);
    assert_int_equal(cJSON_GetArraySize(at(claims, "claims")), 17);
    cJSON_ArrayForEach(
        claim, at(claims, "claims")) if (strcmp(at(claim, "id")->valuestring, "vec-dram") == 0)
        assert_true(cJSON_IsTrue(at(claim, "holds")));
    cJSON_Delete(table);
    cJSON_Delete(claims);
}

/* No run is there twice, and all but the cells and the trace are of the smaller sizes. */
static void test_plans(void **state)
{
    static const char *const sizes[] = {"default", "large", "quick", "smoke"};
    struct cli_rig *r = *state;
    char line[64];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(line, sizeof line, "sweep results/dag/%s.lua --dry-run", sizes[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        assert_null(strstr(r->err, "are there before"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_the_contention_free_time_is_that_of_compare),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_hits_needs_no_warm_up),
    };

    return cmocka_run_group_tests(tests, cli_rig_setup, cli_rig_teardown);
}
