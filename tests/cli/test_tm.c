/* Transactions from the command line: sums that a reader of the result relies on, the axes of compare, the check, directives. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kernel[] = ".kernel raise\n%s.param out u32[]\n.local c 4\n"
                             "    tx.begin\n"
                             "    local_load_b32 v0, [c]\n"
                             "    v_add_u32 v0, v0, 1\n"
                             "    local_store_b32 [c], v0\n"
                             "    tx.commit\n"
                             "    s_barrier\n"
                             "    local_load_b32 v1, [c]\n"
                             "    v_get_u32 v2, %%tid\n"
                             "    v_cmp_eq_u32 m0, v2, 0\n"
                             "    @m0 global_store_b32 [out], v1\n"
                             "    s_end\n"
                             ".endkernel\n";

static const char program[] =
    "local gpu = require \"heddle\"\n"
    "local k = gpu.module(\"raise.hasm\"):kernel(\"raise\", \"out: inout u32[]\")\n"
    "local x = gpu.array(\"u32\", 1)\n"
    "gpu.region(\"main\", {}, function()\n"
    "  k(1, gpu.arg(\"items\", 64))(x)\n"
    "  gpu.check(\"count\", x[0], gpu.arg(\"items\", 64), 0)\n"
    "end)\n";

static void write_files(const struct cli_rig *r, const char *directives)
{
    char text[1024];

    snprintf(text, sizeof text, kernel, directives);
    cli_rig_file(r, "raise.hasm", text);
    cli_rig_file(r, "raise.lua", program);
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

/* The section tm of a run with these options, to be freed as *whole. */
static const cJSON *tm_of(struct cli_rig *r, const char *options, cJSON **whole)
{
    char line[256], *text;

    snprintf(line, sizeof line, "run %%/raise.lua --config tiny -q --out %%/r.json %s", options);
    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    text = cli_rig_read(r, "r.json");
    assert_non_null(text);
    *whole = cJSON_Parse(text);
    free(text);
    assert_non_null(*whole);
    return cJSON_GetObjectItemCaseSensitive(*whole, "tm");
}

static void test_result(void **state)
{
    static const char *const categories[] = {"useful",           "wasted",  "wavefront_serial",
                                             "workgroup_serial", "quiesce", "other"};
    struct cli_rig *r = *state;
    double sum = 0;
    const cJSON *tm, *cycles;
    cJSON *whole;

    write_files(r, "");
    tm = tm_of(r, "--check tm", &whole);
    cycles = cJSON_GetObjectItemCaseSensitive(tm, "cycles");
    for (unsigned i = 0; i < sizeof categories / sizeof *categories; i++)
        sum += number(cycles, categories[i]);
    assert_int_equal(sum, number(tm, "residency_cycles"));
    assert_int_equal(number(tm, "commits"), 64);
    assert_int_equal(number(tm, "transactions"), 2); /* of wavefronts of 32 */
    assert_int_equal(number(tm, "aborts"), number(tm, "true_conflicts") +
                                               number(tm, "false_conflicts") +
                                               number(tm, "read_read_conflicts"));
    assert_int_equal(number(tm, "false_conflicts"), 0); /* there is one word */
    cJSON_Delete(whole);
}

/* Readers of one word exclude each other under dcd and not under dcd-sm, so that the counter tells which one ran. */
static bool shares(struct cli_rig *r, const char *options)
{
    cJSON *whole;
    bool none = number(tm_of(r, options, &whole), "read_read_conflicts") == 0;

    cJSON_Delete(whole);
    return none;
}

static void test_precedence(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "shared.json", "{\"extends\": \"tiny\", \"tm\": {\"detector\": \"dcd-sm\"}}\n");
    write_files(r, "");
    assert_false(shares(r, ""));
    assert_true(shares(r, "--set tm.detector=dcd-sm"));
    assert_true(shares(r, "--config %/shared.json"));
    write_files(r, ".tm_detector dcd\n");
    assert_false(shares(r, "--config %/shared.json"));
    assert_true(shares(r, "--set tm.detector=dcd-sm"));
}

static void test_compare(void **state)
{
    struct cli_rig *r = *state;
    const char *at;
    unsigned rows = 0;

    write_files(r, "");
    cli_rig_run(r, "compare %/raise.lua --config tiny --axis tm.detector --axis tm.serialise");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "commits"));
    assert_non_null(strstr(r->out, "wavefront serial"));
    assert_non_null(strstr(r->out, "swo-sig"));
    for (at = r->out; (at = strstr(at, "descending-multiple")) != NULL; at++)
        rows++;
    assert_int_equal(rows, 4); /* one a detector */
}

static void test_bad(void **state)
{
    struct cli_rig *r = *state;

    write_files(r, "");
    cli_rig_run(r, "run %/raise.lua --config p100 --arg items=257");
    cli_rig_expect(r, 3, "9 wavefronts of 32 lanes", "256");
    cli_rig_run(r, "run %/raise.lua --config tiny --set divergence.unit=min-pc");
    cli_rig_expect(r, 3, "min-pc runs no transactions", "goto-join");
    cli_rig_run(r, "run %/raise.lua --check order");
    cli_rig_expect(r, 2, "--check must be one of none, tm", NULL);
    write_files(r, ".tm_detector dcd-ms\n");
    cli_rig_run(r, "run %/raise.lua --config tiny");
    cli_rig_expect(r, 3, "there is no tm.detector \"dcd-ms\"", "did you mean dcd-sm");
    cli_rig_run(r, "list detectors");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "prw-sig"));
    cli_rig_run(r, "list serialisations");
    assert_non_null(strstr(r->out, "descending-multiple"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests(tests, cli_rig_setup, cli_rig_teardown);
}
